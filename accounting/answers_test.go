package accounting

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"scrim/test/testenv"
)

// answersLedger is a ledger with a clock and little room for answers.
func answersLedger(t *testing.T, room int64) (l *Ledger, now *time.Time, reopen func() *Ledger) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	clock := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	open := func(create bool) *Ledger {
		l, err := Open(path, Options{DirectoryID: "d", Create: create, Now: func() time.Time { return clock }, AnswerBytes: room})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l = open(true)
	reopen = func() *Ledger {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = open(false)
		return l
	}
	t.Cleanup(func() { l.Close() })
	return l, &clock, reopen
}

func TestStoredAnswersAreTold(t *testing.T) {
	l, now, reopen := answersLedger(t, 1<<20)
	want := StoredAnswer{At: now.Add(-time.Hour), Principal: "ann@%", Statement: "SELECT ?", Digest: "abc", Tables: []string{"shop.orders"}, Charge: 7, Shared: true}
	for i := range 5 {
		a := want
		a.Principal = []string{"ann@%", "bob@%"}[i%2]
		if err := l.KeepAnswer([]byte{byte(i)}, []byte("value"), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.PutAnswer([]byte("silent"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as put, and as read back
		v, about, ok := l.Recall([]byte{2})
		want.ID = 3
		if !ok || string(v) != "value" || fmt.Sprint(about) != fmt.Sprint(want) {
			t.Errorf("got %q and %+v, want %+v", v, about, want)
		}
		if v, about, ok := l.Recall([]byte("silent")); !ok || string(v) != "x" || about.ID != 0 {
			t.Errorf("got %q and %+v of an answer of which nothing is told", v, about)
		}
		l = reopen()
	}
	if err := l.KeepAnswer([]byte("later"), nil, want); err != nil {
		t.Fatal(err)
	}
	l = reopen()
	ids := func(f AnswerFilter) (out []uint64) {
		for {
			list, next, err := l.StoredAnswers(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				out = append(out, s.ID)
				if s.Bytes < 20 || s.Bytes > 200 {
					t.Errorf("an answer takes %d bytes", s.Bytes)
				}
			}
			if f.Before = next; next == 0 {
				return out
			}
		}
	}
	for limit := range 8 {
		if got := fmt.Sprint(ids(AnswerFilter{Limit: limit})); got != "[6 5 4 3 2 1]" {
			t.Errorf("by %d: got %v", limit, got)
		}
		if got := fmt.Sprint(ids(AnswerFilter{Principal: "bob@%", Limit: limit})); got != "[4 2]" {
			t.Errorf("of one principal, by %d: got %v", limit, got)
		}
	}
}

// TestReplaysOfAnHourShareAnEntry: however often an answer is given again, the ledger grows by one
// entry for each principal and hour.
func TestReplaysOfAnHourShareAnEntry(t *testing.T) {
	l, now, reopen := answersLedger(t, 1<<20)
	if err := l.KeepAnswer([]byte("k"), []byte("v"), StoredAnswer{Principal: "ann@%"}); err != nil {
		t.Fatal(err)
	}
	entries := func() int {
		l = reopen()
		list, err := l.Entries(context.Background(), Filter{Kinds: []EntryKind{ReplayEntry}})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	ask := func(who string) {
		l.Reused(Replay{Key: []byte("k"), Principal: who, Owner: "ann@%", Statement: "SELECT ?", Digest: "d", Accounts: []string{"a"}})
	}
	for range 1000 {
		ask("ann@%")
		ask("bob@%")
	}
	var list []StoredAnswer
	var err error
	testenv.Until(t, time.Minute, "the answer, which is written within a moment", func() bool {
		list, _, err = l.StoredAnswers(context.Background(), AnswerFilter{})
		return len(list) == 1 || err != nil
	})
	if err != nil || len(list) != 1 || list[0].All != (Uses{2000, *now}) || list[0].Own.Hits != 1000 {
		t.Errorf("got %+v, %v", list, err)
	}
	if n := entries(); n != 2 {
		t.Errorf("got %d entries of one hour", n)
	}
	*now = now.Add(30 * time.Minute)
	ask("ann@%")
	*now = now.Add(30 * time.Minute)
	for range 10 {
		ask("ann@%")
	}
	if n := entries(); n != 4 { // the restart forgot, so it wrote one more
		t.Errorf("got %d entries of two hours and a restart", n)
	}
}

// TestEvictionSparesWhatIsUsed: the oldest go first, but an answer that is replayed stays longer
// than those that are not.
func TestEvictionSparesWhatIsUsed(t *testing.T) {
	l, _, reopen := answersLedger(t, 10_000)
	value := bytes.Repeat([]byte{1}, 900)
	for i := range 200 {
		if err := l.KeepAnswer(fmt.Appendf(nil, "k%03d", i), value, StoredAnswer{Principal: "ann@%"}); err != nil {
			t.Fatal(err)
		}
		l.Reused(Replay{Key: []byte("k000"), Principal: "ann@%"})
		if i%7 == 0 {
			l = reopen()
			l.Reused(Replay{Key: []byte("k000"), Principal: "ann@%"})
		}
	}
	l = reopen()
	if _, ok := l.Answer([]byte("k000")); !ok {
		t.Error("the answer that was used all along is gone")
	}
	if _, ok := l.Answer([]byte("k001")); ok {
		t.Error("an old answer that nobody used is still there")
	}
	if _, ok := l.Answer([]byte("k199")); !ok {
		t.Error("the newest answer is gone")
	}
	if s := l.answers.size; s > 10_000 || s < 8_000 {
		t.Errorf("the answers take %d bytes", s)
	}
	if n := len(l.answers.uses); n > 12 {
		t.Errorf("%d uses are remembered", n)
	}
}

// TestAnswersAreRead: whatever is stored and evicted, what is found is what was put last.
func TestAnswersAreRead(t *testing.T) {
	l, _, reopen := answersLedger(t, 20_000)
	rng := rand.New(rand.NewPCG(5, 6))
	last := map[string]string{}
	for i := range 600 {
		k := fmt.Sprint("key", rng.IntN(60))
		switch rng.IntN(4) {
		case 0, 1:
			v := fmt.Sprint(i, string(bytes.Repeat([]byte("x"), rng.IntN(900))))
			if err := l.KeepAnswer([]byte(k), []byte(v), StoredAnswer{Principal: "p", Statement: string(bytes.Repeat([]byte("s"), rng.IntN(100)))}); err != nil {
				t.Fatal(err)
			}
			last[k] = v
		case 2:
			l.Reused(Replay{Key: []byte(k), Principal: "p"})
		case 3:
			if got, ok := l.Answer([]byte(k)); ok && string(got) != last[k] {
				t.Fatalf("%s: got another answer than was put last", k)
			}
		}
		if i%150 == 149 {
			size := l.answers.size
			if l = reopen(); l.answers.size < size-20_000 || l.answers.size > 20_000 {
				t.Errorf("%d bytes before, %d after a restart", size, l.answers.size)
			}
		}
	}
}
