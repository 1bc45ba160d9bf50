package duckdb

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/spill"
)

// The log is the file beside the data file that DuckDB appends every commit to. This package alone
// decides when it is written into the data file (a checkpoint), counts outside of both how many
// changes were acknowledged, and has the store halt after a commit that the disk failed.

// logSuffix and countSuffix follow the data file's name.
const (
	logSuffix   = ".wal"
	countSuffix = ".commits"
)

// logLimit is how long the log grows before it is written into the file.
const logLimit = 16 << 20

// halt stops the store after a commit or a checkpoint that failed: the state in DuckDB's memory may
// differ from the one on its disk. It keeps the first cause, and returns err.
func (s *Store) halt(err error) error {
	s.halted.CompareAndSwap(nil, &store.Error{Kind: store.Halted, Cause: err})
	return err
}

// Halted returns nil, or an error of kind store.Halted that wraps the cause: the store then reads
// and changes nothing until it is opened anew.
func (s *Store) Halted() error {
	if e := s.halted.Load(); e != nil {
		return e
	}
	return nil
}

// noteFatal returns err. It halts the store if err says that DuckDB has given up its instance.
func (s *Store) noteFatal(err error) error {
	if store.KindOf(err) == store.Damaged {
		return s.halt(err)
	}
	return err
}

// leastRoom is the free space, in bytes, that a commit needs; on a small disk an eighth of the
// reserve does. A commit that fails by the disk halts the store, and in DuckDB 1.5 some end the
// process.
const leastRoom = 32 << 20

// roomToCommit refuses a commit while the disk is as good as full.
func (s *Store) roomToCommit() error {
	free, reserve, err := s.disk().Free()
	if least := min(leastRoom, reserve/8); err == nil && free < least {
		err = &store.Error{Kind: store.DiskFull, Detail: fmt.Sprintf("disk full: %d KiB are free beside %s, %d KiB are wanted for a commit", free>>10, s.in.path, least>>10)}
	}
	return err
}

// disk is the one that the data file is on.
func (s *Store) disk() spill.Disk { return spill.Disk{Dir: filepath.Dir(s.in.path)} }

// settled reports whether DuckDB itself refused a transaction with this error, so that the disk had
// no part in it. A COMMIT is never interrupted.
func settled(err error) bool {
	switch store.KindOf(err) {
	case store.DuplicateKey, store.NotNull, store.ForeignKey, store.Check, store.Conflict, store.Aborted, store.OutOfMemory, store.Interrupted:
		return true
	}
	return false
}

// shorten writes the log into the file where it has grown long, by a connection without a
// transaction. Nothing is committed meanwhile.
func (s *Store) shorten(c *conn) {
	if fi, err := os.Stat(s.in.path + logSuffix); err != nil || fi.Size() < logLimit {
		return
	}
	s.commits.mu.Lock()
	defer s.commits.mu.Unlock()
	if s.holds == 0 {
		_ = s.writeLog(c) // a failure that matters halts the store
	}
}

// writeLog writes the log into the file. It does nothing where the disk might not have room for
// what the log holds: a checkpoint that fails ends DuckDB's instance, and the log is as good. For
// the same reason nobody can interrupt it. commits.mu is held.
func (s *Store) writeLog(c *conn) error {
	if err := s.Halted(); err != nil {
		return err
	}
	fi, err := os.Stat(s.in.path + logSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	free, _, err := s.disk().Free()
	if err != nil {
		return err
	}
	if free < 2*fi.Size()+checkpointRoom {
		return &store.Error{Kind: store.DiskFull, Detail: fmt.Sprintf("writing the log into %s: %d KiB are free, %d KiB are wanted", s.in.path, free>>10, (2*fi.Size()+checkpointRoom)>>10)}
	}
	if _, err = c.exec(context.Background(), "CHECKPOINT"); err == nil {
		return s.in.acknowledged.sync()
	}
	if busy(err) {
		return err
	}
	return s.halt(classify(context.Background(), err))
}

// checkpointRoom is what a checkpoint writes beside the rows of the log: DuckDB's blocks have 256
// KiB, and each column of a changed table takes a part of one.
const checkpointRoom = 4 << 20

// busy reports whether a checkpoint could not begin because of a transaction.
func busy(err error) bool {
	return strings.Contains(err.Error(), "transaction") && store.KindOf(classify(context.Background(), err)) != store.Damaged
}

// checkpoint writes the log into the file and calls then, with no commit in between. It waits up to
// checkpointPatience for transactions and for copies of the file that are in its way.
func (s *Store) checkpoint(ctx context.Context, then func()) error {
	start := time.Now()
	for {
		held := false
		err := s.use(func(keeper *conn) error {
			s.commits.mu.Lock()
			defer s.commits.mu.Unlock()
			if held = s.holds > 0; held {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			err := s.writeLog(keeper)
			if err == nil {
				then()
			}
			return err
		})
		switch {
		case err == nil && !held:
			return nil
		case err != nil && (errors.Is(err, store.ErrClosed) || ctx.Err() != nil || !busy(err)):
			return classify(ctx, err)
		case time.Since(start) > checkpointPatience:
			return &store.Error{Kind: store.Conflict}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// acknowledged counts, in a file beside the data file, the changes that were committed: entries of
// the version log, whose sum the data file and its log have, too. So a log that is missing or was
// cut short is noticed at the next opening. The count is written after the commit and before it is
// acknowledged; the disk gets it when the file is opened, with each checkpoint, and else when the
// system likes, which is late enough that it is never ahead of the log.
type acknowledged struct {
	file *os.File
	n    int64
}

// ErrLost says that acknowledged changes are in neither the data file nor its log.
var ErrLost = errors.New("store: acknowledged changes are missing")

// openAcknowledged opens the count beside the data file at path. have is the number of changes that
// the data file and its log hold. It returns ErrLost if the count is higher, or damaged, or missing
// although required.
func openAcknowledged(path string, have int64, required bool) (*acknowledged, error) {
	f, err := os.OpenFile(path+countSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	a := &acknowledged{file: f, n: have}
	var want int64
	b := make([]byte, len(countLine(0)))
	switch _, err = io.ReadFull(f, b); {
	case errors.Is(err, io.EOF) && !required:
		err = nil
	case err == nil:
		if _, e := fmt.Sscanf(string(b), "%d", &want); e != nil || string(b) != countLine(want) {
			err = errors.New("it is damaged")
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w, or cannot be told: %s has to say how many there were: %w", ErrLost, path+countSuffix, err)
	case want > have:
		err = fmt.Errorf("%w: %s and %s hold %d of %d: the log was removed or cut short", ErrLost, path, path+logSuffix, have, want)
	default:
		// On disk before anything says that it has to be there.
		if err = errors.Join(a.add(0), a.sync(), syncDir(path)); err == nil {
			return a, nil
		}
	}
	f.Close()
	return nil, err
}

func countLine(n int64) string {
	text := fmt.Sprintf("%020d", n)
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// add counts changes that are committed.
func (a *acknowledged) add(changes int) error {
	a.n += int64(changes)
	_, err := a.file.WriteAt([]byte(countLine(a.n)), 0)
	return err
}

func (a *acknowledged) sync() error { return a.file.Sync() }

// Forgive sets the count beside the data file at path to 0, durably: the next opening accepts the
// file as it is.
func Forgive(path string) error {
	f, err := os.OpenFile(path+countSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	a := &acknowledged{file: f}
	return errors.Join(a.add(0), a.sync(), f.Close(), syncDir(path))
}

// syncDir has the disk know which files are beside the one at path.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkCount opens the count of acknowledged changes, and refuses a file that holds fewer (ErrLost)
// or belongs to another directory (store.ErrForeign). Nothing is written to the file before it.
func (c *conn) checkCount(ctx context.Context, in *instance, directory string) error {
	rows, err := c.collect(ctx, `SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = $1`, hidden)
	if err != nil {
		return err
	}
	ours := lists.Set(lists.Map(rows, func(r []any) any { return r[0] }))
	if ours["meta"] && directory != "" { // another directory's file holds other changes
		if _, err := c.claimed(ctx, directory); err != nil {
			return err
		}
	}
	var have int64
	if ours["version"] {
		if rows, err = c.collect(ctx, `SELECT CAST(coalesce(sum(entries), 0) AS BIGINT) FROM `+hidden+`.version`); err != nil {
			return err
		}
		have = rows[0][0].(int64)
	}
	in.acknowledged, err = openAcknowledged(in.path, have, ours["counted"])
	return err
}

// checkpointPatience bounds how long Hold waits for a moment in which the log can be written into
// the file.
const checkpointPatience = 30 * time.Second

// Hold writes everything that is committed into the file, and keeps the file as it is then until
// the copy's Close: commits go on, into the log beside the file. It fails after half a minute in
// which another copy holds the file.
//
// A checkpoint alone changes what the file's header says, and no one makes any but this package
// (log.go). Meanwhile DuckDB may put blocks of new rows into places that the header calls free, or
// behind the end: nothing that is read from the header on changes.
func (s *Store) Hold(ctx context.Context) (*Held, error) {
	h := &Held{s: s}
	if err := s.checkpoint(ctx, func() { s.holds++ }); err != nil {
		return nil, err
	}
	var err error
	if h.file, err = s.ownFile(); err == nil {
		var fi os.FileInfo
		if fi, err = h.file.Stat(); err == nil {
			h.Size = fi.Size()
			return h, s.keep(h)
		}
	}
	_ = h.Close()
	return nil, fmt.Errorf("duckdb: %w", err)
}

// keep makes the store's Close end h.
func (s *Store) keep(h *Held) error {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.open[h] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		_ = h.Close()
		return store.ErrClosed
	}
	return nil
}

// ownFile returns the database's file for reading. It is opened once and stays open for as long as
// the store: closing any descriptor of a file gives back the POSIX lock that the process has on it,
// which DuckDB keeps others away by.
func (s *Store) ownFile() (*os.File, error) {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if s.file == nil {
		f, err := os.Open(s.in.path)
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	return s.file, nil
}

// Held is the file of a store, held as it was at one moment.
type Held struct {
	Size int64
	s    *Store
	file *os.File
	once sync.Once
}

// Reader reads the file.
func (h *Held) Reader() io.Reader { return io.NewSectionReader(h.file, 0, h.Size) }

// Close lets the file change again. When it returns store.ErrClosed, the store was closed before,
// and what was read cannot be used.
func (h *Held) Close() error {
	err := store.ErrClosed
	h.once.Do(func() {
		err = nil
		h.s.commits.mu.Lock()
		h.s.holds--
		h.s.commits.mu.Unlock()
		h.s.forget(h)
	})
	return err
}
