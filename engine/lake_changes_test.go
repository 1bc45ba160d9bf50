package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/estimator/noise"
)

// smallLake serves 12 files of orders, which are attached and protected as lake.orders.
func smallLake(t *testing.T) (i *instance, dba *client, root string) {
	t.Helper()
	root = ordersLake(t, 6, 2)
	i = startWith(t, "", silence, underLake(root))
	dba = i.root()
	dba.exec("CREATE DATABASE lake", attachOrders(root, "lake.orders"))
	dba.exec(protectOrders("lake.orders")...)
	return i, dba, root
}

// part is the path of one file of smallLake.
func part(root string, d, f int) string {
	return filepath.Join(root, "orders", "day="+day(d), fmt.Sprintf("part-%d.parquet", f))
}

const lakeCount = "SELECT COUNT(*) FROM lake.orders"

// TestLakeFiles changes the files of an attached table between statements: an answer is of the
// files that are there, and what is not as it has to be ends the statement without a number.
func TestLakeFiles(t *testing.T) {
	i, dba, root := smallLake(t)
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	spent := func() string {
		return dba.value("SELECT ROUND(SUM(spent_rho)) FROM dp.budgets WHERE account = 'lake.orders' AND principal = '*'")
	}
	want := func(n string) {
		t.Helper()
		if got := ann.value(lakeCount); got != n {
			t.Errorf("counted %s, want %s", got, n)
		}
	}
	want("72")
	once := spent()
	want("72")
	if got := spent(); got != once {
		t.Errorf("a replay was charged: %s after %s", got, once)
	}
	parquet(t, ordersOf(part(root, 0, 2), 0, 8))
	want("80")
	if got := spent(); got == once {
		t.Error("the answer of other files was not charged")
	}
	os.Remove(part(root, 0, 2))
	want("72")
	for what, change := range map[string]func(path string) error{
		"no Parquet file": func(p string) error { return os.WriteFile(p, []byte("PAR1 and no more"), 0o600) },
		"a link":          func(p string) error { return os.Symlink(part(root, 0, 0), p) },
		"other columns": func(p string) error {
			parquet(t, "COPY (SELECT 1::BIGINT AS id) TO '"+p+"' (FORMAT parquet)")
			return nil
		},
		"a column of another type": func(p string) error {
			parquet(t, strings.Replace(ordersOf(p, 0, 2), "i::INTEGER AS id", "i::BIGINT AS id", 1))
			return nil
		},
	} {
		p, before := part(root, 1, 7), spent()
		if err := change(p); err != nil {
			t.Fatal(err)
		}
		if rows, err := ann.try(lakeCount); err == nil || strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v, %v", what, rows, err)
		}
		if got := spent(); got != before {
			t.Errorf("%s: charged although nothing was read", what)
		}
		os.Remove(p)
		if got := dba.value("SELECT status FROM dp.sources"); got != "attached" {
			t.Errorf("%s: afterwards %s", what, got)
		}
	}
	want("72")
	os.Rename(filepath.Join(root, "orders"), filepath.Join(root, "away"))
	if _, err := ann.try(lakeCount); err == nil {
		t.Error("answered without files")
	}
	if got := dba.value("SELECT status FROM dp.sources"); !strings.Contains(got, "no file matches") {
		t.Errorf("status %s", got)
	}
}

// TestLakeRefusals: an attached table is changed by nobody, and what cannot be attached is refused.
func TestLakeRefusals(t *testing.T) {
	_, dba, root := smallLake(t)
	outside := t.TempDir()
	parquet(t, ordersOf(filepath.Join(outside, "a.parquet"), 0, 2))
	os.Symlink(outside, filepath.Join(root, "link"))
	os.Mkdir(filepath.Join(root, "mixed"), 0o755)
	parquet(t, ordersOf(filepath.Join(root, "mixed", "a.parquet"), 0, 2), "COPY (SELECT 1 AS id) TO '"+root+"/mixed/b.parquet' (FORMAT parquet)")
	attach := func(name, path string) string {
		return "CALL dp_attach('" + name + `', 'parquet', '{"path": "` + path + `"}')`
	}
	dba.exec("CREATE TABLE lake.own (id INT PRIMARY KEY)", "USE lake")
	dba.refusedFor(map[string]string{
		"INSERT INTO lake.orders (id) VALUES (1)":                 "dp_detach",
		"UPDATE lake.orders SET id = 1":                           "dp_detach",
		"DELETE FROM lake.orders":                                 "dp_detach",
		"TRUNCATE TABLE lake.orders":                              "dp_detach",
		"ALTER TABLE lake.orders ADD COLUMN x INT":                "dp_detach",
		"ALTER TABLE lake.orders DROP COLUMN region":              "dp_detach",
		"RENAME TABLE orders TO other":                            "dp_detach",
		"RENAME TABLE own TO orders":                              "already exists",
		"CREATE INDEX i ON lake.orders (id)":                      "dp_detach",
		"DROP TABLE lake.orders":                                  "dp_detach",
		"DROP DATABASE lake":                                      "dp_detach",
		"CREATE TABLE lake.orders (id INT)":                       "",
		attach("lake.own", root+"/mixed/*.parquet"):               "already",
		attach("lake.x", outside+"/*.parquet"):                    "below none of the directories",
		attach("lake.x", root+"/../x/*.parquet"):                  `the part ".."`,
		attach("lake.x", "orders/*.parquet"):                      "not absolute",
		attach("lake.x", root+"/mixed/*.csv"):                     ".parquet",
		attach("lake.x", root+"/none/*.parquet"):                  "no file matches",
		attach("lake.x", root+"/link/*.parquet"):                  "symbolic link",
		attach("lake.x", root+"/mixed/*.parquet"):                 "are not those of",
		attach("lake.x", root+"/orders/day=2025-04-01/*.parquet"): "are or were the table lake.orders",
		attach("lake.x", root+"/**/part-0.parquet"):               "are or were the table lake.orders",
		attach("none.x", root+"/mixed/a.parquet"):                 "no database",
		"CALL dp_attach('lake.x', 'delta', '{}')":                 "'parquet'",
		"CALL dp_attach('lake.x', 'iceberg', '{}')":               "its directory",
		"CALL dp_attach('lake.x', 'parquet', '{\"paths\": 1}')":   "JSON object",
		"CALL dp_detach('lake.own')":                              "not attached",
		"CALL dp_link('lake.own', 'id', 'lake.orders', 'id')":     "PRIMARY",
	})
}

// TestLakeExplained: EXPLAIN tells what a source promises, and nothing of how many files there are.
func TestLakeExplained(t *testing.T) {
	i, dba, _ := smallLake(t)
	ann := i.analyst(dba, "ann", "lake")
	got := fmt.Sprint(ann.query("EXPLAIN " + lakeCount))
	if !strings.Contains(got, "source lake.orders  parquet  files pinned for the statement  keys not enforced  partial results never") || strings.Contains(got, "12") {
		t.Errorf("EXPLAIN: %s", got)
	}
}

// TestLakeBudget: what was spent on files stays spent, whatever they are attached as.
func TestLakeBudget(t *testing.T) {
	i, dba, root := smallLake(t)
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 5")
	ann.query(lakeCount)
	spent := dba.value("SELECT spent_rho FROM dp.budgets WHERE account = 'lake.orders' AND principal = '*'")
	dba.exec("CALL dp_detach('lake.orders')")
	ann.refused(1146, "", lakeCount)
	dba.refusedFor(map[string]string{
		attachOrders(root, "lake.fresh"):    "Attach them as lake.orders",
		"CREATE TABLE lake.orders (id INT)": "belongs to files",
	})
	if got := dba.value("SELECT status FROM dp.sources"); got != "detached" {
		t.Errorf("status %s", got)
	}
	dba.exec(attachOrders(root, "lake.orders"))
	if got := dba.value("SELECT spent_rho FROM dp.budgets WHERE account = 'lake.orders' AND principal = '*'"); got != spent {
		t.Errorf("spent %s before and %s after", spent, got)
	}
	if got := ann.value(lakeCount); got != "72" {
		t.Errorf("counted %s", got)
	}
}

// TestLakeRestart: the data directory keeps which files a table is, and not the files; they are
// read below declared directories only.
func TestLakeRestart(t *testing.T) {
	i, dba, root := smallLake(t)
	dir := i.cfg.DataDir
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1000")
	ann.query(lakeCount)
	i.end()
	i = startWith(t, dir, silence)
	if got := i.root().value("SELECT status FROM dp.sources"); !strings.Contains(got, "below none of the directories") {
		t.Errorf("status %s", got)
	}
	if _, err := i.client("ann", "pw-ann").try("SELECT COUNT(*) FROM lake.orders WHERE id > 3"); err == nil {
		t.Error("answered outside of the declared directories")
	}
	i.end()
	i = startWith(t, dir, silence, underLake(root))
	ann = i.client("ann", "pw-ann")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	if got := ann.value("SELECT COUNT(*) FROM lake.orders WHERE id > 3"); got != "68" {
		t.Errorf("counted %s", got)
	}
}

// TestLakeFilesChangeMeanwhile changes files after a statement has pinned them, and before it has
// read them: the statement fails with the error of all that do not finish, its charge stands, and
// the log says what happened.
func TestLakeFilesChangeMeanwhile(t *testing.T) {
	root := ordersLake(t, 6, 2)
	var meanwhile func()
	source := func() noise.Noiser {
		if f := meanwhile; f != nil {
			meanwhile = nil
			f()
		}
		return silence()
	}
	i := startWith(t, "", source, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", attachOrders(root, "lake.orders"))
	dba.exec(protectOrders("lake.orders")...)
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1")
	aside := filepath.Join(root, "aside")
	for n, c := range []struct {
		what         string
		change, back func()
	}{
		{"removed", func() { os.Rename(part(root, 2, 0), aside) }, func() { os.Rename(aside, part(root, 2, 0)) }},
		{"replaced", func() {
			parquet(t, ordersOf(aside, 5, 50))
			os.Rename(aside, part(root, 2, 0))
		}, func() { parquet(t, ordersOf(part(root, 2, 0), 24, 30)) }},
		{"written in place", func() {
			was, _ := os.Stat(part(root, 2, 0))
			b, _ := os.ReadFile(part(root, 2, 0))
			os.WriteFile(part(root, 2, 0), b, 0o600)
			os.Chtimes(part(root, 2, 0), was.ModTime(), was.ModTime())
		}, func() {}},
		{"added", func() { parquet(t, ordersOf(aside+".parquet", 0, 3)); os.Rename(aside+".parquet", part(root, 2, 9)) }, func() { os.Remove(part(root, 2, 9)) }},
		{"a link", func() {
			os.Rename(part(root, 2, 0), aside)
			os.Symlink(aside, part(root, 2, 0))
		}, func() { os.Rename(aside, part(root, 2, 0)) }},
	} {
		for _, q := range []string{"SELECT COUNT(*) FROM lake.orders WHERE id > %d", "SELECT id %% 3 AS k, COUNT(*) FROM lake.orders WHERE id > %d GROUP BY k",
			"SELECT COUNT(*) FROM lake.orders WHERE day < '2025-04-02' AND id > %d"} {
			spent := dba.value("SELECT spent_rho FROM dp.budgets WHERE account = 'lake.orders' AND principal = '*'")
			meanwhile = c.change
			ann.refused(1644, "45015", fmt.Sprintf(q, n))
			if got := dba.value("SELECT spent_rho FROM dp.budgets WHERE account = 'lake.orders' AND principal = '*'"); got == spent {
				t.Errorf("%s: %s: no charge", c.what, q)
			}
			c.back()
			if _, err := ann.try(fmt.Sprintf(q, n)); err != nil {
				t.Errorf("%s: %s afterwards: %v", c.what, q, err)
			}
		}
	}
	if log := i.log.String(); !strings.Contains(log, "added, removed or written meanwhile") || !strings.Contains(log, "is a symbolic link") {
		t.Errorf("log: %s", log)
	}
}

// TestLakeLinked: files whose persons are found through a key of the store.
func TestLakeLinked(t *testing.T) {
	root := ordersLake(t, 6, 2)
	i := startWith(t, "", silence, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", attachOrders(root, "lake.orders"), "CREATE TABLE lake.buyers (id INT PRIMARY KEY, person INT)")
	var rows []string
	for n := range 400 {
		rows = append(rows, fmt.Sprintf("(%d, %d)", n, n/2))
	}
	dba.insert("lake.buyers", rows)
	dba.exec("CALL dp_protect('lake.buyers', 'person', 'person')", "CALL dp_link('lake.orders', 'customer_id', 'lake.buyers', 'id')")
	for _, table := range []string{"lake.buyers", "lake.orders"} {
		dba.exec("CALL dp_set_budget('"+table+"', '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget('"+table+"', 'default', 'rho=1000000', 1e-3, 'never')")
	}
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1000")
	if got := ann.value(lakeCount); got != "72" {
		t.Errorf("counted %s", got)
	}
	if got := ann.value("SELECT COUNT(*) FROM lake.orders o JOIN lake.buyers b ON b.id = o.customer_id WHERE b.person < 100 AND o.day < '2025-04-04'"); got == "NULL" {
		t.Errorf("joined: %s", got)
	}
	if got := fmt.Sprint(ann.query("SHOW CREATE TABLE lake.orders")); !strings.Contains(got, "`day` date") || strings.Contains(got, root) {
		t.Errorf("SHOW CREATE TABLE: %s", got)
	}
}
