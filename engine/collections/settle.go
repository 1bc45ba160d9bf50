package collections

import (
	"context"
	"fmt"

	"scrim/engine/collect"
	"scrim/engine/store"
)

// sortAfter is how many rows of a table of spent tokens stay unsorted at least; half as many as are sorted are
// let come besides, so that sorting costs every row a few writes, however many there are.
const sortAfter = 1 << 14

// sorted is how many rows of the table of spent tokens were there when it was sorted last.
func (c *collection) sorted() int {
	n := 0
	for _, k := range c.received {
		n += int(k)
	}
	return max(0, n-c.unsorted)
}

// Settle takes the order of arrival out of the tables, as far as it can be while rounds are open: it sorts the
// spent tokens by their hashes. It is called before the data are copied.
func (c *Collections) Settle(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	for _, col := range c.names {
		if col.unsorted > 0 {
			if err := c.sortSpent(ctx, col); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortSpent sorts the table of spent tokens. c.writing is held.
func (c *Collections) sortSpent(ctx context.Context, col *collection) error {
	return c.writeHeld(ctx, func(tx tx) error { return tx.sortSpent(col) }, func() { col.unsorted = 0 })
}

func (t tx) sortSpent(col *collection) error {
	return t.sort(t.table(tableSpent, col.record), "true", "hash, report", col)
}

// sortReports sorts the reports of a round by what they say.
func (t tx) sortReports(col *collection, round int) error {
	if col.model() == collect.Shuffle {
		return nil // sorted when they were loaded
	}
	return t.sort(col.ref(), fmt.Sprintf("round = %d", round), "stratum, cell, report, day", col, col.ref())
}

// sort takes rows out of a table and puts them in again in an order. The rows that were there are deleted, and written
// over when the store needs their place.
func (t tx) sort(ref store.TableRef, where, order string, col *collection, changed ...store.TableRef) error {
	sorted := quoted(t.table("sort", col.record))
	if err := t.do("CREATE TABLE " + sorted + " AS SELECT * FROM " + quoted(ref) + " WHERE " + where); err != nil {
		return err
	}
	if err := t.do("DELETE FROM "+quoted(ref)+" WHERE "+where, changed...); err != nil {
		return err
	}
	if err := t.do("INSERT INTO "+quoted(ref)+" SELECT * FROM "+sorted+" ORDER BY "+order, changed...); err != nil {
		return err
	}
	return t.do("DROP TABLE " + sorted)
}
