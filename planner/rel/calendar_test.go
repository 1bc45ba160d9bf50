package rel

import (
	"fmt"
	"testing"
	"time"

	"scrim/accounting/days"
	"scrim/catalog"
)

// label names the period of a day in another way than by its days.
func label(every string, t time.Time) string {
	switch every {
	case "week":
		y, w := t.ISOWeek()
		return fmt.Sprint(y, " ", w)
	case "month":
		return t.Format("2006-01")
	case "quarter":
		return fmt.Sprint(t.Year(), " ", (int(t.Month())+2)/3)
	case "year":
		return t.Format("2006")
	}
	return t.Format(time.DateOnly)
}

// TestPeriodsOfDays: the periods that a stretch meets begin and end where another label begins, and
// hold the stretch and no whole period more.
func TestPeriodsOfDays(t *testing.T) {
	from := days.Of(time.Date(1967, 12, 20, 0, 0, 0, 0, time.UTC))
	for _, every := range catalog.Periods {
		at := func(d days.Day) string { return label(every, d.Time()) }
		for d := from; d < from+1500; d++ {
			for _, length := range []days.Day{0, 1, 6, 7, 45} {
				on := periodsOf(every, days.Span{First: d, Last: d + length})
				if on.First > d || on.Last < d+length || at(on.First) != at(d) || at(on.Last) != at(d+length) || at(on.First-1) == at(d) || at(on.Last+1) == at(d+length) {
					t.Fatalf("%s: %v to %v is in %v", every, d.Time(), (d + length).Time(), on)
				}
			}
		}
		for d := from; d < from+1500; d += 13 {
			n, labels := catalog.CountPeriods(every, from.Time(), d.Time()), map[string]bool{}
			for x := from; x <= d; x++ {
				labels[at(x)] = true
			}
			if int(n) != len(labels) {
				t.Fatalf("%s: %d periods to %v, want %d", every, n, d.Time(), len(labels))
			}
		}
		open := days.Span{First: days.Earliest, Last: from}
		if on := periodsOf(every, open); on.First != days.Earliest || on.Last < from {
			t.Errorf("%s: %v is in %v", every, open, on)
		}
		if on := periodsOf(every, days.Span{First: 2, Last: 1}); (&on).Whole() != nil {
			t.Errorf("%s: no days are in %v", every, on)
		}
	}
}
