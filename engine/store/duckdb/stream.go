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
	"io"
	"time"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// The driver's result must be laid out as ours: a difference in size does not compile.
var _ [unsafe.Sizeof(mapping.Result{})]struct{} = [C.sizeof_result]struct{}{}

// stream executes a prepared statement and hands its result over chunk by chunk while DuckDB is
// computing it, so that a result of any size takes a few chunks of memory. A cancelled context
// interrupts it. Each chunk is destroyed after each has returned. It calls started, if not nil,
// once what the statement shows is fixed, or it has failed.
func (r *raw) stream(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func(), check func(*mapping.Result) error, each func(mapping.DataChunk) error) error {
	defer r.helpers.begin(patience)()
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

// maxAhead is how much of a result, in bytes, is fetched before its reader gets any of it. Then the
// connection is free for other statements of the session. Of a larger result the rest is fetched
// while it is read: DuckDB would keep a whole result in memory that its limit does not count. A
// statement that comes in between has it fetched at once, up to maxGathered for all results of the
// session; what is more is lost.
const (
	maxAhead    = 8 << 20
	maxGathered = 64 << 20
)

// gathered is a result of which DuckDB computes as much as is fetched.
type gathered struct {
	res     mapping.Result
	pending mapping.PendingResult
	raw     *raw
	chunks  []mapping.DataChunk // fetched ahead
	sizes   []int
	held    *int // how much all results of the session have fetched ahead
	ended   bool
	stop    func() // of the interrupt
}

// gather executes a statement of a session, at first alone for so long, and fetches its result as
// far as maxAhead. It calls started once what the statement shows is fixed, or it has failed.
func (r *raw) gather(ctx context.Context, stmt mapping.PreparedStatement, args []any, alone time.Duration, held *int, started func()) (*gathered, error) {
	defer r.helpers.begin(alone)()
	g, err := r.executed(ctx, stmt, args, started)
	if err != nil {
		return nil, err
	}
	g.held = held
	if err := g.ahead(*held + maxAhead); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// executed executes a statement whose result is fetched from then on, or closed. It calls started,
// if not nil, as gather does.
func (r *raw) executed(ctx context.Context, stmt mapping.PreparedStatement, args []any, started func()) (*gathered, error) {
	g := &gathered{raw: r}
	var err error
	if g.pending, err = pending(ctx, stmt, args, true, started); err != nil {
		return nil, err
	}
	g.stop = r.interruptWith(ctx)
	if mapping.ExecutePending(g.pending, &g.res) == mapping.StateError {
		err := failure(mapping.ResultErrorType(&g.res), mapping.ResultError(&g.res))
		g.close()
		return nil, err
	}
	return g, nil
}

// ahead fetches until the results of the session hold so much.
func (g *gathered) ahead(most int) error {
	for !g.ended && *g.held < min(most, maxGathered) {
		chunk, err := g.fetch()
		if err != nil {
			return err
		}
		if chunk.Ptr != nil {
			n := chunkSize(chunk)
			g.chunks, g.sizes = append(g.chunks, chunk), append(g.sizes, n)
			*g.held += n
		}
	}
	return nil
}

// settle fetches the rest, so that the connection is free. ok is false where that is too much, or
// fails.
func (g *gathered) settle() (ok bool) {
	defer g.raw.helpers.begin(patience)()
	return g.ahead(maxGathered) == nil && g.ended
}

// fetch fetches one more chunk; one without rows is the end.
func (g *gathered) fetch() (mapping.DataChunk, error) {
	res := g.res // cgo wants no memory that holds Go pointers beside it
	chunk := fetch(&res)
	if chunk.Ptr != nil && mapping.DataChunkGetSize(chunk) > 0 {
		return chunk, nil
	}
	destroy(chunk)
	g.finish()
	// The last chunk and a failure look alike.
	if msg := mapping.ResultError(&g.res); msg != "" {
		return mapping.DataChunk{}, failure(mapping.ResultErrorType(&g.res), msg)
	}
	return mapping.DataChunk{}, nil
}

// next returns the next chunk, nil at the end.
func (g *gathered) next() (mapping.DataChunk, error) {
	if len(g.chunks) > 0 {
		chunk := g.chunks[0]
		*g.held -= g.sizes[0]
		g.chunks, g.sizes = g.chunks[1:], g.sizes[1:]
		return chunk, nil
	}
	if g.ended {
		return mapping.DataChunk{}, nil
	}
	defer g.raw.helpers.begin(patience)()
	return g.fetch()
}

// finish says that DuckDB computes nothing more.
func (g *gathered) finish() {
	if !g.ended {
		g.ended = true
		g.stop()
	}
}

// close destroys the result. DuckDB ends a query that was not read to its end, and its transaction,
// with the next one only.
func (g *gathered) close() {
	for i, c := range g.chunks {
		destroy(c)
		*g.held -= g.sizes[i]
	}
	g.chunks, g.sizes = nil, nil
	open := !g.ended
	g.finish()
	mapping.DestroyResult(&g.res)
	mapping.DestroyPending(&g.pending)
	if open {
		_, _ = g.raw.exec(context.Background(), "SELECT 1")
	}
}

// chunkSize is about what the rows of a chunk take.
func chunkSize(chunk mapping.DataChunk) int {
	n := int(mapping.DataChunkGetSize(chunk))
	size := 0
	for i := range mapping.DataChunkGetColumnCount(chunk) {
		vec := mapping.DataChunkGetVector(chunk, i)
		typ := mapping.VectorGetColumnType(vec)
		id := mapping.GetTypeId(typ)
		mapping.DestroyLogicalType(&typ)
		size += 16 * n
		if id != mapping.TypeVarchar && id != mapping.TypeBlob {
			continue
		}
		there := validityOf(mapping.VectorGetValidity(vec), n)
		for j, s := range unsafe.Slice((*stringT)(mapping.VectorGetData(vec)), n) {
			if s.length > inlined && (there == nil || there.all(j, j+1)) {
				size += int(s.length)
			}
		}
	}
	return size
}

// errCut is the end of a large result whose connection another statement of the session needed.
var errCut = &store.Error{Kind: store.OutOfMemory, Driver: "a result that was not read to its end"}

// rows reads the result of a session's statement column by column.
type rows struct {
	s   *session
	ctx context.Context // the statement's
	res *gathered       // nil when it is closed, or cut
	*shape
	release func() // lets go of what the result rests on
	closed  bool
}

var _ store.Rows = (*rows)(nil)

// Columns implements store.Rows.
func (r *rows) Columns() []store.Column { return r.columns }

// Batch implements store.Rows.
func (r *rows) Batch() (*store.Batch, error) {
	if r.closed {
		return nil, store.ErrClosed
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.res == nil {
		return nil, errCut
	}
	chunk, err := r.res.next()
	if err != nil {
		return nil, classify(r.ctx, err)
	}
	if chunk.Ptr == nil {
		return nil, io.EOF
	}
	defer destroy(chunk)
	n := int(mapping.DataChunkGetSize(chunk))
	b := &store.Batch{Len: n, Columns: make([]store.Values, len(r.readers))}
	for i, c := range r.readers {
		b.Columns[i] = c.read(mapping.DataChunkGetVector(chunk, mapping.IdxT(i)), n)
	}
	return b, nil
}

// Close implements store.Rows.
func (r *rows) Close() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.closed = true
	r.cut()
	return nil
}

// cut gives up what was not read, and the connection.
func (r *rows) cut() {
	if r.res == nil {
		return
	}
	r.res.close()
	r.res = nil
	r.release()
	if r.s.reading == r {
		r.s.reading = nil
	}
}
