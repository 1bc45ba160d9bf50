package partition

import (
	"math"
	"math/big"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// law is that of the noise, summed over all integers that matter: at[i] is P[N >= i − top].
type law struct {
	top int64
	at  []float64
}

func lawOf(s *Selection) law {
	l := law{top: int64(14*s.sigma) + 20}
	l.at = make([]float64, 2*l.top+2)
	sum := 0.0
	for x := l.top; x >= -l.top; x-- {
		z := float64(x) / s.sigma
		sum += math.Exp(-z * z / 2)
		l.at[x+l.top] = sum
	}
	for i := range l.at {
		l.at[i] /= sum
	}
	return l
}

// tail is P[N >= t].
func (l law) tail(t int64) float64 { return l.at[max(0, min(t+l.top, int64(len(l.at)-1)))] }

// shown is the probability that somebody who holds so many keys, alone in new of them, has one of
// these shown.
func (s *Selection) shown(l law, held, new int64) float64 {
	return -math.Expm1(float64(new) * math.Log1p(-l.tail(s.threshold-s.weights.of(held))))
}

func selectionOf(t *testing.T, p Params) *Selection {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAWeightIsAsLongAsTheUnit: the weights of a person are at most one unit long, and no larger
// integer would do.
func TestAWeightIsAsLongAsTheUnit(t *testing.T) {
	for _, most := range []int{1, 2, 3, 8, 100, 1 << 14, 1 << 20} {
		w := newWeights(most)
		unit2 := new(big.Int).Mul(big.NewInt(w.unit), big.NewInt(w.unit))
		length2 := func(held, weight int64) *big.Int {
			x := new(big.Int).Mul(big.NewInt(weight), big.NewInt(weight))
			return x.Mul(x, big.NewInt(held))
		}
		for held := int64(1); held <= int64(most); held += 1 + held/50 {
			x := w.of(held)
			if length2(held, x).Cmp(unit2) > 0 || length2(held, x+1).Cmp(unit2) <= 0 {
				t.Errorf("of %d: a person of %d keys has the weight %d of %d", most, held, x, w.unit)
			}
			if most > 1 && float64(x)*math.Sqrt(float64(held)) < float64(w.unit)*(1-1.0/256) {
				t.Errorf("of %d: the weight %d of a person of %d keys is cut by more than 1/256", most, x, held)
			}
		}
		if w.of(0) != w.unit || w.of(math.MinInt64) != w.unit {
			t.Error("nobody has less than one key")
		}
	}
}

// TestNewKeysAreShownWithProbabilityDeltaAtMost plays every person who is alone in keys, of
// however many it holds, against the exact law of the noise.
func TestNewKeysAreShownWithProbabilityDeltaAtMost(t *testing.T) {
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, rho := range []float64{0.01, 0.05, 0.5, 3, 100} {
			for _, delta := range []float64{1e-2, 5e-7} {
				for _, most := range []int{1, 2, 3, 8, 40} {
					p := Params{Rho: rho, Delta: delta, MaxGroups: most, Relation: relation}
					s := selectionOf(t, p)
					l := lawOf(s)
					worst := func() (worst float64) {
						for held := range int64(most) {
							for new := range held + 1 {
								worst = max(worst, s.shown(l, held+1, new+1))
							}
						}
						return worst
					}
					if w := worst(); w > delta {
						t.Errorf("%+v: keys that nobody else has are shown with %v", p, w)
					}
					// Not much too high: a fifth of a standard deviation less is too low.
					s.threshold -= 2 + int64(0.2*s.sigma)
					if w := worst(); w <= delta {
						t.Errorf("%+v: the threshold is higher than needed", p)
					}
				}
			}
		}
	}
}

// holders are databases of up to three persons by the keys that each holds, as bits.
type holders []int

// weigh returns the weights of three keys, and how many persons hold each.
func (h holders) weigh(w weights) (weight [3]int64, persons [3]int) {
	for _, keys := range h {
		held := int64(0)
		for k := range 3 {
			held += int64(keys >> k & 1)
		}
		for k := range 3 {
			if keys>>k&1 == 1 {
				weight[k] += w.of(held)
				persons[k]++
			}
		}
	}
	return weight, persons
}

// outcomes are the probabilities of all sets of shown keys.
func (s *Selection) outcomes(l law, h holders) (out [8]float64) {
	weight, persons := h.weigh(s.weights)
	for set := range out {
		out[set] = 1
		for k := range 3 {
			p := 0.0
			if persons[k] > 0 {
				p = l.tail(s.threshold - weight[k])
			}
			if set>>k&1 == 0 {
				p = 1 - p
			}
			out[set] *= p
		}
	}
	return out
}

// worstDelta returns, over all pairs of neighbours among the databases of two other persons and
// one of the given keys, the largest δ of (ε, δ)-DP beyond what the loss allows for at ε.
func (s *Selection) beyond(l law) (worst float64) {
	worst = math.Inf(-1)
	for _, eps := range []float64{0, 0.1, 0.5, 1, 2, 4} {
		allowed := float64(privacy.DeltaOf(s.Loss(), privacy.Epsilon(eps)))
		for others := range 64 {
			base := holders{others & 7, others >> 3}
			for before := range 8 {
				for after := range 8 {
					if s.p.Relation == estimator.AddRemove && before != 0 && after != 0 {
						continue // nobody: a person without keys
					}
					p, q := s.outcomes(l, append(base[:2:2], before)), s.outcomes(l, append(base[:2:2], after))
					delta := 0.0
					for o := range p {
						delta += max(0, p[o]-math.Exp(eps)*q[o])
					}
					worst = max(worst, delta-allowed)
				}
			}
		}
	}
	return worst
}

// TestNeighboursOnThreeKeys computes the law of the shown keys of every pair of neighbours among
// the databases of three persons and three keys, and holds it against the loss. Weights that are
// not divided must fail.
func TestNeighboursOnThreeKeys(t *testing.T) {
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, rho := range []float64{0.05, 0.5, 2} {
			for _, delta := range []float64{1e-6, 1e-3, 0.05} {
				s := selectionOf(t, Params{Rho: rho, Delta: delta, MaxGroups: 3, Relation: relation})
				l := lawOf(s)
				if x := s.beyond(l); x > 1e-12 {
					t.Errorf("%v rho=%v delta=%v: δ is %v beyond the loss", relation, rho, delta, x)
				}
			}
		}
		s := selectionOf(t, Params{Rho: 0.5, Delta: 0.05, MaxGroups: 3, Relation: relation})
		whole := *s
		whole.weights.equal = true
		if x := whole.beyond(lawOf(s)); x <= 0 {
			t.Errorf("%v: whole weights pass", relation)
		}
		low := *s
		low.threshold -= int64(s.sigma)
		if x := low.beyond(lawOf(s)); x <= 0 {
			t.Errorf("%v: a threshold lower by a standard deviation passes", relation)
		}
	}
}

// TestAPersonOfOneKeyNeedsFewOthers: of 8 keys, the threshold of persons of one is 18 where it was
// 50, and that of persons of eight is what it was.
func TestAPersonOfOneKeyNeedsFewOthers(t *testing.T) {
	p := Params{Rho: 0.05, Delta: 5e-7, MaxGroups: 8}
	s := selectionOf(t, p)
	equal, err := p.with(weights{unit: 1, equal: true})
	if err != nil {
		t.Fatal(err)
	}
	all := ceilOver(s.threshold, s.Weight(8))
	if s.Threshold() != 18 || equal.Threshold() != 50 || all > 50 || !s.Weighted() || equal.Weighted() {
		t.Errorf("thresholds %d, %d of persons of eight keys, %d of equal weights", s.Threshold(), all, equal.Threshold())
	}
	if s.PersonsOf(1) >= equal.PersonsOf(1) || s.MinPersons() != s.PersonsOf(8) || s.Steps()[0].Sensitivity != "l2=1" {
		t.Errorf("shown from %d persons, with equal weights %d; %v", s.PersonsOf(1), equal.PersonsOf(1), s.Steps())
	}
}

// TestAMinimumIsInPersons: one that is above what noise asks for is met by as many persons, however
// many keys they hold.
func TestAMinimumIsInPersons(t *testing.T) {
	p := Params{Rho: 0.05, Delta: 5e-7, MaxGroups: 8, Minimum: 18}
	if s := selectionOf(t, p); !s.Weighted() || s.Threshold() != 18 {
		t.Errorf("threshold %d, weighted %v", s.Threshold(), s.Weighted())
	}
	for minimum, threshold := range map[int]int64{19: 50, 60: 60} {
		p.Minimum = minimum
		if s := selectionOf(t, p); s.Weighted() || s.Threshold() != threshold || s.Weight(8) != 1 || s.Steps()[0].Sensitivity != "l2=sqrt(8)" {
			t.Errorf("minimum %d: threshold %d, weighted %v", minimum, s.Threshold(), s.Weighted())
		}
	}
}

// TestTailBoundsRoundedNoise: the bound on the tail holds for rounded normal numbers too, of which
// more pass a threshold than of discrete ones where σ is small; the bound of these alone would not
// do there.
func TestTailBoundsRoundedNoise(t *testing.T) {
	short := false
	for _, sigma := range []float64{0.5, 1, 1.7, 3, 10, 1000} {
		for z := 0.0; z < 8; z += 0.25 {
			at := math.Ceil(z * sigma)
			rounded := math.Erfc((at-0.5)/sigma/math.Sqrt2) / 2
			if got := tail(sigma, at); got < rounded {
				t.Errorf("σ = %v: %v at %v, of %v", sigma, got, at, rounded)
			}
			u := at / sigma
			short = short || math.Exp(-u*u/2)/(sigma*math.Sqrt(2*math.Pi))+math.Erfc(u/math.Sqrt2)/2 < rounded*0.9
		}
	}
	if !short {
		t.Error("the other bound would have done")
	}
}
