package ducklake

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"scrim/engine/source"
)

// catalog is one state of a lake's catalogue.
type catalog struct{ *source.Database }

// rows asks for columns of the rows of a table that have what where says, as texts. What is NULL
// has Valid false. No text of a client is a part of the query.
func (c catalog) rows(ctx context.Context, table, where string, columns ...string) (all [][]sql.NullString, err error) {
	list := make([]string, len(columns))
	for i, name := range columns {
		list[i] = "CAST(t." + name + " AS " + c.Text + ")"
	}
	return c.texts(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+c.In+table+" t WHERE "+where, len(columns))
}

// present lists the tables of the catalogue.
func (c catalog) present(ctx context.Context) (map[string]bool, error) {
	rows, err := c.texts(ctx, c.Tables, 1)
	out := map[string]bool{}
	for _, r := range rows {
		out[r[0].String] = true
	}
	return out, err
}

func (c catalog) texts(ctx context.Context, query string, columns int) (all [][]sql.NullString, err error) {
	rows, err := c.Tx.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("ducklake: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		row, into := make([]sql.NullString, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("ducklake: %w", err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ducklake: %w", err)
	}
	return all, nil
}
