package collections

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Collections are the collections of one store. They are safe for concurrent use.
type Collections struct {
	st      store.Store
	own     store.Own
	now     func() time.Time
	pause   time.Duration // how long a flush waits for others at most
	hook    func(point string)
	flusher flusher

	writing sync.Mutex    // one transaction that changes collections at a time
	session store.Session // that it runs on

	mu    sync.RWMutex           // guards what follows; changed only while writing is held
	names map[string]*collection // by short name
}

// collection is what is known of a collection in memory. It follows from the store.
type collection struct {
	record
	design *collect.Design
	rounds map[roundKey]*round
	issued map[place]uint64
	// reports of tokens' places; of a shuffle round, reports of its batches
	received map[place]uint64
	batches  []batchRecord
	tokens   *tokens // nil until somebody needs them
	results  map[string][]byte
	spent    int // rows of spent_ID
	unsorted int // those behind the sorted ones
	sortedAt time.Time
	sortTook time.Duration

	cache estimates
}

// roundKey names a round of a stratum.
type roundKey struct {
	round   int
	stratum string
}

// round is a round whose parameters are public.
type round struct {
	params         *collect.Params
	opened, closed string
}

// New opens the collections of a store. They read everything again, so that a crash leaves nothing
// behind but what was committed. Shutdown ends them before the store is closed.
func New(ctx context.Context, st store.Store) (*Collections, error) {
	own, ok := st.(store.Own)
	if !ok {
		return nil, fmt.Errorf("collections: the store keeps no tables of the server's own")
	}
	s, err := st.Session(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := s.(store.Filler); !ok {
		s.Close()
		return nil, fmt.Errorf("collections: the store's sessions cannot fill tables")
	}
	c := &Collections{st: st, own: own, now: time.Now, pause: flushPause, hook: func(string) {}, session: s, names: map[string]*collection{}}
	if err := c.load(ctx); err != nil {
		s.Close()
		return nil, err
	}
	c.flusher.start(c)
	if err := c.Settle(ctx); err != nil {
		_ = c.Shutdown()
		return nil, err
	}
	return c, nil
}

// Shutdown stops taking reports and closes the connection to the store. What waits is refused with
// store.ErrClosed.
func (c *Collections) Shutdown() error {
	c.flusher.stop()
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.session.Close()
}

// find returns a collection by its name: short, or with its database. c.mu or c.writing is held.
func (c *Collections) find(name string) (*collection, error) {
	schema, short, qualified := strings.Cut(strings.ToLower(name), ".")
	if !qualified {
		short = schema
	}
	if col := c.names[short]; col != nil && (!qualified || col.Schema == schema) {
		return col, nil
	}
	return nil, refuse.New(refuse.CollectionState, "There is no collection %.140s.", name).
		With("SELECT * FROM dp.collections lists them.")
}

// look returns what f says of a collection.
func look[T any](c *Collections, name string, f func(*collection) (T, error)) (none T, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	col, err := c.find(name)
	if err != nil {
		return none, err
	}
	return f(col)
}

// same returns the collection of a record, and refuses another one of its name. c.mu is held.
func (c *Collections) same(r record) (*collection, error) {
	col, err := c.find(r.Name)
	if err == nil && col.UUID != r.UUID {
		return nil, col.changed()
	}
	return col, err
}

// Holds tells whether a stored table is a collection's, which nobody may write, alter, rename or
// drop by SQL. A ref without a name asks for a whole database.
func (c *Collections) Holds(ref store.TableRef) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if ref.Name != "" {
		col := c.names[ref.Name]
		return col != nil && col.Schema == ref.Schema
	}
	for _, col := range c.names {
		if col.Schema == ref.Schema {
			return true
		}
	}
	return false
}

// day is the present day in UTC: no time of a report is finer.
func (c *Collections) day() time.Time { return c.now().UTC().Truncate(24 * time.Hour) }

// moment is the time of a DBA's statement.
func (c *Collections) moment() string { return c.now().UTC().Format(time.DateTime) }

// newUUID draws a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// The kinds of the server's own tables.
const (
	tableToken = "token"
	tableSpent = "spent"
	tableBag   = "bag"
)

// definitions of a collection's own table: the store's columns, and what MySQL clients see of them.
var (
	localColumns   = "round TINYINT NOT NULL, cell UINTEGER NOT NULL, stratum VARCHAR NOT NULL, day DATE NOT NULL, report BLOB NOT NULL"
	localMySQL     = map[string]string{"round": "tinyint", "cell": "int unsigned", "stratum": "varchar(64)", "day": "date", "report": "varbinary(8192)"}
	spentColumns   = "hash BLOB, report BLOB"
	shuffleColumns = "batch_id BIGINT NOT NULL, round TINYINT NOT NULL, stratum VARCHAR NOT NULL, msg BLOB NOT NULL"
	shuffleMySQL   = map[string]string{"batch_id": "bigint", "round": "tinyint", "stratum": "varchar(64)", "msg": "binary(16)"}
)

// Create declares a collection and makes its table, in state DRAFT. The declaration is checked by
// planning it; the design tells all that follows. The database must exist, and no collection of any
// database may have the short name.
func (c *Collections) Create(ctx context.Context, ref store.TableRef, p collect.Protocol, d collect.Declaration, owner string) (*collect.Design, error) {
	ref = store.TableRef{Schema: strings.ToLower(ref.Schema), Name: strings.ToLower(ref.Name)}
	uuid := newUUID()
	design, err := collect.Plan(ref.String(), uuid, p, d)
	if err == nil {
		err = design.CheckNamed()
	}
	if err != nil {
		return nil, err
	}
	r := record{
		Schema: ref.Schema, Name: ref.Name, UUID: uuid, Protocol: p, Declaration: design.Declaration,
		Owner: owner, Created: c.moment(), State: Draft, Step: 1,
	}
	if p == collect.LDPSCM3 || p == collect.ShufSCM3 {
		r.Signs = make([]byte, 32)
		rand.Read(r.Signs) // never fails: it ends the program instead
	}
	err = c.write(ctx, func(tx tx) error {
		if err := c.free(ctx, ref); err != nil {
			return err
		}
		return tx.create(r)
	}, func() { c.names[r.Name] = newCollection(r, design) })
	if err != nil {
		return nil, err
	}
	return design, nil
}

// free refuses a name that is taken. c.writing is held.
func (c *Collections) free(ctx context.Context, ref store.TableRef) error {
	if other := c.names[ref.Name]; other != nil {
		return refuse.New(refuse.CollectionState, "There is a collection %s already.", other.ref()).
			With("Choose another name: contributors name a collection without its database.")
	}
	t, ok, err := c.st.Table(ctx, ref)
	if err != nil {
		return err
	}
	if ok {
		return refuse.New(refuse.CollectionState, "There is a table %s already.", t.Ref).With("Choose another name.")
	}
	schemas, err := c.st.Schemas(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(schemas, ref.Schema) {
		return nil
	}
	return refuse.New(refuse.CollectionState, "There is no database %.64s.", ref.Schema).With("CREATE DATABASE `%.64s` first.", ref.Schema)
}

// create makes a collection's tables and its entry.
func (t tx) create(r record) error {
	columns, types := localColumns, localMySQL
	if r.model() == collect.Shuffle {
		columns, types = shuffleColumns, shuffleMySQL
	}
	statements := []string{
		"CREATE TABLE " + quoted(t.table(tableToken, r)) + " (hash BLOB, round BIGINT, stratum BIGINT, cell BIGINT)",
		"CREATE TABLE " + quoted(t.table(tableSpent, r)) + " (" + spentColumns + ")",
	}
	if r.model() == collect.Shuffle {
		statements = []string{"CREATE TABLE " + quoted(t.table(tableBag, r)) +
			" (round BIGINT, stratum VARCHAR, cell BIGINT, batch BIGINT, reports BIGINT, part BIGINT, parts BIGINT," +
			" digest BLOB, total BLOB, sealed BIGINT, messages BLOB)"}
	}
	if err := lists.Each(statements, func(sql string) error { return t.do(sql) }); err != nil {
		return err
	}
	if err := t.do("CREATE TABLE "+quoted(r.ref())+" ("+columns+")", r.ref()); err != nil {
		return err
	}
	shown, _ := json.Marshal(types) // of texts
	if err := t.s.Meta().Put(t.ctx, store.BucketColumns, store.TableKey(r.ref()), shown); err != nil {
		return err
	}
	return t.save(r)
}

// Drop removes a collection with everything that the store has of it. One that still takes reports
// is refused.
func (c *Collections) Drop(ctx context.Context, name string) error {
	var col *collection
	return c.write(ctx, func(tx tx) (err error) {
		if col, err = c.find(name); err != nil {
			return err
		}
		if col.takes() {
			return refuse.New(refuse.CollectionState, "The collection %s is %s.", col.Name, col.where()).
				With("CALL dp_abort_collection('%s', 'reason') first.", col.Name)
		}
		return tx.drop(col)
	}, func() { delete(c.names, col.Name) })
}

// drop removes tables and entries.
func (t tx) drop(col *collection) error {
	kinds := []string{tableToken, tableSpent}
	if col.model() == collect.Shuffle {
		kinds = []string{tableBag}
	}
	if err := lists.Each(kinds, func(k string) error { return t.do("DROP TABLE " + quoted(t.table(k, col.record))) }); err != nil {
		return err
	}
	if err := t.do("DROP TABLE IF EXISTS "+quoted(col.ref()), col.ref()); err != nil {
		return err
	}
	keys := map[string][]string{
		store.BucketColumns: {store.TableKey(col.ref())}, bucketCollection: {col.UUID}, bucketIssued: {col.UUID},
	}
	for k := range maps.Keys(col.rounds) {
		keys[bucketRound] = append(keys[bucketRound], entry(col.UUID, k.round, k.stratum))
		keys[bucketKey] = append(keys[bucketKey], entry(col.UUID, k.round, k.stratum))
	}
	for _, b := range col.batches {
		keys[bucketBatch] = append(keys[bucketBatch], entry(col.UUID, b.ID))
	}
	for stratum := range col.results {
		keys[bucketResult] = append(keys[bucketResult], entry(col.UUID, stratum))
	}
	kept, err := t.simulations(col.UUID)
	if err != nil {
		return err
	}
	for _, k := range kept {
		keys[bucketSimulation] = append(keys[bucketSimulation], simulationKey(col.UUID, k.Number))
	}
	for bucket, list := range keys {
		if err := lists.Each(list, func(key string) error { return t.delete(bucket, key) }); err != nil {
			return err
		}
	}
	return nil
}
