package friendly

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// graph is who is whose friend, oneself included.
type graph [][]bool

// randomGraph draws a symmetric graph, thick or thin.
func randomGraph(r *rand.Rand, n int) graph {
	g, of := make(graph, n), 1+r.IntN(4)
	for i := range g {
		g[i] = make([]bool, n)
		g[i][i] = true
		for j := range i {
			g[i][j] = r.IntN(of+1) > 0
			g[j][i] = g[i][j]
		}
	}
	return g
}

// without drops the last person.
func (g graph) without() graph {
	out := make(graph, len(g)-1)
	for i := range out {
		out[i] = g[i][:len(out)]
	}
	return out
}

// exchanged gives the last person other friends.
func (g graph) exchanged(r *rand.Rand) graph {
	n := len(g)
	out := make(graph, n)
	for i := range out {
		out[i] = append([]bool{}, g[i]...)
	}
	for j := range n - 1 {
		out[j][n-1] = r.IntN(2) == 0
		out[n-1][j] = out[j][n-1]
	}
	return out
}

// score is Z_i.
func (g graph) score(i int) int64 {
	z := -int64(len(g))
	for _, f := range g[i] {
		if f {
			z += 2
		}
	}
	return z
}

// share reports whether i in g and k in h have a friend in common among the first n.
func share(g, h graph, i, k, n int) bool {
	for j := range n {
		if g[i][j] && h[k][j] {
			return true
		}
	}
	return false
}

// upper returns P[N_Z(0, σ²) ≥ a] by its definition.
func upper(a int64, sigma float64) float64 {
	mass := func(x float64) float64 { return math.Exp(-x * x / (2 * sigma * sigma)) }
	whole, above := 0.0, 0.0
	for x := -40*int64(sigma+1) - 200; x <= 40*int64(sigma+1)+200; x++ {
		whole += mass(float64(x))
		if x >= a {
			above += mass(float64(x))
		}
	}
	return above / whole
}

// renyi is the Rényi divergence of order alpha of two coins.
func renyi(alpha, p, q float64) float64 {
	f := func(p, q float64) float64 { return math.Exp(alpha*math.Log(p) + (1-alpha)*math.Log(q)) }
	return math.Log(f(p, q)+f(1-p, 1-q)) / (alpha - 1)
}

// coreCase is one pair of neighbours in the proof.
type coreCase struct {
	core        Core
	g, h        graph // the last person of g is missing, or another, in h
	cut         cut
	others      int
	bad         []bool // of the others
	badG, badH  bool   // the last person
	exchanged   bool
	largestPart float64 // δ_f/(n_u+1)
}

func newCoreCase(r *rand.Rand, c Core, shorter int64) coreCase {
	n := 2 + r.IntN(5)
	k := coreCase{core: c, g: randomGraph(r, n), others: n - 1, exchanged: c.relation == estimator.ReplaceOne && r.IntN(3) > 0}
	k.h = k.g.without()
	if k.exchanged {
		k.h = k.g.exchanged(r)
	}
	k.cut = c.cut(int64(n), float64(n))
	if c.relation == estimator.AddRemove {
		k.cut.margin = int64(r.IntN(n))
		k.cut.least = k.cut.margin + 1 + tail(k.cut.sigma, c.filter/float64(n+1))
	}
	k.cut.least -= shorter
	k.largestPart = c.filter / float64(n+1)
	k.bad = make([]bool, n-1)
	for i := range k.bad {
		k.bad[i] = min(k.g.score(i), k.h.score(i)) <= k.cut.margin
	}
	k.badG, k.badH = k.g.score(n-1) <= k.cut.margin, k.exchanged && k.h.score(n-1) <= k.cut.margin
	return k
}

// fault checks the claims of docs/proofs/friendly.md about decisions, with exact laws; it returns
// the first that does not hold.
func (k coreCase) fault() string {
	keeps := func(z int64) float64 { return upper(k.cut.least-z, k.cut.sigma) }
	n, loss := k.others, map[float64]float64{}
	for i := range n {
		p, q := keeps(k.g.score(i)), keeps(k.h.score(i))
		if k.bad[i] && max(p, q) > k.largestPart {
			return fmt.Sprintf("a bad person is kept with probability %v, want %v at most", max(p, q), k.largestPart)
		}
		for _, alpha := range []float64{1.01, 2, 5, 20} {
			if !k.bad[i] && p < 1-1e-9 && q < 1-1e-9 {
				loss[alpha] += max(renyi(alpha, p, q), renyi(alpha, q, p))
			}
		}
	}
	for alpha, l := range loss {
		if l > alpha*k.core.filterRho*(1+1e-9) {
			return fmt.Sprintf("decisions have divergence %v of order %v, want %v at most", l, alpha, alpha*k.core.filterRho)
		}
	}
	if k.badG && keeps(k.g.score(n)) > k.largestPart {
		return "the person who differs is bad and kept"
	}
	return k.friendless()
}

// friendless checks who shares a friend.
func (k coreCase) friendless() string {
	n := k.others
	for i := range n {
		for j := range i {
			if !k.bad[i] && !k.bad[j] && !(share(k.g, k.g, i, j, n+1) && share(k.h, k.h, i, j, len(k.h))) {
				return "two who are kept share no friend"
			}
		}
		if !k.bad[i] && !k.badG && !share(k.g, k.g, n, i, n+1) {
			return "the person who differs shares no friend with one who is kept"
		}
	}
	if k.exchanged && !k.badG && !k.badH && !share(k.g, k.h, n, n, n) {
		return "the two vectors of the person exchanged share no friend"
	}
	return ""
}

func TestKeepDecisionsHaveTheLossAndSlack(t *testing.T) {
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		r := rand.New(stattest.Source(t, fmt.Sprint("decisions", relation)))
		for i := range 2000 {
			c := NewCore(relation, math.Exp2(3*r.NormFloat64()), 1, math.Pow(10, -1-8*r.Float64()), 1e-6)
			if f := newCoreCase(r, c, 0).fault(); f != "" {
				t.Fatalf("%v, case %d: %s", relation, i, f)
			}
		}
		shorter, lower := false, false
		for i := 0; i < 20000 && !(shorter && lower); i++ {
			c := NewCore(relation, math.Exp2(3*r.NormFloat64()), 1, math.Pow(10, -1-8*r.Float64()), 1e-6)
			shorter = shorter || newCoreCase(r, c, c.step()).fault() != ""
			k := newCoreCase(r, c, 0)
			k.cut.margin = c.step() - 2
			for i := range k.bad {
				k.bad[i] = min(k.g.score(i), k.h.score(i)) <= k.cut.margin
			}
			k.badG, k.badH = k.g.score(k.others) <= k.cut.margin, k.exchanged && k.h.score(k.others) <= k.cut.margin
			lower = lower || k.friendless() != ""
		}
		if !shorter || !lower {
			t.Errorf("%v: a threshold without the step passed: %v; a margin smaller by one passed: %v", relation, !shorter, !lower)
		}
	}
}

func TestUnderNoisedDecisionsAreRejected(t *testing.T) {
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		r := rand.New(stattest.Source(t, fmt.Sprint("under-noised", relation)))
		failed := false
		for range 20000 {
			k := newCoreCase(r, NewCore(relation, 0.3, 1, 0.1, 1e-6), 0)
			k.cut.sigma /= 3
			k.cut.least = k.cut.margin + 1 // where the scores are
			k.largestPart = 1
			if failed = k.fault() != ""; failed {
				break
			}
		}
		if !failed {
			t.Errorf("%v: a third of the noise passed", relation)
		}
	}
}

func TestTailBoundsTheDiscreteGaussian(t *testing.T) {
	for _, sigma := range []float64{0.6, 1, math.Sqrt(2), 3, 10.5, 90} {
		for _, beta := range []float64{0.4, 0.1, 1e-3, 1e-6, 1e-10} {
			a := tail(sigma, beta)
			if p := upper(a, sigma); p > beta {
				t.Errorf("P[N_Z(0,%v²) >= %d] = %v, want %v at most", sigma, a, p, beta)
			}
			if p := upper(a-2, sigma); p < beta*0.5 && sigma > 1 {
				t.Errorf("the tail of σ = %v at %v is at %d already: too far out", sigma, beta, a-2)
			}
		}
	}
}
