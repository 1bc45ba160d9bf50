package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/estimator/noise"
	"scrim/engine/observe/audit"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/store/duckdb"
)

// ledgerFiles are what somebody puts back who wants spent budget back.
var ledgerFiles = []string{datadir.LedgerFile, datadir.LedgerFile + accounting.KeySuffix, datadir.LedgerFile + accounting.MarkSuffix}

// copyAll copies files and directories of one directory into another one.
func copyAll(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(filepath.Join(from, name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			t.Fatal(err)
		case fi.IsDir():
			err = os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name)))
		default:
			var b []byte
			if b, err = os.ReadFile(filepath.Join(from, name)); err == nil {
				err = os.WriteFile(filepath.Join(to, name), b, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// spender is a data directory of a table with a budget, and a server that spends of it.
func spender(t *testing.T, change ...func(*Config)) *instance {
	t.Helper()
	i := start(t, "", change...)
	i.root().exec("CREATE DATABASE s", "CREATE TABLE s.t (p INT, x DOUBLE)", "INSERT INTO s.t VALUES (1, 1.5), (2, 2.5)",
		"CALL dp_protect('s.t', 'p', 'person')", "CALL dp_set_budget('s.t', '*', 50, 1e-6, 'never')")
	return i
}

func (i *instance) spend(column string) {
	i.t.Helper()
	i.root().exec("SELECT /*+ SET_VAR(dp_rho=0.0001) */ COUNT(*) AS " + column + " FROM s.t")
}

// opens tries to open a server on a directory.
func opens(dir string, change ...func(*Config)) error {
	cfg := small(dir)
	for _, c := range change {
		c(&cfg)
	}
	s, err := open(cfg, noise.Secure)
	if err != nil {
		return err
	}
	return s.Close()
}

// refusedAsOlder checks that a directory is refused because of what a place knows, and returns the
// command that the refusal offers.
func refusedAsOlder(t *testing.T, what string, err error, place string) {
	t.Helper()
	if !errors.Is(err, accounting.ErrOlder) {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, says := range []string{place, "knows another record", "scrim restore --from BACKUP --data ", "--accept-ledger-of 2", "--budgets-spent"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the refusal does not say %q: %v", what, says, err)
		}
	}
}

// TestOlderLedgerWithItsMarkIsRefused puts yesterday's ledger back with key and mark, and beside it
// all but one of the places that know more: the one that is left refuses it, and refuses it again.
func TestOlderLedgerWithItsMarkIsRefused(t *testing.T) {
	i := spender(t)
	dir := i.cfg.DataDir
	i.spend("one")
	i.end()
	old, newest := t.TempDir(), t.TempDir()
	all := append(slices.Clone(ledgerFiles), datadir.DataFile, datadir.DataFile+".wal", datadir.CatalogFile, datadir.UsersFile, datadir.AuditDir, datadir.IDFile)
	copyAll(t, dir, old, all...)
	i = start(t, dir)
	i.spend("two")
	i.end()
	copyAll(t, dir, newest, all...)
	for _, left := range []struct{ name, place string }{{datadir.DataFile, datadir.DataFile}, {datadir.CatalogFile, "the file catalog"}, {datadir.AuditDir, "the audit log"}} {
		copyAll(t, old, dir, all...)
		copyAll(t, newest, dir, left.name)
		for range 2 {
			refusedAsOlder(t, left.name, opens(dir), left.place)
		}
	}
	copyAll(t, newest, dir, all...)
	copyAll(t, old, dir, datadir.DataFile, datadir.DataFile+".wal")
	if err := opens(dir); err != nil {
		t.Errorf("older data beside the newest ledger: %v", err)
	}
	copyAll(t, old, dir, all...)
	if err := opens(dir); err != nil {
		t.Errorf("all of it: %v", err)
	}
}

// TestAcceptingAnOlderLedger takes it by the command that the refusal names, which both logs
// record; then all places know it.
func TestAcceptingAnOlderLedger(t *testing.T) {
	i := spender(t)
	dir := i.cfg.DataDir
	i.end()
	old := t.TempDir()
	copyAll(t, dir, old, ledgerFiles...)
	witness := filepath.Join(t.TempDir(), "witness")
	with := func(c *Config) { c.Witness = witness }
	i = start(t, dir, with)
	i.spend("one")
	i.end()
	copyAll(t, old, dir, ledgerFiles...)
	refusedAsOlder(t, "older ledger", opens(dir, with), datadir.DataFile)
	l, err := accounting.Open(filepath.Join(dir, datadir.LedgerFile), accounting.Options{DirectoryID: i.dir.ID})
	if err != nil {
		t.Fatal(err)
	}
	day := l.Position().At.Format("2006-01-02")
	l.Close()
	in, accept := datadir.Place{Dir: dir, Witness: witness}, rollback.Acceptance{LedgerOf: "2001-01-01", By: "operator", BudgetsSpent: true}
	_, err = rollback.Accept(context.Background(), in, accept)
	refusedAsOlder(t, "accepted by another day", err, datadir.DataFile)
	accept.LedgerOf = day
	if _, err := rollback.Accept(context.Background(), in, accept); err != nil {
		t.Fatal(err)
	}
	if _, err := rollback.Accept(context.Background(), in, accept); err == nil || !strings.Contains(err.Error(), "nothing to accept") {
		t.Errorf("accepted again: %v", err)
	}
	i = start(t, dir, with)
	if n := i.root().value("SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'restore'"); n != "1" {
		t.Errorf("%s notes of the acceptance, want 1", n)
	}
	if _, err := i.root().try("SELECT /*+ SET_VAR(dp_rho=0.0001) */ COUNT(*) AS two FROM s.t"); err == nil {
		t.Error("the budgets were to count as spent")
	}
	i.end()
	if _, text := audited(t, filepath.Join(dir, datadir.AuditDir)); !strings.Contains(text, `"kind":"ledger accepted","principal":"operator"`) || !strings.Contains(text, "all budgets count as spent") {
		t.Errorf("the audit log does not record the acceptance:\n%s", text)
	}
	if text, _ := os.ReadFile(witness); !strings.Contains(string(text), "accepted an older ledger") {
		t.Errorf("the witness does not record the acceptance:\n%s", text)
	}
}

// TestRestoreKeepsPlacesTogether: a backup is taken and put back by the product's own commands,
// into a new directory, beside a later ledger, and in the place of a lost one.
func TestRestoreKeepsPlacesTogether(t *testing.T) {
	ctx, copied := context.Background(), filepath.Join(t.TempDir(), "b")
	i := spender(t)
	dir := i.cfg.DataDir
	i.spend("one")
	i.end()
	cfg := small(dir)
	m, err := backup.Make(ctx, cfg.Place(), copied, nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	i = start(t, dir)
	i.spend("two")
	i.root().exec("INSERT INTO s.t VALUES (3, 3.5)")
	i.end()
	for _, o := range []backup.RestoreOptions{{From: copied, To: datadir.Place{Dir: fresh}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}, {From: copied, To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{By: "operator"}}} {
		if _, err := backup.Restore(ctx, o, nil); err != nil {
			t.Fatal(err)
		}
		if err := opens(o.To.Dir); err != nil {
			t.Errorf("after a restore: %v", err)
		}
	}
	for _, name := range ledgerFiles {
		os.Remove(filepath.Join(dir, name))
	}
	if _, err := backup.Restore(ctx, backup.RestoreOptions{From: copied, To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := opens(dir); err != nil {
		t.Errorf("after a restore of a lost ledger: %v", err)
	}
}

// TestRestoreRefusesAnOlderLedger: a restore does not keep a ledger that is older than the audit
// log knows, and a backup is not made of one.
func TestRestoreRefusesAnOlderLedger(t *testing.T) {
	ctx, copied := context.Background(), filepath.Join(t.TempDir(), "b")
	i := spender(t)
	dir := i.cfg.DataDir
	i.end()
	cfg := small(dir)
	if _, err := backup.Make(ctx, cfg.Place(), copied, nil); err != nil {
		t.Fatal(err)
	}
	old := t.TempDir()
	copyAll(t, dir, old, ledgerFiles...)
	i = start(t, dir)
	i.spend("one")
	i.end()
	copyAll(t, old, dir, ledgerFiles...)
	_, err := backup.Make(ctx, cfg.Place(), copied+"2", nil)
	refusedAsOlder(t, "backup", err, datadir.DataFile)
	_, err = backup.Restore(ctx, backup.RestoreOptions{From: copied, To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{By: "operator"}}, nil)
	refusedAsOlder(t, "restore", err, "the audit log")
}

// TestInterruptedRestoreIsRunAgain: a restore that made the backup's ledger the account was cut
// short before the audit log knew. It is not taken for a ledger that somebody put back, and is run
// again by the same command.
func TestInterruptedRestoreIsRunAgain(t *testing.T) {
	ctx, copied := context.Background(), filepath.Join(t.TempDir(), "b")
	i := spender(t)
	dir := i.cfg.DataDir
	i.end()
	cfg := small(dir)
	m, err := backup.Make(ctx, cfg.Place(), copied, nil)
	if err != nil {
		t.Fatal(err)
	}
	i = start(t, dir)
	i.spend("one")
	i.end()
	later := t.TempDir()
	copyAll(t, dir, later, datadir.AuditDir)
	for _, name := range ledgerFiles {
		os.Remove(filepath.Join(dir, name))
	}
	o := backup.RestoreOptions{From: copied, To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}
	if _, err := backup.Restore(ctx, o, nil); err != nil {
		t.Fatal(err)
	}
	copyAll(t, later, dir, datadir.AuditDir)
	if err := os.WriteFile(filepath.Join(dir, datadir.IDFile), []byte(m.Directory+" "+datadir.Restoring+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Accept.LedgerOf = ""
	_, err = backup.Restore(ctx, o, nil)
	refusedAsOlder(t, "without saying so again", err, "the audit log")
	o.Accept.LedgerOf = m.Day()
	if r, err := backup.Restore(ctx, o, nil); err != nil || r.KeptLedger {
		t.Errorf("run again: %+v, %v", r, err)
	}
	if err := opens(dir); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestEveryCommitKnowsTheLedger: charges are in the audit log, and in the data and the catalogue
// with the next change of them.
func TestEveryCommitKnowsTheLedger(t *testing.T) {
	i := spender(t)
	i.spend("one")
	ctx := context.Background()
	before := i.ledger.Position().Record
	i.root().exec("INSERT INTO s.t VALUES (3, 3.5)", "CREATE TABLE s.u (n INT)", "CALL dp_public('s.u')")
	m, ok, err := i.store.Mark(ctx)
	if err != nil || !ok || m.Order < before {
		t.Errorf("the data know %+v, %v, %v, want record %d", m, ok, err, before)
	}
	if p, err := accounting.ParsePosition(i.catalog.Ledger()); err != nil || p.Record < before {
		t.Errorf("the catalogue knows %+v, %v, want record %d", p, err, before)
	}
	i.end()
	end := i.ledger.Position().String()
	if logged, err := audit.LastLedger(i.place.AuditPath()); logged != end || err != nil {
		t.Errorf("the audit log knows %q, %v, want %q", logged, err, end)
	}
	c, err := catalog.Open(i.place.Path(datadir.CatalogFile), catalog.Options{DirectoryID: i.dir.ID})
	if err != nil || c.Ledger() != end {
		t.Errorf("the catalogue knows %q, %v, want %q", c.Ledger(), err, end)
	}
	st, err := duckdb.Open(i.place.Path(datadir.DataFile), duckdb.Options{DirectoryID: i.dir.ID})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if m, _, err := st.Mark(ctx); m.Text != end || err != nil {
		t.Errorf("the data know %q, %v, want %q", m.Text, err, end)
	}
}

// TestUnreadableMark: a position that the data hold and that cannot be read, as rows were garbled
// in earlier versions of DuckDB, is refused, and replaced by the command that the refusal names.
func TestUnreadableMark(t *testing.T) {
	i := spender(t)
	i.spend("one")
	i.end()
	ctx := context.Background()
	st, err := duckdb.Open(i.place.Path(datadir.DataFile), duckdb.Options{DirectoryID: i.dir.ID})
	if err != nil {
		t.Fatal(err)
	}
	end := i.ledger.Position()
	if err := errors.Join(st.SetMark(ctx, duckdb.Mark{Order: end.Record + 1, Text: end.String() + end.String()}), st.Close()); err != nil {
		t.Fatal(err)
	}
	err = opens(i.cfg.DataDir)
	if !errors.Is(err, accounting.ErrOlder) || !strings.Contains(err.Error(), datadir.DataFile+" has no readable position") || !strings.Contains(err.Error(), "--accept-ledger-of "+end.At.UTC().Format(time.DateOnly)) {
		t.Fatalf("got %v", err)
	}
	if _, err := rollback.Accept(ctx, i.place, rollback.Acceptance{LedgerOf: end.At.UTC().Format(time.DateOnly), By: "operator"}); err != nil {
		t.Fatal(err)
	}
	if err := opens(i.cfg.DataDir); err != nil {
		t.Error(err)
	}
}

// TestWitness: a directory that is rolled back as a whole is refused by the witness alone, which is
// cut down to its newest line before.
func TestWitness(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	with := func(c *Config) { c.Witness = witness }
	i := spender(t, with)
	dir := i.cfg.DataDir
	i.end()
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(witness)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(witness, bytes.Repeat(lines, 1+(1<<20)/len(lines)), 0o600); err != nil {
		t.Fatal(err)
	}
	i = start(t, dir, with)
	if info, err := os.Stat(witness); err != nil || info.Size() > 4<<10 {
		t.Errorf("the witness was not cut down: %v", err)
	}
	i.spend("one")
	i.end()
	if err := opens(dir, with); err != nil {
		t.Errorf("the directory itself: %v", err)
	}
	if err := os.Chmod(filepath.Join(old, datadir.LedgerFile+accounting.KeySuffix), 0o600); err != nil {
		t.Fatal(err)
	}
	err = opens(old, with)
	refusedAsOlder(t, "rolled back", err, "the witness "+witness)
	if err != nil && !strings.Contains(err.Error(), "--witness "+witness) {
		t.Errorf("the remedy does not name the witness: %v", err)
	}
	if err := opens(old); err != nil {
		t.Errorf("without a witness: %v", err)
	}
	if err := opens(dir, func(c *Config) { c.Witness = filepath.Join(dir, "w") }); err == nil || !strings.Contains(err.Error(), "is in the data directory") {
		t.Errorf("a witness in the data directory: %v", err)
	}
}
