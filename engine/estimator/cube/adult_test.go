package cube

import (
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
	"scrim/test/testenv"
)

// adultTables counts adult by the eight columns of the variable adult.
func adultTables(t *testing.T, c *Cube) Tables {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(string(testenv.Unzipped(t, "../../../testdata/adult.csv.gz")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for _, name := range []string{"type_employer", "education", "marital", "occupation", "relationship", "race", "sex", "income"} {
		places = append(places, slices.Index(lines[0], name))
	}
	tables, numbers := c.Tables(), make([]map[string]int, len(places))
	for _, l := range lines[1:] {
		values := make([]int, len(places))
		for i, at := range places {
			if numbers[i] == nil {
				numbers[i] = map[string]int{}
			}
			if _, seen := numbers[i][l[at]]; !seen {
				numbers[i][l[at]] = len(numbers[i])
			}
			values[i] = numbers[i][l[at]]
		}
		c.Add(tables, values, c.Unit())
	}
	return tables
}

// TestErrorsOfAdultsMarginals releases adult again and again: the root mean square of the errors of
// each of its 36 marginals of one or two columns is within 5 % of the closed form, and with half
// of the variance it is not. That of a marginal has a deviation of 1.1 % at most, as if all of
// its cells had one error, so that a false alarm has a chance of 3e-4.
func TestErrorsOfAdultsMarginals(t *testing.T) {
	c := build(t, Params{Dims: dims(adult...), Workload: Ways(len(adult), 2), Rho: 0.02436})
	tables := adultTables(t, c)
	exact := c.Release(stattest.Zero{}, tables)
	want := make([][]float64, len(c.p.Workload))
	for i, m := range c.p.Workload {
		want[i] = exact.Marginal(m.Set)
	}
	// off is by how much the error of the marginal that is off the most differs.
	off := func(n noise.Noiser) (most float64) {
		const releases = 4000
		squares := make([]float64, len(c.p.Workload))
		for range releases {
			a := c.Release(n, tables)
			for i, m := range c.p.Workload {
				for j, x := range a.Marginal(m.Set) {
					squares[i] += (x - want[i][j]) * (x - want[i][j]) / float64(len(want[i])) / releases
				}
			}
		}
		for i, m := range c.p.Workload {
			most = max(most, math.Abs(math.Sqrt(squares[i])/c.StdErr(m.Set)-1))
		}
		return most
	}
	if n := len(c.p.Workload); n != 36 {
		t.Fatalf("%d marginals", n)
	}
	good, bad := off(stattest.Noiser(t, "adult")), off(stattest.Shrunk{Noiser: stattest.Noiser(t, "less"), Factor: 2})
	t.Logf("off by %.2f %% at most; with half of the variance by %.2f %%", 100*good, 100*bad)
	if good > 0.05 || bad < 0.05 {
		t.Errorf("off by %v at most; with half of the variance by %v", good, bad)
	}
}
