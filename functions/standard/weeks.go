package standard

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(
		function{name: "week", min: 1, max: 2, typ: types.Int32, doc: "returns the week of the year of a date, in one of eight ways to count.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				t, mode, ok := dateAndMode(ctx, a)
				if !ok {
					return nil, nil
				}
				_, w := weekOf(t, mode)
				return int32(w), nil
			}},
		function{name: "yearweek", min: 1, max: 2, typ: types.Int32, doc: "returns the year and the week of a date.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				t, mode, ok := dateAndMode(ctx, a)
				if !ok {
					return nil, nil
				}
				y, w := weekOf(t, mode|weekYear)
				return int32(100*y + w), nil
			}},
	)
}

// dateAndMode reads the arguments of WEEK; its default mode is the session's.
func dateAndMode(ctx *sql.Context, a []any) (time.Time, int, bool) {
	t, ok := moment(ctx, a[0])
	if !ok {
		return t, 0, false
	}
	if len(a) == 1 {
		v, err := ctx.GetSessionVariable(ctx, "default_week_format")
		if err != nil {
			return t, 0, true
		}
		a = append(a, v)
	}
	mode, ok := integer(ctx, a[1])
	return t, int(mode & 7), ok
}

// The bits of a mode of WEEK, as MySQL numbers the modes.
const (
	weekMonday = 1 // weeks begin with Monday, and not with Sunday
	// weeks are numbered from 1: days before the first belong to the last of the year before
	weekYear  = 2
	weekFirst = 4 // the other rule for the first week
)

// weekOf returns the week of a date and the year that it belongs to. The first week is the first
// with four days or more in the year where weeks begin with Monday, and the first that begins in
// the year where they begin with Sunday; weekFirst exchanges the two.
func weekOf(t time.Time, mode int) (year, week int) {
	monday, whole := mode&weekMonday != 0, mode&weekFirst != 0
	if !monday {
		whole = !whole
	}
	first := firstWeek(t.Year(), monday, whole)
	day := t.YearDay() - 1
	year = t.Year()
	if day < first {
		if mode&weekYear == 0 {
			return year, 0
		}
		before := time.Date(year-1, 12, 31, 0, 0, 0, 0, time.UTC)
		return year - 1, (before.YearDay()-1-firstWeek(year-1, monday, whole))/7 + 1
	}
	if mode&weekYear != 0 {
		length := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
		if next := length + firstWeek(year+1, monday, whole); day >= next {
			return year + 1, 1
		}
	}
	return year, (day-first)/7 + 1
}

// firstWeek is the day of the year, from 0, on which the first week of a year begins; it is
// negative where that is in the year before.
func firstWeek(year int, monday, whole bool) int {
	// of January 1st, Sunday being 0
	weekday := int(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Weekday())
	if monday {
		weekday = (weekday + 6) % 7
	}
	switch {
	case weekday == 0:
		return 0
	case whole, weekday > 3:
		return 7 - weekday
	}
	return -weekday
}
