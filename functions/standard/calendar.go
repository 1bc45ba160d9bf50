package standard

import (
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(
		function{name: "makedate", min: 2, max: 2, typ: types.Date, eval: makeDate,
			doc: "returns the date of a year and a day of the year."},
		function{name: "maketime", min: 3, max: 3, typeOf: secondsType, eval: makeTime,
			doc: "returns the time of hours, minutes and seconds."},
		function{name: "time", min: 1, max: 1, typeOf: spanOf, doc: "returns the time of a date or text.",
			eval: ofSpan(func(us int64) any { return timeOf(us) })},
		function{name: "period_add", min: 2, max: 2, typ: types.Int64, eval: periodAdd,
			doc: "adds months to a period YYMM or YYYYMM."},
		function{name: "period_diff", min: 2, max: 2, typ: types.Int64, eval: periodDiff,
			doc: "returns the number of months between two periods YYMM or YYYYMM."},
		function{name: "sec_to_time", min: 1, max: 1, typeOf: secondsType, eval: secToTime,
			doc: "returns seconds as a time."},
		function{name: "to_seconds", min: 1, max: 1, typ: types.Int64, eval: ofMoment(func(t time.Time) any { return days(t)*86400 + clockOf(t)/1e6 }),
			doc: "returns the seconds from the year 0 to a date."},
		function{name: "to_days", min: 1, max: 1, typ: types.Int64, eval: ofMoment(func(t time.Time) any { return days(t) }),
			doc: "returns the days from the year 0 to a date."},
		function{name: "datediff", min: 2, max: 2, typ: types.Int64, doc: "returns the days from one date to another.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				to, ok1 := moment(ctx, a[0])
				from, ok2 := moment(ctx, a[1])
				if !ok1 || !ok2 {
					return nil, nil
				}
				return days(to) - days(from), nil
			}},
		function{name: "curdate", typ: types.Date, eval: curDate, doc: "returns the day of the session's clock."},
		function{name: "current_date", typ: types.Date, eval: curDate, doc: "returns the day of the session's clock."},
		function{name: "utc_date", typ: types.Date, eval: utcDate,
			doc: "returns the day of the world's time."},
	)
}

// ofMoment is a function of a date; NULL of what is none.
func ofMoment(of func(t time.Time) any) func(ctx *sql.Context, a []any) (any, error) {
	return func(ctx *sql.Context, a []any) (any, error) {
		if t, ok := moment(ctx, a[0]); ok {
			return of(t), nil
		}
		return nil, nil
	}
}

// ofSpan is a function of a TIME, in microseconds; NULL of what is none.
func ofSpan(of func(us int64) any) func(ctx *sql.Context, a []any) (any, error) {
	return func(ctx *sql.Context, a []any) (any, error) {
		if us, ok := span(ctx, a[0]); ok {
			return of(us), nil
		}
		return nil, nil
	}
}

// year4 makes a year of two digits one of four, as MySQL does: 70 to 99 are of the last century.
func year4(y int64) int64 {
	switch {
	case y < 0 || y > 99:
		return y
	case y < 70:
		return y + 2000
	}
	return y + 1900
}

func makeDate(ctx *sql.Context, a []any) (any, error) {
	year, ok1 := integer(ctx, a[0])
	day, ok2 := integer(ctx, a[1])
	if !ok1 || !ok2 || year < 0 || year > 9999 || day <= 0 || day > 4e6 {
		return nil, nil
	}
	d := time.Date(int(year4(year)), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(day)-1)
	if d.Year() > 9999 {
		return nil, nil
	}
	return d, nil
}

func makeTime(ctx *sql.Context, a []any) (any, error) {
	h, ok1 := integer(ctx, a[0])
	m, ok2 := integer(ctx, a[1])
	s, ok3 := float(ctx, a[2])
	if !ok1 || !ok2 || !ok3 || m < 0 || m > 59 || s < 0 || s >= 60 {
		return nil, nil
	}
	hours := min(max(h, -839), 839)
	us := (max(hours, -hours)*60+m)*60e6 + int64(math.Round(s*1e6))
	if h < 0 {
		us = -us
	}
	return timeOf(us), nil
}

// months is a period as a number of months; 0 is none.
func months(ctx *sql.Context, v any) (int64, error) {
	p, ok := integer(ctx, v)
	if !ok || p < 0 || p > 999912 || p%100 < 1 || p%100 > 12 {
		return 0, sql.ErrInvalidArgument.New("a period, YYMM or YYYYMM")
	}
	return year4(p/100)*12 + p%100 - 1, nil
}

func periodAdd(ctx *sql.Context, a []any) (any, error) {
	m, err := months(ctx, a[0])
	if err != nil {
		return nil, err
	}
	n, ok := integer(ctx, a[1])
	if !ok || n > 1e6 || n < -1e6 || m+n < 0 {
		return nil, nil
	}
	m += n
	return year4(m/12)*100 + m%12 + 1, nil
}

func periodDiff(ctx *sql.Context, a []any) (any, error) {
	m, err := months(ctx, a[0])
	if err != nil {
		return nil, err
	}
	n, err := months(ctx, a[1])
	return m - n, err
}

func secToTime(ctx *sql.Context, a []any) (any, error) {
	return timeOf(int64(math.Round(max(min(doubleOf(ctx, a[0]), 4e6), -4e6) * 1e6))), nil
}

// yearZero begins the days that MySQL counts from 1. Its year 0 has no February 29th, which Go's
// has.
var yearZero = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)

func days(t time.Time) int64 {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	n := (day.Unix() - yearZero.Unix()) / 86400
	if t.Year() == 0 && t.Month() < time.March {
		n++
	}
	return n
}

func curDate(ctx *sql.Context, _ []any) (any, error) {
	t := ctx.QueryTime()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), nil
}

func utcDate(ctx *sql.Context, _ []any) (any, error) {
	return ctx.QueryTime().UTC().Truncate(24 * time.Hour), nil
}

func init() {
	define(
		function{name: "week", min: 1, max: 2, typ: types.Int32, doc: "returns the week of the year of a date, in one of eight ways to count.",
			eval: inWeeks(func(t time.Time, mode int) int {
				_, w := weekOf(t, mode)
				return w
			})},
		function{name: "yearweek", min: 1, max: 2, typ: types.Int32, doc: "returns the year and the week of a date.",
			eval: inWeeks(func(t time.Time, mode int) int {
				y, w := weekOf(t, mode|weekYear)
				return 100*y + w
			})},
	)
}

// inWeeks is a function of a date and a mode of WEEK; the default mode is the session's.
func inWeeks(of func(t time.Time, mode int) int) func(ctx *sql.Context, a []any) (any, error) {
	return func(ctx *sql.Context, a []any) (any, error) {
		t, ok := moment(ctx, a[0])
		by := any(int64(0))
		if len(a) > 1 {
			by = a[1]
		} else if v, err := ctx.GetSessionVariable(ctx, "default_week_format"); err == nil {
			by = v
		}
		mode, read := integer(ctx, by)
		if !ok || !read {
			return nil, nil
		}
		return int32(of(t, int(mode&7))), nil
	}
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
	if year == 0 && t.Month() > 2 { // which has 365 days in MySQL
		day--
	}
	if day < first {
		if mode&weekYear == 0 {
			return year, 0
		}
		before := time.Date(year-1, 12, 31, 0, 0, 0, 0, time.UTC)
		return year - 1, (before.YearDay()-1-firstWeek(year-1, monday, whole))/7 + 1
	}
	if mode&weekYear != 0 {
		length := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
		if year == 0 {
			length--
		}
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
	if year == 0 {
		weekday = 0
	}
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

func init() {
	part := func(name, doc string, of func(us int64) int64) function {
		return function{name: name, min: 1, max: 1, typ: types.Int32, doc: doc, eval: ofSpan(func(us int64) any { return int32(of(max(us, -us))) })}
	}
	define(
		part("hour", "returns the hours of a time.", func(us int64) int64 { return us / 3600e6 }),
		part("minute", "returns the minutes of a time.", func(us int64) int64 { return us / 60e6 % 60 }),
		part("second", "returns the seconds of a time.", func(us int64) int64 { return us / 1e6 % 60 }),
		part("microsecond", "returns the microseconds of a time.", func(us int64) int64 { return us % 1e6 }),
		function{name: "time_to_sec", min: 1, max: 1, typ: types.Int64, doc: "returns the seconds of a time.",
			eval: ofSpan(func(us int64) any { return us / 1e6 })},
		function{name: "addtime", min: 2, max: 2, typeOf: sumType, eval: addTime(1), doc: "adds a time to a time or a date with a time."},
		function{name: "subtime", min: 2, max: 2, typeOf: sumType, eval: addTime(-1), doc: "takes a time off a time or a date with a time."},
	)
}

// sumType is the type of ADDTIME: that of what is added to, with the digits of both, or a text for
// texts.
func sumType(ctx *sql.Context, args []sql.Expression) sql.Type {
	switch t := args[0].Type(ctx); {
	case IsTimespan(t):
		return spanOf(ctx, args)
	case types.IsDatetimeType(t), types.IsTimestampType(t):
		return timestampType(ctx, args)
	}
	return types.LongText
}

// addTime is ADDTIME, or SUBTIME for a sign of -1.
func addTime(sign int64) func(ctx *sql.Context, a []any) (any, error) {
	return func(ctx *sql.Context, a []any) (any, error) {
		if s, ok := text(ctx, a[1]); ok && dated(s) {
			return nil, nil // a date cannot be added
		}
		by, ok := span(ctx, a[1])
		if !ok {
			return nil, nil
		}
		by *= sign
		s, isText := a[0].(string)
		if t, is := a[0].(time.Time); is || isText && dated(s) {
			if !is {
				if t, ok = moment(ctx, s); !ok {
					return nil, nil
				}
			}
			sum := t.Add(time.Duration(by) * time.Microsecond)
			if isText {
				return momentText(sum), nil
			}
			return sum, nil
		}
		us, ok := span(ctx, a[0])
		if !ok {
			return nil, nil
		}
		sum := timeOf(us + by)
		if isText {
			return spanText(sum.AsMicroseconds()), nil
		}
		return sum, nil
	}
}
