// Package ducklake writes the catalogues of lakes of the format DuckLake around Parquet files that
// tests have made, as the specification of the format says (version 0.3, and what 1.0 adds for
// deletes).
package ducklake

import (
	"fmt"
	"strings"
)

// Lake is a catalogue with one schema, main, and one table, orders, whose numbers are 0 and 1.
type Lake struct {
	Exec    func(statements ...string)
	In      string // what stands before names of tables
	Text    string // the database's type of texts, such as VARCHAR
	UUIDs   string // and that of UUIDs
	Version string // of the format; "": 0.3
	UUID    string // of the table
	Columns []string
	files   int
}

// Create makes the catalogue, and the table without rows. Its columns have the numbers from 1 on.
func (l *Lake) Create() {
	if l.Version == "" {
		l.Version = "0.3"
	}
	table := func(name, columns string) string {
		return "CREATE TABLE " + l.In + "ducklake_" + name + " (" + strings.NewReplacer("table_uuid TEXT", "table_uuid "+l.UUIDs, "TEXT", l.Text).Replace(columns) + ")"
	}
	l.Exec(
		table("metadata", `"key" TEXT NOT NULL, value TEXT NOT NULL, scope TEXT, scope_id BIGINT`),
		table("schema", "schema_id BIGINT PRIMARY KEY, schema_uuid TEXT, begin_snapshot BIGINT, end_snapshot BIGINT, schema_name TEXT, path TEXT, path_is_relative BOOLEAN"),
		table("table", "table_id BIGINT, table_uuid TEXT, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, table_name TEXT, path TEXT, path_is_relative BOOLEAN"),
		table("column", "column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, table_id BIGINT, column_order BIGINT, column_name TEXT, column_type TEXT, initial_default TEXT, default_value TEXT, nulls_allowed BOOLEAN, parent_column BIGINT"),
		table("data_file", "data_file_id BIGINT PRIMARY KEY, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, file_order BIGINT, path TEXT, path_is_relative BOOLEAN, file_format TEXT, record_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, row_id_start BIGINT, partition_id BIGINT, encryption_key TEXT, partial_file_info TEXT, mapping_id BIGINT"),
		table("delete_file", "delete_file_id BIGINT PRIMARY KEY, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, data_file_id BIGINT, path TEXT, path_is_relative BOOLEAN, format TEXT, delete_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, encryption_key TEXT"),
		table("inlined_data_tables", "table_id BIGINT, table_name TEXT, schema_version BIGINT"),
		"INSERT INTO "+l.In+"ducklake_metadata VALUES ('version', '"+l.Version+"', NULL, NULL), ('created_by', 'a test', NULL, NULL), ('data_path', 's3://bucket/lake/', NULL, NULL), ('encrypted', 'false', NULL, NULL)",
		"INSERT INTO "+l.In+"ducklake_schema VALUES (0, 'b0', 0, NULL, 'main', 'main/', true)",
		"INSERT INTO "+l.In+"ducklake_table VALUES (1, '"+l.UUID+"', 1, NULL, 0, 'orders', 'orders/', true)",
	)
	for i, c := range l.Columns {
		l.Exec(fmt.Sprintf("INSERT INTO %sducklake_column VALUES (%d, 1, NULL, 1, %d, '%s', 'varchar', NULL, NULL, true, NULL)", l.In, i+1, i+1, c))
	}
	l.Exec(fmt.Sprintf("INSERT INTO %sducklake_column VALUES (%d, 1, NULL, 1, 1, 'within', 'varchar', NULL, NULL, true, %d)", l.In, len(l.Columns)+1, len(l.Columns)))
}

// File is a file of rows of the table.
type File struct {
	Path     string // below the table's directory, or absolute
	Absolute bool
	Size     int64
	Format   string // "": parquet
	Key      string // of encryption
	Mapped   bool   // by names of columns
}

// Add adds files to the table.
func (l *Lake) Add(files ...File) {
	for _, f := range files {
		l.files++
		format, key, mapping := f.Format, "NULL", "NULL"
		if format == "" {
			format = "parquet"
		}
		if f.Key != "" {
			key = "'" + f.Key + "'"
		}
		if f.Mapped {
			mapping = "1"
		}
		l.Exec(fmt.Sprintf("INSERT INTO %sducklake_data_file VALUES (%d, 1, 2, NULL, NULL, '%s', %t, '%s', 1, %d, 1, 0, NULL, %s, NULL, %s)",
			l.In, l.files, f.Path, !f.Absolute, format, f.Size, key, mapping))
	}
}

// Remove ends a file of rows.
func (l *Lake) Remove(path string) {
	l.Exec("UPDATE " + l.In + "ducklake_data_file SET end_snapshot = 3 WHERE path = '" + path + "'")
}
