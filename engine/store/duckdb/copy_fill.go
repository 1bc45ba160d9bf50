package duckdb

import (
	"context"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
	"scrim/engine/store/source"
)

// appending fills a temporary table with batches of another server's rows.
type appending struct {
	a       mapping.Appender
	chunk   mapping.DataChunk
	types   []mapping.LogicalType
	columns []source.Column
	puts    []putting
}

// putting writes the values of a batch into a vector. It calls none for what the vector's type does
// not hold.
type putting func(vec mapping.Vector, v *source.Vector, n int, none func(at int))

// simple are the types of the store without parameters, and how many bytes their values have.
var simple = map[string]struct {
	typ  mapping.Type
	size int
}{
	"BOOLEAN": {mapping.TypeBoolean, 1}, "TINYINT": {mapping.TypeTinyInt, 1}, "UTINYINT": {mapping.TypeUTinyInt, 1},
	"SMALLINT": {mapping.TypeSmallInt, 2}, "USMALLINT": {mapping.TypeUSmallInt, 2}, "INTEGER": {mapping.TypeInteger, 4}, "UINTEGER": {mapping.TypeUInteger, 4},
	"BIGINT": {mapping.TypeBigInt, 8}, "UBIGINT": {mapping.TypeUBigInt, 8}, "DATE": {mapping.TypeDate, 4}, "TIME": {mapping.TypeTime, 8}, "TIMESTAMP": {mapping.TypeTimestamp, 8},
	"FLOAT": {mapping.TypeFloat, 4}, "DOUBLE": {mapping.TypeDouble, 8}, "VARCHAR": {mapping.TypeVarchar, 0}, "BLOB": {mapping.TypeBlob, 0},
}

// storable reports whether a column of another server has a type that copies can have.
func storable(typ string) bool {
	_, _, decimal := source.Decimal(typ)
	return decimal || simple[typ].typ != mapping.TypeInvalid
}

// appendTo begins to fill a temporary table of those columns.
func (c *pooledConn) appendTo(table string, columns []source.Column) (*appending, error) {
	out := &appending{columns: columns}
	if mapping.AppenderCreateExt(c.c, "temp", "main", table, &out.a) == mapping.StateError {
		defer mapping.AppenderDestroy(&out.a)
		return nil, worded(mapping.AppenderError(out.a))
	}
	for _, col := range columns {
		t, size := simple[col.Type].typ, simple[col.Type].size
		if digits, scale, ok := source.Decimal(col.Type); ok {
			out.types = append(out.types, mapping.CreateDecimalType(uint8(digits), uint8(scale)))
			switch {
			case digits <= 4:
				size = 2
			case digits <= 9:
				size = 4
			default:
				size = 8
			}
		} else if t == mapping.TypeInvalid {
			out.close()
			return nil, internal("a copied column of type " + col.Type)
		} else {
			out.types = append(out.types, mapping.CreateLogicalType(t))
		}
		out.puts = append(out.puts, putter(col.Type, size))
	}
	out.chunk = mapping.CreateDataChunk(out.types)
	return out, nil
}

// putter returns what writes values of a type. What it asks of the store costs as much as a hundred
// values, and is asked once for numbers.
func putter(typ string, size int) putting {
	switch source.ShapeOf(typ) {
	case source.Texts:
		return func(vec mapping.Vector, v *source.Vector, n int, none func(int)) {
			for at, text := range v.Texts[:n] {
				switch {
				case v.Null[at]:
				case typ == "VARCHAR" && !utf8.ValidString(text):
					none(at)
				default:
					mapping.VectorAssignStringElementLen(vec, mapping.IdxT(at), []byte(text))
				}
			}
		}
	case source.Wide:
		return wides
	case source.Floats:
		if size == 4 {
			return floats[float32]
		}
		return floats[float64]
	}
	switch unsigned := typ[0] == 'U'; {
	case size == 1 && unsigned:
		return ints[uint8]
	case size == 1:
		return ints[int8]
	case size == 2 && unsigned:
		return ints[uint16]
	case size == 2:
		return ints[int16]
	case size == 4 && unsigned:
		return ints[uint32]
	case size == 4:
		return ints[int32]
	}
	return ints[int64] // BIGINT, and UBIGINT by its bits
}

// valuesOf are the values of a vector of n numbers.
func valuesOf[T any](vec mapping.Vector, n int) []T {
	return unsafe.Slice((*T)(mapping.VectorGetData(vec)), n)
}

// halves are a value of 128 bits, the lower half first.
type halves struct {
	lo uint64
	hi int64
}

func wides(vec mapping.Vector, v *source.Vector, n int, _ func(int)) {
	to := valuesOf[halves](vec, n)
	for at := range to {
		to[at] = halves{v.Wide[at].Lo, v.Wide[at].Hi}
	}
}

func floats[T float32 | float64](vec mapping.Vector, v *source.Vector, n int, _ func(int)) {
	to := valuesOf[T](vec, n)
	for at := range to {
		to[at] = T(v.Floats[at])
	}
}

func ints[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](vec mapping.Vector, v *source.Vector, n int, none func(int)) {
	to := valuesOf[T](vec, n)
	for at := range to {
		if to[at] = T(v.Ints[at]); int64(to[at]) != v.Ints[at] {
			none(at)
		}
	}
}

// put appends a batch. A value that its column's type does not hold is NULL: a failure would tell
// that there is one.
func (a *appending) put(b *source.Batch) error {
	if b.Len > fullChunk || len(b.Columns) != len(a.columns) {
		return internal(fmt.Sprintf("a batch of %d rows and %d columns for %d", b.Len, len(b.Columns), len(a.columns)))
	}
	for i := range b.Columns {
		vec, from := mapping.DataChunkGetVector(a.chunk, mapping.IdxT(i)), &b.Columns[i]
		var there validity
		none := func(at int) {
			if there == nil {
				mapping.VectorEnsureValidityWritable(vec)
				there = validityOf(mapping.VectorGetValidity(vec), b.Len)
			}
			there[at/64] &^= 1 << (at % 64)
		}
		a.puts[i](vec, from, b.Len, none)
		for at, null := range from.Null[:b.Len] {
			if null {
				none(at)
			}
		}
	}
	mapping.DataChunkSetSize(a.chunk, mapping.IdxT(b.Len))
	err := a.append(a.chunk)
	mapping.DataChunkReset(a.chunk)
	return err
}

// append appends rows of the table's types.
func (a *appending) append(chunk mapping.DataChunk) error {
	if mapping.AppendDataChunk(a.a, chunk) == mapping.StateError {
		return worded(mapping.AppenderError(a.a))
	}
	return nil
}

// end makes all that was put a part of the table.
func (a *appending) end() error {
	if mapping.AppenderClose(a.a) == mapping.StateError {
		return worded(mapping.AppenderError(a.a))
	}
	return nil
}

// close releases what it took.
func (a *appending) close() {
	mapping.AppenderDestroy(&a.a)
	if a.chunk.Ptr != nil {
		mapping.DestroyDataChunk(&a.chunk)
	}
	for i := range a.types {
		mapping.DestroyLogicalType(&a.types[i])
	}
}

var (
	_ store.Own    = (*Store)(nil)
	_ store.Filler = (*session)(nil)
)

// OwnSchema implements store.Own: tables of the server's own lie beside the store's.
func (s *Store) OwnSchema() string { return hidden }

// Fill implements store.Filler. The appender writes into the open transaction, or into one of the
// call's own.
func (s *session) Fill(ctx context.Context, table store.TableRef, rows [][]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	named := []store.TableRef{table}
	if table.Schema == hidden {
		named = nil
	}
	return s.mutate(ctx, named, func() (bool, error) {
		err := s.send("", table.Schema, table.Name, rows, func(v any, _ int) (any, error) { return v, nil })
		if err == nil {
			err = ctx.Err()
		}
		return false, err
	})
}
