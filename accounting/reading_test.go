package accounting

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

func TestEntries(t *testing.T) {
	k := newClock("2026-05-01 10:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 2, 1e-6, budget.Never)
	mustSet(t, l, "u", false, budget.All, 2, 1e-6, budget.Never)
	mustSet(t, l, "u", false, budget.Default, 1, 1e-6, budget.Never)
	a := mustReserve(t, l, "a@%", rho("t", 0.01))
	b := mustReserve(t, l, "b@%", append(rho("u", 0.01), rho("t", 0.02)...))
	l.Finish(a, record.TimedOut)
	if err := l.Note("root@%", "raw", "switched on"); err != nil {
		t.Fatal(err)
	}
	if err := l.RemoveBudget(context.Background(), "u", false, budget.Default, "root@%"); err != nil {
		t.Fatal(err)
	}
	kinds := func(f Filter) (s []EntryKind) {
		t.Helper()
		es, err := l.Entries(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			s = append(s, e.Kind)
		}
		return s
	}
	for _, c := range []struct {
		name string
		f    Filter
		want []EntryKind
	}{
		{"all", Filter{}, []EntryKind{"set-budget", "set-budget", "set-budget", "charge", "charge", "note", "remove-budget"}},
		{"principal", Filter{Principal: "b@%"}, []EntryKind{"charge"}},
		{"account", Filter{Account: "u"}, []EntryKind{"set-budget", "set-budget", "charge", "remove-budget"}},
		{"limit", Filter{Limit: 2}, []EntryKind{"set-budget", "set-budget"}},
		{"since", Filter{AfterID: b.ID, Limit: 1}, []EntryKind{"note"}},
		{"since the end", Filter{AfterID: math.MaxUint64}, nil},
		{"nobody", Filter{Principal: "c@%"}, nil},
	} {
		if got := kinds(c.f); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if _, err := l.Entries(context.Background(), Filter{Limit: -1}); !errors.Is(err, ErrInvalid) {
		t.Errorf("negative limit: %v", err)
	}
	es, _ := l.Entries(context.Background(), Filter{})
	first, second, note := es[3], es[4], es[5]
	if first.Outcome != record.TimedOut || second.Outcome != record.Unfinished || !first.At.Equal(k.now()) {
		t.Errorf("charges %+v, %+v", first, second)
	}
	if note.NoteKind != "raw" || note.Text != "switched on" || note.Principal != "root@%" {
		t.Errorf("note %+v", note)
	}
	u, onT := second.Charges[0], second.Charges[1]
	if u.Account != "u" || u.RemainingOwn() >= 1 || u.RemainingAll() >= 2 || u.RemainingAll() <= u.RemainingOwn() {
		t.Errorf("charge on u %+v", u)
	}
	budget := budgetOf(2, 1e-6)
	if want := budget.Remaining(amountOnly(privacy.Loss{Rho: privacy.RhoOf(0.01) + privacy.RhoOf(0.02)})); onT.RemainingAll() != want || want <= 0 {
		t.Errorf("remaining on t %v, want %v", onT.RemainingAll(), want)
	}
	if es[0].Budget.Account != "t" || es[0].Budget.SetBy != "root@%" || !es[0].Budget.SetAt.Equal(k.now()) {
		t.Errorf("budget %+v", es[0])
	}
	if got := l.Budgets()[0]; got != es[0].Budget {
		t.Errorf("budget in memory %+v, in the file %+v", got, es[0].Budget)
	}
}

// TestEntriesInChunks reads more records than one read transaction visits.
func TestEntriesInChunks(t *testing.T) {
	l, _ := create1(t, nil)
	const n = 2*readChunk + 10
	done := make(chan error, n)
	for range n {
		go func() { done <- l.Note("a@%", "k", "x") }()
	}
	for range n {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	es, err := l.Entries(context.Background(), Filter{})
	if err != nil || len(es) != n {
		t.Fatalf("%d entries, %v", len(es), err)
	}
	for i, e := range es {
		if e.ID != uint64(i+1) {
			t.Fatalf("entry %d has number %d", i, e.ID)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 2, 1e-6, budget.Never)
	r := Request{Principal: "a@%", Statement: strings.Repeat("ä", budget.MaxStatement), Digest: "\xff", Charges: rho("t", 0.001)}
	if _, err := l.Reserve(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	es, err := l.Entries(context.Background(), Filter{Principal: "a@%"})
	if err != nil || len(es) != 1 {
		t.Fatal(es, err)
	}
	if s := es[0].Statement; len(s) > budget.MaxStatement || len(s) < budget.MaxStatement-8 || !utf8.ValidString(s) || !strings.HasSuffix(s, "ä…") {
		t.Errorf("statement of %d bytes ends %q", len(s), s[len(s)-8:])
	}
	if es[0].Digest != "\uFFFD" {
		t.Errorf("digest %q", es[0].Digest)
	}
}

func TestStatus(t *testing.T) {
	k := newClock("2026-05-20 10:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 2, 1e-6, budget.Month)
	mustSet(t, l, "t", false, budget.Default, 1, 1e-7, budget.Day)
	mustSet(t, l, "t", false, "b@%", 1.5, 1e-7, budget.Never)
	mustSet(t, l, "u", false, budget.All, 3, 1e-6, budget.Month)
	mustReserve(t, l, "a@%", rho("t", 0.01))
	mustReserve(t, l, "b@%", rho("t", 0.02))
	mustReserve(t, l, "b@%", rho("u", 0.005))
	entitiesOf := map[string][]string{"t": {"person"}, "u": {"person"}, "v": {"person"}, "w": {"other"}, "x": nil}
	st, err := l.Status(entitiesOf)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		account, scope, holder string
		spent                  float64
	}
	var got []line
	for _, b := range st.Budgets {
		got = append(got, line{b.Account, b.Principal, b.Holder, b.Spent.Rho.Float()})
		if r := privacy.RhoFor(b.Remaining, b.Delta); b.SpentEpsilon != privacy.EpsilonOf(b.Spent, b.Delta) || r > b.RemainingRho || r < b.RemainingRho-b.RemainingRho/1e6 {
			t.Errorf("%s %s: spent %v remaining %v", b.Account, b.Holder, b.SpentEpsilon, b.Remaining)
		}
		limit := privacy.RenyiLimit(b.Epsilon, b.Delta*25/32, b.Order-1) / b.Order
		if r := (b.RemainingRho + b.Spent.Rho).Float(); r > limit || r < limit*(1-1e-9) {
			t.Errorf("%s %s: remaining rho %v of %v", b.Account, b.Holder, b.RemainingRho, limit)
		}
	}
	up := func(r float64) float64 { return privacy.RhoOf(r).Float() }
	want := []line{
		{"t", budget.All, budget.All, (privacy.RhoOf(0.01) + privacy.RhoOf(0.02)).Float()}, {"t", budget.Default, budget.Default, 0}, {"t", budget.Default, "a@%", up(0.01)},
		{"t", "b@%", "b@%", up(0.02)}, {"u", budget.All, budget.All, up(0.005)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("budgets\n%v, want\n%v", got, want)
	}
	if b := st.Budgets[0]; !b.WindowStart.Equal(newClock("2026-05-01 00:00:00").now()) || !b.WindowEnd.Equal(newClock("2026-06-01 00:00:00").now()) {
		t.Errorf("window %v to %v", b.WindowStart, b.WindowEnd)
	}
	if b := st.Budgets[3]; !b.WindowStart.IsZero() || !b.WindowEnd.IsZero() {
		t.Errorf("window that never ends: %v to %v", b.WindowStart, b.WindowEnd)
	}
	if len(st.Entities) != 2 {
		t.Fatalf("entities %+v", st.Entities)
	}
	other, person := st.Entities[0], st.Entities[1]
	if other.Entity != "other" || other.Epsilon != 0 || !slices.Equal(other.Closed, []string{"w"}) {
		t.Errorf("other %+v", other)
	}
	if person.Epsilon != 5 || float64(person.Delta) < 2e-6 || person.Capped || person.Window != budget.Month ||
		!slices.Equal(person.Closed, []string{"v"}) || !slices.Equal(person.Tables, []string{"t", "u", "v"}) ||
		person.Spent.Rho != privacy.RhoOf(0.01)+privacy.RhoOf(0.02)+privacy.RhoOf(0.005) {
		t.Errorf("person %+v", person)
	}
	mustSet(t, l, "person", true, budget.All, 4, 1e-6, budget.Never)
	mustSet(t, l, "u", false, budget.All, 3, 1e-6, budget.Day)
	st, _ = l.Status(entitiesOf)
	if p := st.Entities[1]; p.Epsilon != 4 || p.Delta != 1e-6 || !p.Capped || p.Window != budget.Never {
		t.Errorf("capped person %+v", p)
	}
	mustSet(t, l, "person", true, budget.All, 40, 1e-6, budget.Never)
	st, _ = l.Status(entitiesOf)
	if p := st.Entities[1]; p.Epsilon != 5 || p.Capped || p.Window != "" {
		t.Errorf("person with a cap that caps nothing %+v", p)
	}
	// The next day the day's budget is whole again, the month's is not.
	k.set("2026-05-21 00:00:00")
	st, _ = l.Status(nil)
	if day, month := st.Budgets[2], st.Budgets[0]; day.Holder != "a@%" || day.Spent.Rho != 0 || month.Spent.Rho == 0 {
		t.Errorf("next day %+v", st.Budgets)
	}
}

func TestAnswers(t *testing.T) {
	l, path := create1(t, nil)
	put := func(k, v string) {
		t.Helper()
		if err := l.PutAnswer([]byte(k), []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(k, v string) {
		t.Helper()
		if got, ok := l.Answer([]byte(k)); !ok || string(got) != v {
			t.Errorf("answer %q: %q, %v", k, got, ok)
		}
	}
	put("a", "1")
	want("a", "1") // before it is written
	put("a", "2")
	put("b", "")
	want("a", "2")
	if _, ok := l.Answer([]byte("c")); ok {
		t.Error("found an answer that was not put")
	}
	if err := l.PutAnswer(nil, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("empty key: %v", err)
	}
	if err := l.PutAnswer(make([]byte, maxAnswerKey+1), nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("long key: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := l.Answer([]byte("a")); ok {
		t.Error("answer from a closed ledger")
	}
	l = open(t, path, Options{})
	want("a", "2")
	want("b", "")
	v, _ := l.Answer([]byte("a"))
	v[0] = 'x'
	want("a", "2") // callers own what they get
}

// TestDamagedAnswerIsNotFound: an answer is a cache entry; one that is not what was put is no
// answer.
func TestDamagedAnswerIsNotFound(t *testing.T) {
	l, path := create1(t, nil)
	for _, k := range []string{"a", "b"} {
		if err := l.PutAnswer([]byte(k), []byte("value of "+k)); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		v := bytes.Clone(tx.Bucket(answersBucket).Get([]byte("a")))
		v[len(v)-1] ^= 1
		return tx.Bucket(answersBucket).Put([]byte("a"), v)
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{})
	if v, ok := l.Answer([]byte("a")); ok {
		t.Errorf("damaged answer %q", v)
	}
	if v, ok := l.Answer([]byte("b")); !ok || string(v) != "value of b" {
		t.Errorf("sound answer %q, %v", v, ok)
	}
}

func TestOldestAnswersMakeRoom(t *testing.T) {
	path := t.TempDir() + "/ledger"
	o := Options{Create: true, AnswerBytes: 10_000}
	l := open(t, path, o)
	value := make([]byte, 999)
	for i := range 26 {
		if err := l.PutAnswer([]byte{'a' + byte(i)}, value); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 { // some batches of several
			if err := l.Note("a@%", "wait", ""); err != nil {
				t.Fatal(err)
			}
		}
		if i == 20 { // renews it
			if err := l.PutAnswer([]byte{'m'}, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.PutAnswer([]byte("big"), make([]byte, 10_000)); !errors.Is(err, ErrInvalid) {
		t.Errorf("answer beyond the limit: %v", err)
	}
	l.Close()
	l = open(t, path, o)
	var kept []byte
	for i := range 26 {
		if _, ok := l.Answer([]byte{'a' + byte(i)}); ok {
			kept = append(kept, 'a'+byte(i))
		}
	}
	if string(kept) != "mrstuvwxyz" {
		t.Errorf("kept %s", kept)
	}
	if l.answers.size != 10_000 {
		t.Errorf("size %d", l.answers.size)
	}
}
