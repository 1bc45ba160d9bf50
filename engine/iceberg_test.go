package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scrim/test/testenv/iceberg"
)

// icebergOrders makes a table of the format below a new root, whose present snapshot has the
// 6,000 orders of the tests in three files.
func icebergOrders(t *testing.T) (root string, w *iceberg.Table) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w = &iceberg.Table{Dir: filepath.Join(root, "shop", "orders"), UUID: "u1", Columns: []string{"id", "customer_id", "region", "amount", "weight", "day", "parts"}}
	if err := os.MkdirAll(filepath.Join(w.Dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.Commit(t, icebergFile(t, w, "a", 0, 1000), icebergFile(t, w, "b", 1000, 5000), icebergFile(t, w, "c", 5000, 6000))
	return root, w
}

// icebergFile writes some of the orders into a file of the table.
func icebergFile(t *testing.T, w *iceberg.Table, name string, from, to int) iceberg.File {
	t.Helper()
	f := iceberg.File{Name: "data/" + name + ".parquet", Status: 1}
	numberedOrders(t, filepath.Join(w.Dir, f.Name), from, to, "", "")
	return f
}

// numberedOrders writes some of the orders into a file whose columns have numbers, and perhaps more
// columns.
func numberedOrders(t *testing.T, path string, from, to int, more, numbers string) {
	t.Helper()
	parquet(t, fmt.Sprintf(`COPY (SELECT i::INTEGER AS id, (i * 7919 %% 400)::INTEGER AS customer_id, ['north', 'south', 'east'][1 + i %% 3] AS region,
		CASE WHEN i %% 11 = 0 THEN NULL ELSE (i * 31 %% 500)::DECIMAL(10,2) / 4 END::DECIMAL(10,2) AS amount, CASE WHEN i %% 17 = 0 THEN 'nan'::DOUBLE ELSE i %% 100 / 8.0 END AS weight,
		DATE '2025-04-01' + (i // 60)::INTEGER AS day, {'a': i} AS parts%s FROM range(%d, %d) r(i))
		TO '%s' (FORMAT parquet, FIELD_IDS {id: 1, customer_id: 2, region: 3, amount: 4, weight: 5, day: 6, parts: {__duckdb_field_id: 7, a: 8}%s})`, more, from, to, path, numbers))
}

func attachIceberg(dir, as string) string {
	return "CALL dp_attach('" + as + `', 'iceberg', '{"path": "` + dir + `"}')`
}

// TestIcebergWithoutNoise asks of a table of the format and of a table of the store with the same
// rows: without noise the answers are the same.
func TestIcebergWithoutNoise(t *testing.T) {
	root, w := icebergOrders(t)
	icebergFile(t, w, "orphan", 6000, 7000) // of no snapshot
	i := startWith(t, "", silence, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", "CREATE DATABASE shop")
	if got := fmt.Sprint(dba.query(attachIceberg(w.Dir, "lake.orders"))); !strings.Contains(got, "[parts STRUCT(a BIGINT) left out") || !strings.Contains(got, "[day DATE NULL]") {
		t.Errorf("columns: %s", got)
	}
	ann := sameAsOwn(t, i, dba, "lake.orders", append(slices.Clone(lakeQueries), randomQueries()...))
	if got := ann.explained("SELECT COUNT(*) FROM lake.orders"); !strings.Contains(got, "source lake.orders  iceberg  files pinned for the statement  keys not enforced  partial results never") {
		t.Errorf("EXPLAIN: %s", got)
	}
	i.end()
	i = startWith(t, i.place.Dir, silence, underLake(root))
	if got := i.root().value("SELECT CONCAT(kind, ' ', files, ' ', status) FROM dp.sources"); got != "iceberg 3 attached" {
		t.Errorf("after a restart: %s", got)
	}
}

// TestIcebergChanges commits snapshots between statements: a statement is of the present one, or
// ends with an error.
func TestIcebergChanges(t *testing.T) {
	root, w := icebergOrders(t)
	i := startWith(t, "", silence, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", attachIceberg(w.Dir, "lake.orders"))
	dba.exec(protectOrders("lake.orders")...)
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	a, b, c := iceberg.File{Name: "data/a.parquet"}, iceberg.File{Name: "data/b.parquet"}, iceberg.File{Name: "data/c.parquet"}
	asked := func(want string) {
		t.Helper()
		if got := ann.value(lakeCount); got != want {
			t.Errorf("%s rows, want %s", got, want)
		}
	}
	asked("6000")
	w.Stage(t, a) // not committed
	asked("6000")
	w.Commit(t, a, b, iceberg.File{Name: "data/c.parquet", Status: 2})
	asked("5000")
	w.Commit(t, a, b, icebergFile(t, w, "more", 0, 100))
	asked("5100")
	if got := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND account_type = 'table'"); got != "3" {
		t.Errorf("%s charges for three states", got)
	}
	bad := func(why string) {
		t.Helper()
		before := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'")
		if rows, err := ann.try(lakeCount); err == nil || strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v, %v", why, rows, err)
		}
		if got := dba.value("SELECT status FROM dp.sources"); !strings.Contains(got, why) {
			t.Errorf("dp.sources says %q, want %q", got, why)
		}
		if after := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'"); after != before {
			t.Errorf("%s: charged", why)
		}
	}
	w.Commit(t, a, iceberg.File{Name: "data/b.parquet", Content: 1, Status: 1})
	bad("files of deletes, which are not applied here. Compact the table")
	w.Commit(t, a, a)
	bad("listed twice")
	w.Commit(t, a, iceberg.File{Name: "data/none.parquet", Size: 7})
	bad("no such file")
	w.Commit(t, a, iceberg.File{Name: "data/b.parquet", Size: 7})
	bad("its table says 7")
	if err := os.Symlink(filepath.Join(w.Dir, "data"), filepath.Join(w.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.Commit(t, iceberg.File{Name: "link/a.parquet"})
	bad("symbolic link")
	columns := w.Columns
	w.Columns = []string{"id", "region", "customer_id", "amount", "weight", "day", "parts"} // two have changed names
	w.Commit(t, a, b, c)
	bad("columns")
	w.Columns, w.UUID = columns, "u2"
	w.Commit(t, a, b, c)
	bad("another table")
	w.UUID = "u1"
	w.Commit(t, a, b, c)
	asked("6000")
}

// TestIcebergRefused: what cannot be a table is refused with the remedy, and nothing is kept of it;
// what was attached stays the table that it was.
func TestIcebergRefused(t *testing.T) {
	root, w := icebergOrders(t)
	i := startWith(t, "", silence, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake")
	refused := func(call, want string) {
		t.Helper()
		if _, err := dba.try(call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", call, err, want)
		}
	}
	refused(attachIceberg(root, "lake.orders"), "iceberg")
	refused(attachIceberg(filepath.Dir(root), "lake.orders"), "--lake")
	refused(attachIceberg(root+"/*", "lake.orders"), "*")
	refused(`CALL dp_attach('lake.orders', 'iceberg', '{"path": "`+w.Dir+`", "hive": true}')`, "its directory")
	w.Columns[0] = "number"
	w.Commit(t, iceberg.File{Name: "data/a.parquet"})
	refused(attachIceberg(w.Dir, "lake.orders"), "columns that the table has now")
	w.Columns[0] = "id"
	w.Commit(t, iceberg.File{Name: "data/a.parquet", Content: 1})
	refused(attachIceberg(w.Dir, "lake.orders"), "Compact the table")
	w.Commit(t, iceberg.File{Name: "data/a.parquet"})
	if rows := dba.query("SELECT * FROM dp.sources"); len(rows) != 0 {
		t.Errorf("kept: %v", rows)
	}
	dba.exec(attachIceberg(w.Dir+"/", "lake.orders"), "CALL dp_detach('lake.orders')")
	refused(attachIceberg(w.Dir, "lake.other"), "Attach them as lake.orders")
	refused(`CALL dp_attach('lake.other', 'parquet', '{"path": "`+w.Dir+`/data/*.parquet"}')`, "Attach them as lake.orders")
	dba.exec(attachIceberg(w.Dir, "lake.orders"))
}
