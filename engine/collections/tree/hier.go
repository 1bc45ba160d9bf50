package tree

import (
	"math"

	"scrim/internal/refuse"
)

// fanout is the number of children of a node.
const fanout = 4

// Hier is a consistent tree: every node's share is the sum of its children's, and the root's is 1.
// It is immutable and safe for concurrent use.
//
// The leaves are the weighted least-squares solution for the levels' values, where all values of a
// level weigh alike, by the variance of a share of 0. They are unbiased, and some are negative;
// quantiles are read off a copy without negative shares.
//
// Source: [HRMS10] for the two passes, [CKS19] for levels of different variance.
type Hier struct {
	levels []Level
	// own[l]: weight of a node's own value against the sum of its children's estimates
	own    []float64
	leaves []float64   // unbiased
	shares [][]float64 // by level, not negative, consistent
}

// NewHier makes the levels consistent; levels[l−1] has 4^l nodes. It panics if one has not.
func NewHier(levels []Level) *Hier {
	if len(levels) == 0 {
		panic("tree: no levels")
	}
	for l, level := range levels {
		if len(level.values) != 1<<(2*(l+1)) {
			panic("tree: nodes of a level")
		}
	}
	t := &Hier{levels: levels, own: make([]float64, len(levels)), shares: make([][]float64, len(levels))}
	t.down(t.up())
	return t
}

// up returns, for every node, the best estimate from its subtree alone, by level.
func (t *Hier) up() [][]float64 {
	last := len(t.levels) - 1
	z := make([][]float64, last+1)
	z[last], t.own[last] = t.levels[last].values, 1
	below := t.levels[last].variance
	for l := last - 1; l >= 0; l-- {
		t.own[l], below = combine(t.levels[l].variance, fanout*below)
		z[l] = make([]float64, len(t.levels[l].values))
		for v, own := range t.levels[l].values {
			z[l][v] = t.own[l]*own + (1-t.own[l])*sum4(z[l+1][fanout*v:])
		}
	}
	return z
}

// combine returns the weight of a value of variance a against one of variance b, and the variance
// of the two together. Infinite variance stands for a value that says nothing.
func combine(a, b float64) (weight, variance float64) {
	switch {
	case math.IsInf(a, 1):
		return 0, b
	case math.IsInf(b, 1):
		return 1, a
	}
	weight = b / (a + b)
	return weight, weight * a
}

// down shares what the levels above know over the children, in equal parts, and keeps the leaves;
// and again without negative shares.
func (t *Hier) down(z [][]float64) {
	above, plain := []float64{1}, []float64{1}
	for l := range z {
		x, y := make([]float64, len(z[l])), make([]float64, len(z[l]))
		for v := range above {
			from := fanout * v
			spread(x[from:from+fanout], z[l][from:], above[v])
			copy(y[from:from+fanout], x[from:])
			project(y[from:from+fanout], plain[v])
		}
		above, plain = x, y
		t.shares[l] = y
	}
	t.leaves = above
}

// spread sets x to the first of z, moved by a common amount so that they sum to whole.
func spread(x, z []float64, whole float64) {
	move := (whole - sum4(z)) / fanout
	for c := range x {
		x[c] = z[c] + move
	}
}

func sum4(z []float64) float64 { return z[0] + z[1] + z[2] + z[3] }

// project replaces y by the nearest numbers that are not negative and sum to whole: it subtracts a
// common amount from all that are left, drops those that became negative, and repeats.
func project(y []float64, whole float64) {
	var out [fanout]bool
	for left := len(y); ; {
		over := -whole
		for c := range y {
			if !out[c] {
				over += y[c]
			}
		}
		dropped := 0
		for c := range y {
			if out[c] {
				continue
			}
			if y[c] -= over / float64(left); y[c] < 0 {
				out[c], y[c] = true, 0
				dropped++
			}
		}
		if left -= dropped; dropped == 0 || left == 0 {
			return
		}
	}
}

// Range returns the share of contributors between two positions, unbiased at the edges of leaves
// and by linear interpolation within, and its standard error. Positions outside [0, 1] are its
// ends.
func (t *Hier) Range(a, b float64) (value, stderr float64) {
	return t.Linear(overlap(len(t.leaves), a, b))
}

// overlap returns how much of each of n leaves is in [a, b], as fractions.
func overlap(n int, a, b float64) []float64 {
	g := make([]float64, n)
	for i := range g {
		lo, hi := max(a*float64(n), float64(i)), min(b*float64(n), float64(i+1))
		g[i] = max(0, hi-lo)
	}
	return g
}

// Mean returns the mean position, with every contributor in the middle of the leaf, and its
// standard error.
func (t *Hier) Mean() (value, stderr float64) {
	g := make([]float64, len(t.leaves))
	for i := range g {
		g[i] = (float64(i) + 0.5) / float64(len(g))
	}
	return t.Linear(g)
}

// Shares is a tree of the shares of values, which answers in fractions of the range that it is
// over: *Hier and *Haar.
type Shares interface {
	Range(a, b float64) (value, stderr float64)
	Quantile(q float64) (position float64)
	Mean() (value, stderr float64)
}

// Placed answers for the values of a tree over [Lo, Hi], in their own unit. Its mean takes each
// value for the middle of its leaf. Its numbers follow from reports, which are private already.
type Placed struct {
	Shares Shares
	Lo, Hi float64
}

// Range returns the share of values from a to b, and its standard error. What lies outside of [Lo,
// Hi] was reported at its ends. It refuses a range whose ends are not in order, or not numbers.
func (p Placed) Range(a, b float64) (value, stderr float64, err error) {
	if !(a <= b) {
		return 0, 0, refuse.New(refuse.Option, "The range from %v to %v is empty.", a, b)
	}
	value, stderr = p.Shares.Range(p.fraction(a), p.fraction(b))
	return value, stderr, nil
}

// Quantile returns the value of rank q. It refuses a q outside of [0, 1].
func (p Placed) Quantile(q float64) (float64, error) {
	if !(q >= 0 && q <= 1) {
		return 0, refuse.New(refuse.Option, "The rank has to lie from 0 to 1, not at %v.", q)
	}
	return p.Lo + (p.Hi-p.Lo)*p.Shares.Quantile(q), nil
}

// Mean returns the mean and its standard error.
func (p Placed) Mean() (value, stderr float64) {
	value, stderr = p.Shares.Mean()
	return p.Lo + (p.Hi-p.Lo)*value, (p.Hi - p.Lo) * stderr
}

func (p Placed) fraction(x float64) float64 { return min(max((x-p.Lo)/(p.Hi-p.Lo), 0), 1) }

// Quantile returns the position that a share q of the contributors is below: in the first leaf
// where the shares, none of them negative, sum to at least q, by linear interpolation. q is taken
// within [0, 1].
func (t *Hier) Quantile(q float64) (position float64) {
	leaf, inside := t.find(q)
	return (float64(leaf) + inside) / float64(len(t.leaves))
}

// Leaf returns the leaf that Quantile's position is in.
func (t *Hier) Leaf(q float64) int {
	leaf, _ := t.find(q)
	return leaf
}

// find returns the leaf of a quantile and where it is in the leaf, from 0 to 1.
func (t *Hier) find(q float64) (leaf int, inside float64) {
	q = min(max(q, 0), 1)
	for _, y := range t.shares {
		leaf *= fanout
		last := leaf + fanout - 1
		for leaf < last && q > y[leaf] {
			q -= y[leaf]
			leaf++
		}
		// rounding carried q past the last share
		for leaf > 0 && leaf%fanout > 0 && y[leaf] == 0 && q > 0 {
			leaf--
			q = y[leaf]
		}
		q = min(q, y[leaf])
	}
	if m := t.shares[len(t.shares)-1][leaf]; m > 0 {
		inside = q / m
	}
	return leaf, inside
}

// Linear returns Σ g_i·share of leaf i, unbiased, and its standard error. It panics unless there is
// one weight a leaf.
func (t *Hier) Linear(g []float64) (value, stderr float64) {
	for i, x := range t.leaves {
		value += g[i] * x
	}
	variance := 0.0
	for l, c := range t.weights(g) {
		variance += t.levels[l].of(c, t.shares[l])
	}
	return value, math.Sqrt(variance)
}

// weights returns by level the weights of the levels' own values in Σ g_i·share of leaf i: the
// transposes of the pass down and of the pass up, in this order.
func (t *Hier) weights(g []float64) [][]float64 {
	if len(g) != len(t.leaves) {
		panic("tree: weights of leaves")
	}
	c := make([][]float64, len(t.levels))
	// a node's estimate: what it differs by from its siblings' mean
	for l := len(c) - 1; l >= 0; l-- {
		mean := make([]float64, len(g)/fanout)
		c[l] = make([]float64, len(g))
		for v := range mean {
			from := fanout * v
			mean[v] = sum4(g[from:]) / fanout
			for i := from; i < from+fanout; i++ {
				c[l][i] = g[i] - mean[v]
			}
		}
		g = mean
	}
	for l := 0; l+1 < len(c); l++ { // a part of which is its children's
		own := t.own[l]
		for v := range c[l] {
			below := (1 - own) * c[l][v]
			c[l][v] *= own
			for i := fanout * v; i < fanout*(v+1); i++ {
				c[l+1][i] += below
			}
		}
	}
	return c
}

// PrefixError returns the root mean square of the standard errors of the shares below an edge, over
// all inner edges, or over 63 of them at equal distances where there are more.
func (t *Hier) PrefixError() float64 {
	n := min(len(t.leaves), 64)
	sum := 0.0
	for i := 1; i < n; i++ {
		_, s := t.Range(0, float64(i)/float64(n))
		sum += s * s
	}
	return math.Sqrt(sum / float64(n-1))
}
