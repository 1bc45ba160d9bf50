package budget

import (
	"math"
	"testing"

	"scrim/accounting/privacy"
)

// lossLaw is the law of the logarithm of the quotient of two laws, on multiples of lossStep, under
// the first.
type lossLaw struct {
	least int
	p     []float64
}

const lossStep = 5e-4

// responseLaw is that of randomised response with ε.
func responseLaw(eps float64) lossLaw {
	n := int(math.Round(eps / lossStep))
	l := lossLaw{-n, make([]float64, 2*n+1)}
	l.p[2*n], l.p[0] = 1/(1+math.Exp(-eps)), 1/(1+math.Exp(eps))
	return l
}

// laplaceLaw is that of Laplace noise with ε. What lies between two multiples goes to the upper
// one, or the lower.
func laplaceLaw(eps float64, upper bool) lossLaw {
	n := int(math.Round(eps / lossStep))
	l := lossLaw{-n, make([]float64, 2*n+1)}
	l.p[2*n], l.p[0] = 0.5, math.Exp(-eps)/2
	for i := range 2 * n {
		x := float64(i-n) * lossStep
		at := i
		if upper {
			at++
		}
		l.p[at] += (math.Exp((x+lossStep-eps)/2) - math.Exp((x-eps)/2)) / 2
	}
	return l
}

// times is the law of k runs.
func (l lossLaw) times(k int) lossLaw {
	sum := lossLaw{0, []float64{1}}
	for range k {
		next := lossLaw{sum.least + l.least, make([]float64, len(sum.p)+len(l.p)-1)}
		for i, p := range sum.p {
			for j, q := range l.p {
				next.p[i+j] += p * q
			}
		}
		sum = next
	}
	return sum
}

// delta is the δ at ε of these runs and Gaussian noise of rho together.
func (l lossLaw) delta(eps, rho float64) float64 {
	mu, sum := math.Sqrt(2*rho), 0.0
	below := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for i, p := range l.p {
		if p == 0 {
			continue
		}
		x := eps - float64(l.least+i)*lossStep
		if rho == 0 {
			sum += p * math.Max(0, -math.Expm1(x))
			continue
		}
		sum += p * (below(mu/2-x/mu) - math.Exp(x)*below(-mu/2-x/mu))
	}
	return sum
}

// session is what somebody asks of (1, 1e-6): some pure queries and Gaussian ones, in the one order
// or the other, until one does not fit.
type session struct {
	name      string
	pure, rho float64 // of one query
	// how many pure ones come first, and then only Gaussian ones; −1: one Gaussian one, and then
	// only pure ones
	before int
	exact  int // how many may be answered, by the exact δ of all together
	// by the filter, and by the budgets that were made before there were orders
	admitted, boxes int
}

// sessionKinds are the mechanisms of the pure queries, with the brackets of their exact laws and
// the sessions that are asked of them.
var sessionKinds = []struct {
	event    privacy.EventKind
	low, up  func(eps float64) lossLaw
	sessions []session
}{
	{privacy.Laplace, func(e float64) lossLaw { return laplaceLaw(e, false) }, func(e float64) lossLaw { return laplaceLaw(e, true) }, []session{
		{"one of .3, then Gaussian noise", .3, 1e-4, 1, 155, 131, 1},
		{"five of .1, then Gaussian noise", .1, 1e-4, 5, 122, 99, 5},
		{"Gaussian noise, then .1 each", .1, 1e-4, -1, 10, 9, 5},
		{"Gaussian noise", 0, 2.81e-4, 0, 99, 80, 81},
	}},
	{privacy.RandomizedResponse, responseLaw, responseLaw, []session{
		{"one of .3, then Gaussian noise", .3, 1e-4, 1, 153, 129, 1},
		{"five of .1, then Gaussian noise", .1, 1e-4, 5, 119, 97, 5},
		{"Gaussian noise, then .1 each", .1, 1e-4, -1, 10, 9, 5},
	}},
}

// loss returns the exact δ at ε = 1 after n queries of a session.
func (s *session) delta(law func(eps float64) lossLaw, n int) float64 {
	pure, gaussian := min(n, s.before), n-s.before
	if s.before < 0 {
		pure, gaussian = n-1, 1
	}
	return law(s.pure).times(pure).delta(1, float64(max(0, gaussian))*s.rho)
}

// admits returns how many queries of a session a budget answers.
func (s *session) admits(b *Budget, kind privacy.EventKind) int {
	return s.admitsOf(b, kind, privacy.DiscreteGaussian)
}

// admitsOf is admits with Gaussian noise of some law.
func (s *session) admitsOf(b *Budget, kind, noise privacy.EventKind) (n int) {
	gaussian := privacy.Event{Kind: noise, Rho: privacy.RhoOf(s.rho), Count: 1}
	var spent privacy.Amount
	for n < 1000 {
		e := gaussian
		if s.before < 0 && n > 0 || n < s.before {
			e = privacy.Event{Kind: kind, Epsilon: privacy.PureOf(s.pure), Count: 1}
		}
		spent.Plus(&privacy.Amount{Tally: privacy.TallyOf(e.Loss()), Curve: e.Curve()})
		if !b.Fits(&spent) {
			return n
		}
		n++
	}
	return n
}

// TestMixedSessions: pure charges and Gaussian ones beside each other strand a budget no more. The
// filter answers at least four fifths of the queries that the exact composition of all of them
// would allow, had they been fixed beforehand, with all of δ; and of Gaussian noise alone nearly as
// many as budgets without an order.
func TestMixedSessions(t *testing.T) {
	t.Parallel()
	now := made(1, 1e-6)
	before := now
	before.Order = 0
	for _, k := range sessionKinds {
		for _, s := range k.sessions {
			if d := s.delta(k.up, s.exact); d > 1e-6 {
				t.Errorf("%s, %s: %d queries have δ = %v", k.event, s.name, s.exact, d)
			}
			if d := s.delta(k.low, s.exact+1); d <= 1e-6 {
				t.Errorf("%s, %s: %d queries have δ = %v", k.event, s.name, s.exact+1, d)
			}
			got, was := s.admits(&now, k.event), s.admits(&before, k.event)
			t.Logf("%-20s %-32s exact %3d, before %3d, now %3d", k.event, s.name, s.exact, was, got)
			if got != s.admitted || was != s.boxes {
				t.Errorf("%s, %s: %d, and %d before; want %d and %d", k.event, s.name, got, was, s.admitted, s.boxes)
			}
			if float64(got) < 0.8*float64(s.exact) || s.pure == 0 && float64(got) < 0.98*float64(was) {
				t.Errorf("%s, %s: %d queries, exact %d, before %d", k.event, s.name, got, s.exact, was)
			}
		}
	}
}
