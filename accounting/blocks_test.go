package accounting

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// monthsOf is the stretch of whole months of 2025 from one to another; month 0 and month 13 stand
// for open ends.
func monthsOf(first, last int) *days.Span {
	b := days.Span{First: days.Earliest, Last: days.Latest}
	if first > 0 {
		b.First = monthDay(first)
	}
	if last < 13 {
		b.Last = monthDay(last+1) - 1
	}
	return &b
}

// monthDay is the first day of a month, counted from January of 2025 as 1.
func monthDay(n int) days.Day {
	const first = 20089 // 2025-01-01
	d := days.Day(first)
	for ; n > 1; n-- {
		d = days.Day(d.Time().AddDate(0, 1, 0).Unix() / 86400)
	}
	return d
}

// randomBlocks are none, for every block, or some, of months 0 to 13.
func randomBlocks(r *rand.Rand) *days.Span {
	first, last := r.IntN(14), r.IntN(14)
	switch {
	case r.IntN(3) == 0:
		return nil
	case r.IntN(4) == 0:
		last = first
	}
	return monthsOf(min(first, last), max(first, last))
}

func in(on *days.Span, list []Charge) []Charge {
	for i := range list {
		list[i].Blocks = on
	}
	return list
}

// TestBlocksAgainstObviousAccount runs random dialogues of charges to months and compares every
// decision, and the months that a refusal names, with an account that keeps a list and adds it up
// for each month by itself: one of before, the twelve, and one of after. A statement has up to two
// charges on an account. The ledger is opened again now and then, in parts and from its records.
func TestBlocksAgainstObviousAccount(t *testing.T) {
	type spent struct {
		state.Holder
		on   days.Span
		day  budget.Date
		loss privacy.Loss
	}
	decisions := map[string]int{}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 77))
		k := newClock("2026-01-28 00:00:00")
		l, path := create1(t, k)
		windows := []budget.Window{budget.Never, budget.Month, budget.Week}
		budgets := map[state.Holder]budget.Budget{}
		set := func(h state.Holder) {
			b := budget.Budget{Account: h.Account, Entity: h.Entity, Principal: h.Principal,
				Epsilon: privacy.Epsilon(r.Float64()*2 + 0.5), Delta: []privacy.Delta{0, 1e-6, 1e-6}[r.IntN(3)], Window: windows[r.IntN(3)]}
			if r.IntN(3) == 0 {
				b.Rho, b.Epsilon = privacy.RhoOf(r.Float64()/4+0.01), 0
			}
			ok(t, l.SetBudget(t.Context(), b))
			b.Order = b.ChooseOrder()
			budgets[h] = b
		}
		accounts := []state.Holder{{Account: "t", Principal: budget.All}, {Account: "e", Entity: true, Principal: budget.All}, {Account: "t", Principal: "a@%"}}
		for _, h := range accounts {
			set(h)
		}
		var list []spent
		var resets = map[state.Holder]int{}
		for range 250 {
			today := max(l.state.LastDay, budget.DateOf(k.now()))
			switch n := r.IntN(24); {
			case n == 0:
				set(accounts[r.IntN(len(accounts))])
				continue
			case n == 1:
				h := accounts[r.IntN(len(accounts))]
				ok(t, l.ResetBudget(t.Context(), h.Account, h.Entity, h.Principal, "root@%", "new"))
				resets[h] = len(list)
				continue
			case n < 4:
				k.mu.Lock()
				k.t = k.t.AddDate(0, 0, r.IntN(5))
				k.mu.Unlock()
				continue
			case n == 4:
				ok(t, l.Close())
				l = open(t, path, Options{Now: k.now})
				one, _ := replayed(t, l)
				if !bytes.Equal(one.Encode(nil), l.state.Encode(nil)) {
					t.Fatalf("seed %d: parts and records come to different states", seed)
				}
				continue
			}
			who := []string{"a@%", "b@%"}[r.IntN(2)]
			var charges []Charge
			for range 1 + r.IntN(3) {
				h := accounts[r.IntN(2)]
				loss := privacy.Loss{Rho: privacy.RhoOf(r.Float64() / 40)}
				if r.IntN(2) == 0 {
					loss = privacy.PureLoss(r.Float64() / 4)
				}
				charges = append(charges, Charge{Account: h.Account, Entity: h.Entity, Loss: loss, Blocks: randomBlocks(r)})
			}
			granted, full := true, map[string]bool{}
			for h, b := range budgets {
				if h.Principal != budget.All && h.Principal != who {
					continue
				}
				for month := range 14 {
					at, touched := *monthsOf(month, month), false
					var sum []privacy.Loss
					for _, c := range charges {
						if _, meets := c.Blocks.All().Meet(at); meets && c.Account == h.Account && c.Entity == h.Entity {
							sum, touched = append(sum, c.Loss), true
						}
					}
					for _, x := range list[resets[h]:] {
						if _, meets := x.on.Meet(at); meets && x.Holder == h && x.day >= b.Window.Start(today) {
							sum = append(sum, x.loss)
						}
					}
					if touched && !keeps(sum, b) {
						granted, full[at.String()] = false, true
					}
				}
			}
			_, err := reserve(l, who, charges)
			if (err == nil) != granted {
				t.Fatalf("seed %d: granted %v (%v), the obvious account says %v", seed, err == nil, err, granted)
			}
			if forecast, e := l.Forecast(who, nil, charges); e != nil {
				t.Fatal(e)
			} else if err != nil {
				fits := true
				for _, f := range forecast {
					fits = fits && f.Fits
				}
				if fits {
					t.Fatalf("seed %d: a forecast says that a refused charge fits", seed)
				}
			}
			if err != nil {
				var x *ExhaustedError
				if !errors.As(err, &x) {
					t.Fatal(err)
				}
				for _, on := range x.Blocks {
					for month := range 14 {
						at := *monthsOf(month, month)
						if _, meets := on.Meet(at); meets && !full[at.String()] {
							t.Errorf("seed %d: the refusal names %v, which has room in %v", seed, on, at)
						}
					}
				}
				decisions["refused"]++
				continue
			}
			decisions["granted"]++
			for _, c := range charges {
				for _, w := range []string{who, budget.All} {
					list = append(list, spent{state.Holder{Account: c.Account, Entity: c.Entity, Principal: w}, c.Blocks.All(), today, c.Loss})
				}
			}
		}
	}
	if decisions["granted"] < 200 || decisions["refused"] < 200 {
		t.Errorf("%v say little", decisions)
	}
}

// TestOneMonthLeavesOthers: what is spent on June does not count for July, what is spent on every
// block counts for both, and so does it where June and every block are charged by one statement.
func TestOneMonthLeavesOthers(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 1, 0, budget.Never)
	june, july := monthsOf(6, 6), monthsOf(7, 7)
	mustReserve(t, l, "a@%", in(june, pure("t", 0.75)))
	mustReserve(t, l, "a@%", in(july, pure("t", 0.5)))
	ok(t, l.Close())
	l = open(t, path, Options{})
	var x *ExhaustedError
	if _, err := reserve(l, "a@%", in(monthsOf(5, 8), pure("t", 0.375))); !errors.As(err, &x) || len(x.Blocks) != 1 || x.Blocks[0] != *june || x.Remaining != 0.25 {
		t.Fatalf("more than June has left: %v, %+v", err, x)
	}
	mustReserve(t, l, "a@%", in(monthsOf(7, 13), pure("t", 0.375)))
	if _, err := reserve(l, "a@%", append(pure("t", 0.125), in(june, pure("t", 0.1875))...)); !errors.As(err, &x) || len(x.Blocks) != 1 || x.Blocks[0] != *june {
		t.Fatalf("June twice in one statement: %v, %+v", err, x)
	}
	mustReserve(t, l, "a@%", append(pure("t", 0.125), in(june, pure("t", 0.125))...))
	if _, err := reserve(l, "a@%", pure("t", 0.0625)); !errors.As(err, &x) || len(x.Blocks) != 2 {
		t.Fatalf("every block: %v, %+v", err, x)
	}
	st, err := l.Status(nil)
	ok(t, err)
	if b := st.Budgets[0]; b.Remaining != 0 || len(b.Blocks) != 4 || b.Blocks[0].Remaining != 0.875 || b.Blocks[3].Remaining != 0.5 {
		t.Errorf("status %+v", b)
	}
	if got := spentOn(l, "t", false, budget.All).Pure.Float(); got != 1.875 {
		t.Errorf("all charges together are %v", got)
	}
	es, err := l.Entries(t.Context(), Filter{})
	ok(t, err)
	if on := es[1].Charges[0].Blocks; on == nil || *on != *june || es[4].Charges[0].Blocks != nil {
		t.Errorf("the entry is of %v", on)
	}
}

// TestBlocksRefused: stretches that are none are refused, and are no records.
func TestBlocksRefused(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 1, 0, budget.Never)
	for _, on := range []days.Span{{First: 2, Last: 1}, {First: days.Earliest + 1, Last: 1}, {First: 1, Last: days.Latest - 1}} {
		if _, err := reserve(l, "a@%", in(&on, pure("t", 0.1))); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", on, err)
		}
		r := record.Record{Kind: record.Charge, Principal: "a", Charges: []record.Booked{{Account: "t", Blocks: &on}}}
		if _, err := record.Decode(r.Encode(nil)); err == nil {
			t.Errorf("%+v is taken for a record", on)
		}
	}
	r := record.Record{Kind: record.Charge, Principal: "a", Charges: []record.Booked{{Account: "t", Blocks: monthsOf(0, 13)}}}
	plain := record.Record{Kind: record.Charge, Principal: "a", Charges: []record.Booked{{Account: "t"}}}
	if !bytes.Equal(r.Encode(nil), plain.Encode(nil)) {
		t.Error("every block has two records")
	}
	d := codec.NewDecoder([]byte{3, 0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	if record.ReadKind(d); !d.Bad {
		t.Error("every block in so many words is taken")
	}
}

// TestBudgetOfUncountedPersons: a budget over all periods is refused where charges on the entity do
// not say what they count for persons, and taken where all do.
func TestBudgetOfUncountedPersons(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"), Options{Create: true})
	over := budget.OverPeriods("buyer")
	b := budget.Budget{Account: over, Entity: true, Principal: budget.All, Rho: privacy.RhoOf(1), Window: budget.Never}
	charge := func(accounts ...string) {
		t.Helper()
		r := Request{Principal: "ann@%"}
		for _, a := range accounts {
			r.Charges = append(r.Charges, Charge{Account: a, Entity: true, Loss: privacy.Loss{Rho: privacy.RhoOf(0.25)}})
		}
		if _, err := l.Reserve(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	charge("buyer", over)
	if err := l.SetBudget(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if l.Pure("buyer", true, "ann@%") {
		t.Error("a budget in rho is pure")
	}
	charge("buyer", over)
	charge("buyer")
	if err := l.SetBudget(context.Background(), b); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "1 of 3 charges") {
		t.Errorf("a budget over charges that are not counted: %v", err)
	}
	b.Account, b.Rho, b.Epsilon = budget.OverPeriods("visitor"), 0, 1
	if err := l.SetBudget(context.Background(), b); err != nil || !l.Pure("visitor", true, "ann@%") || l.Pure("visitor", false, "ann@%") {
		t.Errorf("a pure budget over all periods: %v", err)
	}
}
