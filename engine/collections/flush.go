package collections

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// A flush writes all reports that wait in one transaction, so that thousands of contributors share
// the price of making it durable. It waits for others only as long as it seems worth: until as many
// requests are there as the last flush had, at most flushPause.
const (
	flushPause = 2 * time.Millisecond
	flushRows  = 8192
)

// request is what one call of Accept waits for.
type request struct {
	col  *collection
	list []submission
	done chan error // takes one answer without a reader
}

// flusher is the one goroutine that writes reports.
type flusher struct {
	c     *Collections
	queue chan *request
	quit  chan struct{}
	once  sync.Once
	ended sync.WaitGroup
	last  int // requests of the last flush
}

func (f *flusher) start(c *Collections) {
	f.c, f.queue, f.quit = c, make(chan *request, 256), make(chan struct{})
	f.ended.Go(f.run)
}

// stop ends the goroutine after the flush that it is at.
func (f *flusher) stop() {
	f.once.Do(func() { close(f.quit) })
	f.ended.Wait()
}

// submit hands a request over and waits for its answer.
func (f *flusher) submit(ctx context.Context, r *request) error {
	select {
	case f.queue <- r:
	case <-f.quit:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-f.quit:
		f.ended.Wait()
		select {
		case err := <-r.done:
			return err
		default:
			return store.ErrClosed
		}
	}
}

func (f *flusher) run() {
	quiet := time.NewTicker(sortEvery)
	defer quiet.Stop()
	for {
		select {
		case <-f.quit:
			return
		case <-quiet.C:
			f.c.sortStale()
		case first := <-f.queue:
			list := f.gather(first)
			f.last = len(list)
			for _, same := range byCollection(list) {
				f.c.flush(same)
			}
		}
	}
}

// gather waits for more requests.
func (f *flusher) gather(first *request) []*request {
	list, rows := []*request{first}, len(first.list)
	timer := time.NewTimer(f.c.pause)
	defer timer.Stop()
	for rows < flushRows {
		select {
		case r := <-f.queue:
			list, rows = append(list, r), rows+len(r.list)
			continue
		default:
		}
		if len(list) >= f.last {
			return list
		}
		select {
		case r := <-f.queue:
			list, rows = append(list, r), rows+len(r.list)
		case <-timer.C:
			return list
		case <-f.quit:
			return list
		}
	}
	return list
}

// byCollection groups requests.
func byCollection(list []*request) [][]*request {
	var out [][]*request
	at := map[*collection]int{}
	for _, r := range list {
		i, ok := at[r.col]
		if !ok {
			i = len(out)
			at[r.col] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out
}

// flush answers requests of one collection: those that may report by one transaction, the others by
// their errors.
func (c *Collections) flush(list []*request) {
	c.writing.Lock()
	defer c.writing.Unlock()
	col := list[0].col
	if _, err := c.index(context.Background(), col); err != nil {
		for _, r := range list {
			r.done <- err
		}
		return
	}
	accepted, spent := c.accepted(list)
	if len(accepted) == 0 {
		return
	}
	err := c.writeHeld(context.Background(), func(tx tx) error { return tx.report(col, spent, c.day()) }, func() {
		for _, s := range spent {
			col.tokens.find(keyOf(s.hash[:])).report = keyOf(s.digest[:])
			col.received[s.place]++
		}
		col.unsorted += len(spent)
		col.spent += len(spent)
	})
	for _, r := range accepted {
		r.done <- err
	}
	if err == nil && col.unsorted >= sortAfter+(col.spent-col.unsorted)/2 {
		_ = c.sortSpent(context.Background(), col) // what is not sorted now is sorted the next time
	}
}

// accepted looks at each request once more, as others have spent tokens meanwhile. It answers those
// that are refused or were here before, and returns the others and what they bring: every token
// once.
func (c *Collections) accepted(list []*request) (accepted []*request, spent []submission) {
	pending := map[key]key{}
	for _, r := range list {
		fresh, err := r.fresh(pending)
		if err != nil {
			r.done <- err
			continue
		}
		for _, s := range fresh {
			pending[keyOf(s.hash[:])] = keyOf(s.digest[:])
		}
		accepted, spent = append(accepted, r), append(spent, fresh...)
	}
	if len(spent) == 0 { // all of them were here before
		for _, r := range accepted {
			r.done <- nil
		}
		return nil, nil
	}
	return accepted, spent
}

// fresh returns a request's submissions that nobody has brought; pending are those of the same
// flush.
func (r *request) fresh(pending map[key]key) ([]submission, error) {
	var out []submission
	own := map[key]key{}
	for _, s := range r.list {
		k, digest := keyOf(s.hash[:]), keyOf(s.digest[:])
		before, ok := pending[k]
		if !ok {
			before, ok = own[k]
		}
		if ok && before == digest {
			continue
		}
		if ok {
			return nil, spentToken()
		}
		again, _, _, err := r.col.admit(s)
		if err != nil {
			return nil, err
		}
		if !again {
			own[k] = digest
			out = append(out, s)
		}
	}
	return out, nil
}

// report writes reports in random order, and the hashes of their tokens in the order of the hashes:
// nothing but the transaction itself joins the two.
func (t tx) report(col *collection, spent []submission, day time.Time) error {
	if err := t.fill(col.ref(), reportRows(col, spent, day)); err != nil {
		return err
	}
	hashes := lists.Map(spent, func(s submission) []any { return []any{s.hash[:], s.digest[:]} })
	slices.SortFunc(hashes, func(a, b []any) int { return bytes.Compare(a[0].([]byte), b[0].([]byte)) })
	return t.fill(t.table(tableSpent, col.record), hashes)
}

// reportRows are the rows of reports, in random order.
func reportRows(col *collection, spent []submission, day time.Time) [][]any {
	strata, rows := col.strata(), make([][]any, len(spent))
	for i, s := range spent {
		rows[i] = []any{int8(s.place.round), s.place.cell, strata[s.place.stratum], day, s.report}
	}
	exact.Secure().Permute(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

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
	return store.TableRef{Schema: t.schema, Name: kind + "_" + strings.ReplaceAll(r.UUID, "-", "")}
}

// save keeps a collection's record, whose step goes on.
func (t tx) save(r record) error { return t.put(bucketCollection, r.UUID, r) }

// quoted writes a table's name in the store's SQL.
func quoted(r store.TableRef) string { return sqltext.StoreTable(r.Schema, r.Name) }
