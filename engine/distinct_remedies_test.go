package engine

import (
	"regexp"
	"strings"
	"testing"
)

// TestDistinctRemediesWork: a refused aggregate over distinct values names statements that are
// answered.
func TestDistinctRemediesWork(t *testing.T) {
	i := startWith(t, "", seeded(t, "distinct", 1))
	root := i.root()
	people(t, root, 300)
	root.exec("USE d", "SET dp_epsilon = 5")
	named := regexp.MustCompile(`SELECT (?:SUM|AVG)\([x*]\) FROM \(.*?\) k`)
	fill := strings.NewReplacer("(x)", "(city)", " x ", " city ", " x)", " city)", "DISTINCT unit, x FROM t", "DISTINCT id, age AS city FROM people", " t ", " people ")
	for _, f := range []string{"SUM", "AVG"} {
		e := root.refused(1644, "45005", "SELECT "+f+"(DISTINCT age) FROM people")
		remedies := named.FindAllString(e.Message, -1)
		if len(remedies) != 2 {
			t.Errorf("%s names %d statements: %s", f, len(remedies), e.Message)
		}
		for _, q := range remedies {
			if got := root.value(fill.Replace(q)); got == "NULL" {
				t.Errorf("%s: %s", fill.Replace(q), got)
			}
		}
	}
	if e := root.refused(1644, "45005", "SELECT COUNT(DISTINCT age, city) FROM people"); !strings.Contains(e.Message, "COUNT(DISTINCT people.age, people.city) is over more than one expression. Use COUNT(DISTINCT x)") {
		t.Errorf("got %s", e.Message)
	}
}
