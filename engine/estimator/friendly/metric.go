package friendly

import (
	"cmp"
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/look"
)

// metric is a weighted distance of two vectors, ‖x − y‖_w = √(Σ_j w_j·(x_j − y_j)²), with public or released weights, finite and > 0.
//
// The squared distance is formed in doubles, in an order that weights and dimension alone determine: first the coordinates of the head,
// the headSize of least weight, then the others. (x_j − y_j)² is the same for both orders of the two and terms are never
// negative, so it is a symmetric function of the two vectors, of no other person's, and its partial sums never fall. Friends are those for whom it is at
// most limit2 = fl(λ²). It is off by less than (d+16)·2^-52 of itself, so the exact distance of friends is at most λ·(1+2^-30) for
// d ≤ 2^20. Weights are the inverse of spreads: the head has most of a distance.
type metric struct {
	head    []int32 // coordinates
	weights []float64
	first   []float64 // weights of the head
	rest    []float64 // weights of all, 0 in the head; nil if the head is all
	limit2  float64
}

const headSize = 128

// excess is by how much friends may be farther apart than λ, relatively.
const excess = 0x1p-30

func newMetric(weights []float64, lambda float64) *metric {
	m := &metric{weights: weights, limit2: lambda * lambda, head: make([]int32, len(weights))}
	for j := range m.head {
		m.head[j] = int32(j)
	}
	if len(weights) > headSize {
		slices.SortStableFunc(m.head, func(a, b int32) int { return cmp.Compare(weights[a], weights[b]) })
		m.head, m.rest = m.head[:headSize], slices.Clone(weights)
		for _, j := range m.head {
			m.rest[j] = 0
		}
	}
	for _, j := range m.head {
		m.first = append(m.first, weights[j])
	}
	return m
}

// points are the persons of a block as the metric sees them.
type points struct {
	*metric
	heads []int64   // of all persons, one after another
	tails []float64 // ‖x − c‖_rest for one c; nil without a rest
	rows  [][]int64 // the vectors
}

func (m *metric) points(b *estimator.Block) *points {
	n, r := int(b.Persons()), look.NewReader(b)
	p := &points{metric: m, heads: make([]int64, 0, n*len(m.head)), rows: make([][]int64, n)}
	for i := range p.rows {
		p.rows[i] = r.Vector(i)
		for _, j := range m.head {
			p.heads = append(p.heads, p.rows[i][j])
		}
	}
	if m.rest != nil {
		c := middle(p.rows)
		p.tails = make([]float64, n)
		each(n, func(i int) { p.tails[i] = math.Sqrt(distance2(0, math.Inf(1), p.rows[i], c, m.rest)) })
	}
	return p
}

// middle returns a vector that is likely near to most of them: the medians of a few. It decides how fast the friends are found, not who they are.
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
// Between head and rest the distances t_i, t_k of the two from a common point tell most pairs apart: with q the head's sum the exact squared
// distance is from q + (t_i − t_k)² to q + (t_i + t_k)², and where limit2 is outside that by more than margin the sum in doubles is on the same side of it,
// as sum, t_i and t_k are off by less than 2^-31 of themselves. So the answer does not depend on the point.
func (p *points) friends(i, k int) bool {
	h := len(p.head)
	q := distance2(0, p.limit2, p.heads[i*h:(i+1)*h], p.heads[k*h:(k+1)*h], p.first)
	if q > p.limit2 || p.rest == nil {
		return q <= p.limit2
	}
	s, t := p.tails[i], p.tails[k]
	if (q+(s+t)*(s+t))*(1+nearly) <= p.limit2 {
		return true
	}
	if d := math.Abs(s-t) - (s+t)*nearly; d > 0 && q+d*d > p.limit2*(1+nearly) {
		return false
	}
	return distance2(q, p.limit2, p.rows[i], p.rows[k], p.rest) <= p.limit2
}

// nearly is the margin, far more than the error of sums.
const nearly = 0x1p-27

// distance2 returns from + Σ_j w_j(x_j − y_j)², or any number above limit as soon as the sum so far is above it: then the whole
// is, too.
func distance2(from, limit float64, x, y []int64, w []float64) float64 {
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
