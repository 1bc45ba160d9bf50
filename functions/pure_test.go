package functions

import (
	"errors"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/internal/params"
)

// TestPureOrRefused builds every function with every method, of numbers and of vectors, for a pure
// release: the mechanism is pure and costs no more than it may, or there is none.
func TestPureOrRefused(t *testing.T) {
	const eps = 0.75
	grid := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -1 << 40, Hi: 1 << 40}
	lower, upper := int64(-500), int64(500)
	pure, refused := map[string]bool{}, 0
	for _, f := range All() {
		if f.Role == Refused {
			continue
		}
		q := map[bool]string{true: "0.3"}[f.MaxArgs == 2]
		if f.Name == "DP_QUANTILES" {
			q = "[0.1, 0.5, 0.9]"
		}
		for _, options := range append([]string{"", "weight=row", "quantile=em"}, methodOptions()...) {
			for _, dim := range []int{0, 3} {
				for _, p := range []estimator.Params{
					{}, {MaxRows: 1}, {MaxRows: 3, Lower: &lower, Upper: &upper}, {Relation: estimator.ReplaceOne}, {Relation: estimator.ReplaceOne, Sized: true, MaxRows: 1},
				} {
					p.Epsilon, p.Grid = eps, grid
					c, err := NewCall(f, q, options)
					if err == nil && dim == 0 {
						err = c.Scalar("")
					} else if err == nil {
						err = c.Vector(Vectors{Dim: dim}, "", p.MaxRows == 1)
					}
					if err != nil {
						continue // not an option of this function, or not one of vectors
					}
					e, err := c.Estimator(p)
					if err != nil {
						if errors.Is(err, estimator.ErrNotPure) {
							refused++
						}
						continue
					}
					l := e.Loss()
					if !l.IsPure() || l.Pure > privacy.PureOf(eps) {
						t.Errorf("%s, %q, dimension %d, %+v: loss %+v", f.Name, options, dim, p, l)
					}
					for _, s := range e.Steps() {
						if s.Rho > 0 || s.Mechanism == estimator.DiscreteGaussian {
							t.Errorf("%s, %q, dimension %d: step %+v", f.Name, options, dim, s)
						}
					}
					pure[f.Name] = true
				}
			}
		}
		if c := f.Squares; c == pure[f.Name] {
			t.Errorf("%s has a pure mechanism: %v", f.Name, pure[f.Name])
		}
	}
	if refused < 20 {
		t.Errorf("only %d calls were refused", refused)
	}
}

func methodOptions() []string {
	var out []string
	for _, m := range params.Method.Words {
		out = append(out, "method="+m)
	}
	return out
}
