package local

import (
	"fmt"

	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// maxReports bounds the reports of one tally, so that no sum of integers overflows: a Laplace
// report is below 2^23, a coordinate of a Gaussian one below 2^31.
const maxReports = 1 << 32

// Tally is what the reports of one round of one stratum add up to. Tallies of parts of the reports
// can be merged in any order. It is not safe for concurrent use: each goroutine has its own.
type Tally struct {
	params *collect.Params
	places map[uint32]int // of a cell's number in parts
	parts  []part         // in the order of the parameters
	total  uint64
}

// part is what one cell's reports add up to.
type part struct {
	collect.Cell
	reports uint64
	sum     accumulator
}

// accumulator adds the payloads of one randomiser.
type accumulator interface {
	// add adds a payload that was sent by times contributors. It returns malformed's error, and
	// changes nothing, if the payload has not the shape of the cell's.
	add(payload []byte, times uint64) error
	// merge adds what another accumulator of the same cell holds.
	merge(other accumulator)
}

// NewTally returns an empty tally of the round that p describes. It panics on a randomiser that no
// local protocol has: parameters are verified before.
func NewTally(p *collect.Params) *Tally {
	t := &Tally{params: p, places: make(map[uint32]int, len(p.Cells))}
	for i, c := range p.Cells {
		t.places[c.Cell] = i
		t.parts = append(t.parts, part{Cell: c, sum: newAccumulator(p, c)})
	}
	return t
}

func newAccumulator(p *collect.Params, c collect.Cell) accumulator {
	switch c.Randomiser {
	case collect.BRR, collect.BitMean:
		return &values{cell: c, size: 1, counts: make([]uint64, 2)}
	case collect.KRR:
		return &values{cell: c, size: 2, counts: make([]uint64, c.Domain)}
	case collect.OUE:
		return newOnes(c)
	case collect.HRR:
		return &signs{cell: c, sums: make([]int64, c.Domain)}
	case collect.DLAP:
		return &moments{cell: c}
	case collect.DGAUSS:
		return &coordinates{cell: c, sums: make([]int64, c.Domain)}
	case collect.Sphere:
		return newSphere(p, c)
	}
	panic("local: no such randomiser: " + string(c.Randomiser))
}

// Add adds a payload that times contributors of a cell sent. The payload was checked by
// Params.DecodeReport; what it checks of the shape is checked again. On an error nothing is added.
func (t *Tally) Add(cell uint32, payload []byte, times uint64) error {
	i, ok := t.places[cell]
	if !ok {
		return refuse.New(refuse.MalformedReport, "The round has no cell %d.", cell)
	}
	if err := t.room(times); err != nil {
		return err
	}
	if err := t.parts[i].sum.add(payload, times); err != nil {
		return err
	}
	t.parts[i].reports += times
	t.total += times
	return nil
}

func (t *Tally) room(reports uint64) error {
	if reports > maxReports-t.total {
		return fmt.Errorf("local: want at most %d reports, have %d and %d", uint64(maxReports), t.total, reports)
	}
	return nil
}

// Merge adds another tally of the same round and stratum; the other one is not to be used
// afterwards. It panics if the two have other cells.
func (t *Tally) Merge(o *Tally) {
	if len(t.parts) != len(o.parts) {
		panic("local: tallies of different rounds")
	}
	for i := range t.parts {
		if t.parts[i].Cell != o.parts[i].Cell {
			panic("local: tallies of different rounds")
		}
		t.parts[i].sum.merge(o.parts[i].sum)
		t.parts[i].reports += o.parts[i].reports
	}
	t.total += o.total
}

// Received returns how many reports of a cell were added: 0 for an unknown cell.
func (t *Tally) Received(cell uint32) uint64 {
	if i, ok := t.places[cell]; ok {
		return t.parts[i].reports
	}
	return 0
}

// Total returns how many reports were added.
func (t *Tally) Total() uint64 { return t.total }

// part returns the part of a cell, which exists.
func (t *Tally) part(cell uint32) *part { return &t.parts[t.places[cell]] }

// of returns the parts whose cells have a randomiser, in the order of the parameters.
func (t *Tally) of(r collect.Randomiser) []*part {
	var out []*part
	for i := range t.parts {
		if t.parts[i].Randomiser == r {
			out = append(out, &t.parts[i])
		}
	}
	return out
}

// malformed is the refusal of a payload that has not its cell's shape.
func malformed(c collect.Cell) error {
	return refuse.New(refuse.MalformedReport, "A report of cell %d is not one of %s.", c.Cell, c.Randomiser)
}
