package duckdb

import (
	"math/bits"
	"unsafe"

	"github.com/marcboeker/go-duckdb/mapping"

	"scrim/engine/store"
)

// reader turns DuckDB's data chunks into ours. Its buffers are used again for each chunk.
type reader struct {
	types   []store.ScanType
	columns []store.Vector
	nulls   [][]bool
	texts   [][]string
}

func newReader(types []store.ScanType) *reader {
	return &reader{
		types:   types,
		columns: make([]store.Vector, len(types)),
		nulls:   make([][]bool, len(types)),
		texts:   make([][]string, len(types)),
	}
}

// read views a chunk; the view lasts as long as the chunk.
func (r *reader) read(chunk mapping.DataChunk) store.Chunk {
	n := int(mapping.DataChunkGetSize(chunk))
	for i, t := range r.types {
		vec := mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
		data := mapping.VectorGetData(vec)
		v := store.Vector{Null: r.nullMask(i, mapping.VectorGetValidity(vec), n)}
		switch t {
		case store.ScanInt64:
			v.Ints = unsafe.Slice((*int64)(data), n)
		case store.ScanFloat64:
			v.Floats = unsafe.Slice((*float64)(data), n)
		case store.ScanText:
			v.Texts = r.readTexts(i, unsafe.Slice((*stringT)(data), n), v.Null)
		}
		r.columns[i] = v
	}
	return store.Chunk{Len: n, Columns: r.columns}
}

// nullMask expands DuckDB's validity bits (one a row, in 64-bit words, set where a value is there);
// nil when no value of the chunk is NULL.
func (r *reader) nullMask(column int, validity unsafe.Pointer, n int) []bool {
	if validity == nil {
		return nil
	}
	words := unsafe.Slice((*uint64)(validity), (n+63)/64)
	missing := false
	for i, w := range words {
		if rest := n - 64*i; rest < 64 {
			w |= ^uint64(0) << rest
		}
		missing = missing || bits.OnesCount64(w) != 64
	}
	if !missing {
		return nil
	}
	mask := grow(r.nulls[column], n)
	for i := range mask {
		mask[i] = words[i>>6]>>(i&63)&1 == 0
	}
	r.nulls[column] = mask
	return mask
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

// readTexts copies a vector of texts into one new string, so that the texts may be kept: DuckDB
// frees its own with the chunk.
func (r *reader) readTexts(column int, in []stringT, null []bool) []string {
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
	out := grow(r.texts[column], len(in))
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
	r.texts[column] = out
	return out
}

// grow returns a slice of length n, b itself if it is large enough.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}
