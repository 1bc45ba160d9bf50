package accounting

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// The buckets and keys of the file; see the package documentation.
var (
	metaBucket    = []byte("meta")
	answersBucket = []byte("answers")
	orderBucket   = []byte("answer-order")

	formatKey    = []byte("format")
	directoryKey = []byte("directory")
	checkKey     = []byte("key-check")
	headKey      = []byte("head")
	baseKey      = []byte("base")
)

const defaultLockTimeout = time.Second

// mapped is how much of the address space the file gets at least: while it is smaller, a reader
// never makes a writer wait.
const mapped = 1 << 30

// growth is how many bytes the file grows by.
const growth = 256 << 10

// Open opens the ledger at path, reads and verifies all of it, and starts its committer. With
// Options.Checkpoints it begins at the last checkpoint, where there is one that was made of this
// file, and verifies what was before it when it is open. It refuses a missing file (unless
// Options.Create), one of another directory, key or format, one that is damaged in any part that
// spending rests on, one that is older than its high-water mark, and one that another process has
// open: ErrMissing, ErrForeign, ErrKey, ErrVersion, ErrDamaged, ErrOlder, ErrLocked. It never
// resets anything.
func Open(path string, o Options) (*Ledger, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := ensure(path, o); err != nil {
		return nil, err
	}
	db, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	l := newLedger(path, db, o)
	if err = l.start(o); err != nil {
		_ = boltfile.Guard(db.Close)
		return nil, err
	}
	if o.Accept != nil {
		if err := l.Note(o.Accept.By, RestoreNote, o.Accept.text(l)); err != nil {
			_ = l.Close()
			return nil, err
		}
	}
	return l, nil
}

// complete checks the options and fills in what was left out.
func (o *Options) complete() error {
	if err := budget.CheckName("directory id", o.DirectoryID); err != nil {
		return err
	}
	if o.AnswerBytes < 0 {
		return invalid.New("answer bytes: want at least 0, have %d", o.AnswerBytes)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.part = cmp.Or(o.part, partSize)
	o.Checkpoints = o.Checkpoints && !o.ReadOnly && o.Accept == nil
	o.AnswerBytes = cmp.Or(o.AnswerBytes, DefaultAnswerBytes)
	if o.LockTimeout <= 0 {
		o.LockTimeout = defaultLockTimeout
	}
	return o.Accept.check(o)
}

func newLedger(path string, db *bolt.DB, o Options) *Ledger {
	return &Ledger{
		path: path, directory: o.DirectoryID, db: db, now: o.Now, part: o.part, archive: o.archive,
		answers: answerStore{limit: o.AnswerBytes, pending: map[string][]byte{}},
		next:    newBatch(),
		wake:    make(chan struct{}, 1), closing: make(chan struct{}), stopped: make(chan struct{}),
		up: upkeep{wake: make(chan struct{}, 1), idle: make(chan struct{}), indexed: make(chan struct{})},
	}
}

// start loads the ledger, checks it against its mark, and begins to take charges.
func (l *Ledger) start(o Options) error {
	if err := l.verify(o); err != nil {
		return err
	}
	if err := l.checkMark(o); err != nil {
		return err
	}
	end := l.end
	l.durable.Store(&end)
	if o.ReadOnly {
		l.fault = errReadOnly
		close(l.stopped)
		close(l.up.idle)
		return nil
	}
	var err error
	// a killed process may have left its last batch to the system without a sync
	if l.marked == nil || l.marked.ID != l.end.ID {
		if err = boltfile.Guard(l.db.Sync); err != nil {
			return fmt.Errorf("accounting: flushing the ledger: %w", err)
		}
	}
	if l.mark, err = openMarker(l.path+MarkSuffix, chain.New(l.key.Derive("mark")), l.end); err != nil {
		return err
	}
	go l.commit()
	if o.Checkpoints {
		go l.keep()
		l.nudge()
	} else {
		close(l.up.idle)
	}
	return nil
}

// verify reads and verifies the file, from a checkpoint on where there is one and the options ask
// for it, else all of it.
func (l *Ledger) verify(o Options) error {
	var end chain.Head
	var check, base []byte
	err := boltfile.Guard(func() error {
		return l.db.View(func(tx *bolt.Tx) (err error) {
			end, check, base, err = l.identify(tx)
			return err
		})
	})
	if err == nil {
		l.key, err = l.readKey(check)
	}
	if err == nil {
		l.chain = chain.New(l.key)
		l.base, err = l.baseOf(base)
	}
	if err == nil {
		err = l.derive(end, o)
	}
	switch {
	case err == nil, errors.Is(err, ErrForeign), errors.Is(err, ErrVersion), errors.Is(err, ErrKey):
		return err
	case newer(err):
		return fmt.Errorf("%w: %s: %v. %s", ErrVersion, l.path, err, repairNewer)
	}
	return damaged(l.path, err)
}

// derive makes budgets, spending and the index, from a checkpoint or from the base.
func (l *Ledger) derive(end chain.Head, o Options) error {
	from := l.base
	if o.Checkpoints {
		c, err := l.resume(end)
		if err == nil {
			from = c
		} else if err := boltfile.VerifyPath(l.path, boltfile.Whole); err != nil { // they were only skimmed
			return err
		}
	}
	if err := boltfile.Guard(func() error { return l.load(l.key, from, end, l.part, o.Progress) }); err != nil {
		return err
	}
	l.prepareUpkeep(from, o)
	return nil
}

// ensure returns nil when there is a file at path, which it makes only when that is allowed.
func ensure(path string, o Options) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && (!o.Create || o.ReadOnly):
		return fmt.Errorf("%w: %s. %s", ErrMissing, path, repairMissing)
	case errors.Is(err, os.ErrNotExist):
		return create(path, o)
	case err != nil:
		return fmt.Errorf("accounting: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file. %s", ErrDamaged, path, repairDamaged)
	}
	return nil
}

func damaged(path string, cause error) error {
	return fmt.Errorf("%w: %s: %v. %s", ErrDamaged, path, cause, repairDamaged)
}

// openFile locks the file, verifies its pages, and only then lets bbolt map it: bbolt trusts what
// it reads and may crash the process on a damaged page.
func openFile(path string, o Options) (*bolt.DB, error) {
	var db *bolt.DB
	var held *os.File
	var outside error // not about the contents: permissions, the lock
	err := boltfile.Guard(func() (e error) {
		db, e = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: o.LockTimeout, ReadOnly: o.ReadOnly, InitialMmapSize: mapped,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
				if err != nil {
					outside = fmt.Errorf("accounting: opening the ledger: %w", err)
					return nil, outside
				}
				held = f
				switch err = lock(f, o.LockTimeout); {
				case err == errHeld:
					outside = fmt.Errorf("%w: %s. %s", ErrLocked, path, repairLocked)
					return nil, outside
				case err != nil:
					outside = fmt.Errorf("accounting: locking %s: %w", path, err)
					return nil, outside
				}
				if outside = stillAt(name, f); outside != nil {
					return nil, outside
				}
				reach := boltfile.Whole
				if o.Checkpoints {
					reach = boltfile.Skimmed
				}
				if err = boltfile.Verify(f, reach); err != nil {
					return nil, damaged(path, err)
				}
				return f, nil
			},
		})
		return e
	})
	if err == nil {
		db.AllocSize = growth
		return db, nil
	}
	if held != nil {
		_ = held.Close() // gives the lock back; bbolt may have closed it already
	}
	switch {
	case outside != nil:
		return nil, outside
	case errors.Is(err, ErrDamaged):
		return nil, err
	}
	return nil, damaged(path, err)
}

// stillAt checks that the locked file is the one at its name, and not one that was replaced while
// this process waited for the lock.
func stillAt(name string, f *os.File) error {
	held, err := f.Stat()
	if err != nil {
		return fmt.Errorf("accounting: %w", err)
	}
	if there, err := os.Stat(name); err != nil || !os.SameFile(held, there) {
		return fmt.Errorf("%w: %s was replaced while it was opened. Try again", ErrLocked, name)
	}
	return nil
}

// beginning is the cut before the first record of all.
func (l *Ledger) beginning() cut {
	return cut{end: chain.Mark{At: time.Unix(0, 0).UTC(), Hash: l.chain.Genesis(l.directory)}}
}

// baseOf returns the cut at which the records of the file begin: what the archived ones come to, or
// the beginning where none are.
func (l *Ledger) baseOf(sealed []byte) (cut, error) {
	if sealed == nil {
		return l.beginning(), nil
	}
	c, err := unseal(l.key, baseSeal, nil, sealed)
	if err != nil {
		return c, errors.New("what its archived records come to is not what was written")
	}
	if c.end.ID > 0 && (c.end.ID+1)%index.BlockSize != 0 {
		return c, state.ErrState
	}
	_, err = c.decode()
	return c, err
}

// How an operator gets out of it: the end of every error about a file that cannot be used.
const (
	repairDamaged = "Nothing was changed. Restore the data directory from a backup; charges made since " +
		"that backup are then unknown, so lower the budgets by what may have been spent"
	repairMissing = "The data directory is not new, so an empty ledger would forget what is spent. " +
		"Restore the file from a backup"
	repairForeign = "Put back the ledger that belongs to this data directory"
	repairVersion = "Use the version of the program that wrote it, or a newer one"
	repairNewer   = "It was made by a newer version of scrim, and is not damaged. " + repairVersion
	repairOldForm = "This program reads that format no longer: nothing in it says that it was not changed. Go on with the program that " +
		"wrote it, or import the rows into a new data directory, with budgets lower by what that program shows as spent"
	repairLocked = "Stop the other process, or use another data directory"
	repairFound  = "The server charges and answers nothing more. Stop it and look at the disk. Its next start reads the whole ledger: it " +
		"refuses one that is damaged. Then restore the data directory from a backup; charges made since that backup are unknown, so lower " +
		"the budgets by what may have been spent"
	repairKey = "Put back the key file that was made with the ledger, from a backup; without it nobody can tell whether the ledger was changed. If that is the one, the ledger is damaged: put back both"
)

// versionRepair is how to get out of a ledger in a format that is not ours.
func versionRepair(format string) string {
	switch {
	case format == "scrim ledger 1", format == "scrim ledger 2":
		return repairOldForm
	case strings.HasPrefix(format, "scrim ledger "):
		return repairNewer
	}
	return repairVersion
}

// create makes an empty ledger at path, complete or not at all: its key first, then its mark, then
// the file, under another name first. A mark that is there already says whether there was a ledger
// before.
func create(path string, o Options) error {
	k, err := makeKey(path + KeySuffix)
	if err == nil {
		err = createMark(path, k, o)
	}
	if err == nil {
		err = createFile(path, k, o)
	}
	if err == nil || errors.Is(err, ErrKey) || errors.Is(err, ErrMissing) || errors.Is(err, ErrOlder) {
		return err
	}
	return fmt.Errorf("accounting: creating %s: %w", path, err)
}

func createMark(path string, k chain.Key, o Options) error {
	c := chain.New(k.Derive("mark"))
	first := chain.Mark{At: time.Unix(0, 0).UTC(), Hash: chain.New(k).Genesis(o.DirectoryID)}
	if err := placeFile(path+MarkSuffix, first.Encode(c)); err != nil {
		return err
	}
	m, err := readMark(path+MarkSuffix, c)
	if err == nil && m.ID > 0 {
		err = fmt.Errorf("%w: %s. Its mark %s says that it has %d records. %s", ErrMissing, path, path+MarkSuffix, m.ID, repairMissing)
	}
	return err
}

func createFile(path string, k chain.Key, o Options) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	name := f.Name()
	defer os.Remove(name)
	if err = f.Close(); err != nil {
		return err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{Timeout: o.LockTimeout})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error { return empty(tx, k, o.DirectoryID) })
	if e := db.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	// A link fails where the name is taken, so a ledger that another process has just made is not
	// replaced: it is opened, and verified, like any other.
	if err = os.Link(name, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.SyncDir(dir)
}

// empty makes the buckets of a ledger without records.
func empty(tx *bolt.Tx, k chain.Key, directoryID string) error {
	for _, b := range [][]byte{metaBucket, chain.Records, answersBucket, orderBucket} {
		if _, err := tx.CreateBucket(b); err != nil {
			return err
		}
	}
	m, check := tx.Bucket(metaBucket), k.Derive("check")
	first := chain.Head{Mark: chain.Mark{At: time.Unix(0, 0).UTC(), Hash: chain.New(k).Genesis(directoryID)}}
	return errors.Join(
		m.Put(formatKey, []byte(chain.Format)),
		m.Put(directoryKey, []byte(directoryID)),
		m.Put(checkKey, check[:]),
		m.Put(headKey, first.Encode()))
}
