package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"scrim/engine/store"
)

// checkpointPatience bounds how long Backup waits for a moment without a transaction that writes.
const checkpointPatience = 30 * time.Second

// Hold makes DuckDB write everything that is committed into the file, and keeps the file as it is
// then until the copy's Close: commits go on, into the log beside the file. It fails after half a
// minute in which there is always a transaction that writes.
//
// A checkpoint alone changes what the file's header says, and it needs a lock that every
// transaction holds that writes. Hold has such a transaction, which writes nothing, open. Meanwhile
// DuckDB may put blocks of new rows into places that the header calls free, or behind the end:
// nothing that is read from the header on changes.
func (s *Store) Hold(ctx context.Context) (*Held, error) {
	if err := s.checkpoint(ctx); err != nil {
		return nil, err
	}
	c, err := s.in.connect(ctx)
	if err != nil {
		return nil, classify(ctx, err)
	}
	for _, q := range []string{"BEGIN", "DELETE FROM " + hidden + ".meta WHERE false"} {
		if _, err := c.exec(ctx, q); err != nil {
			c.close()
			return nil, classify(ctx, err)
		}
	}
	h := &Held{s: s, c: c}
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

// checkpoint writes the log into the file.
func (s *Store) checkpoint(ctx context.Context) error {
	start := time.Now()
	for {
		err := s.use(func(keeper *conn) error {
			_, err := keeper.exec(ctx, "CHECKPOINT")
			return err
		})
		switch {
		case err == nil:
			return nil
		case errors.Is(err, store.ErrClosed), ctx.Err() != nil, !strings.Contains(err.Error(), "transaction"):
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
	c    *conn
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
		_, err = h.c.exec(context.Background(), "ROLLBACK")
		h.c.close()
		h.s.forget(h)
	})
	return err
}
