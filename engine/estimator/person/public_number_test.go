package person

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/sized"
	"scrim/test/sizedtest"
	"scrim/test/stattest"
)

// TestPublicNumberOfPersons: no estimator takes the length of its input for the public number of
// persons.
func TestPublicNumberOfPersons(t *testing.T) {
	r := rand.New(stattest.Source(t, "public"))
	for _, v := range variants() {
		for _, pure := range []bool{false, true} {
			for _, dim := range []int{1, 3} {
				e := v.at(t, dim, 20, pure, estimator.ReplaceOne, true)
				name := fmt.Sprintf("%s, d=%d, pure=%v", v.name, dim, pure)
				sizedtest.Vectors(t, name, e, e.p.Params, 20, sized.Vectors, func(n int) *estimator.Block {
					return blockOf(dim, n, nil, func(_, j int) int64 { return int64(1000*r.NormFloat64()) + 40*int64(j) })
				})
			}
			p := v.p
			p.Relation, p.Sized = estimator.ReplaceOne, true
			if p.Rho = 20; pure {
				p.Rho, p.Epsilon = 0, 20
			}
			e, err := NewNumber(p)
			if err != nil {
				t.Fatal(err)
			}
			sizedtest.Columns(t, fmt.Sprintf("%s, numbers, pure=%v", v.name, pure), e, p.Params, sized.Columns, func(n int) []int64 {
				x := make([]int64, n)
				for i := range x {
					x[i] = int64(1000 * r.NormFloat64())
				}
				return x
			})
		}
	}
}
