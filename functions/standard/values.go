package standard

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// integer reads a whole number; numbers with a fraction are rounded. ok is false where v is none.
func integer(ctx *sql.Context, v any) (n int64, ok bool) {
	x, _, err := types.Int64.Convert(ctx, v)
	if err != nil || x == nil {
		return 0, false
	}
	return x.(int64), true
}

// float reads a number.
func float(ctx *sql.Context, v any) (x float64, ok bool) {
	f, _, err := types.Float64.Convert(ctx, v)
	if err != nil || f == nil {
		return 0, false
	}
	x = f.(float64)
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

// text reads a value as text.
func text(ctx *sql.Context, v any) (string, bool) {
	s, _, err := types.LongText.Convert(ctx, v)
	if err != nil || s == nil {
		return "", false
	}
	t, ok := s.(string)
	return t, ok
}

// Moment reads a text as a date, with or without a time.
func Moment(ctx *sql.Context, s string) (time.Time, bool) { return moment(ctx, s) }

// moment reads a date, with or without a time: a text, a number as YYMMDD, YYYYMMDD or with the
// time's digits, or a value of such a type.
func moment(ctx *sql.Context, v any) (time.Time, bool) {
	switch n := v.(type) {
	case time.Time:
		return n, true
	case types.Timespan:
		return time.Time{}, false
	case string, []byte:
	case *apd.Decimal:
		v = n.Text('f')
	default:
		i, ok := integer(ctx, n)
		if !ok || i <= 0 {
			return time.Time{}, false
		}
		v = strconv.FormatInt(i, 10)
	}
	s, ok := plainText(v)
	if !ok {
		return time.Time{}, false
	}
	if offset.MatchString(s) {
		t, _, err := types.DatetimeMaxPrecision.Convert(ctx, s)
		d, ok := t.(time.Time)
		return d, ok && err == nil
	}
	return parseMoment(s)
}

// offset ends a moment of another zone.
var offset = regexp.MustCompile(`[0-9](Z|[-+][0-9]{2}:[0-9]{2})$`)

// parseMoment reads a date with or without a time as MySQL does: the parts with punctuation between
// them, or YYMMDD or YYYYMMDD and hhmmss in digits alone. A year of two digits is of 1970 to 2069.
func parseMoment(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	body, fraction := s, ""
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	var parts []string
	if whole, rest, _ := strings.Cut(s, "."); digits(strings.Replace(whole, "T", "", 1)) && len(whole) > 4 {
		body, fraction = strings.Replace(whole, "T", "", 1), rest
		if len(body)%2 != 0 {
			body = "0" + body
		}
		if len(body) == 6 || len(body) == 12 {
			y, _ := strconv.ParseInt(body[:2], 10, 64) // digits
			body = strconv.FormatInt(year4(y), 10) + body[2:]
		}
		if len(body) != 8 && len(body) != 14 {
			return time.Time{}, false
		}
		parts = []string{body[:4], body[4:6], body[6:8]}
		if len(body) == 14 {
			parts = append(parts, body[8:10], body[10:12], body[12:])
		}
		if fraction != "" {
			parts = append(parts, fraction)
		}
	} else if s = momentPattern.FindString(s); s == "" {
		return time.Time{}, false
	} else {
		parts = numbersIn(s)
	}
	var n [7]int64
	for i, p := range parts {
		x, err := strconv.ParseInt(p, 10, 64)
		switch {
		case i > 6 || err != nil && i != 6:
			return time.Time{}, false
		case i == 0 && len(p) == 2:
			x = year4(x)
		case i == 6:
			p = (p + "000000")[:6]
			x, _ = strconv.ParseInt(p, 10, 64) // six digits
			if len(parts[6]) > 6 && parts[6][6] >= '5' {
				x++
			}
		}
		n[i] = x
	}
	if n[0] > 9999 || n[1] < 1 || n[1] > 12 || n[2] < 1 || n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return time.Time{}, false
	}
	t := time.Date(int(n[0]), time.Month(n[1]), int(n[2]), int(n[3]), int(n[4]), int(n[5]), 0, time.UTC)
	return t.Add(time.Duration(n[6]) * time.Microsecond), int64(t.Day()) == n[2]
}

// momentPattern is a date with punctuation between the parts, and maybe a time. What follows is cut
// off, as MySQL does with a warning.
var momentPattern = regexp.MustCompile(`^[0-9]{1,4}[[:punct:]][0-9]{1,2}[[:punct:]][0-9]{1,2}((?:[ T]+|:)[0-9]{1,2}([[:punct:]][0-9]{1,2}([[:punct:]][0-9]{1,2}(\.[0-9]*)?)?)?)?`)

// dashed reports whether a text is such a moment and nothing else.
func dashed(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && momentPattern.FindString(s) == s
}

// numbersIn are the groups of digits of a text.
func numbersIn(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// maxSpan is the largest TIME, 838:59:59, in microseconds.
const maxSpan = ((838*60+59)*60 + 59) * 1e6

// span reads a TIME, in microseconds: '[-][D ]HH:MM[:SS[.f]]', 'HHMMSS' or a number so written, or
// the time of a date with one.
func span(ctx *sql.Context, v any) (int64, bool) {
	switch n := v.(type) {
	case types.Timespan:
		return n.AsMicroseconds(), true
	case time.Time:
		return clockOf(n), true
	}
	s, ok := text(ctx, v)
	if !ok {
		return 0, false
	}
	s = strings.TrimSpace(s)
	if dated(s) && len(s) >= len("2006-01-02 1") {
		t, ok := moment(ctx, s)
		return clockOf(t), ok
	}
	return parseSpan(s)
}

// dated reports whether a text begins with a date: three parts, and not of colons.
func dated(s string) bool {
	day, _, _ := strings.Cut(strings.TrimLeft(s, "-"), " ")
	return strings.Count(day, "-") == 2 || strings.IndexByte(s, 'T') > 0
}

func clockOf(t time.Time) int64 {
	return int64(t.Hour())*3600e6 + int64(t.Minute())*60e6 + int64(t.Second())*1e6 + int64(t.Nanosecond()/1000)
}

// spanPattern is a TIME: a sign, days, hours with minutes and seconds or digits alone, a fraction.
// What follows is cut off, as MySQL does with a warning.
var spanPattern = regexp.MustCompile(`^(-?)(?:([0-9]+) +)?([0-9]+)(?::([0-9]+))?(?::([0-9]+))?(?:\.([0-9]*))?`)

// parseSpan reads a TIME of a text. One beyond MySQL's range is the largest or smallest.
func parseSpan(s string) (int64, bool) {
	m := spanPattern.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	var n [6]int64
	for i, p := range m[1:] {
		if p == "" || i == 0 {
			continue
		}
		if i == 5 {
			p = (p + "0000000")[:7] // the seventh digit rounds
		}
		x, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			return 0, false
		}
		n[i] = x
	}
	days, h, minute, sec := n[1], n[2], n[3], n[4]
	if m[4] == "" && m[2] == "" { // digits alone
		h, minute, sec = h/10000, h/100%100, h%100
	}
	if minute > 59 || sec > 59 {
		return 0, false
	}
	total := min(((days*24+h)*3600+minute*60+sec)*1e6+(n[5]+5)/10, maxSpan)
	if m[1] == "-" {
		total = -total
	}
	return total, true
}

// timeOf makes a TIME of microseconds.
func timeOf(us int64) types.Timespan {
	return types.Time.(types.TimespanType_).MicrosecondsToTimespan(max(min(us, maxSpan), -maxSpan))
}
