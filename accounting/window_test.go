package accounting

import (
	"errors"
	"testing"
	"time"

	"scrim/accounting/privacy"
)

func date(t *testing.T, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateTime, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWindowStartAndEnd(t *testing.T) {
	for _, c := range []struct{ window, at, start, end string }{
		{"day", "2026-03-01 23:59:59", "2026-03-01 00:00:00", "2026-03-02 00:00:00"},
		{"day", "2024-02-29 00:00:00", "2024-02-29 00:00:00", "2024-03-01 00:00:00"},
		{"week", "2026-01-01 12:00:00", "2025-12-29 00:00:00", "2026-01-05 00:00:00"}, // a Thursday
		{"week", "2026-01-04 23:59:59", "2025-12-29 00:00:00", "2026-01-05 00:00:00"}, // Sunday
		{"week", "2026-01-05 00:00:00", "2026-01-05 00:00:00", "2026-01-12 00:00:00"}, // Monday
		{"week", "1970-01-02 00:00:00", "1970-01-01 00:00:00", "1970-01-05 00:00:00"},
		{"month", "2025-12-31 23:59:59", "2025-12-01 00:00:00", "2026-01-01 00:00:00"},
		{"month", "2024-02-29 10:00:00", "2024-02-01 00:00:00", "2024-03-01 00:00:00"},
	} {
		d := dayOf(date(t, c.at))
		if got := Window(c.window).start(d).time(); !got.Equal(date(t, c.start)) {
			t.Errorf("%s of %s starts %v, want %s", c.window, c.at, got, c.start)
		}
		if got := Window(c.window).end(d); !got.Equal(date(t, c.end)) {
			t.Errorf("%s of %s ends %v, want %s", c.window, c.at, got, c.end)
		}
	}
	// Every day lies in its window, and windows follow each other without gaps.
	for d := day(4); d < 40000; d++ {
		for _, w := range []Window{Day, Week, Month} {
			if s, e := w.start(d), dayOf(w.end(d)); s > d || e <= d || w.start(e) != e || w.start(e-1) != s {
				t.Fatalf("%s of day %d: from %d to %d", w, d, s, e)
			}
		}
	}
	if Never.start(12345) != 0 || !Never.end(12345).IsZero() {
		t.Error("never ends")
	}
	if dayOf(time.Time{}) != 0 || dayOf(time.Unix(1<<62, 0)) <= 0 {
		t.Error("a day out of range wraps")
	}
	// A time zone changes nothing.
	zone := time.FixedZone("far", 14*3600)
	if at := date(t, "2026-03-01 23:59:59"); dayOf(at) != dayOf(at.In(zone)) {
		t.Error("the day depends on the time zone")
	}
}

func TestParseWindow(t *testing.T) {
	if w, err := ParseWindow("Month"); err != nil || w != Month {
		t.Errorf("%v, %v", w, err)
	}
	for _, s := range []string{"", "year", "days"} {
		if _, err := ParseWindow(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestWindowEdges walks a clock through windows: a charge that fills the budget is refused until the
// window's end, and granted from its first second on.
func TestWindowEdges(t *testing.T) {
	for _, c := range []struct {
		window           Window
		first, last, new string
	}{
		{Day, "2026-03-31 00:00:00", "2026-03-31 23:59:59", "2026-04-01 00:00:00"},
		{Week, "2026-03-30 00:00:00", "2026-04-05 23:59:59", "2026-04-06 00:00:00"},
		{Month, "2026-02-01 00:00:00", "2026-02-28 23:59:59", "2026-03-01 00:00:00"},
	} {
		t.Run(string(c.window), func(t *testing.T) {
			k := newClock(c.first)
			l, _ := create1(t, k)
			mustSet(t, l, "t", false, All, 1, 1e-6, c.window)
			half := privacy.RhoFor(1, 1e-6).Float() * 0.6
			mustReserve(t, l, "a@%", rho("t", half))
			k.set(c.last)
			var x *ExhaustedError
			if _, err := reserve(l, "a@%", rho("t", half)); !errors.As(err, &x) {
				t.Fatalf("second charge in the window: %v", err)
			} else if !x.WindowEnds.Equal(date(t, c.new)) || x.Window != c.window {
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
	mustSet(t, l, "t", false, All, 1, 1e-6, Day)
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
