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
	case p == datePart, p == 0:
		return types.Date
	case p&datePart == 0:
		return TimeType(p & fractionPart / fractionPart * 6)
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
	p := &parse{rest: value, yearDay: -1, half: -1, week: -1, weekday: -1, weekYear: -1}
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
	if parts == 0 { // a date without any number
		return nil, nil
	}
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

// read reads the text by a format; false where the text does not fit. What follows the format in
// the text is not looked at, and a text may end before the format does.
func (p *parse) read(format string) bool {
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c == ' ' || c == '\t' || c == '\n' {
			continue
		}
		p.rest = strings.TrimLeft(p.rest, " \t\n")
		if p.rest == "" {
			return true
		}
		if c != '%' || i+1 == len(format) {
			if p.rest[0] != c {
				return false
			}
			p.rest = p.rest[1:]
			continue
		}
		i++
		if !p.specifier(format[i]) {
			return false
		}
	}
	return true
}

// specifier reads what one letter behind % stands for.
func (p *parse) specifier(c byte) bool {
	switch c {
	case 'Y':
		return p.fourDigits(&p.year)
	case 'y':
		if !p.number(&p.year, 2) {
			return false
		}
		p.year = year4(p.year)
	case 'm', 'c':
		return p.number(&p.month, 2)
	case 'M', 'b':
		return p.name(&p.month, 12, c == 'b', func(i int) string { return time.Month(i).String() })
	case 'd', 'e':
		return p.number(&p.day, 2)
	case 'D':
		if !p.number(&p.day, 2) || len(p.rest) < 2 {
			return false
		}
		p.rest = p.rest[2:]
	case 'H', 'k':
		return p.number(&p.hour, 2)
	case 'h', 'I', 'l':
		if p.half < 0 {
			p.half = 0
		}
		return p.number(&p.hour, 2)
	case 'i':
		return p.number(&p.minute, 2)
	case 's', 'S':
		return p.number(&p.second, 2)
	case 'f':
		return p.fraction()
	case 'p':
		return p.halfDay()
	case 'T':
		return p.read("%H:%i:%S")
	case 'r':
		return p.read("%I:%i:%S %p")
	case 'j':
		return p.number(&p.yearDay, 3)
	default:
		return p.weeks(c)
	}
	return true
}

// weeks reads the specifiers of weeks, and those that pass something.
func (p *parse) weeks(c byte) bool {
	switch c {
	case 'W', 'a':
		return p.name(&p.weekday, 7, c == 'a', func(i int) string { return time.Weekday(i % 7).String() })
	case 'w':
		if !p.number(&p.weekday, 1) || p.weekday > 6 {
			return false
		}
		if p.weekday == 0 {
			p.weekday = 7
		}
	case 'U', 'u', 'V', 'v':
		p.sunday, p.strict = c == 'U' || c == 'V', c == 'V' || c == 'v'
		return p.number(&p.week, 2) && (p.week > 0 || !p.strict)
	case 'X', 'x':
		p.sundayYear = c == 'X'
		return p.number(&p.weekYear, 4)
	case '.':
		p.rest = strings.TrimLeftFunc(p.rest, func(r rune) bool { return r > ' ' && r < 0x80 && !alphanumeric(r) })
	case '@':
		p.rest = strings.TrimLeftFunc(p.rest, func(r rune) bool { return alphanumeric(r) && (r < '0' || r > '9') })
	case '#':
		p.rest = strings.TrimLeft(p.rest, "0123456789")
	default:
		if p.rest[0] != c {
			return false
		}
		p.rest = p.rest[1:]
	}
	return true
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// number reads at most so many digits.
func (p *parse) number(to *int64, digits int) bool {
	n, v := 0, int64(0)
	for n < digits && n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		v = 10*v + int64(p.rest[n]-'0')
		n++
	}
	if n == 0 {
		return false
	}
	*to, p.rest = v, p.rest[n:]
	return true
}

// fourDigits reads a year, which may be written with two digits.
func (p *parse) fourDigits(to *int64) bool {
	before := len(p.rest)
	if !p.number(to, 4) {
		return false
	}
	if before-len(p.rest) <= 2 {
		*to = year4(*to)
	}
	return true
}

// fraction reads the digits of a fraction of a second.
func (p *parse) fraction() bool {
	before := len(p.rest)
	if !p.number(&p.us, 6) {
		return false
	}
	for n := before - len(p.rest); n < 6; n++ {
		p.us *= 10
	}
	return true
}

func (p *parse) halfDay() bool {
	if len(p.rest) < 2 || p.half < 0 {
		return false
	}
	switch strings.ToUpper(p.rest[:2]) {
	case "AM":
		p.half = 0
	case "PM":
		p.half = 12
	default:
		return false
	}
	p.rest = p.rest[2:]
	return true
}

// name reads one of the names from 1 to n, or their first three letters.
func (p *parse) name(to *int64, n int, short bool, of func(i int) string) bool {
	for i := 1; i <= n; i++ {
		s := of(i)
		if short {
			s = s[:3]
		}
		if len(p.rest) >= len(s) && strings.EqualFold(p.rest[:len(s)], s) {
			*to, p.rest = int64(i), p.rest[len(s):]
			return true
		}
	}
	return false
}
