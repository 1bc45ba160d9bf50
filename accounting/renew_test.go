package accounting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"

	bolt "go.etcd.io/bbolt"
)

// renewed is a release in parts of some ρ on an account and an entity, with the charge that it was
// begun with.
type renewed struct {
	name  string
	rho   float64
	first uint64
}

// part charges a@% for a part, the first time with some roles.
func (x *renewed) part(l *Ledger, roles ...string) (Receipt, error) {
	if x.first > 0 {
		return l.Renew(context.Background(), x.first)
	}
	charges := append(rho("t", x.rho), Charge{Account: "e", Entity: true, Loss: privacy.Loss{Rho: privacy.RhoOf(x.rho)}})
	receipt, err := l.Reserve(context.Background(), Request{Principal: "a@%", Roles: roles, Statement: "TOTALS " + x.name, Digest: "same", Charges: charges})
	x.first = receipt.ID
	return receipt, err
}

// spentIn is what a holder has spent in a window, in ρ.
func spentIn(l *Ledger, account string, entity bool, who string, w budget.Window) privacy.Rho {
	l.mu.Lock()
	defer l.mu.Unlock()
	today := max(l.state.LastDay, budget.DateOf(l.now()))
	return l.state.Spent[state.Holder{Account: account, Entity: entity, Principal: who}].Over(nil, w, today)[0].Spent.Rho
}

// TestRenewalsCountOnceInEachWindow: whatever the budgets' windows are, what is released in parts
// counts once in each window in which parts are released, for all, for who pays and for the roles,
// however parts, other statements, restarts, and a clock that goes back follow each other. A model
// that keeps a list of all of it agrees.
func TestRenewalsCountOnceInEachWindow(t *testing.T) {
	k := newClock("2126-01-05 12:00:00")
	l, path := create1(t, k)
	for i, w := range budget.Windows {
		mustSet(t, l, "t", false, []string{budget.All, "a@%", budget.RolePrefix + "r", budget.Default}[i], 1e4, 0.1, w)
	}
	type booked struct {
		on   budget.Date
		name string // of the release in parts; else unlike any other
		rho  privacy.Rho
	}
	var model []booked
	r := rand.New(rand.NewPCG(7, 1))
	series := []*renewed{{"s1", 0.25, 0}, {"s2", 0.5, 0}, {"s3", 0.125, 0}}
	day, charges := budget.Date(0), 0
	for i := range 400 {
		k.set(k.now().Add(time.Duration(r.IntN(96)-12) * time.Hour).Format(time.DateTime))
		day = max(day, budget.DateOf(k.now()))
		if x := series[r.IntN(3)]; r.IntN(3) > 0 {
			receipt, err := x.part(l, "r")
			ok(t, err)
			if receipt.ID > 0 {
				charges++
			}
			model = append(model, booked{day, x.name, privacy.RhoOf(x.rho)})
		} else {
			c := append(rho("t", 0.0625), Charge{Account: "e", Entity: true, Loss: privacy.Loss{Rho: privacy.RhoOf(0.0625)}})
			_, err := l.Reserve(t.Context(), Request{Principal: "a@%", Roles: []string{"r"}, Statement: "SELECT ?", Digest: "d", Charges: c})
			ok(t, err)
			model = append(model, booked{day, fmt.Sprint(i), privacy.RhoOf(0.0625)})
		}
		for _, w := range budget.Windows {
			want, seen := privacy.Rho(0), map[string]bool{}
			for _, b := range model {
				if w.Start(b.on) == w.Start(day) && !seen[b.name] {
					seen[b.name], want = true, want+b.rho
				}
			}
			for _, who := range []string{budget.All, "a@%", budget.RolePrefix + "r"} {
				if got := spentIn(l, "t", false, who, w); got != want {
					t.Fatalf("step %d, %s, %s: %v, want %v", i, who, w, got.Float(), want.Float())
				}
			}
			if got := spentIn(l, "e", true, budget.All, w); got != want {
				t.Fatalf("step %d, the entity, %s: %v, want %v", i, w, got.Float(), want.Float())
			}
		}
		if i%100 == 99 {
			ok(t, l.Close())
			l = open(t, path, Options{Now: k.now})
		}
	}
	if charges < 50 || charges > len(model)-50 {
		t.Errorf("%d charges of %d", charges, len(model))
	}
	s, _ := replayed(t, l)
	if ever := s.Spent[state.Holder{Account: "t", Principal: budget.All}].Ever.Rho; ever != spentIn(l, "t", false, budget.All, budget.Never) {
		t.Errorf("ever spent %v", ever.Float())
	}
	list, err := l.Entries(t.Context(), Filter{Digest: fmt.Sprint("renews ", series[0].first)})
	ok(t, err)
	for i, e := range list[1:] {
		if c := e.Charges[0]; c.Since != list[i].Day || c.CountsAfter() != list[i].Day.Time().Format(time.DateOnly) || len(c.Left) == 0 || len(c.Left) == 4 || e.Principal != "a@%" || len(e.Roles) != 1 {
			t.Fatalf("the entry %+v renews %+v", e, list[i])
		}
	}
}

// TestRenewalsFitOrAreRefused: three releases in parts that fill a budget of a month nearly, begun
// in three months, do not all go on in one; the refusal changes nothing, and in the next month the
// other goes on. Without renewals all three do.
func TestRenewalsFitOrAreRefused(t *testing.T) {
	k := newClock("2126-01-05 12:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Month)
	series := []*renewed{{"s1", 0.015, 0}, {"s2", 0.015, 0}, {"s3", 0.015, 0}}
	for i, x := range series {
		k.set(fmt.Sprintf("2126-0%d-05 12:00:00", i+1))
		_, err := x.part(l)
		ok(t, err)
	}
	_, err := series[2].part(l)
	ok(t, err)
	before := spentIn(l, "t", false, budget.All, budget.Month)
	for range 2 {
		var e *ExhaustedError
		if receipt, err := series[0].part(l); !errors.As(err, &e) || !e.Renews || e.Window != budget.Month || receipt.ID != 0 {
			t.Fatalf("%+v, %v", receipt, err)
		}
	}
	if after := spentIn(l, "t", false, budget.All, budget.Month); after != before {
		t.Errorf("a refusal spent %v", (after - before).Float())
	}
	mustSet(t, l, "t", false, budget.All, 2, 1e-6, budget.Month)
	_, err = series[0].part(l)
	ok(t, err)
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Month)
	k.set("2126-04-01 00:00:00")
	_, err = series[1].part(l)
	ok(t, err)
}

// TestRenewalsAfterAReset: after a reset of a budget of the account a renewal counts there in all
// windows, once, for all who hold it, and on other accounts as ever.
func TestRenewalsAfterAReset(t *testing.T) {
	k := newClock("2126-01-05 12:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 1e3, 1e-6, budget.Never)
	mustSet(t, l, "e", true, budget.All, 1e3, 1e-6, budget.Never)
	x, other := &renewed{"s", 0.5, 0}, &renewed{"s", 0.25, 0} // another release of the same text
	spent := func(table, own, entity float64) {
		t.Helper()
		for _, c := range []struct {
			account, who string
			entity       bool
			want         float64
		}{{"t", budget.All, false, table}, {"t", "a@%", false, own}, {"e", budget.All, true, entity}} {
			if got := spentIn(l, c.account, c.entity, c.who, budget.Never); got != privacy.RhoOf(c.want) {
				t.Errorf("%s on %s has %v, want %v", c.who, c.account, got.Float(), c.want)
			}
		}
	}
	again := func() {
		t.Helper()
		for range 2 {
			_, err := x.part(l)
			ok(t, err)
			_, err = other.part(l)
			ok(t, err)
		}
	}
	again()
	spent(0.75, 0.75, 0.75)
	ok(t, l.ResetBudget(t.Context(), "t", false, budget.All, "root@%", "because"))
	spent(0, 0.75, 0.75)
	again()
	spent(0.75, 1.5, 0.75)
	k.set("2126-03-07 12:00:00")
	again()
	spent(0.75, 1.5, 0.75)
	_, err := l.Renew(t.Context(), 1) // a budget, no charge
	if !errors.Is(err, ErrArchived) {
		t.Errorf("what is no charge is renewed: %v", err)
	}
}

// TestRenewalsRaiseTheFormat: a ledger with a renewal says so in its format, with an archive or
// without, so that an earlier program refuses it by name; one without stays as it was.
func TestRenewalsRaiseTheFormat(t *testing.T) {
	k := newClock("2126-01-05 12:00:00")
	l, path := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 1e3, 1e-6, budget.Month)
	format := func(want string) {
		t.Helper()
		var have string
		ok(t, l.db.View(func(tx *bolt.Tx) error { have = string(tx.Bucket(metaBucket).Get(formatKey)); return nil }))
		if have != want {
			t.Errorf("the format is %q, want %q", have, want)
		}
	}
	x := &renewed{"s", 0.5, 0}
	for range 2 {
		_, err := x.part(l)
		ok(t, err)
	}
	format(chain.Format)
	for i := range 300 {
		k.set(k.now().AddDate(0, 0, 1).Format(time.DateTime))
		_, err := x.part(l)
		ok(t, err)
		if i == 0 {
			format(chain.RenewedFormat)
		}
	}
	before := l.state.Encode(nil)
	p, err := l.PlanArchive(t.Context(), k.now())
	ok(t, err)
	ok(t, l.Close())
	ok(t, Archive(t.Context(), path, Options{DirectoryID: testDirectory}, path+ArchiveSuffix, p, nil))
	l = open(t, path, Options{Now: k.now})
	format(chain.RenewedFormat)
	if string(l.state.Encode(nil)) != string(before) {
		t.Error("the archive comes to something else")
	}
	ok(t, l.VerifyArchives(t.Context(), path+ArchiveSuffix, Options{DirectoryID: testDirectory}, func(Report) {}))
	was := spentIn(l, "t", false, budget.All, budget.Never)
	_, err = x.part(l)
	ok(t, err)
	if got := spentIn(l, "t", false, budget.All, budget.Never); got != was {
		t.Errorf("%v more", (got - was).Float())
	}
}

// TestRenewalsDecode: what is encoded of a renewal is read back, and a day that is none is refused.
func TestRenewalsDecode(t *testing.T) {
	r := record.Record{Kind: record.Charge, Principal: "a", Charges: merge(rho("t", 1))}
	r.Charges[0].Since = 5
	b := r.Encode(nil)
	back, err := record.Decode(b)
	ok(t, err)
	if back.Charges[0].Since != 5 {
		t.Errorf("read back as %+v", back.Charges[0])
	}
	r.Charges[0].Since = -1 // is not written
	if back, err = record.Decode(r.Encode(nil)); err != nil || back.Charges[0].Since != 0 {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestRenewalsBesideResets: whatever of a reset and a renewal comes first, what is released after
// both is counted after the reset.
func TestRenewalsBesideResets(t *testing.T) {
	k := newClock("2126-01-05 12:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 1e6, 1e-6, budget.Never)
	x := &renewed{"s", 0.5, 0}
	_, err := x.part(l)
	ok(t, err)
	for range 100 {
		k.set(k.now().AddDate(0, 0, 1).Format(time.DateTime))
		done := make(chan error)
		go func() { done <- l.ResetBudget(context.Background(), "t", false, budget.All, "root@%", "because") }()
		_, err := x.part(l)
		ok(t, err)
		ok(t, <-done)
		_, err = x.part(l)
		ok(t, err)
		if got := spentIn(l, "t", false, budget.All, budget.Never); got != privacy.RhoOf(0.5) {
			t.Fatalf("%v is spent after a reset", got.Float())
		}
	}
}
