package friendly

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
)

// metric is a weighted distance of two vectors, ‖x − y‖_w = √(Σ_j w_j·(x_j − y_j)²), with public or
// released weights, finite and > 0.
//
// Friends are those whose squared distance, formed in doubles by distance2, is at most limit2 =
// fl(λ²). (x_j − y_j)² is the same for both orders of the two and terms come in the order of the
// coordinates: it is a symmetric function of the two vectors, and of no other person's. It is off
// by less than (d+16)·2^-52 of itself, so the exact distance of friends is at most λ·(1+2^-30) for
// d ≤ 2^20.
type metric struct {
	weights []float64
	limit2  float64
}

// excess is by how much friends may be farther apart than λ, relatively.
const excess = 0x1p-30

func newMetric(weights []float64, lambda float64) *metric { return &metric{weights, lambda * lambda} }

// points are the persons of a block as the metric sees them. Beside the vectors x there are z_j =
// √w_j·(x_j − c_j) in doubles, for a common c near to most, in two parts: the head has the
// coordinates of least weight, which have most of a distance where weights are the inverse of
// spreads.
type points struct {
	*metric
	rows       [][]int64
	head, rest part
}

// part is some coordinates of all z.
type part struct {
	z     [][]float64 // nil where there is no room for it
	norms []float64
}

// headSize is the number of coordinates in the head.
const headSize = 128

// most64 is the number of doubles beyond which z is kept for the head alone: 1 GiB.
const most64 = 1 << 27

func (m *metric) points(b *estimator.Block) *points {
	n, r := int(b.Persons()), firstpass.NewReader(b)
	p := &points{metric: m, rows: make([][]int64, n)}
	for i := range p.rows {
		p.rows[i] = r.Vector(i)
	}
	order, c, scale := make([]int, b.Dim), middle(p.rows), make([]float64, b.Dim)
	for j := range order {
		order[j], scale[j] = j, math.Sqrt(m.weights[j])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.weights[a], m.weights[b]) })
	cut := min(headSize, b.Dim)
	p.head, p.rest = p.part(order[:cut], c, scale, true), p.part(order[cut:], c, scale, n*b.Dim <= most64)
	return p
}

// part makes a part of the given coordinates.
func (p *points) part(order []int, c []int64, scale []float64, keep bool) part {
	n := len(p.rows)
	out := part{norms: make([]float64, n)}
	if keep {
		out.z = make([][]float64, n)
	}
	slices.Sort(order)
	each(n, func(i int) {
		z := make([]float64, len(order))
		for k, j := range order {
			z[k] = scale[j] * float64(p.rows[i][j]-c[j])
		}
		out.norms[i] = math.Sqrt(f64(z, z))
		if keep {
			out.z[i] = z
		}
	})
	return out
}

// f64 is the inner product.
func f64(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

// middle returns a vector that is likely near to most of them: the medians of a few. It decides how
// fast the friends are found, not who they are.
func middle(rows [][]int64) []int64 {
	few := [][]int64{}
	for i := 0; i < len(rows); i += len(rows)/15 + 1 {
		few = append(few, rows[i])
	}
	if len(few) == 0 {
		return nil
	}
	c, column := make([]int64, len(few[0])), make([]int64, len(few))
	for j := range c {
		for i := range few {
			column[i] = few[i][j]
		}
		slices.Sort(column)
		c[j] = column[len(column)/2]
	}
	return c
}

// friends says whether the squared distance of persons i and k is at most limit2.
//
// Most pairs are told apart sooner. With h and t the norms of the two parts of z, the exact squared
// distance is within (a.t − b.t)² and (a.t + b.t)² of the head's a.h² + b.h² − 2⟨a,b⟩, and the
// rest's is found like the head's. All these are off by less than 2^-30 of h² + t² of both persons,
// added up, for d ≤ 2^20; so is distance2. Where limit2 is outside by a margin of 2^-27 of that,
// distance2 is on the same side of it. So the answer does not depend on c, which depends on other
// persons.
func (p *points) friends(i, k int) bool {
	a, b := p.head.norms[i], p.head.norms[k]
	s, t := p.rest.norms[i], p.rest.norms[k]
	whole := a*a + b*b + s*s + t*t
	room, q := p.limit2, a*a+b*b-2*f64(p.head.z[i], p.head.z[k])
	margin := whole * nearly
	switch {
	case q+(s+t)*(s+t)+margin <= room:
		return true
	case q+(s-t)*(s-t)-margin > room && whole <= math.MaxFloat64:
		return false
	}
	if p.rest.z != nil {
		switch q += s*s + t*t - 2*f64(p.rest.z[i], p.rest.z[k]); {
		case q+margin <= room:
			return true
		case q-margin > room && whole <= math.MaxFloat64:
			return false
		}
	}
	return distance2(p.limit2, p.rows[i], p.rows[k], p.weights) <= p.limit2
}

// nearly is the margin, far more than the error of sums.
const nearly = 0x1p-27

// distance2 returns Σ_j w_j(x_j − y_j)², or any number above limit as soon as the sum so far is
// above it: terms are not negative, so partial sums never fall, and then the whole is above it,
// too.
func distance2(limit float64, x, y []int64, w []float64) float64 {
	from := 0.0
	for len(x) > piece {
		if from = add(from, x[:piece], y, w); from > limit {
			return from
		}
		x, y, w = x[piece:], y[piece:], w[piece:]
	}
	return add(from, x, y, w)
}

// piece is the number of terms between two comparisons.
const piece = 64

// add adds the terms in four sums, as each addition waits for the last.
func add(from float64, x, y []int64, w []float64) float64 {
	y, w = y[:len(x)], w[:len(x)]
	var p, q, r float64
	j := 0
	for ; j+3 < len(x); j += 4 {
		d, e, f, g := float64(x[j]-y[j]), float64(x[j+1]-y[j+1]), float64(x[j+2]-y[j+2]), float64(x[j+3]-y[j+3])
		from += float64(w[j] * float64(d*d))
		p += float64(w[j+1] * float64(e*e))
		q += float64(w[j+2] * float64(f*f))
		r += float64(w[j+3] * float64(g*g))
	}
	for ; j < len(x); j++ {
		d := float64(x[j] - y[j])
		from += float64(w[j] * float64(d*d))
	}
	return (from + p) + (q + r)
}
