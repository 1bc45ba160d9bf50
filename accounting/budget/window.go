package budget

import (
	"strings"
	"time"

	"scrim/accounting/internal/invalid"
)

// Window is the period after which a budget's spending starts anew. Windows follow the UTC
// calendar.
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
	return "", invalid.New("window: want never, day, week or month, have %q", s)
}

// day is a UTC day: the number of days since 1970-01-01.
type Date int32

const secondsPerDay = 24 * 60 * 60

// DateOf returns the UTC day of t. Days before 1970 and beyond the type's range are moved to its
// ends: a clock that far off must not wrap around.
func DateOf(t time.Time) Date {
	const last = 1 << 30
	s := t.Unix()
	if s < 0 {
		return 0
	}
	return Date(min(s/secondsPerDay, last))
}

// Time returns the beginning of the day.
func (d Date) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// Start returns the first day of the window that holds d; 0 for Never.
func (w Window) Start(d Date) Date {
	switch w {
	case Day:
		return d
	case Week:
		// 1970-01-01 was a Thursday, the fourth day of its week.
		return max(0, d-(d+3)%7)
	case Month:
		t := d.Time()
		return DateOf(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC))
	}
	return 0
}

// End returns when the window that holds d ends; the zero time for Never.
func (w Window) End(d Date) time.Time {
	switch w {
	case Day:
		return d.Time().AddDate(0, 0, 1)
	case Week:
		return (d - (d+3)%7).Time().AddDate(0, 0, 7)
	case Month:
		t := d.Time()
		return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}

// Starts are the first days of the windows that hold a day, in the order of windows.
type Starts [4]Date

// Windows are all windows; a place in it stands for the window.
var Windows = [len(Starts{})]Window{Never, Day, Week, Month}

// InWindows says of each window whether something lies in it.
type InWindows [len(Windows)]bool

// Hold returns which of the windows hold d, which is not after the day that all hold, and not an
// earlier day, since, 0 for none.
func (s Starts) Hold(d, since Date) (in InWindows) {
	for i, first := range s {
		in[i] = first <= d && (since == 0 || first > since)
	}
	return in
}

// StartsOf returns the first day of each window that d lies in.
func StartsOf(d Date) (s Starts) {
	for i, w := range Windows {
		s[i] = w.Start(d)
	}
	return s
}

// Index returns the place of w in Windows.
func (w Window) Index() int {
	for i, v := range Windows {
		if v == w {
			return i
		}
	}
	return 0
}
