package ducklake_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"scrim/engine/store/lake"
	"scrim/engine/store/lake/ducklake"
	"scrim/engine/store/source"
	made "scrim/test/testenv/ducklake"
)

// catalog is one in memory with two files, and perhaps changed by statements.
func catalog(t *testing.T, version string, changes ...string) *source.Database {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	l := &made.Lake{Text: "VARCHAR", UUIDs: "VARCHAR", UUID: "u1", Version: version, Columns: []string{"id", "region"}, Exec: func(statements ...string) {
		t.Helper()
		for _, q := range statements {
			if _, err := db.Exec(q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}}
	l.Create()
	l.Add(made.File{Path: "a.parquet", Size: 3}, made.File{Path: "p=1/b.parquet", Size: 4}, made.File{Path: "gone.parquet", Size: 5})
	l.Remove("gone.parquet")
	l.Exec(changes...)
	return &source.Database{Tx: db, Text: "VARCHAR", Tables: "SELECT name FROM sqlite_master WHERE type = 'table'"}
}

// TestList reads tables of all versions, whose files lie where paths say.
func TestList(t *testing.T) {
	const usual = "{u1 [{1 id} {2 region}] [{/data/main/orders/a.parquet 3} {/data/main/orders/p=1/b.parquet 4}]} /data/main/orders"
	elsewhere := strings.ReplaceAll(usual, "/data/main", "/elsewhere")
	for name, e := range map[string]struct {
		version string
		change  []string
		want    string
	}{
		"version 0.2":              {"0.2", nil, usual},
		"version 0.3":              {"0.3", nil, usual},
		"version 0.4":              {"0.4", nil, usual},
		"version 1.0":              {"1.0", nil, usual},
		"without new tables":       {"0.2", []string{"DROP TABLE ducklake_inlined_data_tables"}, usual},
		"a schema elsewhere":       {"0.3", []string{"UPDATE ducklake_schema SET path = '/elsewhere/', path_is_relative = 0"}, elsewhere},
		"a table elsewhere":        {"0.3", []string{"UPDATE ducklake_table SET path = '/elsewhere/orders/', path_is_relative = 0"}, elsewhere},
		"a file by its whole path": {"0.3", []string{"UPDATE ducklake_data_file SET path = '/data/main/orders/a.parquet', path_is_relative = 0 WHERE data_file_id = 1"}, usual},
		"no paths of its own":      {"0.3", []string{"UPDATE ducklake_schema SET path = ''", "UPDATE ducklake_table SET path = ''"}, strings.ReplaceAll(usual, "/data/main/orders", "/data")},
		"another schema's":         {"0.3", []string{"INSERT INTO ducklake_schema VALUES (7, 's', 0, NULL, 'other', 'other/', 1)", "INSERT INTO ducklake_table VALUES (9, 'u9', 1, NULL, 7, 'orders', 'orders/', 1)"}, usual},
		"one dropped before":       {"0.3", []string{"INSERT INTO ducklake_table VALUES (9, 'u9', 1, 2, 0, 'orders', 'old/', 1)"}, usual},
		"columns moved":            {"0.3", []string{"UPDATE ducklake_column SET column_order = 3 - column_order WHERE parent_column IS NULL"}, strings.Replace(usual, "{1 id} {2 region}", "{2 region} {1 id}", 1)},
	} {
		l, dir, err := ducklake.List(t.Context(), catalog(t, e.version, e.change...), "/data", "main.orders")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprint(*l, " ", dir); got != e.want {
			t.Errorf("%s: %s, want %s", name, got, e.want)
		}
	}
}

// TestUnfit: what cannot be read is an Unfit with a remedy, or an error.
func TestUnfit(t *testing.T) {
	for name, e := range map[string]struct {
		change, cause string
		unfit         bool
	}{
		"an old version":      {"UPDATE ducklake_metadata SET value = '0.1' WHERE key = 'version'", `version "0.1"`, true},
		"no version":          {"DELETE FROM ducklake_metadata", `version ""`, true},
		"another database":    {"DROP TABLE ducklake_metadata", "no table ducklake_metadata", true},
		"two of a name":       {"INSERT INTO ducklake_table VALUES (9, 'u9', 1, NULL, 0, 'orders', 'orders/', 1)", "two of the name", false},
		"a path upwards":      {"UPDATE ducklake_schema SET path = '../main/'", "leads elsewhere", true},
		"a path not shortest": {"UPDATE ducklake_table SET path = './orders'", "leads elsewhere", true},
		"no UUID":             {"UPDATE ducklake_table SET table_uuid = NULL", "no UUID", false},
		"no size":             {"UPDATE ducklake_data_file SET file_size_bytes = NULL", "without a size", false},
		"a view":              {"ALTER TABLE ducklake_column RENAME TO c; CREATE VIEW ducklake_column AS SELECT * FROM c", "no table ducklake_column", true},
		"no number":           {"UPDATE ducklake_table SET table_id = NULL", "without a number", false},
	} {
		_, _, err := ducklake.List(t.Context(), catalog(t, "0.3", e.change), "/data", "main.orders")
		var unfit *lake.Unfit
		if err == nil || !strings.Contains(err.Error(), e.cause) || errors.As(err, &unfit) != e.unfit || e.unfit && unfit.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
