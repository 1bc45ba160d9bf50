package collections

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// load reads everything from the store.
func (c *Collections) load(ctx context.Context) error {
	if err := c.session.Begin(ctx); err != nil {
		return err
	}
	defer c.session.Rollback(context.WithoutCancel(ctx))
	byUUID, err := c.loadRecords(ctx)
	if err != nil {
		return err
	}
	for _, load := range []func(context.Context, map[string]*collection) error{
		c.loadRounds, c.loadIssued, c.loadBatches, c.loadResults,
	} {
		if err := load(ctx, byUUID); err != nil {
			return err
		}
	}
	for _, col := range byUUID {
		if err := c.count(ctx, col); err != nil {
			return err
		}
	}
	return nil
}

func (c *Collections) loadRecords(ctx context.Context) (map[string]*collection, error) {
	byUUID := map[string]*collection{}
	err := each(ctx, c, bucketCollection, func(_ []string, r record) error {
		design, err := collect.Plan(r.Schema+"."+r.Name, r.UUID, r.Protocol, r.Declaration)
		if err != nil {
			return err
		}
		col := newCollection(r, design)
		byUUID[r.UUID], c.names[r.Name] = col, col
		return nil
	})
	return byUUID, err
}

func newCollection(r record, design *collect.Design) *collection {
	return &collection{
		record: r, design: design, rounds: map[roundKey]*round{}, issued: map[place]uint64{}, received: map[place]uint64{}, results: map[string][]byte{},
	}
}

// each reads a bucket's entries, which are JSON.
func each[T any](ctx context.Context, c *Collections, bucket string, f func(key []string, value T) error) error {
	return c.each(ctx, bucket, func(key []string, text []byte) error {
		var value T
		if err := json.Unmarshal(text, &value); err != nil {
			return err
		}
		return f(key, value)
	})
}

// each reads a bucket's entries.
func (c *Collections) each(ctx context.Context, bucket string, f func(key []string, value []byte) error) error {
	entries, err := c.session.Meta().List(ctx, bucket)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := f(strings.Split(e.Key, "\x1f"), e.Value); err != nil {
			return fmt.Errorf("collections: %s %q: %w", bucket, e.Key, err)
		}
	}
	return nil
}

func (c *Collections) loadRounds(ctx context.Context, all map[string]*collection) error {
	return each(ctx, c, bucketRound, func(key []string, r roundRecord) error {
		col, ok := all[key[0]]
		if !ok {
			return fmt.Errorf("belongs to no collection")
		}
		p, err := collect.Parse(r.Params)
		if err != nil {
			return err
		}
		col.rounds[roundKey{p.Round, p.Stratum}] = &round{params: p, opened: r.Opened, closed: r.Closed}
		return nil
	})
}

func (c *Collections) loadIssued(ctx context.Context, all map[string]*collection) error {
	return each(ctx, c, bucketIssued, func(key []string, counts []issued) error {
		for _, n := range counts {
			all[key[0]].issued[place{uint8(n.Round), uint16(n.Stratum), n.Cell}] = n.Tokens
		}
		return nil
	})
}

func (c *Collections) loadBatches(ctx context.Context, all map[string]*collection) error {
	err := each(ctx, c, bucketBatch, func(key []string, b batchRecord) error {
		col := all[key[0]]
		col.batches = append(col.batches, b)
		return nil
	})
	for _, col := range all {
		slices.SortFunc(col.batches, func(a, b batchRecord) int { return cmp.Compare(a.ID, b.ID) })
	}
	return err
}

func (c *Collections) loadResults(ctx context.Context, all map[string]*collection) error {
	return c.each(ctx, bucketResult, func(key []string, value []byte) error {
		all[key[0]].results[key[1]] = value
		return nil
	})
}

// count counts the reports that are there. A collection without its table can only be dropped;
// nothing else that it knows is lost by that, and the server starts.
func (c *Collections) count(ctx context.Context, col *collection) error {
	if _, ok, err := c.st.Table(ctx, col.ref()); err != nil || !ok {
		col.State, col.Reason = Aborted, "its table is gone"
		return err
	}
	if col.model() == collect.Shuffle {
		for _, b := range col.batches {
			col.countBatch(b)
		}
		return nil
	}
	rows, err := c.session.Query(ctx, "SELECT CAST(round AS BIGINT), stratum, CAST(cell AS BIGINT), count(*) FROM "+quoted(col.ref())+" GROUP BY ALL")
	if err != nil {
		return err
	}
	if err := store.Each(rows, func(r []any) error {
		s, ok := col.stratum(r[1].(string))
		if !ok {
			return fmt.Errorf("collections: %s has reports of a stratum that it has not", col.Name)
		}
		col.received[place{uint8(r[0].(int64)), uint16(s), uint32(r[2].(int64))}] = uint64(r[3].(int64))
		return nil
	}); err != nil {
		return err
	}
	if rows, err = c.session.Query(ctx, "SELECT count(*) FROM "+quoted(tx{schema: c.own.OwnSchema()}.table(tableSpent, col.record))); err != nil {
		return err
	}
	return store.Each(rows, func(r []any) error {
		col.spent = int(r[0].(int64))
		if col.takes() {
			col.unsorted = col.spent
		}
		return nil
	})
}

func (c *collection) countBatch(b batchRecord) {
	s, _ := c.stratum(b.Stratum)
	if b.Bad == "" {
		c.received[place{uint8(b.Round), uint16(s), b.Cell}] += b.Reports
	}
}

// model is who has to be trusted.
func (r record) model() collect.Model {
	info, _ := r.Protocol.Info()
	return info.Model
}

// takes tells whether reports may still come.
func (r record) takes() bool { return r.State == Open || r.State == Between || r.State == Failed }

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

// State is where a collection is in its life.
type State string

// The states.
const (
	Draft   State = "DRAFT"   // declared; parameters are not public yet
	Open    State = "OPEN"    // a round takes reports
	Between State = "BETWEEN" // a round is closed, and what follows from it not published
	Final   State = "FINAL"   // all rounds are over
	Failed  State = "FAILED"  // a round was inconclusive
	Aborted State = "ABORTED"
)

// record is what the store keeps of a collection as a whole. Step counts its changes: a transition
// that computes outside of the transaction sees by it whether somebody else was faster.
type record struct {
	Schema      string              `json:"schema"`
	Name        string              `json:"name"` // unique in the server
	UUID        string              `json:"uuid"`
	Protocol    collect.Protocol    `json:"protocol"`
	Declaration collect.Declaration `json:"declared"`
	Signs       []byte              `json:"sign_seed,omitempty"`
	Owner       string              `json:"owner"`
	Created     string              `json:"created"` // UTC, in seconds
	State       State               `json:"state"`
	Round       int                 `json:"round"` // 0 in DRAFT
	Reason      string              `json:"reason,omitempty"`
	Step        uint64              `json:"step"`
	LastBatch   int64               `json:"last_batch,omitempty"`
}

func (r record) ref() store.TableRef { return store.TableRef{Schema: r.Schema, Name: r.Name} }

// strata returns the collection's strata: one without a name where none are declared.
func (r record) strata() []string {
	if len(r.Declaration.Strata) == 0 {
		return []string{""}
	}
	return r.Declaration.Strata
}

// stratum returns a stratum's place among strata.
func (r record) stratum(name string) (place int, ok bool) {
	place = slices.IndexFunc(r.strata(), func(s string) bool { return strings.EqualFold(s, name) })
	return max(0, place), place >= 0
}

// where names state and round for a person.
func (r record) where() string {
	if r.State == Open || r.State == Between || r.State == Failed {
		return fmt.Sprintf("%s in round %d", r.State, r.Round)
	}
	return string(r.State)
}

// roundRecord is what the store keeps of a round of a stratum. Times are of the DBA's statements,
// in seconds.
type roundRecord struct {
	Params []byte `json:"params"` // canonical
	Opened string `json:"opened"`
	Closed string `json:"closed,omitempty"`
}

// place is where a token reports.
type place struct {
	round   uint8
	stratum uint16 // its place among the collection's strata
	cell    uint32
}

// issued counts tokens of one place.
type issued struct {
	Round   int    `json:"round"`
	Stratum int    `json:"stratum"`
	Cell    uint32 `json:"cell"`
	Tokens  uint64 `json:"tokens"`
}

// batchRecord is what the store keeps of a batch. Bad says that it was refused for good: its
// messages are not kept, and it can be loaded no more.
type batchRecord struct {
	ID       int64    `json:"id"`
	Round    int      `json:"round"`
	Stratum  string   `json:"stratum,omitempty"`
	Cell     uint32   `json:"cell"`
	Batch    int      `json:"batch"`
	Reports  uint64   `json:"reports"`
	Messages uint64   `json:"messages"` // that were kept
	Broken   uint64   `json:"broken"`   // that did not open, or were not of the round
	Bag      string   `json:"bag"`      // bagSum.hash, in hexadecimal
	Parts    []string `json:"parts"`    // SHA-256 of each part, in hexadecimal
	Day      string   `json:"day"`
	Bad      string   `json:"bad,omitempty"`
}

// batchKey names a batch as the shuffler does.
type batchKey struct {
	round   int
	stratum string
	cell    uint32
	batch   int
}

func (b batchRecord) key() batchKey { return batchKey{b.Round, b.Stratum, b.Cell, b.Batch} }

// The store's buckets.
const (
	bucketCollection = "collection"
	bucketRound      = "collection_round"
	bucketKey        = "collection_key"
	bucketIssued     = "collection_issued"
	bucketBatch      = "collection_batch"
	bucketResult     = "collection_result"
)

// entry joins the parts of an entry's key. No part holds the separator: uuids, numbers and strata
// do not.
func entry(uuid string, parts ...any) string {
	key := uuid
	for _, p := range parts {
		key += "\x1f" + fmt.Sprint(p)
	}
	return key
}
