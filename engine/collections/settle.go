package collections

import (
	"context"
	"time"

	"scrim/engine/collect"
	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// sortAfter is how many rows of a table of spent tokens stay unsorted at least; half as many as are
// sorted are let come besides, so that sorting costs every row a few writes, however many there
// are. Fewer are sorted from time to time, if it takes little of that time.
const (
	sortAfter = 1 << 14
	sortEvery = time.Minute
	sortShare = 50 // sorting takes at most one in so many minutes
)

// Settle takes the order of arrival out of the tables, as far as it can be while rounds are open:
// it sorts the spent tokens by their hashes. It is called before the data are copied.
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

// sortStale sorts what has been unsorted for long.
func (c *Collections) sortStale() {
	c.writing.Lock()
	defer c.writing.Unlock()
	for _, col := range c.names {
		if col.unsorted > 0 && time.Since(col.sortedAt) > sortShare*col.sortTook {
			// what is not sorted now is sorted the next time
			_ = c.sortSpent(context.Background(), col)
		}
	}
}

// sortSpent sorts the table of spent tokens. c.writing is held.
func (c *Collections) sortSpent(ctx context.Context, col *collection) error {
	begun := time.Now()
	return c.writeHeld(ctx, func(tx tx) error { return tx.sortSpent(col) }, func() {
		col.unsorted, col.sortedAt, col.sortTook = 0, time.Now(), time.Since(begun)
	})
}

func (t tx) sortSpent(col *collection) error {
	return t.sort(t.table(tableSpent, col.record), spentColumns, "hash, report")
}

// sortReports sorts a collection's reports by what they say.
func (t tx) sortReports(col *collection) error {
	if col.model() == collect.Shuffle {
		return nil // sorted when they were loaded
	}
	return t.sort(col.ref(), localColumns, "round, stratum, cell, report, day", col.ref())
}

// sort replaces a table by one with the same rows in an order. Rows that were only deleted would
// stay in the file, in the order in which they came; a table that was dropped gives all its blocks
// back.
func (t tx) sort(ref store.TableRef, columns, order string, changed ...store.TableRef) error {
	sorted := store.TableRef{Schema: ref.Schema, Name: "__scrim_sorted"}
	for _, sql := range []string{
		"CREATE TABLE " + quoted(sorted) + " (" + columns + ")",
		"INSERT INTO " + quoted(sorted) + " SELECT * FROM " + quoted(ref) + " ORDER BY " + order,
		"DROP TABLE " + quoted(ref),
		"ALTER TABLE " + quoted(sorted) + " RENAME TO " + sqltext.StoreName(ref.Name),
	} {
		if err := t.do(sql, changed...); err != nil {
			return err
		}
	}
	return nil
}
