// Package ducklake reads which files the rows of a table of the format DuckLake are in, from the
// lake's catalogue, which is a database of another kind: DuckDB, SQLite, PostgreSQL, or MySQL.
//
//	catalogue ─▶ ducklake_metadata ─▶ _schema ─▶ _table ─▶ _column, _data_file ─▶ lake.Listing
//
// Refused by name is what would make the rows other than all rows of those files: files of deletes,
// rows and deletes that the catalogue keeps itself, files without numbers of columns, encryption,
// versions of the format that are not known.
//
// Source: the DuckLake specification (ducklake.select/docs), "Tables" and "Queries", of version
// 0.3, and for deletes in the catalogue of version 1.0.
package ducklake

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"scrim/engine/store/lake"
	"scrim/engine/store/source"
	"scrim/internal/lists"
)

// versions are those of the format that are known. Before 0.2 tables had no paths.
var versions = []string{"0.2", "0.3", "0.4", "1.0"}

// now is the condition of what is in force.
const now = "t.end_snapshot IS NULL"

// table is one that is read.
type table struct {
	catalog
	id   string
	name string // for remedies
	dir  string
	out  *lake.Listing
}

// List returns the files of a table, as the catalogue says, and the directory that they are to lie
// below. data is the directory of this machine that stands for the lake's data path. name is that
// of a schema, a dot, and the table's. It fails with a *lake.Unfit where the table is one that
// cannot be read.
func List(ctx context.Context, in *source.Database, data, name string) (l *lake.Listing, dir string, err error) {
	c := catalog{in}
	there, err := c.present(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, name := range []string{"metadata", "schema", "table", "column", "data_file", "delete_file"} {
		if !there["ducklake_"+name] {
			return nil, "", &lake.Unfit{Cause: "the catalogue has no table ducklake_" + name, Remedy: "Name the database that ATTACH 'ducklake:…' names."}
		}
	}
	if err := c.known(ctx); err != nil {
		return nil, "", err
	}
	t := &table{catalog: c, name: name, out: &lake.Listing{}}
	if err := t.find(ctx, data); err != nil {
		return nil, "", err
	}
	for _, read := range []func() error{
		func() error { return t.columns(ctx) },
		func() error { return t.deletes(ctx, there) },
		func() error { return t.inlined(ctx, there) },
		func() error { return t.files(ctx) },
	} {
		if err := read(); err != nil {
			return nil, "", err
		}
	}
	return t.out, t.dir, nil
}

// known fails where the whole lake is one that cannot be read.
func (c catalog) known(ctx context.Context) error {
	options, err := c.rows(ctx, "ducklake_metadata", "1 = 1", "key", "value")
	if err != nil {
		return err
	}
	version := ""
	for _, o := range options {
		switch key, value := o[0].String, o[1].String; {
		case key == "version":
			version = value
		case key == "encrypted" && strings.EqualFold(value, "true"):
			return &lake.Unfit{Cause: "it is encrypted", Remedy: "Write a copy that is not."}
		}
	}
	if !slices.Contains(versions, version) {
		return &lake.Unfit{Cause: fmt.Sprintf("it has version %q of the format, and %s are known", version, strings.Join(versions, ", ")), Remedy: "An older one is brought up by ATTACH … (AUTOMATIC_MIGRATION)."}
	}
	return nil
}

// find looks the schema and the table up.
func (t *table) find(ctx context.Context, data string) error {
	schema, name, _ := strings.Cut(t.name, ".")
	found, err := t.only(ctx, "ducklake_schema", now, "schema_name", schema, "schema_id", "path", "path_is_relative")
	if err != nil {
		return err
	}
	id, err := number(found[1])
	if err != nil {
		return err
	}
	below, err := within(data, found[2], found[3])
	if err != nil {
		return err
	}
	if found, err = t.only(ctx, "ducklake_table", now+" AND t.schema_id = "+id, "table_name", name, "table_id", "path", "path_is_relative", "table_uuid"); err != nil {
		return err
	}
	if t.id, err = number(found[1]); err != nil {
		return err
	}
	if t.dir, err = within(below, found[2], found[3]); err != nil {
		return err
	}
	if t.out.Table = found[4].String; t.out.Table == "" {
		return fmt.Errorf("ducklake: the table has no UUID")
	}
	return nil
}

// only returns the one row that has a name, and asks for others of its columns.
func (t *table) only(ctx context.Context, in, where, named, name string, columns ...string) ([]sql.NullString, error) {
	rows, err := t.rows(ctx, in, where, append([]string{named}, columns...)...)
	if err != nil {
		return nil, err
	}
	var found []sql.NullString
	for _, r := range rows {
		if r[0].String != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("ducklake: the catalogue has two of the name %q", name)
		}
		found = r
	}
	if found == nil {
		return nil, &lake.Unfit{Cause: fmt.Sprintf("the lake has no table %s now", t.name), Remedy: "Name it as SCHEMA.TABLE, in the lake's own letters' case; the schema is main where none was made."}
	}
	return found, nil
}

// columns reads those that are not within others, in the table's order.
func (t *table) columns(ctx context.Context) error {
	rows, err := t.rows(ctx, "ducklake_column", now+" AND t.parent_column IS NULL AND t.table_id = "+t.id+" ORDER BY t.column_order", "column_id", "column_name")
	if err != nil {
		return err
	}
	for _, r := range rows {
		id, err := strconv.ParseInt(r[0].String, 10, 64)
		if err != nil {
			return fmt.Errorf("ducklake: a column without a number")
		}
		t.out.Columns = append(t.out.Columns, lake.Field{ID: id, Name: r[1].String})
	}
	return nil
}

// deletes fails where rows of the files are deleted. What there is of it does not matter, only
// whether there is: the query returns no rows of the table.
func (t *table) deletes(ctx context.Context, there map[string]bool) error {
	files, err := t.rows(ctx, "ducklake_delete_file", now+" AND t.table_id = "+t.id, "delete_file_id")
	if err != nil {
		return err
	}
	if len(files) > 0 {
		return &lake.Unfit{Cause: "rows of it are deleted by files of deletes, which are not applied here", Remedy: t.rewrite()}
	}
	kept := "ducklake_inlined_delete_" + t.id
	if !there[kept] {
		return nil
	}
	some, err := t.rows(ctx, kept, "1 = 1 LIMIT 1", "row_id")
	if err == nil && len(some) > 0 {
		err = &lake.Unfit{Cause: "its catalogue keeps deletes of rows, which are not applied here", Remedy: t.flush() + " Then " + t.rewrite()}
	}
	return err
}

// inlined fails where the catalogue itself keeps rows of the table.
func (t *table) inlined(ctx context.Context, there map[string]bool) error {
	if !there["ducklake_inlined_data_tables"] {
		return nil
	}
	tables, err := t.rows(ctx, "ducklake_inlined_data_tables", "t.table_id = "+t.id, "table_name")
	if err != nil {
		return err
	}
	for _, r := range tables {
		kept := r[0].String
		if !there[kept] || strings.Trim(kept, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return fmt.Errorf("ducklake: the catalogue lacks %q", kept)
		}
		some, err := t.rows(ctx, kept, now+" LIMIT 1", "row_id")
		if err != nil {
			return err
		}
		if len(some) > 0 {
			return &lake.Unfit{Cause: "its catalogue keeps rows of it", Remedy: t.flush()}
		}
	}
	return nil
}

// rewrite is the remedy for deletes, flush that for what the catalogue keeps.
func (t *table) rewrite() string {
	schema, name, _ := strings.Cut(t.name, ".")
	return fmt.Sprintf("In DuckDB: CALL ducklake_rewrite_data_files('LAKE', '%s', schema => '%s', delete_threshold => 0).", name, schema)
}

func (t *table) flush() string {
	schema, name, _ := strings.Cut(t.name, ".")
	return fmt.Sprintf("In DuckDB: CALL ducklake_flush_inlined_data('LAKE', schema_name => '%s', table_name => '%s').", schema, name)
}

// files lists the files of rows.
func (t *table) files(ctx context.Context) error {
	rows, err := t.rows(ctx, "ducklake_data_file", now+" AND t.table_id = "+t.id, "path", "path_is_relative", "file_format", "file_size_bytes", "encryption_key", "mapping_id")
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case !strings.EqualFold(r[2].String, "parquet"):
			return &lake.Unfit{Cause: fmt.Sprintf("it has files of %q", r[2].String), Remedy: "Write Parquet."}
		case r[4].String != "":
			return &lake.Unfit{Cause: "it is encrypted", Remedy: "Write a copy that is not."}
		case r[5].Valid:
			return &lake.Unfit{Cause: "it has files that know their columns by name only, as ducklake_add_data_files adds them", Remedy: "Write their rows into the table with INSERT … SELECT FROM read_parquet(…), or attach the files as 'parquet'."}
		}
		path, err := within(t.dir, r[0], r[1])
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(r[3].String, 10, 64)
		if err != nil {
			return fmt.Errorf("ducklake: a file without a size")
		}
		t.out.Data = append(t.out.Data, lake.Data{Path: path, Size: size})
	}
	return nil
}

// within is the path that the catalogue names: below dir where it is relative.
func within(dir string, path, relative sql.NullString) (string, error) {
	if of := strings.ToLower(relative.String); of != "true" && of != "1" && of != "t" {
		return filepath.Clean(path.String), nil
	}
	below := strings.TrimSuffix(path.String, "/")
	if below == "" {
		return dir, nil
	}
	if !filepath.IsLocal(below) || filepath.Clean(below) != below {
		return "", &lake.Unfit{Cause: fmt.Sprintf("it has a path %q that leads elsewhere", path.String), Remedy: "Attach a lake whose files lie below its data path."}
	}
	return filepath.Join(dir, below), nil
}

// number is a number of the catalogue, as it stands in queries.
func number(text sql.NullString) (string, error) {
	n, err := strconv.ParseInt(text.String, 10, 64)
	if err != nil {
		return "", fmt.Errorf("ducklake: the catalogue has something without a number")
	}
	return strconv.FormatInt(n, 10), nil
}

// catalog is one state of a lake's catalogue.
type catalog struct{ *source.Database }

// rows asks for columns of the rows of a table that have what where says, as texts. What is NULL
// has Valid false. No text of a client is a part of the query.
func (c catalog) rows(ctx context.Context, table, where string, columns ...string) (all [][]sql.NullString, err error) {
	list := lists.Map(columns, func(name string) string { return "CAST(t." + name + " AS " + c.Text + ")" })
	return c.texts(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+c.In+table+" t WHERE "+where, len(columns))
}

// present lists the tables of the catalogue.
func (c catalog) present(ctx context.Context) (map[string]bool, error) {
	rows, err := c.texts(ctx, c.Tables, 1)
	out := lists.Set(lists.Map(rows, func(r []sql.NullString) string { return r[0].String }))
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
