package collections

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// conflictPatience is how often a transaction begins anew that another one was in the way of.
const conflictPatience = 10

// write runs f in one transaction, and after when it has committed. Nothing else changes
// collections meanwhile. f may run more than once.
func (c *Collections) write(ctx context.Context, f func(tx tx) error, after func()) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.writeHeld(ctx, f, after)
}

// writeHeld is write; c.writing is held.
func (c *Collections) writeHeld(ctx context.Context, f func(tx tx) error, after func()) error {
	for try := 1; ; try++ {
		err := c.once(ctx, f)
		if store.KindOf(err) == store.Conflict && try < conflictPatience {
			time.Sleep(time.Duration(try) * 5 * time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		if after != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			after()
		}
		return nil
	}
}

func (c *Collections) once(ctx context.Context, f func(tx tx) error) error {
	if err := c.session.Begin(ctx); err != nil {
		return err
	}
	err := f(tx{ctx, c.session, c.own.OwnSchema()})
	if err == nil {
		c.hook("before-commit")
		if err = c.session.Commit(ctx); err == nil {
			c.hook("after-commit")
			return nil
		}
	}
	_ = c.session.Rollback(context.WithoutCancel(ctx)) // a failed commit has rolled back already
	return err
}

// tx is one transaction.
type tx struct {
	ctx    context.Context
	s      store.Session
	schema string // of the server's own tables
}

// put sets an entry to a value as JSON.
func (t tx) put(bucket, key string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("collections: %w", err)
	}
	return t.s.Meta().Put(t.ctx, bucket, key, b)
}

func (t tx) delete(bucket, key string) error { return t.s.Meta().Delete(t.ctx, bucket, key) }

// do runs one statement on tables of the server's own, and on those of clients that are named.
func (t tx) do(sql string, tables ...store.TableRef) error {
	_, err := t.s.Write(t.ctx, tables, sql)
	return err
}

// fill inserts rows into a table.
func (t tx) fill(ref store.TableRef, rows [][]any) error {
	return t.s.(store.Filler).Fill(t.ctx, ref, rows)
}

// table is a collection's table of the server's own.
func (t tx) table(kind string, r record) store.TableRef {
	return store.TableRef{Schema: t.schema, Name: kind + "_" + r.id()}
}

// save keeps a collection's record, whose step goes on.
func (t tx) save(r record) error { return t.put(bucketCollection, r.UUID, r) }

// quoted writes a table's name in the store's SQL.
func quoted(r store.TableRef) string { return sqltext.StoreTable(r.Schema, r.Name) }
