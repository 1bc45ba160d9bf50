package duckdb

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cockroachdb/apd/v3"
	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// A snapshot's own tables are temporary ones of its connection, made in its transaction, which ends
// by a rollback in any case. The transaction is a read-only one: of all databases DuckDB lets it
// change the temporary one alone.

// Materialise implements store.Snapshot.
func (s *snapshot) Materialise(ctx context.Context, sql string, args []any, columns []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayKeep(); err != nil {
		return "", err
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return "", classify(ctx, err)
	}
	defer leave()
	var table string
	err = s.reading(ctx, sql, func(sql string) (err error) {
		table, err = s.materialise(ctx, sql, args, columns)
		return err
	})
	if err != nil {
		s.broken = true
		return "", classify(ctx, err)
	}
	return table, nil
}

func (s *snapshot) materialise(ctx context.Context, sql string, args []any, columns []string) (string, error) {
	// By itself, so that it is one SELECT for certain before it becomes part of another text.
	alone, err := s.pooled.prepare(sql, mapping.StatementTypeSelect)
	if err != nil {
		return "", err
	}
	// Where the type of an argument decides about types of the result, DuckDB does not know the
	// columns before it is bound.
	n, known := int(mapping.PreparedStatementColumnCount(alone)), mapping.NParams(alone) == 0
	mapping.DestroyPrepare(&alone)
	if known && n != len(columns) {
		return "", internal(fmt.Sprintf("%d names for %d columns", len(columns), n))
	}
	table := s.newTable()
	_, err = s.pooled.exec(ctx, "CREATE TEMP TABLE "+table+" AS SELECT * FROM ("+sql+"\n) AS q("+sqltext.StoreNames(columns)+")", args...)
	return table, err
}

// keptTypes are the columns' types of tables of the server's values.
var keptTypes = map[store.ScanType]string{store.ScanInt64: "BIGINT", store.ScanFloat64: "DOUBLE", store.ScanText: "VARCHAR"}

// Keep implements store.Snapshot.
func (s *snapshot) Keep(ctx context.Context, columns []string, types []store.ScanType, rows [][]any) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayKeep(); err != nil {
		return "", err
	}
	if len(columns) != len(types) || len(columns) == 0 {
		return "", internal(fmt.Sprintf("%d names for %d types", len(columns), len(types)))
	}
	define := make([]string, len(columns))
	for i, c := range columns {
		if keptTypes[types[i]] == "" {
			return "", internal(fmt.Sprintf("column %d of type %d cannot be kept", i+1, types[i]))
		}
		define[i] = sqltext.StoreName(c) + " " + keptTypes[types[i]]
	}
	table := s.newTable()
	_, err := s.pooled.exec(ctx, "CREATE TEMP TABLE "+table+" ("+strings.Join(define, ", ")+")")
	if err == nil {
		err = s.fill(ctx, types, rows)
	}
	if err != nil {
		s.broken = true
		return "", classify(ctx, err)
	}
	return table, nil
}

// mayKeep tells whether the snapshot can have tables. s.mu is held.
func (s *snapshot) mayKeep() error {
	switch {
	case s.closed:
		return store.ErrClosed
	case s.once:
		return internal("a snapshot of one scan has no tables")
	}
	return nil
}

// keptName names the newest table, without its schema.
func (s *snapshot) keptName() string { return fmt.Sprintf("__scrim_kept_%d", s.tables) }

// newTable returns the name of a table to come, as it is written in SQL.
func (s *snapshot) newTable() string {
	s.tables++
	return "temp.main." + s.keptName()
}

// fill appends rows to the newest table.
func (s *snapshot) fill(ctx context.Context, types []store.ScanType, rows [][]any) error {
	var a mapping.Appender
	defer mapping.AppenderDestroy(&a)
	if mapping.AppenderCreateExt(s.pooled.c, "temp", "main", s.keptName(), &a) == mapping.StateError {
		return worded(mapping.AppenderError(a))
	}
	columns := make([]mapping.LogicalType, len(types))
	for i, t := range types {
		columns[i] = mapping.CreateLogicalType(scanTypes[t])
		defer mapping.DestroyLogicalType(&columns[i])
	}
	chunk := mapping.CreateDataChunk(columns)
	defer mapping.DestroyDataChunk(&chunk)
	for len(rows) > 0 {
		n := min(fullChunk, len(rows))
		if err := putRows(chunk, types, rows[:n]); err != nil {
			return err
		}
		if mapping.AppendDataChunk(a, chunk) == mapping.StateError {
			return worded(mapping.AppenderError(a))
		}
		mapping.DataChunkReset(chunk)
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = rows[n:]
	}
	if mapping.AppenderClose(a) == mapping.StateError {
		return worded(mapping.AppenderError(a))
	}
	return nil
}

// putRows writes rows into an empty chunk.
func putRows(chunk mapping.DataChunk, types []store.ScanType, rows [][]any) error {
	for i, t := range types {
		vec := mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
		for j, row := range rows {
			if len(row) != len(types) {
				return internal(fmt.Sprintf("a row has %d values for %d columns", len(row), len(types)))
			}
			if row[i] == nil {
				mapping.VectorEnsureValidityWritable(vec)
				mapping.ValiditySetRowInvalid(mapping.VectorGetValidity(vec), mapping.IdxT(j))
				continue
			}
			if !put(vec, t, j, row[i]) {
				return internal(fmt.Sprintf("a %T for a column of type %d", row[i], t))
			}
		}
	}
	mapping.DataChunkSetSize(chunk, mapping.IdxT(len(rows)))
	return nil
}

// put writes a value, which is of the Go type that belongs to the column's; otherwise ok is false.
func put(vec mapping.Vector, t store.ScanType, at int, value any) (ok bool) {
	data := mapping.VectorGetData(vec)
	switch t {
	case store.ScanInt64:
		var v int64
		if v, ok = value.(int64); ok {
			*(*int64)(unsafe.Add(data, at*8)) = v
		}
	case store.ScanFloat64:
		var v float64
		if v, ok = value.(float64); ok {
			*(*float64)(unsafe.Add(data, at*8)) = v
		}
	case store.ScanText:
		var v string
		if v, ok = value.(string); ok {
			mapping.VectorAssignStringElementLen(vec, mapping.IdxT(at), []byte(v))
		}
	}
	return ok
}

// repeats are the small results that a session has read from one state of the tables, so that a
// query asked again between two writes is not run again: dashboards and prepared statements over
// reference tables do that all the time.
//
// What is given again is what DuckDB would give: generated queries are deterministic, and every
// write makes another state. Nothing is given to another session, nor to a query that its caller
// may not run any more, because callers test that before each one. So nobody learns from a result
// here, or from the time that it takes, more than from the query; private answers never come here,
// because they are made from snapshots.
type repeats struct {
	state   *state
	results map[string]*result
	size    int
}

// result is a whole result, of values that nobody can change.
type result struct {
	columns []store.Column
	batches []*store.Batch
}

const (
	// maxResult and maxResults bound what one result and those of a session take, in bytes.
	maxResult  = 32 << 10
	maxResults = 256 << 10
	// columnBytes is about what a column of a batch takes beside its values, and textBytes what a
	// text takes beside its letters.
	columnBytes = 200
	textBytes   = 16
)

// repeatKey names a query with its arguments; ok is false for arguments that have no exact text.
func repeatKey(sql string, args []any) (key string, ok bool) {
	var b strings.Builder
	b.WriteString(sql)
	for _, a := range args {
		b.WriteByte(0) // no text of a query holds one
		switch v := a.(type) {
		case nil:
			b.WriteByte('n')
		case bool:
			b.WriteString(strconv.FormatBool(v))
		case int64:
			b.WriteString("i" + strconv.FormatInt(v, 10))
		case uint64:
			b.WriteString("u" + strconv.FormatUint(v, 10))
		case float64:
			b.WriteString("f" + strconv.FormatFloat(v, 'g', -1, 64))
		case string:
			b.WriteString("s" + strconv.Quote(v))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// find returns a result of the state.
func (r *repeats) find(key string, now *state) (*result, bool) {
	if r.state != now || now == nil {
		return nil, false
	}
	found, ok := r.results[key]
	return found, ok
}

// put keeps a result of the state. Where there is no room, all others go.
func (r *repeats) put(key string, now *state, found *result, size int) {
	if r.state != now || r.size+size > maxResults {
		*r = repeats{state: now, results: map[string]*result{}}
	}
	r.results[key] = found
	r.size += size
}

// repeated reads a kept result.
type repeated struct {
	*result
	read int // batches
}

var _ store.Rows = (*repeated)(nil)

// Columns implements store.Rows.
func (r *repeated) Columns() []store.Column { return r.columns }

// Batch implements store.Rows.
func (r *repeated) Batch() (*store.Batch, error) {
	if r.read == len(r.batches) {
		return nil, io.EOF
	}
	r.read++
	return r.batches[r.read-1], nil
}

// Close implements store.Rows.
func (r *repeated) Close() error {
	r.read = len(r.batches)
	return nil
}

// recording reads a result for the first time and keeps it if it turns out to be small.
type recording struct {
	*rows
	s    *session
	key  string
	now  *state // before the query was run
	kept *result
	size int
}

// Batch implements store.Rows.
func (r *recording) Batch() (*store.Batch, error) {
	b, err := r.rows.Batch()
	switch {
	case r.kept == nil:
	case err == nil:
		if r.size += sizeOf(b); r.size > maxResult {
			r.kept = nil
		} else {
			r.kept.batches = append(r.kept.batches, b)
		}
	case err == io.EOF:
		r.s.keep(r)
		r.kept = nil
	default:
		r.kept = nil
	}
	return b, err
}

// keep keeps a result that was read to its end, if it is of the state that it was asked in:
// whatever was committed meanwhile has made another one, or will have before its writer is told.
func (s *session) keep(r *recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.commits.now.Load() == r.now {
		s.repeats.put(r.key, r.now, r.kept, r.size)
	}
}

// sizeOf is about what a batch takes, and more than any result may where it holds what could be
// changed.
func sizeOf(b *store.Batch) int {
	size := 0
	for _, c := range b.Columns {
		size += columnBytes + 8*(len(c.Ints)+len(c.Floats)) + len(c.Null)
		for _, t := range c.Texts {
			size += textBytes + len(t)
		}
		for _, v := range c.Any {
			switch v := v.(type) {
			case nil, time.Duration, time.Time:
				size += 2 * textBytes
			case *apd.Decimal:
				size += 2*textBytes + int(v.NumDigits())
			default:
				return maxResult + 1
			}
		}
	}
	return size
}
