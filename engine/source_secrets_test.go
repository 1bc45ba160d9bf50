package engine

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
)

// TestSourceSecrets: the password of a source is in no answer, error, log, file of the server's or
// backup, whatever becomes of its server, and nobody but a DBA is told where that is. A backup has
// what the table is, none of its rows, and is a server again.
func TestSourceSecrets(t *testing.T) {
	admin, server, declared := shopServer(t)
	withOrders(admin)
	admin.exec("UPDATE shop.orders SET region = 'marigold' WHERE id < 2000")
	backups := t.TempDir()
	i := startWith(t, "", silence, func(c *Config) { c.Sources, c.BackupDir = declared, backups })
	dba := i.root()
	dba.exec("CREATE DATABASE far", attachFar)
	dba.exec(protectOrders("far.orders")...)
	ann := i.analyst(dba, "ann", "far")
	ann.exec("SET dp_rho = 1000")
	var told strings.Builder
	say := func(rows any, err error) { fmt.Fprintln(&told, rows, err) }
	ask := func() { say(ann.try("SELECT COUNT(*) FROM far.orders WHERE day > '2025-04-02'")) }
	ask()
	// what a table of the store has is found in both, so that what is not found is not there
	dba.exec("CREATE DATABASE own", "CREATE TABLE own.t (region VARCHAR(10))", "INSERT INTO own.t VALUES ('sunflower')")
	dba.exec("CALL dp_backup('whole')")
	_, secret, _ := strings.Cut(declared, "file:")
	if err := os.WriteFile(secret, []byte("sesame-no-more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask()
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	ask()
	server.Kill()
	ask()
	for _, q := range []string{"EXPLAIN SELECT COUNT(*) FROM far.orders", "SHOW CREATE TABLE far.orders", "SELECT * FROM dp.last_warnings", "SELECT * FROM dp.ledger"} {
		say(ann.try(q))
	}
	if strings.Contains(told.String(), "127.0.0.1") {
		t.Errorf("an analyst is told where the server is: %s", &told)
	}
	for _, q := range []string{"SELECT * FROM dp.sources", "SHOW VARIABLES", "SELECT * FROM dp.ledger", "SHOW CREATE TABLE far.orders"} {
		say(dba.try(q))
	}
	i.end()
	if text := told.String() + i.log.String(); strings.Contains(text, "sesame") {
		t.Errorf("the password is told: %s", text)
	}
	for _, dir := range []string{i.place.Dir, backups} {
		found := false
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			found = found || bytes.Contains(text, []byte("sunflower"))
			if bytes.Contains(text, []byte("sesame")) || bytes.Contains(text, []byte("marigold")) {
				t.Errorf("%s has the password, or rows", path)
			}
			return err
		})
		if err != nil || !found {
			t.Errorf("in %s a row of the store is not found: %v", dir, err)
		}
	}
	from, dir := filepath.Join(backups, "whole"), filepath.Join(t.TempDir(), "restored")
	m, err := backup.Verify(t.Context(), from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), backup.RestoreOptions{From: from, To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}, nil); err != nil {
		t.Fatal(err)
	}
	again := startWith(t, dir, silence)
	if got := again.root().value("SELECT CONCAT(path, ' ', status) FROM dp.sources"); !strings.HasPrefix(got, "shop:shop.orders ") || !strings.Contains(got, "--source shop=") {
		t.Errorf("of the backup: %s", got)
	}
	if got := again.root().value("SELECT COUNT(*) FROM dp.budgets WHERE account = 'far.orders' AND spent_rho > 0"); got == "0" {
		t.Error("the backup lacks what was spent")
	}
}
