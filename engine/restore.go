package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"scrim/accounting"
	"scrim/engine/witness"
	"scrim/internal/durable"
)

// RestoreOptions say what is restored and where to.
type RestoreOptions struct {
	From, DataDir string
	// AcceptLedgerOf is the day of the last record in the backup's ledger, as YYYY-MM-DD. It is needed where the backup's ledger is
	// to be the account from now on: what was charged after it is then forgotten.
	AcceptLedgerOf string
	// BudgetsSpent counts all budgets as spent, where an older ledger becomes the account.
	BudgetsSpent bool
	// By is who restores, for the ledger's note.
	By string
	// AuditDir and Witness are the server's, where it has them: they know how far the ledger had come.
	AuditDir, Witness string
}

// config is what a restore knows of the server's configuration.
func (o RestoreOptions) config() Config {
	c := DefaultConfig(o.DataDir)
	c.AuditDir, c.Witness = o.AuditDir, o.Witness
	return c
}

// Restored says what a restore has done.
type Restored struct {
	Manifest Manifest
	// KeptLedger: the directory's own ledger stays, which holds everything that the backup's holds. So do its accounts.
	KeptLedger bool
	// Aside is the directory in which what was replaced is kept; "" where nothing was.
	Aside string
}

// Restore puts a verified backup in a data directory that nobody serves.
//
// Into a directory that is in use otherwise go the data and the policies. Its ledger stays, if it continues the backup's: nothing that
// was spent is given back. A ledger that cannot be read, is missing, or is itself an older copy of the backup's, gives way to the backup's only
// where AcceptLedgerOf says so; so does no ledger at all, in a new directory. Two ledgers that have gone separate ways since a
// common beginning are refused: neither knows what the other spent.
//
// What is replaced is kept beside. Until everything is in place the directory is marked, and no server starts on it; an interrupted
// restore is run again.
func Restore(ctx context.Context, o RestoreOptions, progress func(done, total int64)) (r Restored, err error) {
	if r.Manifest, err = VerifyBackup(ctx, o.From, progress); err != nil {
		return r, err
	}
	if o.AcceptLedgerOf != "" {
		if o.AcceptLedgerOf != r.Manifest.Day() {
			return r, fmt.Errorf("engine: restore: the last record in the backup's ledger is of %s, not of %s", r.Manifest.Day(), o.AcceptLedgerOf)
		}
	}
	dir, err := lockDirectory(o.DataDir)
	if err != nil {
		return r, err
	}
	defer dir.Close()
	x := &restore{o: o, m: r.Manifest, dir: dir, tally: &tally{ctx: ctx}}
	if r.KeptLedger, err = x.choose(); err != nil {
		return r, err
	}
	if r.Aside, err = x.place(r.KeptLedger); err != nil {
		return r, err
	}
	return r, x.record(r.KeptLedger)
}

type restore struct {
	o     RestoreOptions
	m     Manifest
	dir   *directory
	tally *tally
}

// choose reports whether the directory's own ledger stays. It changes nothing.
func (x *restore) choose() (kept bool, err error) {
	switch id, _, err := x.dir.read(); {
	case err != nil:
		return false, err
	case id == "" && x.dir.has(fileData):
		return false, fmt.Errorf("engine: restore: %s has %s but no %s file; restore into a new directory", x.dir.path, fileData, fileID)
	case id == "":
		return false, x.accepted("the directory is new, so that its account would be the backup's")
	case id != x.m.Directory:
		return false, fmt.Errorf("engine: restore: the backup is of the data directory %s, and %s is %s; restore into a new directory", x.m.Directory, x.dir.path, id)
	}
	path := filepath.Join(x.dir.path, fileLedger)
	own, err := accounting.Open(path, accounting.Options{DirectoryID: x.m.Directory})
	if err != nil {
		return false, errors.Join(x.accepted("the directory's own ledger cannot be used"), errUnlessAccepted(x.o, err))
	}
	defer own.Close()
	switch ok, err := own.Continues(x.m.Ledger); {
	case err != nil:
		return false, err
	case ok:
		return x.keeps(own)
	}
	end := own.Position()
	older, err := x.continues(end)
	switch {
	case err != nil:
		return false, err
	case !older:
		return false, fmt.Errorf("engine: restore: the ledgers of %s and of the backup have gone separate ways since a common beginning: neither holds what the other has spent. "+
			"Nothing was changed. Restore a backup from before that, or of this directory", x.dir.path)
	}
	return false, x.accepted(fmt.Sprintf("the directory's own ledger ends at record %d, before the backup's, which ends at record %d", end.Record, x.m.Ledger.Record))
}

// keeps reports whether the directory's own ledger stays, which continues the backup's. One that is older than it is known to have been is
// refused, unless it was put there by a restore that was not finished.
func (x *restore) keeps(own *accounting.Ledger) (bool, error) {
	t := traces{cfg: x.o.config()}
	if x.o.Witness != "" {
		t.witness = witness.At(x.o.Witness, x.m.Directory)
	}
	err := t.check(x.tally.ctx, own)
	if _, state, _ := x.dir.read(); err != nil && state == restoring && x.o.AcceptLedgerOf != "" {
		return false, nil
	}
	return err == nil, err
}

func errUnlessAccepted(o RestoreOptions, err error) error {
	if o.AcceptLedgerOf != "" {
		return nil
	}
	return err
}

// continues reports whether the backup's ledger continues the directory's.
func (x *restore) continues(end accounting.Position) (bool, error) {
	l, err := accounting.Open(filepath.Join(x.o.From, fileLedger), accounting.Options{DirectoryID: x.m.Directory, ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer l.Close()
	return l.Continues(end)
}

// accepted returns nil where the operator has said that the backup's ledger is to be the account.
func (x *restore) accepted(why string) error {
	if x.o.AcceptLedgerOf != "" {
		return nil
	}
	return fmt.Errorf("engine: restore: %s, and whatever was charged after %s would be forgotten and could be spent again. "+
		"If there is no later ledger, say so with --accept-ledger-of %s, and lower the budgets by what may have been spent since then",
		why, x.m.Ledger.At.UTC().Format("2006-01-02 15:04 MST"), x.m.Day())
}

// place puts the backup's files into the directory, beside what they replace until all are there.
func (x *restore) place(keepLedger bool) (aside string, err error) {
	const suffix = ".restoring"
	names := x.names(keepLedger)
	for _, name := range names {
		if err := x.bring(name, name+suffix); err != nil {
			return "", err
		}
	}
	d := x.dir
	d.id = x.m.Directory
	if err := d.write(d.id + " " + restoring + "\n"); err != nil {
		return "", err
	}
	aside = "replaced-" + time.Now().UTC().Format("20060102T150405Z")
	moved := false
	// The log of the store and the mark of a ledger belong to the files that go.
	gone := []string{fileData + ".wal"}
	if !keepLedger {
		gone = append(gone, fileLedger+accounting.MarkSuffix)
	}
	for _, name := range append(gone, names...) {
		if !d.has(name) {
			continue
		}
		if err := os.MkdirAll(filepath.Join(d.path, aside), 0o700); err != nil {
			return "", fmt.Errorf("engine: restore: %w", err)
		}
		if err := os.Rename(filepath.Join(d.path, name), filepath.Join(d.path, aside, name)); err != nil {
			return "", fmt.Errorf("engine: restore: %w", err)
		}
		moved = true
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(d.path, name+suffix), filepath.Join(d.path, name)); err != nil {
			return "", fmt.Errorf("engine: restore: %w", err)
		}
	}
	if !moved {
		aside = ""
	}
	return aside, durable.SyncDir(d.path)
}

// names lists the files that come from the backup.
func (x *restore) names(keepLedger bool) []string {
	names := []string{fileData, fileCatalog}
	if !keepLedger {
		names = append(names, fileLedger, fileLedger+accounting.KeySuffix)
	}
	if !keepLedger || !x.dir.has(fileUsers) {
		names = append(names, fileUsers)
	}
	return names
}

// bring copies one file of the backup, and checks again that it is what the manifest says.
func (x *restore) bring(name, as string) error {
	_ = os.Remove(filepath.Join(x.dir.path, as)) // of an interrupted restore
	from, err := os.Open(filepath.Join(x.o.From, name))
	if err != nil {
		return fmt.Errorf("engine: restore: %w", err)
	}
	defer from.Close()
	have, err := x.tally.place(x.dir.path, as, func(w io.Writer) error { _, err := io.Copy(w, from); return err })
	if err != nil {
		return err
	}
	for _, want := range x.m.Files {
		if want.Name == name && want.SHA256 == have.SHA256 {
			return nil
		}
	}
	return fmt.Errorf("engine: restore: %s changed while it was copied", name)
}

// record notes the restore in the ledger, and lets servers start on the directory.
func (x *restore) record(keptLedger bool) error {
	o := accounting.Options{DirectoryID: x.m.Directory}
	if !keptLedger {
		o.Accept = &accounting.Acceptance{Of: x.m.Ledger.At, By: x.o.By, Reason: "restored the backup made at " + x.m.Made.Format(time.RFC3339)}
	}
	l, err := accounting.Open(filepath.Join(x.dir.path, fileLedger), o)
	if err != nil {
		return err
	}
	defer l.Close()
	text := "restored data and policies of the backup made at " + x.m.Made.Format(time.RFC3339)
	if keptLedger {
		text += "; the ledger stays"
	}
	if err := l.Note(x.o.By, accounting.RestoreNote, text); err != nil {
		return err
	}
	if !keptLedger {
		t := traces{cfg: x.o.config()} // data and policies are the backup's, and know no later ledger
		if x.o.Witness != "" {
			t.witness = witness.At(x.o.Witness, x.m.Directory)
		}
		if err := x.o.settle(x.tally.ctx, l, t, text); err != nil {
			return err
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	return x.dir.write(x.dir.id + "\n")
}
