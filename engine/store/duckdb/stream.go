package duckdb

/*
#include <stdint.h>

// The driver's mapping wraps DuckDB's C interface but for the two functions that hand a result over
// while it is computed. They are declared here as duckdb.h of DuckDB 1.4 declares them, with plain
// pointers for its handles; the driver links the library that defines them.

typedef struct {
	uint64_t column_count, row_count, rows_changed;
	void *columns;
	char *error_message;
	void *internal_data;
} result;

extern int duckdb_pending_prepared_streaming(void *prepared_statement, void **out_result);
extern void *duckdb_fetch_chunk(result r);

static void *fetch_chunk(const result *r) { return duckdb_fetch_chunk(*r); }
*/
import "C"

import (
	"context"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"
)

// The driver's result must be laid out as ours: a difference in size does not compile.
var _ [unsafe.Sizeof(mapping.Result{})]struct{} = [C.sizeof_result]struct{}{}

// stream executes a prepared statement and hands its result over chunk by chunk while DuckDB is
// computing it, so that a result of any size takes a few chunks of memory. A cancelled context
// interrupts it. Each chunk is destroyed after each has returned. It calls started, if not nil,
// once what the statement shows is fixed, or it has failed.
func (r *raw) stream(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func(), check func(*mapping.Result) error, each func(mapping.DataChunk) error) error {
	defer r.helpers.begin()()
	g, err := r.executed(ctx, stmt, args, started)
	if err != nil {
		return err
	}
	defer g.close()
	if err := check(&g.res); err != nil {
		return err
	}
	for {
		chunk, err := g.fetch()
		if err != nil || chunk.Ptr == nil {
			return err
		}
		if err := handOver(chunk, each); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// pending makes a statement ready to be executed; streamed, its result is handed over while it is
// computed. It calls started, if not nil, once what the statement shows is fixed, or it has failed.
func pending(ctx context.Context, stmt mapping.PreparedStatement, args []any, streamed bool, started func()) (mapping.PendingResult, error) {
	err := ready(ctx, stmt, args)
	var p mapping.PendingResult
	ok := false
	switch {
	case err != nil:
	case streamed:
		ok = C.duckdb_pending_prepared_streaming(stmt.Ptr, &p.Ptr) == C.int(mapping.StateSuccess)
	default:
		ok = mapping.PendingPrepared(stmt, &p) == mapping.StateSuccess
	}
	if started != nil {
		started()
	}
	if err == nil && !ok {
		err = worded(mapping.PendingError(p))
		mapping.DestroyPending(&p)
	}
	return p, err
}

// fullChunk is how many rows DuckDB puts into a chunk if it has them.
const fullChunk = 2048

func handOver(chunk mapping.DataChunk, each func(mapping.DataChunk) error) error {
	defer destroy(chunk)
	return each(chunk)
}

// fetch returns the next chunk; nil or an empty one is the end.
func fetch(res *mapping.Result) mapping.DataChunk {
	return mapping.DataChunk{Ptr: C.fetch_chunk((*C.result)(unsafe.Pointer(res)))}
}

func destroy(chunk mapping.DataChunk) {
	if chunk.Ptr != nil {
		mapping.DestroyDataChunk(&chunk)
	}
}
