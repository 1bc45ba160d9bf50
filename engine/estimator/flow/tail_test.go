package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// heavy is a join whose persons on both sides have weights with a Pareto tail of this exponent.
func heavy(r *rand.Rand, exponent float64, persons, results int) *estimator.Pairs {
	pick := func() func() uint32 {
		ends := make([]float64, persons)
		sum := 0.0
		for i := range ends {
			sum += math.Pow(1-r.Float64(), -1/exponent)
			ends[i] = sum
		}
		return func() uint32 {
			x, lo, hi := r.Float64()*sum, 0, persons-1
			for lo < hi {
				if mid := (lo + hi) / 2; ends[mid] < x {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			return uint32(lo)
		}
	}
	left, right := pick(), pick()
	p := &estimator.Pairs{Lefts: persons, Rights: persons}
	for range results {
		p.Left, p.Right = append(p.Left, left()), append(p.Right, right())
	}
	return p
}

// TestIntervalsHoldOnHeavyTails: where the most that one person has is public they do whatever the
// tail; else where it falls as that of the model, or faster. At an exponent of 1.2 three persons
// have half of everything here, and a model of one octave is caught at 1.5.
func TestIntervalsHoldOnHeavyTails(t *testing.T) {
	r := rand.New(stattest.Source(t, "heavy"))
	narrow := 0
	for _, exponent := range []float64{1.2, 1.5, 2.5} {
		for _, s := range []Shape{Two, Self, Distinct, One} {
			p := heavy(r, exponent, 3000, 30000)
			truth := truthOf(s, p)
			for _, most := range []int64{0, largest(s, p)} {
				if most == 0 && exponent < 1.5 {
					continue
				}
				const runs = 150
				name := fmt.Sprintf("%v, exponent %v, most %d", s, exponent, most)
				e := variant{name, estimator.Params{Rho: 0.05}, Options{Shape: s, Most: most}}.build(t)
				q, n := newProfile(s, false, e.caps, p), stattest.Noiser(t, name)
				hits, answers := 0, 0
				for range runs {
					a := e.searched(n, q)
					if a.Status != estimator.OK {
						continue
					}
					answers++
					lo, hi := errorbar.Interval(a, 0, 0.95)
					if lo <= truth && truth <= hi {
						hits++
					}
					if most == 0 && truth > a.Values[0]+(hi-a.Values[0])/tailOctaves {
						narrow++
					}
				}
				stattest.Accept(t, stattest.Coverage(name, hits, answers, 0.95))
			}
		}
	}
	if narrow < 150 {
		t.Errorf("a model of one octave would have missed %d times", narrow)
	}
}

// largest is the most that one person has.
func largest(s Shape, p *estimator.Pairs) int64 {
	have := map[[2]uint32]int64{}
	most := int64(0)
	add := func(side, person uint32) {
		have[[2]uint32{side, person}]++
		most = max(most, have[[2]uint32{side, person}])
	}
	for i, u := range p.Left {
		add(0, u)
		switch {
		case s == Two:
			add(1, p.Right[i])
		case s == Self && u != p.Right[i]:
			add(0, p.Right[i])
		}
	}
	return most
}
