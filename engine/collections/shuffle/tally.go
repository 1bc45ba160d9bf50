package shuffle

import (
	"encoding/binary"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Tally is what the messages of one round of one stratum add up to, by batches. It is not safe for
// concurrent use.
type Tally struct {
	params  *collect.Params
	batches []*Batch
}

// NewTally returns an empty tally of the round that p describes. It panics if p is not of the
// shuffle model: parameters are verified before.
func NewTally(p *collect.Params) *Tally {
	if p.Batch == nil {
		panic("shuffle: no batch in the parameters of " + string(p.Protocol))
	}
	return &Tally{params: p}
}

// Batch begins a batch of one cell, which came from so many contributors. It refuses
// MalformedReport for an unknown cell, TooFewReports below the batch's minimum, where the shuffler
// releases nothing, and BatchWindow above the number at which it closes a batch.
func (t *Tally) Batch(cell uint32, reports uint64) (*Batch, error) {
	p := t.params
	c, ok := p.Cell(cell)
	switch {
	case !ok:
		return nil, refuse.New(refuse.MalformedReport, "The round has no cell %d.", cell)
	case reports < p.Batch.Min:
		return nil, refuse.New(refuse.TooFewReports, "A batch of round %d of %s is of %d contributors at least, and this one is of %d.", p.Round, p.Collection, p.Batch.Min, reports)
	case reports > p.Batch.Max:
		return nil, refuse.New(refuse.BatchWindow, "A batch of round %d of %s is of %d contributors at most, and this one is of %d.", p.Round, p.Collection, p.Batch.Max, reports)
	}
	b := newBatch(p, c, reports)
	t.batches = append(t.batches, b)
	return b, nil
}

// Received returns how many contributors the batches of a cell came from.
func (t *Tally) Received(cell uint32) (n uint64) {
	return lists.Sum(t.of(cell), func(b *Batch) uint64 { return b.reports })
}

// Total returns how many contributors all batches came from.
func (t *Tally) Total() (n uint64) {
	return lists.Sum(t.batches, func(b *Batch) uint64 { return b.reports })
}

// of returns the batches of a cell.
func (t *Tally) of(cell uint32) []*Batch {
	return lists.Filter(t.batches, func(b *Batch) bool { return b.cell.Cell == cell })
}

// Batch is what the messages of one batch add up to: it does not grow with them.
type Batch struct {
	params  *collect.Params
	cell    collect.Cell
	reports uint64
	first   uint32 // version, protocol and, of a tree, coordinate, as messages begin
	tree    bool
	mask    uint64   // 2^Bits − 1, where shares are summed
	counts  []uint64 // messages of a node or of a coordinate
	sums    []uint64 // of a coordinate's shares, modulo 2^Bits
	dropped uint64   // messages that no device makes
}

func newBatch(p *collect.Params, c collect.Cell, reports uint64) *Batch {
	b := &Batch{params: p, cell: c, reports: reports, tree: p.Tree()}
	info, _ := p.Protocol.Info()
	b.first = collect.Version<<24 | uint32(info.ID)<<16
	if b.tree {
		b.first |= uint32(uint16(c.Coordinate))
		b.counts = make([]uint64, geometry.Nodes(p.Batch.Levels))
		return b
	}
	b.mask = 1<<p.Batch.Bits - 1
	b.counts, b.sums = make([]uint64, c.Domain), make([]uint64, c.Domain)
	return b
}

// messageSize is the length of a message.
const messageSize = len(collect.Message{})

// Add adds one message, in any order. What Params.CheckMessageOf refuses is left out: of a tree it
// belongs to no node, and of a sum it shows in Check.
func (b *Batch) Add(m collect.Message) { b.add(m[:]) }

// AddAll adds a bag or a part of it: messages one after another, 16 bytes each. It refuses
// MalformedReport, and adds nothing, if the last one is cut off.
func (b *Batch) AddAll(bag []byte) error {
	if len(bag)%messageSize != 0 {
		return refuse.New(refuse.MalformedReport, "A bag of %d bytes does not consist of messages of %d.", len(bag), messageSize)
	}
	for ; len(bag) > 0; bag = bag[messageSize:] {
		b.add(bag[:messageSize])
	}
	return nil
}

// add is Add, with the checks of CheckMessageOf laid out for speed.
func (b *Batch) add(m []byte) {
	_ = m[messageSize-1]
	first, node, value := binary.BigEndian.Uint32(m), binary.BigEndian.Uint32(m[4:]), binary.BigEndian.Uint64(m[8:])
	if b.tree {
		if first != b.first || value != 0 || uint64(node) >= uint64(len(b.counts)) {
			b.dropped++
			return
		}
		b.counts[node]++
		return
	}
	j := first & 0xffff
	if first&^0xffff != b.first || node != 0 || value > b.mask || uint64(j) >= uint64(len(b.sums)) {
		b.dropped++
		return
	}
	b.counts[j]++
	b.sums[j] = (b.sums[j] + value) & b.mask
}

// Check refuses BatchWindow if the batch cannot be what its contributors sent: of a sum, if a
// coordinate has not exactly its messages, or a sum that no values give with their noise. A random
// error of a share goes unnoticed with a probability below 1/255, an intended one at will. A tree's
// batch is always accepted.
func (b *Batch) Check() error {
	if b.tree {
		return nil
	}
	shares := uint64(b.params.Batch.Shares)
	for j, n := range b.counts {
		if n != b.reports*shares {
			return refuse.New(refuse.BatchWindow, "Of coordinate %d a batch of %d contributors has %d messages, not %d; %d are of no coordinate.",
				j, b.reports, n, b.reports*shares, b.dropped)
		}
	}
	low, high := b.window()
	for j := range b.sums {
		if y := b.sum(j); y < low || y > high {
			return refuse.New(refuse.BatchWindow, "The sum of coordinate %d of a batch is %d steps, and its %d contributors can give from %d to %d.",
				j, y, b.reports, low, high)
		}
	}
	return nil
}

// window returns the least and the largest sum of the batch in steps: that of the values, and Tail
// for the noise. All of it fits the ring (package mix), and so an int64.
func (b *Batch) window() (low, high int64) {
	p := b.params.Batch
	tail := int64(p.Tail)
	if b.params.Protocol == collect.ShufSum {
		return -tail, int64(b.reports*p.Grid) + tail
	}
	bound := int64(b.reports*p.Bound) + tail
	return -bound, bound
}

// sum returns the sum of a coordinate in steps: of the numbers that are it modulo 2^Bits, the one
// next to 0.
func (b *Batch) sum(j int) int64 {
	y := b.sums[j]
	if y > b.mask/2 {
		return int64(y) - int64(b.mask) - 1
	}
	return int64(y)
}
