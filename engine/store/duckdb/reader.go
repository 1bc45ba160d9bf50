package duckdb

import (
	"fmt"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// reader turns DuckDB's data chunks into ours. Its buffers are used again for each chunk.
type reader struct {
	types   []store.ScanType
	widths  []int // numbers of a row, for arrays
	columns []store.Vector
	nulls   [][]bool
	texts   [][]string
}

func newReader(types []store.ScanType) *reader {
	return &reader{
		types:   types,
		widths:  make([]int, len(types)),
		columns: make([]store.Vector, len(types)),
		nulls:   make([][]bool, len(types)),
		texts:   make([][]string, len(types)),
	}
}

// scanTypes are the types that the columns of a scan must have.
var scanTypes = map[store.ScanType]mapping.Type{
	store.ScanInt64:   mapping.TypeBigInt,
	store.ScanFloat64: mapping.TypeDouble,
	store.ScanText:    mapping.TypeVarchar,
	store.ScanVector:  mapping.TypeArray,
}

// check compares a result's columns with the types asked for, and notes the widths of its arrays.
func (r *reader) check(res *mapping.Result) error {
	return r.checkTypes(int(mapping.ColumnCount(res)), func(i int) mapping.LogicalType { return mapping.ColumnLogicalType(res, mapping.IdxT(i)) })
}

// checkChunk is check for the columns of a chunk from the first one on.
func (r *reader) checkChunk(chunk mapping.DataChunk, first int) error {
	return r.checkTypes(int(mapping.DataChunkGetColumnCount(chunk))-first, func(i int) mapping.LogicalType {
		return mapping.VectorGetColumnType(mapping.DataChunkGetVector(chunk, mapping.IdxT(first+i)))
	})
}

// checkTypes is check for n columns, whose types it destroys.
func (r *reader) checkTypes(n int, typeOf func(column int) mapping.LogicalType) error {
	if n != len(r.types) {
		return internal(fmt.Sprintf("scan of %d columns as %d", n, len(r.types)))
	}
	for i, t := range r.types {
		typ := typeOf(i)
		want, ok := scanTypes[t]
		have := mapping.GetTypeId(typ)
		if ok && have == want && t == store.ScanVector {
			element := mapping.ArrayTypeChildType(typ)
			r.widths[i], have, want = int(mapping.ArrayTypeArraySize(typ)), mapping.GetTypeId(element), mapping.TypeDouble
			mapping.DestroyLogicalType(&element)
		}
		mapping.DestroyLogicalType(&typ)
		if !ok || have != want {
			return internal(fmt.Sprintf("scan column %d: want type %d, have %d", i+1, want, have))
		}
	}
	return nil
}

// read views the columns of a chunk from the first one on; the view lasts as long as the chunk.
func (r *reader) read(chunk mapping.DataChunk, first int) store.Chunk {
	n := int(mapping.DataChunkGetSize(chunk))
	for i, t := range r.types {
		vec := mapping.DataChunkGetVector(chunk, mapping.IdxT(first+i))
		data := mapping.VectorGetData(vec)
		v := store.Vector{Null: r.nullMask(i, mapping.VectorGetValidity(vec), n)}
		switch t {
		case store.ScanInt64:
			v.Ints = unsafe.Slice((*int64)(data), n)
		case store.ScanFloat64:
			v.Floats = unsafe.Slice((*float64)(data), n)
		case store.ScanText:
			r.texts[i] = copyTexts(r.texts[i], unsafe.Slice((*stringT)(data), n), v.Null)
			v.Texts = r.texts[i]
		case store.ScanVector:
			elements := mapping.ArrayVectorGetChild(vec)
			v.Width = r.widths[i]
			v.Floats = unsafe.Slice((*float64)(mapping.VectorGetData(elements)), n*v.Width)
			v.Null = r.holed(i, v.Null, mapping.VectorGetValidity(elements), n, v.Width)
		}
		r.columns[i] = v
	}
	return store.Chunk{Len: n, Columns: r.columns}
}

// stringT is DuckDB's duckdb_string_t: texts up to 12 bytes lie in it, longer ones behind ptr.
type stringT struct {
	length uint32
	prefix [4]byte
	ptr    *byte
}

const inlined = 12

func (s *stringT) bytes() []byte {
	if s.length <= inlined {
		return unsafe.Slice(&s.prefix[0], s.length)
	}
	return unsafe.Slice(s.ptr, s.length)
}

// copyTexts copies a vector of texts into one new string, so that the texts may be kept: DuckDB
// frees its own with the chunk. They are put into out, if it is large enough.
func copyTexts(out []string, in []stringT, null []bool) []string {
	total := 0
	for i := range in {
		if null == nil || !null[i] {
			total += int(in[i].length)
		}
	}
	buf := make([]byte, 0, total)
	for i := range in {
		if null == nil || !null[i] {
			buf = append(buf, in[i].bytes()...)
		}
	}
	all := unsafe.String(unsafe.SliceData(buf), len(buf))
	out = grow(out, len(in))
	at := 0
	for i := range in {
		if null != nil && null[i] {
			out[i] = ""
			continue
		}
		end := at + int(in[i].length)
		out[i] = all[at:end]
		at = end
	}
	return out
}

// grow returns a slice of length n, b itself if it is large enough.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}
