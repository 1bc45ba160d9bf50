package firstpass

import (
	"math/bits"
	"sort"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Match draws secret disjoint groups of size persons each, uniformly among all ways to choose them:
// as many as there are, ⌊persons/size⌋, but at most most. Group g is result[g·size : (g+1)·size];
// persons who are left over take no part.
//
// What is computed from the groups, without their order, has the sensitivity of one group
// exchanged, added or dropped, in either neighbour relation: the matchings of two neighbours can be
// drawn so that each is uniform and at most one group differs (docs/proofs/matching.md). So a count
// of groups moves by at most 1, a centred rank b·#{≤t} − a·#groups by at most b, and a histogram of
// one bucket a group by at most √2 in ℓ2. The matching is drawn once a release, never shown, and
// must not depend on the order of persons: it comes from the Noiser's secret bits. The result lies
// in memory from m.
func Match(n noise.Noiser, m estimator.Memory, persons, size, most int) []int32 {
	order := estimator.Make[int32](m, persons)
	for i := range order {
		order[i] = int32(i)
	}
	used := size * min(persons/size, most)
	for i := range used { // the first entries of a random permutation, one by one
		j := i + int(Below(n, uint64(persons-i)))
		order[i], order[j] = order[j], order[i]
	}
	return order[:used]
}

// Below returns a uniform integer in [0, m), m > 0, by rejection.
func Below(n noise.Noiser, m uint64) uint64 {
	for {
		hi, lo := bits.Mul64(n.Uniform(), m)
		if lo >= -m%m {
			return hi
		}
	}
}

// Reader finds the vector of a person by number.
type Reader struct {
	b      *estimator.Block
	starts []int // number of the first person of each chunk
}

// NewReader returns the reader of a dense block.
func NewReader(b *estimator.Block) Reader {
	r := Reader{b, make([]int, len(b.Chunks))}
	at := 0
	for i := range b.Chunks {
		r.starts[i] = at
		at += b.Chunks[i].Persons
	}
	return r
}

// Vector returns person i's vector. Chunks without persons are never met: the last chunk that
// starts at or before i is taken.
func (r Reader) Vector(i int) []int64 {
	k := sort.Search(len(r.starts), func(k int) bool { return r.starts[k] > i }) - 1
	i -= r.starts[k]
	return r.b.Chunks[k].Dense[i*r.b.Dim : (i+1)*r.b.Dim]
}
