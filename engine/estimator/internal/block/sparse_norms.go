package block

import (
	"math"

	"scrim/engine/estimator"
)

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
