package duckdb

/*
#include <stdint.h>

// Of DuckDB's C interface, as in deliver.go.
extern void duckdb_scalar_function_set_extra_info(void *function, void *extra, void (*destroy)(void *));
extern void *duckdb_scalar_function_get_extra_info(void *info);

extern void scrimCollate(uint64_t which, void *input, void *output);

static void collate(void *info, void *input, void *output) {
	scrimCollate((uint64_t)(uintptr_t)duckdb_scalar_function_get_extra_info(info), input, output);
}

static void *collatePointer(void) { return (void *)collate; }

static void collateAs(void *function, uint64_t which) {
	duckdb_scalar_function_set_extra_info(function, (void *)(uintptr_t)which, 0);
}
*/
import "C"

import (
	"unsafe"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/internal/collation"
)

// registerCollations makes the functions of the collations' keys known to the database, of a name
// for each use of each collation. They cannot fail.
func registerCollations(c mapping.Connection) error {
	for _, id := range collation.All() {
		for use := range collation.Uses {
			if collation.Function(id, use) == "" {
				continue
			}
			if err := registerCollation(c, id, use); err != nil {
				return err
			}
		}
	}
	return nil
}

func registerCollation(c mapping.Connection, id sql.CollationID, use collation.Use) error {
	f := mapping.CreateScalarFunction()
	defer mapping.DestroyScalarFunction(&f)
	mapping.ScalarFunctionSetName(f, collation.Function(id, use))
	text := mapping.CreateLogicalType(mapping.TypeVarchar)
	defer mapping.DestroyLogicalType(&text)
	mapping.ScalarFunctionAddParameter(f, text)
	mapping.ScalarFunctionSetReturnType(f, text)
	mapping.ScalarFunctionSetSpecialHandling(f) // scrimCollate hands NULL on
	C.collateAs(f.Ptr, C.uint64_t(id)<<8|C.uint64_t(use))
	mapping.ScalarFunctionSetFunction(f, C.collatePointer())
	if mapping.RegisterScalarFunction(c, f) == mapping.StateError {
		return internal("the functions of the collations cannot be made")
	}
	return nil
}

//export scrimCollate
func scrimCollate(which C.uint64_t, input, output unsafe.Pointer) {
	chunk, to := mapping.DataChunk{Ptr: input}, mapping.Vector{Ptr: output}
	n := int(mapping.DataChunkGetSize(chunk))
	from := mapping.DataChunkGetVector(chunk, 0)
	null := absent(nil, mapping.VectorGetValidity(from), n)
	if null != nil {
		mapping.VectorEnsureValidityWritable(to)
	}
	in, out := unsafe.Slice((*stringT)(mapping.VectorGetData(from)), n), unsafe.Slice((*stringT)(mapping.VectorGetData(to)), n)
	table, use := collation.TableOf(sql.CollationID(which>>8)), collation.Use(which&0xff)
	var buf []byte
	for i := range in {
		if null != nil && null[i] {
			mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(to), mapping.IdxT(i))
			continue
		}
		b := in[i].bytes()
		buf = table.Append(use, buf[:0], unsafe.String(unsafe.SliceData(b), len(b)))
		if len(buf) > inlined {
			mapping.VectorAssignStringElementLen(to, mapping.IdxT(i), buf)
			continue
		}
		out[i] = stringT{length: uint32(len(buf))}
		copy(unsafe.Slice(&out[i].prefix[0], inlined), buf)
	}
}
