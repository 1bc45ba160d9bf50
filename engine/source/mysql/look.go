package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scrim/engine/source"
)

// Look implements source.Snapshot.
func (s *snapshot) Look(ctx context.Context, database, table string) (*source.Table, error) {
	var engine, typ, there string
	rows, err := s.texts(ctx, "SELECT COALESCE(ENGINE, ''), TABLE_TYPE, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+text(database)+" AND TABLE_NAME = "+text(table), 3)
	if err != nil {
		return nil, worded(err)
	}
	if len(rows) != 1 || rows[0][2] != database+"."+table {
		return nil, &source.Unfit{Cause: "there is no such table, or the account does not see it", Remedy: "GRANT SELECT on it to that account there; names have their letters' case."}
	}
	engine, typ, there = rows[0][0], rows[0][1], rows[0][2]
	if typ != "BASE TABLE" || !strings.EqualFold(engine, "InnoDB") {
		return nil, &source.Unfit{Cause: fmt.Sprintf("%s is a %s of the engine %q, of which no state can be fixed", there, strings.ToLower(typ), engine), Remedy: "Attach a base table of InnoDB."}
	}
	t := &source.Table{}
	columns, err := s.columns(ctx, database, table)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		out := source.Column{Name: c.name, Type: c.store, Null: c.null}
		if c.store == "" {
			out.Type = c.there
			t.Left = append(t.Left, out)
		} else {
			t.Columns = append(t.Columns, out)
		}
	}
	t.Identities, err = s.identities(ctx, database, table)
	return t, err
}

// column is a column of a table.
type column struct {
	name  string
	there string // the server's type
	store string // the store's, "" for none
	read  string // what is selected; %s is the quoted name
	null  bool
}

// columns lists the columns of a table.
func (s *snapshot) columns(ctx context.Context, database, table string) (list []column, err error) {
	rows, err := s.texts(ctx, "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+text(database)+" AND TABLE_NAME = "+text(table)+" ORDER BY ORDINAL_POSITION", 4)
	if err != nil {
		return nil, worded(err)
	}
	for _, r := range rows {
		c := column{name: r[0], there: r[1], null: r[3] == "YES"}
		c.store, c.read = stored(strings.ToLower(r[2]), strings.ToLower(r[1]))
		list = append(list, c)
	}
	return list, nil
}

// identities name the data of a table: by the server's own identity, and by its address.
func (s *snapshot) identities(ctx context.Context, database, table string) ([]string, error) {
	rows, err := s.texts(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'hostname', 'datadir')", 2)
	if err != nil {
		return nil, worded(err)
	}
	of := map[string]string{}
	for _, r := range rows {
		of[strings.ToLower(r[0])] = r[1]
	}
	server := of["server_uuid"]
	if server == "" {
		server = of["hostname"] + ":" + of["datadir"]
	}
	out := []string{"mysql " + server + " " + database + "." + table, "mysql at " + s.address + " " + database + "." + table}
	slices.Sort(out)
	return out, nil
}

// texts returns the rows of a query whose columns are all texts.
func (s *snapshot) texts(ctx context.Context, query string, columns int) (all [][]string, err error) {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, into := make([]string, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
