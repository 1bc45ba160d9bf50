package accounting

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock(s string) *clock {
	t, err := time.Parse(time.DateTime, s)
	if err != nil {
		panic(err)
	}
	return &clock{t: t}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) set(s string) {
	n := newClock(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = n.t
}

const testDirectory = "directory-1"

// testKey is the key of the tests' ledgers, so that files of one can be opened in the place of
// another.
var testKey = chain.Key{1, 2, 3}

func testKeyFile() []byte { return []byte(hex.EncodeToString(testKey[:]) + "\n") }

func testMark(m chain.Mark) []byte { return m.Encode(chain.New(testKey.Derive("mark"))) }

// open opens a ledger that is closed when the test ends.
func open(t testing.TB, path string, o Options) *Ledger {
	t.Helper()
	if o.DirectoryID == "" {
		o.DirectoryID = testDirectory
	}
	if _, err := os.Stat(path + KeySuffix); o.Create && err != nil {
		if err := os.WriteFile(path+KeySuffix, testKeyFile(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func create1(t testing.TB, c *clock) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	o := Options{Create: true}
	if c != nil {
		o.Now = c.now
	}
	return open(t, path, o), path
}

func mustSet(t testing.TB, l *Ledger, account string, entity bool, principal string, e privacy.Epsilon, d privacy.Delta, w budget.Window) {
	t.Helper()
	b := budget.Budget{Account: account, Entity: entity, Principal: principal, Epsilon: e, Delta: d, Window: w, SetBy: "root@%"}
	if err := l.SetBudget(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

// rho is a charge of one table account.
func rho(account string, r float64) []Charge {
	return []Charge{{Account: account, Table: "db." + account, Loss: privacy.Loss{Rho: privacy.RhoOf(r)}}}
}

func reserve(l *Ledger, principal string, charges []Charge) (Receipt, error) {
	return l.Reserve(context.Background(), Request{Principal: principal, Statement: "SELECT 1", Digest: "d", Mechanisms: "m", Charges: charges})
}

func mustReserve(t testing.TB, l *Ledger, principal string, charges []Charge) Receipt {
	t.Helper()
	r, err := reserve(l, principal, charges)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spentOn returns everything that a holder has spent.
func spentOn(l *Ledger, account string, entity bool, who string) privacy.Tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.state.Spent[state.Holder{Account: account, Entity: entity, Principal: who}]; p != nil {
		return p.Ever.Tally
	}
	return privacy.Tally{}
}

func TestReserveSurvivesReopening(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 2, 1e-6, budget.Never)
	r := mustReserve(t, l, "a@%", rho("t", 0.01))
	l.Finish(r, record.Failed)
	want := spentOn(l, "t", false, budget.All)
	if want.Rho != privacy.RhoOf(0.01) {
		t.Fatalf("spent %v", want)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reserve(l, "a@%", rho("t", 0.01)); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
	l = open(t, path, Options{})
	if got := spentOn(l, "t", false, budget.All); got != want {
		t.Errorf("spent %v after opening again, want %v", got, want)
	}
	es, err := l.Entries(context.Background(), Filter{})
	if err != nil || len(es) != 2 {
		t.Fatalf("entries %v, %v", es, err)
	}
	e := es[1]
	if e.ID != r.ID || e.Principal != "a@%" || e.Statement != "SELECT 1" || e.Outcome != record.Failed || len(e.Charges) != 1 {
		t.Errorf("entry %+v", e)
	}
	c := e.Charges[0]
	if c.Loss.Rho != privacy.RhoOf(0.01) || math.IsNaN(float64(c.RemainingAll())) || !math.IsNaN(float64(c.RemainingOwn())) {
		t.Errorf("charge %+v", c)
	}
	b := budgetOf(2, 1e-6)
	if want := b.Remaining(amountOnly(privacy.Loss{Rho: privacy.RhoOf(0.01)})); c.RemainingAll() != want || want <= 0 {
		t.Errorf("remaining %v, want %v", c.RemainingAll(), want)
	}
}

func TestExactlyTen(t *testing.T) {
	l, _ := create1(t, nil)
	one := privacy.Loss{Rho: privacy.RhoOf(0.01), DeltaEvent: 1e-9, DeltaTV: 0x1p-100}
	mustSet(t, l, "t", false, budget.All, capFor(10*one.Rho, 2e-6), 2e-6, budget.Month)
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 64 {
		wg.Go(func() {
			_, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: one}})
			mu.Lock()
			defer mu.Unlock()
			var x *ExhaustedError
			switch {
			case err == nil:
				granted++
			case !errors.As(err, &x) || !errors.Is(err, ErrExhausted) || x.Account != "t" || x.Scope != budget.All:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if granted != 10 {
		t.Errorf("granted %d, want 10", granted)
	}
}
