package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// appendRows is how many rows travel at a time.
const appendRows = 64 * 1024

// fewValues is up to how many values are bound to one INSERT: for a row or two that takes a third
// of the statements.
const fewValues = 64

// Append implements store.Session. Many rows travel as columns of a few wide types (BIGINT, DOUBLE,
// VARCHAR, …) through the driver's appender into a temporary table, and from there by one INSERT,
// which casts them to the table's own types and refuses what does not fit. The appender alone would
// neither tell the kind of a failure nor stop when it is cancelled.
func (s *session) Append(ctx context.Context, table store.TableRef, columns []string, rows [][]any) error {
	return s.append(ctx, table, columns, rows, func(batch string) []string {
		return []string{"INSERT INTO " + quoteRef(table) + " (" + sqltext.StoreNames(columns) + ") SELECT * FROM " + batch}
	})
}

// Change implements store.Session, in the same way. DuckDB compares the keys of a row that it
// updates with those of rows that the same statement has yet to update: where a key changes, all
// rows are removed before they are written.
func (s *session) Change(ctx context.Context, table store.TableRef, columns []string, rows [][]any) error {
	keyed, err := s.keyed(ctx, table, columns[1:])
	if err != nil {
		return err
	}
	t := quoteRef(table)
	set, replace := make([]string, len(columns)-1), make([]string, len(columns)-1)
	for i, c := range columns[1:] {
		set[i] = fmt.Sprintf("%s = b.c%d", sqltext.StoreName(c), i+1)
		replace[i] = fmt.Sprintf("b.c%d AS %s", i+1, sqltext.StoreName(c))
	}
	return s.append(ctx, table, columns, rows, func(batch string) []string {
		if !keyed || len(rows) == 1 {
			return []string{"UPDATE " + t + " AS t SET " + sqltext.List(set) + " FROM " + batch + " AS b WHERE t.rowid = b.c0"}
		}
		return []string{"CREATE TEMP TABLE " + batch + "_full AS SELECT t.* REPLACE (" + sqltext.List(replace) + ") FROM " + t + " AS t, " + batch + " AS b WHERE t.rowid = b.c0",
			"DELETE FROM " + t + " WHERE rowid IN (SELECT c0 FROM " + batch + ")", "INSERT INTO " + t + " SELECT * FROM " + batch + "_full"}
	})
}

// keyed reports whether one of a table's columns is of a key.
func (s *session) keyed(ctx context.Context, table store.TableRef, columns []string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return false, err
	}
	all, err := s.c.keys(ctx)
	return slices.ContainsFunc(all[store.TableRef{Schema: strings.ToLower(table.Schema), Name: strings.ToLower(table.Name)}], func(k store.Key) bool {
		return slices.ContainsFunc(columns, func(c string) bool {
			return slices.ContainsFunc(k.Columns, func(of string) bool { return strings.EqualFold(of, c) })
		})
	}), classify(ctx, err)
}

// append runs statements over rows in temporary tables, whose names begin with batch.
func (s *session) append(ctx context.Context, table store.TableRef, columns []string, rows [][]any, statements func(batch string) []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	if r, ok := lists.Find(rows, func(r []any) bool { return len(r) != len(columns) }); ok {
		return internal(fmt.Sprintf("a row has %d values for %d columns", len(r), len(columns)))
	}
	return s.mutate(ctx, []store.TableRef{table}, func() (bool, error) {
		blobs, err := s.blobs(ctx, table)
		if err != nil {
			return false, err
		}
		kinds := make([]duckdb.Type, len(columns))
		for i, c := range columns {
			kinds[i] = columnKind(rows, i, blobs[strings.ToLower(c)])
		}
		if columns[0] != "rowid" && len(rows)*len(columns) <= fewValues {
			return false, s.insertFew(ctx, table, columns, kinds, rows)
		}
		for len(rows) > 0 {
			n := min(appendRows, len(rows))
			if err := s.appendBatch(ctx, kinds, rows[:n], statements); err != nil {
				return false, err
			}
			rows = rows[n:]
		}
		return false, nil
	})
}

// blobs names the table's BLOB columns: DuckDB's casts between BLOB and VARCHAR escape bytes, so
// that text for a BLOB and bytes for a VARCHAR must be sent as what they become.
func (s *session) blobs(ctx context.Context, table store.TableRef) (map[string]bool, error) {
	rows, err := s.c.collect(ctx, `SELECT lower(column_name) FROM duckdb_columns()
		WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2 AND data_type = 'BLOB'`, table.Schema, table.Name)
	out := lists.Set(lists.Map(rows, func(r []any) string { return r[0].(string) }))
	return out, err
}

// columnKind is the type that a column travels as: the one that all its values have, or VARCHAR.
func columnKind(rows [][]any, column int, blob bool) duckdb.Type {
	kind := duckdb.TYPE_INVALID
	for _, r := range rows {
		k := valueKind(r[column], blob)
		if k == duckdb.TYPE_INVALID || k == kind {
			continue
		}
		if kind != duckdb.TYPE_INVALID {
			return duckdb.TYPE_VARCHAR
		}
		kind = k
	}
	if kind == duckdb.TYPE_INVALID {
		return duckdb.TYPE_VARCHAR
	}
	return kind
}

// valueKind is TYPE_INVALID for NULL.
func valueKind(v any, blob bool) duckdb.Type {
	switch v.(type) {
	case nil:
		return duckdb.TYPE_INVALID
	case bool:
		return duckdb.TYPE_BOOLEAN
	case int, int8, int16, int32, int64:
		return duckdb.TYPE_BIGINT
	case uint, uint8, uint16, uint32, uint64:
		return duckdb.TYPE_UBIGINT
	case float32, float64:
		return duckdb.TYPE_DOUBLE
	case time.Time:
		return duckdb.TYPE_TIMESTAMP
	case time.Duration:
		return duckdb.TYPE_INTERVAL
	case string, []byte:
		if blob {
			return duckdb.TYPE_BLOB
		}
	}
	return duckdb.TYPE_VARCHAR
}

// insertFew inserts rows as bound values, of the types that they would travel as.
func (s *session) insertFew(ctx context.Context, table store.TableRef, columns []string, kinds []duckdb.Type, rows [][]any) error {
	tuples := make([]string, len(rows))
	var args []any
	for i, r := range rows {
		values := make([]string, len(r))
		for j, v := range r {
			a, err := sendable(v, kinds[j])
			if err != nil {
				return err
			}
			args = append(args, a)
			values[j] = fmt.Sprintf("CAST($%d AS %s)", len(args), travelTypes[kinds[j]])
		}
		tuples[i] = "(" + strings.Join(values, ", ") + ")"
	}
	_, err := s.c.exec(ctx, "INSERT INTO "+quoteRef(table)+" ("+sqltext.StoreNames(columns)+") VALUES "+strings.Join(tuples, ", "), args...)
	return err
}

// appendBatch writes rows by way of a temporary table, which the transaction takes along if it
// fails.
func (s *session) appendBatch(ctx context.Context, kinds []duckdb.Type, rows [][]any, statements func(batch string) []string) error {
	s.batches++
	batch := fmt.Sprintf("__scrim_batch_%d", s.batches)
	define := make([]string, len(kinds))
	for i, k := range kinds {
		define[i] = fmt.Sprintf("c%d %s", i, travelTypes[k])
	}
	if _, err := s.c.exec(ctx, "CREATE TEMP TABLE "+batch+" ("+strings.Join(define, ", ")+")"); err != nil {
		return err
	}
	if err := s.send("temp", "main", batch, rows, func(v any, column int) (any, error) { return sendable(v, kinds[column]) }); err != nil {
		return err
	}
	var n int64
	for _, q := range statements("temp.main." + batch) {
		var err error
		if n, err = s.c.exec(ctx, q); err != nil {
			return err
		}
	}
	if n != int64(len(rows)) { // a row of the statement has another number by now
		return internal(fmt.Sprintf("%d of %d rows were written", n, len(rows)))
	}
	_, err := s.c.exec(ctx, "DROP TABLE temp.main."+batch)
	if err == nil {
		_, err = s.c.exec(ctx, "DROP TABLE IF EXISTS temp.main."+batch+"_full")
	}
	return err
}

// travelTypes are the types that values travel as.
var travelTypes = map[duckdb.Type]string{
	duckdb.TYPE_BOOLEAN: "BOOLEAN", duckdb.TYPE_BIGINT: "BIGINT", duckdb.TYPE_UBIGINT: "UBIGINT", duckdb.TYPE_DOUBLE: "DOUBLE",
	duckdb.TYPE_TIMESTAMP: "TIMESTAMP", duckdb.TYPE_INTERVAL: "INTERVAL", duckdb.TYPE_VARCHAR: "VARCHAR", duckdb.TYPE_BLOB: "BLOB",
}

// send appends rows to a table, each value as the function returns it for its column.
func (s *session) send(catalog, schema, table string, rows [][]any, value func(v any, column int) (any, error)) error {
	a, err := duckdb.NewAppender(s.c.dc, catalog, schema, table)
	if err != nil {
		return err
	}
	var row []driver.Value
	for _, r := range rows {
		row = row[:0]
		for i, v := range r {
			if v, err = value(v, i); err != nil {
				break
			}
			row = append(row, v)
		}
		if err == nil {
			err = a.AppendRow(row...)
		}
		if err != nil {
			break
		}
	}
	// Close hands over what is left even after an error: the transaction ends without it.
	if errClose := a.Close(); err == nil {
		err = errClose
	}
	return err
}

// sendable turns a value into the Go type of the column's travelling type.
func sendable(v any, kind duckdb.Type) (any, error) {
	switch d := v.(type) {
	case nil:
		return nil, nil
	case time.Duration:
		if kind == duckdb.TYPE_INTERVAL {
			return duckdb.Interval{Micros: d.Microseconds()}, nil
		}
		return text(d), nil
	case []float64:
		return text(list(d)), nil
	case []any:
		return text(list(d)), nil
	}
	b, err := bindable(v)
	if err != nil {
		return nil, err
	}
	switch kind {
	case duckdb.TYPE_VARCHAR:
		return text(b), nil
	case duckdb.TYPE_BLOB:
		return []byte(text(b)), nil
	}
	return b, nil
}

// list writes a list or an array as DuckDB reads it back from VARCHAR: numbers only, which is what
// vector columns hold.
func list[T any](values []T) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		switch n := any(v).(type) {
		case nil:
			b.WriteString("NULL")
		case int64, uint64, float64, bool, *big.Int:
			b.WriteString(text(n))
		default:
			b.WriteString(sqltext.StoreText(text(n)))
		}
	}
	b.WriteByte(']')
	return b.String()
}
