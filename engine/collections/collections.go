package collections

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/store"
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
