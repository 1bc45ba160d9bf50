package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/big"
	"strings"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

// appendRows is how many rows go between two looks at the context.
const appendRows = 32 * 1024

// batchName is what the driver's appender calls the rows that it hands to the INSERT.
const batchName = "__scrim_batch"

// Append implements store.Session. Rows travel as columns of a few wide types (BIGINT, DOUBLE,
// VARCHAR, …) and are cast to the table's own by DuckDB, which refuses what does not fit; the rows
// appended before in the same transaction go with it when it rolls back.
func (s *session) Append(ctx context.Context, table store.TableRef, columns []string, rows [][]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	for _, r := range rows {
		if len(r) != len(columns) {
			return internal(fmt.Sprintf("a row has %d values for %d columns", len(r), len(columns)))
		}
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
		for len(rows) > 0 {
			n := min(appendRows, len(rows))
			if err := s.appendBatch(ctx, table, columns, kinds, rows[:n]); err != nil {
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
	out := map[string]bool{}
	for _, r := range rows {
		out[r[0].(string)] = true
	}
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
	case string, store.Decimal, []byte:
		if blob {
			return duckdb.TYPE_BLOB
		}
	}
	return duckdb.TYPE_VARCHAR
}

// appendBatch inserts rows in one statement.
func (s *session) appendBatch(ctx context.Context, table store.TableRef, columns []string, kinds []duckdb.Type, rows [][]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	types := make([]duckdb.TypeInfo, len(kinds))
	names := make([]string, len(kinds))
	quoted := make([]string, len(kinds))
	for i, k := range kinds {
		t, err := duckdb.NewTypeInfo(k)
		if err != nil {
			return err
		}
		types[i], names[i], quoted[i] = t, fmt.Sprintf("c%d", i), quoteName(columns[i])
	}
	sql := "INSERT INTO " + quoteRef(table) + " (" + strings.Join(quoted, ", ") + ") SELECT " +
		strings.Join(names, ", ") + " FROM " + batchName
	a, err := duckdb.NewQueryAppender(s.c.dc, sql, batchName, types, names)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(kinds))
	for _, r := range rows {
		for i, v := range r {
			if row[i], err = sendable(v, kinds[i]); err != nil {
				break
			}
		}
		if err == nil {
			err = a.AppendRow(row...)
		}
		if err != nil {
			break
		}
	}
	// Close hands over what is left even after an error; the caller then rolls back.
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
			b.WriteString(quoteText(text(n)))
		}
	}
	b.WriteByte(']')
	return b.String()
}
