package accounting

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// keepPoints are the places at which the work beside a ledger can die, in their order.
var keepPoints = []string{"segment-written", "segment-synced", "checkpoint-written", "checkpoint-synced", "checkpoint-placed"}

// keepsCheckpoints says whether a ledger opens from a checkpoint with exactly what reading
// everything gives, and finds no damage.
func keepsCheckpoints(t *testing.T, what, path string) (spent privacy.Rho) {
	t.Helper()
	want, members := wholeOf(t, path)
	l := checkpointed(t, path)
	sameAsWhole(t, l, what, want, members)
	if u := settled(t, l); u.Damage != nil || u.Failed != nil {
		t.Errorf("%s: %+v", what, u)
	}
	spent = spentOn(l, "t", false, budget.All).Rho
	ok(t, l.Close())
	return spent
}

// TestKillWhileKeeping kills a child at each step of a checkpoint, and again when it has done so
// before: every acknowledged charge is there, whether the next opening begins at that checkpoint or
// not.
func TestKillWhileKeeping(t *testing.T) {
	path := preparedIn(t, memoryDir(t))
	before := privacy.Rho(0)
	for _, point := range keepPoints {
		for _, n := range []int{1, 2} {
			what := fmt.Sprintf("%s %d", point, n)
			c := runChild(t, fmt.Sprintf("keep|%s|%s:%d|4", path, point, n), 2*time.Minute)
			got := keepsCheckpoints(t, what, path)
			c.within(t, what, got-before)
			if c.lines < 10 {
				t.Errorf("%s: the child did next to nothing: %+v, %d", what, c, got-before)
			}
			before = got
		}
	}
}

// TestKillWhileKeepingAtRandom kills children at any time while they charge and make checkpoints.
func TestKillWhileKeepingAtRandom(t *testing.T) {
	const together = 12 // kills of one ledger, which is read as a whole after each
	r := rand.New(rand.NewPCG(*seed, 77))
	path, before, resumed := "", privacy.Rho(0), 0
	for i := range together * often(1, 8) {
		if i%together == 0 {
			path, before = preparedIn(t, memoryDir(t)), 0
		}
		lines := r.IntN(6 * smallParts)
		if i%together == 0 { // a charge is two lines: some checkpoints are made
			lines += 4 * smallParts
		}
		c := runKilled(t, fmt.Sprintf("keep|%s||%d", path, 1+r.IntN(12)), lines, r)
		l := checkpointed(t, path)
		if l.Upkeep().Resumed > 0 {
			resumed++
		}
		c.within(t, fmt.Sprintf("seed %d, run %d", *seed, i), spentOn(l, "t", false, budget.All).Rho-before)
		l.Close()
		before = keepsCheckpoints(t, fmt.Sprint("run ", i), path)
	}
	if resumed == 0 {
		t.Error("no opening began at a checkpoint")
	}
}

// TestCheckpointThatFails: a checkpoint that cannot be written harms nothing, is told, and is tried
// again.
func TestCheckpointThatFails(t *testing.T) {
	for _, point := range keepPoints[:4] {
		path := withCheckpoint(t)
		var failed atomic.Pointer[Upkeep]
		l := open(t, path, Options{Checkpoints: true, part: smallParts, Upkeep: func(u Upkeep) {
			if u.Failed != nil {
				failed.Store(&u)
			}
		}})
		settled(t, l)
		broken := errors.New("disk on fire")
		fail := true
		l.mu.Lock()
		l.hook = func(p string) error {
			if p == point && fail {
				fail = false
				return broken
			}
			return nil
		}
		l.mu.Unlock()
		r := rand.New(rand.NewPCG(9, 5))
		charge := func() {
			for range smallParts {
				mustCharge(t, l, r, "late@%", "t1")
			}
		}
		first := l.Upkeep().Checkpoint
		for failed.Load() == nil {
			charge()
		}
		if u := failed.Load(); !errors.Is(u.Failed, broken) || u.Checkpoint != first || l.Err() != nil {
			t.Errorf("%s: %+v", point, u)
		}
		for l.Upkeep().Failed != nil { // the next attempt
			charge()
		}
		ok(t, l.Close())
		keepsCheckpoints(t, point, path)
	}
}

// TestCheckpointWithoutDirectory: where no file can be made, the ledger works as one without
// checkpoints.
func TestCheckpointWithoutDirectory(t *testing.T) {
	path := withCheckpoint(t)
	for _, s := range []string{CheckpointSuffix, IndexSuffix} {
		ok(t, os.Remove(path+s))
		// root may write whatever the mode, but not into a directory
		ok(t, os.MkdirAll(path+s, 0o700))
		ok(t, os.WriteFile(filepath.Join(path+s, "x"), nil, 0o600))
	}
	l := checkpointed(t, path)
	if u := settled(t, l); u.Failed == nil || u.Damage != nil {
		t.Errorf("%+v", u)
	}
	mustReserve(t, l, "a@%", rho("t1", 1e-9))
	ok(t, l.Close())
}

// TestBitsWithCheckpoint flips bits all over a ledger that opens from a checkpoint. It is refused;
// or what is spent is what it was, and then the work beside it finds the damage, or nothing is
// different.
func TestBitsWithCheckpoint(t *testing.T) {
	from := withCheckpoint(t)
	file, err := os.ReadFile(from)
	ok(t, err)
	want, members := wholeOf(t, from)
	path := filepath.Join(memoryDir(t), "ledger")
	r := rand.New(rand.NewPCG(*seed, 78))
	refused, found, harmless := 0, 0, 0
	for range often(150, 2_000) {
		for _, s := range ledgerFiles[1:] {
			copyFile(t, path+s, from+s)
		}
		b := bytes.Clone(file)
		at, bit := r.IntN(len(b)), r.IntN(8)
		if r.IntN(3) == 0 {
			at = r.IntN(6) * 4096 / 2 // headers of the first pages: what bbolt follows
			at += r.IntN(64)
		}
		b[at] ^= 1 << bit
		ok(t, os.WriteFile(path, b, 0o600))
		what := fmt.Sprintf("byte %d, bit %d", at, bit)
		l, err := Open(path, Options{DirectoryID: testDirectory, Checkpoints: true, part: smallParts})
		if err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrKey) && !errors.Is(err, ErrOlder) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		for h, p := range want.spent {
			l.mu.Lock()
			got := l.state.Spent[h]
			l.mu.Unlock()
			if got == nil || got.Ever != p.Ever {
				t.Errorf("%s: %v spent something else", what, h)
			}
		}
		if u := settled(t, l); u.Damage != nil {
			found++
		} else {
			harmless++
			sameAsWhole(t, l, what, want, members)
		}
		l.Close()
	}
	t.Logf("%d refused, %d found afterwards, %d harmless", refused, found, harmless)
	if refused == 0 || found == 0 {
		t.Error("some way was not tried")
	}
}
