package tree

import "math"

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

// Leaves returns the shares of the leaves, unbiased, in order; they sum to 1 and are not to be
// changed.
func (t *Hier) Leaves() []float64 { return t.leaves }

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
