package block

import (
	"math/big"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/fork"
)

// A sparse block is never turned into a dense one: with nnz entries in all, each pass takes O(nnz +
// n + d) time.
//
// NormsIn and ClipSumIn take a centre that is finer than the grid of the values: both are measured
// in steps of 1/unit, where an entry x counts as unit·x and the centre as it is. For unit = 1 they
// are Norms and ClipSum. unit·x and the centre are within ±2^61, so that their differences fit a
// word.

// run is a number of persons that one core works on at a time.
type run struct {
	chunk    *estimator.Chunk
	from, to int // persons of the chunk
	at       int // number of the first of them in the block
}

// runPersons is the length of a run: some ten thousand entries, so that cores share the work
// evenly.
const runPersons = 1024

// runs cuts a block into runs.
func runs(b *estimator.Block) []run {
	var out []run
	at := 0
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		for from := 0; from < ch.Persons; from += runPersons {
			out = append(out, run{ch, from, min(from+runPersons, ch.Persons), at + from})
		}
		at += ch.Persons
	}
	return out
}

// spread calls work once on each core; work asks next for the numbers 0 to n−1, each of which comes
// once.
func spread(n int, work func(next func() (int, bool))) {
	var taken atomic.Int64
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}
	var wait fork.Group
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() { work(next) })
	}
	wait.Wait()
}

// entries returns the coordinates of person i of a chunk, and the values: nil where all are 1.
func entries(ch *estimator.Chunk, i int) (index []int32, values []int64) {
	from, to := ch.Starts[i], ch.Starts[i+1]
	if ch.Values == nil {
		return ch.Index[from:to], nil
	}
	return ch.Index[from:to], ch.Values[from:to]
}

// Person is a person of a sparse block: number I of a chunk.
type Person struct {
	*estimator.Chunk
	I int
}

// Entries returns the coordinates of a person whose chunk is not packed, and the values, nil where
// all are 1.
func (p Person) Entries() (index []int32, values []int64) { return entries(p.Chunk, p.I) }

// Each calls visit with each entry of the person that is there, and its value. What is 0 may be
// left out.
func (p Person) Each(visit func(at int, v int64)) {
	if k := p.Chunk.Packing; p.Chunk.Packed != nil {
		width := len(k.Of)
		p.Chunk.EachGroup(p.I, make([]int64, width), func(g int, x []int64) {
			for i, v := range x {
				visit(g*width+i, v)
			}
		})
		return
	}
	index, values := p.Entries()
	for e, at := range index {
		v := int64(1)
		if values != nil {
			v = values[e]
		}
		visit(int(at), v)
	}
}

// EachPerson calls a function for each person of a sparse block, once, on all cores, with the
// person's number in the block. worker makes the function of one core, and one that hands over what
// it has in the end; of these one runs at a time.
func EachPerson(b *estimator.Block, worker func() (person func(i int, p Person), done func())) {
	rs := runs(b)
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		person, done := worker()
		for k, ok := next(); ok; k, ok = next() {
			r := rs[k]
			for i := r.from; i < r.to; i++ {
				person(r.at+i-r.from, Person{r.chunk, i})
			}
		}
		mu.Lock()
		defer mu.Unlock()
		done()
	})
}

// SampleIn is Sample of a sparse block, whose entries it copies: chunk by chunk, with the persons
// in order.
func SampleIn(b *estimator.Block, kept []bool) *estimator.Block {
	out := &estimator.Block{Dim: b.Dim, Sparse: true, Memory: b.Memory}
	for c := range b.Chunks {
		from := &b.Chunks[c]
		to := roomFor(b.Memory, from, kept[:from.Persons])
		for i := range from.Persons {
			if !kept[i] {
				continue
			}
			if to.Persons++; from.Packed != nil {
				to.Packed = append(to.Packed, from.Packed[from.Starts[i]:from.Starts[i+1]]...)
				to.Starts = append(to.Starts, len(to.Packed))
				continue
			}
			index, values := entries(from, i)
			to.Index, to.Values = append(to.Index, index...), append(to.Values, values...)
			to.Starts = append(to.Starts, len(to.Index))
		}
		kept = kept[from.Persons:]
		out.Chunks = append(out.Chunks, to)
	}
	return out
}

// roomFor returns an empty chunk with room in m for the persons of another who are kept.
func roomFor(m estimator.Memory, from *estimator.Chunk, kept []bool) estimator.Chunk {
	persons, size := 0, 0
	for i, k := range kept {
		if k {
			persons, size = persons+1, size+from.Starts[i+1]-from.Starts[i]
		}
	}
	to := estimator.Chunk{Starts: estimator.Make[int](m, persons+1)[:1], Packing: from.Packing}
	if from.Packed != nil {
		to.Packed = estimator.Make[byte](m, size)[:0]
		return to
	}
	to.Index = estimator.Make[int32](m, size)[:0]
	if from.Values != nil {
		to.Values = estimator.Make[int64](m, size)[:0]
	}
	return to
}

// Shortening returns 2^ClipBits less the clip factor of a person (ClipSum): 0 for those within the
// radius.
func Shortening(norm, radius float64) int64 { return 1<<ClipBits - factor(norm, radius) }

// Exact is a sum of integer vectors in 128 bits a coordinate: 2^31 persons, 24 bits of a factor and
// 62 of an entry make 2^117. The order in which vectors are added does not matter.
type Exact struct{ at []wide }

type wide struct{ lo, hi uint64 }

// NewExact returns the sum of no vectors.
func NewExact(dim int) *Exact { return &Exact{make([]wide, dim)} }

// AddAt adds a vector to the coordinates from j on.
func (s *Exact) AddAt(j int, x []int64) {
	at := s.at[j:][:len(x)]
	for c, v := range x {
		var carry uint64
		at[c].lo, carry = bits.Add64(at[c].lo, uint64(v), 0)
		at[c].hi += uint64(v>>63) + carry
	}
}

// AddTimes adds v·a, a >= 0, to coordinate j.
func (s *Exact) AddTimes(j int, v, a int64) {
	hi, lo := bits.Mul64(uint64(v), uint64(a))
	s.at[j].add(hi-uint64(v>>63)&uint64(a), lo)
}

func (w *wide) add(hi, lo uint64) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi, _ = bits.Add64(w.hi, hi, carry)
}

// AddAll adds another sum.
func (s *Exact) AddAll(o *Exact) {
	for j := range s.at {
		s.at[j].add(o.at[j].hi, o.at[j].lo)
	}
}

// Less returns 2^ClipBits·s − o.
func (s *Exact) Less(o *Exact) []*big.Int {
	out, x := make([]*big.Int, len(s.at)), new(big.Int)
	for j := range out {
		out[j] = s.at[j].big(new(big.Int))
		out[j].Lsh(out[j], ClipBits).Sub(out[j], o.at[j].big(x))
	}
	return out
}

// big sets x to the number.
func (w wide) big(x *big.Int) *big.Int {
	x.SetInt64(int64(w.hi)).Lsh(x, 64)
	return x.Add(x, new(big.Int).SetUint64(w.lo))
}
