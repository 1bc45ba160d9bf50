package standard

import (
	"fmt"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestClocksAroundTheirChanges compares what a clock shows, and what it means, with a walk through
// all half hours of the years: a time that is shown twice is the later one, one that is left out is
// counted from before the change.
func TestClocksAroundTheirChanges(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata", "+02:00", "UTC", "America/Caracas"} {
		at, err := location(name)
		if err != nil {
			t.Fatal(err)
		}
		const step = 30 * time.Minute
		means := map[time.Time]time.Time{} // of each time shown, the latest moment
		from, to := time.Date(2004, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)
		for utc := from; utc.Before(to); utc = utc.Add(step) {
			_, offset := utc.In(at).Zone()
			if by := ahead(at, utc); by != time.Duration(offset)*time.Second {
				t.Fatalf("%s: at %v it is %v ahead, want %d s", name, utc, by, offset)
			}
			means[utc.Add(time.Duration(offset)*time.Second)] = utc
		}
		skipped := 0
		for shown := from.Add(48 * time.Hour); shown.Before(to.Add(-48 * time.Hour)); shown = shown.Add(step) {
			want, ok := means[shown]
			if !ok { // left out: as if the clock had not been changed
				skipped++
				before := shown
				for !ok {
					before = before.Add(-step)
					want, ok = means[before]
				}
				want = want.Add(shown.Sub(before))
			}
			if got := shown.Add(-aheadOfClock(at, shown)); !got.Equal(want) {
				t.Fatalf("%s: %v is %v, want %v", name, shown, got, want)
			}
		}
		if (skipped > 0) != (name != "UTC" && name != "+02:00" && name != "Asia/Kolkata") {
			t.Errorf("%s: %d times are left out", name, skipped)
		}
	}
}

// TestClocksBeyondTheirChanges: before 1970 and after 2038 a clock stays as it was at that end.
func TestClocksBeyondTheirChanges(t *testing.T) {
	berlin, err := location("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{1, 1917, 1969, 2039, 2100, 9999} {
		for _, month := range []time.Month{1, 7} {
			d := time.Date(year, month, 15, 12, 0, 0, 0, time.UTC)
			if a, b := ahead(berlin, d), aheadOfClock(berlin, d); a != time.Hour || b != time.Hour {
				t.Errorf("%v: %v and %v ahead", d, a, b)
			}
		}
	}
	if d := time.Date(2038, 7, 1, 12, 0, 0, 0, time.UTC); ahead(berlin, d) != 2*time.Hour || aheadOfClock(berlin, d) != 2*time.Hour {
		t.Error("the last summer is none")
	}
}

func TestZoneNames(t *testing.T) {
	for _, name := range []string{"SYSTEM", "UTC", "+00:00", "-12:30", "+14:00", "Europe/Berlin"} {
		if _, err := location(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "local", "Local", "+15:00", "-99:00", "Nowhere/Town", "+1"} {
		if _, err := location(name); err == nil {
			t.Errorf("%q is taken for a zone", name)
		}
	}
}

// TestConvertTz: what is no date or no zone is NULL, and what is beyond the years of MySQL's
// conversion stays.
func TestConvertTz(t *testing.T) {
	ctx := sql.NewEmptyContext()
	for _, c := range []struct{ d, from, to, want string }{
		{"2024-03-31 01:59:59.5", "Europe/Berlin", "UTC", "2024-03-31 00:59:59.5"},
		{"2024-03-31 03:00:00", "Europe/Berlin", "UTC", "2024-03-31 01:00:00"},
		{"2024-10-27 02:30:00", "Europe/Berlin", "+00:00", "2024-10-27 01:30:00"},
		{"2024-10-27 01:59:59", "Europe/Berlin", "+00:00", "2024-10-26 23:59:59"},
		{"2024-11-03 05:59:59", "+00:00", "America/New_York", "2024-11-03 01:59:59"},
		{"2024-11-03 06:00:00", "+00:00", "America/New_York", "2024-11-03 01:00:00"},
		{"1969-12-31 23:00:00", "+00:00", "+05:00", "1969-12-31 23:00:00"},
		{"3500-01-01 00:00:00", "+00:00", "+05:00", "3500-01-01 00:00:00"},
		{"2024-01-01 00:00:00", "Nowhere/Town", "UTC", "<nil>"},
		{"tomorrow", "UTC", "UTC", "<nil>"},
	} {
		got, err := convertTz(ctx, []any{c.d, c.from, c.to})
		if d, ok := got.(time.Time); ok {
			got = d.Format("2006-01-02 15:04:05.999999")
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s from %s to %s: %v, %v, want %s", c.d, c.from, c.to, got, err, c.want)
		}
	}
}

// TestUnixTimestampOfOtherCalls: an argument is not evaluated without a context, and the digits
// after the point stay those of its type.
func TestUnixTimestampOfOtherCalls(t *testing.T) {
	ctx := sql.NewEmptyContext()
	lit := func(s string) sql.Expression { return expression.NewLiteral(s, types.LongText) }
	tz, _ := byName["convert_tz"].instance(ctx, []sql.Expression{lit("2024-01-01 00:00:00"), lit("UTC"), lit("UTC")})
	nested, err := byName["addtime"].instance(ctx, []sql.Expression{lit("2024-01-01 00:00:00"), lit("1:00")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arg  sql.Expression
		want string
	}{{lit("2024-01-01"), "1704067200"}, {lit("2024-01-01 00:00:00.25"), "1704067200.25"}, {tz, "1704067200.000000"}, {nested, "1704070800.000000"}, {lit("x"), "0"},
		{expression.NewLiteral(nil, types.Null), "<nil>"}, {lit("1960-01-01"), "0"}} {
		u, err := newUnixTimestamp(ctx, c.arg)
		if err != nil {
			t.Fatal(err)
		}
		if u, err = u.WithChildren(ctx, u.Children()...); err != nil {
			t.Fatal(err)
		}
		if got, err := u.Eval(ctx, nil); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("UNIX_TIMESTAMP(%s) = %v, %v, want %s", c.arg, got, err, c.want)
		}
	}
}
