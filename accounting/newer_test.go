package accounting

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/state"
	"scrim/accounting/record"
)

// rechained changes a record's payload and gives it, and all records after it, the hashes of the
// ledger's key: what a program wrote that knows more.
func rechained(k chain.Key, change func(id uint64, payload []byte) []byte) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		c, l := chain.New(k), list(tx)
		hash := c.Genesis(testDirectory)
		for i, v := range l.values {
			payload := change(uint64(i+1), v[len(chain.Sum{}):])
			hash = c.Next(&hash, uint64(i+1), payload)
			l.values[i] = slices.Concat(hash[:], payload)
		}
		return l.put(tx)
	}
}

// TestNewerRecords: an unknown record in an intact chain is refused as a newer program's, never as
// damage, because the remedy for damage is a backup, which would give spent budget back. An unknown
// record whose hash does not match is damage.
func TestNewerRecords(t *testing.T) {
	from, _ := twenty(t)
	k, err := readKey(from + KeySuffix)
	ok(t, err)
	kinds := map[record.Kind]bool{}
	for id := uint64(1); id <= 20; id++ {
		for what, change := range map[string]func([]byte) []byte{
			"a new kind":  func(b []byte) []byte { b[0] = 200; return b },
			"a new field": func(b []byte) []byte { return append(b, 1, 2) },
			"half of it":  func(b []byte) []byte { return b[:len(b)-1] },
		} {
			edit := func(at uint64, payload []byte) []byte {
				b := bytes.Clone(payload)
				if at != id {
					return b
				}
				kinds[record.Kind(b[0])] = true
				return change(b)
			}
			path := edited(t, from, rechained(k, edit))
			name := fmt.Sprintf("%s in record %d", what, id)
			refusedUnchanged(t, name, path, ErrVersion)
			if _, err := Open(path, Options{DirectoryID: testDirectory, Checkpoints: true}); errors.Is(err, ErrDamaged) || err == nil ||
				!strings.Contains(err.Error(), "made by a newer version of scrim") {
				t.Errorf("%s: %v", name, err)
			}
			refusedUnchanged(t, name+" without the key", edited(t, from, func(tx *bolt.Tx) error {
				l := list(tx)
				v := l.values[id-1]
				l.values[id-1] = slices.Concat(v[:len(chain.Sum{})], change(bytes.Clone(v[len(chain.Sum{}):])))
				return l.put(tx)
			}), ErrDamaged)
		}
	}
	if len(kinds) < 5 {
		t.Errorf("only records of the kinds %v were changed", kinds)
	}
	path := edited(t, from, func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(formatKey, []byte("scrim ledger 6")) })
	if _, err := Open(path, Options{DirectoryID: testDirectory}); err == nil || !strings.Contains(err.Error(), "made by a newer version of scrim") {
		t.Errorf("a newer format: %v", err)
	}
}

// TestNewerSums: sums that are sealed in place of archived records, in a version of a newer
// program.
func TestNewerSums(t *testing.T) {
	from, _ := twenty(t)
	k, err := readKey(from + KeySuffix)
	ok(t, err)
	sums := state.New().Encode(nil)
	sums[0] = state.Version + 1
	refusedUnchanged(t, "newer sums", edited(t, from, func(tx *bolt.Tx) error {
		m := tx.Bucket(metaBucket)
		return errors.Join(m.Put(formatKey, []byte(chain.ArchivedFormat)), m.Put(baseKey, cut{state: sums}.seal(k, baseSeal, nil)))
	}), ErrVersion)
}

// TestNewerFoundLater: the verification after the start tells an unknown record from damage, too.
func TestNewerFoundLater(t *testing.T) {
	l, _ := create1(t, newClock("2126-05-01 00:00:00"))
	l.condemn(&damage{fmt.Errorf("record 3: %w", record.ErrRecord)})
	if err := l.Err(); !errors.Is(err, ErrVersion) || !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "newer version of scrim") {
		t.Errorf("got %v", err)
	}
	_ = l.Close()
}
