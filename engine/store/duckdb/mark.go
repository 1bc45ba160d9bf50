package duckdb

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Mark is what a store keeps for its owner beside the rows: how far something outside of it had
// come when the rows were committed.
type Mark struct {
	Order uint64 // of two marks the higher one counts
	Text  string
}

// marks knows the mark that the next commit of a change takes along.
type marks struct {
	now  atomic.Pointer[func() Mark] // nil: none is taken along
	last atomic.Pointer[Mark]        // that is committed, as far as this process knows
}

// Follow has every later commit of a change take the mark of its moment along, in the same
// transaction. A mark that is committed already is not written again.
func (s *Store) Follow(now func() Mark) { s.marks.now.Store(&now) }

const markSQL = `INSERT INTO ` + hidden + `.mark VALUES ($1, $2)`

// mark puts the present mark into the transaction that runs, where it is not committed yet, and
// returns it, else nil. It is a row of its own, for two transactions that change one row cannot
// both commit.
func (s *Store) mark(c *conn) (*Mark, error) {
	now := s.marks.now.Load()
	if now == nil {
		return nil, nil
	}
	m := (*now)()
	if last := s.marks.last.Load(); last != nil && *last == m {
		return nil, nil
	}
	if c.marking == nil {
		var err error
		if c.marking, _, err = c.prepare(markSQL); err != nil {
			return nil, err
		}
	}
	_, err := c.run(context.Background(), c.marking, []any{int64(m.Order), m.Text})
	return &m, err
}

// marked notes that a mark is committed.
func (s *Store) marked(m *Mark) {
	if m != nil {
		s.marks.last.Store(m)
	}
}

// Mark returns the highest mark that is committed; ok is false where there is none.
func (s *Store) Mark(ctx context.Context) (m Mark, ok bool, err error) {
	err = s.use(func(keeper *conn) error {
		rows, err := keeper.collect(ctx, `SELECT "order", "text" FROM `+hidden+`.mark ORDER BY "order" DESC LIMIT 1`)
		if err != nil || len(rows) == 0 {
			return classify(ctx, err)
		}
		order, isInt := rows[0][0].(int64)
		text, isText := rows[0][1].(string)
		if !isInt || !isText {
			return fmt.Errorf("duckdb: a mark of types %T and %T", rows[0][0], rows[0][1])
		}
		m, ok = Mark{uint64(order), text}, true
		return nil
	})
	return m, ok, err
}

// SetMark puts a mark in the place of all that are committed, higher ones too.
func (s *Store) SetMark(ctx context.Context, m Mark) error {
	return s.use(func(keeper *conn) error {
		err := keeper.within(ctx, func() error {
			if _, err := keeper.exec(ctx, `DELETE FROM `+hidden+`.mark`); err != nil {
				return err
			}
			_, err := keeper.exec(ctx, markSQL, int64(m.Order), m.Text)
			return err
		})
		if err == nil {
			s.marked(&m)
		}
		return classify(ctx, err)
	})
}

// foldMarks leaves of all marks the highest. It runs in a transaction.
func (c *conn) foldMarks(ctx context.Context) error {
	_, err := c.exec(ctx, `DELETE FROM `+hidden+`.mark WHERE "order" < (SELECT max("order") FROM `+hidden+`.mark)`)
	return err
}
