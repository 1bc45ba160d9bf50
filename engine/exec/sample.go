package exec

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/internal/digest"
	"scrim/internal/spent"
	"scrim/planner/plan"
)

// Charged is what a simulation costs.
type Charged struct {
	Loss      privacy.Loss // of all runs
	Events    []privacy.Event
	Mechanism string // for the ledger
	Statement string // the query that is the source
}

// Sample makes the charge for a simulation durable, scans its values and hands them to use, nil for
// a person whose value is NULL. The charge stands whatever becomes of it. What use does with the
// values has to have the guarantee that was charged, with one value exchanged, see sample.Node; an
// error of use that could tell of values is told as the one fixed text.
func (x *Executor) Sample(ctx *sql.Context, s *plan.Sample, c Charged, use func(values [][]float64) error) error {
	if err := ctx.Err(); err != nil {
		return notStarted(err)
	}
	spent.Begin(ctx)
	receipt, err := x.reserve(ctx, x.chargeFor(ctx, s, c))
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
func (x *Executor) chargeFor(ctx *sql.Context, s *plan.Sample, c Charged) accounting.Request {
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
	req.Charges = x.Units.withPersons(req.Charges)
	return req
}

// sampled scans and uses what was scanned, unless a table has been defined anew since the plan was
// made.
func (x *Executor) sampled(ctx *sql.Context, s *plan.Sample, use func(values [][]float64) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	var values [][]float64
	drawn := draws{fresh: x.Noise}
	err = x.onSnapshot(ctx, x.Store.Once, func(snap store.Snapshot) (err error) {
		drawn.next = 0
		values, err = scanSample(ctx, snap, s, drawn.draw())
		return err
	})
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

// scanSample returns a uniform choice of at most Slots of the persons. Their order means nothing.
func scanSample(ctx context.Context, snap store.Snapshot, s *plan.Sample, noiser noise.Noiser) ([][]float64, error) {
	r := &reservoir{noise: noiser, slots: s.Slots, width: s.Width}
	secrets := secrets{noise: r.noise, drawn: map[int]int64{}}
	err := snap.Scan(ctx, s.Scan.SQL, secrets.fill(s.Scan.Args), s.Scan.Types, func(ch store.Chunk) error {
		for i := range ch.Len {
			if at, ok := r.place(); ok {
				r.kept[at] = rowOf(r.room(at), ch, i)
			}
		}
		return nil
	})
	return r.kept, err
}

// reservoir chooses uniformly of values that come one by one, without knowing how many will.
type reservoir struct {
	noise        noise.Noiser
	slots, width int
	seen         uint64
	kept         [][]float64
	space        []float64 // for values to come
}

// place returns where the next value goes; ok is false where it is not chosen. After k values each
// subset of slots of them has had the same chance: the next is chosen with probability slots/(k+1),
// for one that is drawn uniformly.
func (r *reservoir) place() (at int, ok bool) {
	r.seen++
	if len(r.kept) < r.slots {
		r.kept = append(r.kept, nil)
		return len(r.kept) - 1, true
	}
	n := r.below(r.seen)
	return int(n), n < uint64(r.slots)
}

// below draws uniformly from 0 to k−1.
func (r *reservoir) below(k uint64) uint64 {
	for {
		if u := r.noise.Uniform(); u >= -k%k { // 2^64 mod k words too many
			return u % k
		}
	}
}

// room is where the numbers of a slot are kept: its own, or a new piece of a block.
func (r *reservoir) room(at int) []float64 {
	if old := r.kept[at]; old != nil {
		return old
	}
	if len(r.space) < r.width {
		r.space = make([]float64, 1024*r.width)
	}
	piece := r.space[:r.width:r.width]
	r.space = r.space[r.width:]
	return piece
}

// rowOf copies a row's numbers; nil where one of them is NULL.
func rowOf(dst []float64, ch store.Chunk, i int) []float64 {
	for k := range ch.Columns {
		c := &ch.Columns[k]
		switch {
		case c.Null != nil && c.Null[i]:
			return nil
		case c.Width > 0:
			copy(dst, c.Floats[i*c.Width:][:c.Width])
		default:
			dst[k] = c.Floats[i]
		}
	}
	return dst
}
