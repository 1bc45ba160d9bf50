package accounting

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// filled makes a ledger of several pages, with budgets, charges of several accounts, outcomes,
// notes and stored answers, some of them replaced, so that the file has free pages. It returns the
// file and what a right opening finds in it.
func filled(t *testing.T) (file []byte, want summary) {
	t.Helper()
	k := newClock("2026-05-01 00:00:00")
	l, path := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Month)
	mustSet(t, l, "u", false, budget.All, 100, 1e-6, budget.Never)
	mustSet(t, l, "u", false, budget.Default, 50, 1e-6, budget.Day)
	mustSet(t, l, "v", false, budget.All, 1000, 0, budget.Never)
	r := rand.New(rand.NewPCG(11, 1))
	for i := range 120 {
		k.mu.Lock()
		k.t = k.t.AddDate(0, 0, r.IntN(2))
		k.mu.Unlock()
		receipt, err := reserve(l, fmt.Sprintf("p%d@%%", r.IntN(5)),
			append(in(randomBlocks(r), rho("t", r.Float64()/100)), append(rho("u", r.Float64()/100), in(randomBlocks(r), pure("v", 0.1+r.Float64()))...)...))
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			l.Finish(receipt, record.Answered)
			l.Remark(receipt, "keys answered: "+fmt.Sprint(i))
		}
		if i%10 == 0 {
			if err := l.PutAnswer([]byte{byte('k'), byte(i % 40)}, make([]byte, 1000*r.IntN(9))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Note("root@%", "raw", "switched on"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{})
	defer l.Close()
	return file, summarise(t, l)
}

// summary is everything about spending that an opening finds.
type summary struct {
	spent   map[state.Holder]state.Spending
	budgets []budget.Budget
	entries int
}

func summarise(t *testing.T, l *Ledger) summary {
	t.Helper()
	s := summary{spent: map[state.Holder]state.Spending{}, budgets: l.Budgets()}
	for h, p := range l.state.Spent {
		s.spent[h] = counting(p, l.state.LastDay)
	}
	es, err := l.Entries(context.Background(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	s.entries = len(es)
	return s
}

// counting returns what counts on a day: nothing in windows that are over.
func counting(p *state.Spending, today budget.Date) state.Spending {
	c := *p
	c.Since = countingSince(p.Since, today)
	c.Periods = slices.Clone(p.Periods)
	for i := range c.Periods {
		c.Periods[i].Since = countingSince(p.Periods[i].Since, today)
	}
	return c
}

func countingSince(s state.Since, today budget.Date) state.Since {
	for i, w := range budget.Windows {
		if s[i].First != w.Start(today) {
			s[i].First, s[i].Amount = 0, privacy.Amount{}
		}
	}
	return s
}

// openBytes opens a ledger with this content and returns what it finds.
func openBytes(t *testing.T, file []byte) (summary, error) {
	t.Helper()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("ledger-damaged-%d", os.Getpid()))
	for suffix, content := range map[string][]byte{"": file, KeySuffix: testKeyFile(), MarkSuffix: testMark(chain.Mark{At: time.Unix(0, 0), Hash: chain.New(testKey).Genesis(testDirectory)})} {
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path + suffix)
	}
	l, err := Open(path, Options{DirectoryID: testDirectory})
	if err != nil {
		if after, e := os.ReadFile(path); e != nil || !bytes.Equal(after, file) {
			t.Errorf("a refused file was changed: %v", e)
		}
		return summary{}, err
	}
	defer l.Close()
	return summarise(t, l), nil
}

// judge fails the test unless the file was refused as damaged or nothing about it has changed. What
// the ledger keeps to know its key by may be what was damaged: then it cannot tell which of the two
// is wrong.
func judge(t *testing.T, what string, got summary, err error, want summary) (refused bool) {
	t.Helper()
	if err == nil {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: opened with other contents", what)
		}
		return false
	}
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrKey) {
		t.Errorf("%s: %v", what, err)
	}
	if (errors.Is(err, ErrDamaged) || errors.Is(err, ErrKey)) && !strings.Contains(err.Error(), "backup") {
		t.Errorf("%s: the error does not say how to repair: %v", what, err)
	}
	return true
}

// TestFlippedBits flips one bit at a time: half of them anywhere, half in the headers of pages.
func TestFlippedBits(t *testing.T) {
	file, want := filled(t)
	pageSize := int(binary.NativeEndian.Uint32(file[boltfile.PageHeader+8:]))
	r := rand.New(rand.NewPCG(12, 1))
	refused := 0
	const flips = 700
	for i := range flips {
		at := r.IntN(len(file))
		if i%2 == 0 {
			at = at/pageSize*pageSize + r.IntN(80)
		}
		bit := byte(1) << r.IntN(8)
		file[at] ^= bit
		got, err := openBytes(t, file)
		if judge(t, fmt.Sprintf("bit %#x of byte %d (page %d)", bit, at, at/pageSize), got, err, want) {
			refused++
		}
		file[at] ^= bit
	}
	if refused < flips/5 {
		t.Errorf("%d of %d flips were noticed", refused, flips)
	}
}

// TestFlippedRecord flips every stored copy of a statement; the copy that is in use must be
// noticed.
func TestFlippedRecord(t *testing.T) {
	file, want := filled(t)
	refused := 0
	for at := 0; ; {
		i := bytes.Index(file[at:], []byte("SELECT 1"))
		if i < 0 {
			break
		}
		at += i + 1
		file[at] ^= 1
		got, err := openBytes(t, file)
		if judge(t, fmt.Sprintf("byte %d", at), got, err, want) {
			refused++
		}
		file[at] ^= 1
		if at > len(file)/2 && refused > 20 {
			break
		}
	}
	if refused < 20 {
		t.Errorf("only %d flips of statements were noticed", refused)
	}
}

func TestTruncated(t *testing.T) {
	file, want := filled(t)
	refused := 0
	for n := 0; n < len(file); n += 1024 {
		got, err := openBytes(t, file[:n])
		if judge(t, fmt.Sprintf("%d bytes", n), got, err, want) {
			refused++
		} else if len(file)-n > 3*len(file)/4 {
			t.Errorf("%d bytes of %d were opened", n, len(file))
		}
	}
	if refused == 0 {
		t.Error("no cut was noticed")
	}
	// Zeroed pages, as a file system may leave them.
	for n := 0; n+4096 <= len(file); n += 4096 {
		hole := bytes.Clone(file)
		clear(hole[n : n+4096])
		got, err := openBytes(t, hole)
		judge(t, fmt.Sprintf("zeroed page at %d", n), got, err, want)
	}
}

// TestDamageThatReadingDoesNotMeet damages what only the next write would fall over: the free pages
// and the keys of branch pages.
func TestDamageThatReadingDoesNotMeet(t *testing.T) {
	file, _ := filled(t)
	e := binary.NativeEndian
	pageSize := int(e.Uint32(file[boltfile.PageHeader+8:]))
	newer := file[boltfile.PageHeader:]
	if other := file[pageSize+boltfile.PageHeader:]; e.Uint64(other[48:]) > e.Uint64(newer[48:]) {
		newer = other
	}
	root, free := int(e.Uint64(newer[16:])), int(e.Uint64(newer[32:]))*pageSize
	n := int(e.Uint16(file[free+10:]))
	if n < 2 {
		t.Fatalf("%d free pages are too few for this test", n)
	}
	refuse := func(what string, edit func([]byte)) {
		t.Helper()
		bad := bytes.Clone(file)
		edit(bad)
		if _, err := openBytes(t, bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	id := func(b []byte, i int) []byte { return b[free+boltfile.PageHeader+8*i:] }
	refuse("a used page is listed as free", func(b []byte) {
		e.PutUint16(b[free+10:], uint16(n+1))
		e.PutUint64(id(b, n), uint64(root))
	})
	refuse("a free page is listed twice", func(b []byte) { e.PutUint64(id(b, 0), e.Uint64(id(b, 1))) })
	refuse("a free page is forgotten", func(b []byte) { e.PutUint16(b[free+10:], uint16(n-1)) })
	refuse("more free pages than fit", func(b []byte) { e.PutUint16(b[free+10:], 0xFFFE) })
	refuse("an absurd number of free pages", func(b []byte) {
		e.PutUint16(b[free+10:], 0xFFFF)
		e.PutUint64(id(b, 0), 1<<60)
	})
	branches := 0
	freed := map[int]bool{}
	for i := range n {
		freed[int(e.Uint64(id(file, i)))] = true
	}
	for p := 2; p < len(file)/pageSize && p < int(e.Uint64(newer[40:])); p++ {
		at := p * pageSize
		if freed[p] || e.Uint16(file[at+8:]) != boltfile.BranchPage || int(e.Uint64(file[at:])) != p || e.Uint16(file[at+10:]) < 2 {
			continue
		}
		branches++
		for _, element := range []int{0, 1} {
			el := at + boltfile.PageHeader + element*boltfile.ElementSize
			key := el + int(e.Uint32(file[el:]))
			size := int(e.Uint32(file[el+4:]))
			refuse("a branch key is too large", func(b []byte) { copy(b[key:key+size], bytes.Repeat([]byte{0xFF}, size)) })
		}
		refuse("two branches lead to one page", func(b []byte) {
			copy(b[at+boltfile.PageHeader+8:at+boltfile.PageHeader+16], b[at+boltfile.PageHeader+boltfile.ElementSize+8:])
		})
	}
	if branches == 0 {
		t.Error("no branch pages: the file is too small for this test")
	}
}

// TestDayNeverGoesBackInRecords: records whose day goes back cannot have been written.
func TestDayNeverGoesBackInRecords(t *testing.T) {
	s := state.New()
	note := func(d budget.Date) error { return s.Apply(&record.Record{Kind: record.Note, Day: d}) }
	if err := errors.Join(note(5), note(5), note(6)); err != nil {
		t.Fatal(err)
	}
	if err := note(5); err == nil || s.LastID != 3 || s.LastDay != 6 {
		t.Errorf("day 5 after day 6: %v, then %+v", err, s)
	}
	if err := s.Apply(&record.Record{Kind: record.Outcomes, Outcomes: []record.OutcomeOf{{Charge: 4}}, Day: 6}); err == nil {
		t.Error("an outcome before its charge was booked")
	}
}

// TestLostAndMisplacedWrites puts older contents, and those of other pages, in the place of a page.
func TestLostAndMisplacedWrites(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Never)
	snapshot := func() []byte {
		t.Helper()
		for i := range 40 {
			mustReserve(t, l, fmt.Sprintf("p%d", i), rho("t", 1e-4))
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	old, file := snapshot(), snapshot()
	want := summarise(t, l)
	l.Close()
	pageSize := int(binary.NativeEndian.Uint32(file[boltfile.PageHeader+8:]))
	page := func(b []byte, i int) []byte { return b[i*pageSize : (i+1)*pageSize] }
	refused := 0
	check := func(what string, b []byte) {
		got, err := openBytes(t, b)
		if judge(t, what, got, err, want) {
			refused++
		}
	}
	for i := range len(old) / pageSize {
		if bytes.Equal(page(old, i), page(file, i)) {
			continue
		}
		bad := bytes.Clone(file)
		copy(page(bad, i), page(old, i))
		check(fmt.Sprintf("page %d lost a write", i), bad)
	}
	r := rand.New(rand.NewPCG(13, 1))
	for range 150 {
		i, j := r.IntN(len(file)/pageSize), r.IntN(len(file)/pageSize)
		bad := bytes.Clone(file)
		copy(page(bad, i), page(file, j))
		check(fmt.Sprintf("page %d holds page %d", i, j), bad)
	}
	if refused < 20 {
		t.Errorf("only %d of these were noticed", refused)
	}
}

// TestOneDamagedMeta: bbolt opens a file whose newer meta page is damaged, at the state before.
func TestOneDamagedMeta(t *testing.T) {
	file, _ := filled(t)
	pageSize := int(binary.NativeEndian.Uint32(file[boltfile.PageHeader+8:]))
	for _, page := range []int{0, 1} {
		bad := bytes.Clone(file)
		bad[page*pageSize+boltfile.PageHeader+50] ^= 1 // in the transaction number
		if _, err := openBytes(t, bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("meta page %d: %v", page, err)
		}
	}
	// Stale: one meta page of long ago.
	bad := bytes.Clone(file)
	m := bad[boltfile.PageHeader:]
	binary.NativeEndian.PutUint64(m[48:], 0)
	h := newFNV(m[:56])
	binary.NativeEndian.PutUint64(m[56:], h)
	if _, err := openBytes(t, bad); !errors.Is(err, ErrDamaged) {
		t.Errorf("stale meta page: %v", err)
	}
}

func newFNV(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// TestEdited changes the file through bbolt, so that all pages are sound.
func TestEdited(t *testing.T) {
	file, _ := filled(t)
	last := func(b *bolt.Bucket) []byte { k, _ := b.Cursor().Last(); return k }
	for _, c := range []struct {
		name string
		want error
		edit func(*bolt.Tx) error
	}{
		{"nothing", nil, func(*bolt.Tx) error { return nil }},
		{"other version", ErrVersion, func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(formatKey, []byte("scrim ledger 1")) }},
		{"no version", ErrVersion, func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Delete(formatKey) }},
		{"foreign", ErrForeign, func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(directoryKey, []byte("other")) }},
		{"no head", ErrDamaged, func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Delete(headKey) }},
		{"no meta", ErrDamaged, func(tx *bolt.Tx) error { return tx.DeleteBucket(metaBucket) }},
		{"no records", ErrDamaged, func(tx *bolt.Tx) error { return tx.DeleteBucket(chain.Records) }},
		{"empty records", ErrDamaged, func(tx *bolt.Tx) error {
			if err := tx.DeleteBucket(chain.Records); err != nil {
				return err
			}
			_, err := tx.CreateBucket(chain.Records)
			return err
		}},
		{"last record gone", ErrDamaged, func(tx *bolt.Tx) error { b := tx.Bucket(chain.Records); return b.Delete(last(b)) }},
		{"first record gone", ErrDamaged, func(tx *bolt.Tx) error {
			b := tx.Bucket(chain.Records)
			k, _ := b.Cursor().First()
			return b.Delete(k)
		}},
		{"record repeated", ErrDamaged, func(tx *bolt.Tx) error {
			b := tx.Bucket(chain.Records)
			k := last(b)
			return b.Put(binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(k)+1), bytes.Clone(b.Get(k)))
		}},
		{"answer without order", ErrDamaged, func(tx *bolt.Tx) error { return tx.Bucket(answersBucket).Put([]byte("x"), make([]byte, 99)) }},
		{"answer gone", ErrDamaged, func(tx *bolt.Tx) error { b := tx.Bucket(answersBucket); return b.Delete(last(b)) }},
	} {
		path := filepath.Join(t.TempDir(), "ledger")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err = db.Update(c.edit); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err = db.Close(); err != nil {
			t.Fatal(err)
		}
		edited, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openBytes(t, edited); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMissingForeignAndStrange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger")
	if _, err := Open(path, Options{DirectoryID: testDirectory}); !errors.Is(err, ErrMissing) {
		t.Errorf("missing: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing ledger was made: %v", err)
	}
	if _, err := Open(path, Options{Create: true}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no directory id: %v", err)
	}
	l := open(t, path, Options{Create: true})
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Never)
	l.Close()
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("creating left %v", files)
	}
	if _, err := Open(path, Options{DirectoryID: "directory-2"}); !errors.Is(err, ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
	// Create with a ledger in place opens that one.
	l = open(t, path, Options{Create: true})
	if len(l.Budgets()) != 1 {
		t.Error("Create replaced a ledger")
	}
	l.Close()
	if _, err := Open(dir, Options{DirectoryID: testDirectory}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a directory: %v", err)
	}
	for name, content := range map[string]string{"empty": "", "text": strings.Repeat("hello\n", 5000), "zeros": strings.Repeat("\x00", 65536)} {
		if _, err := openBytes(t, []byte(content)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	db, err := bolt.Open(other, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := Open(other, Options{DirectoryID: testDirectory}); !errors.Is(err, ErrDamaged) {
		t.Errorf("another program's file: %v", err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Options{DirectoryID: testDirectory}); !errors.Is(err, os.ErrPermission) {
			t.Errorf("read-only file: %v", err)
		}
	}
}
