package engine

import (
	"fmt"
	"strings"
	"testing"
)

// dp_suggest_domains lists the columns without a domain, whatever the rows are, and what it
// suggests can be run.
func TestSuggestDomains(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE k", "CREATE TABLE k.films (id INT PRIMARY KEY, title VARCHAR(20))", "INSERT INTO k.films VALUES (1, 'x')", "CALL dp_public('k.films')",
		"CREATE TABLE k.calls (person INT, at DATETIME, day DATE, Film_Id INT, size ENUM('s','m'), kind VARCHAR(9), amount DECIMAL(8,2), age INT, rank_ INT)",
		"CALL dp_protect('k.calls', 'person', 'person')", `CALL dp_set_domain('k.calls', 'age', '{"min":0,"max":120}')`)
	empty := root.query("CALL dp_suggest_domains('k.calls')")
	var columns []string
	for _, row := range empty {
		columns = append(columns, row[0])
	}
	if got := strings.Join(columns, " "); got != "at day Film_Id kind amount rank_" {
		t.Errorf("columns: got %s", got)
	}
	if !strings.Contains(empty[2][2], `'Film_Id', '{"table":"k.films"`) || !strings.Contains(empty[0][3], "YEAR(at)") {
		t.Errorf("got %v", empty)
	}
	root.exec("SET dp_raw = ON", "INSERT INTO k.calls VALUES (1, '1999-01-01', '1999-01-01', 1, 's', 'a', 3, 4, 5)")
	if full := root.query("CALL dp_suggest_domains('k.calls')"); fmt.Sprint(full) != fmt.Sprint(empty) {
		t.Errorf("the rows change what is suggested: %v, before %v", full, empty)
	}
	for _, row := range empty {
		root.exec(row[2])
	}
	if rest := root.query("CALL dp_suggest_domains('k.calls')"); len(rest) != 0 {
		t.Errorf("after all suggestions: %v", rest)
	}
	root.refused(1644, "45011", `CALL dp_set_domain('k.calls', 'at', '["2020-01-01","2020-01-02"]')`)
	ann := i.analyst(root, "ann", "k")
	if rows, err := ann.try("CALL dp_suggest_domains('k.calls')"); err == nil {
		t.Errorf("an analyst was answered: %v", rows)
	}
}
