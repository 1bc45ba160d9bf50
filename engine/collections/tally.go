package collections

import (
	"context"
	"encoding/binary"
	"fmt"

	"scrim/engine/collect"
	"scrim/engine/estimator/local"
	"scrim/engine/store"
)

// bulk is how many bytes of payloads of a cell are added to a tally at a time.
const bulk = 1 << 20

// tallyLocal adds up the reports of a round of a stratum. Where payloads are short the store counts
// equal reports, of which there are few; long ones come as they are, cell by cell in large pieces.
func (c *Collections) tallyLocal(ctx context.Context, ref store.TableRef, p *collect.Params) (*local.Tally, error) {
	t := local.NewTally(p)
	from := " FROM " + quoted(ref) + " WHERE round = $1 AND stratum = $2"
	args := []any{int64(p.Round), p.Stratum}
	if counted(p) {
		return t, c.own.ScanBytes(ctx, "SELECT report, count(*)"+from+" GROUP BY report", args, func(b store.BytesChunk) error {
			return addCounted(t, p, b.Columns[0].Bytes, b.Columns[1].Ints)
		})
	}
	g := &gathered{tally: t, cells: map[uint32][]byte{}}
	err := c.own.ScanBytes(ctx, "SELECT report"+from, args, func(b store.BytesChunk) error { return g.add(b.Columns[0].Bytes[:b.Len]) })
	if err != nil {
		return nil, err
	}
	return t, g.finish()
}

// counted tells whether the reports of a round have so few values that counting them is worth it.
func counted(p *collect.Params) bool {
	for _, cell := range p.Cells {
		if cell.PayloadSize() > 2 {
			return false
		}
	}
	return true
}

func addCounted(t *local.Tally, p *collect.Params, reports [][]byte, counts []int64) error {
	for i, n := range counts {
		cell, payload, err := p.DecodeReport(reports[i])
		if err == nil {
			err = t.Add(cell, payload, uint64(n))
		}
		if err != nil {
			return fmt.Errorf("collections: a stored report does not follow the parameters: %w", err)
		}
	}
	return nil
}

// gathered collects payloads by cell.
type gathered struct {
	tally *local.Tally
	cells map[uint32][]byte
}

// add adds reports that were checked when they were accepted: their header says the cell, its
// length follows.
func (g *gathered) add(reports [][]byte) error {
	for _, r := range reports {
		if len(r) < collect.HeaderSize {
			return fmt.Errorf("collections: a stored report of %d bytes", len(r))
		}
		cell := binary.BigEndian.Uint32(r[4:])
		b := append(g.cells[cell], r[collect.HeaderSize:]...)
		if len(b) >= bulk {
			if err := g.tally.AddAll(cell, b); err != nil {
				return err
			}
			b = b[:0]
		}
		g.cells[cell] = b
	}
	return nil
}

func (g *gathered) finish() error {
	for cell, b := range g.cells {
		if err := g.tally.AddAll(cell, b); err != nil {
			return err
		}
	}
	return nil
}
