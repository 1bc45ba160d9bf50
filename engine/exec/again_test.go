package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/budget"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/test/stattest"
)

// forgetful is a store whose statements are short of memory once, in the first scan after a
// selection that has kept the key 1: that they are follows from the noise alone.
type forgetful struct {
	store.Store
	t      *testing.T
	failed int
}

type forgetfulSnapshot struct {
	store.Snapshot
	of          *forgetful
	rare, alone bool
}

func (f *forgetful) Snapshot(ctx context.Context) (store.Snapshot, error) {
	s, err := f.Store.Snapshot(ctx)
	return &forgetfulSnapshot{Snapshot: s, of: f}, err
}

func (s *forgetfulSnapshot) Keep(ctx context.Context, columns []string, types []store.ScanType, rows [][]any) (string, error) {
	for _, r := range rows {
		s.rare = s.rare || r[0] == int64(1)
	}
	return s.Snapshot.Keep(ctx, columns, types, rows)
}

func (s *forgetfulSnapshot) Scan(ctx context.Context, q string, args []any, types []store.ScanType, each ...func(store.Chunk) error) error {
	if s.rare && !s.alone {
		s.of.failed++
		// Whoever writes now is not seen either: without its persons the key 1 would not be there.
		write(s.of.t, s.of.Store, "DELETE FROM d.visits WHERE g = 1")
		return &store.Error{Kind: store.OutOfMemory}
	}
	return s.Snapshot.Scan(ctx, q, args, types, each...)
}

func (s *forgetfulSnapshot) Alone(ctx context.Context) error {
	s.alone = true
	return s.Snapshot.Alone(ctx)
}

// keyedNoise makes noise that can begin again, from the test's seed.
func keyedNoise(t *testing.T, name string) func() noise.Noiser {
	bits := stattest.Source(t, name)
	return func() noise.Noiser {
		var key [32]byte
		for i := 0; i < len(key); i += 8 {
			binary.LittleEndian.PutUint64(key[i:], bits.Uint64())
		}
		return noise.Keyed(key)
	}
}

// TestAFailureDoesNotChangeTheLaw: a key is shown with the chance that its selection has, although
// the attempt that shows it fails each time and only then. Where the noise is drawn anew it is
// shown with the square of that chance, and nothing of the charge covers the difference; where the
// rows are those of the second attempt, never. One test at the level of stattest.Alpha.
func TestAFailureDoesNotChangeTheLaw(t *testing.T) {
	s, l := fixture(t)
	unlimited := budget.Budget{Account: "visits", Principal: budget.All, Epsilon: 1e6, Delta: 1e-3, Window: budget.Never}
	if err := l.SetBudget(context.Background(), unlimited); err != nil {
		t.Fatal(err)
	}
	st, r := counts(t, 2, true)
	persons := r.Selection.Threshold()
	direct, shown, n := noise.New(stattest.Source(t, "direct")), 0, stattest.Runs(300, 3000)
	const draws = 300_000
	for range draws {
		if r.Selection.Keep(direct, persons*r.Selection.Weight(1)) {
			shown++
		}
	}
	chance := float64(shown) / draws
	f := &forgetful{Store: s, t: t}
	x := executor(f, l)
	x.Noise = keyedNoise(t, "server")
	hits := 0
	for i := range n {
		write(t, s, "DELETE FROM d.visits WHERE g = 1")
		write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 1000 + range, 1 FROM range(%d)", persons))
		rows, err := ask(t, x, st, r)
		if err != nil {
			t.Fatalf("statement %d: %v", i, err)
		}
		for _, row := range rows {
			if row[0] == int64(1) {
				hits++
			}
		}
	}
	t.Logf("%d of %d statements failed at first, %d show the key; its chance is %.4f", f.failed, n, hits, chance)
	if f.failed != hits {
		t.Errorf("%d attempts failed with the key shown, %d statements show it", f.failed, hits)
	}
	stattest.Accept(t, stattest.Coverage("a key is shown", hits, n, chance))
	stattest.Reject(t, stattest.Coverage("a key is shown twice", int(float64(n)*chance*chance), n, chance))
}

// TestNoiseThatCannotBeginAgain: drawn anew it would be another law, so the statement fails.
func TestNoiseThatCannotBeginAgain(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 2, true)
	write(t, s, "UPDATE d.visits SET g = 1")
	x := executor(&forgetful{Store: s, t: t}, l)
	x.Noise = func() noise.Noiser { return stattest.Noiser(t, "bits") }
	if rows, err := ask(t, x, st, r); err == nil {
		t.Errorf("got %v", rows)
	}
	if n := charges(t, l); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// TestNoReleaseBeginsAgainAfterItsNoise: not even where the store's failure comes that late.
func TestNoReleaseBeginsAgainAfterItsNoise(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, false)
	x, drawn, keyed := executor(s, l), 0, keyedNoise(t, "noise")
	x.Noise = func() noise.Noiser {
		if drawn++; drawn == 3 { // the secrets' and one estimator's are before it
			panic(&store.Error{Kind: store.OutOfMemory})
		}
		return keyed()
	}
	if rows, err := ask(t, x, st, r); err == nil || drawn != 3 {
		t.Errorf("got %v after %d draws", rows, drawn)
	}
}

// TestProgressGoesOn: what begins again is not told again, and the steps of a statement of several
// releases are those that it has without a failure.
func TestProgressGoesOn(t *testing.T) {
	told := func(fail bool) (steps []string) {
		s, l := fixture(t)
		st, r := counts(t, 3, true)
		other, more := counts(t, 2, false)
		more.Key, st.Releases = "more", append(other.Releases, st.Releases...)
		write(t, s, "UPDATE d.visits SET g = 1")
		var from store.Store = s
		if fail {
			from = &forgetful{Store: s, t: t}
		}
		x := executor(from, l)
		x.Noise = keyedNoise(t, "noise")
		x.Progress = func(_ *sql.Context, name string, step, of int) {
			steps = append(steps, fmt.Sprintf("%s: %d/%d", name, step, of))
		}
		if _, err := ask(t, x, st, r); err != nil {
			t.Fatal(err)
		}
		return steps
	}
	if got, want := fmt.Sprint(told(true)), fmt.Sprint(told(false)); got != want || len(want) < 100 {
		t.Errorf("with a failure\n%s\nwithout\n%s", got, want)
	}
}
