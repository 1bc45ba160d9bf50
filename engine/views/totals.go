package views

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// The store's entries of series: what is public of them, by store.TableKey, and the exact sums of
// their days, by Series.ID.
const (
	seriesBucket = "dp series"
	sumsBucket   = "dp series sums"
)

// seriesWords are how refusals name a series.
var seriesWords = words{"series of totals", "continued or dropped", "CALL dp_continue('%s') releases the next days of a series of totals, and CALL dp_drop_continual('%s') removes it."}

// Ledger is what a series needs of the ledger beside its charge.
type Ledger interface {
	Note(principal, kind, text string) error
	Entries(ctx context.Context, f accounting.Filter) ([]accounting.Entry, error)
	Position() accounting.Position
	Continues(accounting.Position) (bool, error)
}

// Totals are the series of running totals of one store. They are safe for concurrent use.
type Totals struct {
	Views  *Views // plans definitions, and runs
	Ledger Ledger

	series shelf[Series]
	own    store.Own
}

// OpenTotals reads the series of a store. What is left of those that have gone with their database
// is removed.
func OpenTotals(ctx context.Context, st store.Store, v *Views, l Ledger) (*Totals, error) {
	own, ok := st.(store.Own)
	if !ok {
		return nil, fmt.Errorf("views: the store has no tables of the server's own")
	}
	s, err := st.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	held, err := described(ctx, st, s, seriesBucket, (*Series).Ref, (*Series).describes)
	if err != nil {
		return nil, err
	}
	t := &Totals{Views: v, Ledger: l, series: newShelf(held, seriesWords), own: own}
	return t, t.sweep(ctx, s)
}

// sweep removes what is private of series that are not there any more.
func (v *Totals) sweep(ctx context.Context, s store.Session) error {
	there := map[string]bool{}
	for _, r := range v.series.held {
		there[r.ID] = true
	}
	list, err := s.Meta().List(ctx, sumsBucket)
	if err != nil {
		return err
	}
	for _, e := range list {
		if there[e.Key] {
			continue
		}
		if err := v.forget(ctx, s, e.Key); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what is private of a series.
func (v *Totals) forget(ctx context.Context, s store.Session, id string) error {
	if _, err := s.Write(ctx, nil, "DROP TABLE IF EXISTS "+v.persons(id)); err != nil {
		return err
	}
	return s.Meta().Delete(ctx, sumsBucket, id)
}

// Holds tells whether a table is that of a series, whose rows nobody changes by SQL.
func (v *Totals) Holds(ref store.TableRef) bool { return v.series.Holds(ref) }

// List returns the series in the order of their names.
func (v *Totals) List(ctx *sql.Context) ([]Series, error) { return v.series.list(ctx, v.Views.st) }

// Create makes a series: it charges for all days, and makes a table without rows. Nothing is read.
func (v *Totals) Create(ctx *sql.Context, ref store.TableRef, query string, o SeriesOptions) (*Series, error) {
	free, err := v.series.take(ctx, v.Views.st, v.Views.Tables, ref)
	if err != nil {
		return nil, err
	}
	defer free()
	d, err := v.Views.defineSeries(ctx, query, o)
	if err != nil {
		return nil, err
	}
	made := tables.Made{Ref: ref, Comment: seriesComment, Columns: d.schema()}
	if err := made.Check(ctx); err != nil {
		return nil, err
	}
	st := d.budget.Statement
	st.Text = totalsText + ref.String() + " AS " + strings.TrimSpace(query)
	if err := plan.Verify(ctx, st, d.budget); err != nil {
		return nil, err
	}
	r := newSeries(ref, query, o, d)
	receipt, err := v.Views.Runner.Prepay(ctx, st)
	if err != nil {
		return nil, err
	}
	r.Owner, r.Made = session.Principal(ctx), time.Now().UTC().Format(time.DateTime)
	r.Schedule = v.Views.scheduled(ctx, o.Schedule, time.Now())
	r.Charge, r.Rounded, r.State.Ledger = receipt.ID, receipt.Rounded, v.Ledger.Position().String()
	err = v.Views.Tables.Make(ctx, made, false, func(s store.Session) error { return v.begin(ctx, s, r, d.persons()) })
	v.Views.Runner.Prepaid(receipt, err)
	if err != nil {
		return nil, err
	}
	v.series.put(ref, r)
	return r, nil
}

// newSeries is that of a definition.
func newSeries(ref store.TableRef, query string, o SeriesOptions, d *definition) *Series {
	r := &Series{Schema: ref.Schema, Name: ref.Name, Query: strings.TrimSpace(query), Options: o, ID: newName(), Whom: d.whom(), Params: d.series.Params()}
	for _, c := range d.columns {
		measure := c.measure
		if c.dimension >= 0 {
			measure = -1
		}
		r.Columns = append(r.Columns, SeriesColumn{c.name, measure})
	}
	r.State.Noisy = make([][]string, len(r.Params.Measures))
	return r
}

// newName names a series or a release, unlike any other.
func newName() string {
	b := make([]byte, 16)
	rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// begin keeps a new series, its sums, which are none, and its persons, who are nobody.
func (v *Totals) begin(ctx context.Context, s store.Session, r *Series, columns string) error {
	if _, err := s.Write(ctx, nil, "CREATE TABLE "+v.persons(r.ID)+" ("+columns+")"); err != nil {
		return err
	}
	if err := s.Meta().Put(ctx, sumsBucket, r.ID, []byte("null")); err != nil {
		return err
	}
	return r.write(ctx, s)
}

// write keeps what is public of a series, in the session's transaction.
func (r *Series) write(ctx context.Context, s store.Session) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.Meta().Put(ctx, seriesBucket, store.TableKey(r.Ref()), value)
}

// Drop removes a series with its table. What it has cost stays spent.
func (v *Totals) Drop(ctx *sql.Context, ref store.TableRef) error {
	r, free, err := v.series.alone(ref)
	if err != nil {
		return err
	}
	defer free()
	err = v.Views.Tables.DropMade(ctx, ref, func(s store.Session) error {
		if err := v.forget(ctx, s, r.ID); err != nil {
			return err
		}
		return s.Meta().Delete(ctx, seriesBucket, store.TableKey(ref))
	})
	if err == nil {
		v.series.remove(ref)
	}
	return err
}
