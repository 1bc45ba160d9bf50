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

	"github.com/marcboeker/go-duckdb/mapping"
)

// The driver's result must be laid out as ours: a difference in size does not compile.
var _ [unsafe.Sizeof(mapping.Result{})]struct{} = [C.sizeof_result]struct{}{}

// stream executes a prepared statement and hands its result over chunk by chunk while DuckDB is
// computing it, so that a result of any size takes a few chunks of memory. A cancelled context
// interrupts it. Each chunk is destroyed after each has returned. It calls started, if not nil, once what the statement
// shows is fixed, or it has failed.
func (r *raw) stream(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func(), check func(*mapping.Result) error, each func(mapping.DataChunk) error) error {
	pending, err := r.streaming(ctx, stmt, args, started)
	if err != nil {
		return err
	}
	defer mapping.DestroyPending(&pending)
	defer r.interruptWith(ctx)()
	defer r.crew.begin().end()
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.ExecutePending(pending, &res) == mapping.StateError {
		return failure(mapping.ResultErrorType(&res), mapping.ResultError(&res))
	}
	if err := check(&res); err != nil {
		return err
	}
	if err := drain(ctx, &res, each); err != nil {
		return err
	}
	// The last chunk and a failure look alike.
	if msg := mapping.ResultError(&res); msg != "" {
		return failure(mapping.ResultErrorType(&res), msg)
	}
	return nil
}

// streaming makes a statement ready whose result is handed over while it is computed.
func (r *raw) streaming(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func()) (mapping.PendingResult, error) {
	err := ready(ctx, stmt, args)
	var pending mapping.PendingResult
	ok := err == nil && C.duckdb_pending_prepared_streaming(stmt.Ptr, &pending.Ptr) == C.int(mapping.StateSuccess)
	if started != nil {
		started()
	}
	if err == nil && !ok {
		err = worded(mapping.PendingError(pending))
		mapping.DestroyPending(&pending)
	}
	return pending, err
}

// drain hands over a result's chunks. While each works on a full one, DuckDB is already computing the next: the chunks
// are copies of its own, with nothing in common. It returns when neither goes on.
func drain(ctx context.Context, res *mapping.Result, each func(mapping.DataChunk) error) error {
	ahead := prefetch(res, false)
	defer func() { destroy(<-ahead) }()
	for {
		chunk := <-ahead
		n := mapping.DataChunkGetSize(chunk)
		if n == 0 {
			destroy(chunk)
			return nil
		}
		ahead = prefetch(res, n == fullChunk)
		err := handOver(chunk, each)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// fullChunk is how many rows DuckDB puts into a chunk if it has them. After a smaller one there is most often none, which is not
// worth a thread.
const fullChunk = 2048

// prefetch fetches the next chunk, meanwhile or now. A second receive gets nothing.
func prefetch(res *mapping.Result, meanwhile bool) <-chan mapping.DataChunk {
	ahead := make(chan mapping.DataChunk, 1)
	f := func() {
		defer close(ahead)
		ahead <- fetch(res)
	}
	if meanwhile {
		go f()
	} else {
		f()
	}
	return ahead
}

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
