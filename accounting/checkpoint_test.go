package accounting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"scrim/accounting/record"
)

// smallParts are parts of so few records that a small ledger has many.
const smallParts = index.BlockSize

// lastFull is the last record of the last of them that is complete, of some records.
func lastFull(end uint64) uint64 { return (end+1)/smallParts*smallParts - 1 }

// checkpointed opens a ledger that keeps checkpoints of small parts.
func checkpointed(t *testing.T, path string) *Ledger {
	t.Helper()
	return open(t, path, Options{Checkpoints: true, part: smallParts})
}

// settled waits until everything is verified and no checkpoint is due, or the ledger has ended.
func settled(t *testing.T, l *Ledger) Upkeep {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		u := l.Upkeep()
		if u.Damage != nil || u.Failed != nil || !u.VerifiedAt.IsZero() && l.durable.Load().ID < l.up.due.Load() {
			return u
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing comes of the work beside the ledger: %+v", u)
		}
	}
}

// ledgerFiles are what belongs to a ledger, by the ends of their names.
var ledgerFiles = []string{"", KeySuffix, MarkSuffix, CheckpointSuffix, IndexSuffix}

// A busy ledger with a checkpoint, made once: its files by the ends of their names.
var busyFiles map[string][]byte

// withCheckpoint makes a busy ledger with a checkpoint, in memory, which is closed.
func withCheckpoint(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(memoryDir(t), "ledger")
	if busyFiles == nil {
		made := busy(t)
		l := checkpointed(t, made)
		if u := settled(t, l); u.Checkpoint != lastFull(l.end.ID) || u.Resumed != 0 || l.end.ID < 5*smallParts {
			t.Fatalf("%d records: %+v", l.end.ID, u)
		}
		ok(t, l.Close())
		busyFiles = map[string][]byte{}
		for _, s := range ledgerFiles {
			b, err := os.ReadFile(made + s)
			ok(t, err)
			busyFiles[s] = b
		}
	}
	for s, b := range busyFiles {
		ok(t, os.WriteFile(path+s, b, 0o600))
	}
	return path
}

// wholeOf returns what a ledger holds when all of it is read, and its index.
func wholeOf(t *testing.T, path string) (summary, map[string][]uint32) {
	t.Helper()
	l := open(t, path, Options{ReadOnly: true})
	defer l.Close()
	return summarise(t, l), members(l.index)
}

// sameAsWhole compares a ledger that is open with what reading all of its file gives.
func sameAsWhole(t *testing.T, l *Ledger, what string, want summary, sets map[string][]uint32) {
	t.Helper()
	if got := summarise(t, l); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: it holds something else than its records", what)
	}
	l.reading.RLock()
	defer l.reading.RUnlock()
	if !reflect.DeepEqual(members(l.index), sets) {
		t.Errorf("%s: the index holds something else than its records", what)
	}
}

// TestResume: an opening begins at the checkpoint, finds what reading everything finds, verifies
// the rest, and goes on.
func TestResume(t *testing.T) {
	path := withCheckpoint(t)
	want, members := wholeOf(t, path)
	l := checkpointed(t, path)
	first := lastFull(l.end.ID)
	if u := l.Upkeep(); u.Resumed != first {
		t.Fatalf("the opening did not begin at the checkpoint: %+v", u)
	}
	sameAsWhole(t, l, "resumed", want, members)
	if u := settled(t, l); u.Damage != nil || u.VerifiedAt.IsZero() || u.Verified != first {
		t.Errorf("verified: %+v", u)
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range smallParts { // on, over another checkpoint, and back
		l.Finish(mustCharge(t, l, r, "late@%", "t1"), record.Answered)
	}
	if u := settled(t, l); u.Checkpoint <= first {
		t.Errorf("no checkpoint came: %+v", u)
	}
	ok(t, l.Close())
	want, members = wholeOf(t, path)
	l = checkpointed(t, path)
	if u := l.Upkeep(); u.Resumed <= first {
		t.Errorf("the opening did not begin at the new checkpoint: %+v", u)
	}
	sameAsWhole(t, l, "resumed again", want, members)
	settled(t, l)
}

// TestResumeReadsOnlyTheTail: an opening from a checkpoint reads no record before it.
func TestResumeReadsOnlyTheTail(t *testing.T) {
	path := withCheckpoint(t)
	var first, calls int64
	o := Options{DirectoryID: testDirectory, Checkpoints: true, part: smallParts, Progress: func(done, _ int64) {
		if calls++; calls == 1 {
			first = done
		}
	}}
	l, err := Open(path, o)
	ok(t, err)
	defer l.Close()
	if tail := l.end.ID - lastFull(l.end.ID); calls != 1 || first != int64(l.end.ID) || tail >= smallParts {
		t.Errorf("%d parts were read, the first up to record %d of %d", calls, first, l.end.ID)
	}
}

// spoil changes a file.
func spoil(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(path, change(b), 0o600))
}

// TestCheckpointThatCannotBeUsed: a forged, torn, stale, foreign or absent checkpoint makes the
// opening read everything; so nothing that was spent comes back.
func TestCheckpointThatCannotBeUsed(t *testing.T) {
	path := withCheckpoint(t)
	want, members := wholeOf(t, path)
	sound, err := os.ReadFile(path + CheckpointSuffix)
	ok(t, err)
	l := open(t, path, Options{ReadOnly: true})
	first := lastFull(l.end.ID)
	c, err := unseal(l.key, checkpointSeal, func() []byte { l.part = smallParts; return l.checkpointBond() }(), sound[len(checkpointFormat):])
	ok(t, err)
	l.Close()
	empty := state.New()
	empty.LastID, empty.LastDay = c.end.ID, l.state.LastDay
	nothing := cut{c.end, empty.Encode(nil)} // as if nothing was spent
	sealed := func(k chain.Key, c cut) []byte {
		return append([]byte(checkpointFormat), c.seal(k, checkpointSeal, l.checkpointBond())...)
	}
	beyond, unchained := c, c
	beyond.end.ID += 100 * smallParts
	unchained.end.Hash[7] ^= 1
	for what, content := range map[string][]byte{
		"absent":                     nil,
		"empty":                      {},
		"torn":                       sound[:len(sound)/2],
		"with a byte more":           append(bytes.Clone(sound), 0),
		"forged, with another key":   sealed(chain.Key{9}, nothing),
		"forged, without a seal":     append([]byte(checkpointFormat), nothing.seal(chain.Key{}, "", nil)...),
		"the seal of another use":    append([]byte(checkpointFormat), nothing.seal(l.key, baseSeal, nil)...),
		"of a record that is not":    sealed(l.key, beyond),
		"of another chain":           sealed(l.key, unchained),
		"another version of a state": sealed(l.key, cut{c.end, append([]byte{state.Version + 1}, c.state[1:]...)}),
		"of another format":          bytes.Replace(sound, []byte("checkpoint 1"), []byte("checkpoint 2"), 1),
	} {
		ok(t, os.RemoveAll(path+CheckpointSuffix))
		if content != nil {
			ok(t, os.WriteFile(path+CheckpointSuffix, content, 0o600))
		}
		l := checkpointed(t, path)
		if u := l.Upkeep(); u.Resumed != 0 {
			t.Errorf("%s: the opening began at record %d", what, u.Resumed)
		}
		sameAsWhole(t, l, what, want, members)
		if u := settled(t, l); u.Checkpoint != first || u.Failed != nil {
			t.Errorf("%s: no new checkpoint: %+v", what, u)
		}
		ok(t, l.Close())
		if again, err := os.ReadFile(path + CheckpointSuffix); err != nil || !bytes.Equal(again, sound) {
			t.Errorf("%s: the new checkpoint is another", what)
		}
	}
	for i := range sound { // every byte counts
		if i%997 > 0 && i > 100 && i < len(sound)-40 {
			continue
		}
		spoil(t, path+CheckpointSuffix, func([]byte) []byte { b := bytes.Clone(sound); b[i] ^= 1 << (i % 8); return b })
		if _, err := l.readCheckpoint(); err == nil {
			t.Fatalf("byte %d is changed, and the checkpoint is used", i)
		}
	}
}

// TestStaleCheckpoint: an older checkpoint of the same ledger is used, and what came later is read:
// nothing is lost.
func TestStaleCheckpoint(t *testing.T) {
	path := withCheckpoint(t)
	old, err := os.ReadFile(path + CheckpointSuffix)
	ok(t, err)
	l := checkpointed(t, path)
	r := rand.New(rand.NewPCG(6, 5))
	first := lastFull(l.end.ID)
	for range smallParts {
		mustCharge(t, l, r, "late@%", "t1")
	}
	settled(t, l)
	ok(t, l.Close())
	want, members := wholeOf(t, path)
	ok(t, os.WriteFile(path+CheckpointSuffix, old, 0o600))
	l = checkpointed(t, path)
	if u := l.Upkeep(); u.Resumed != first {
		t.Errorf("%+v", u)
	}
	sameAsWhole(t, l, "an older checkpoint", want, members)
	if u := settled(t, l); u.Damage != nil || u.Checkpoint <= first {
		t.Errorf("%+v", u)
	}
}

// TestCheckpointOfOlderLedger: a ledger that is put back from before the checkpoint does not begin
// with it, and is refused for its mark.
func TestCheckpointOfOlderLedger(t *testing.T) {
	path := withCheckpoint(t)
	older, err := os.ReadFile(path)
	ok(t, err)
	l := checkpointed(t, path)
	had, end := spentOn(l, "t1", false, budget.All).Rho, l.Position()
	r := rand.New(rand.NewPCG(7, 5))
	for range smallParts {
		mustCharge(t, l, r, "late@%", "t1")
	}
	settled(t, l)
	ok(t, l.Close())
	ok(t, os.WriteFile(path, older, 0o600))
	o := Options{DirectoryID: testDirectory, Checkpoints: true, part: smallParts}
	if _, err := Open(path, o); !errors.Is(err, ErrOlder) {
		t.Fatalf("an older ledger beside a newer checkpoint: %v", err)
	}
	// Taken nevertheless, it has its own sums, and goes its own way past the checkpoint.
	o.Accept = &Acceptance{Of: end.At, By: "root@%", Reason: "test"}
	l, err = Open(path, o)
	ok(t, err)
	if got := spentOn(l, "t1", false, budget.All).Rho; got != had {
		t.Errorf("spent %d, want %d", got, had)
	}
	for range smallParts {
		mustCharge(t, l, r, "other@%", "t2")
	}
	ok(t, l.Close())
	l = checkpointed(t, path)
	if u := l.Upkeep(); u.Resumed != 0 {
		t.Errorf("a checkpoint of another way was used: %+v", u)
	}
	if got := spentOn(l, "t1", false, budget.All).Rho; got != had {
		t.Errorf("spent %d, want %d", got, had)
	}
	settled(t, l)
}

// TestBadSegments: whatever the file of the index holds, the index is that of the records.
func TestBadSegments(t *testing.T) {
	path := withCheckpoint(t)
	want, members := wholeOf(t, path)
	sound, err := os.ReadFile(path + IndexSuffix)
	ok(t, err)
	r := rand.New(rand.NewPCG(8, 5))
	cases := map[string][]byte{
		"absent": nil, "empty": {}, "only its format": []byte(segmentsFormat), "torn": sound[:len(sound)-7], "longer": append(bytes.Clone(sound), 1, 2, 3),
	}
	for i := range 40 {
		b := bytes.Clone(sound)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		cases[fmt.Sprint("bit ", i)] = b
	}
	for what, content := range cases {
		ok(t, os.RemoveAll(path+IndexSuffix))
		if content != nil {
			ok(t, os.WriteFile(path+IndexSuffix, content, 0o600))
		}
		l := checkpointed(t, path)
		if u := l.Upkeep(); u.Resumed == 0 {
			t.Errorf("%s: the checkpoint was not used", what)
		}
		sameAsWhole(t, l, what, want, members)
		if u := settled(t, l); u.Damage != nil || u.Failed != nil || u.VerifiedAt.IsZero() {
			t.Errorf("%s: %+v", what, u)
		}
		ok(t, l.Close())
		if again, err := os.ReadFile(path + IndexSuffix); err != nil || !bytes.Equal(again, sound) && what != "longer" {
			t.Errorf("%s: the file was not made anew", what)
		}
	}
}

// TestSegments: a segment says what the index of its part says, and nothing else decodes.
func TestSegments(t *testing.T) {
	l := open(t, withCheckpoint(t), Options{ReadOnly: true, part: smallParts})
	s := state.New()
	hash := l.beginning().end.Hash
	for _, b := range partsBetween(0, lastFull(l.end.ID), smallParts) {
		p, end, err := l.readPart(b, hash, s, l.scratch(), func(time.Duration) error { return nil })
		ok(t, err)
		hash = end.Hash
		encoded := p.Index.Encode(nil)
		x, err := index.DecodePart(encoded)
		ok(t, err)
		if !bytes.Equal(x.Encode(nil), encoded) || !reflect.DeepEqual(x.Columns, p.Index.Columns) || !reflect.DeepEqual(x.IDs, p.Index.IDs) {
			t.Errorf("part of %v: the segment is another index", b)
		}
		for n := range encoded {
			if y, err := index.DecodePart(encoded[:n]); err == nil {
				t.Fatalf("%d of %d bytes decode: %v", n, len(encoded), y.Columns)
			}
		}
	}
}

// TestBackgroundFindsDamage: what an opening from a checkpoint does not read is found afterwards;
// then nothing is granted, in words that say what to do, and the next opening refuses the file.
func TestBackgroundFindsDamage(t *testing.T) {
	path := withCheckpoint(t)
	file, err := os.ReadFile(path)
	ok(t, err)
	l := open(t, path, Options{ReadOnly: true})
	var at []int // of bytes in records before the checkpoint
	ids := []uint64{1, 17, smallParts - 1, smallParts, 700, 5*smallParts - 2}
	ok(t, l.db.View(func(tx *bolt.Tx) error {
		for _, id := range ids {
			v := tx.Bucket(chain.Records).Get(chain.RecordKey(id))
			at = append(at, bytes.Index(file, v)+len(chain.Sum{})+3)
		}
		return nil
	}))
	l.Close()
	for i, offset := range at {
		p := filepath.Join(memoryDir(t), "ledger")
		for _, s := range ledgerFiles {
			copyFile(t, p+s, path+s)
		}
		spoil(t, p, func(b []byte) []byte { b[offset] ^= 4; return b })
		told := make(chan Upkeep, 100)
		l, err := Open(p, Options{DirectoryID: testDirectory, Checkpoints: true, part: smallParts, Upkeep: func(u Upkeep) { told <- u }})
		ok(t, err)
		if u := settled(t, l); u.Damage == nil || !strings.Contains(u.Damage.Error(), fmt.Sprint("record ", ids[i])) {
			t.Errorf("record %d: %+v", ids[i], u)
		}
		for {
			if u := <-told; u.Damage != nil {
				break
			}
		}
		_, err = reserve(l, "a@%", rho("t1", 1e-9))
		for _, word := range []string{"damaged", "next start", "restore", "backup", "lower the budgets"} {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("record %d: %v, want %q in it", ids[i], err, word)
			}
		}
		if !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrDamaged) || !errors.Is(l.Err(), ErrDamaged) {
			t.Errorf("record %d: %v", ids[i], err)
		}
		if err := l.Close(); !errors.Is(err, ErrDamaged) {
			t.Errorf("record %d: closed with %v", ids[i], err)
		}
		if _, err := Open(p, Options{DirectoryID: testDirectory, Checkpoints: true, part: smallParts}); !errors.Is(err, ErrDamaged) {
			t.Errorf("record %d: opened again: %v", ids[i], err)
		}
	}
}

// TestBackgroundFindsWrongCheckpoint: a checkpoint that was made with the key and does not follow
// from the records ends the ledger, and the next opening reads the records.
func TestBackgroundFindsWrongCheckpoint(t *testing.T) {
	path := withCheckpoint(t)
	want, members := wholeOf(t, path)
	l := open(t, path, Options{ReadOnly: true, part: smallParts})
	c, err := l.readCheckpoint()
	ok(t, err)
	s, err := c.decode()
	ok(t, err)
	for h, p := range s.Spent {
		if h.Account == "t1" && h.Principal == budget.All {
			p.Ever.Rho--
		}
	}
	bad := cut{c.end, s.Encode(nil)}
	l.Close()
	ok(t, os.WriteFile(path+CheckpointSuffix, append([]byte(checkpointFormat), bad.seal(l.key, checkpointSeal, l.checkpointBond())...), 0o600))
	l = checkpointed(t, path)
	if u := settled(t, l); u.Resumed == 0 || u.Damage == nil || l.Err() == nil {
		t.Errorf("%+v", u)
	}
	l.Close()
	l = checkpointed(t, path)
	if u := l.Upkeep(); u.Resumed != 0 {
		t.Errorf("%+v", u)
	}
	sameAsWhole(t, l, "after it", want, members)
}

// TestRecheck: an open ledger is verified again, while it is charged; damage ends it, and what is
// not damage does not.
func TestRecheck(t *testing.T) {
	path := withCheckpoint(t)
	l := checkpointed(t, path)
	settled(t, l)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				mustReserve(t, l, "a@%", rho("t1", 1e-9))
			}
		}
	}()
	for range 3 {
		before := l.Position().Record
		r, err := l.Recheck(t.Context())
		if err != nil || r.Records < before || r.Archived != 0 || r.End.Record != r.Records {
			t.Errorf("%+v, %v", r, err)
		}
	}
	close(stop)
	<-done
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Recheck(ended); !errors.Is(err, context.Canceled) || l.Err() != nil {
		t.Errorf("cancelled: %v, %v", err, l.Err())
	}
	l.up.again.Lock()
	if _, err := l.Recheck(t.Context()); err != errRechecking {
		t.Errorf("twice: %v", err)
	}
	l.up.again.Unlock()
	ok(t, l.db.Update(func(tx *bolt.Tx) error { // as a disk that forgets
		b := tx.Bucket(chain.Records)
		v := bytes.Clone(b.Get(chain.RecordKey(300)))
		v[len(v)-1] ^= 1
		return b.Put(chain.RecordKey(300), v)
	}))
	if _, err := l.Recheck(t.Context()); !errors.Is(err, ErrDamaged) || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "record 300") {
		t.Errorf("damaged: %v", err)
	}
	if _, err := reserve(l, "a@%", rho("t1", 1e-9)); !errors.Is(err, ErrDamaged) {
		t.Errorf("after it: %v", err)
	}
	l.Close()
	if _, err := l.Recheck(t.Context()); err == nil {
		t.Error("a closed ledger was verified")
	}
}
