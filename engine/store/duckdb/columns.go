package duckdb

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"time"
	"unsafe"

	duckdb "github.com/marcboeker/go-duckdb/v2"
	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// column reads the values of one column of a session's result out of DuckDB's vectors.
type column struct {
	typ     mapping.Type // of the values; of a decimal, the type of integer that it is kept as
	kind    store.ValueKind
	decimal bool
	scale   int
}

// layout tells how a kind of values lies in memory.
type layout struct {
	name string
	kind store.ValueKind
}

// layouts are the types whose values are read here. What has parts, such as a list, and what has no
// form in MySQL, goes through the driver.
var layouts = map[mapping.Type]layout{
	mapping.TypeBoolean:     {"BOOLEAN", store.KindBool},
	mapping.TypeTinyInt:     {"TINYINT", store.KindInt},
	mapping.TypeSmallInt:    {"SMALLINT", store.KindInt},
	mapping.TypeInteger:     {"INTEGER", store.KindInt},
	mapping.TypeBigInt:      {"BIGINT", store.KindInt},
	mapping.TypeUTinyInt:    {"UTINYINT", store.KindUint},
	mapping.TypeUSmallInt:   {"USMALLINT", store.KindUint},
	mapping.TypeUInteger:    {"UINTEGER", store.KindUint},
	mapping.TypeUBigInt:     {"UBIGINT", store.KindUint},
	mapping.TypeHugeInt:     {"HUGEINT", store.KindAny},
	mapping.TypeFloat:       {"FLOAT", store.KindFloat},
	mapping.TypeDouble:      {"DOUBLE", store.KindFloat},
	mapping.TypeDecimal:     {"DECIMAL", store.KindDecimal},
	mapping.TypeVarchar:     {"VARCHAR", store.KindText},
	mapping.TypeBlob:        {"BLOB", store.KindAny},
	mapping.TypeDate:        {"DATE", store.KindDate},
	mapping.TypeTime:        {"TIME", store.KindTime},
	mapping.TypeTimestamp:   {"TIMESTAMP", store.KindTimestamp},
	mapping.TypeTimestampTZ: {"TIMESTAMPTZ", store.KindTimestamp},
	mapping.TypeTimestampS:  {"TIMESTAMP_S", store.KindAny},
	mapping.TypeTimestampMS: {"TIMESTAMP_MS", store.KindAny},
	mapping.TypeTimestampNS: {"TIMESTAMP_NS", store.KindAny},
	mapping.TypeInterval:    {"INTERVAL", store.KindAny},
}

// columnOf returns the reader of a type and the name that DuckDB gives the type; ok is false where
// there is none.
func columnOf(t mapping.LogicalType) (c column, name string, ok bool) {
	id := mapping.GetTypeId(t)
	l, ok := layouts[id]
	if !ok {
		return c, "", false
	}
	c, name = column{typ: id, kind: l.kind}, l.name
	switch id {
	case mapping.TypeDecimal:
		c.typ, c.decimal, c.scale = mapping.DecimalInternalType(t), true, int(mapping.DecimalScale(t))
		if c.typ == mapping.TypeHugeInt {
			c.kind = store.KindAny
		}
		name = fmt.Sprintf("DECIMAL(%d,%d)", mapping.DecimalWidth(t), c.scale)
	case mapping.TypeVarchar:
		if mapping.LogicalTypeGetAlias(t) == "JSON" {
			name = "JSON"
		}
	}
	return c, name, true
}

// shape is how the columns of a result are read.
type shape struct {
	readers []column
	columns []store.Column
}

// shapeOf returns a result's shape; nil where a column has no reader.
func shapeOf(res *mapping.Result) *shape {
	n := mapping.ColumnCount(res)
	s := &shape{make([]column, n), make([]store.Column, n)}
	for i := range n {
		t := mapping.ColumnLogicalType(res, i)
		c, name, ok := columnOf(t)
		mapping.DestroyLogicalType(&t)
		if !ok {
			return nil
		}
		s.readers[i] = c
		s.columns[i] = store.Column{Name: mapping.ColumnName(res, i), Type: name, Nullable: true}
	}
	return s
}

// readable reports whether a statement's result has columns with readers only. Types that are not
// known before its arguments are, count as such.
func readable(stmt mapping.PreparedStatement) bool {
	for i := range mapping.PreparedStatementColumnCount(stmt) {
		t := mapping.PreparedStatementColumnType(stmt, i)
		if _, ok := layouts[t]; !ok && t != mapping.TypeInvalid {
			return false
		}
	}
	return true
}

// read copies the first n values of a vector, so that they outlive it.
func (c column) read(vec mapping.Vector, n int) store.Values {
	data := mapping.VectorGetData(vec)
	v := store.Values{Kind: c.kind, Scale: c.scale, Null: absent(nil, mapping.VectorGetValidity(vec), n)}
	switch c.kind {
	case store.KindFloat:
		v.Floats = c.floats(data, n)
	case store.KindText:
		v.Texts = copyTexts(nil, unsafe.Slice((*stringT)(data), n), v.Null)
	case store.KindAny:
		v.Any = make([]any, n)
		for i := range v.Any {
			if !v.IsNull(i) {
				v.Any[i] = c.other(data, i)
			}
		}
	default:
		v.Ints = c.ints(data, n)
	}
	return v
}

func (c column) floats(data unsafe.Pointer, n int) []float64 {
	if c.typ == mapping.TypeDouble {
		return slices.Clone(unsafe.Slice((*float64)(data), n))
	}
	return widened[float32, float64](data, n)
}

// ints reads whatever lies in memory as integers of up to 64 bits.
func (c column) ints(data unsafe.Pointer, n int) []int64 {
	switch c.typ {
	case mapping.TypeBoolean, mapping.TypeUTinyInt:
		return widened[uint8, int64](data, n)
	case mapping.TypeTinyInt:
		return widened[int8, int64](data, n)
	case mapping.TypeUSmallInt:
		return widened[uint16, int64](data, n)
	case mapping.TypeSmallInt:
		return widened[int16, int64](data, n)
	case mapping.TypeUInteger:
		return widened[uint32, int64](data, n)
	case mapping.TypeInteger, mapping.TypeDate:
		return widened[int32, int64](data, n)
	}
	return slices.Clone(unsafe.Slice((*int64)(data), n))
}

func widened[From uint8 | int8 | uint16 | int16 | uint32 | int32 | float32, To int64 | float64](data unsafe.Pointer, n int) []To {
	out := make([]To, n)
	for i, x := range unsafe.Slice((*From)(data), n) {
		out[i] = To(x)
	}
	return out
}

// hugeT is DuckDB's duckdb_hugeint.
type hugeT struct {
	lower uint64
	upper int64
}

// intervalT is DuckDB's duckdb_interval.
type intervalT struct {
	months, days int32
	micros       int64
}

// other is the value at i of a kind that is rare.
func (c column) other(data unsafe.Pointer, i int) any {
	switch c.typ {
	case mapping.TypeHugeInt:
		h := unsafe.Slice((*hugeT)(data), i+1)[i]
		x := new(big.Int).Lsh(big.NewInt(h.upper), 64)
		x.Add(x, new(big.Int).SetUint64(h.lower))
		if c.decimal {
			return decimalOf(x, c.scale)
		}
		return x
	case mapping.TypeInterval:
		v := unsafe.Slice((*intervalT)(data), i+1)[i]
		return duration(duckdb.Interval{Months: v.months, Days: v.days, Micros: v.micros})
	case mapping.TypeTimestampS:
		return time.Unix(unsafe.Slice((*int64)(data), i+1)[i], 0).UTC()
	case mapping.TypeTimestampMS:
		return time.UnixMilli(unsafe.Slice((*int64)(data), i+1)[i]).UTC()
	case mapping.TypeTimestampNS:
		return time.Unix(0, unsafe.Slice((*int64)(data), i+1)[i]).UTC()
	}
	return slices.Clone(unsafe.Slice((*stringT)(data), i+1)[i].bytes())
}

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

// validity is DuckDB's bits: one a value, in 64-bit words, set where the value is there. nil means
// that all are.
type validity []uint64

func validityOf(p unsafe.Pointer, n int) validity {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*uint64)(p), (n+63)/64)
}

// has tells whether the value at i is there.
func (v validity) has(i int) bool { return v == nil || v[i>>6]>>(i&63)&1 == 1 }

// complete tells whether all of the first n values are there.
func (v validity) complete(n int) bool {
	for i, w := range v {
		if rest := n - 64*i; rest < 64 {
			w |= ^uint64(0) << rest
		}
		if w != ^uint64(0) {
			return false
		}
	}
	return true
}

// all tells whether the values from from to to, without to, are there.
func (v validity) all(from, to int) bool {
	for from < to {
		n := min(64-from&63, to-from)
		if bits.OnesCount64(v[from>>6]>>(from&63)<<(64-n)) != n {
			return false
		}
		from += n
	}
	return true
}

// absent expands DuckDB's validity bits of n values, into mask if that is large enough; nil when
// none is NULL.
func absent(mask []bool, p unsafe.Pointer, n int) []bool {
	words := validityOf(p, n)
	if words.complete(n) {
		return nil
	}
	mask = grow(mask, n)
	for i := range mask {
		mask[i] = !words.has(i)
	}
	return mask
}

// nullMask is absent into a column's buffer.
func (r *reader) nullMask(column int, p unsafe.Pointer, n int) []bool {
	mask := absent(r.nulls[column], p, n)
	if mask != nil {
		r.nulls[column] = mask
	}
	return mask
}

// holed adds to the mask of n arrays those with a NULL among their width elements, whose validity
// bits follow each other. The elements of a NULL array are NULL or undefined.
func (r *reader) holed(column int, mask []bool, p unsafe.Pointer, n, width int) []bool {
	words := validityOf(p, n*width)
	if words.complete(n * width) {
		return mask
	}
	if mask == nil {
		mask = grow(r.nulls[column], n)
		clear(mask)
		r.nulls[column] = mask
	}
	for i := range mask {
		mask[i] = mask[i] || !words.all(i*width, (i+1)*width)
	}
	return mask
}
