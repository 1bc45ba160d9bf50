package accounting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/record"
	"scrim/test/testenv"
)

// twenty makes a ledger of 20 records, of every kind, and closes it: small pages, and no room that
// was never used, so that every bit of it can be flipped.
func twenty(t *testing.T) (path string, want summary) {
	t.Helper()
	k := newClock("2126-05-01 00:00:00")
	l, from := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Month)
	mustSet(t, l, "u", false, budget.All, 100, 0, budget.Never)
	mustSet(t, l, "u", false, budget.Default, 50, 0, budget.Day)
	for i := range 11 {
		k.set(fmt.Sprintf("2126-05-%02d 00:00:00", 1+i))
		receipt := mustReserve(t, l, fmt.Sprintf("p%d@%%", i%3), append(rho("t", 0.01), pure("u", 0.5)...))
		if i == 3 || i == 7 {
			l.Finish(receipt, record.Answered)
			l.Remark(receipt, "2 of 3 values")
		}
	}
	ok(t, l.PutAnswer([]byte("key"), []byte("answer")))
	ok(t, l.Note("root@%", "raw", "switched on"))
	ok(t, l.ResetBudget(t.Context(), "u", false, budget.All, "root@%", "a new year"))
	for n := l.state.LastID; n < 20; n++ {
		ok(t, l.Note("root@%", "raw", "again"))
	}
	ok(t, l.Close())
	l = open(t, from, Options{ReadOnly: true})
	want = summarise(t, l)
	if l.state.LastID != 20 {
		t.Fatalf("%d records", l.state.LastID)
	}
	ok(t, l.Close())
	path = filepath.Join(memoryDir(t), "ledger")
	shrink(t, path, from)
	for _, suffix := range []string{KeySuffix, MarkSuffix} {
		copyFile(t, path+suffix, from+suffix)
	}
	return path, want
}

// ok ends a test.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shrink copies a bbolt file into one of small pages.
func shrink(t *testing.T, to, from string) {
	t.Helper()
	src, err := bolt.Open(from, 0o600, &bolt.Options{ReadOnly: true})
	ok(t, err)
	const pageSize = 512
	dst, err := bolt.Open(to, 0o600, &bolt.Options{PageSize: pageSize})
	ok(t, err)
	ok(t, dst.Update(func(tx *bolt.Tx) error {
		return src.View(func(old *bolt.Tx) error {
			return old.ForEach(func(name []byte, b *bolt.Bucket) error {
				n, err := tx.CreateBucket(name)
				if err != nil {
					return err
				}
				return b.ForEach(n.Put)
			})
		})
	}))
	ok(t, errors.Join(src.Close(), dst.Close()))
	file, err := os.ReadFile(to)
	ok(t, err)
	end := 0
	for _, page := range []int{0, 1} {
		end = max(end, int(binary.NativeEndian.Uint64(file[page*pageSize+boltfile.PageHeader+40:])))
	}
	ok(t, os.Truncate(to, int64(end*pageSize)))
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	ok(t, err)
	ok(t, os.WriteFile(to, b, 0o600))
}

// TestEveryBit flips every bit of a ledger of 20 records, of its key and of its mark (without
// -full, one bit of every ninth byte): it is refused, with words that say what to do, or nothing
// about spending is lost.
func TestEveryBit(t *testing.T) {
	path, want := twenty(t)
	info, err := os.Stat(path)
	ok(t, err)
	t.Logf("%d bytes", info.Size())
	for _, suffix := range []string{KeySuffix, MarkSuffix, ""} {
		refused, flips := flipAll(t, path, suffix, want)
		if refused < flips/4 || suffix == KeySuffix && refused < flips-8 {
			t.Errorf("%q: %d of %d flips were noticed", suffix, refused, flips)
		}
	}
}

// flipAll flips the bits of one of the three files, by several goroutines with copies of their own.
func flipAll(t *testing.T, path, suffix string, want summary) (refused, flips int) {
	content, err := os.ReadFile(path + suffix)
	ok(t, err)
	var wg sync.WaitGroup
	var next, noticed, total atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		own := filepath.Join(memoryDir(t), "ledger")
		for _, s := range []string{"", KeySuffix, MarkSuffix} {
			copyFile(t, own+s, path+s)
		}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(*seed, 14))
			f, err := os.OpenFile(own+suffix, os.O_WRONLY, 0)
			ok(t, err)
			defer f.Close()
			for at := next.Add(1) - 1; at < int64(len(content)); at = next.Add(1) - 1 {
				for bit := range 8 {
					if !*full && (at%9 > 0 || bit > 0) {
						continue
					}
					if !*full {
						bit = r.IntN(8)
					}
					_, err := f.WriteAt([]byte{content[at] ^ 1<<bit}, at)
					ok(t, err)
					total.Add(1)
					if flipped(t, own, fmt.Sprintf("%q: bit %d of byte %d", suffix, bit, at), want) {
						noticed.Add(1)
					}
				}
				_, err = f.WriteAt(content[at:at+1], at)
				ok(t, err)
			}
		})
	}
	wg.Wait()
	return int(noticed.Load()), int(total.Load())
}

// flipped opens a ledger in which one bit is wrong, for reading alone.
func flipped(t *testing.T, path, what string, want summary) (refused bool) {
	l, err := Open(path, Options{DirectoryID: testDirectory, ReadOnly: true})
	if err == nil {
		defer l.Close()
		if got := summarise(t, l); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: opened with other contents", what)
		}
		return false
	}
	if !refusesInWords(err) {
		t.Errorf("%s: %v", what, err)
	}
	return true
}

// refusesInWords reports whether an error is one of those that refuse a ledger and says what to do.
func refusesInWords(err error) bool {
	for sentinel, remedy := range map[error]string{
		ErrDamaged: "backup", ErrForeign: repairForeign, ErrVersion: repairVersion, ErrKey: repairKey,
		ErrOlder: "--accept-ledger-of", ErrMissing: "backup", ErrLocked: repairLocked,
	} {
		if errors.Is(err, sentinel) {
			return strings.Contains(err.Error(), remedy) || sentinel == ErrVersion && strings.Contains(err.Error(), repairOldForm)
		}
	}
	return false
}

// TestTornTail leaves of the last transaction what a crash of the machine may: some of its sectors.
// The ledger is then as before it or as after it, or refused; and refused where somebody was told
// that it was durable.
func TestTornTail(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Never)
	for i := range 30 {
		mustReserve(t, l, fmt.Sprintf("p%d@%%", i), rho("t", 1e-4))
	}
	snapshot := func() (file, mark []byte, found summary) {
		file, err := os.ReadFile(path)
		ok(t, err)
		mark, err = os.ReadFile(path + MarkSuffix)
		ok(t, err)
		found, err = openBytes(t, file)
		ok(t, err)
		return file, mark, found
	}
	// settled is a snapshot with the mark of the last charge, which charging does not wait for.
	settled := func() (file, mark []byte, found summary) {
		testenv.Until(t, time.Minute, "the mark of the last charge", func() bool {
			mark, err := os.ReadFile(path + MarkSuffix)
			ok(t, err)
			return bytes.Equal(mark, l.durable.Load().Encode(l.mark.chain))
		})
		return snapshot()
	}
	before, early, old := settled()
	mustReserve(t, l, "last@%", rho("t", 0.5))
	after, late, all := settled()
	ok(t, l.Close())
	const sector = 512
	var changed []int
	for at := 0; at < len(after); at += sector {
		if at >= len(before) || !bytes.Equal(before[at:at+sector], after[at:at+sector]) {
			changed = append(changed, at)
		}
	}
	own := filepath.Join(memoryDir(t), "ledger")
	ok(t, os.WriteFile(own+KeySuffix, testKeyFile(), 0o600))
	attempt := func(what string, file, mark []byte, told bool) (outcome string) {
		ok(t, os.WriteFile(own, file, 0o600))
		ok(t, os.WriteFile(own+MarkSuffix, mark, 0o600))
		l, err := Open(own, Options{DirectoryID: testDirectory, ReadOnly: true})
		if err != nil {
			if !refusesInWords(err) {
				t.Errorf("%s: %v", what, err)
			}
			return "refused"
		}
		defer l.Close()
		switch got := summarise(t, l); {
		case reflect.DeepEqual(got, all):
			return "after"
		case reflect.DeepEqual(got, old) && !told:
			return "before"
		}
		t.Errorf("%s: opened with other contents", what)
		return "wrong"
	}
	r := rand.New(rand.NewPCG(*seed, 15))
	seen := map[string]int{}
	for i := range 300 {
		file := make([]byte, len(after))
		copy(file, before)
		share := r.Float64()
		whole := true
		for k, at := range changed {
			if keep := r.Float64() < share; i == 0 || i > 1 && (keep || i < len(changed)+2 && k < i-2) {
				copy(file[at:at+sector], after[at:])
			} else {
				whole = false
			}
		}
		outcome := attempt(fmt.Sprintf("some sectors, try %d", i), file, early, false)
		seen[outcome]++
		if whole && outcome != "after" || i == 1 && outcome != "before" {
			t.Errorf("try %d: %s", i, outcome)
		}
		attempt(fmt.Sprintf("some sectors of what is known to be durable, try %d", i), file, late, true)
	}
	if seen["before"] == 0 || seen["after"] == 0 || seen["refused"] == 0 {
		t.Errorf("%d changed sectors: %v", len(changed), seen)
	}
}
