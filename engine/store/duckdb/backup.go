package duckdb

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"scrim/engine/store"
)

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
