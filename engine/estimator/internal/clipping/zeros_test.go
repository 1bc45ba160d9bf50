package clipping

import (
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// counted keeps what noise is asked for, and adds none.
type counted struct {
	noise.Noiser
	asked []int64
}

func (c *counted) GaussianInt(v int64, _ noise.Variance) int64 {
	c.asked = append(c.asked, v)
	return v
}

// TestZerosMoveWithinTheirNoise: whoever comes, goes or is exchanged moves the two counts by √2 at
// most, which their noise is for under either relation; who has no row moves none.
func TestZerosMoveWithinTheirNoise(t *testing.T) {
	const rho = 0.02
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		z := Zeros{P: estimator.Params{Rho: rho, Relation: relation, Grid: estimator.Grid{Step: 1, Decimal: true}}, Share: rho, Limit: 1000}
		release := func(own ...int64) ([]int64, estimator.Estimate) {
			rows, totals := make([]int64, 2000), make([]int64, 2000)
			for i := range rows {
				rows[i] = 1
			}
			n := new(counted)
			e := z.Answer(n, append(rows, own[0]), append(totals, own[1]), 1, 10)
			return n.asked, e
		}
		own := [][]int64{{0, 0}, {1, 0}, {3, 0}, {1, 7}, {2, -900}}
		for _, a := range own {
			for _, b := range own {
				x, e := release(a...)
				y, _ := release(b...)
				moved := 0.0
				for k := range x {
					moved += float64((x[k] - y[k]) * (x[k] - y[k]))
				}
				if s := e.StdErr[0]; len(x) != 2 || moved > 2 || 2/(2*s*s) > rho {
					t.Errorf("%v: %v and %v move %v by %v under noise of %v", relation, a, b, x, moved, s)
				}
			}
		}
	}
}
