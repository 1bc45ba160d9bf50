package accounting

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/state"
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

// write makes a new file out of what the ledger holds. It is on the disk when write returns.
func (a *archiving) write(name string, fill func(db *bolt.DB, from *bolt.Tx) error) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		return err
	}
	db.AllocSize = growth
	err = boltfile.Guard(func() error {
		return a.db.View(func(from *bolt.Tx) error { return fill(db, from) })
	})
	if err == nil {
		err = db.Sync()
	}
	return errors.Join(err, db.Close())
}

// meta copies what the ledger says of itself, with some of it replaced.
func (a *archiving) meta(db *bolt.DB, from *bolt.Tx, replaced map[string][]byte) error {
	return db.Update(func(tx *bolt.Tx) error {
		to, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		err = from.Bucket(metaBucket).ForEach(to.Put)
		if string(to.Get(formatKey)) == chain.RenewedFormat {
			delete(replaced, string(formatKey))
		}
		for k, v := range replaced {
			err = errors.Join(err, to.Put([]byte(k), v))
		}
		return err
	})
}

// records copies records, some thousands in a transaction.
func (a *archiving) records(db *bolt.DB, from *bolt.Tx, first, last uint64) error {
	const together = 20_000
	c := from.Bucket(chain.Records).Cursor()
	k, v := c.Seek(chain.RecordKey(first))
	for done := false; !done; {
		err := db.Update(func(tx *bolt.Tx) error {
			to, err := tx.CreateBucketIfNotExists(chain.Records)
			if err != nil {
				return err
			}
			to.FillPercent = 1 // keys come in order
			for range together {
				if done = k == nil || binary.BigEndian.Uint64(k) > last; done {
					break
				}
				if err := to.Put(k, v); err != nil {
					return err
				}
				a.progress(int64(binary.BigEndian.Uint64(k)-a.base.end.ID), int64(a.end.ID-a.base.end.ID))
				k, v = c.Next()
			}
			return a.ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func emptyBuckets(db *bolt.DB, names ...[]byte) error {
	return db.Update(func(tx *bolt.Tx) (err error) {
		for _, n := range names {
			_, e := tx.CreateBucket(n)
			err = errors.Join(err, e)
		}
		return err
	})
}

// cut is what the records up to one of them come to: what is counted on when they are not read.
type cut struct {
	end   chain.Mark
	state []byte // encoded; nil: nothing is spent and no budget is set
}

// errSeal says that sealed bytes were not written with the ledger's key, or for another purpose.
var errSeal = errors.New("the seal does not match")

// What cuts are sealed for: one is never taken for the other.
const (
	baseSeal       = "ledger base"
	checkpointSeal = "ledger checkpoint"
)

// seal encodes the cut with a keyed hash over all of it, and over what it is bound to, which is of
// one length for each purpose:
//
//	record u64, unix nanos i64, hash [32], state, hash [32]
func (c cut) seal(k chain.Key, purpose string, to []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, c.end.ID)
	b = binary.BigEndian.AppendUint64(b, uint64(c.end.At.UnixNano()))
	b = append(append(b, c.end.Hash[:]...), c.state...)
	t := tagOf(k, purpose, to, b)
	return append(b, t[:]...)
}

// unseal is seal's inverse. The state is not decoded.
func unseal(k chain.Key, purpose string, to, b []byte) (c cut, err error) {
	const least = 8 + 8 + 2*len(chain.Sum{})
	if len(b) < least {
		return c, errSeal
	}
	body, tag := b[:len(b)-len(chain.Sum{})], b[len(b)-len(chain.Sum{}):]
	if want := tagOf(k, purpose, to, body); !hmac.Equal(tag, want[:]) {
		return c, errSeal
	}
	c.end.ID = binary.BigEndian.Uint64(body)
	c.end.At = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:]))).UTC()
	c.end.Hash = chain.Sum(body[16:])
	if rest := body[16+len(chain.Sum{}):]; len(rest) > 0 {
		c.state = bytes.Clone(rest)
	}
	return c, nil
}

// tagOf is the keyed hash of bytes that are written for a purpose, and of what they are bound to.
func tagOf(k chain.Key, purpose string, to, b []byte) chain.Sum {
	derived := k.Derive(purpose)
	m := hmac.New(sha256.New, derived[:])
	m.Write(to)
	m.Write(b)
	return chain.Sum(m.Sum(nil))
}

// decode returns the state, which is the caller's own.
func (c cut) decode() (*state.State, error) {
	if c.state == nil {
		return state.New(), nil
	}
	s, err := state.Decode(c.state)
	if err == nil && s.LastID != c.end.ID {
		err = state.ErrState
	}
	return s, err
}

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
