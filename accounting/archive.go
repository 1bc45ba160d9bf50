package accounting

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/invalid"
	"scrim/internal/durable"
)

// ArchiveNote is the kind of the note that says what was moved into an archive. It is made before:
// a crash leaves the note and no archive.
const ArchiveNote = "archive"

// ArchivePlan is what an archive takes.
type ArchivePlan struct {
	First, Last uint64    // the records
	Until       time.Time // when the last of them was made
	File        string    // its name
}

// PlanArchive chooses the records that an archive takes: those of days before the one of a time,
// but for up to 255 of the newest, since an archive ends where a block of records does. It refuses
// with ErrInvalid where there are none. The last record of a ledger always stays.
func (l *Ledger) PlanArchive(ctx context.Context, before time.Time) (p ArchivePlan, err error) {
	if err := l.searchable(ctx); err != nil {
		return p, err
	}
	l.reading.RLock()
	last := min(l.index.Before(budget.DateOf(before)), uint64(l.index.Last)-1)
	l.reading.RUnlock()
	p.First, p.Last = l.base.end.ID+1, (last+1)/index.BlockSize*index.BlockSize-1
	if last+1 < index.BlockSize || p.Last < p.First {
		return p, invalid.New("%s has fewer than %d records before %s that are not archived: there is nothing to archive", l.path, index.BlockSize, before.UTC().Format(time.DateOnly))
	}
	h, err := l.headOf(p.Last)
	p.Until, p.File = time.Unix(0, h.At).UTC(), archiveName(p.First, p.Last)
	return p, err
}

// Archive moves the records of a plan out of the file of a ledger that nobody has open, into a file
// of their own in a directory, which is made: it is verified before the ledger's file is written
// anew without them, which is verified too, and takes the place of the old one in one step. What
// they come to, and their last hash, are sealed in the ledger: budgets, sums and the chain go on as
// if they were there. The key and the mark stay. Archive tells progress, which may be nil, how many
// records are copied.
func Archive(ctx context.Context, path string, o Options, dir string, p ArchivePlan, progress func(done, total int64)) error {
	o.Create, o.Accept, o.ReadOnly = false, nil, true
	if err := o.complete(); err != nil {
		return err
	}
	l, err := Open(path, o)
	if err != nil {
		return err
	}
	defer l.Close()
	if progress == nil {
		progress = func(int64, int64) {}
	}
	a := archiving{Ledger: l, ctx: ctx, o: o, plan: p, dir: dir, progress: progress}
	if err := a.run(); err != nil {
		return fmt.Errorf("accounting: archiving %s: %w", path, err)
	}
	return nil
}

// archiving is an archive that is being made.
type archiving struct {
	*Ledger
	ctx      context.Context
	o        Options
	plan     ArchivePlan
	dir      string
	progress func(done, total int64)
}

func (a *archiving) run() error {
	if err := a.check(); err != nil {
		return err
	}
	c, last, err := a.cutAt(a.plan.Last)
	if err != nil {
		return err
	}
	file := filepath.Join(a.dir, a.plan.File)
	if err := a.placeArchive(file, c, last); err != nil {
		return err
	}
	if err := archiveStep("archive-placed"); err != nil {
		return err
	}
	return a.shorten(c)
}

// check refuses a plan that does not fit the ledger, and makes the mark durable: it must not fall
// back behind the archive in a crash.
func (a *archiving) check() error {
	p := a.plan
	if p.First != a.base.end.ID+1 || p.Last < p.First || p.Last >= a.end.ID || (p.Last+1)%index.BlockSize != 0 || p.File != archiveName(p.First, p.Last) {
		return invalid.New("records %d to %d cannot be archived", p.First, p.Last)
	}
	if a.marked == nil || a.marked.ID < p.Last {
		return fmt.Errorf("%w: the mark does not reach record %d. Start the server, stop it, and try again", ErrOlder, p.Last)
	}
	f, err := os.OpenFile(a.path+MarkSuffix, os.O_RDWR, chain.FileMode)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// cutAt reads and verifies the records of the file up to one, and returns what they come to, and
// that record's day.
func (l *Ledger) cutAt(id uint64) (cut, budget.Date, error) {
	s, err := l.base.decode()
	if err != nil {
		return cut{}, 0, err
	}
	at, memory := l.base.end, l.scratch()
	for _, b := range partsBetween(at.ID, id, l.part) {
		if _, at, err = l.readPart(b, at.Hash, s, memory, func(time.Duration) error { return nil }); err != nil {
			return cut{}, 0, err
		}
	}
	return cut{at, s.Encode(nil)}, s.LastDay, nil
}

// placeArchive makes the archive, complete or not at all. One that is there from an interrupted
// attempt is taken, if it holds the same.
func (a *archiving) placeArchive(file string, c cut, last budget.Date) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return a.isArchive(file, c)
	}
	name := file + ".partial"
	defer os.Remove(name)
	err := a.write(name, func(db *bolt.DB, from *bolt.Tx) error {
		return errors.Join(
			a.meta(db, from, map[string][]byte{
				string(formatKey): []byte(chain.ArchivedFormat), string(baseKey): a.base.seal(a.key, baseSeal, nil),
				string(headKey): chain.Head{Mark: c.end, Day: last}.Encode(), string(archiveKey): []byte(a.plan.File),
			}),
			a.records(db, from, a.plan.First, a.plan.Last),
			emptyBuckets(db, answersBucket, orderBucket))
	})
	if err == nil {
		err = a.isArchive(name, c)
	}
	if err == nil {
		err = archiveStep("archive-written")
	}
	if err == nil {
		err = os.Chmod(name, 0o400)
	}
	if err == nil {
		err = os.Rename(name, file)
	}
	if err == nil {
		err = errors.Join(durable.SyncDir(a.dir), durable.SyncDir(filepath.Dir(a.dir)))
	}
	return err
}

// isArchive verifies a file: it is the archive of the plan, and comes to the cut.
func (a *archiving) isArchive(file string, c cut) error {
	x, err := openArchive(file, a.path, a.o)
	if err != nil {
		return err
	}
	defer x.Close()
	if x.base.end != a.base.end || x.end.ID != c.end.ID || x.end.Hash != c.end.Hash || string(x.state.Encode(nil)) != string(c.state) {
		return fmt.Errorf("%w: %s holds other records than numbers %d to %d of the ledger. Move it away, and try again", ErrArchive, file, a.plan.First, a.plan.Last)
	}
	return nil
}

// shorten writes the ledger's file without the records of the archive, and puts it in the place of
// the old one.
func (a *archiving) shorten(c cut) error {
	name := a.path + ".archiving"
	defer os.Remove(name)
	err := a.write(name, func(db *bolt.DB, from *bolt.Tx) error {
		silent := func(int64) {}
		return errors.Join(
			a.meta(db, from, map[string][]byte{string(formatKey): []byte(chain.ArchivedFormat), string(baseKey): c.seal(a.key, baseSeal, nil)}),
			a.records(db, from, c.end.ID+1, a.end.ID),
			copyBucket(a.ctx, db, from.Bucket(answersBucket), answersBucket, silent),
			copyBucket(a.ctx, db, from.Bucket(orderBucket), orderBucket, silent))
	})
	if err == nil {
		err = a.same(name, a.o)
	}
	if err == nil {
		err = archiveStep("ledger-written")
	}
	if err != nil {
		return err
	}
	a.dropCheckpoint() // it begins with record 1, and would not be used
	if err := os.Rename(name, a.path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(a.path))
}

// archiveStep is where tests end the making of an archive, as a crash would.
var archiveStep = func(point string) error { return nil }
