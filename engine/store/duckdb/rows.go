package duckdb

import (
	"io"

	"github.com/marcboeker/go-duckdb/mapping"

	"scrim/engine/store"
)

// rows reads a materialised result column by column.
type rows struct {
	res mapping.Result
	*shape
	closed bool
	ended  bool
	cursor
}

var _ store.Columnar = (*rows)(nil)

// Columns implements store.Rows.
func (r *rows) Columns() []store.Column { return r.columns }

// Batch implements store.Columnar.
func (r *rows) Batch() (*store.Batch, error) {
	if r.closed {
		return nil, store.ErrClosed
	}
	if r.ended {
		return nil, io.EOF
	}
	res := r.res // cgo wants no memory that holds Go pointers beside it
	chunk := fetch(&res)
	defer destroy(chunk)
	n := 0
	if chunk.Ptr != nil {
		n = int(mapping.DataChunkGetSize(chunk))
	}
	if n == 0 {
		r.ended = true
		return nil, io.EOF
	}
	b := &store.Batch{Len: n, Columns: make([]store.Values, len(r.readers))}
	for i, c := range r.readers {
		b.Columns[i] = c.read(mapping.DataChunkGetVector(chunk, mapping.IdxT(i)), n)
	}
	return b, nil
}

// Next implements store.Rows.
func (r *rows) Next() ([]any, error) {
	if r.closed {
		return nil, store.ErrClosed
	}
	return r.next(r.Batch)
}

// Close implements store.Rows.
func (r *rows) Close() error {
	if !r.closed {
		r.closed = true
		mapping.DestroyResult(&r.res)
	}
	return nil
}

// cursor hands batches over row by row.
type cursor struct {
	batch *store.Batch
	at    int
}

func (c *cursor) next(batch func() (*store.Batch, error)) ([]any, error) {
	if c.batch == nil || c.at == c.batch.Len {
		b, err := batch()
		if err != nil {
			return nil, err
		}
		c.batch, c.at = b, 0
	}
	row := make([]any, len(c.batch.Columns))
	for i := range row {
		row[i] = c.batch.Columns[i].At(c.at)
	}
	c.at++
	return row, nil
}
