package tables

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/sqltext"
)

// PeekNextAutoIncrementValue implements sql.AutoIncrementGetter. It always says 1, which SHOW
// CREATE TABLE and INFORMATION_SCHEMA leave out: the true value is a running count of the table's
// rows.
func (t *Table) PeekNextAutoIncrementValue(*sql.Context) (uint64, error) { return 1, nil }

// GetNextAutoIncrementValue implements sql.AutoIncrementTable. A given value moves the counter past
// it. The counter's first value comes from the rows, so the client must be allowed to read them.
func (t *Table) GetNextAutoIncrementValue(ctx *sql.Context, given any) (uint64, error) {
	if err := t.checkInsert(ctx); err != nil {
		return 0, err
	}
	c := &t.p.ids
	c.mu.Lock()
	defer c.mu.Unlock()
	next, ok := c.next[t.def.Ref]
	if !ok {
		var err error
		if next, err = t.largestID(ctx); err != nil {
			return 0, err
		}
		next++
	}
	value := next
	if given != nil {
		v, _, err := types.Uint64.Convert(ctx, given)
		if err != nil {
			return 0, err
		}
		value = v.(uint64)
	}
	c.next[t.def.Ref] = max(next, value+1)
	return value, nil
}

// largestID returns the largest stored value of the AUTO_INCREMENT column, 0 when there is none.
func (t *Table) largestID(ctx *sql.Context) (uint64, error) {
	for _, col := range t.schema {
		if !col.AutoIncrement {
			continue
		}
		id := sqltext.StoreName(col.Name)
		it := newRows("SELECT CAST(greatest(coalesce(max("+id+"), 0), 0) AS UBIGINT) FROM "+quote(t.def.Ref),
			nil, sql.Schema{{Name: "id", Type: types.Uint64}})
		defer it.Close(ctx)
		row, err := it.Next(ctx)
		if err != nil {
			return 0, err
		}
		return row[0].(uint64), nil
	}
	return 0, sql.ErrNoAutoIncrementCol
}

// AutoIncrementSetter implements sql.AutoIncrementTable.
func (t *Table) AutoIncrementSetter(*sql.Context) sql.AutoIncrementSetter { return idSetter{t} }

// idSetter is ALTER TABLE ... AUTO_INCREMENT = n. The value holds until the server stops; after
// that numbering goes on from the largest stored value.
type idSetter struct{ t *Table }

// SetAutoIncrementValue implements sql.AutoIncrementSetter. A value under what is stored has no
// effect.
func (s idSetter) SetAutoIncrementValue(ctx *sql.Context, v uint64) error {
	if err := s.t.p.access.CheckDDL(ctx, s.t.def.Ref); err != nil {
		return err
	}
	if err := s.t.checkInsert(ctx); err != nil {
		return err
	}
	largest, err := s.t.largestID(ctx)
	if err != nil {
		return err
	}
	return s.t.p.clause(ctx, func(w *altered) error {
		w.done = append(w.done, func() {
			c := &s.t.p.ids
			c.mu.Lock()
			defer c.mu.Unlock()
			c.next[s.t.def.Ref] = max(v, largest+1)
		})
		return nil
	})
}

// AcquireAutoIncrementLock implements sql.AutoIncrementSetter: each value is handed out under a
// lock already, and nothing promises that those of one statement follow each other.
func (s idSetter) AcquireAutoIncrementLock(*sql.Context) (func(), error) { return func() {}, nil }

// Close implements sql.AutoIncrementSetter.
func (s idSetter) Close(*sql.Context) error { return nil }
