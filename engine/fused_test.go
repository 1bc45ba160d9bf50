package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// panel is a table of twelve columns that are never NULL, one row a person, of which every column
// is another thing.
type panel struct {
	names    []string
	mean, sd []float64    // of each column, exact
	half     [2][]float64 // means of the groups
}

const (
	panelPersons = 6000
	panelColumns = 12
)

// newPanel makes d.panel: columns c0 to c11, whose spreads go from 1 to 2048.
func newPanel(root *client) panel {
	rng := rand.New(rand.NewPCG(11, 12))
	p := panel{mean: make([]float64, panelColumns), sd: make([]float64, panelColumns)}
	p.half[0], p.half[1] = make([]float64, panelColumns), make([]float64, panelColumns)
	var columns, rows []string
	for j := range panelColumns {
		p.names = append(p.names, fmt.Sprint("c", j))
		columns = append(columns, fmt.Sprintf("c%d %s NOT NULL", j, []string{"DOUBLE", "INT", "DECIMAL(12,2)"}[j%3]))
	}
	root.exec("CREATE DATABASE d", "CREATE TABLE d.panel (id INT PRIMARY KEY, g VARCHAR(1) NOT NULL, "+strings.Join(columns, ", ")+")")
	for i := range panelPersons {
		row := []string{fmt.Sprint(i), []string{"'a'", "'b'"}[i%2]}
		for j := range panelColumns {
			x := math.Round(math.Exp2(float64(j)) * (float64(3*j-20) + float64(i%2) + rng.NormFloat64()))
			p.mean[j] += x / panelPersons
			p.sd[j] += x * x / panelPersons
			p.half[i%2][j] += x / (panelPersons / 2)
			row = append(row, fmt.Sprint(x))
		}
		rows = append(rows, "("+strings.Join(row, ",")+")")
		if len(rows) == 1000 {
			root.exec("INSERT INTO d.panel VALUES " + strings.Join(rows, ","))
			rows = rows[:0]
		}
	}
	for j := range p.sd {
		p.sd[j] = math.Sqrt(p.sd[j] - p.mean[j]*p.mean[j])
	}
	root.exec("CALL dp_protect('d.panel', 'id', 'person')", `CALL dp_set_domain('d.panel', 'g', '["a","b"]')`,
		"CALL dp_set_budget('d.panel', '*', 1000000, 1e-5, 'never')", "CALL dp_set_budget('d.panel', 'default', 500000, 1e-5, 'never')")
	return p
}

// means lists the means of all columns, with an option where it is not "".
func (p panel) means(option string) string {
	var out []string
	for _, c := range p.names {
		if option == "" {
			out = append(out, "AVG("+c+")")
		} else {
			out = append(out, "DP_MEAN("+c+", '"+option+"')")
		}
	}
	return strings.Join(out, ", ")
}

// off is the average distance of answers from what they should be, in standard deviations of the
// columns, and the largest.
func (p panel) off(t *testing.T, row []string, want []float64) (average, most float64) {
	t.Helper()
	for j, text := range row {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("column %d: %v", j, err)
		}
		e := math.Abs(x-want[j]) / p.sd[j]
		average, most = average+e/float64(len(row)), max(most, e)
	}
	return average, most
}

// TestMeansOfColumnsAsOneVector asks for the means of twelve columns. They are answered as one
// vector, near the truth, and nearer than separate means of the same loss together are.
func TestMeansOfColumnsAsOneVector(t *testing.T) {
	i := startWith(t, "", seeded(t, "fused", 1))
	root := i.root()
	p := newPanel(root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d")
	together, apart := 0.0, 0.0
	for k := range 5 { // a loss of its own each time: otherwise the first answer comes again
		rho := 0.1 + 0.001*float64(k)
		ann.exec(fmt.Sprint("SET dp_rho = ", rho))
		one := ann.query("SELECT " + p.means("") + " FROM panel")[0]
		average, most := p.off(t, one, p.mean)
		// The clip is near √12 + 2.5 standard deviations, and the sum has more than half of the
		// loss.
		if noise := (math.Sqrt(panelColumns) + 2.5) / math.Sqrt(rho) / panelPersons; most > 6*noise {
			t.Errorf("a mean is %.4f standard deviations off, the noise has %.4f", most, noise)
		}
		together += average
		alone := ann.query("SELECT " + p.means(fmt.Sprintf("rho=%g", math.Floor(1e6*rho/panelColumns)/1e6)) + " FROM panel")[0]
		average, _ = p.off(t, alone, p.mean)
		apart += average
	}
	t.Logf("average error in standard deviations: as one vector %.5f, apart %.5f", together/5, apart/5)
	if together > 0.75*apart {
		t.Errorf("as one vector the error is %.5f, apart %.5f", together/5, apart/5)
	}
	plan := fmt.Sprint(ann.query("EXPLAIN SELECT " + p.means("") + " FROM panel"))
	if !strings.Contains(plan, "12 means as one vector") || !strings.Contains(plan, "dim=12") {
		t.Errorf("got the plan %s", plan)
	}
	if plan := fmt.Sprint(ann.query("EXPLAIN SELECT " + p.means("rho=0.001") + " FROM panel")); strings.Contains(plan, "as one vector") {
		t.Errorf("means with a loss of their own: got the plan %s", plan)
	}
}

// TestMembersOfAVector uses the members in conditions, orders and expressions, by group, as text
// and prepared.
func TestMembersOfAVector(t *testing.T) {
	i := startWith(t, "", seeded(t, "members", 1))
	root := i.root()
	p := newPanel(root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_rho = 0.4")
	near := func(what string, row []string, want []float64) {
		t.Helper()
		if _, most := p.off(t, row, want); most > 0.05 {
			t.Errorf("%s: a mean is %.4f standard deviations off", what, most)
		}
	}
	near("prepared", ann.query("SELECT "+p.means("")+" FROM panel WHERE id >= ?", 0)[0], p.mean)
	mixed := ann.query("SELECT " + p.means("") + ", AVG(c3) - AVG(c1), COUNT(*) FROM (SELECT * FROM panel) x")[0]
	near("beside others", mixed[:panelColumns], p.mean)
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Error(err)
		}
		return x
	}
	if d := number(mixed[3]) - number(mixed[1]); math.Abs(number(mixed[panelColumns])-d) > 1e-6 {
		t.Errorf("the difference of two members is %s, want %g", mixed[panelColumns], d)
	}
	if n := number(mixed[panelColumns+1]); math.Abs(n-panelPersons) > 60 {
		t.Errorf("got %g persons", n)
	}

	byGroup := "SELECT g, " + p.means("") + " FROM panel GROUP BY g"
	rows := ann.query(byGroup + " ORDER BY g")
	if len(rows) != 2 || rows[0][0] != "a" {
		t.Fatalf("got %v, want two groups", rows)
	}
	for g, row := range rows {
		near("group "+row[0], row[1:], p.half[g])
	}
	if again := ann.query(byGroup + " ORDER BY AVG(c5) DESC"); fmt.Sprint(again[1]) != fmt.Sprint(rows[0]) {
		t.Errorf("ordered by a member: got %v, want the two of %v the other way round", again, rows)
	}
	middle := fmt.Sprint((p.half[0][11] + p.half[1][11]) / 2)
	below := ann.query(byGroup + " HAVING AVG(c11) < " + middle)
	above := ann.query(byGroup+" HAVING AVG(c11) > ? ORDER BY g", middle)
	if len(below) != 1 || below[0][0] != "a" || len(above) != 1 || above[0][0] != "b" {
		t.Fatalf("HAVING on a member: got %v below and %v above", below, above)
	}
	near("below", below[0][1:], p.half[0])
	near("above, prepared", above[0][1:], p.half[1])
}
