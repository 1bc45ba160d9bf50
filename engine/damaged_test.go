package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scrim/accounting"
	"scrim/engine/ops/datadir"
)

// flip changes one bit of a file.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedFile flips a bit in each block of the store's file. Wherever it is, the start or the
// statement that reads it says that the file is damaged and what to do, the log says where and
// which table's rows are there, and nobody is told an internal error.
func TestDamagedFile(t *testing.T) {
	const block, first = 256 << 10, 3 * 4096
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.n (i INT)", "INSERT INTO s.n WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i FROM n",
		"CREATE TABLE s.a (id INT, name VARCHAR(60))", "INSERT INTO s.a SELECT x.i * 150 + y.i, MD5(x.i * 150 + y.i) FROM s.n x JOIN s.n y", "CALL dp_public('s.a')",
		"CREATE TABLE s.p (person INT, y DOUBLE)", "INSERT INTO s.p SELECT x.i * 150 + y.i, SIN(x.i * 150 + y.i) FROM s.n x JOIN s.n y",
		"CALL dp_protect('s.p', 'person', 'person')", "CALL dp_set_budget('s.p', '*', 1000, 1e-6, 'never')")
	i.end()
	i = start(t, i.cfg.DataDir)
	info, err := os.Stat(i.place.Path(datadir.DataFile))
	if err != nil {
		t.Fatal(err)
	}
	owners := map[int64][]string{}
	for at := int64(first); at < info.Size(); at += block {
		owners[at] = i.store.TablesAt(context.Background(), at)
	}
	i.end()
	refused, asked := 0, map[string]int{}
	for at := int64(first); at < info.Size(); at += block {
		dir := filepath.Join(scratch(t), "copy")
		if err := os.CopyFS(dir, os.DirFS(i.cfg.DataDir)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, datadir.LedgerFile+accounting.KeySuffix), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, datadir.DataFile)
		flip(t, path, at+100) // behind the checksum
		if err := opens(dir); err != nil {
			refused++
			for _, want := range []string{path + " is damaged at byte", "scrim restore --from BACKUP --data " + dir} {
				if strings.Count(err.Error(), want) != 1 {
					t.Errorf("block at %d: the start says %v, want %q", at, err, want)
				}
			}
			continue
		}
		i := start(t, dir)
		root := i.root()
		for _, c := range []struct{ table, query, state string }{
			{"s.a", "SELECT COUNT(*), MAX(name), SUM(id) FROM s.a", "HY000"},
			{"s.p", "SELECT /*+ SET_VAR(dp_rho=0.0001) */ SUM(y) FROM s.p", "45015"},
		} {
			_, err := root.try(c.query)
			if err == nil {
				continue
			}
			asked[c.table]++
			if !slices.Contains(owners[at], c.table) {
				t.Errorf("block at %d, which has rows of %v: %s: %v", at, owners[at], c.query, err)
			}
			if !strings.Contains(err.Error(), c.state) || c.table == "s.a" && !strings.Contains(err.Error(), "has to restore a backup") {
				t.Errorf("%s: %v", c.query, err)
			}
			for _, want := range []string{`"damaged":"data.duckdb, the block at byte `, `"` + c.table + `"`} {
				if !strings.Contains(i.log.String(), want) {
					t.Errorf("%s: the log has no %s: %s", c.query, want, i.log)
				}
			}
		}
		i.end()
	}
	if refused == 0 || asked["s.a"] == 0 || asked["s.p"] == 0 {
		t.Errorf("%d starts were refused, %v statements failed, of %d blocks", refused, asked, len(owners))
	}
}
