package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"scrim/accounting"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/store/duckdb"
	"scrim/internal/durable"
	"scrim/internal/lists"
)

// RestoreOptions say what is restored and where to.
type RestoreOptions struct {
	// From is the directory of the backup.
	From string
	// To is the data directory. Its audit log and its witness know how far the ledger had come.
	To datadir.Place
	// Accept is needed where the backup's ledger is to be the account from now on.
	Accept rollback.Acceptance
}

// Restored says what a restore has done.
type Restored struct {
	Manifest Manifest
	// KeptLedger: the directory's own ledger stays, which holds everything that the backup's holds.
	// So do its accounts.
	KeptLedger bool
	// Aside is the directory in which what was replaced is kept; "" where nothing was.
	Aside string
}

// Restore puts a verified backup in a data directory that nobody serves.
//
// Into a directory that is in use otherwise go the data and the policies. Its ledger stays, if it
// continues the backup's: nothing that was spent is given back. A ledger that cannot be read, is
// missing, or is itself an older copy of the backup's, gives way to the backup's only where Accept
// says so; so does no ledger at all, in a new directory. Two ledgers that have gone separate ways
// since a common beginning are refused: neither knows what the other spent.
//
// What is replaced is kept beside. Until everything is in place the directory is marked, and no
// server starts on it; an interrupted restore is run again.
func Restore(ctx context.Context, o RestoreOptions, progress func(done, total int64)) (r Restored, err error) {
	if r.Manifest, err = Verify(ctx, o.From, progress); err != nil {
		return r, err
	}
	if o.Accept.LedgerOf != "" {
		if o.Accept.LedgerOf != r.Manifest.Day() {
			return r, fmt.Errorf("engine: restore: the last record in the backup's ledger is of %s, not of %s", r.Manifest.Day(), o.Accept.LedgerOf)
		}
	}
	x := &restore{o: o, m: r.Manifest, tally: &tally{ctx: ctx}}
	if r.KeptLedger, err = x.open(); x.dir != nil {
		defer x.dir.Close()
	}
	if err != nil {
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
	dir   *datadir.Directory
	tally *tally
}

// open locks the directory, and reports whether its own ledger stays.
func (x *restore) open() (kept bool, err error) {
	there := &datadir.Directory{Path: x.o.To.Dir}
	id, _, err := there.State()
	switch {
	case err != nil:
		return false, err
	case id != "":
		if x.dir, err = datadir.Lock(x.o.To.Dir); err != nil {
			return false, err
		}
		return x.choose()
	}
	for _, name := range append(datadir.StoreFiles(), datadir.LedgerFile, datadir.CatalogFile, datadir.UsersFile) {
		if there.Has(name) {
			return false, fmt.Errorf("engine: restore: %s has %s but no %s file; restore into a new directory", there.Path, name, datadir.IDFile)
		}
	}
	if err := x.accepted("the directory is new, so that its account would be the backup's"); err != nil {
		return false, err
	}
	x.dir, err = datadir.LockNew(x.o.To.Dir, x.m.Directory)
	return false, err
}

// choose reports whether the directory's own ledger stays. It changes nothing.
func (x *restore) choose() (kept bool, err error) {
	switch id, _, err := x.dir.State(); {
	case err != nil:
		return false, err
	case id != x.m.Directory:
		return false, fmt.Errorf("engine: restore: the backup is of the data directory %s, and %s is %s; restore into a new directory", x.m.Directory, x.dir.Path, id)
	}
	path := filepath.Join(x.dir.Path, datadir.LedgerFile)
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
			"Nothing was changed. Restore a backup from before that, or of this directory", x.dir.Path)
	}
	return false, x.accepted(fmt.Sprintf("the directory's own ledger ends at record %d, before the backup's, which ends at record %d", end.Record, x.m.Ledger.Record))
}

// keeps reports whether the directory's own ledger stays, which continues the backup's. One that is
// older than it is known to have been is refused, unless it was put there by a restore that was not
// finished.
func (x *restore) keeps(own *accounting.Ledger) (bool, error) {
	err := rollback.At(x.o.To, x.m.Directory).Check(x.tally.ctx, own)
	if _, state, _ := x.dir.State(); err != nil && state == datadir.Restoring && x.o.Accept.LedgerOf != "" {
		return false, nil
	}
	return err == nil, err
}

func errUnlessAccepted(o RestoreOptions, err error) error {
	if o.Accept.LedgerOf != "" {
		return nil
	}
	return err
}

// continues reports whether the backup's ledger continues the directory's.
func (x *restore) continues(end accounting.Position) (bool, error) {
	l, err := accounting.Open(filepath.Join(x.o.From, datadir.LedgerFile), accounting.Options{DirectoryID: x.m.Directory, ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer l.Close()
	return l.Continues(end)
}

// accepted returns nil where the operator has said that the backup's ledger is to be the account.
func (x *restore) accepted(why string) error {
	if x.o.Accept.LedgerOf != "" {
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
	if err := lists.Each(names, func(name string) error { return x.bring(name, name+suffix) }); err != nil {
		return "", err
	}
	d := x.dir
	if err := d.BeginRestore(x.m.Directory); err != nil {
		return "", err
	}
	aside = "replaced-" + time.Now().UTC().Format("20060102T150405Z")
	moved := false
	// The log of the store and the mark of a ledger belong to the files that go; so does the name
	// of what was served here (datadir.Directory.Life).
	gone := append(datadir.StoreFiles()[1:], datadir.HostFile)
	if !keepLedger {
		gone = append(gone, datadir.LedgerFile+accounting.MarkSuffix)
	}
	for _, name := range append(gone, names...) {
		if !d.Has(name) {
			continue
		}
		if err := os.MkdirAll(filepath.Join(d.Path, aside), 0o700); err != nil {
			return "", fmt.Errorf("engine: restore: %w", err)
		}
		if err := os.Rename(filepath.Join(d.Path, name), filepath.Join(d.Path, aside, name)); err != nil {
			return "", fmt.Errorf("engine: restore: %w", err)
		}
		moved = true
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(d.Path, name+suffix), filepath.Join(d.Path, name)); err != nil {
			return "", fmt.Errorf("engine: restore: %w", err)
		}
	}
	if !moved {
		aside = ""
	}
	// what was acknowledged after the backup is given up
	return aside, errors.Join(duckdb.Forgive(filepath.Join(d.Path, datadir.DataFile)), durable.SyncDir(d.Path))
}

// names lists the files that come from the backup.
func (x *restore) names(keepLedger bool) []string {
	names := []string{datadir.DataFile, datadir.CatalogFile}
	if !keepLedger {
		names = append(names, datadir.LedgerFile, datadir.LedgerFile+accounting.KeySuffix)
	}
	if !keepLedger || !x.dir.Has(datadir.UsersFile) {
		names = append(names, datadir.UsersFile)
	}
	return names
}

// bring copies one file of the backup, and checks again that it is what the manifest says.
func (x *restore) bring(name, as string) error {
	_ = os.Remove(filepath.Join(x.dir.Path, as)) // of an interrupted restore
	from, err := os.Open(filepath.Join(x.o.From, name))
	if err != nil {
		return fmt.Errorf("engine: restore: %w", err)
	}
	defer from.Close()
	have, err := x.tally.place(x.dir.Path, as, func(w io.Writer) error { _, err := io.Copy(w, from); return err })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(x.m.Files, func(want File) bool { return want.Name == name && want.SHA256 == have.SHA256 }) {
		return nil
	}
	return fmt.Errorf("engine: restore: %s changed while it was copied", name)
}

// record notes the restore in the ledger, and lets servers start on the directory.
func (x *restore) record(keptLedger bool) error {
	o := accounting.Options{DirectoryID: x.m.Directory}
	if !keptLedger {
		o.Accept = &accounting.Acceptance{Of: x.m.Ledger.At, By: x.o.Accept.By, Reason: "restored the backup made at " + x.m.Made.Format(time.RFC3339)}
	}
	l, err := accounting.Open(filepath.Join(x.dir.Path, datadir.LedgerFile), o)
	if err != nil {
		return err
	}
	defer l.Close()
	text := "restored data and policies of the backup made at " + x.m.Made.Format(time.RFC3339)
	if keptLedger {
		text += accounting.LedgerStays
	}
	if err := l.Note(x.o.Accept.By, accounting.RestoreNote, text); err != nil {
		return err
	}
	if !keptLedger {
		// Data and policies are the backup's, and know no later ledger.
		places := rollback.At(x.o.To, x.m.Directory)
		if err := places.Accept(x.tally.ctx, l, x.o.Accept, text); err != nil {
			return err
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	return x.dir.EndRestore()
}
