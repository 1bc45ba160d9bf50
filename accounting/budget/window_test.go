package budget

import (
	"errors"
	"testing"
	"time"

	"scrim/accounting/internal/invalid"
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
		d := DateOf(date(t, c.at))
		if got := Window(c.window).Start(d).Time(); !got.Equal(date(t, c.start)) {
			t.Errorf("%s of %s starts %v, want %s", c.window, c.at, got, c.start)
		}
		if got := Window(c.window).End(d); !got.Equal(date(t, c.end)) {
			t.Errorf("%s of %s ends %v, want %s", c.window, c.at, got, c.end)
		}
	}
	// Every day lies in its window, and windows follow each other without gaps.
	for d := Date(4); d < 40000; d++ {
		for _, w := range []Window{Day, Week, Month} {
			if s, e := w.Start(d), DateOf(w.End(d)); s > d || e <= d || w.Start(e) != e || w.Start(e-1) != s {
				t.Fatalf("%s of day %d: from %d to %d", w, d, s, e)
			}
		}
	}
	if Never.Start(12345) != 0 || !Never.End(12345).IsZero() {
		t.Error("never ends")
	}
	if DateOf(time.Time{}) != 0 || DateOf(time.Unix(1<<62, 0)) <= 0 {
		t.Error("a day out of range wraps")
	}
	// A time zone changes nothing.
	zone := time.FixedZone("far", 14*3600)
	if at := date(t, "2026-03-01 23:59:59"); DateOf(at) != DateOf(at.In(zone)) {
		t.Error("the day depends on the time zone")
	}
}

func TestParseWindow(t *testing.T) {
	if w, err := ParseWindow("Month"); err != nil || w != Month {
		t.Errorf("%v, %v", w, err)
	}
	for _, s := range []string{"", "year", "days"} {
		if _, err := ParseWindow(s); !errors.Is(err, invalid.Err) {
			t.Errorf("%q: %v", s, err)
		}
	}
}
