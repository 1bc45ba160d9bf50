package mcp

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// Table is a result.
type Table struct {
	Columns   []Column `json:"columns"`
	Rows      [][]any  `json:"rows" jsonschema:"values in the order of columns; null where there is none; DECIMAL values are numbers"`
	Truncated string   `json:"truncated,omitempty" jsonschema:"set where rows were left out: why, and what to do"`
}

// Column is a column of a result.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type" jsonschema:"MySQL's type"`
}

// read sends a statement and reads its first result, up to so many rows and bytes.
func (c *call) read(ctx context.Context, query string, most, bytes int) (Table, error) {
	rows, err := c.conn.QueryContext(ctx, query)
	if err != nil {
		return Table{}, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return Table{}, err
	}
	t := Table{Columns: []Column{}, Rows: [][]any{}}
	for _, ty := range types {
		t.Columns = append(t.Columns, Column{ty.Name(), ty.DatabaseTypeName()})
	}
	for size := 0; rows.Next(); {
		row, err := scan(rows, types)
		if err != nil {
			return t, err
		}
		if size += sizeOf(row); len(t.Rows) == most || size > bytes {
			t.Truncated = fmt.Sprintf("only the first %d rows are here, by this tool's bounds of %d rows and %d bytes; group more coarsely, or ask for parts with ORDER BY and LIMIT", len(t.Rows), most, bytes)
			return t, nil
		}
		t.Rows = append(t.Rows, row)
	}
	return t, rows.Err()
}

// scan reads one row as JSON can carry it.
func scan(rows *sql.Rows, types []*sql.ColumnType) ([]any, error) {
	row, to := make([]any, len(types)), make([]any, len(types))
	for i := range row {
		to[i] = &row[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, err
	}
	for i, v := range row {
		b, ok := v.([]byte)
		switch {
		case !ok:
		case types[i].DatabaseTypeName() == "DECIMAL":
			row[i] = json.Number(b)
		default:
			row[i] = string(b)
		}
	}
	return row, nil
}

// sizeOf is about how many bytes a row has in an answer.
func sizeOf(row []any) int {
	n := 2
	for _, v := range row {
		if s, ok := v.(string); ok {
			n += len(s) + 3
		} else {
			n += len(fmt.Sprint(v)) + 1
		}
	}
	return n
}

// Records are the rows of a table of facts by the names of their columns, without what is NULL.
type Records []map[string]any

// What a table of facts may be: as many tables, columns or budgets as one can still make sense of.
const (
	mostRecords = 2000
	factBytes   = 1 << 20
)

// records reads the rows of one of the server's own tables.
func (c *call) records(ctx context.Context, query string) (Records, error) {
	t, err := c.read(ctx, query, mostRecords, factBytes)
	out := make(Records, 0, len(t.Rows))
	for _, row := range t.Rows {
		r := map[string]any{}
		for i, v := range row {
			if v != nil {
				r[t.Columns[i].Name] = v
			}
		}
		out = append(out, r)
	}
	return out, err
}
