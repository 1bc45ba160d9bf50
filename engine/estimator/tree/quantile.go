package tree

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
