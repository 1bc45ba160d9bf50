package accounting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
)

// edited copies a ledger, key and mark with it, and changes the copy through bbolt, so that all its
// pages are sound.
func edited(t *testing.T, from string, edit func(*bolt.Tx) error) (path string) {
	t.Helper()
	path = filepath.Join(memoryDir(t), "ledger")
	for _, s := range []string{"", KeySuffix, MarkSuffix} {
		copyFile(t, path+s, from+s)
	}
	db, err := bolt.Open(path, 0o600, nil)
	ok(t, err)
	ok(t, db.Update(edit))
	ok(t, db.Close())
	return path
}

// refusedUnchanged checks that a ledger is refused for the reason given, in words that say what to
// do, and left as it is.
func refusedUnchanged(t *testing.T, what, path string, want error) {
	t.Helper()
	before := contents(t, filepath.Dir(path))
	for _, readOnly := range []bool{true, false} {
		l, err := Open(path, Options{DirectoryID: testDirectory, ReadOnly: readOnly})
		if err == nil {
			l.Close()
			t.Errorf("%s: opened", what)
			return
		}
		if !errors.Is(err, want) || !refusesInWords(err) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	if contents(t, filepath.Dir(path)) != before {
		t.Errorf("%s: files were changed", what)
	}
}

// listed is the records of a file with their numbers.
type listed struct{ values [][]byte }

func list(tx *bolt.Tx) (l listed) {
	c := tx.Bucket(chain.Records).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		l.values = append(l.values, bytes.Clone(v))
	}
	return l
}

// put writes other records in the place of all, numbered from 1, and a head that fits their number.
func (l listed) put(tx *bolt.Tx) error {
	if err := tx.DeleteBucket(chain.Records); err != nil {
		return err
	}
	b, err := tx.CreateBucket(chain.Records)
	if err != nil {
		return err
	}
	for i, v := range l.values {
		if err := b.Put(chain.RecordKey(uint64(i+1)), v); err != nil {
			return err
		}
	}
	meta := tx.Bucket(metaBucket)
	head := bytes.Clone(meta.Get(headKey))
	binary.BigEndian.PutUint64(head, uint64(len(l.values)))
	copy(head[8:], l.values[len(l.values)-1][:len(chain.Sum{})])
	return meta.Put(headKey, head)
}

// TestRecordsMoved deletes, repeats and exchanges each of 20 records: as they are, and numbered
// anew with a head that fits.
func TestRecordsMoved(t *testing.T) {
	from, _ := twenty(t)
	const n = 20
	for i := range n {
		for what, edit := range map[string]func(*bolt.Tx) error{
			"deleted": func(tx *bolt.Tx) error { return tx.Bucket(chain.Records).Delete(chain.RecordKey(uint64(i + 1))) },
			"deleted, numbered anew": func(tx *bolt.Tx) error {
				l := list(tx)
				l.values = append(l.values[:i], l.values[i+1:]...)
				return l.put(tx)
			},
			"repeated at the end": func(tx *bolt.Tx) error {
				l := list(tx)
				l.values = append(l.values, l.values[i])
				return l.put(tx)
			},
			"repeated": func(tx *bolt.Tx) error {
				l := list(tx)
				l.values = append(l.values[:i+1], append([][]byte{l.values[i]}, l.values[i+1:]...)...)
				return l.put(tx)
			},
			"exchanged with the next": func(tx *bolt.Tx) error {
				l := list(tx)
				j := (i + 1) % n
				l.values[i], l.values[j] = l.values[j], l.values[i]
				return l.put(tx)
			},
			"exchanged with the next but for the hash": func(tx *bolt.Tx) error {
				l := list(tx)
				j := (i + 1) % n
				a, b := bytes.Clone(l.values[i]), bytes.Clone(l.values[j])
				h := len(chain.Sum{})
				l.values[i], l.values[j] = append(a[:h:h], b[h:]...), append(b[:h:h], a[h:]...)
				return l.put(tx)
			},
			"in the place of the one before": func(tx *bolt.Tx) error {
				l := list(tx)
				l.values[(i+n-1)%n] = l.values[i]
				return l.put(tx)
			},
		} {
			want := ErrDamaged
			if what == "deleted, numbered anew" && i == n-1 {
				// the last one says nothing of spending, so this was the ledger before it
				want = ErrOlder
			}
			refusedUnchanged(t, fmt.Sprintf("record %d %s", i+1, what), edited(t, from, edit), want)
		}
	}
}

// TestNotThisLedger puts files of other ledgers, and of none, in the place of one.
func TestNotThisLedger(t *testing.T) {
	from, _ := twenty(t)
	other := filepath.Join(memoryDir(t), "ledger")
	l, err := Open(other, Options{DirectoryID: "directory-2", Create: true})
	ok(t, err)
	ok(t, l.Close())
	same := filepath.Join(memoryDir(t), "ledger")
	// of this directory, with another key
	l, err = Open(same, Options{DirectoryID: testDirectory, Create: true})
	ok(t, err)
	ok(t, l.Close())
	set := func(key, value []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(key, value) }
	}
	nothing := func(*bolt.Tx) error { return nil }
	for _, c := range []struct {
		name  string
		edit  func(*bolt.Tx) error
		files func(path string)
		want  error
	}{
		{"ledger, key and mark of another directory", nothing, func(p string) {
			for _, s := range []string{"", KeySuffix, MarkSuffix} {
				copyFile(t, p+s, other+s)
			}
		}, ErrForeign},
		{"ledger of another directory that says it is of this one", set(directoryKey, []byte(testDirectory)), func(p string) {
			for _, s := range []string{KeySuffix, MarkSuffix} {
				copyFile(t, p+s, other+s)
			}
		}, ErrKey},
		{"ledger with another key", nothing, func(p string) { copyFile(t, p, same) }, ErrKey},
		{"key of another ledger", nothing, func(p string) { copyFile(t, p+KeySuffix, same+KeySuffix) }, ErrKey},
		{"mark of another ledger", nothing, func(p string) { copyFile(t, p+MarkSuffix, same+MarkSuffix) }, ErrOlder},
		{"no key", nothing, func(p string) { ok(t, os.Remove(p+KeySuffix)) }, ErrKey},
		{"no ledger", nothing, func(p string) { ok(t, os.Remove(p)) }, ErrMissing},
		{"an older format", set(formatKey, []byte("scrim ledger 2")), func(string) {}, ErrVersion},
		{"a newer format", set(formatKey, []byte("scrim ledger 6")), func(string) {}, ErrVersion},
		{"no format", func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Delete(formatKey) }, func(string) {}, ErrVersion},
	} {
		path := edited(t, from, c.edit)
		c.files(path)
		refusedUnchanged(t, c.name, path, c.want)
	}
	for format, remedy := range map[string]string{"scrim ledger 2": repairOldForm, "scrim ledger 6": repairVersion} {
		l, err := Open(edited(t, from, set(formatKey, []byte(format))), Options{DirectoryID: testDirectory})
		if err == nil || !strings.Contains(err.Error(), remedy) {
			l.Close()
			t.Errorf("%s: got %v, want the remedy %q", format, err, remedy)
		}
	}
	// A directory that is not new makes no ledger, whether it may or not.
	path := edited(t, from, nothing)
	ok(t, os.Remove(path))
	if l, err := Open(path, Options{DirectoryID: testDirectory, Create: true}); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "backup") {
		l.Close()
		t.Errorf("an empty ledger was made where one had 20 records: %v", err)
	}
}

// TestOlderCopy puts an older ledger back. It is refused as long as it has not come as far as the
// mark, and also where it then went on by itself; the newest is taken again.
func TestOlderCopy(t *testing.T) {
	k := newClock("2126-05-01 12:00:00")
	l, path := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Never)
	var copies []string
	for i := range 6 {
		mustReserve(t, l, fmt.Sprintf("p%d@%%", i), rho("t", 0.01))
		kept := filepath.Join(t.TempDir(), "ledger")
		ok(t, l.Close())
		copyFile(t, kept, path)
		copies = append(copies, kept)
		l = open(t, path, Options{Now: k.now})
	}
	want := spentOn(l, "t", false, budget.All)
	ok(t, l.Close())
	newest := copies[len(copies)-1]
	for i, c := range copies[:len(copies)-1] {
		copyFile(t, path, c)
		refusedUnchanged(t, fmt.Sprintf("copy %d", i), path, ErrOlder)
	}
	// The same without a mark, as a restored file may come.
	ok(t, os.Remove(path+MarkSuffix))
	if _, err := Open(path, Options{DirectoryID: testDirectory}); !errors.Is(err, ErrOlder) || !refusesInWords(err) {
		t.Errorf("no mark: %v", err)
	}
	// An older copy that is accepted by name of its day goes on; the newest is then not the one
	// that the mark knows.
	o := Options{DirectoryID: testDirectory, Now: k.now, Accept: &Acceptance{Of: k.now(), By: "root@%"}}
	l, err := Open(path, o)
	ok(t, err)
	for i := range 4 {
		mustReserve(t, l, fmt.Sprintf("q%d@%%", i), rho("t", 0.01))
	}
	ok(t, l.Close())
	branch := filepath.Join(t.TempDir(), "ledger")
	copyFile(t, branch, path)
	copyFile(t, path, newest)
	refusedUnchanged(t, "the newest, where another went on", path, ErrOlder)
	// With the branch back all is well, and what the branch does not hold is not forgotten by the
	// newest.
	copyFile(t, path, branch)
	l = open(t, path, Options{})
	ok(t, l.Close())
	own := filepath.Join(t.TempDir(), "ledger")
	copyFile(t, own, newest)
	copyFile(t, own+KeySuffix, path+KeySuffix)
	l, err = Open(own, o)
	ok(t, err)
	if got := spentOn(l, "t", false, budget.All); got != want {
		t.Errorf("the newest copy holds %+v, want %+v", got, want)
	}
	ok(t, l.Close())
}
