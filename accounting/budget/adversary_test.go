package budget

import (
	"math"
	"testing"

	"scrim/accounting/privacy"
)

// leak is the place of an outcome that tells the neighbours apart.
const leak = math.MaxInt

// move is a mechanism that the adversary may run: its charge, and its outcomes under the first law,
// by the logarithm of the quotient in steps of moveStep.
type move struct {
	charge privacy.Amount
	steps  []int
	p      []float64
}

const moveStep = 1.0 / 32

func moveOf(e privacy.Event, steps []int, p []float64) move {
	return move{privacy.Amount{Tally: privacy.TallyOf(e.Loss()), Curve: e.Curve()}, steps, p}
}

// coinMove is randomised response of ε = n steps.
func coinMove(n int) move {
	eps := float64(n) * moveStep
	e := privacy.Event{Kind: privacy.RandomizedResponse, Epsilon: privacy.PureOf(eps), Count: 1}
	return moveOf(e, []int{n, -n}, []float64{1 / (1 + math.Exp(-eps)), 1 / (1 + math.Exp(eps))})
}

// choiceMove is a choice whose quotients have the logarithms of n and n−range steps.
func choiceMove(n, width int) move {
	t, eps := float64(n)*moveStep, float64(width)*moveStep
	// of the first outcome, under the second law
	q := -math.Expm1(t-eps) / (math.Exp(t) - math.Exp(t-eps))
	e := privacy.Event{Kind: privacy.Exponential, Epsilon: privacy.PureOf(eps), Count: 1}
	return moveOf(e, []int{n, n - width}, []float64{q * math.Exp(t), (1 - q) * math.Exp(t-eps)})
}

// gaussianMove is discrete Gaussian noise of variance 1/(2·steps·moveStep), for a move by 1, seen
// from either side.
func gaussianMove(steps int, back bool) move {
	sigma2 := 1 / (2 * float64(steps) * moveStep)
	weight := func(y int) float64 { return math.Exp(-float64(y*y) / (2 * sigma2)) }
	reach, norm := int(7*math.Sqrt(sigma2)), 0.0 // what lies beyond is negligible
	for y := -reach; y <= reach; y++ {
		norm += weight(y)
	}
	var p, q []float64
	for y := -reach; y <= reach+1; y++ {
		p, q = append(p, weight(y)/norm), append(q, weight(y-1)/norm)
	}
	if back {
		p, q = q, p
	}
	at := make([]int, len(p))
	for i := range p {
		at[i] = int(math.Round(math.Log(p[i]/q[i]) / moveStep))
	}
	return moveOf(privacy.Event{Kind: privacy.DiscreteGaussian, Rho: privacy.RhoOf(1 / (2 * sigma2)), Count: 1}, at, p)
}

// leakMove tells all with probability d, and else nothing.
func leakMove(l privacy.Loss, d float64) move {
	return move{privacy.Amount{Tally: privacy.TallyOf(l)}, []int{leak, 0}, []float64{d, 1 - d}}
}

// adversary plays against a filter: at every point, knowing all answers so far, it makes whichever
// move is granted that helps it most, or stops.
type adversary struct {
	epsilon float64
	moves   []move
	grants  func(spent *privacy.Amount) bool
	// by how often each move was made: by place, of the most that can be reached
	values map[[6]int][]float64
	reach  int // places go from −reach to reach
}

// wins returns the largest P[S] − e^ε·Q[S] over all ways to play and all sets S of transcripts.
// That is the largest mean, under P, of the positive part of 1 − e^{ε−L}, where L is the logarithm
// of the quotient at the end.
func (a *adversary) wins() float64 {
	a.values = map[[6]int][]float64{}
	return a.value([6]int{}, &privacy.Amount{})[a.reach]
}

func (a *adversary) value(made [6]int, spent *privacy.Amount) []float64 {
	if v := a.values[made]; v != nil {
		return v
	}
	v := make([]float64, 2*a.reach+1)
	for i := range v {
		v[i] = math.Max(0, -math.Expm1(a.epsilon-float64(i-a.reach)*moveStep))
	}
	for m := range a.moves {
		move := &a.moves[m]
		after := *spent
		after.Plus(&move.charge)
		if !a.grants(&after) {
			continue
		}
		next := made
		next[m]++
		w := a.value(next, &after)
		for i := range v {
			sum := 0.0
			for j, s := range move.steps {
				if s == leak {
					sum += move.p[j]
					continue
				}
				// Few places are beyond the reach: above it all but e^{ε−12.5} is won, and below it
				// nothing.
				sum += move.p[j] * w[min(max(i+s, 0), 2*a.reach)]
			}
			v[i] = math.Max(v[i], sum)
		}
	}
	a.values[made] = v
	return v
}

// TestAdversaryOfTheFilter computes what the best of all adaptive analysts reaches against the
// filter of a budget, by all outcomes of small mechanisms: pure ones of two kinds, noise, and some
// that fail. It is at most the budget's δ, at every share of it, and would be more if the limit
// were twice as large.
func TestAdversaryOfTheFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		epsilon, delta float64
		moves          []move
	}{
		{"coins and noise", 1.5, 0.01, []move{coinMove(16), coinMove(8), gaussianMove(1, false), gaussianMove(1, true)}},
		{"choices and noise", 1.5, 0.01, []move{choiceMove(4, 16), choiceMove(8, 16), choiceMove(12, 16), gaussianMove(1, false)}},
		{"coins and noise that fail", 1, 0.02, []move{
			coinMove(12), gaussianMove(1, false), leakMove(privacy.Loss{DeltaEvent: 0.0012}, 0.0012), leakMove(privacy.Loss{DeltaTV: 0.0001}, 0.0001)}},
		{"noise", 1.5, 1e-3, []move{gaussianMove(1, false), gaussianMove(1, true)}},
		{"small coins and noise", 1, 1e-3, []move{coinMove(4), coinMove(2), gaussianMove(1, false)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := made(privacy.Epsilon(c.epsilon), privacy.Delta(c.delta))
			if b.Order == 0 {
				t.Fatal("no order")
			}
			a := &adversary{epsilon: c.epsilon, moves: c.moves, reach: 400, grants: b.Fits}
			got := a.wins()
			points := len(a.values)
			r := b.rule()
			r.limit *= 2
			a.grants = r.takes
			loose := a.wins()
			t.Logf("order %.4g: %d points, δ = %.3g of %.3g; with twice the limit %.3g", b.Order, points, got, c.delta, loose)
			if got > c.delta || got < c.delta/100 {
				t.Errorf("the adversary reaches δ = %v of %v", got, c.delta)
			}
			if loose <= c.delta {
				t.Errorf("with twice the limit it reaches %v: the test says little", loose)
			}
		})
	}
}

// normalMove is normal noise of which the logarithm of the quotient is told to the nearest step,
// with μ² = n steps.
func normalMove(n int) move {
	mu2 := float64(n) * moveStep
	below := func(x float64) float64 { return math.Erfc((mu2/2-x)/math.Sqrt(2*mu2)) / 2 }
	var at []int
	var p []float64
	for reach, k := int(8*math.Sqrt(mu2)/moveStep), 0; len(at) <= 2*reach; k++ {
		place := k - reach
		at = append(at, place)
		p = append(p, below((float64(place)+0.5)*moveStep)-below((float64(place)-0.5)*moveStep))
	}
	return moveOf(privacy.Event{Kind: privacy.Gaussian, Rho: privacy.RhoOf(mu2 / 2), Count: 1}, at, p)
}

// TestAdversaryOfTheGaussianAccount is TestAdversaryOfTheFilter for a Gaussian account. Noise alone
// reaches most of its share of δ, so the test is close; telling to the nearest step moves what is
// reached by a hundredth. So do coins and choices where δ is large, which are worst with nothing
// behind them: there an account that counted what they count as noise, and no more, would pass δ.
func TestAdversaryOfTheGaussianAccount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		epsilon, delta float64
		least          float64 // of δ that is reached
		moves          []move
	}{
		{"noise", 1.5, 0.01, 0.65, []move{normalMove(1), normalMove(2)}},
		{"noise of small delta", 2, 1e-4, 0.6, []move{normalMove(1), normalMove(3)}},
		{"coins and noise", 1.5, 0.01, 0.1, []move{coinMove(16), coinMove(8), normalMove(1)}},
		{"choices and noise", 1.5, 0.01, 0.1, []move{choiceMove(4, 16), choiceMove(8, 16), choiceMove(12, 16), normalMove(2)}},
		{"small choices and noise", 1.5, 0.01, 0.5, []move{choiceMove(3, 8), choiceMove(5, 8), normalMove(2)}},
		{"small coins and noise", 1.5, 0.01, 0.5, []move{coinMove(4), normalMove(1)}},
		{"discrete noise beside", 1.5, 0.01, 0.1, []move{normalMove(2), gaussianMove(1, false), gaussianMove(1, true)}},
		{"noise that fails", 1, 0.02, 0.3, []move{
			normalMove(1), leakMove(privacy.Loss{DeltaEvent: 0.0006}, 0.0006), leakMove(privacy.Loss{DeltaTV: 0.0001}, 0.0001)}},
		{"a choice of large delta", 0.09375, 0.108, 0.7, []move{choiceMove(6, 16), choiceMove(8, 16)}},
		{"coins of large delta", 0.09375, 0.2, 0.65, []move{coinMove(8), coinMove(4)}},
		{"coins of large delta and noise", 0.09375, 0.15, 0.65, []move{coinMove(8), normalMove(1)}},
		{"choices of large delta and noise", 0.09375, 0.15, 0.6, []move{choiceMove(4, 8), choiceMove(3, 8), choiceMove(5, 8), normalMove(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := gaussianAccount(privacy.Epsilon(c.epsilon), privacy.Delta(c.delta))
			if b.Order == 0 {
				t.Fatal("no order")
			}
			a := &adversary{epsilon: c.epsilon, moves: c.moves, reach: 400, grants: b.Fits}
			got := a.wins()
			a.grants = func(spent *privacy.Amount) bool {
				half, ok := spent.Curve.GDP()
				x := b.shares()
				return ok && x.slack(spent.Loss()) && privacy.GaussianDelta(half/2, b.Epsilon) <= b.part(gaussianShare)
			}
			loose := a.wins()
			t.Logf("δ = %.3g of %.3g; with twice the μ² %.3g", got, c.delta, loose)
			if c.delta > 0.1 {
				a.grants = func(spent *privacy.Amount) bool { return privacy.GaussianDelta(spent.Rho, b.Epsilon) <= b.Delta }
				if plain := a.wins(); plain <= c.delta {
					t.Errorf("by its ρ alone it reaches %v: the test says little", plain)
				}
			}
			if got > c.delta || got < c.least*c.delta {
				t.Errorf("the adversary reaches δ = %v of %v", got, c.delta)
			}
			if loose <= c.delta {
				t.Errorf("with twice the μ² it reaches %v: the test says little", loose)
			}
		})
	}
}
