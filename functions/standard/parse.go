package standard

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(function{name: "str_to_date", min: 2, max: 2, typeOf: parsedType, eval: strToDate,
		doc: "reads a date, a time or both from a text as a format says."})
}

// The parts that a format can have.
const (
	datePart = 1 << iota
	timePart
	fractionPart
)

// partsOf tells which parts a format has.
func partsOf(format string) int {
	parts := 0
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch c := format[i]; {
		case strings.IndexByte("HIShiklprsT", c) >= 0:
			parts |= timePart
		case c == 'f':
			parts |= timePart | fractionPart
		case strings.IndexByte("MVUXYWabcjmvuxyDdew", c) >= 0:
			parts |= datePart
		}
	}
	return parts
}

// parsedType is what STR_TO_DATE returns for a format: a constant one tells, and others have both
// parts.
func parsedType(_ *sql.Context, args []sql.Expression) sql.Type {
	l, ok := args[1].(*expression.Literal)
	if !ok {
		return types.DatetimeMaxPrecision
	}
	format, _ := l.Value().(string)
	switch p := partsOf(format); {
	case p == datePart:
		return types.Date
	case p&datePart == 0:
		return types.Time
	case p&fractionPart != 0:
		return types.DatetimeMaxPrecision
	}
	return types.Datetime
}

func strToDate(ctx *sql.Context, a []any) (any, error) {
	value, ok1 := text(ctx, a[0])
	format, ok2 := text(ctx, a[1])
	if !ok1 || !ok2 {
		return nil, nil
	}
	p := newParse(value)
	if !p.read(format) {
		return nil, nil
	}
	return p.value(partsOf(format))
}

// parse is the reading of one text. Numbers are -1 where the format has none.
type parse struct {
	rest                     string
	year, month, day         int64
	hour, minute, second, us int64
	yearDay                  int64
	half                     int64 // 0 for AM, 12 for PM; -1 for a clock of 24 hours
	week, weekday            int64 // Monday is 1
	// how week counts: %U and %V begin on Sunday, %V and %v number the weeks of a year of weeks
	sunday, strict bool
	weekYear       int64
	sundayYear     bool
}

func newParse(value string) *parse {
	return &parse{rest: value, yearDay: -1, half: -1, week: -1, weekday: -1, weekYear: -1}
}

// value puts the parts together, nil where they are no date or time. A date wants its year, month
// and day, as in the default modes of MySQL 8.0.
func (p *parse) value(parts int) (any, error) {
	hour := p.hour
	if p.half >= 0 {
		if hour < 1 || hour > 12 {
			return nil, nil
		}
		hour = hour%12 + p.half
	}
	if hour > 23 || p.minute > 59 || p.second > 59 {
		return nil, nil
	}
	clock := time.Duration((hour*3600+p.minute*60+p.second)*1e6+p.us) * time.Microsecond
	if parts&datePart == 0 {
		return timeOf(clock.Microseconds()), nil
	}
	day, ok := p.date()
	if !ok {
		return nil, nil
	}
	return day.Add(clock), nil
}

// date is the day of the parts.
func (p *parse) date() (time.Time, bool) {
	at := func(y, m, d int64) time.Time { return time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC) }
	switch {
	case p.yearDay > 0:
		t := at(p.year, 1, p.yearDay)
		return t, p.yearDay <= 366 && t.Year() <= 9999
	case p.week >= 0 && p.weekday > 0:
		return p.dayOfWeek(at)
	case p.month < 1 || p.month > 12 || p.day < 1:
		return time.Time{}, false
	}
	t := at(p.year, p.month, p.day)
	return t, int64(t.Day()) == p.day
}

// dayOfWeek is the day that a year, a week and a weekday give.
func (p *parse) dayOfWeek(at func(y, m, d int64) time.Time) (time.Time, bool) {
	if p.week > 53 || p.strict && (p.weekYear < 0 || p.sundayYear != p.sunday) || !p.strict && p.weekYear >= 0 {
		return time.Time{}, false
	}
	year := p.year
	if p.strict {
		year = p.weekYear
	}
	first := at(year, 1, 1)
	// the weekday of January 1st, counted from the first day of a week
	begin := int64(first.Weekday())
	if !p.sunday {
		begin = (begin + 6) % 7
	}
	var days int64
	if p.sunday {
		if begin != 0 {
			days = 7
		}
		days += -begin + (p.week-1)*7 + p.weekday%7
	} else {
		if begin > 3 {
			days = 7
		}
		days += -begin + (p.week-1)*7 + p.weekday - 1
	}
	t := first.AddDate(0, 0, int(days))
	return t, t.Year() >= 0 && t.Year() <= 9999
}
