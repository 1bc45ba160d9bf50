package sized

import (
	"slices"

	"scrim/engine/estimator"
)

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
