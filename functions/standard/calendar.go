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
		function{name: "maketime", min: 3, max: 3, typ: types.Time, eval: makeTime,
			doc: "returns the time of hours, minutes and seconds."},
		function{name: "period_add", min: 2, max: 2, typ: types.Int64, eval: periodAdd,
			doc: "adds months to a period YYMM or YYYYMM."},
		function{name: "period_diff", min: 2, max: 2, typ: types.Int64, eval: periodDiff,
			doc: "returns the number of months between two periods YYMM or YYYYMM."},
		function{name: "sec_to_time", min: 1, max: 1, typ: types.Time, eval: secToTime,
			doc: "returns seconds as a time."},
		function{name: "to_seconds", min: 1, max: 1, typ: types.Int64, eval: toSeconds,
			doc: "returns the seconds from the year 0 to a date."},
		function{name: "to_days", min: 1, max: 1, typ: types.Int64, eval: toDays,
			doc: "returns the days from the year 0 to a date."},
		function{name: "utc_date", typ: types.Date, eval: utcDate,
			doc: "returns the day of the world's time."},
	)
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
	s, ok := float(ctx, a[0])
	if !ok {
		return nil, nil
	}
	return timeOf(int64(math.Round(max(min(s, 4e6), -4e6) * 1e6))), nil
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

func toDays(ctx *sql.Context, a []any) (any, error) {
	t, ok := moment(ctx, a[0])
	if !ok {
		return nil, nil
	}
	return days(t), nil
}

func toSeconds(ctx *sql.Context, a []any) (any, error) {
	t, ok := moment(ctx, a[0])
	if !ok {
		return nil, nil
	}
	return days(t)*86400 + clockOf(t)/1e6, nil
}

func utcDate(ctx *sql.Context, _ []any) (any, error) {
	return ctx.QueryTime().UTC().Truncate(24 * time.Hour), nil
}
