package friendly

import (
	"fmt"
	"math"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// worstNeighbours are databases of numbers around the distance of friends, in whose last person the
// neighbours differ: missing, or at other.
func worstNeighbours(lambda int64) map[string]struct {
	rows  []int64
	other int64
} {
	runs := func(parts ...int64) (rows []int64) { // number, place, …
		for i := 0; i < len(parts); i += 2 {
			for range parts[i] {
				rows = append(rows, parts[i+1])
			}
		}
		return rows
	}
	type neighbours = struct {
		rows  []int64
		other int64
	}
	return map[string]neighbours{
		"all equal but one":     {runs(110, 0, 1, 1<<29), 0},
		"one at the edge":       {runs(100, 0, 10, -lambda, 1, lambda), -lambda},
		"two clusters":          {runs(55, 0, 55, lambda, 1, lambda), 0},
		"two clusters too far":  {runs(55, 0, 55, lambda+1, 1, lambda+1), 0},
		"a bridge":              {runs(55, -lambda, 55, lambda, 1, 0), lambda},
		"a bridge of many":      {runs(30, -lambda, 30, lambda, 51, 0), lambda},
		"strangers to the last": {runs(57, 0, 53, -lambda, 1, lambda), 1 << 29},
	}
}

// draws returns answers of releases; those that are none are far away.
func draws(t *testing.T, name string, e mean, rows []int64, times int) []float64 {
	column := make([][]int64, len(rows))
	for i, v := range rows {
		column[i] = []int64{v}
	}
	b, n, out := blockOf(column), stattest.Noiser(t, name), make([]float64, times)
	for i := range out {
		if a := e.Release(n, estimator.Input{Persons: b.Persons(), Vectors: b}); a.Status == estimator.OK {
			out[i] = a.Values[0]
		} else {
			out[i] = -1e12
		}
	}
	return out
}

// TestAuditOfWorstNeighbours draws from both sides of the worst neighbours known and bounds the
// loss from below. A release with a third of the noise must be caught.
func TestAuditOfWorstNeighbours(t *testing.T) {
	const rho, times = 1, 800
	for _, k := range []kind{{declared: true}, {relation: estimator.ReplaceOne, sized: true, declared: true}} {
		audit := func(e mean, broken bool) (worst float64) {
			lambda := int64(distance([]float64{300}, []float64{1}, declaredTail))
			for name, c := range worstNeighbours(lambda) {
				if broken && name != "one at the edge" && name != "a bridge" {
					continue
				}
				less := c.rows[:len(c.rows)-1]
				if k.relation == estimator.ReplaceOne {
					less = append(append([]int64{}, less...), c.other)
				}
				at := fmt.Sprintf("%+v %s %v", k, name, broken)
				l := stattest.LossBound(draws(t, at+" full", e, c.rows, times), draws(t, at+" less", e, less, times))
				if worst = math.Max(worst, l); l > rho && !broken {
					t.Errorf("%+v, %s: loss at least %.3f, want %v", k, name, l, rho)
				}
			}
			return worst
		}
		at := func(rho float64) mean {
			e := k.mean(t, Params{Params: near, Dim: 1, Delta: 0.1}, rho)
			e.least = 0
			return e
		}
		good, bad := audit(at(rho), false), audit(at(9*rho), true)
		t.Logf("%+v: loss at least %.3f, %.3f with a third of the noise", k, good, bad)
		if bad <= rho {
			t.Errorf("%+v: a third of the noise passed: loss at least %.3f", k, bad)
		}
	}
}
