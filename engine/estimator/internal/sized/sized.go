// Package sized brings the input of an estimator whose number of persons is public
// (estimator.Params.Sized) to exactly that many persons.
//
// The number comes with the input: estimator.Input.Persons. It is counted from the unit column of
// the table, in the snapshot that the scan reads, and no expression of a query enters it. The scan
// should have one entry with a value for each of these persons, as the planner gives out a number
// as public only where every row has a value. Should that ever be wrong of an expression, the
// length of the input is private: it tells how many persons have a value. So no estimator uses it.
//
// # The input that an estimator works on
//
// An entry of the input is a person with at least one row. Let A be the list of the entries, n the
// public number.
//
//	|A| = n   A
//	|A| < n   A and n − |A| copies of one public entry: one row with the middle of the declared bounds,
//	          or with the number of the public range nearest 0
//	|A| > n   the n least entries of A, in the order of all their numbers
//
// Claim: if two lists of entries differ in one entry (one exchanged, or one more or less), then
// what is made of them differs in one exchanged entry at most, but for the order, which means
// nothing to an estimator.
//
// Proof: let C be what the two lists have in common, A = C + a and B = C + b, where one of a and b
// may be missing. If |C| < n, both results hold all of C, at most one entry more of their list, and
// copies of the public entry: as both have n entries, they have n−1 in common. If |C| ≥ n, the n
// least entries of C + a hold the n−1 least of C, since a displaces one at most; so do those of C +
// b.
//
// So an estimator whose loss holds for n persons of whom one is exchanged has that loss for any two
// such lists, and none of its steps needs an argument of its own for a person who has no value, or
// has one too many.
package sized

import (
	"cmp"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Columns returns an input of columns with exactly in.Persons persons, all present, if p is Sized,
// and in as it is otherwise. kinds are those of the columns, of which the first is estimator.Rows
// or estimator.Value. Nothing is written in the input; where it has to be changed, the columns are
// new ones in in.Memory.
func Columns(p estimator.Params, kinds []estimator.Kind, in estimator.Input) estimator.Input {
	if !p.Sized {
		return in
	}
	in.Persons = max(in.Persons, 0)
	if have := present(kinds[0], in.Columns[0]); have != int(in.Persons) || len(in.Columns[0]) != have {
		in.Columns = exactly(p, kinds, in)
	}
	return in
}

// present returns the number of entries that are persons. A value is always one.
func present(kind estimator.Kind, first []int64) int {
	if kind == estimator.Rows {
		return int(scalar.Present(first))
	}
	return len(first)
}

// exactly is Columns for an input that has to be changed.
func exactly(p estimator.Params, kinds []estimator.Kind, in estimator.Input) [][]int64 {
	n := int(in.Persons)
	order := estimator.Make[int](in.Memory, len(in.Columns[0]))[:0]
	for i, m := range in.Columns[0] {
		if m > 0 || kinds[0] != estimator.Rows {
			order = append(order, i)
		}
	}
	kept := order
	if len(order) > n {
		slices.SortFunc(order, func(a, b int) int {
			for _, c := range in.Columns {
				if d := cmp.Compare(c[a], c[b]); d != 0 {
					return d
				}
			}
			return 0
		})
		kept = order[:n]
	}
	out := make([][]int64, len(in.Columns))
	for k, c := range in.Columns {
		out[k] = estimator.Make[int64](in.Memory, n)
		for i, at := range kept {
			out[k][i] = c[at]
		}
		for i := len(kept); i < n; i++ {
			out[k][i] = entry(p, kinds[k])
		}
	}
	return out
}

// entry is a column of the public entry.
func entry(p estimator.Params, kind estimator.Kind) int64 {
	v := value(p)
	switch kind {
	case estimator.Rows:
		return 1
	case estimator.SumSquaresHi, estimator.SumSquaresLo:
		return half(v, v, kind == estimator.SumSquaresHi)
	case estimator.OtherSum:
		return value(p.OfOther())
	case estimator.OtherSquaresHi, estimator.OtherSquaresLo:
		w := value(p.OfOther())
		return half(w, w, kind == estimator.OtherSquaresHi)
	case estimator.ProductsHi, estimator.ProductsLo:
		return half(v, value(p.OfOther()), kind == estimator.ProductsHi)
	}
	return v
}

// half returns the high or the low 64 bits of v·w, in two's complement.
func half(v, w int64, high bool) int64 {
	hi, lo := bits.Mul64(uint64(v), uint64(w))
	if v < 0 {
		hi -= uint64(w)
	}
	if w < 0 {
		hi -= uint64(v)
	}
	if high {
		return int64(hi)
	}
	return int64(lo)
}

// value is the value of the public entry's row, in grid steps.
func value(p estimator.Params) int64 {
	lo, hi := scalar.Range(p)
	if p.Bounded() {
		return lo + (hi-lo)/2
	}
	return min(max(lo, 0), hi)
}

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

// Vectors is Columns for an input of vectors of the given dimension. A block that is nil has no
// persons.
func Vectors(p estimator.Params, dim int, sparse bool, in estimator.Input) estimator.Input {
	if !p.Sized {
		return in
	}
	in.Persons = max(in.Persons, 0)
	b := in.Vectors
	if b == nil {
		b = &estimator.Block{Dim: dim, Sparse: sparse, Memory: in.Memory}
	}
	switch have := b.Persons(); {
	case have < in.Persons:
		in.Vectors = filled(p, b, in.Persons-have)
	case have > in.Persons:
		in.Vectors = least(b, int(in.Persons))
	}
	return in
}

// chunkNumbers bounds the numbers of a dense chunk of public entries.
const chunkNumbers = 1 << 20

// filled returns the block with so many copies of the public entry. A sparse vector that holds no
// number is 0 throughout.
func filled(p estimator.Params, b *estimator.Block, missing int64) *estimator.Block {
	out := *b
	out.Chunks = slices.Clone(b.Chunks)
	for missing > 0 {
		n := int(min(missing, int64(max(1, chunkNumbers/b.Dim))))
		missing -= int64(n)
		if b.Sparse {
			out.Chunks = append(out.Chunks, estimator.Chunk{Persons: n, Starts: estimator.Make[int](b.Memory, n+1)})
			continue
		}
		ch := estimator.Chunk{Persons: n, Dense: estimator.Make[int64](b.Memory, n*b.Dim)}
		if v := value(p); v != 0 {
			for i := range ch.Dense {
				ch.Dense[i] = v
			}
		}
		out.Chunks = append(out.Chunks, ch)
	}
	return &out
}

// least returns the block of the n least persons. It shares their numbers with the block that they
// are from.
func least(b *estimator.Block, n int) *estimator.Block {
	order := estimator.Make[place](b.Memory, int(b.Persons()))[:0]
	for k := range b.Chunks {
		for at := range b.Chunks[k].Persons {
			order = append(order, place{int32(k), int32(at)})
		}
	}
	slices.SortFunc(order, func(x, y place) int { return compare(b, x, y) })
	kept := order[:n]
	slices.SortFunc(kept, place.compare)
	out := *b
	out.Chunks = nil
	for len(kept) > 0 {
		from, to := kept[0], kept[0].at
		for len(kept) > 0 && kept[0] == (place{from.chunk, to}) {
			kept, to = kept[1:], to+1
		}
		out.Chunks = append(out.Chunks, part(b, from.chunk, int(from.at), int(to)))
	}
	return &out
}

// place is where a person is in a block.
type place struct{ chunk, at int32 }

// compare orders places as they are in the block.
func (x place) compare(y place) int {
	if x.chunk != y.chunk {
		return int(x.chunk) - int(y.chunk)
	}
	return int(x.at) - int(y.at)
}

// part is a chunk of the persons of another one from one number to another.
func part(b *estimator.Block, chunk int32, from, to int) estimator.Chunk {
	ch, out := &b.Chunks[chunk], estimator.Chunk{Persons: to - from}
	if ch.Rows != nil {
		out.Rows = ch.Rows[from:to]
	}
	if !b.Sparse {
		out.Dense = ch.Dense[from*b.Dim : to*b.Dim]
		return out
	}
	first, end := ch.Starts[from], ch.Starts[to]
	out.Index = ch.Index[first:end]
	if ch.Values != nil {
		out.Values = ch.Values[first:end]
	}
	out.Starts = estimator.Make[int](b.Memory, to-from+1)
	for i := range out.Starts {
		out.Starts[i] = ch.Starts[from+i] - first
	}
	return out
}
