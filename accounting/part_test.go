package accounting

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/part"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// busy makes a ledger of some 1500 records over two months: several accounts, entities, roles and
// events in a charge, budgets that change and are reset, and outcomes and remarks that come late.
func busy(t *testing.T) (path string) {
	t.Helper()
	k := newClock("2026-01-25 00:00:00")
	l, path := create1(t, k)
	for _, a := range []string{"t0", "t1", "t2", "e"} {
		mustSet(t, l, a, false, budget.All, 1e5, 0.1, budget.Month)
	}
	r := rand.New(rand.NewPCG(61, 1))
	var receipts []Receipt
	for i := range 1000 {
		k.set(k.now().Add(time.Duration(r.IntN(7200)-600) * time.Second).Format(time.DateTime))
		who, account := fmt.Sprintf("p%d@%%", r.IntN(9)), fmt.Sprintf("t%d", r.IntN(3))
		switch r.IntN(40) {
		case 0:
			mustSet(t, l, account, false, []string{budget.Default, who, budget.RolePrefix + "a"}[r.IntN(3)], 1e4, 0.1, []budget.Window{budget.Day, budget.Week, budget.Month, budget.Never}[r.IntN(4)])
		case 1:
			ok(t, l.ResetBudget(t.Context(), account, false, budget.All, who, "because"))
		case 2:
			ok(t, l.Note(who, "kind", "text"))
		case 3:
			l.Replayed(who, "SELECT ?", fmt.Sprint("digest", r.IntN(99)), 1, []string{account, "t9"})
		default:
			receipts = append(receipts, mustCharge(t, l, r, who, account))
			_, err := l.Renew(t.Context(), receipts[r.IntN(min(9, len(receipts)))].ID)
			ok(t, err)
		}
		if n := len(receipts); n > 0 && i%2 == 0 {
			l.Finish(receipts[r.IntN(n)], record.Outcome(1+r.IntN(int(record.Cancelled))))
		}
		if n := len(receipts); n > 0 && i%3 == 0 {
			l.Remark(receipts[r.IntN(n)], fmt.Sprint("remark ", i))
		}
		if i%50 == 0 {
			l.Finish(Receipt{ID: 1}, record.Answered) // of what is no charge
		}
	}
	ok(t, l.Close())
	return path
}

// mustCharge charges an account and an entity for some random events.
func mustCharge(t *testing.T, l *Ledger, r *rand.Rand, who, account string) Receipt {
	t.Helper()
	var events []privacy.Event
	loss := privacy.Loss{}
	for range 1 + r.IntN(3) {
		e := privacy.Event{Kind: privacy.DiscreteGaussian, Rho: privacy.Rho(1 + r.IntN(5)), DeltaTV: 0x1p-100, Count: 1 + r.Uint32N(3)}
		if r.IntN(2) == 0 {
			e = privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: privacy.Pure(1 + r.IntN(1e9)), Steps: 1 + r.Uint64N(3), Count: 1}
		}
		events, loss = append(events, e), loss.Add(e.Loss())
	}
	receipt, err := l.Reserve(t.Context(), Request{
		Principal: who, Statement: "SELECT ?", Digest: fmt.Sprint("digest", r.IntN(99)), Mechanisms: "m", Roles: []string{"a", "b", "c"}[:r.IntN(4)],
		Charges: []Charge{
			{Account: account, Table: "shop." + account, Blocks: randomBlocks(r), Loss: loss, Events: events},
			{Account: "e", Entity: true, Blocks: randomBlocks(r), Loss: loss, Events: events},
			{Account: "e", Table: "shop.e", Loss: loss, Events: events[:1]},
		}[:1+r.IntN(3)],
	})
	ok(t, err)
	return receipt
}

// replayed books one record after the other, as they were when they were written.
func replayed(t *testing.T, l *Ledger) (*state.State, *index.Index) {
	t.Helper()
	s, x := state.New(), index.New(0)
	ids := make([]uint32, l.end.ID)
	for i := range ids {
		ids[i] = uint32(i + 1)
	}
	ok(t, l.records(ids, func(_ uint64, r *record.Record) {
		ok(t, s.Apply(r))
		x.Add(r)
	}))
	return s, x
}

// members lists the sets of an index by name.
func members(x *index.Index) map[string][]uint32 {
	m := map[string][]uint32{}
	add := func(name string, b *roaring.Bitmap) {
		if !b.IsEmpty() {
			m[name] = b.ToArray()
		}
	}
	add("entries", x.Entries)
	for kind, b := range x.Kinds {
		add(fmt.Sprint("kind ", kind), b)
	}
	for o, b := range x.Outcomes {
		add(fmt.Sprint("outcome ", o), b)
	}
	for n, b := range x.Digests {
		add(fmt.Sprint("digest ", n), b)
	}
	for what, sets := range map[string]map[string]*roaring.Bitmap{"principal ": x.Principals, "account ": x.Accounts, "table ": x.Tables} {
		for name, b := range sets {
			add(what+name, b)
		}
	}
	return m
}

// TestPartsAgainstOneByOne opens a ledger in parts of several sizes and compares all that opening
// derives with what comes of booking one whole record after the other.
func TestPartsAgainstOneByOne(t *testing.T) {
	path := busy(t)
	l := open(t, path, Options{ReadOnly: true})
	s, x := replayed(t, l)
	if s.LastID < 1200 || len(x.Days) < 30 || len(members(x)) < 100 {
		t.Fatalf("only %d records of %d days in %d sets", s.LastID, len(x.Days), len(members(x)))
	}
	renewals, halves := 0, 0 // of which some count in all windows on some accounts
	list, err := l.Entries(t.Context(), Filter{Kinds: []EntryKind{ChargeEntry}})
	ok(t, err)
	for _, e := range list {
		since := slices.ContainsFunc(e.Charges, func(c EntryCharge) bool { return c.Since > 0 })
		if since {
			renewals++
		}
		if since && slices.ContainsFunc(e.Charges, func(c EntryCharge) bool { return c.Since == 0 }) {
			halves++
		}
	}
	if renewals < 50 || halves == 0 {
		t.Errorf("only %d renewals, %d in part", renewals, halves)
	}
	end := chain.Head{Mark: l.end, Day: l.state.LastDay}
	for _, size := range []uint64{index.BlockSize, 2 * index.BlockSize, partSize} {
		l.answers = answerStore{limit: 1, pending: map[string][]byte{}}
		ok(t, l.load(l.key, l.base, end, size, nil))
		if l.state.LastID != s.LastID || l.state.LastDay != s.LastDay || l.state.Starts != s.Starts || !reflect.DeepEqual(l.state.Budgets, s.Budgets) {
			t.Fatalf("parts of %d: another end, or other budgets", size)
		}
		if len(l.state.Spent) != len(s.Spent) {
			t.Errorf("parts of %d: %d holders, want %d", size, len(l.state.Spent), len(s.Spent))
		}
		for h, p := range s.Spent {
			if got := l.state.Spent[h]; got == nil || !reflect.DeepEqual(counting(got, s.LastDay), counting(p, s.LastDay)) {
				t.Errorf("parts of %d: %v spent something else", size, h)
			}
		}
		if !reflect.DeepEqual(l.index.Columns, x.Columns) {
			t.Errorf("parts of %d: other columns", size)
		}
		got, want := members(l.index), members(x)
		for name := range maps.Keys(want) {
			if !slices.Equal(got[name], want[name]) {
				t.Errorf("parts of %d: the set %q has %d members, want %d", size, name, len(got[name]), len(want[name]))
			}
		}
		if len(got) != len(want) {
			t.Errorf("parts of %d: %d sets, want %d", size, len(got), len(want))
		}
	}
}

// TestPartsRefuseWhatIsNoRecord changes a byte of each record, or cuts it short: parts take what
// record.Decode takes, and nothing else.
func TestPartsRefuseWhatIsNoRecord(t *testing.T) {
	l := open(t, busy(t), Options{ReadOnly: true})
	const first, id = partSize, partSize + 7
	r := rand.New(rand.NewPCG(62, 1))
	memory := &index.Scratch{Outcomes: make([]uint8, index.BlockSize)}
	taken, refused := 0, 0
	attempt := func(b []byte) {
		p := part.New(first, id, l.state.LastDay, memory)
		err := p.Take(id, b)
		full, want := record.Decode(b)
		if want == nil {
			want = full.Follows(id)
		}
		if (err == nil) != (want == nil) {
			t.Fatalf("% x: %v, want %v", b, err, want)
		}
		if err == nil {
			taken++
		} else {
			refused++
		}
	}
	err := l.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(chain.Records).ForEach(func(_, v []byte) error {
			b := bytes.Clone(v[len(chain.Sum{}):])
			attempt(b)
			attempt(b[:r.IntN(len(b))])
			attempt(append(b, 0))
			for range 5 {
				i := r.IntN(len(b))
				was := b[i]
				b[i] ^= 1 << r.IntN(8)
				attempt(b)
				b[i] = was
			}
			return nil
		})
	})
	ok(t, err)
	if taken < 3000 || refused < 3000 {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}
