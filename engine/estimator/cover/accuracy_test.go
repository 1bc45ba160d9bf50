package cover

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// population is a law of rows with the root of its fourth central moment, independent by
// coordinates: in two dimensions that bounds every direction where the fourth moment is at least
// three times the squared variance.
type population struct {
	name  string
	mean  float64
	sigma float64
	row   func(r *rand.Rand) float64
}

func populations() []population {
	return []population{
		{"normal", 3, math.Sqrt(math.Sqrt(3)), func(r *rand.Rand) float64 { return 3 + r.NormFloat64() }},
		{"student t, 5 degrees", -7, math.Sqrt(5), func(r *rand.Rand) float64 {
			s := 0.0
			for range 5 {
				x := r.NormFloat64()
				s += x * x
			}
			return -7 + r.NormFloat64()/math.Sqrt(s/5)
		}},
		// 5 − 4·1.25·2.5 + 6·1.25²·5/3 − 3·1.25⁴ = 0.8008
		{"pareto, shape 5", 1.25, math.Sqrt(math.Sqrt(0.801)), func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -0.2) }},
	}
}

// sample returns the sums of rows of persons, and the mean of the persons' means.
func (q population) sample(r *rand.Rand, dim int, persons, rows int64) ([]int64, []float64) {
	sums, mean := make([]int64, int(persons)*dim), make([]float64, dim)
	for i := range sums {
		s := 0.0
		for range rows {
			s += q.row(r)
		}
		sums[i] = int64(math.Round(s * (1 << 20)))
		mean[i%dim] += s / float64(rows*persons)
	}
	return sums, mean
}

func (q population) off(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += (v - q.mean) * (v - q.mean)
	}
	return math.Sqrt(s)
}

// laplace is the mean clipped to a reach about the true mean, with noise of the Laplace law for a
// share of ε in each coordinate: the simple mechanism, helped by a centre that it would have to pay
// for.
func (q population) laplace(n noise.Noiser, r *rand.Rand, m mean, sums []int64) float64 {
	dim, reach := m.p.Dim, m.means.Value(float64(m.plan.reach)*m.plan.tick)
	out := make([]float64, dim)
	for i, s := range sums {
		x := float64(s) / (1 << 20) / m.p.Rows
		out[i%dim] += min(max(x-q.mean, -reach), reach) / float64(m.p.Persons)
	}
	for j := range out {
		scale := 2 * reach * float64(dim) / float64(m.p.Persons) / m.p.Epsilon
		out[j] += q.mean + scale*(r.ExpFloat64()-r.ExpFloat64())
	}
	return q.off(out)
}

// misses bounds the number of misses in runs runs that each miss with probability at most p: more
// come with probability at most stattest.Alpha, by Chernoff's bound.
func misses(runs int, p float64) int {
	for k := int(math.Ceil(p * float64(runs))); k < runs; k++ {
		w := float64(k+1) / float64(runs)
		if d := w*math.Log(w/p) + (1-w)*math.Log((1-w)/(1-p)); w < 1 && float64(runs)*d > math.Log(1/stattest.Alpha) {
			return k
		}
	}
	return runs
}

// draws does what Release does, as often as it is called, with weights of its own.
func draws(m mean, n noise.Noiser, in estimator.Input) func(weights) []float64 {
	x := m.points(in)
	centre := m.plan.centre(n, x, m.fullest)
	c := m.plan.newCover(x, centre)
	counts := c.counts()
	return func(w weights) []float64 {
		out := m.plan.answer(centre, c.find(w.draw(n, counts)))
		for j := range out {
			out[j] = m.means.Value(out[j])
		}
		return out
	}
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }

// TestErrorIsWithinThePromise counts how often the answer is off by more than the error that the
// plan chose; weights for a hundredth of the loss are found out. The error is also compared with
// those of the plain mean and of a clipped mean with Laplace noise: three times it at most, skew
// included, for which the score has a bias.
func TestErrorIsWithinThePromise(t *testing.T) {
	const runs = 30
	for dim := 1; dim <= 2; dim++ {
		for _, q := range populations() {
			p := params(dim, 1000)
			p.Sigma = q.sigma
			m := build(t, p)
			broken := newWeights(m.plan.loss / 100)
			alpha := m.means.Value(m.plan.alpha)
			r, n := rand.New(stattest.Source(t, q.name)), stattest.Noiser(t, q.name+" noise")
			var errors, plain, simple []float64
			missed, wrong := 0, 0
			for range runs {
				sums, mean := q.sample(r, dim, p.Persons, 10)
				in := dense(dim, 10, sums)
				draw := draws(m, n, in)
				e := q.off(draw(m.weights))
				if e > alpha {
					missed++
				}
				if q.off(draw(broken)) > alpha {
					wrong++
				}
				errors, plain, simple = append(errors, e), append(plain, q.off(mean)), append(simple, q.laplace(n, r, m, sums))
			}
			limit := misses(runs, 1-confidence)
			t.Logf("d=%d, %s: promised %.3g; medians: %.3g, without privacy %.3g, Laplace %.3g; %d of %d missed",
				dim, q.name, alpha, median(errors), median(plain), median(simple), missed, runs)
			if missed > limit {
				t.Errorf("seed %d: d=%d, %s: %d of %d runs are off by more than %v", stattest.Seed(t), dim, q.name, missed, runs, alpha)
			}
			if wrong <= limit {
				t.Errorf("seed %d: d=%d, %s: with a hundredth of the loss only %d of %d runs missed", stattest.Seed(t), dim, q.name, wrong, runs)
			}
			if ratio := median(errors) / median(simple); ratio > 3 {
				t.Errorf("d=%d, %s: %.2f times the error of the simple mechanism", dim, q.name, ratio)
			}
		}
	}
}

// TestMoreRowsHelp: the error falls with the rows of a person, and an error that is asked for is
// kept to.
func TestMoreRowsHelp(t *testing.T) {
	p := params(1, 2000)
	p.Rows = 1
	one := build(t, p)
	p.Rows = 100
	many := build(t, p)
	if ratio := one.plan.alpha / many.plan.alpha; ratio < 5 || ratio > 10.5 {
		t.Errorf("a hundred rows have %.2f times less error", ratio)
	}
	p.Error = 0.5
	if m := build(t, p); math.Abs(m.means.Value(m.plan.alpha)-0.5) > 1e-9 || m.plan.surplus < many.plan.surplus {
		t.Errorf("asked for 0.5, planned %v", m.means.Value(m.plan.alpha))
	}
}

// TestMomentBounds checks the inequalities that plan.go uses at many points.
func TestMomentBounds(t *testing.T) {
	for k := 2.0; k <= 20; k += 1.5 {
		f := facts{moment: k, root: 1}
		for _, at := range []float64{0.1, 1, 3} {
			touched := false
			for y := 0.0; y < 50*at; y += at / 100 {
				left, right := max(0, y-at), math.Pow(y, k)*f.bias(at)
				if left > right*(1+1e-12) {
					t.Fatalf("k = %v: at %v, %v > %v", k, y, left, right)
				}
				touched = touched || y > at && left > right*0.99
			}
			if !touched {
				t.Errorf("k = %v: the bound is not tight", k)
			}
		}
	}
	if d := (1./12)*math.Log(64./12) + (11./12)*math.Log((11./12)/(63./64)); d < tailRate || d > tailRate+0.001 {
		t.Errorf("the rate of the tail is %v", d)
	}
}

// TestAuditOfWorstNeighbours measures a lower bound of the loss on persons who all have the same,
// midway between candidates on one axis, but for one, who is far off on one side of it or on the
// other. Weights for four times the loss are found out.
func TestAuditOfWorstNeighbours(t *testing.T) {
	const runs, persons = 2500, 600
	for dim := 1; dim <= 2; dim++ {
		p := params(dim, persons)
		p.Epsilon, p.Radius, p.Error = 0.5, 2, 1.2
		m := build(t, p)
		if m.plan.width > 0 {
			t.Fatal("the cover's middle is not known")
		}
		// of a step between candidates, in steps of the grid
		half := int64(m.plan.tick * ticks * float64(m.plan.sub) / 2 / 1024)
		input := func(far int64) estimator.Input {
			s := make([]int64, persons*dim)
			for i := 0; i < len(s); i += dim {
				s[i] = half
			}
			s[0] = far
			return dense(dim, 1, s)
		}
		n := stattest.Noiser(t, "audit")
		low, high := draws(m, n, input(-estimator.MaxUnits)), draws(m, n, input(estimator.MaxUnits))
		bound := func(w weights) float64 {
			x, y := make([]float64, runs), make([]float64, runs)
			for i := range runs {
				x[i], y[i] = low(w)[0], high(w)[0]
			}
			return stattest.LossBound(x, y)
		}
		declared := m.Loss().Rho.Float()
		got, broken := bound(m.weights), bound(newWeights(4*m.plan.loss))
		t.Logf("dimension %d: loss at least %.3f of %.3f; with four times the loss %.3f", dim, got, declared, broken)
		if got > declared {
			t.Errorf("seed %d: dimension %d: loss at least %.3f, declared %.3f", stattest.Seed(t), dim, got, declared)
		}
		if broken <= declared {
			t.Errorf("seed %d: dimension %d: four times the loss was not caught: %.3f", stattest.Seed(t), dim, broken)
		}
	}
}
