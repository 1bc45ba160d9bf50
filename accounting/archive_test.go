package accounting

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/state"
)

// archiveOptions are those of a ledger with small parts.
func archiveOptions() Options { return Options{DirectoryID: testDirectory, part: smallParts} }

// archivedBefore moves the records of a ledger before a day into an archive, and says which.
func archivedBefore(t *testing.T, path, before string) ArchivePlan {
	t.Helper()
	p := planned(t, path, before)
	ok(t, Archive(t.Context(), path, archiveOptions(), path+ArchiveSuffix, p, nil))
	return p
}

func planned(t *testing.T, path, before string) ArchivePlan {
	t.Helper()
	l := open(t, path, Options{ReadOnly: true})
	defer l.Close()
	p, err := l.PlanArchive(t.Context(), newClock(before+" 00:00:00").now())
	ok(t, err)
	return p
}

// spentOf is what a ledger knows of budgets and spending, as it is sealed.
func spentOf(t *testing.T, l *Ledger) []byte {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Encode(nil)
}

// allPositions returns the position of every record of a ledger.
func allPositions(t *testing.T, path string) (list []Position) {
	t.Helper()
	l := open(t, path, Options{ReadOnly: true})
	defer l.Close()
	ok(t, l.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(chain.Records).ForEach(func(k, v []byte) error {
			list = append(list, positionOf(chain.Mark{ID: uint64(len(list) + 1), Hash: chain.Sum(v[:len(chain.Sum{})])}))
			return nil
		})
	}))
	return list
}

// TestArchive: what is spent, the budgets and the chain go on as if nothing had been moved; the
// entries are in one place or the other; and every position that anybody has kept is still known.
func TestArchive(t *testing.T) {
	path := withCheckpoint(t)
	whole := open(t, path, Options{ReadOnly: true})
	want, end := spentOf(t, whole), whole.Position()
	all, err := whole.Entries(t.Context(), Filter{})
	ok(t, err)
	burned := whole.Burndown("t1", false, budget.All, time.Unix(0, 0), end.At)
	whole.Close()
	positions := allPositions(t, path)

	p := archivedBefore(t, path, "2026-02-10")
	if p.First != 1 || (p.Last+1)%index.BlockSize != 0 || p.Last < 2*index.BlockSize-1 || p.Until.After(newClock("2026-02-10 00:00:00").now()) {
		t.Fatalf("plan %+v", p)
	}
	o := archiveOptions()
	o.Checkpoints = true
	l := open(t, path, o)
	if u := l.Upkeep(); u.Resumed != 0 {
		t.Errorf("a checkpoint from before the archive was used: %+v", u)
	}
	if !bytes.Equal(spentOf(t, l), want) || l.Position() != end || l.Archived().Record != p.Last {
		t.Error("budgets, spending or the end are others")
	}
	if got := l.Burndown("t1", false, budget.All, time.Unix(0, 0), end.At); !reflect.DeepEqual(got, burned) {
		t.Error("the spending by day is another")
	}
	live, err := l.Entries(t.Context(), Filter{})
	ok(t, err)
	archive, err := OpenArchive(filepath.Join(path+ArchiveSuffix, p.File), path, archiveOptions())
	ok(t, err)
	old, err := archive.Entries(t.Context(), Filter{})
	ok(t, err)
	archive.Close()
	if len(old) == 0 || old[len(old)-1].ID > p.Last || live[0].ID <= p.Last || len(old)+len(live) != len(all) {
		t.Errorf("%d and %d entries of %d", len(old), len(live), len(all))
	}
	for i, e := range append(old, live...) {
		// an outcome or a remark may have come after the archive's end
		if e.Remark == "" {
			e.Remark = all[i].Remark
		}
		if e.Outcome = all[i].Outcome; !reflect.DeepEqual(e, all[i]) {
			t.Fatalf("entry %d is another", e.ID)
		}
	}
	entries, _, err := l.Count(t.Context(), Filter{})
	if err != nil || entries != uint64(len(live)) {
		t.Errorf("%d entries are counted, %v", entries, err)
	}
	for i := 0; i < len(positions); i += 97 {
		if known, err := l.Continues(positions[i]); !known || err != nil {
			t.Errorf("record %d: %v, %v", i+1, known, err)
		}
		other := positions[i]
		other.Hash = strings.Repeat("00", len(chain.Sum{}))
		if known, _ := l.Continues(other); known {
			t.Errorf("record %d with another hash is known", i+1)
		}
	}
	if c, err := l.Charged("t1"); !c || err != nil {
		t.Error("what was charged is not known")
	}

	// On: charges, checkpoints, a second archive, and back.
	r := rand.New(rand.NewPCG(10, 5))
	for range 2 * smallParts {
		mustCharge(t, l, r, "late@%", "t1")
	}
	if u := settled(t, l); u.Checkpoint <= p.Last || u.Failed != nil {
		t.Errorf("%+v", u)
	}
	want, end = spentOf(t, l), l.Position()
	ok(t, l.Close())
	l = open(t, path, o)
	if u := l.Upkeep(); u.Resumed <= p.Last || !bytes.Equal(spentOf(t, l), want) {
		t.Errorf("after an archive and a checkpoint: %+v", u)
	}
	if u := settled(t, l); u.Damage != nil || u.VerifiedAt.IsZero() {
		t.Errorf("%+v", u)
	}
	ok(t, l.Close())
	second := archivedBefore(t, path, "2026-02-20")
	if second.First != p.Last+1 {
		t.Errorf("the second archive begins with record %d", second.First)
	}
	l = open(t, path, o)
	if !bytes.Equal(spentOf(t, l), want) || l.Position() != end {
		t.Error("after two archives budgets, spending or the end are others")
	}
	var found []Report
	ok(t, l.VerifyArchives(t.Context(), path+ArchiveSuffix, archiveOptions(), func(r Report) { found = append(found, r) }))
	if len(found) != 2 || found[0].Records != p.Last || found[1].Archived != p.Last || found[1].Records != second.Last {
		t.Errorf("archives %+v", found)
	}
	if known, err := l.Continues(positions[3]); !known || err != nil {
		t.Errorf("a record of the first archive: %v, %v", known, err)
	}
	settled(t, l)
	ok(t, l.Close())
	if _, _, err := Compact(t.Context(), path, archiveOptions(), nil); err != nil {
		t.Errorf("compacting: %v", err)
	}
	l = open(t, path, archiveOptions())
	if !bytes.Equal(spentOf(t, l), want) {
		t.Error("after compacting what is spent is another")
	}
}

// TestArchiveInterrupted: a crash at any step leaves a ledger that says the same, and the archive
// is made when it is asked for again.
func TestArchiveInterrupted(t *testing.T) {
	crash := errors.New("crash")
	for _, point := range []string{"archive-written", "archive-placed", "ledger-written"} {
		path := withCheckpoint(t)
		want, members := wholeOf(t, path)
		p := planned(t, path, "2026-02-10")
		archiveStep = func(at string) error {
			if at == point {
				return crash
			}
			return nil
		}
		err := Archive(t.Context(), path, archiveOptions(), path+ArchiveSuffix, p, nil)
		archiveStep = func(string) error { return nil }
		if !errors.Is(err, crash) {
			t.Fatalf("%s: %v", point, err)
		}
		l := checkpointed(t, path)
		sameAsWhole(t, l, point, want, members)
		settled(t, l)
		mustReserve(t, l, "a@%", rho("t1", 1e-6))
		sums := spentOf(t, l)
		ok(t, l.Close())
		ok(t, Archive(t.Context(), path, archiveOptions(), path+ArchiveSuffix, p, nil))
		l = checkpointed(t, path)
		if !bytes.Equal(spentOf(t, l), sums) {
			t.Errorf("%s: after the second attempt what is spent is another", point)
		}
		ok(t, l.VerifyArchives(t.Context(), path+ArchiveSuffix, archiveOptions(), func(Report) {}))
		settled(t, l)
	}
}

// TestBadArchives: an archive that is missing, changed or of another ledger is told, and is never
// taken for the right one; the ledger itself does not need it.
func TestBadArchives(t *testing.T) {
	path := withCheckpoint(t)
	positions := allPositions(t, path)
	p := archivedBefore(t, path, "2026-02-10")
	dir := path + ArchiveSuffix
	file := filepath.Join(dir, p.File)
	sound, err := os.ReadFile(file)
	ok(t, err)
	l := open(t, path, archiveOptions())
	sums := spentOf(t, l)
	verify := func() error { return l.VerifyArchives(t.Context(), dir, archiveOptions(), func(Report) {}) }
	ok(t, verify())
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	r := rand.New(rand.NewPCG(12, 5))
	for i := range 30 {
		b := bytes.Clone(sound)
		at := r.IntN(len(b))
		b[at] ^= 1 << r.IntN(8)
		ok(t, os.Remove(file))
		ok(t, os.WriteFile(file, b, 0o400))
		if err := verify(); err != nil && !errors.Is(err, ErrArchive) && !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: %v", at, err)
		} else if err == nil && i%3 == 0 { // in what is free: then all of it is what it was
			if known, err := l.Continues(positions[10]); !known || err != nil {
				t.Errorf("byte %d: %v", at, err)
			}
		}
	}
	ok(t, os.Remove(file))
	for _, err := range []error{verify(), func() error { _, err := l.Continues(positions[10]); return err }()} {
		if !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), "Put it back") {
			t.Errorf("missing: %v", err)
		}
	}
	// the last one is sealed in the ledger
	if known, err := l.Continues(positions[p.Last-1]); !known || err != nil {
		t.Errorf("the last archived record: %v, %v", known, err)
	}
	mustReserve(t, l, "a@%", rho("t1", 1e-9))
	ok(t, l.Close())
	l = open(t, path, archiveOptions())
	if bytes.Equal(spentOf(t, l), sums) {
		t.Error("the charge is not there")
	}
	l.Close()
	// An archive is no ledger, and a ledger no archive.
	ok(t, os.WriteFile(file, sound, 0o400))
	ledger, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(path, sound, 0o600))
	if _, err := Open(path, archiveOptions()); !errors.Is(err, ErrForeign) {
		t.Errorf("an archive in the place of the ledger: %v", err)
	}
	ok(t, os.Remove(file))
	ok(t, os.WriteFile(path, ledger, 0o600))
	ok(t, os.WriteFile(file, ledger, 0o400))
	l = open(t, path, archiveOptions())
	if err := verify(); !errors.Is(err, ErrArchive) {
		t.Errorf("a ledger in the place of its archive: %v", err)
	}
}

// TestForgedBase: what is sealed for the archived records cannot be changed, left out or brought in
// from elsewhere; nor can the archived part be made longer or shorter.
func TestForgedBase(t *testing.T) {
	from := withCheckpoint(t)
	before, err := os.ReadFile(from)
	ok(t, err)
	archivedBefore(t, from, "2026-02-10")
	l := open(t, from, archiveOptions())
	sealed, base := l.base.seal(l.key, baseSeal, nil), l.base
	l.Close()
	empty := state.New()
	empty.LastID = base.end.ID
	set := func(key, value []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(key, value) }
	}
	for what, edit := range map[string]func(*bolt.Tx) error{
		"nothing spent, with another key": set(baseKey, cut{base.end, empty.Encode(nil)}.seal(chain.Key{7}, baseSeal, nil)),
		"sealed as a checkpoint":          set(baseKey, base.seal(testKey, checkpointSeal, nil)),
		"a bit changed":                   set(baseKey, func() []byte { b := bytes.Clone(sealed); b[len(b)/2] ^= 1; return b }()),
		"cut short":                       set(baseKey, sealed[:len(sealed)-1]),
		"left out":                        func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Delete(baseKey) },
		"left out, with the earlier format": func(tx *bolt.Tx) error {
			return errors.Join(tx.Bucket(metaBucket).Delete(baseKey), set(formatKey, []byte(chain.Format))(tx))
		},
		"the earlier format":        set(formatKey, []byte(chain.Format)),
		"the first record left out": func(tx *bolt.Tx) error { return tx.Bucket(chain.Records).Delete(chain.RecordKey(base.end.ID + 1)) },
		"marked as an archive":      set(archiveKey, []byte("x")),
	} {
		path := edited(t, from, edit)
		_, err := Open(path, archiveOptions())
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) || !refusesInWords(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The file of before is the same ledger: nothing is lost if it is put back.
	ok(t, os.WriteFile(from, before, 0o600))
	l = open(t, from, archiveOptions())
	l.Close()
}

// TestPlanArchive: there is nothing to archive of a short ledger, nor before its first day; and a
// plan fits one ledger only.
func TestPlanArchive(t *testing.T) {
	path := withCheckpoint(t)
	l := open(t, path, Options{ReadOnly: true})
	for _, day := range []string{"1970-01-01", "2026-01-20"} {
		if p, err := l.PlanArchive(t.Context(), newClock(day+" 00:00:00").now()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", day, p, err)
		}
	}
	p, err := l.PlanArchive(t.Context(), newClock("2100-01-01 00:00:00").now())
	if err != nil || p.Last >= l.end.ID {
		t.Errorf("all: %+v, %v", p, err)
	}
	l.Close()
	for _, change := range []func(*ArchivePlan){
		func(p *ArchivePlan) { p.First = 2 }, func(p *ArchivePlan) { p.Last-- }, func(p *ArchivePlan) { p.Last += 100 * index.BlockSize },
		func(p *ArchivePlan) { p.File = "../x" },
	} {
		bad := p
		change(&bad)
		if err := Archive(t.Context(), path, archiveOptions(), path+ArchiveSuffix, bad, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	short, _ := create1(t, nil)
	mustSet(t, short, "t", false, budget.All, 1, 1e-6, budget.Never)
	if _, err := short.PlanArchive(t.Context(), time.Now().AddDate(1, 0, 0)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a short ledger: %v", err)
	}
}
