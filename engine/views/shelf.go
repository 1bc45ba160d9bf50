package views

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// shelf holds what public tables were made of, by their names. It is safe for concurrent use.
type shelf[R any] struct {
	words words

	mu   sync.Mutex
	held map[store.TableRef]*R   // nil while one of that name is being made
	busy map[store.TableRef]bool // being changed or dropped
}

// words are how refusals name what is on a shelf.
type words struct{ what, changed, remedy string }

func newShelf[R any](held map[store.TableRef]*R, w words) shelf[R] {
	return shelf[R]{words: w, held: held, busy: map[store.TableRef]bool{}}
}

// described reads the entries of a bucket. One whose table has gone with its database is forgotten:
// a table that has its name now is another one, and nobody has said that it is public.
func described[R any](ctx context.Context, st store.Store, s store.Session, bucket string, ref func(*R) store.TableRef, describes func(*R, store.Table) bool) (map[store.TableRef]*R, error) {
	list, err := s.Meta().List(ctx, bucket)
	if err != nil {
		return nil, err
	}
	held := map[store.TableRef]*R{}
	for _, e := range list {
		r := new(R)
		if err := json.Unmarshal(e.Value, r); err != nil {
			return nil, fmt.Errorf("views: %w", err)
		}
		t, ok, err := st.Table(ctx, ref(r))
		switch {
		case err != nil:
			return nil, err
		case !ok || !describes(r, t):
			if err := s.Meta().Delete(ctx, bucket, e.Key); err != nil {
				return nil, err
			}
		default:
			held[ref(r)] = r
		}
	}
	return held, nil
}

// Holds tells whether a table is one of what is held, whose rows nobody changes by SQL.
func (h *shelf[R]) Holds(ref store.TableRef) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[ref] != nil
}

// all visits what is held in the order of names.
func (h *shelf[R]) all() iter.Seq2[store.TableRef, *R] {
	h.mu.Lock()
	held := maps.Clone(h.held)
	h.mu.Unlock()
	return func(yield func(store.TableRef, *R) bool) {
		for _, ref := range slices.SortedFunc(maps.Keys(held), func(a, b store.TableRef) int { return strings.Compare(a.String(), b.String()) }) {
			if r := held[ref]; r != nil && !yield(ref, r) {
				return
			}
		}
	}
}

// list returns what is held in the order of names, without what has gone with its database.
func (h *shelf[R]) list(ctx *sql.Context, st store.Store) ([]R, error) {
	var out []R
	for ref, r := range h.all() {
		if _, ok, err := st.Table(ctx, ref); err != nil {
			return nil, err
		} else if ok {
			out = append(out, *r)
		}
	}
	return out, nil
}

// take keeps a new name from others until free is called.
func (h *shelf[R]) take(ctx *sql.Context, st store.Store, p *tables.Provider, ref store.TableRef) (free func(), err error) {
	schemas, err := st.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(schemas, ref.Schema) {
		return nil, refuse.New(refuse.View, "There is no database %.64s.", ref.Schema).With("CREATE DATABASE `%.64s` first.", ref.Schema)
	}
	_, there, err := st.Table(ctx, ref)
	if err == nil && !there {
		there, err = p.HasView(ctx, ref.Schema, ref.Name)
	}
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r, making := h.held[ref]
	if there || making && r == nil {
		return nil, refuse.New(refuse.View, "There is a table or a view %s already.", ref).With("Choose another name; "+h.words.remedy, ref, ref)
	}
	h.held[ref] = nil
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.held[ref] == nil {
			delete(h.held, ref)
		}
	}, nil
}

// put holds r in the place of what was held by its name.
func (h *shelf[R]) put(ref store.TableRef, r *R) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held[ref] = r
}

func (h *shelf[R]) remove(ref store.TableRef) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, ref)
}

// alone returns what is held by a name, which nobody else changes or drops until free is called.
func (h *shelf[R]) alone(ref store.TableRef) (r *R, free func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, err = h.named(ref); err != nil {
		return nil, nil, err
	}
	if h.busy[ref] {
		return nil, nil, refuse.New(refuse.View, "The %s %.140s is being %s.", h.words.what, ref.String(), h.words.changed).With("Ask again when that has ended.")
	}
	h.busy[ref] = true
	return r, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.busy, ref)
	}, nil
}

// find returns what is held by a name.
func (h *shelf[R]) find(ref store.TableRef) (*R, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.named(ref)
}

// named is find where mu is held.
func (h *shelf[R]) named(ref store.TableRef) (*R, error) {
	if r := h.held[ref]; r != nil {
		return r, nil
	}
	return nil, refuse.New(refuse.View, "There is no %s %.140s.", h.words.what, ref.String())
}
