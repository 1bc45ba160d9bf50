package engine

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"scrim/test/testenv/ducklake"
	"scrim/test/testenv/postgres"
)

// aLake is a lake below a root, whose data are in data, and its catalogue in a file beside it.
type aLake struct {
	*ducklake.Lake
	root, data string
	in         string // where its catalogue is, as dp_attach is told
	serve      func(*Config)
}

// lakeOf makes a lake of the 6,000 orders of the tests in three files, whose catalogue is a
// database of a driver.
func lakeOf(t *testing.T, driver string) *aLake {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &aLake{root: root, data: filepath.Join(root, "lake"), Lake: &ducklake.Lake{UUID: "0191d1a5-0000-7000-8000-000000000001", Columns: []string{"id", "customer_id", "region", "amount", "weight", "day", "parts"}}}
	l.serve = underLake(root)
	switch driver {
	case "mysql":
		admin, _, declared := shopServer(t)
		admin.exec("SET SESSION sql_mode = 'ANSI_QUOTES'")
		l.Exec, l.In, l.Text, l.UUIDs = func(s ...string) { t.Helper(); admin.exec(s...) }, "shop.", "TEXT", "TEXT"
		l.in = `"server": "shop", "database": "shop"`
		l.serve = func(c *Config) { c.Lake, c.Sources = root, declared }
	case "postgres":
		addr, db := postgres.Start(t)
		secret := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(secret, []byte("sesame\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l.Exec, l.In, l.Text, l.UUIDs = executing(t, db), "public.", "VARCHAR", "UUID"
		l.in = `"server": "meta", "database": "postgres"`
		l.serve = func(c *Config) {
			c.Lake, c.Sources = root, "meta=postgres://scrim@"+addr+"?password=file:"+secret
		}
	default:
		file := filepath.Join(root, "catalog."+driver)
		l.Text, l.UUIDs, l.in = "VARCHAR", map[string]string{"duckdb": "UUID", "sqlite3": "VARCHAR"}[driver], `"catalog": "`+file+`"`
		l.Exec = func(statements ...string) {
			t.Helper()
			db, err := sql.Open(driver, file)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() // DuckDB keeps the file for itself
			executing(t, db)(statements...)
		}
	}
	if err := os.MkdirAll(filepath.Join(l.data, "main", "orders"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.Create()
	l.Add(l.file(t, "a", 0, 1000, "", ""), l.file(t, "b", 1000, 5000, ", i AS _ducklake_internal_row_id", ", _ducklake_internal_row_id: 2147483540"), l.file(t, "c", 5000, 6000, "", ""))
	return l
}

// executing runs statements in a database.
func executing(t *testing.T, db *sql.DB) func(statements ...string) {
	return func(statements ...string) {
		t.Helper()
		for _, q := range statements {
			if _, err := db.Exec(q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}
}

// file writes some of the orders into a file of the table.
func (l *aLake) file(t *testing.T, name string, from, to int, more, numbers string) ducklake.File {
	t.Helper()
	path := filepath.Join(l.data, "main", "orders", name+".parquet")
	numberedOrders(t, path, from, to, more, numbers)
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return ducklake.File{Path: name + ".parquet", Size: fi.Size()}
}

// attach attaches the lake's table.
func (l *aLake) attach(as string) string {
	return "CALL dp_attach('" + as + `', 'ducklake', '{"path": "` + l.data + `", "table": "orders", ` + l.in + `}')`
}

// TestDuckLakeWithoutNoise asks of a table of a lake and of a table of the store with the same
// rows: without noise the answers are the same, whatever has the catalogue.
func TestDuckLakeWithoutNoise(t *testing.T) {
	for _, driver := range []string{"duckdb", "sqlite3", "mysql", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			l := lakeOf(t, driver)
			l.file(t, "orphan", 6000, 7000, "", "") // of no snapshot
			i := startWith(t, "", silence, l.serve)
			dba := i.root()
			dba.exec("CREATE DATABASE lake", "CREATE DATABASE shop")
			if got := fmt.Sprint(dba.query(l.attach("lake.orders"))); !strings.Contains(got, "[parts STRUCT(a BIGINT) left out") || !strings.Contains(got, "[day DATE NULL]") || strings.Contains(got, "internal") {
				t.Errorf("columns: %s", got)
			}
			statements := slices.Clone(lakeQueries)
			if driver == "duckdb" {
				statements = append(statements, randomQueries()...)
			}
			ann := sameAsOwn(t, i, dba, "lake.orders", statements)
			if driver == "duckdb" { // which shares what it has open
				var asking sync.WaitGroup
				for n := range 6 {
					other := i.client("ann", "pw-ann")
					other.exec("SET dp_rho = 1000")
					asking.Go(func() {
						if got, err := other.try(fmt.Sprintf("SELECT COUNT(*) FROM lake.orders WHERE id > %d", n)); err != nil || fmt.Sprint(got) != fmt.Sprintf("[[%d]]", 5999-n) {
							t.Errorf("at once: %v, %v", got, err)
						}
					})
				}
				asking.Wait()
			}
			if got := ann.explained("SELECT COUNT(*) FROM lake.orders"); !strings.Contains(got, "source lake.orders  ducklake  files pinned for the statement  keys not enforced  partial results never") {
				t.Errorf("EXPLAIN: %s", got)
			}
			i.end()
			i = startWith(t, i.place.Dir, silence, l.serve)
			if got := i.root().value("SELECT CONCAT(kind, ' ', path, ' ', files, ' ', status) FROM dp.sources"); got != "ducklake "+l.data+"/main/orders/**/*.parquet 3 attached" {
				t.Errorf("after a restart: %s", got)
			}
		})
	}
}

// TestDuckLakeChanges changes the catalogue between statements: a statement is of the present
// state, or ends with an error before its charge.
func TestDuckLakeChanges(t *testing.T) {
	l := lakeOf(t, "sqlite3")
	i := startWith(t, "", silence, l.serve)
	dba := i.root()
	dba.exec("CREATE DATABASE lake", l.attach("lake.orders"))
	dba.exec(protectOrders("lake.orders")...)
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	asked := func(want string) {
		t.Helper()
		if got := ann.value(lakeCount); got != want {
			t.Errorf("%s rows, want %s", got, want)
		}
	}
	asked("6000")
	l.Remove("a.parquet") // the first of the list has a column of the format's own now
	asked("5000")
	l.Add(l.file(t, "more", 0, 100, "", ""))
	asked("5100")
	if got := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND account_type = 'table'"); got != "3" {
		t.Errorf("%s charges for three states", got)
	}
	// bad changes the catalogue, and back.
	bad := func(why string, change, back string) {
		t.Helper()
		l.Exec(change)
		before := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'")
		if rows, err := ann.try(lakeCount); err == nil || strings.Contains(err.Error(), l.root) {
			t.Errorf("%s: %v, %v", why, rows, err)
		}
		if got := dba.value("SELECT status FROM dp.sources"); !strings.Contains(got, why) {
			t.Errorf("dp.sources says %q, want %q", got, why)
		}
		if after := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'"); after != before {
			t.Errorf("%s: charged", why)
		}
		l.Exec(back)
	}
	bad("rows of it are deleted by files of deletes, which are not applied here. In DuckDB: CALL ducklake_rewrite_data_files('LAKE', 'orders'",
		"INSERT INTO ducklake_delete_file (delete_file_id, table_id) VALUES (1, 1)", "UPDATE ducklake_delete_file SET end_snapshot = 3")
	l.Exec("CREATE TABLE ducklake_inlined_delete_1 (file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT)")
	asked("5100")
	bad("keeps deletes of rows", "INSERT INTO ducklake_inlined_delete_1 VALUES (1, 1, 3)", "DELETE FROM ducklake_inlined_delete_1")
	l.Exec("CREATE TABLE ducklake_inlined_data_1_1 (row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT)", "INSERT INTO ducklake_inlined_data_tables VALUES (1, 'ducklake_inlined_data_1_1', 1)")
	asked("5100")
	bad("keeps rows of it. In DuckDB: CALL ducklake_flush_inlined_data('LAKE'", "INSERT INTO ducklake_inlined_data_1_1 VALUES (1, 1, NULL)", "UPDATE ducklake_inlined_data_1_1 SET end_snapshot = 4")
	bad("lacks", "UPDATE ducklake_inlined_data_tables SET table_name = 'ducklake_metadata; x'", "UPDATE ducklake_inlined_data_tables SET table_name = 'ducklake_inlined_data_1_1'")
	file := func(column, value string) (change, back string) {
		return "UPDATE ducklake_data_file SET " + column + " = " + value + " WHERE data_file_id = 2", "UPDATE ducklake_data_file SET path = 'b.parquet', path_is_relative = 1, file_format = 'parquet', encryption_key = NULL, mapping_id = NULL WHERE data_file_id = 2"
	}
	for why, of := range map[string][2]string{
		"leads elsewhere":      {"path", "'../other.parquet'"},
		"is no file of":        {"path", "'/etc/passwd', path_is_relative = 0"},
		"listed twice":         {"path", "'c.parquet', file_size_bytes = (SELECT file_size_bytes FROM ducklake_data_file WHERE data_file_id = 3)"},
		"no such file":         {"path", "'none.parquet'"},
		"its table says":       {"path", "'a.parquet'"},
		"files of \"orc\"":     {"file_format", "'orc'"},
		"it is encrypted":      {"encryption_key", "'k'"},
		"columns by name only": {"mapping_id", "4"},
	} {
		size := fmt.Sprintf("UPDATE ducklake_data_file SET file_size_bytes = %d WHERE data_file_id = 2", l.size(t, "b"))
		change, back := file(of[0], of[1])
		bad(why, change, back)
		l.Exec(size)
	}
	bad("does not have the columns", "UPDATE ducklake_column SET column_name = 'number' WHERE column_id = 1", "UPDATE ducklake_column SET column_name = 'id' WHERE column_id = 1")
	bad("another table", "UPDATE ducklake_table SET table_uuid = 'u2'", "UPDATE ducklake_table SET table_uuid = '"+l.UUID+"'")
	bad("another table", "UPDATE ducklake_table SET path = 'elsewhere/'", "UPDATE ducklake_table SET path = 'orders/'")
	bad("no table main.orders now", "UPDATE ducklake_table SET end_snapshot = 9", "UPDATE ducklake_table SET end_snapshot = NULL")
	bad(`it has version "7"`, "UPDATE ducklake_metadata SET value = '7' WHERE key = 'version'", "UPDATE ducklake_metadata SET value = '0.4' WHERE key = 'version'")
	bad("it is encrypted", "UPDATE ducklake_metadata SET value = 'true' WHERE key = 'encrypted'", "UPDATE ducklake_metadata SET value = 'false' WHERE key = 'encrypted'")
	asked("5100")
}

func (l *aLake) size(t *testing.T, name string) int64 {
	t.Helper()
	fi, err := os.Stat(filepath.Join(l.data, "main", "orders", name+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

// TestDuckLakeRefused: what cannot be a table is refused with the remedy, and nothing is kept of
// it; what was attached stays the table that it was.
func TestDuckLakeRefused(t *testing.T) {
	l := lakeOf(t, "duckdb")
	i := startWith(t, "", silence, l.serve)
	dba := i.root()
	dba.exec("CREATE DATABASE lake")
	refused := func(call, want string) {
		t.Helper()
		if _, err := dba.try(call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", call, err, want)
		}
	}
	link, text := filepath.Join(l.root, "link"), filepath.Join(l.root, "text")
	if err := os.Symlink(filepath.Join(l.root, "catalog.duckdb"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte("no database at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := l.in
	for of, want := range map[string]string{
		`"catalog": "/etc/passwd"`:                 "--lake",
		`"catalog": "` + link + `"`:                "symbolic link",
		`"catalog": "` + text + `"`:                "no database of DuckDB or SQLite",
		`"catalog": "` + l.root + `/none"`:         "no such file",
		`"server": "none", "database": "x"`:        "no server is declared as none",
		`"server": "meta", "database": "x"`:        "no server is declared as meta",
		`"server": "none"`:                         "catalog, a file, or server and database",
		in + `, "server": "none", "database": "x"`: "catalog, a file, or server and database",
	} {
		l.in = of
		refused(l.attach("lake.orders"), want)
	}
	l.in = in
	refused(strings.Replace(l.attach("lake.orders"), `"orders"`, `"Orders"`, 1), "no table main.Orders now")
	refused(strings.Replace(l.attach("lake.orders"), l.data, "/elsewhere", 1), "--lake")
	refused(strings.Replace(l.attach("lake.orders"), l.data, l.root, 1), "no such file")
	// a view in the place of a table could be made of other files
	l.Exec("ALTER TABLE ducklake_data_file RENAME TO kept", "CREATE VIEW ducklake_data_file AS SELECT * FROM kept UNION ALL SELECT * FROM kept WHERE (SELECT count(*) FROM read_text('/etc/passwd')) > 0")
	refused(l.attach("lake.orders"), "attached")
	l.Exec("DROP VIEW ducklake_data_file", "ALTER TABLE kept RENAME TO ducklake_data_file")
	if rows := dba.query("SELECT * FROM dp.sources"); len(rows) != 0 {
		t.Errorf("kept: %v", rows)
	}
	dba.exec(l.attach("lake.orders"), "CALL dp_detach('lake.orders')")
	refused(l.attach("lake.other"), "Attach them as lake.orders")
	refused(`CALL dp_attach('lake.other', 'parquet', '{"path": "`+l.data+`/main/orders/*.parquet"}')`, "Attach them as lake.orders")
	dba.exec(l.attach("lake.orders"))
}
