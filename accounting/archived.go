package accounting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
)

// ErrArchive says that an archive of the ledger is missing, or is not what was written.
var ErrArchive = errors.New("accounting: archive of the ledger")

// ArchiveSuffix names the directory of a ledger's archives: the ledger's own name with it behind.
const ArchiveSuffix = ".archive"

// archiveKey stands in the meta bucket of an archive: it is no ledger that could go on.
var archiveKey = []byte("archive")

// archiveName is the name of an archive: its first and its last record.
func archiveName(first, last uint64) string { return fmt.Sprintf("%012d-%012d.db", first, last) }

// archiveFile is an archive by its name.
type archiveFile struct {
	stretch
	path string
}

// archivesTo lists the archives in a directory that lead from the first record to one, in their
// order.
func archivesTo(dir string, last uint64) ([]archiveFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	var all, chain []archiveFile
	for _, e := range entries {
		x := archiveFile{path: filepath.Join(dir, e.Name())}
		if n, err := fmt.Sscanf(e.Name(), "%d-%d.db", &x.first, &x.last); n == 2 && err == nil && e.Name() == archiveName(x.first, x.last) {
			all = append(all, x)
		}
	}
	for last > 0 {
		i := slices.IndexFunc(all, func(x archiveFile) bool { return x.last == last && x.first <= last })
		if i < 0 {
			return nil, fmt.Errorf("%w: the archive that ends with record %d is not in %s. Put it back there", ErrArchive, last, dir)
		}
		chain, last = append(chain, all[i]), all[i].first-1
	}
	slices.Reverse(chain)
	return chain, nil
}

// OpenArchive opens an archive of the ledger at path, whose key it needs, and verifies all of it.
// It can be read and exported.
func OpenArchive(file, path string, o Options) (*Ledger, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	return openArchive(file, path, o)
}

func openArchive(file, path string, o Options) (*Ledger, error) {
	o.ReadOnly, o.Checkpoints, o.archive = true, false, true
	db, err := openFile(file, o)
	if err != nil {
		return nil, err
	}
	l := newLedger(path, db, o) // with that one's key
	if err := l.verify(o); err != nil {
		_ = boltfile.Guard(db.Close)
		return nil, fmt.Errorf("%w %s: %w", ErrArchive, file, err)
	}
	l.path, l.fault = file, errReadOnly
	end := l.end
	l.durable.Store(&end)
	close(l.stopped)
	close(l.up.idle)
	return l, nil
}

// Archived is where the records end that are not in the ledger's file, but in archives; record 0
// where none are.
func (l *Ledger) Archived() Position { return positionOf(l.base.end) }

// VerifyArchives opens the archives in a directory that lead to the ledger's file, verifies all of
// each, and that each goes on where the one before ended, up to the file, and that their records
// come to what is sealed. It calls found with each.
func (l *Ledger) VerifyArchives(ctx context.Context, dir string, o Options, found func(Report)) error {
	if err := o.complete(); err != nil {
		return err
	}
	return l.eachArchive(dir, 1, o, func(a *Ledger) error {
		r, err := a.Report()
		if err == nil {
			found(r)
		}
		return cmp.Or(err, ctx.Err())
	})
}

// eachArchive opens the archives that lead to the ledger's file, from the one that holds a record
// on, and calls f with each.
func (l *Ledger) eachArchive(dir string, from uint64, o Options, f func(*Ledger) error) error {
	list, err := archivesTo(dir, l.base.end.ID)
	if err != nil {
		return err
	}
	var before *cut // nil: nobody has to know
	for _, x := range list {
		if x.last < from {
			continue
		}
		if x.first == 1 {
			first := l.beginning()
			before = &first
		}
		next, err := l.oneArchive(x, before, o, f)
		if err != nil {
			return err
		}
		before = &next
	}
	return follows(l.base, before, "the ledger")
}

// oneArchive opens an archive that goes on from a cut, calls f with it, and returns what the
// records are come to at its end.
func (l *Ledger) oneArchive(x archiveFile, before *cut, o Options, f func(*Ledger) error) (next cut, err error) {
	a, err := openArchive(x.path, l.path, o)
	if err != nil {
		return next, err
	}
	defer a.Close()
	if a.base.end.ID != x.first-1 || a.end.ID != x.last {
		return next, fmt.Errorf("%w: %s holds records %d to %d", ErrArchive, x.path, a.base.end.ID+1, a.end.ID)
	}
	if err := follows(a.base, before, x.path); err != nil {
		return next, err
	}
	return cut{a.end, a.state.Encode(nil)}, f(a)
}

// follows checks that a file that begins with a cut goes on from what the records before it come
// to. A program that computes the curves of events otherwise may have sealed greater ones, never
// lesser.
func follows(c cut, before *cut, file string) error {
	if before == nil {
		return nil
	}
	if c.end.ID != before.end.ID || c.end.Hash != before.end.Hash {
		return fmt.Errorf("%w: %s does not go on where the archive before it ended, at record %d", ErrArchive, file, before.end.ID)
	}
	have, err := c.decode()
	if err != nil {
		return err
	}
	want, err := before.decode()
	if err == nil && !have.Covers(want) {
		err = fmt.Errorf("%w: the archives up to record %d come to something else than what is sealed in %s", ErrArchive, before.end.ID, file)
	}
	return err
}

// archivedHash returns the hash of a record that is in an archive beside the ledger.
func (l *Ledger) archivedHash(id uint64) (hash chain.Sum, found bool, err error) {
	o := Options{DirectoryID: l.directory}
	if err := o.complete(); err != nil {
		return hash, false, err
	}
	err = l.eachArchive(l.path+ArchiveSuffix, id, o, func(a *Ledger) (err error) {
		if id > a.base.end.ID && id <= a.end.ID {
			hash, found, err = a.hashAt(id)
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("record %d of %s is archived, and what it was has to be known: %w", id, l.path, err)
	}
	return hash, found, err
}
