package accounting

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Export writes the entries that f chooses to w, one JSON object a line, and tells progress, which may be nil, how far it is: the
// number of entries written and, at the end, the same number as the total; before that the total is 0, not known.
func (l *Ledger) Export(ctx context.Context, w io.Writer, f Filter, progress func(done, total int64)) error {
	const page = 1000
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	var done int64
	left := f.Limit
	for {
		f.Limit = page
		if left > 0 {
			f.Limit = min(page, left)
		}
		list, err := l.Entries(ctx, f)
		if err != nil {
			return err
		}
		for i := range list {
			if err := enc.Encode(exported(&list[i])); err != nil {
				return err
			}
		}
		done += int64(len(list))
		if progress != nil {
			progress(done, 0)
		}
		if left -= len(list); len(list) < f.Limit || left == 0 {
			break
		}
		if last := list[len(list)-1].ID; f.Descending {
			f.BeforeID = last
		} else {
			f.AfterID = last
		}
	}
	if progress != nil {
		progress(done, done)
	}
	return out.Flush()
}

// exportLine is an entry as JSON.
type exportLine struct {
	ID         uint64         `json:"id"`
	Kind       EntryKind      `json:"kind"`
	At         time.Time      `json:"at"`
	Principal  string         `json:"principal"`
	Roles      []string       `json:"roles,omitempty"`
	Statement  string         `json:"statement,omitempty"`
	Digest     string         `json:"digest,omitempty"`
	Mechanisms string         `json:"mechanisms,omitempty"`
	Charges    []exportCharge `json:"charges,omitempty"`
	Outcome    string         `json:"outcome,omitempty"`
	ReplayOf   uint64         `json:"replay_of,omitempty"`
	Tables     []string       `json:"tables,omitempty"`
	NoteKind   string         `json:"note,omitempty"`
	Text       string         `json:"text,omitempty"`
	Budget     *exportBudget  `json:"budget,omitempty"`
}

type exportCharge struct {
	Account    string       `json:"account"`
	Entity     bool         `json:"entity,omitempty"`
	Table      string       `json:"table,omitempty"`
	Rho        float64      `json:"rho"`
	Pure       float64      `json:"pure,omitempty"`
	DeltaEvent float64      `json:"delta_event,omitempty"`
	DeltaTV    float64      `json:"delta_tv,omitempty"`
	Left       []exportLeft `json:"remaining,omitempty"`
}

type exportLeft struct {
	Scope   string   `json:"scope"`
	Epsilon *float64 `json:"epsilon,omitempty"`
	Rho     *float64 `json:"rho,omitempty"`
}

type exportBudget struct {
	Account   string  `json:"account"`
	Entity    bool    `json:"entity,omitempty"`
	Principal string  `json:"principal"`
	Epsilon   float64 `json:"epsilon,omitempty"`
	Rho       float64 `json:"rho,omitempty"`
	Delta     float64 `json:"delta,omitempty"`
	Window    Window  `json:"window,omitempty"`
	Reason    string  `json:"reason,omitempty"`
}

func exported(e *Entry) exportLine {
	x := exportLine{
		ID: e.ID, Kind: e.Kind, At: e.At, Principal: e.Principal, Roles: e.Roles, Statement: e.Statement, Digest: e.Digest,
		Mechanisms: e.Mechanisms, ReplayOf: e.ReplayOf, Tables: e.Tables, NoteKind: e.NoteKind, Text: e.Text,
	}
	if e.Kind == ChargeEntry {
		x.Outcome = e.Outcome.String()
	}
	for _, c := range e.Charges {
		y := exportCharge{
			Account: c.Account, Entity: c.Entity, Table: c.Table,
			Rho: c.Loss.Rho.Float(), Pure: c.Loss.Pure.Float(), DeltaEvent: c.Loss.DeltaEvent, DeltaTV: c.Loss.DeltaTV,
		}
		for _, l := range c.Left {
			if eps, r := float64(l.Epsilon), l.Rho.Float(); math.IsNaN(eps) {
				y.Left = append(y.Left, exportLeft{Scope: l.Scope, Rho: &r})
			} else {
				y.Left = append(y.Left, exportLeft{Scope: l.Scope, Epsilon: &eps})
			}
		}
		x.Charges = append(x.Charges, y)
	}
	if b := e.Budget; b.Account != "" {
		x.Budget = &exportBudget{b.Account, b.Entity, b.Principal, float64(b.Epsilon), b.Rho.Float(), float64(b.Delta), b.Window, b.Reason}
	}
	return x
}

// Backup writes a consistent copy of the ledger's file to w while it is in use: what is durable when it begins. The copy opens with the
// key of the ledger, and without a mark only by an Acceptance.
func (l *Ledger) Backup(ctx context.Context, w io.Writer) error {
	if err := l.Err(); err != nil {
		return err
	}
	return guard(func() error {
		for {
			written := false
			err := l.db.View(func(tx *bolt.Tx) error {
				// bbolt gives the copy's first meta page this transaction and the second the one before; verifyPages wants even and odd.
				if tx.ID()%2 != 0 {
					return nil
				}
				written = true
				_, err := tx.WriteTo(w)
				return err
			})
			if err != nil || written {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := l.db.Update(func(*bolt.Tx) error { return nil }); err != nil {
				return l.poison(err)
			}
		}
	})
}
