package duckdb

/*
#include <stdint.h>
#include <string.h>

// Of DuckDB's C interface, as duckdb.h of DuckDB 1.4 declares them, with plain pointers for its
// handles.
extern void *duckdb_vector_get_data(void *vector);
extern uint64_t duckdb_data_chunk_get_size(void *chunk);

extern void scrimDeliver(void *info, void *input);

// deliver is the function's code: it hands its arguments over and returns 0 for each row.
static void deliver(void *info, void *input, void *output) {
	scrimDeliver(info, input);
	memset(duckdb_vector_get_data(output), 0, duckdb_data_chunk_get_size(input));
}

static void *deliverPointer(void) { return (void *)deliver; }
*/
import "C"

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// A scan in any order is not streamed: while a stream's small buffer is full DuckDB blocks the work
// on it, which then goes on for one chunk at a time; of 7.9 million rows that took 1.7 times what
// DuckDB takes to add them up itself. Instead the rows are arguments of a function of ours, which
// DuckDB calls wherever it computes them, on all threads:
//
//	SELECT max(__scrim_deliver($n, c0, c1, …)) FROM (<scan>) AS s(c0, c1, …)
//
// $n names the scan under way, a number that no client learns; SQL of clients never gets here, as
// only listed functions are pushed down. Nothing is buffered, and a chunk is taken in by the thread
// that made it; each of a scan's takers takes one chunk at a time. Of a SELECT of more columns than
// types the first ones are scanned.
const deliverName = "__scrim_deliver"

// delivery takes in the rows of one scan.
type delivery struct {
	takers []*taker
	next   atomic.Uint32
	err    atomic.Pointer[error] // the first one, of a taker or of the rows' types
}

// taker takes in chunks, one at a time.
type taker struct {
	mu    sync.Mutex
	r     *reader
	each  func(store.Chunk) error
	check bool // the types were looked at
}

var (
	deliveries   sync.Map // by number
	lastDelivery atomic.Int64
)

// registerDeliver makes the function known to the database.
func registerDeliver(c mapping.Connection) error {
	f := mapping.CreateScalarFunction()
	defer mapping.DestroyScalarFunction(&f)
	mapping.ScalarFunctionSetName(f, deliverName)
	number, rest, out := mapping.CreateLogicalType(mapping.TypeBigInt), mapping.CreateLogicalType(mapping.TypeAny), mapping.CreateLogicalType(mapping.TypeTinyInt)
	defer mapping.DestroyLogicalType(&number)
	defer mapping.DestroyLogicalType(&rest)
	defer mapping.DestroyLogicalType(&out)
	mapping.ScalarFunctionAddParameter(f, number)
	mapping.ScalarFunctionSetVarargs(f, rest)
	mapping.ScalarFunctionSetReturnType(f, out)
	mapping.ScalarFunctionSetSpecialHandling(f) // NULLs are arguments like others
	mapping.ScalarFunctionSetVolatile(f)        // every row is delivered, once
	mapping.ScalarFunctionSetFunction(f, C.deliverPointer())
	if mapping.RegisterScalarFunction(c, f) == mapping.StateError {
		return internal("the function that scans deliver to cannot be made")
	}
	return nil
}

//export scrimDeliver
func scrimDeliver(info, input unsafe.Pointer) {
	chunk := mapping.DataChunk{Ptr: input}
	n := int(mapping.DataChunkGetSize(chunk))
	if n == 0 {
		return
	}
	number := *(*int64)(mapping.VectorGetData(mapping.DataChunkGetVector(chunk, 0)))
	if d, ok := deliveries.Load(number); ok {
		d.(func(mapping.DataChunk))(chunk)
	} else {
		mapping.ScalarFunctionSetError(mapping.FunctionInfo{Ptr: info}, "no scan is under way")
	}
}

// take takes in a chunk. After an error the rest is let by: a failure of the statement would end
// the snapshot's transaction.
func (d *delivery) take(ctx context.Context, chunk mapping.DataChunk) {
	l := d.free()
	defer l.mu.Unlock()
	if d.err.Load() != nil {
		return
	}
	err := ctx.Err()
	if err == nil {
		err = l.take(chunk)
	}
	if err != nil {
		d.err.CompareAndSwap(nil, &err)
	}
}

// free returns a taker of the caller's own: one that is free, or another that it has waited for.
func (d *delivery) free() *taker {
	for _, l := range d.takers {
		if l.mu.TryLock() {
			return l
		}
	}
	l := d.takers[int(d.next.Add(1))%len(d.takers)]
	l.mu.Lock()
	return l
}

func (l *taker) take(chunk mapping.DataChunk) (err error) {
	defer func() {
		if p := recover(); p != nil {
			cause, ok := p.(error)
			if !ok {
				cause = fmt.Errorf("%v", p)
			}
			err = fmt.Errorf("duckdb: panic: %w", cause) // a full disk stays one
		}
	}()
	if !l.check {
		l.check = true
		if err := l.r.checkChunk(chunk, 1); err != nil {
			return err
		}
	}
	return l.each(l.r.read(chunk, 1))
}

// delivered is stream for a scan whose statement delivers its rows.
func (r *raw) delivered(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func(), takers []*taker) error {
	d := &delivery{takers: takers}
	number := lastDelivery.Add(1)
	deliveries.Store(number, func(chunk mapping.DataChunk) { d.take(ctx, chunk) })
	defer deliveries.Delete(number)
	res, err := r.run(ctx, stmt, append(args[:len(args):len(args)], number), started)
	if err == nil {
		mapping.DestroyResult(&res)
	}
	for _, l := range takers {
		l.mu.Lock() // whoever is still in it
		defer l.mu.Unlock()
	}
	if own := d.err.Load(); own != nil {
		return *own
	}
	return err
}

// text is the statement that is executed: of a scan in any order, one that delivers its rows.
func (q query) text() string {
	if q.ordered || len(q.types) == 0 {
		return q.sql
	}
	var names strings.Builder
	for i := range q.types {
		fmt.Fprintf(&names, ", c%d", i)
	}
	return fmt.Sprintf("SELECT max(%s($%d::BIGINT%s)) FROM (%s) AS s(%s)", deliverName, len(q.args)+1, names.String(), q.sql, names.String()[2:])
}
