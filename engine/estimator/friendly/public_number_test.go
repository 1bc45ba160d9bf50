package friendly

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/sized"
	"scrim/test/sizedtest"
	"scrim/test/stattest"
)

// TestPublicNumberOfPersons: the length of the input is not taken for the public number of persons.
func TestPublicNumberOfPersons(t *testing.T) {
	r := rand.New(stattest.Source(t, "public"))
	for _, k := range kinds() {
		if !k.sized {
			continue
		}
		e := k.mean(t, Params{Params: near, Dim: 3, Delta: 1e-6}, 5)
		if k.sampled {
			e.persons.most = 50
		}
		sizedtest.Vectors(t, fmt.Sprintf("%+v", k), e, e.p.Params, 3*int(e.least), sized.Vectors, func(n int) *estimator.Block {
			return normal(r, n, []float64{300, 300, 300})
		})
	}
}
