// Package backup copies a data directory as of one moment, and puts a copy back without giving
// spent budgets back.
//
// A backup is a directory with the store's file, the policies, the accounts, the ledger with its
// key, and a manifest with the digests of all of them. The manifest is written last.
package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/collections"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/version"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// Source is an open data directory that is copied, while it is used or not.
//
// Data and policies belong to one moment: an older policy could call public what is protected now,
// and a newer one what was then. So the data are what was committed at a checkpoint, and the
// policies are the same, byte for byte, before the checkpoint and after it. The ledger is copied
// last: it holds every charge for answers from these data.
type Source struct {
	Place  datadir.Place
	ID     string // of the directory
	Ledger *accounting.Ledger
	Store  *duckdb.Store
}

// policyAttempts is how often a backup begins anew because policies have changed.
const policyAttempts = 20

// CopyTo writes the backup into a new directory, which appears under its name when it is complete
// and verified.
func (b Source) CopyTo(ctx context.Context, path string, progress func(done, total int64)) (m Manifest, err error) {
	if _, err := os.Lstat(path); err == nil {
		return m, fmt.Errorf("engine: backup: %s exists; want the name of a new directory", path)
	}
	partial := path + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return m, fmt.Errorf("engine: backup: %w", err)
	}
	if err := os.MkdirAll(partial, 0o700); err != nil {
		return m, fmt.Errorf("engine: backup: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(partial)
		}
	}()
	if err := b.checkPolicies(ctx); err != nil {
		return m, err
	}
	if m, err = b.fill(ctx, partial, progress); err != nil {
		return m, err
	}
	if _, err = Verify(ctx, partial, nil); err != nil {
		return m, err
	}
	if err := durable.Rename(partial, path); err != nil {
		return m, fmt.Errorf("engine: backup: %w", err)
	}
	return m, nil
}

// checkPolicies refuses to copy a store that has lost tables. A table that is dropped meanwhile is
// gone from the store after the policies say so: they are looked at again.
func (b Source) checkPolicies(ctx context.Context) (err error) {
	for range 2 {
		var policies *catalog.Catalog
		if policies, err = catalog.Open(b.Place.Path(datadir.CatalogFile), catalog.Options{DirectoryID: b.ID}); err != nil {
			return err
		}
		if err = datadir.CheckPolicies(ctx, b.Store, policies.Snapshot()); err == nil {
			return nil
		}
	}
	return err
}

// fill writes the files and the manifest.
func (b Source) fill(ctx context.Context, dir string, progress func(done, total int64)) (Manifest, error) {
	m := Manifest{Format: format, Server: version.Number, Directory: b.ID, Made: time.Now().UTC().Truncate(time.Second)}
	t := &tally{ctx: ctx, progress: progress}
	add := func(name string, write func(io.Writer) error) error {
		f, err := t.place(dir, name, write)
		m.Files = append(m.Files, f)
		return err
	}
	if err := b.data(ctx, t, add); err != nil {
		return m, err
	}
	if err := errors.Join(b.copyFile(add, datadir.UsersFile), b.copyFile(add, datadir.LedgerFile+accounting.KeySuffix)); err != nil {
		return m, err
	}
	if err := add(datadir.LedgerFile, func(w io.Writer) error { return b.Ledger.Backup(ctx, w) }); err != nil {
		return m, err
	}
	var err error
	if m.Ledger, err = readPosition(dir, b.ID); err != nil {
		return m, err
	}
	if _, err := (&tally{ctx: ctx}).place(dir, fileManifest, func(w io.Writer) error { _, err := w.Write(m.encode()); return err }); err != nil {
		return m, err
	}
	return m, durable.SyncDir(dir)
}

// readPosition opens the ledger of a directory, which verifies all of it, and says where it ends.
func readPosition(dir, id string) (accounting.Position, error) {
	l, err := accounting.Open(filepath.Join(dir, datadir.LedgerFile), accounting.Options{DirectoryID: id, ReadOnly: true})
	if err != nil {
		return accounting.Position{}, err
	}
	defer l.Close()
	return l.Position(), nil
}

// data copies the store's file and the policies of the same moment.
func (b Source) data(ctx context.Context, t *tally, add func(string, func(io.Writer) error) error) error {
	held, policies, err := b.hold(ctx)
	if err != nil {
		return err
	}
	t.total = held.Size + int64(len(policies))
	err = errors.Join(
		add(datadir.DataFile, func(w io.Writer) error { _, err := io.Copy(w, held.Reader()); return err }),
		add(datadir.CatalogFile, func(w io.Writer) error { _, err := w.Write(policies); return err }))
	if e := held.Close(); err == nil && e != nil {
		err = fmt.Errorf("engine: backup: %w", e)
	}
	return err
}

// hold holds the store's file, and returns the policies that were in force when its state was
// committed.
func (b Source) hold(ctx context.Context) (*duckdb.Held, []byte, error) {
	for range policyAttempts {
		before, err := os.ReadFile(b.Place.Path(datadir.CatalogFile))
		if err != nil {
			return nil, nil, fmt.Errorf("engine: backup: %w", err)
		}
		held, err := b.Store.Hold(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("engine: backup: the store cannot be held: a transaction that writes may have been open all the time: %w", err)
		}
		after, err := os.ReadFile(b.Place.Path(datadir.CatalogFile))
		if err == nil && bytes.Equal(before, after) {
			return held, after, nil
		}
		_ = held.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("engine: backup: %w", err)
		}
	}
	return nil, nil, errors.New("engine: backup: policies change all the time; try again")
}

// copyFile copies a file that is only ever replaced as a whole.
func (b Source) copyFile(add func(string, func(io.Writer) error) error, name string) error {
	content, err := os.ReadFile(b.Place.Path(name))
	if err != nil {
		return fmt.Errorf("engine: backup: %w", err)
	}
	return add(name, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// Make copies a data directory that nobody serves to a new directory: data, policies, accounts and
// ledger together. A directory that is being served is refused with datadir.ErrInUse; its server
// backs it up by CALL dp_backup.
func Make(ctx context.Context, p datadir.Place, to string, progress func(done, total int64)) (m Manifest, err error) {
	if fi, err := os.Stat(p.Path(datadir.IDFile)); err != nil || !fi.Mode().IsRegular() {
		return m, fmt.Errorf("engine: %s is no data directory: it has no %s file", p.Dir, datadir.IDFile)
	}
	dir, err := datadir.Open(p.Dir)
	if err != nil {
		return m, err
	}
	defer dir.Close()
	if err := p.CheckEarlier(); err != nil {
		return m, err
	}
	if dir.Fresh {
		return m, fmt.Errorf("engine: the first start of %s was not finished: there is nothing to back up", p.Dir)
	}
	ledger, err := accounting.Open(p.Path(datadir.LedgerFile), accounting.Options{DirectoryID: dir.ID})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	places, closePlaces, err := rollback.Open(p, dir.ID)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, closePlaces()) }()
	if err := places.Check(ctx, ledger); err != nil {
		return m, err
	}
	if err := settled(ctx, places.Store); err != nil {
		return m, err
	}
	source := Source{p, dir.ID, ledger, places.Store}
	if m, err = source.CopyTo(ctx, to, progress); err != nil {
		return m, err
	}
	return m, source.note(to, m)
}

// note tells the data directory of its last backup.
func (b Source) note(path string, m Manifest) error {
	return b.Place.NoteBackup(datadir.LastBackup{Made: m.Made, Name: path, Record: m.Ledger.Record})
}

// settled sorts what a store has of collections before its file is copied, so that no order of
// arrival is copied with it.
func settled(ctx context.Context, st store.Store) error {
	c, err := collections.New(ctx, st)
	if err != nil {
		return err
	}
	return c.Shutdown()
}

// Server makes the backups that DBAs ask for of the data directory that a server has open.
type Server struct {
	Source Source
	// Into is the directory in which backups are made, "" for none.
	Into string
	// Settle sorts what the store has of collections, see settled.
	Settle func(context.Context) error
	Audit  *audit.Log
	Log    zerolog.Logger

	making sync.Mutex // one at a time
}

// namePattern is what a client may call a backup: a name in the directory of backups, nothing else.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Make makes a backup for CALL dp_backup(name) of a principal, and returns its path and its size in
// bytes.
func (s *Server) Make(ctx context.Context, principal, name string) (path string, size int64, err error) {
	if s.Into == "" {
		return "", 0, refuse.New(refuse.Unsupported, "The server has no directory for backups.").
			With("An operator sets backup-dir in its configuration, or runs scrim backup while it is stopped.")
	}
	if !namePattern.MatchString(name) {
		return "", 0, refuse.New(refuse.Policy, "A backup cannot be called %q.", name).
			With("Use letters, digits, points, hyphens and underscores.")
	}
	path = filepath.Join(s.Into, name)
	if _, err := os.Lstat(path); err == nil {
		return "", 0, refuse.New(refuse.Policy, "There is a backup called %s.", name).With("Use a name that is new.")
	}
	s.making.Lock()
	defer s.making.Unlock()
	if err := s.Source.Ledger.Note(principal, "backup", "CALL dp_backup: "+name); err != nil {
		return "", 0, err
	}
	if err := s.Settle(ctx); err != nil {
		return "", 0, err
	}
	m, err := s.Source.CopyTo(ctx, path, nil)
	if err != nil {
		return "", 0, err
	}
	if err := s.Source.note(path, m); err != nil {
		s.Log.Warn().Err(err).Msg("the dashboard will not show the last backup") // the backup itself is whole
	}
	s.Audit.Write(audit.Record{Kind: audit.Backup, Principal: principal, Note: name})
	s.Log.Info().Str("path", path).Int64("bytes", m.Bytes()).Uint64("ledger", m.Ledger.Record).Msg("backup")
	return path, m.Bytes(), nil
}
