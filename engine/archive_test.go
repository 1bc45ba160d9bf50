package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/accounting"
	"scrim/engine/observe/audit"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/archive"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
)

// TestArchiveLedger: after an archive the server starts, knows what is spent, replays its answers,
// and says where the older entries are; and a backup from before can still be restored, as long as
// the archive is there.
func TestArchiveLedger(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	with := func(c *Config) { c.Witness = witness }
	i := spender(t, with)
	dir := i.cfg.DataDir
	i.spend("a")
	i.end()
	copied := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Make(t.Context(), DefaultConfig(dir).Place(), copied, nil); err != nil {
		t.Fatal(err)
	}
	lengthen(t, dir, 600)

	i = start(t, dir, with)
	const question = "SELECT spent_rho FROM dp.budgets WHERE principal = '*' LIMIT 1"
	spent := i.root().value(question)
	all := i.root().value("SELECT COUNT(*) FROM dp.ledger")
	i.end()

	o := archive.Options{Place: datadir.Place{Dir: dir, Witness: witness}, Before: time.Now().AddDate(0, 0, 2), By: "operator"}
	a, err := archive.Ledger(t.Context(), o, nil)
	if err != nil || a.First != 1 || a.Last != 511 || a.After <= 0 || a.Path != filepath.Join(dir, datadir.LedgerFile+accounting.ArchiveSuffix, a.File) {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, place := range []string{witness, filepath.Join(dir, "audit")} {
		if b := allOf(t, place); !strings.Contains(b, a.File) {
			t.Errorf("%s does not know of the archive", place)
		}
	}
	if !strings.Contains(allOf(t, filepath.Join(dir, "audit")), string(audit.Archived)) {
		t.Error("the audit log has no record of the archive")
	}

	i = start(t, dir, with)
	root := i.root()
	if got := root.value(question); got != spent || got == "0" {
		t.Errorf("spent %s, want %s", got, spent)
	}
	if note := root.query("SELECT id, statement FROM dp.ledger WHERE outcome = 'archive'"); len(note) != 1 || !strings.Contains(note[0][1], a.File) {
		t.Errorf("the ledger does not say where the others are: %v", note)
	}
	if now := root.value("SELECT COUNT(*) FROM dp.ledger"); now == all || now == "0" {
		t.Errorf("%s lines, before %s", now, all)
	}
	if first := root.value("SELECT MIN(id) FROM dp.ledger"); first != "512" {
		t.Errorf("the first entry is %s", first)
	}
	i.spend("a") // a replay of what an archived entry has paid for
	if got := root.value(question); got != spent {
		t.Errorf("a replay was charged: %s, before %s", got, spent)
	}
	root.exec("SELECT /*+ SET_VAR(dp_rho=0.0001) */ COUNT(*) FROM s.t WHERE x > 2")
	if got := root.value(question); got == spent {
		t.Error("a new question cost nothing")
	}
	if err := i.catalogCharged(); err != nil {
		t.Error(err)
	}
	i.end()

	away := filepath.Join(scratch(t), "archive")
	if err := os.Rename(filepath.Dir(a.Path), away); err != nil {
		t.Fatal(err)
	}
	restore := backup.RestoreOptions{From: copied, To: datadir.Place{Dir: dir, Witness: witness}, Accept: rollback.Acceptance{By: "operator"}}
	if _, err := backup.Restore(t.Context(), restore, nil); !errors.Is(err, accounting.ErrArchive) || !strings.Contains(err.Error(), "Put it back") {
		t.Errorf("a restore without the archive: %v", err)
	}
	if err := os.Rename(away, filepath.Dir(a.Path)); err != nil {
		t.Fatal(err)
	}
	if r, err := backup.Restore(t.Context(), restore, nil); err != nil || !r.KeptLedger {
		t.Errorf("a restore with the archive: %+v, %v", r, err)
	}
	if err := opens(dir, with); err != nil {
		t.Errorf("after the restore: %v", err)
	}
	// A backup of the ledger with an archive holds the account, in a directory without the
	// archive as well.
	later := filepath.Join(t.TempDir(), "later")
	m, err := backup.Make(t.Context(), DefaultConfig(dir).Place(), later, nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	if _, err := backup.Restore(t.Context(), backup.RestoreOptions{From: later, To: datadir.Place{Dir: fresh}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := opens(fresh); err != nil {
		t.Errorf("a new directory: %v", err)
	}
}

// catalogCharged checks that a table whose charges are archived counts as charged.
func (i *instance) catalogCharged() error {
	var account string
	for _, b := range i.ledger.Budgets() {
		if !b.Entity {
			account = b.Account
		}
	}
	if !i.charged(account) || i.charged("no such account") {
		return errors.New("what was charged is not known any more")
	}
	return nil
}

// TestArchiveRefusals: an archive of a directory that is served, of no entries, or of a ledger that
// is older than it was, changes nothing.
func TestArchiveRefusals(t *testing.T) {
	i := spender(t)
	dir := i.cfg.DataDir
	o := archive.Options{Place: datadir.Place{Dir: dir}, Before: time.Now().AddDate(0, 0, 2), By: "operator"}
	if _, err := archive.Ledger(context.Background(), o, nil); !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("served: %v", err)
	}
	i.end()
	if _, err := archive.Ledger(context.Background(), o, nil); !errors.Is(err, accounting.ErrInvalid) || !strings.Contains(err.Error(), "nothing to archive") {
		t.Errorf("a short ledger: %v", err)
	}
	lengthen(t, dir, 600)
	older := t.TempDir()
	copyAll(t, dir, older, ledgerFiles...)
	i = start(t, dir)
	i.spend("a")
	i.end()
	copyAll(t, older, dir, ledgerFiles...)
	if _, err := archive.Ledger(context.Background(), o, nil); !errors.Is(err, accounting.ErrOlder) {
		t.Errorf("an older ledger: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, datadir.LedgerFile+accounting.ArchiveSuffix)); err == nil {
		t.Error("a refused archive left something")
	}
}

// allOf is the content of a file, or of all files in a directory.
func allOf(t *testing.T, path string) (text string) {
	t.Helper()
	list, err := os.ReadDir(path)
	if err != nil {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	return text
}
