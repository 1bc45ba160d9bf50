package estimator

import "context"

// Block holds one vector a person, in chunks of persons: it grows without being copied, and the
// chunks are worked on by all cores. A block is dense or sparse as a whole; every chunk has the
// same form. Estimators write nothing in it. The order of persons means nothing.
//
// The values are grid indexes as everywhere in the core: person i's entry j is the sum of k(x_j)
// over the person's rows, within ±MaxUnits. Persons without a row are not in the block.
type Block struct {
	Dim    int
	Sparse bool
	Chunks []Chunk
	Memory Memory // for blocks and lists made of this one; nil: the Go heap
}

// Chunk is a run of persons.
//
//	dense    Dense[i*Dim : (i+1)*Dim] is person i's vector
//	sparse   person i has the entries Starts[i] to Starts[i+1]-1: coordinate Index[e] is Values[e], or 1 where
//	         Values is nil; all other coordinates are 0. A coordinate comes once, in ascending order.
//	packed   sparse, for vectors over groups: the groups in which person i has an entry are in Packed[Starts[i]:Starts[i+1]], as
//	         Packing says. A fifth of the memory, for estimators that read a person at a time (block.EachPerson)
type Chunk struct {
	Persons int
	Packed  []byte
	Packing *Packing
	Rows    []int64 // number of rows of each person, >= 1; nil: one each
	Dense   []int64
	Starts  []int
	Index   []int32
	Values  []int64
}

// Persons is the number of persons in the block.
func (b *Block) Persons() int64 {
	n := int64(0)
	for i := range b.Chunks {
		n += int64(b.Chunks[i].Persons)
	}
	return n
}

// Pairs holds what belongs to two at once: persons of two entities, two persons of one, or a person
// and a value. Entry i says that Weights[i] belongs to Left[i] and Right[i] together. A pair may
// come more than once: its weights add up. The order of the entries, and the numbers by which
// persons go, mean nothing. Estimators write nothing in it.
type Pairs struct {
	// how many there are of each, together below 2^31: Left[i] < Lefts, Right[i] < Rights
	Lefts, Rights int
	Left, Right   []uint32 // of equal length
	Weights       []int64  // within ±MaxUnits; nil: 1 each
	Counts        []int64  // numbers of results, where Weights are sums that a mean is made of
	Memory        Memory   // for what is made of them; nil: the Go heap
	// Context ends work that takes long: a release panics with its error then, as where Memory has
	// no room. nil: nothing ends it.
	Context context.Context
}
