package exec

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/store"
	"scrim/internal/digest"
	"scrim/planner"
)

// Charged is what a simulation costs.
type Charged struct {
	Loss      accounting.Loss // of all runs
	Events    []accounting.Event
	Mechanism string // for the ledger
	Statement string // the query that is the source
}

// Sample makes the charge for a simulation durable, scans its values and hands them to use, nil for a person whose value is NULL. The
// charge stands whatever becomes of it. What use does with the values has to have the guarantee that was charged, with one value
// exchanged, see planner.Sample; an error of use that could tell of values is told as the one fixed text.
func (x *Executor) Sample(ctx *sql.Context, s *planner.Sample, c Charged, use func(values [][]float64) error) error {
	if err := ctx.Err(); err != nil {
		return notStarted(err)
	}
	receipt, err := x.Account.Reserve(ctx, x.chargeFor(ctx, s, c))
	if err != nil {
		return err
	}
	err = x.sampled(ctx, s, use)
	x.Account.Finish(receipt, outcome(err))
	if err != nil {
		return failed(err)
	}
	return nil
}

// chargeFor is the request: the loss once for each table and each entity.
func (x *Executor) chargeFor(ctx *sql.Context, s *planner.Sample, c Charged) accounting.Request {
	text := digest.Redact(c.Statement)
	req := accounting.Request{Principal: x.Principal(ctx), Statement: text, Digest: digest.Of(text), Mechanisms: c.Mechanism}
	if x.Roles != nil {
		req.Roles = x.Roles(ctx)
	}
	for _, t := range s.Tables {
		req.Charges = append(req.Charges, accounting.Charge{Account: t.Account, Table: t.Table, Loss: c.Loss, Events: c.Events})
	}
	for _, e := range s.Entities {
		req.Charges = append(req.Charges, accounting.Charge{Account: e, Entity: true, Loss: c.Loss, Events: c.Events})
	}
	return req
}

// sampled scans and uses what was scanned, unless a table has been defined anew since the plan was made.
func (x *Executor) sampled(ctx *sql.Context, s *planner.Sample, use func(values [][]float64) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("exec: panic: %v", p)
		}
	}()
	values, err := x.scanSample(ctx, s)
	for _, d := range s.Defined { // a change may be why the scan failed
		if err := x.Unchanged(ctx, d); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return use(values)
}

func (x *Executor) scanSample(ctx context.Context, s *planner.Sample) ([][]float64, error) {
	snap, err := x.Store.Once(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	values := make([][]float64, 0, min(s.Slots, 1<<16))
	secrets := secrets{noise: x.Noise(), drawn: map[int]int64{}}
	err = snap.Scan(ctx, s.Scan.SQL, secrets.fill(s.Scan.Args), s.Scan.Types, func(ch store.Chunk) error {
		if s.Array {
			values = appendArrays(values, ch, s.Width)
		} else {
			values = appendColumns(values, ch)
		}
		return nil
	})
	if len(values) > s.Slots {
		return nil, fmt.Errorf("exec: a sample of %d values for %d slots", len(values), s.Slots)
	}
	return values, err
}

// appendColumns copies rows of numbers; one without all of them is NULL.
func appendColumns(values [][]float64, ch store.Chunk) [][]float64 {
	block := make([]float64, ch.Len*len(ch.Columns))
	for i := range ch.Len {
		row := block[i*len(ch.Columns):][:len(ch.Columns):len(ch.Columns)]
		for k, c := range ch.Columns {
			if c.Null != nil && c.Null[i] {
				row = nil
				break
			}
			row[k] = c.Floats[i]
		}
		values = append(values, row)
	}
	return values
}

// appendArrays copies arrays of width numbers.
func appendArrays(values [][]float64, ch store.Chunk, width int) [][]float64 {
	c := ch.Columns[0]
	block := append([]float64(nil), c.Floats[:ch.Len*width]...)
	for i := range ch.Len {
		if c.Null != nil && c.Null[i] {
			values = append(values, nil)
			continue
		}
		values = append(values, block[i*width:][:width:width])
	}
	return values
}
