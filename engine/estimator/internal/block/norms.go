package block

import (
	"math"
	"slices"

	"scrim/engine/estimator"
)

// Norms returns, for each person in the order of the chunks, an upper bound on the weighted
// distance from a centre,
//
//	‖x − c‖_w = √(Σ_j w_j·(x_j − c_j)²)
//
// that is at most 1 + (Dim+16)·2^-50 times it. centre may be nil for 0, weights nil for 1; weights
// are positive and finite; entries and centre are within ±2^61. It is a function of one person at a
// time: the terms are added in an order that depends on Dim alone. What is not finite comes out as
// +Inf.
//
// With half unit u = 2^-53 a term is off by at most 5u of itself, and a sum of Dim terms that are
// not negative by (Dim−1)u in any order: together less than (Dim+16)·2^-50 = 8(Dim+16)u, with room
// for the rounding of the root.
func Norms(b *estimator.Block, centre []int64, weights []float64) []float64 {
	if b.Sparse {
		return NormsIn(b, 1, centre, weights)
	}
	m := newMeasure(b, centre, weights)
	out, rs := estimator.Make[float64](b.Memory, int(b.Persons())), runs(b)
	spread(len(rs), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			m.run(out, rs[k])
		}
	})
	return out
}

// measure holds what the norm of a dense vector needs.
type measure struct {
	centre  []int64
	weights []float64
	slack   float64
}

func newMeasure(b *estimator.Block, centre []int64, weights []float64) measure {
	if centre == nil {
		centre = make([]int64, b.Dim)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, b.Dim)
	}
	return measure{centre, weights, 1 + float64(b.Dim+16)*0x1p-50}
}

// run sets the norms of the persons of a run.
func (m *measure) run(norms []float64, r run) {
	dim := len(m.centre)
	for x, i := r.rows(dim), r.at; len(x) > 0; x, i = x[dim:], i+1 {
		norms[i] = root(Distance2(0, x[:dim], m.centre, m.weights) * m.slack)
	}
}

// Distance2 returns p + Σ_j w_j·(x_j − c_j)² in doubles: four sums of every fourth term, so that
// additions need not wait for each other, then the terms that are left.
func Distance2(p float64, x, c []int64, w []float64) float64 {
	c, w = c[:len(x)], w[:len(x)]
	var q, r, s float64
	j := 0
	for ; j+3 < len(x); j += 4 {
		d, e, f, g := float64(x[j]-c[j]), float64(x[j+1]-c[j+1]), float64(x[j+2]-c[j+2]), float64(x[j+3]-c[j+3])
		p += float64(w[j] * float64(d*d))
		q += float64(w[j+1] * float64(e*e))
		r += float64(w[j+2] * float64(f*f))
		s += float64(w[j+3] * float64(g*g))
	}
	for ; j < len(x); j++ {
		d := float64(x[j] - c[j])
		p += float64(w[j] * float64(d*d))
	}
	return (p + q) + (r + s)
}

// root is the square root, +Inf where it is not a number.
func root(q float64) float64 {
	if q = math.Sqrt(q); q != q {
		return math.Inf(1)
	}
	return q
}

// NormsIn is Norms on a sparse block whose values count unit each:
//
//	‖unit·x − c‖_w = √(Σ_j w_j·(unit·x_j − c_j)²)
//
// rounded up. A person with the entries J costs O(|J|), since only they differ from the vector 0:
//
//	q = W + Σ_{j∈J} w_j((unit·x_j − c_j)² − c_j²)     W = Σ_j w_j·c_j², the same for all
//	m = W + Σ_{j∈J} w_j((unit·x_j − c_j)² + c_j²)
//
// The subtraction loses digits where x is near c, by a part of m and not of q. In double precision,
// with half unit u = 2^-53, each term is off by at most 6u of its share of m (integers above 2^53
// are rounded too), W by (d_c+4)u·W where d_c coordinates of c are not 0, and the sum of |J|+1
// terms by (|J|+1)u·m more. So e = (|J|+d_c+16)·2^-50·m = 8(|J|+d_c+16)u·m covers all of it and the
// rounding of m, of q+e and of the root, and √(q+e) is never under the true norm. Without a centre
// nothing cancels: m = q, and the answer is at most 1 + (|J|+16)·2^-50 times the norm.
func NormsIn(b *estimator.Block, unit int64, centre []int64, weights []float64) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))
	t := newNormTerms(b.Dim, unit, centre, weights)
	rs := runs(b)
	spread(len(rs), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			r := rs[k]
			for i := r.from; i < r.to; i++ {
				out[r.at+i-r.from] = t.norm(entries(r.chunk, i))
			}
		}
	})
	return out
}

// normTerms holds what a norm needs that is the same for all persons.
type normTerms struct {
	unit    int64
	centre  []int64
	weights []float64
	whole   float64      // W
	extra   float64      // d_c + 16
	one     [][2]float64 // what an entry of value 1 adds to q and to m
}

func newNormTerms(dim int, unit int64, centre []int64, weights []float64) *normTerms {
	t := &normTerms{unit: unit, centre: centre, weights: weights, extra: 16, one: make([][2]float64, dim)}
	for j := range centre {
		if c := float64(centre[j]); c != 0 {
			t.whole += float64(t.weight(j) * float64(c*c))
			t.extra++
		}
	}
	for j := range t.one {
		q, m := t.term(j, 1)
		t.one[j] = [2]float64{q, m}
	}
	return t
}

func (t *normTerms) weight(j int) float64 {
	if t.weights == nil {
		return 1
	}
	return t.weights[j]
}

// term returns what an entry x of coordinate j adds to q and to m.
func (t *normTerms) term(j int, x int64) (q, m float64) {
	v, w := t.unit*x, t.weight(j)
	if t.centre == nil {
		q = float64(w * float64(float64(v)*float64(v)))
		return q, q
	}
	d, c := float64(v-t.centre[j]), float64(t.centre[j])
	d, c = float64(d*d), float64(c*c)
	return float64(w * float64(d-c)), float64(w * float64(d+c))
}

// norm returns one person's norm, rounded up; +Inf where it is not finite.
func (t *normTerms) norm(index []int32, values []int64) float64 {
	q, m := t.whole, t.whole
	if values == nil {
		for _, j := range index {
			q += t.one[j][0]
			m += t.one[j][1]
		}
	} else {
		for e, j := range index {
			a, b := t.term(int(j), values[e])
			q += a
			m += b
		}
	}
	slack := (float64(len(index)) + t.extra) * 0x1p-50
	if q = math.Sqrt(max(0, q+float64(slack*m))); q != q {
		return math.Inf(1)
	}
	return q
}
