package shuffle

import (
	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
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
	for _, b := range t.of(cell) {
		n += b.reports
	}
	return n
}

// Total returns how many contributors all batches came from.
func (t *Tally) Total() (n uint64) {
	for _, b := range t.batches {
		n += b.reports
	}
	return n
}

// of returns the batches of a cell.
func (t *Tally) of(cell uint32) []*Batch {
	var out []*Batch
	for _, b := range t.batches {
		if b.cell.Cell == cell {
			out = append(out, b)
		}
	}
	return out
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
