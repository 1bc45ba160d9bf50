package duckdb

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// ScanBytes implements store.Own, on a connection of its own. The plan is made anew each time,
// because nothing tells when the server's own tables have changed.
func (s *Store) ScanBytes(ctx context.Context, sql string, args []any, each func(store.BytesChunk) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.gate.enter(ctx); err != nil {
		return classify(ctx, err)
	}
	defer s.gate.leave()
	r, err := s.in.connectRaw()
	if err != nil {
		return err
	}
	defer r.close()
	stmt, err := r.prepare(sql, mapping.StatementTypeSelect)
	if err != nil {
		return classify(ctx, err)
	}
	defer mapping.DestroyPrepare(&stmt)
	// The caller's own error goes back as it is.
	var own error
	b := &byteReader{}
	err = r.stream(ctx, stmt, args, nil, b.check, func(chunk mapping.DataChunk) error {
		own = each(b.read(chunk))
		return own
	})
	if own != nil {
		return own
	}
	return classify(ctx, err)
}

// byteReader views chunks of numbers and bytes. Its buffers are used again for each chunk.
type byteReader struct {
	types   []mapping.Type
	columns []store.BytesColumn
}

// check notes the columns' types.
func (b *byteReader) check(res *mapping.Result) error {
	n := int(mapping.ColumnCount(res))
	b.types, b.columns = make([]mapping.Type, n), make([]store.BytesColumn, n)
	for i := range n {
		b.types[i] = mapping.ColumnType(res, mapping.IdxT(i))
		if t := b.types[i]; t != mapping.TypeBigInt && t != mapping.TypeBlob {
			return internal(fmt.Sprintf("scan column %d: want BIGINT or BLOB, have type %d", i+1, t))
		}
	}
	return nil
}

// read views a chunk; the view lasts as long as the chunk.
func (b *byteReader) read(chunk mapping.DataChunk) store.BytesChunk {
	n := int(mapping.DataChunkGetSize(chunk))
	for i, t := range b.types {
		vec := mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
		data, there := mapping.VectorGetData(vec), validityOf(mapping.VectorGetValidity(vec), n)
		if t == mapping.TypeBigInt {
			b.columns[i].Ints = unsafe.Slice((*int64)(data), n)
			for j := range n {
				if !there.has(j) {
					b.columns[i].Ints[j] = 0
				}
			}
			continue
		}
		in, out := unsafe.Slice((*stringT)(data), n), grow(b.columns[i].Bytes, n)
		for j := range in {
			out[j] = nil
			if there.has(j) {
				out[j] = in[j].bytes()
			}
		}
		b.columns[i].Bytes = out
	}
	return store.BytesChunk{Len: n, Columns: b.columns}
}
