package accounting

import (
	"errors"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// TestWindowEdges walks a clock through windows: a charge that fills the budget is refused until
// the window's end, and granted from its first second on.
func TestWindowEdges(t *testing.T) {
	for _, c := range []struct {
		window           budget.Window
		first, last, new string
	}{
		{budget.Day, "2026-03-31 00:00:00", "2026-03-31 23:59:59", "2026-04-01 00:00:00"},
		{budget.Week, "2026-03-30 00:00:00", "2026-04-05 23:59:59", "2026-04-06 00:00:00"},
		{budget.Month, "2026-02-01 00:00:00", "2026-02-28 23:59:59", "2026-03-01 00:00:00"},
	} {
		t.Run(string(c.window), func(t *testing.T) {
			k := newClock(c.first)
			l, _ := create1(t, k)
			mustSet(t, l, "t", false, budget.All, 1, 1e-6, c.window)
			half := privacy.RhoFor(1, 1e-6).Float() * 0.6
			mustReserve(t, l, "a@%", rho("t", half))
			k.set(c.last)
			var x *ExhaustedError
			if _, err := reserve(l, "a@%", rho("t", half)); !errors.As(err, &x) {
				t.Fatalf("second charge in the window: %v", err)
			} else if !x.WindowEnds.Equal(newClock(c.new).now()) || x.Window != c.window {
				t.Errorf("window of the refusal: %s until %v", x.Window, x.WindowEnds)
			}
			k.set(c.new)
			mustReserve(t, l, "a@%", rho("t", half))
		})
	}
}

func TestClockNeverReopensAWindow(t *testing.T) {
	k := newClock("2026-03-31 12:00:00")
	l, path := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Day)
	half := privacy.RhoFor(1, 1e-6).Float() * 0.6
	mustReserve(t, l, "a@%", rho("t", half))
	refused := func(when string) {
		t.Helper()
		if _, err := reserve(l, "a@%", rho("t", half)); !errors.Is(err, ErrExhausted) {
			t.Errorf("%s: %v", when, err)
		}
	}
	k.set("2026-03-30 12:00:00")
	refused("clock a day back")
	k.set("1969-01-01 00:00:00")
	refused("clock before 1970")
	k.set("2026-04-01 00:00:01")
	mustReserve(t, l, "a@%", rho("t", half))
	k.set("2026-03-31 12:00:00")
	refused("clock back into a window already left")
	l.Close()
	l = open(t, path, Options{Now: k.now})
	refused("clock back, ledger opened again")
	k.set("2036-01-01 00:00:00")
	mustReserve(t, l, "a@%", rho("t", half))
	k.set("2026-04-02 00:00:00")
	refused("clock back from ten years ahead")
	k.set("2036-01-02 00:00:00")
	mustReserve(t, l, "a@%", rho("t", half))
}
