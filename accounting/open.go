package accounting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The buckets and keys of the file; see the package documentation.
var (
	metaBucket     = []byte("meta")
	recordsBucket  = []byte("records")
	countersBucket = []byte("counters")
	answersBucket  = []byte("answers")
	orderBucket    = []byte("answer-order")

	formatKey    = []byte("format")
	directoryKey = []byte("directory")
	headKey      = []byte("head")
)

// format names the layout. A program that changes the layout changes the number.
const format = "scrim ledger 3"

const defaultLockTimeout = time.Second

// How an operator gets out of it: the end of every error about a file that cannot be used.
const (
	repairDamaged = "Nothing was changed. Restore the data directory from a backup; charges made since " +
		"that backup are then unknown, so lower the budgets by what may have been spent"
	repairMissing = "The data directory is not new, so an empty ledger would forget what is spent. " +
		"Restore the file from a backup"
	repairForeign = "Put back the ledger that belongs to this data directory"
	repairVersion = "Use the version of the program that wrote it, or a newer one"
	repairLocked  = "Stop the other process, or use another data directory"
)

// Open opens the ledger at path, reads and verifies all of it, and starts its committer. It refuses a
// missing file (unless Options.Create), one of another directory or format, one that is damaged in
// any part that spending rests on, and one that another process has open: ErrMissing, ErrForeign,
// ErrVersion, ErrDamaged, ErrLocked. It never resets anything.
func Open(path string, o Options) (*Ledger, error) {
	if err := checkName("directory id", o.DirectoryID); err != nil {
		return nil, err
	}
	if o.AnswerBytes < 0 {
		return nil, invalid("answer bytes: want at least 0, have %d", o.AnswerBytes)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AnswerBytes == 0 {
		o.AnswerBytes = DefaultAnswerBytes
	}
	if o.LockTimeout <= 0 {
		o.LockTimeout = defaultLockTimeout
	}
	if err := ensure(path, o); err != nil {
		return nil, err
	}
	db, err := openFile(path, o.LockTimeout)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		path: path, db: db, now: o.Now,
		answers: answerStore{limit: o.AnswerBytes, pending: map[string][]byte{}},
		next:    newBatch(),
		wake:    make(chan struct{}, 1), closing: make(chan struct{}), stopped: make(chan struct{}),
	}
	err = guard(func() error { return db.View(func(tx *bolt.Tx) error { return l.load(tx, o.DirectoryID) }) })
	if err != nil {
		_ = guard(db.Close)
		if errors.Is(err, ErrForeign) || errors.Is(err, ErrVersion) {
			return nil, err
		}
		return nil, damaged(path, err)
	}
	l.state.dirty = map[counter]struct{}{}
	go l.commit()
	return l, nil
}

// ensure returns nil when there is a file at path, which it makes only when that is allowed.
func ensure(path string, o Options) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !o.Create:
		return fmt.Errorf("%w: %s. %s", ErrMissing, path, repairMissing)
	case errors.Is(err, os.ErrNotExist):
		if err = create(path, o); err != nil {
			return fmt.Errorf("accounting: creating %s: %w", path, err)
		}
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

// openFile locks the file, verifies its pages, and only then lets bbolt map it: bbolt trusts what it
// reads and may crash the process on a damaged page.
func openFile(path string, timeout time.Duration) (*bolt.DB, error) {
	var db *bolt.DB
	var held *os.File
	var outside error // not about the contents: permissions, the lock
	err := guard(func() (e error) {
		db, e = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: timeout,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
				if err != nil {
					outside = fmt.Errorf("accounting: opening the ledger: %w", err)
					return nil, outside
				}
				held = f
				switch err = lock(f, timeout); {
				case err == errHeld:
					outside = fmt.Errorf("%w: %s. %s", ErrLocked, path, repairLocked)
					return nil, outside
				case err != nil:
					outside = fmt.Errorf("accounting: locking %s: %w", path, err)
					return nil, outside
				}
				if err = verifyPages(f); err != nil {
					return nil, damaged(path, err)
				}
				return f, nil
			},
		})
		return e
	})
	if err == nil {
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

// create makes an empty ledger at path, complete or not at all: under another name first.
func create(path string, o Options) error {
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
	err = db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{metaBucket, recordsBucket, countersBucket, answersBucket, orderBucket} {
			if _, e := tx.CreateBucket(b); e != nil {
				return e
			}
		}
		m := tx.Bucket(metaBucket)
		return errors.Join(
			m.Put(formatKey, []byte(format)),
			m.Put(directoryKey, []byte(o.DirectoryID)),
			m.Put(headKey, newState(genesis(o.DirectoryID)).head()))
	})
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
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// genesis is the hash before the first record: it ties the chain to format and directory.
func genesis(directoryID string) sum {
	return chain(sum{}, 0, appendString(appendString(nil, format), directoryID))
}

// load derives the state from the records and compares it with the rest of the file.
func (l *Ledger) load(tx *bolt.Tx, directoryID string) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return errors.New("not a ledger")
	}
	if v := meta.Get(formatKey); string(v) != format {
		return fmt.Errorf("%w: %s: have %q, want %q. %s", ErrVersion, l.path, v, format, repairVersion)
	}
	if v := meta.Get(directoryKey); string(v) != directoryID {
		return fmt.Errorf("%w: %s: have %q, want %q. %s", ErrForeign, l.path, v, directoryID, repairForeign)
	}
	for _, b := range [][]byte{recordsBucket, countersBucket, answersBucket, orderBucket} {
		if tx.Bucket(b) == nil {
			return fmt.Errorf("bucket %s is missing", b)
		}
	}
	l.state = newState(genesis(directoryID))
	err := tx.Bucket(recordsBucket).ForEach(func(k, v []byte) error {
		id := l.state.lastID + 1
		if len(k) != 8 || binary.BigEndian.Uint64(k) != id {
			return fmt.Errorf("record %d is missing", id)
		}
		r, h, err := openRecord(l.state.lastHash, id, v)
		if err != nil {
			return err
		}
		if err := l.state.apply(r, h); err != nil {
			return fmt.Errorf("record %d: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !bytes.Equal(meta.Get(headKey), l.state.head()) {
		return fmt.Errorf("the records end at number %d, which is not where the head says", l.state.lastID)
	}
	if err := l.state.compare(tx.Bucket(countersBucket)); err != nil {
		return err
	}
	return l.answers.load(tx)
}

// openRecord takes a stored record apart and checks its hash.
func openRecord(previous sum, id uint64, v []byte) (*record, sum, error) {
	if len(v) < len(sum{}) {
		return nil, sum{}, fmt.Errorf("record %d is cut short", id)
	}
	h, payload := sum(v[:len(sum{})]), v[len(sum{}):]
	if chain(previous, id, payload) != h {
		return nil, sum{}, fmt.Errorf("record %d does not match its hash", id)
	}
	r, err := decodeRecord(payload)
	if err != nil {
		return nil, sum{}, fmt.Errorf("record %d: %w", id, err)
	}
	return r, h, nil
}

// head is what the file keeps of the state's end.
func (s *state) head() []byte {
	b := binary.BigEndian.AppendUint64(nil, s.lastID)
	b = append(b, s.lastHash[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(s.lastDay))
}

// key returns the counter's key in the file. Names hold no NUL.
func (c counter) key() []byte {
	b := appendBool(nil, c.entity)
	b = append(append(b, c.account...), 0)
	b = append(append(b, c.principal...), 0)
	return binary.BigEndian.AppendUint32(b, uint32(c.day))
}

// compare checks that the stored counters are those that the records give.
func (s *state) compare(stored *bolt.Bucket) error {
	n := 0
	for h, p := range s.spent {
		for d, t := range p.days {
			n++
			if !bytes.Equal(stored.Get(counter{h, d}.key()), t.append(nil)) {
				return fmt.Errorf("what is spent on %q on day %d does not match the records", h.account, d)
			}
		}
	}
	return stored.ForEach(func(k, _ []byte) error {
		if n--; n < 0 {
			return fmt.Errorf("counter %q has no record", k)
		}
		return nil
	})
}
