package catalog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"scrim/internal/durable"
)

// Schema tells what the store holds, for the checks of a mutation. Names are lower case. A look-up
// that fails answers false: the mutation is then refused. Views are not tables here: a view's rows
// are protected by the tables that it reads.
type Schema interface {
	// HasTable reports whether schema.table is a base table.
	HasTable(table string) bool
	// HasColumn reports whether the table has the column.
	HasColumn(table, column string) bool
	// ColumnType returns the store's type of a column; "" where there is no such column.
	ColumnType(table, column string) string
	// Collation returns the name of the collation by which a column's texts are compared; "" where
	// they are compared by their bytes, and of other columns.
	Collation(table, column string) string
	// IsEnforcedKey reports whether the column alone is a PRIMARY KEY or UNIQUE constraint of the
	// table that the store enforces.
	IsEnforcedKey(table, column string) bool
}

// Options say how a catalogue is opened.
type Options struct {
	// Create makes an empty catalogue where there is no file. Set it for a new data directory only:
	// with data present, a missing catalogue is a loss of every policy.
	Create bool
	// DirectoryID names the data directory; a file of another one is refused. Required.
	DirectoryID string
	// Charged reports whether anything was ever charged to the account of a table, or to the
	// entity, of this name. Nil means that everything was.
	Charged func(account string) bool
}

// Catalog is an open catalogue. It is safe for concurrent use: readers never wait, changes are made
// one at a time.
type Catalog struct {
	path    string
	opts    Options
	current atomic.Pointer[Snapshot]

	mu     sync.Mutex // serialises changes
	header header     // of the file as this process last wrote or read it
	failed error      // why changes are refused
	ledger func() string
}

// Open opens the catalogue in the file, or creates it.
func Open(path string, o Options) (*Catalog, error) {
	if o.DirectoryID == "" {
		return nil, errors.New("catalog: no directory id")
	}
	c := &Catalog{path: path, opts: o}
	h, s, err := load(path, o.DirectoryID)
	if errors.Is(err, ErrMissing) && o.Create {
		s = &Snapshot{tables: map[string]Table{}}
		h, err = save(path, o.DirectoryID, "", s)
	}
	if err != nil {
		return nil, err
	}
	c.header = h
	c.current.Store(s)
	return c, nil
}

// Snapshot returns the current state. It never changes; later mutations make new ones.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// change applies one mutation: edit works on a copy, which is verified, made durable and published.
// An edit that returns false changes nothing, successfully.
func (c *Catalog) change(edit func(s *Snapshot) (bool, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, c.failed)
	}
	published := c.Snapshot()
	defer func() { c.current.Store(published) }() // an edit may have closed a table meanwhile
	next := published.clone()
	changed, err := edit(next)
	if err != nil || !changed {
		return err
	}
	next.revision++
	if err := next.verify(); err != nil {
		return err
	}
	if err := unchanged(c.path, c.header); err != nil {
		c.failed = err
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err := c.replace(next, c.following()); err != nil {
		return err
	}
	published = next
	return nil
}

// replace puts a state into the file. c.mu is held.
func (c *Catalog) replace(next *Snapshot, ledger string) error {
	h, err := save(c.path, c.opts.DirectoryID, ledger, next)
	if err != nil {
		c.failed = err
		if doubt := (*durable.InDoubt)(nil); errors.As(err, &doubt) {
			c.failed = doubt.Err // later changes are not made, without doubt
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	c.header = h
	return nil
}

func (c *Catalog) charged(account string) bool {
	return c.opts.Charged == nil || c.opts.Charged(account)
}

// The sentinels that callers tell apart with errors.Is. They are for operators: their text may name
// the file. What a client may read is always a *refuse.Error.
var (
	// ErrMissing says that the file does not exist and must not be created.
	ErrMissing = errors.New("catalog: file missing")
	// ErrForeign says that the file belongs to another data directory.
	ErrForeign = errors.New("catalog: file of another data directory")
	// ErrVersion says that the file was written in a format that this program does not know.
	ErrVersion = errors.New("catalog: unknown format")
	// ErrDamaged says that the file is not what was written.
	ErrDamaged = errors.New("catalog: file damaged")
	// ErrUnavailable says that a change could not be made durable. It lasts until the catalogue is
	// opened again.
	ErrUnavailable = errors.New("catalog: cannot be changed")
)

// Follow has every later change of the file keep what ledger says at that moment: how far the
// ledger beside it had come. The catalogue does not read it.
func (c *Catalog) Follow(ledger func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger = ledger
}

// Ledger returns what the file keeps of the ledger; "" where it keeps nothing.
func (c *Catalog) Ledger() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header.Ledger
}

// NoteLedger writes the file again with that note of the ledger, where it has another one. The
// policies stay as they are.
func (c *Catalog) NoteLedger(ledger string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, c.failed)
	case c.header.Ledger == ledger:
		return nil
	}
	if err := unchanged(c.path, c.header); err != nil {
		c.failed = err
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return c.replace(c.Snapshot(), ledger)
}

// following is what a change keeps of the ledger: what was kept before, where nothing is followed.
// c.mu is held.
func (c *Catalog) following() string {
	if c.ledger == nil {
		return c.header.Ledger
	}
	return c.ledger()
}
