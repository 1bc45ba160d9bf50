package groups

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator/internal/firstpass"
	"scrim/test/stattest"
)

// TestTailsAreThoseOfTheirLaw compares number and sum beyond with those of a log-normal law,
// counted.
func TestTailsAreThoseOfTheirLaw(t *testing.T) {
	const draws = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	law := tail{from: math.Exp(3), count: 1, mu: 2, sigma: 0.8}
	for _, v := range []float64{math.Exp(3), math.Exp(3.5), math.Exp(4)} {
		from, beyond, sum := 0.0, 0.0, 0.0
		for range draws {
			x := math.Exp(2 + 0.8*r.NormFloat64())
			if x > law.from {
				from++
			}
			if x > v {
				beyond, sum = beyond+1, sum+x
			}
		}
		if math.Abs(law.beyond(v)/(beyond/from)-1) > 0.05 || math.Abs(law.sum(v)/(sum/from)-1) > 0.05 {
			t.Errorf("beyond %v: %v and %v, counted %v and %v", v, law.beyond(v), law.sum(v), beyond/from, sum/from)
		}
	}
}

// TestRadiiOfFewPersonsAreNearTheBest: of 600 persons with log-normal norms and noise that hides 30
// of them, the cost of most radii is within a third of the least. A radius at what the noise does
// not hide is not.
func TestRadiiOfFewPersonsAreNearTheBest(t *testing.T) {
	const persons, runs, rho = 600, 200, 0.0125
	r, n := rand.New(stattest.Source(t, "norms")), stattest.Noiser(t, "radii")
	var norms []float64
	for range persons {
		norms = append(norms, math.Exp(6+1.1*r.NormFloat64()))
	}
	h, c := firstpass.NewHistogram(firstpass.NewOctaves(plannedPer, 1<<40), 1, rho), cost{noise: 80, alignment: 0.95}
	of := func(radius float64) float64 {
		count, sum := 0.0, 0.0
		for _, x := range norms {
			if x > radius {
				count, sum = count+1, sum+x
			}
		}
		return math.Sqrt(c.of(radius, count, sum))
	}
	least := math.Inf(1)
	for x := 4.0; x < 14; x += 0.01 {
		least = min(least, of(math.Exp(x)))
	}
	var found, seen []float64
	for range runs {
		noisy := h.Release(n, present(nil, norms))
		if x, ok := c.radius(h, noisy, 1<<40); ok {
			found, seen = append(found, of(x.radius)/least), append(seen, of(h.Radius(noisy, firstpass.FarZ*h.Sigma))/least)
		}
	}
	slices.Sort(found)
	slices.Sort(seen)
	t.Logf("least cost %.4g; half of %d radii within %.2f, three quarters within %.2f; at what is seen half within %.2f", least, len(found), found[len(found)/2], found[3*len(found)/4], seen[len(seen)/2])
	if len(found) < runs*9/10 || found[len(found)/2] > 1.33 || seen[len(seen)/2] < 1.5 {
		t.Errorf("half of %d radii within %v of the least cost; at what is seen within %v", len(found), found[len(found)/2], seen[len(seen)/2])
	}
}
