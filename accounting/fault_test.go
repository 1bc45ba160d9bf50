package accounting

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/test/testenv"
)

// TestWriteErrorPoisons: after one failed write everything is refused, although the disk would work
// again; opening again finds what was durable.
func TestWriteErrorPoisons(t *testing.T) {
	for _, point := range []string{"before-transaction", "in-transaction", "after-transaction"} {
		l, path := create1(t, nil)
		mustSet(t, l, "t", false, budget.All, 10, 1e-6, budget.Never)
		mustReserve(t, l, "a@%", rho("t", 0.001))
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
		for i := range 3 {
			if _, err := reserve(l, "a@%", rho("t", 0.001)); !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s, call %d: %v", point, i, err)
			}
		}
		if err := l.Note("a@%", "k", ""); !errors.Is(err, ErrUnavailable) {
			t.Errorf("note: %v", err)
		}
		if err := l.SetBudget(context.Background(), budget.Budget{Account: "t", Principal: budget.All, Epsilon: 1, Window: budget.Never}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("set budget: %v", err)
		}
		if err := l.RemoveBudget(context.Background(), "t", false, budget.All, ""); !errors.Is(err, ErrUnavailable) {
			t.Errorf("remove budget: %v", err)
		}
		if _, err := l.Entries(context.Background(), Filter{}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("entries: %v", err)
		}
		if _, err := l.Status(nil); !errors.Is(err, ErrUnavailable) {
			t.Errorf("status: %v", err)
		}
		if err := l.PutAnswer([]byte("k"), nil); !errors.Is(err, ErrUnavailable) {
			t.Errorf("put answer: %v", err)
		}
		l.Finish(Receipt{ID: 2}, record.Answered)
		if !errors.Is(l.Err(), ErrUnavailable) {
			t.Errorf("err: %v", l.Err())
		}
		if err := l.Close(); !errors.Is(err, ErrUnavailable) {
			t.Errorf("close: %v", err)
		}
		l = open(t, path, Options{})
		want := privacy.RhoOf(0.001)
		if point == "after-transaction" {
			want *= 2 // it was on the disk, though nobody was told
		}
		if got := spentOn(l, "t", false, budget.All).Rho; got != want {
			t.Errorf("%s: spent %d, want %d", point, got, want)
		}
	}
}

// TestPanicWhileWriting: a panic inside the store is a write error like any other.
func TestPanicWhileWriting(t *testing.T) {
	l, _ := create1(t, nil)
	l.mu.Lock()
	l.hook = func(p string) error {
		if p == "in-transaction" {
			panic("page 7 already freed")
		}
		return nil
	}
	l.mu.Unlock()
	if err := l.Note("a@%", "k", ""); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// TestCancelled: a charge whose context ends while it is being written stands.
func TestCancelled(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 10, 1e-6, budget.Never)
	ctx, cancel := context.WithCancel(context.Background())
	hold := make(chan struct{})
	l.mu.Lock()
	l.hook = func(p string) error {
		if p == "in-transaction" {
			cancel()
			<-hold
		}
		return nil
	}
	l.mu.Unlock()
	_, err := l.Reserve(ctx, Request{Principal: "a@%", Charges: rho("t", 0.001)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(hold)
	// One that has ended before costs nothing.
	if _, err = l.Reserve(ctx, Request{Principal: "a@%", Charges: rho("t", 0.001)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err = l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{})
	if got := spentOn(l, "t", false, budget.All).Rho; got != privacy.RhoOf(0.001) {
		t.Errorf("spent %d, want one charge", got)
	}
	es, err := l.Entries(context.Background(), Filter{Principal: "a@%"})
	if err != nil || len(es) != 1 || es[0].Outcome != record.Cancelled {
		t.Errorf("entries %+v, %v", es, err)
	}
}

// TestCloseWhileReserving: whoever gets a receipt finds the charge on the disk, whoever does not is
// told that the ledger is unavailable.
func TestCloseWhileReserving(t *testing.T) {
	for range 5 {
		l, path := create1(t, nil)
		mustSet(t, l, "t", false, budget.All, privacy.MaxEpsilon, 1e-6, budget.Never)
		var wg sync.WaitGroup
		var mu sync.Mutex
		granted := privacy.Rho(0)
		for w := range 16 {
			wg.Go(func() {
				for {
					receipt, err := reserve(l, fmt.Sprint(w), []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1}}})
					if err != nil {
						if !errors.Is(err, ErrUnavailable) {
							t.Error(err)
						}
						return
					}
					mu.Lock()
					granted++
					mu.Unlock()
					l.Finish(receipt, record.Answered)
				}
			})
		}
		testenv.Until(t, time.Minute, "charges", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return granted >= 20
		})
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		wg.Wait()
		l = open(t, path, Options{})
		if got := spentOn(l, "t", false, budget.All).Rho; got != granted || got == 0 {
			t.Errorf("spent %d, granted %d", got, granted)
		}
		l.Close()
	}
}

// TestManyBudgetsUnderLoad races principals against their own caps and the common one.
func TestManyBudgetsUnderLoad(t *testing.T) {
	l, path := create1(t, nil)
	one := privacy.Loss{Rho: privacy.RhoOf(0.001), DeltaTV: 0x1p-100}
	mustSet(t, l, "t", false, budget.All, capFor(30*one.Rho, 2e-6), 2e-6, budget.Never)
	mustSet(t, l, "t", false, budget.Default, capFor(4*one.Rho, 2e-6), 2e-6, budget.Never)
	mustSet(t, l, "t", false, "p0", capFor(7*one.Rho, 2e-6), 2e-6, budget.Never)
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := map[string]int{}
	total := 0
	for i := range 200 {
		who := fmt.Sprintf("p%d", i%10)
		wg.Go(func() {
			if _, err := reserve(l, who, []Charge{{Account: "t", Loss: one}}); err == nil {
				mu.Lock()
				granted[who]++
				total++
				mu.Unlock()
			} else if !errors.Is(err, ErrExhausted) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if total != 30 {
		t.Errorf("granted %d, want 30", total)
	}
	for who, n := range granted {
		if most := 4; n > most && who != "p0" || n > 7 {
			t.Errorf("%s got %d", who, n)
		}
	}
	l.Close()
	l = open(t, path, Options{})
	if got := spentOn(l, "t", false, budget.All).Rho; got != 30*one.Rho {
		t.Errorf("spent %v", got)
	}
}

// TestGroupCommit: charges that arrive while a batch is being written share the next one.
func TestGroupCommit(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, privacy.MaxEpsilon, 1e-6, budget.Never)
	transactions := 0
	l.mu.Lock()
	l.hook = func(p string) error {
		if p == "in-transaction" {
			transactions++ // only the committer comes here
			time.Sleep(5 * time.Millisecond)
		}
		return nil
	}
	l.mu.Unlock()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 4 {
				mustReserve(t, l, "a@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1}}})
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if transactions > 64 {
		t.Errorf("%d transactions for 256 charges of 64 goroutines", transactions)
	}
}
