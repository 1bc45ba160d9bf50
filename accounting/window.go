package accounting

import (
	"strings"
	"time"
)

// Window is the period after which a budget's spending starts anew. Windows follow the UTC calendar.
type Window string

// The windows. A week starts on Monday, as in ISO 8601.
const (
	Never Window = "never"
	Day   Window = "day"
	Week  Window = "week"
	Month Window = "month"
)

// ParseWindow returns the window with that name, in any case.
func ParseWindow(s string) (Window, error) {
	switch w := Window(strings.ToLower(s)); w {
	case Never, Day, Week, Month:
		return w, nil
	}
	return "", invalid("window: want never, day, week or month, have %q", s)
}

// day is a UTC day: the number of days since 1970-01-01.
type day int32

const secondsPerDay = 24 * 60 * 60

// dayOf returns the UTC day of t. Days before 1970 and beyond the type's range are moved to its ends:
// a clock that far off must not wrap around.
func dayOf(t time.Time) day {
	const last = 1 << 30
	s := t.Unix()
	if s < 0 {
		return 0
	}
	return day(min(s/secondsPerDay, last))
}

func (d day) time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// start returns the first day of the window that holds d; 0 for Never.
func (w Window) start(d day) day {
	switch w {
	case Day:
		return d
	case Week:
		// 1970-01-01 was a Thursday, the fourth day of its week.
		return max(0, d-(d+3)%7)
	case Month:
		t := d.time()
		return dayOf(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC))
	}
	return 0
}

// end returns when the window that holds d ends; the zero time for Never.
func (w Window) end(d day) time.Time {
	switch w {
	case Day:
		return d.time().AddDate(0, 0, 1)
	case Week:
		return (d - (d+3)%7).time().AddDate(0, 0, 7)
	case Month:
		t := d.time()
		return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}
