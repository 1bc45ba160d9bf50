// Package archive moves the older entries of a ledger into a file of their own.
package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"scrim/accounting"
	"scrim/engine/observe/audit"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/rollback"
)

// Options say which entries of which ledger are archived.
type Options struct {
	// Place is the data directory. Its audit log and its witness are told how far the ledger has
	// come: a position that is archived cannot be compared any more without the archive.
	Place datadir.Place
	// Before is the day (UTC): entries made on it and later stay.
	Before time.Time
	// To is the directory of the archive; "" for the one beside the ledger, where a restore of
	// an old backup looks for it.
	To string
	// By is who archives, for the ledger's note and the audit log.
	By string
}

// Archived says what an archive has taken.
type Archived struct {
	accounting.ArchivePlan
	Path          string // of the archive
	Before, After int64  // bytes of the ledger's file
}

// Ledger moves the older entries of a ledger that nobody serves into an archive. The places
// that know how far the ledger had come are compared with it first, and told where it ends now, so
// that none of them knows an archived position only.
func Ledger(ctx context.Context, o Options, progress func(done, total int64)) (a Archived, err error) {
	path, lo, unlock, err := datadir.LedgerOf(o.Place.Dir)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	to := cmp.Or(o.To, path+accounting.ArchiveSuffix)
	if a.Before, err = sizeOf(path); err != nil {
		return a, err
	}
	lo.Progress = progress // of reading the ledger, before records are copied
	if a.ArchivePlan, err = o.settle(ctx, path, lo); err != nil {
		return a, err
	}
	a.Path = filepath.Join(to, a.File)
	if err := accounting.Archive(ctx, path, lo, to, a.ArchivePlan, progress); err != nil {
		return a, err
	}
	a.After, err = sizeOf(path)
	return a, err
}

// settle plans the archive, has the ledger note it, and brings all places up to the ledger's end.
func (o Options) settle(ctx context.Context, path string, lo accounting.Options) (p accounting.ArchivePlan, err error) {
	l, err := accounting.Open(path, lo)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	places, closePlaces, err := rollback.Open(o.Place, lo.DirectoryID)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, closePlaces()) }()
	if err := places.Check(ctx, l); err != nil {
		return p, err
	}
	if p, err = l.PlanArchive(ctx, o.Before); err != nil {
		return p, err
	}
	note := fmt.Sprintf("records %d to %d, of %s and before, go into the archive %s", p.First, p.Last, p.Until.Format(time.DateOnly), p.File)
	if err := l.Note(o.By, accounting.ArchiveNote, note); err != nil {
		return p, err
	}
	return p, places.Tell(ctx, l.Position(), audit.Archived, o.By, note)
}

func sizeOf(path string) (int64, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("engine: %w", err)
	}
	return fi.Size(), nil
}
