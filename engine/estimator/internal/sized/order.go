package sized

import (
	"cmp"
	"slices"

	"scrim/engine/estimator"
)

// compare orders two persons of a block by their numbers of rows, and then by their vectors.
func compare(b *estimator.Block, x, y place) int {
	p, q := &b.Chunks[x.chunk], &b.Chunks[y.chunk]
	if d := cmp.Compare(rows(p, x.at), rows(q, y.at)); d != 0 {
		return d
	}
	if !b.Sparse {
		return slices.Compare(dense(b, p, x.at), dense(b, q, y.at))
	}
	i, j := p.Index[p.Starts[x.at]:p.Starts[x.at+1]], q.Index[q.Starts[y.at]:q.Starts[y.at+1]]
	if d := slices.Compare(i, j); d != 0 {
		return d
	}
	for e := range i {
		if d := cmp.Compare(number(p, p.Starts[x.at]+e), number(q, q.Starts[y.at]+e)); d != 0 {
			return d
		}
	}
	return 0
}

// rows is a person's number of rows.
func rows(ch *estimator.Chunk, at int32) int64 {
	if ch.Rows == nil {
		return 1
	}
	return ch.Rows[at]
}

// dense is a person's vector.
func dense(b *estimator.Block, ch *estimator.Chunk, at int32) []int64 {
	return ch.Dense[int(at)*b.Dim : (int(at)+1)*b.Dim]
}

// number is what an entry of a sparse chunk holds.
func number(ch *estimator.Chunk, e int) int64 {
	if ch.Values == nil {
		return 1
	}
	return ch.Values[e]
}
