package duckdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"scrim/engine/store"
	"scrim/engine/store/lake"
	"scrim/engine/store/lake/formats"
	"scrim/engine/store/source"
)

// Store is an open DuckDB file. It is safe for concurrent use.
type Store struct {
	in         *instance
	cache      catalogCache
	entries    atomic.Int64 // version log entries committed since they were last folded
	commits    commits
	references references
	holds      int // copies that are made of the file; commits.mu guards it
	halted     atomic.Pointer[store.Error]
	marks      marks
	gate       *gate
	scans      *queue // of snapshots
	work       *queue // what sessions read and write
	spill      spilled
	sources    sources

	keeping sync.Mutex // one use of keeper at a time
	keeper  *conn      // our own connection: catalogue, folding, checkpoint
	file    *os.File   // see ownFile

	mu     sync.Mutex // guards what follows
	open   map[closer]struct{}
	idle   []*pooledConn // of no snapshot at present
	closed bool
}

// closer is a session or snapshot that Close must not leave behind.
type closer interface{ Close() error }

var _ store.Store = (*Store)(nil)

// Open opens or creates the DuckDB file at path, prepares it and locks its configuration. Errors:
// store.ErrInUse, store.ErrForeign, or one that says what DuckDB or the disk said, for the
// operator.
func Open(path string, o Options) (*Store, error) {
	in, err := openInstance(path)
	if err != nil {
		return nil, err
	}
	s, err := prepare(in, o)
	if err != nil {
		in.close()
		return nil, fmt.Errorf("duckdb: open %s: %w", path, err)
	}
	return s, nil
}

func prepare(in *instance, o Options) (*Store, error) {
	ctx := context.Background()
	c, err := in.connect(ctx)
	if err != nil {
		return nil, err
	}
	ok := false
	defer func() {
		if !ok {
			c.close()
		}
	}()
	if err := c.setUp(ctx, in, o); err != nil {
		return nil, err
	}
	if err := c.configure(ctx, o.Setup); err != nil {
		return nil, err
	}
	if err := c.fold(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(registerDeliver(c.pooled.c), registerCollations(c.pooled.c)); err != nil {
		return nil, err
	}
	roots, err := lake.NewRoots(o.Lake, filepath.Dir(in.path))
	if err != nil {
		return nil, err
	}
	if err := c.configure(ctx, locking(roots)); err != nil {
		return nil, err
	}
	if err := c.verifyLock(ctx); err != nil {
		return nil, err
	}
	limit, err := c.collect(ctx, "SELECT current_setting('memory_limit')")
	if err != nil {
		return nil, err
	}
	s := &Store{
		in: in, keeper: c, open: map[closer]struct{}{}, commits: commits{showing: map[*snapshot]struct{}{}}, gate: newGate(), spill: o.spilling(in.path),
		scans: newQueue(scansAtOnce(fmt.Sprint(limit[0][0])), false), work: newQueue(statementsAtOnce(o.threads()), true),
	}
	servers, err := source.ParseServers(o.Servers.Declared, o.Servers.Kinds)
	if err != nil {
		return nil, err
	}
	s.sources.lister = formats.Lister{Roots: roots, Kinds: o.Servers.Kinds, Servers: servers, DuckDB: openForeign}
	if err := s.sources.load(ctx, c); err != nil {
		return nil, err
	}
	s.commits.now.Store(s.readState())
	ok = true
	return s, nil
}

// setUp configures the database, looks whether all is there that was acknowledged, makes what it
// keeps for itself, and claims it for its data directory.
func (c *conn) setUp(ctx context.Context, in *instance, o Options) error {
	in.helpers.size = o.threads() - 1
	if err := o.spilling(in.path).prepare(); err != nil {
		return err
	}
	settings, err := o.settings(in.path)
	if err != nil {
		return err
	}
	if err := c.configure(ctx, settings); err != nil {
		return err
	}
	if err := c.checkCount(ctx, in, o.DirectoryID); err != nil {
		return err
	}
	if err := c.initSchema(ctx); err != nil {
		return err
	}
	return c.claim(ctx, o.DirectoryID)
}

// verifyLock reads the settings back that the guarantee rests on.
func (c *conn) verifyLock(ctx context.Context) error {
	rows, err := c.collect(ctx, `SELECT current_setting('enable_external_access'), current_setting('lock_configuration'),
		current_setting('autoload_known_extensions'), current_setting('autoinstall_known_extensions')`)
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0][0] != false || rows[0][1] != true || rows[0][2] != false || rows[0][3] != false {
		return fmt.Errorf("the configuration did not lock: %v", rows)
	}
	return nil
}

// ReservedSchema implements store.Store. Besides our own schema and DuckDB's, the names of the
// attached catalogues are reserved: a schema of such a name makes references to its tables
// ambiguous.
func (s *Store) ReservedSchema(name string) bool { return s.in.reserved(name) }

func (in *instance) reserved(name string) bool {
	switch n := strings.ToLower(name); n {
	case hidden, "main", "temp", "system", "information_schema", "pg_catalog":
		return true
	default:
		return n == in.catalog
	}
}

// Session implements store.Store.
func (s *Store) Session(ctx context.Context) (store.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, store.ErrClosed
	}
	c, err := s.in.connect(ctx)
	if err != nil {
		return nil, classify(ctx, err)
	}
	out := &session{st: s, c: c}
	s.open[out] = struct{}{}
	return out, nil
}

// usable tells whether the store is open, and not halted.
func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	return s.Halted()
}

// use runs f with the keeper.
func (s *Store) use(f func(keeper *conn) error) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	return f(s.keeper)
}

func (s *Store) forget(c closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// Close implements store.Store: it closes what sessions and snapshots are left, waiting for their
// running statements, then writes everything into the file.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	left := slices.Collect(maps.Keys(s.open))
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	s.gate.close()
	for _, c := range left {
		_ = c.Close() // a rollback that fails leaves nothing behind either
	}
	for _, c := range idle {
		c.close()
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.commits.mu.Lock()
	err := s.writeLog(s.keeper)
	s.commits.mu.Unlock()
	s.keeper.close()
	s.in.close()
	if s.file != nil {
		_ = s.file.Close()
	}
	if err = classify(context.Background(), err); err != nil && store.KindOf(err) != store.DiskFull && s.Halted() == nil {
		return err
	}
	return nil // the log has what the file lacks
}

// cleanPath makes the path absolute and refuses what the driver would misread.
func cleanPath(path string) (string, error) {
	if strings.ContainsAny(path, "?\x00") {
		return "", fmt.Errorf("duckdb: path %q must not contain a question mark", path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("duckdb: directory of %s: %w", path, err)
	}
	abs = filepath.Join(dir, filepath.Base(abs))
	if fi, err := os.Stat(abs); err == nil && !fi.Mode().IsRegular() {
		return "", fmt.Errorf("duckdb: %s is not a regular file", path)
	}
	return abs, nil
}
