package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/audit"
	"scrim/engine/session"
	"scrim/engine/store/duckdb"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// backup copies an open data directory, while it is used or not.
//
// Data and policies belong to one moment: an older policy could call public what is protected now, and a newer one what was then. So the
// data are what was committed at a checkpoint, and the policies are the same, byte for byte, before the checkpoint and after it. The
// ledger is copied last: it holds every charge for answers from these data.
type backup struct {
	cfg    Config
	dir    *directory
	ledger *accounting.Ledger
	store  *duckdb.Store
}

// policyPatience is how often a backup begins anew because policies have changed.
const policyPatience = 20

// to writes the backup into a new directory, which appears under its name when it is complete and verified.
func (b backup) to(ctx context.Context, path string, progress func(done, total int64)) (m Manifest, err error) {
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
	if m, err = b.fill(ctx, partial, progress); err != nil {
		return m, err
	}
	if _, err = VerifyBackup(ctx, partial, nil); err != nil {
		return m, err
	}
	if err := durable.Rename(partial, path); err != nil {
		return m, fmt.Errorf("engine: backup: %w", err)
	}
	return m, nil
}

// fill writes the files and the manifest.
func (b backup) fill(ctx context.Context, dir string, progress func(done, total int64)) (Manifest, error) {
	m := Manifest{Format: backupFormat, Server: Version, Directory: b.dir.id, Made: time.Now().UTC().Truncate(time.Second)}
	t := &tally{ctx: ctx, progress: progress}
	add := func(name string, write func(io.Writer) error) error {
		f, err := t.place(dir, name, write)
		m.Files = append(m.Files, f)
		return err
	}
	if err := b.data(ctx, t, add); err != nil {
		return m, err
	}
	if err := errors.Join(b.copyFile(add, fileUsers), b.copyFile(add, fileLedger+accounting.KeySuffix)); err != nil {
		return m, err
	}
	if err := add(fileLedger, func(w io.Writer) error { return b.ledger.Backup(ctx, w) }); err != nil {
		return m, err
	}
	var err error
	if m.Ledger, err = readPosition(dir, b.dir.id); err != nil {
		return m, err
	}
	if _, err := (&tally{ctx: ctx}).place(dir, fileManifest, func(w io.Writer) error { _, err := w.Write(m.encode()); return err }); err != nil {
		return m, err
	}
	return m, durable.SyncDir(dir)
}

// readPosition opens the ledger of a directory, which verifies all of it, and says where it ends.
func readPosition(dir, id string) (accounting.Position, error) {
	l, err := accounting.Open(filepath.Join(dir, fileLedger), accounting.Options{DirectoryID: id, ReadOnly: true})
	if err != nil {
		return accounting.Position{}, err
	}
	defer l.Close()
	return l.Position(), nil
}

// data copies the store's file and the policies of the same moment.
func (b backup) data(ctx context.Context, t *tally, add func(string, func(io.Writer) error) error) error {
	held, policies, err := b.hold(ctx)
	if err != nil {
		return err
	}
	t.total = held.Size + int64(len(policies))
	err = errors.Join(
		add(fileData, func(w io.Writer) error { _, err := io.Copy(w, held.Reader()); return err }),
		add(fileCatalog, func(w io.Writer) error { _, err := w.Write(policies); return err }))
	if e := held.Close(); err == nil && e != nil {
		err = fmt.Errorf("engine: backup: %w", e)
	}
	return err
}

// hold holds the store's file, and returns the policies that were in force when its state was committed.
func (b backup) hold(ctx context.Context) (*duckdb.Held, []byte, error) {
	for range policyPatience {
		before, err := os.ReadFile(b.cfg.path(fileCatalog))
		if err != nil {
			return nil, nil, fmt.Errorf("engine: backup: %w", err)
		}
		held, err := b.store.Hold(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("engine: backup: the store cannot be held: a transaction that writes may have been open all the time: %w", err)
		}
		after, err := os.ReadFile(b.cfg.path(fileCatalog))
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
func (b backup) copyFile(add func(string, func(io.Writer) error) error, name string) error {
	content, err := os.ReadFile(b.cfg.path(name))
	if err != nil {
		return fmt.Errorf("engine: backup: %w", err)
	}
	return add(name, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// Backup copies a data directory that nobody serves to a new directory: data, policies, accounts and ledger together. A directory that
// is being served is refused with ErrDirectoryInUse; its server backs it up by CALL dp_backup.
func Backup(ctx context.Context, c Config, to string, progress func(done, total int64)) (m Manifest, err error) {
	if fi, err := os.Stat(c.path(fileID)); err != nil || !fi.Mode().IsRegular() {
		return m, fmt.Errorf("engine: %s is no data directory: it has no %s file", c.DataDir, fileID)
	}
	dir, err := openDirectory(c.DataDir)
	if err != nil {
		return m, err
	}
	defer dir.Close()
	if dir.fresh {
		return m, fmt.Errorf("engine: the first start of %s was not finished: there is nothing to back up", c.DataDir)
	}
	ledger, err := accounting.Open(c.path(fileLedger), accounting.Options{DirectoryID: dir.id})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	st, err := duckdb.Open(c.path(fileData), duckdb.Options{Threads: c.Threads, MemoryLimit: c.MemoryLimit, DirectoryID: dir.id})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	policies, err := catalog.Open(c.path(fileCatalog), catalog.Options{DirectoryID: dir.id})
	if err != nil {
		return m, err
	}
	if err := (traces{cfg: c, store: st, catalog: policies}).check(ctx, ledger); err != nil {
		return m, err
	}
	if err := settled(ctx, st); err != nil {
		return m, err
	}
	return backup{c, dir, ledger, st}.to(ctx, to, progress)
}

// backupName is what a client may call a backup: a name in the configured directory, nothing else.
var backupName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// backupFor makes a backup for CALL dp_backup(name), and returns where it is and how large.
func (s *Server) backupFor(ctx *sql.Context, name string) (path string, size int64, err error) {
	if s.cfg.BackupDir == "" {
		return "", 0, refuse.New(refuse.Unsupported, "The server has no directory for backups.").With("An operator sets backup-dir in its configuration, or runs scrim backup while it is stopped.")
	}
	if !backupName.MatchString(name) {
		return "", 0, refuse.New(refuse.Policy, "A backup cannot be called %q.", name).With("Use letters, digits, points, hyphens and underscores.")
	}
	path = filepath.Join(s.cfg.BackupDir, name)
	if _, err := os.Lstat(path); err == nil {
		return "", 0, refuse.New(refuse.Policy, "There is a backup called %s.", name).With("Use a name that is new.")
	}
	s.backups.Lock()
	defer s.backups.Unlock()
	if err := s.ledger.Note(session.Principal(ctx), "backup", "CALL dp_backup: "+name); err != nil {
		return "", 0, err
	}
	if err := s.collections.Settle(ctx); err != nil {
		return "", 0, err
	}
	m, err := backup{s.cfg, s.dir, s.ledger, s.store}.to(ctx, path, nil)
	if err != nil {
		return "", 0, err
	}
	s.audit.Write(audit.Record{Kind: audit.Backup, Principal: session.Principal(ctx), Note: name})
	s.log.Info().Str("path", path).Int64("bytes", m.Bytes()).Uint64("ledger", m.Ledger.Record).Msg("backup")
	return path, m.Bytes(), nil
}
