package flow

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// program is Q(limit) as the linear program that defines it, solved by gonum.
func program(t *testing.T, s Shape, p *estimator.Pairs, limit float64) float64 {
	t.Helper()
	var weights []float64
	var of [][]int // the persons of each variable
	for i, u := range p.Left {
		l, r := int(u), int(p.Right[i])
		switch s {
		case Two:
			of = append(of, []int{l, p.Lefts + r})
		case Self:
			if of = append(of, []int{l, r}); l == r {
				of[len(of)-1] = []int{l}
			}
		case Distinct:
			of = append(of, []int{l, p.Lefts + r})
		case One:
			of = append(of, []int{l})
		}
		w := float64(p.Weights[i])
		if s == Distinct {
			w = 1
		}
		weights = append(weights, w)
	}
	n, nodes := len(weights), p.Lefts+p.Rights
	if n == 0 {
		return 0
	}
	a, b, c := mat.NewDense(n+nodes, 2*n+nodes, nil), make([]float64, n+nodes), make([]float64, 2*n+nodes)
	for i, w := range weights {
		c[i] = -1
		a.Set(i, i, 1)
		a.Set(i, n+i, 1)
		b[i] = w
		for _, node := range of[i] {
			a.Set(n+node, i, 1)
		}
	}
	for node := range nodes {
		a.Set(n+node, 2*n+node, 1)
		if b[n+node] = limit; s == Distinct && node >= p.Lefts {
			b[n+node] = 1
		}
	}
	value, _, err := lp.Simplex(c, a, b, 1e-10, basis(n, nodes))
	if err != nil {
		t.Fatal(err)
	}
	return -value
}

// basis is that of the slacks, which is feasible.
func basis(n, nodes int) []int {
	out := make([]int, n+nodes)
	for i := range out {
		out[i] = n + i
	}
	return out
}

// random is a small graph with ties, loops, pairs that come twice in either order, and persons
// without any.
func random(r *rand.Rand, s Shape) *estimator.Pairs {
	p := &estimator.Pairs{Lefts: 1 + r.IntN(5), Rights: 1 + r.IntN(5)}
	if s == Self {
		p.Rights = p.Lefts
	}
	for range r.IntN(14) {
		p.Left, p.Right = append(p.Left, uint32(r.IntN(p.Lefts))), append(p.Right, uint32(r.IntN(p.Rights)))
		p.Weights = append(p.Weights, 1+r.Int64N(1+r.Int64N(9)))
	}
	return p
}

// same reports whether the curve of a graph is that of its programs.
func same(t *testing.T, s Shape, q *profile) bool {
	t.Helper()
	for i, cap := range q.caps {
		f, _ := q.all[i].Float64()
		if math.Abs(f/float64(q.shape.parts())-program(t, s, q.pairs, float64(cap))) > 1e-6 {
			return false
		}
	}
	return true
}

// TestFlowsAreTheLinearPrograms compares with gonum's simplex on random graphs, where loops as arcs
// of the double cover are rejected.
func TestFlowsAreTheLinearPrograms(t *testing.T) {
	r := rand.New(stattest.Source(t, "programs"))
	differ := 0
	for _, s := range []Shape{Two, Self, Distinct, One} {
		for range 60 {
			p := random(r, s)
			if !same(t, s, honest(s)(p)) {
				t.Errorf("%v: %+v is not its linear program", s, p)
			}
			if s == Self && !same(t, s, broken(Self, 0, cover)(p)) {
				differ++
			}
		}
	}
	if differ < 20 {
		t.Errorf("loops as arcs of the cover differed from the program in %d of 60 graphs", differ)
	}
}

// TestTheCurveIsConcaveAndEndsAtTheTruth also compares a curve that is asked for ascending caps
// with flows that begin anew.
func TestTheCurveIsConcaveAndEndsAtTheTruth(t *testing.T) {
	r := rand.New(stattest.Source(t, "curves"))
	for _, s := range []Shape{Two, Self, Distinct, One} {
		for range 40 {
			p := &estimator.Pairs{Lefts: 30, Rights: 30}
			for range 200 {
				p.Left, p.Right = append(p.Left, uint32(r.IntN(1+r.IntN(30)))), append(p.Right, uint32(r.IntN(1+r.IntN(30))))
				p.Weights = append(p.Weights, int64(math.Exp(4*r.Float64())))
			}
			caps, _ := capsUpTo(1 << 12)
			q := newProfile(s, false, caps, p)
			q.from(0)
			slope := math.Inf(1)
			last, from := 0.0, int64(0)
			for i, cap := range caps {
				f, _ := q.all[i].Float64()
				next := (f - last) / float64(cap-from)
				if next > slope+1e-9 || next < 0 {
					t.Fatalf("%v: from %d to %d the slope is %v after %v", s, from, cap, next, slope)
				}
				slope, last, from = next, f, cap
				if r.IntN(8) == 0 {
					if anew := newCurve(s, p, positive).at(cap, func() {}); anew.Big().Cmp(q.all[i]) != 0 {
						t.Fatalf("%v: at %d the flow is %v, begun anew %v", s, cap, q.all[i], anew.Big())
					}
				}
			}
			if truth := truthOf(s, p); last/float64(s.parts()) != truth {
				t.Fatalf("%v: ends at %v, of %v", s, last, truth)
			}
		}
	}
}

// truthOf is the whole weight, or the number of values.
func truthOf(s Shape, p *estimator.Pairs) float64 {
	values, sum := map[uint32]bool{}, 0.0
	for i, v := range p.Right {
		values[v] = true
		if p.Weights == nil {
			sum++
		} else {
			sum += float64(p.Weights[i])
		}
	}
	if s == Distinct {
		return float64(len(values))
	}
	return sum
}

// TestScoresOnlyFall: a choice skips the flows of small caps on that ground.
func TestScoresOnlyFall(t *testing.T) {
	r := rand.New(stattest.Source(t, "scores"))
	for _, s := range []Shape{Two, Self, Distinct, One} {
		for range 60 {
			p := random(r, s)
			caps, candidates := capsUpTo(64)
			q := newProfile(s, false, caps, p)
			q.from(0)
			for i := 1; i < candidates; i++ {
				if q.score(i) > q.score(i-1) {
					t.Fatalf("%v: the score grows from %d at %d to %d at %d", s, q.score(i-1), caps[i-1], q.score(i), caps[i])
				}
			}
		}
	}
}

// TestHugeWeightsDoNotOverflow: every weight at the end of its range, or beyond, all of one person.
func TestHugeWeightsDoNotOverflow(t *testing.T) {
	for _, s := range []Shape{Two, Self, One} {
		p := &estimator.Pairs{Lefts: 5000, Rights: 5000}
		for i := range 5000 {
			p.Left, p.Right, p.Weights = append(p.Left, 0), append(p.Right, uint32(i)), append(p.Weights, math.MaxInt64)
		}
		q := newProfile(s, true, []int64{estimator.MaxUnits}, p)
		q.from(0)
		if f, _ := q.signed[0].Float64(); f != float64(s.parts())*estimator.MaxUnits {
			t.Errorf("%v: %v", s, f)
		}
		for i := range p.Weights {
			p.Weights[i] = math.MinInt64
		}
		q = newProfile(s, true, []int64{estimator.MaxUnits}, p)
		q.from(0)
		if f, _ := q.signed[0].Float64(); f != -float64(s.parts())*estimator.MaxUnits {
			t.Errorf("%v, negative: %v", s, f)
		}
	}
}

// TestAnEndedContextEndsTheWork before a flow, and in the middle of one.
func TestAnEndedContextEndsTheWork(t *testing.T) {
	p := joined(rand.New(stattest.Source(t, "context")), 2000, 2000, 100000)
	for _, looks := range []int{0, 2, 4} {
		p.Context = &ends{Context: context.Background(), looks: looks}
		func() {
			defer func() {
				if got := recover(); got != context.Canceled {
					t.Errorf("after %d looks: ended with %v", looks, got)
				}
			}()
			newProfile(Two, false, []int64{40}, p).from(0)
		}()
	}
}

// ends is a context that has ended after so many looks.
type ends struct {
	context.Context
	looks int
}

func (e *ends) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// joined is a join of so many results in which each side's persons are drawn evenly.
func joined(r *rand.Rand, lefts, rights, results int) *estimator.Pairs {
	count := map[[2]uint32]int64{}
	for range results {
		count[[2]uint32{uint32(r.IntN(lefts)), uint32(r.IntN(rights))}]++
	}
	p := &estimator.Pairs{Lefts: lefts, Rights: rights}
	for k, n := range count {
		p.Left, p.Right, p.Weights = append(p.Left, k[0]), append(p.Right, k[1]), append(p.Weights, n)
	}
	return p
}
