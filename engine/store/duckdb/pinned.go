package duckdb

import (
	"context"
	"io"

	"scrim/engine/lake"
	"scrim/engine/store"
)

// Pin implements store.Pinner.
func (s *snapshot) Pin(ctx context.Context, refs []store.TableRef, statements []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	var tables []*attached
	for _, r := range refs {
		if a := s.st.sources.live(r); a != nil {
			tables = append(tables, a)
		}
	}
	files, remote := split(tables)
	for _, a := range files {
		if _, err := s.pinned(ctx, a); err != nil {
			return err
		}
	}
	return s.copy(ctx, remote, statements)
}

// pinned returns the snapshot's list of an attached table's files, which its connection has from
// then on. s.mu is held.
func (s *snapshot) pinned(ctx context.Context, a *attached) (*lake.Pin, error) {
	if pin := s.pins[a]; pin != nil {
		return pin, nil
	}
	pin, err := s.st.pin(ctx, a)
	if err != nil {
		return nil, err
	}
	if _, err := s.pooled.exec(ctx, a.assign(pin)); err != nil {
		s.broken = true
		return nil, classify(ctx, err)
	}
	if s.pins == nil {
		s.pins = pins{}
	}
	s.pins[a] = pin
	return pin, nil
}

// reading runs f, which executes a statement, on the pinned files and the copies of the tables that
// the statement names, and fails if the files are others afterwards. f gets the statement as it is
// to be run. s.mu is held.
func (s *snapshot) reading(ctx context.Context, sql string, f func(sql string) error) error {
	files, remote := split(s.st.sources.mentioned(sql))
	named := pins{}
	for _, a := range files {
		pin, err := s.pinned(ctx, a)
		if err != nil {
			return err
		}
		named[a] = pin
	}
	if err := s.copy(ctx, remote, []string{sql}); err != nil {
		return err
	}
	err := f(s.copies.in(sql))
	if changed := named.unchanged(); changed != nil && ctx.Err() == nil {
		return changed
	}
	return err
}

// pinFor lists the files of attached tables that a session's statement names, and hands them to its
// connection. Plans that were made of other lists are forgotten.
func (s *session) pinFor(ctx context.Context, tables []*attached) (pins, error) {
	var named pins
	for _, a := range tables {
		pin, err := s.st.pin(ctx, a)
		if err != nil {
			return nil, err
		}
		if _, err := s.c.exec(ctx, a.assign(pin)); err != nil {
			return nil, err
		}
		if named == nil {
			named = pins{}
			s.c.pooled.forget()
		}
		named[a] = pin
	}
	return named, nil
}

// attachedIn pins and copies what a statement names of attached tables, and returns the statement
// as it is to be run.
func (s *session) attachedIn(ctx context.Context, sql string) (string, pins, copies, error) {
	if s.files { // what attaches or detaches a table reads none
		return sql, nil, nil, nil
	}
	files, remote := split(s.st.sources.mentioned(sql))
	named, err := s.pinFor(ctx, files)
	if err != nil {
		return "", nil, nil, err
	}
	copied, err := s.copyFor(ctx, remote, sql)
	if err != nil {
		return "", nil, nil, err
	}
	return copied.in(sql), named, copied, nil
}

// queryAttached is Query where attached tables are named: nothing of it is kept between statements.
func (s *session) queryAttached(ctx context.Context, sql string, args []any) (store.Rows, error) {
	leave, err := s.st.admit(ctx, s.st.work)
	if err != nil {
		return nil, classify(ctx, err)
	}
	defer leave()
	sql, named, copied, err := s.attachedIn(ctx, sql)
	if err != nil {
		return nil, classify(ctx, err)
	}
	r, err := s.query(ctx, sql, args)
	if changed := named.unchanged(); changed != nil && err != nil {
		err = changed
	}
	if err != nil {
		s.drop(copied)
		return nil, classify(ctx, err)
	}
	return &attachedRows{r, s, named, copied}, nil
}

// attachedRows fail at their end where the files that they are of have changed.
type attachedRows struct {
	store.Rows
	s      *session
	pins   pins
	copies copies
}

// Close implements store.Rows.
func (r *attachedRows) Close() error {
	err := r.Rows.Close()
	if len(r.copies) > 0 {
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		if !r.s.closed {
			r.s.drop(r.copies)
		}
		r.copies = nil
	}
	return err
}

// Batch implements store.Rows.
func (r *attachedRows) Batch() (*store.Batch, error) {
	b, err := r.Rows.Batch()
	if err == nil {
		return b, nil
	}
	if changed := r.pins.unchanged(); changed != nil {
		return nil, changed
	}
	if err == io.EOF {
		return nil, io.EOF
	}
	return nil, err
}
