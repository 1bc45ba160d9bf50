package duckdb

import (
	"context"
	"io"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// rows reads the result of a session's statement column by column.
type rows struct {
	s   *session
	ctx context.Context // the statement's
	res *gathered       // nil when it is closed, or cut
	*shape
	release func() // lets go of what the result rests on
	closed  bool
}

var _ store.Rows = (*rows)(nil)

// Columns implements store.Rows.
func (r *rows) Columns() []store.Column { return r.columns }

// Batch implements store.Rows.
func (r *rows) Batch() (*store.Batch, error) {
	if r.closed {
		return nil, store.ErrClosed
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.res == nil {
		return nil, errCut
	}
	chunk, err := r.res.next()
	if err != nil {
		return nil, classify(r.ctx, err)
	}
	if chunk.Ptr == nil {
		return nil, io.EOF
	}
	defer destroy(chunk)
	n := int(mapping.DataChunkGetSize(chunk))
	b := &store.Batch{Len: n, Columns: make([]store.Values, len(r.readers))}
	for i, c := range r.readers {
		b.Columns[i] = c.read(mapping.DataChunkGetVector(chunk, mapping.IdxT(i)), n)
	}
	return b, nil
}

// Close implements store.Rows.
func (r *rows) Close() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.closed = true
	r.cut()
	return nil
}

// cut gives up what was not read, and the connection.
func (r *rows) cut() {
	if r.res == nil {
		return
	}
	r.res.close()
	r.res = nil
	r.release()
	if r.s.reading == r {
		r.s.reading = nil
	}
}
