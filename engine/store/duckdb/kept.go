package duckdb

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

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
