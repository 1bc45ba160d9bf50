package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
)

// TestBackupUnderLoad backs up while clients write two tables together, ask, and declare. The
// restored directory has both tables in one state, every charge whose answer arrived before the
// backup was asked for, and policies that fit the data.
func TestBackupUnderLoad(t *testing.T) {
	backups := t.TempDir()
	i := start(t, "", func(c *Config) { c.BackupDir = backups })
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.a (n INT)", "CREATE TABLE s.b (n INT)", "CREATE TABLE s.t (p INT, x DOUBLE)",
		"INSERT INTO s.t VALUES (1, 1.5), (2, 2.5)", "CALL dp_protect('s.t', 'p', 'person')", "CALL dp_set_budget('s.t', '*', 50, 1e-6, 'never')")
	var stop atomic.Bool
	var answered atomic.Int64
	var working sync.WaitGroup
	work := func(f func(c *client, n int)) {
		c := i.root()
		working.Go(func() {
			for n := 0; !stop.Load(); n++ {
				f(c, n)
			}
		})
	}
	work(func(c *client, n int) {
		if n >= 300 { // enough; the table would grow for as long as the machine is slow
			time.Sleep(time.Millisecond)
			return
		}
		for _, q := range []string{"BEGIN", fmt.Sprintf("INSERT INTO s.a VALUES (%d)", n), fmt.Sprintf("INSERT INTO s.b VALUES (%d)", n), "COMMIT"} {
			if _, err := c.try(q); err != nil {
				t.Errorf("%s: %v", q, err)
			}
		}
	})
	work(func(c *client, n int) {
		if _, err := c.try(fmt.Sprintf("SELECT /*+ SET_VAR(dp_rho=0.0001) */ COUNT(*) FROM s.t WHERE x > %d", n)); err == nil {
			answered.Add(1)
		}
		time.Sleep(2 * time.Millisecond)
	})
	// A table is public while it is called so, and protected under the same name when it has other
	// rows.
	work(func(c *client, n int) {
		for _, q := range []string{"CREATE TABLE s.u (p INT)", "INSERT INTO s.u VALUES (1)", "CALL dp_unprotect('s.u')", "CALL dp_public('s.u')", "DROP TABLE s.u",
			"CREATE TABLE s.u (p INT)", "CALL dp_protect('s.u', 'p', 'person')", "INSERT INTO s.u VALUES (2)", "DROP TABLE s.u"} {
			_, _ = c.try(q) // the first time there is nothing to unprotect
			time.Sleep(20 * time.Millisecond)
		}
	})
	for b := range 4 {
		time.Sleep(50 * time.Millisecond)
		before := answered.Load()
		name := "b" + strconv.Itoa(b)
		root.query("CALL dp_backup('" + name + "')")
		m, err := backup.Verify(context.Background(), filepath.Join(backups, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		if last, ok, err := i.place.LastBackup(); !ok || err != nil || last.Name != name || last.Record != m.Ledger.Record {
			t.Errorf("after %s the directory notes %+v, %v, %v", name, last, ok, err)
		}
		dir := filepath.Join(t.TempDir(), "restored")
		if _, err := backup.Restore(context.Background(), backup.RestoreOptions{From: filepath.Join(backups, name), To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}, nil); err != nil {
			t.Fatal(err)
		}
		checkRestored(t, dir, before)
	}
	stop.Store(true)
	working.Wait()
}

func checkRestored(t *testing.T, dir string, answered int64) {
	t.Helper()
	r := start(t, dir)
	root := r.root()
	root.exec("SET dp_raw = ON")
	if a, b := root.value("SELECT COUNT(*) FROM s.a"), root.value("SELECT COUNT(*) FROM s.b"); a != b {
		t.Errorf("%s rows in one table and %s in the other of each transaction", a, b)
	}
	charges, err := strconv.ParseInt(root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"), 10, 64)
	if err != nil || charges < answered {
		t.Errorf("%d charges, want the %d whose answers had arrived", charges, answered)
	}
	rows, err := root.try("SELECT p FROM s.u")
	if err == nil && len(rows) == 1 && rows[0][0] == "2" {
		if state := root.query("SELECT state FROM dp.policies WHERE table_name = 's.u'"); len(state) > 0 && state[0][0] == "public" {
			t.Error("protected rows under a policy that calls them public")
		}
	}
	r.end()
}

func TestBackupCleansUp(t *testing.T) {
	backups := t.TempDir()
	i := start(t, "", func(c *Config) { c.BackupDir = backups })
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.t (n INT)")
	busy := i.root()
	busy.exec("BEGIN", "INSERT INTO s.t VALUES (1)")
	held, err := i.store.Hold(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	b := i.backups.Source
	if _, err := b.CopyTo(ctx, filepath.Join(backups, "x"), nil); err == nil {
		t.Error("a backup beside another")
	}
	if left, _ := os.ReadDir(backups); len(left) != 0 {
		t.Errorf("got %v left behind", left)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.CopyTo(context.Background(), filepath.Join(backups, "x"), nil); err != nil {
		t.Error(err)
	}
}
