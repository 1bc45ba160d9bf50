package views

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/exec"
	"scrim/engine/session"
	"scrim/engine/store"
	"scrim/engine/tables"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// bucket is that of the store's entries of views, by store.TableKey.
const bucket = "dp views"

// Views are the views of one store. They are safe for concurrent use.
type Views struct {
	Engine *sqle.Engine // plans definitions
	Runner *exec.Executor
	Tables *tables.Provider

	st   store.Store
	mu   sync.Mutex
	held map[store.TableRef]*Record // nil while a view of that name is being made
	busy map[store.TableRef]bool    // being refreshed or dropped
}

// Open reads the views of a store. One that has gone with its database is forgotten: a table that
// has its name now is not a view's, and nobody has said that it is public.
func Open(ctx context.Context, st store.Store) (*Views, error) {
	s, err := st.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	list, err := s.Meta().List(ctx, bucket)
	if err != nil {
		return nil, err
	}
	v := &Views{st: st, held: map[store.TableRef]*Record{}, busy: map[store.TableRef]bool{}}
	for _, e := range list {
		r := new(Record)
		if err := json.Unmarshal(e.Value, r); err != nil {
			return nil, fmt.Errorf("views: %w", err)
		}
		t, ok, err := st.Table(ctx, r.Ref())
		switch {
		case err != nil:
			return nil, err
		case !ok || !r.describes(t):
			if err := s.Meta().Delete(ctx, bucket, e.Key); err != nil {
				return nil, err
			}
		default:
			v.held[r.Ref()] = r
		}
	}
	return v, nil
}

// Holds tells whether a table is a view's, whose rows nobody changes by SQL.
func (v *Views) Holds(ref store.TableRef) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.held[ref] != nil
}

// List returns the views in the order of their names. What has gone with its database is left out.
func (v *Views) List(ctx *sql.Context) ([]Record, error) {
	v.mu.Lock()
	held := maps.Clone(v.held)
	v.mu.Unlock()
	var out []Record
	for ref, r := range held {
		if _, ok, err := v.st.Table(ctx, ref); err != nil {
			return nil, err
		} else if ok && r != nil {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.Ref().String(), b.Ref().String()) })
	return out, nil
}

// Create makes a view: it charges for its definition, and makes a table of what is released.
func (v *Views) Create(ctx *sql.Context, ref store.TableRef, query string, o Options) (*Record, error) {
	free, err := v.take(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer free()
	return v.make(ctx, ref, query, o, false)
}

// take keeps the name of a new view from others until free is called.
func (v *Views) take(ctx *sql.Context, ref store.TableRef) (free func(), err error) {
	schemas, err := v.st.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(schemas, ref.Schema) {
		return nil, refuse.New(refuse.View, "There is no database %.64s.", ref.Schema).With("CREATE DATABASE `%.64s` first.", ref.Schema)
	}
	_, there, err := v.st.Table(ctx, ref)
	if err == nil && !there {
		there, err = v.Tables.HasView(ctx, ref.Schema, ref.Name)
	}
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	r, making := v.held[ref]
	if there || making && r == nil {
		return nil, refuse.New(refuse.View, "There is a table or a view %s already.", ref).
			With("Choose another name; CALL dp_refresh_view('%s') releases a view anew, and CALL dp_drop_view('%s') removes it.", ref, ref)
	}
	v.held[ref] = nil
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.held[ref] == nil {
			delete(v.held, ref)
		}
	}, nil
}

// make charges for a definition, and makes or replaces the table.
func (v *Views) make(ctx *sql.Context, ref store.TableRef, query string, o Options, replaces bool) (*Record, error) {
	d, err := v.define(ctx, query, o)
	if err != nil {
		return nil, err
	}
	made := tables.Made{Ref: ref, Comment: comment, Columns: d.schema()}
	if err := made.Check(ctx); err != nil {
		return nil, err
	}
	st := d.budget.Statement
	st.Text = "VIEW " + ref.String() + " AS " + strings.TrimSpace(query)
	if err := plan.Verify(ctx, st, d.budget); err != nil {
		return nil, err
	}
	released, err := v.released(ctx, d)
	if err != nil {
		return nil, err
	}
	rows, ok := d.rows(released)
	if !ok {
		return nil, refuse.New(refuse.View, "The view %s is not made: by noisy numbers there are too few persons for cells at this loss. The charge stands.", ref).
			With("Define it with a larger epsilon, or on more persons.")
	}
	r := newRecord(ref, query, o, d, released)
	r.Owner, r.Made, r.Charge = session.Principal(ctx), time.Now().UTC().Format(time.DateTime), v.Runner.ChargeOf(ctx, st)
	made.Rows = rows
	err = v.Tables.Make(ctx, made, replaces, func(s store.Session) error {
		value, err := json.Marshal(r)
		if err == nil {
			err = s.Meta().Put(ctx, bucket, store.TableKey(ref), value)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held[ref] = r
	return r, nil
}

// released runs the definition: charged first, and all cells in the order of its keys.
func (v *Views) released(ctx *sql.Context, d *definition) ([]sql.Row, error) {
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	e, err := v.Runner.Begin(ctx, d.budget.Statement)
	if err != nil {
		return nil, err
	}
	node := *d.node
	node.Feasible = nil // the cells that no row can be in have a part of the noise
	ctx = plan.Reserved(ctx, d.budget.Statement, e)
	iter, err := node.RowIter(ctx, nil)
	if err != nil {
		return nil, err
	}
	return sql.RowIterToRows(ctx, iter)
}

// Refresh releases a view anew from the data of now, for another charge of the session's account.
// While the data are the same that is the answer that is kept, for nothing.
func (v *Views) Refresh(ctx *sql.Context, ref store.TableRef) (*Record, error) {
	r, free, err := v.alone(ref)
	if err != nil {
		return nil, err
	}
	defer free()
	return v.make(ctx, ref, r.Query, r.Options, true)
}

// Drop removes a view with its table. What it has cost stays spent.
func (v *Views) Drop(ctx *sql.Context, ref store.TableRef) error {
	_, free, err := v.alone(ref)
	if err != nil {
		return err
	}
	defer free()
	err = v.Tables.DropMade(ctx, ref, func(s store.Session) error {
		return s.Meta().Delete(ctx, bucket, store.TableKey(ref))
	})
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.held, ref)
	return nil
}

// alone returns a view that nobody else refreshes or drops until free is called.
func (v *Views) alone(ref store.TableRef) (r *Record, free func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, err = v.named(ref); err != nil {
		return nil, nil, err
	}
	if v.busy[ref] {
		return nil, nil, refuse.New(refuse.View, "The view %.140s is being refreshed or dropped.", ref.String()).With("Ask again when that has ended.")
	}
	v.busy[ref] = true
	return r, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.busy, ref)
	}, nil
}

// find returns a view by its name.
func (v *Views) find(ref store.TableRef) (*Record, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.named(ref)
}

// named is find where mu is held.
func (v *Views) named(ref store.TableRef) (*Record, error) {
	if r := v.held[ref]; r != nil {
		return r, nil
	}
	return nil, refuse.New(refuse.View, "There is no view %.140s.", ref.String())
}
