package tree

import "math"

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
