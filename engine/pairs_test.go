package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestPairsOfTypes computes sums, means and variances of all pairs of types under all operators, at
// a huge budget and without noise: each is within its interval of what the rows give, and few
// intervals are wide or NULL. Nothing is read as 0 that is not.
func TestPairsOfTypes(t *testing.T) {
	i := startWith(t, "", silence)
	root := i.root()
	columns := []string{"b BOOLEAN", "ti TINYINT", "u TINYINT UNSIGNED", "si SMALLINT", "n INT", "h BIGINT", "hd BIGINT", "hu BIGINT UNSIGNED", "d DECIMAL(10,2)", "d6 DECIMAL(8,6)", "w DECIMAL(24,6)", "wd DECIMAL(24,6)", "x DOUBLE", "f FLOAT"}
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, "+strings.Join(columns, ", ")+")",
		"INSERT INTO t VALUES "+rowsOf(2000, func(i int) string {
			w := fmt.Sprintf("%d.%06d", i%20+30, i*7%1000000) // no quotient has a heavy tail
			return fmt.Sprintf("(%d, %d, %d, %d, %d, %d, %d, %d, %d, %d.%02d, 0.%06d, %s, %s, %d.5, %d.125)", i, i%2, i%3+2, i%7+6, i%50+60, i%400+501, i%500+600, i%300+301, i%40+41,
				i%40+50, i%100, 600000+i*11%300000, w, w, i%30+30, i%8+8)
		}),
		"CALL dp_protect('d.t', 'id', 'person')", "CALL dp_set_budget('d.t', '*', 'rho=1000000', 1e-3, 'never')",
		`CALL dp_set_domain('d.t', 'hd', '{"min":0,"max":1000}')`, `CALL dp_set_domain('d.t', 'wd', '{"min":0,"max":100}')`)
	dba := i.root()
	dba.exec("USE d", "SET dp_raw = on")
	root.exec("SET dp_rho = 600")
	number := func(v any) float64 {
		x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil {
			return math.NaN()
		}
		return x
	}
	wide, asked := 0, 0
	check := func(e string) {
		var asks, exact []string
		for _, f := range []string{"SUM", "AVG", "VARIANCE"} {
			a := f + "(" + e + ")"
			exact = append(exact, a)
			asks = append(asks, a, "DP_LOW("+a+")", "DP_HIGH("+a+")")
		}
		want := dba.query("SELECT " + strings.Join(exact, ", ") + " FROM t")[0]
		got := root.query("SELECT " + strings.Join(asks, ", ") + " FROM t")[0]
		for k, a := range exact {
			w, g, lo, hi := number(want[k]), number(got[3*k]), number(got[3*k+1]), number(got[3*k+2])
			asked++
			_, digits, _ := strings.Cut(fmt.Sprint(want[k]), ".")
			slack := 1e-9*math.Abs(w) + math.Pow10(-len(digits))/2 // of what is shown
			switch {
			case w == 0 && math.IsNaN(g): // of nobody
			case math.IsNaN(w) != math.IsNaN(g), math.IsNaN(g):
				t.Errorf("%s is %v for %v", a, got[3*k], want[k])
			case strings.HasPrefix(a, "VAR") && w < 1e-20 && lo == 0: // all alike: others may hide in the noise
			case math.IsNaN(lo) || math.IsNaN(hi):
				wide++
			case w < lo-slack || w > hi+slack:
				t.Errorf("%s is %v in [%v, %v] for %v", a, g, lo, hi, want[k])
			case hi-lo > 0.2*math.Abs(w)+0.01*math.Abs(g) && math.Abs(g-w) > 0.02*math.Abs(w):
				wide++
			}
		}
	}
	names := []string{}
	for _, c := range columns {
		names = append(names, strings.Fields(c)[0])
	}
	operands := append(names[:len(names):len(names)], "0.4", "0.0004", "1000000", "1e-3")
	for _, a := range names {
		for _, b := range operands {
			for _, op := range []string{"+", "-", "*", "/", "%", "DIV"} {
				if op != "-" || a != "u" && a != "hu" && b != "u" && b != "hu" { // below 0
					check(a + " " + op + " " + b)
				}
			}
		}
	}
	for _, e := range []string{"b * 0.4", "u * 0.1", "u + 0.5", "h * 0.0000001", "h / 1000000", "d / h", "h * d * 0.00001", "hd * d * 0.00001", "hd * w * 0.001", "hd * wd * 0.0001", "ROUND(wd * 0.01, 4)", "CASE WHEN b THEN h * 0.001 ELSE 0 END"} {
		check(e)
	}
	t.Logf("%d answers, %d intervals open or wide", asked, wide)
	if wide > asked/20 { // of DOUBLEs under 1/1000, and of wide types without a range
		t.Errorf("%d of %d intervals are open or wide", wide, asked)
	}
	plan := fmt.Sprint(root.query("EXPLAIN SELECT SUM(w + 0.5) FROM t"), root.query("EXPLAIN SELECT SUM(wd + 0.5) FROM t"))
	if n := strings.Count(plan, "rows are rounded to 0.01"); n != 1 {
		t.Errorf("%d plans tell that rows are rounded: %s", n, plan)
	}
}

// TestRoundingIsAllowedFor: rows that are rounded to a coarse grid, all to the same side, are
// allowed for in the intervals of quantiles, and of answers that one release gives together.
func TestRoundingIsAllowedFor(t *testing.T) {
	i := startWith(t, "", silence)
	root := i.root()
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, g INT, w DECIMAL(24,6), v DECIMAL(24,6))",
		"INSERT INTO t VALUES "+rowsOf(4000, func(i int) string { return fmt.Sprintf("(%d, %d, %d.004, %d.004)", i, i%2, i/2%40+30, i/2%50+20) }),
		"CALL dp_protect('d.t', 'id', 'person')", "CALL dp_set_budget('d.t', '*', 'rho=1000000', 1e-3, 'never')",
		"CALL dp_set_domain('d.t', 'g', '[0, 1]')", "SET dp_rho = 600")
	for _, c := range []struct {
		of     string
		exact  []float64
		open   int // ends that are NULL
		coarse string
	}{
		{"DP_MEDIAN(w)", []float64{49.004}, 0, "rows are rounded to 0.01"},
		{"DP_QUANTILE(w, 0.9)", []float64{65.004}, 0, "rows are rounded to 0.01"},
		{"VARIANCE(w)", []float64{133.25}, 0, "rows are rounded to 0.01"},
		{"SUM(w), AVG(w)", []float64{198016, 49.504}, 2, "rows are rounded to 0.01"},
		{"DP_MEAN(w), DP_MEAN(v)", []float64{49.504, 44.504}, 0, "rows are rounded to 0.01"},
		{"g, SUM(w), AVG(w), AVG(v)", []float64{99008, 49.504, 44.504}, 2, "rows are rounded to 0.01"},
		{"g, DP_MEDIAN(w)", []float64{49.004}, 0, "rows are rounded to 0.01"},
	} {
		of, by := c.of, ""
		if rest, ok := strings.CutPrefix(of, "g, "); ok {
			of, by = rest, " GROUP BY g ORDER BY g"
		}
		var asks []string
		for _, a := range strings.SplitAfter(of, "), ") {
			a = strings.TrimSuffix(a, ", ")
			asks = append(asks, "DP_LOW("+a+")", "DP_HIGH("+a+")")
		}
		query := "SELECT " + of + ", " + strings.Join(asks, ", ") + " FROM t" + by
		row, open := root.query(query)[0], 0
		for k, want := range c.exact {
			lo, hi := row[len(c.exact)+2*k], row[len(c.exact)+2*k+1]
			if lo == "NULL" || hi == "NULL" {
				open += 2
			} else if float(t, lo) > want || float(t, hi) < want {
				t.Errorf("%s: [%v, %v] denies %v", c.of, lo, hi, want)
			}
		}
		if open != c.open {
			t.Errorf("%s: %d ends are NULL, want %d: %v", c.of, open, c.open, row)
		}
		if plan := fmt.Sprint(root.query("EXPLAIN " + query)); !strings.Contains(plan, c.coarse) {
			t.Errorf("%s: the plan does not say that %s: %s", c.of, c.coarse, plan)
		}
	}
}
