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
		norms[i] = root(distance2(x[:dim], m.centre, m.weights) * m.slack)
	}
}

// distance2 returns Σ_j w_j·(x_j − c_j)² in doubles: four sums of every fourth term, so that
// additions need not wait for each other, then the terms that are left.
func distance2(x, c []int64, w []float64) float64 {
	c, w = c[:len(x)], w[:len(x)]
	var p, q, r, s float64
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
