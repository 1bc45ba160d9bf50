package standard

import (
	"math"
	"strconv"
	"strings"
	"time"

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

// moment reads a date, with or without a time: a text, a number as YYMMDD, YYYYMMDD or with the
// time's digits, or a value of such a type.
func moment(ctx *sql.Context, v any) (time.Time, bool) {
	switch n := v.(type) {
	case time.Time:
		return n, true
	case types.Timespan:
		return time.Time{}, false
	case string, []byte:
	default:
		i, ok := integer(ctx, n)
		if !ok || i <= 0 {
			return time.Time{}, false
		}
		v = strconv.FormatInt(i, 10)
	}
	if s, ok := v.(string); ok {
		v = punctuated(s)
	}
	t, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
	if err != nil || t == nil {
		return time.Time{}, false
	}
	d, ok := t.(time.Time)
	return d, ok
}

// punctuated writes the digits of YYMMDD, YYYYMMDD, YYMMDDHHMMSS and YYYYMMDDHHMMSS apart. Other
// texts stay.
func punctuated(s string) string {
	if strings.Trim(s, "0123456789") != "" {
		return s
	}
	if len(s) == 5 || len(s) == 11 {
		s = "0" + s
	}
	if len(s) == 6 || len(s) == 12 {
		y, _ := strconv.ParseInt(s[:2], 10, 64)
		s = strconv.FormatInt(year4(y), 10) + s[2:]
	}
	switch len(s) {
	case 8:
		return s[:4] + "-" + s[4:6] + "-" + s[6:]
	case 14:
		return s[:4] + "-" + s[4:6] + "-" + s[6:8] + " " + s[8:10] + ":" + s[10:12] + ":" + s[12:]
	}
	return s
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
	if dated(s) {
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

// parseSpan reads a TIME of a text.
func parseSpan(s string) (int64, bool) {
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	whole, fraction, _ := strings.Cut(s, ".")
	var days int64
	if d, rest, ok := strings.Cut(whole, " "); ok {
		n, err := strconv.ParseInt(d, 10, 32)
		if err != nil || n > 34 {
			return 0, false
		}
		days, whole = n, strings.TrimSpace(rest)
	}
	h, m, sec, ok := clockParts(whole)
	if !ok || m > 59 || sec > 59 {
		return 0, false
	}
	us, ok := fractionOf(fraction)
	if !ok {
		return 0, false
	}
	total := min(((days*24+h)*3600+m*60+sec)*1e6+us, maxSpan)
	if negative {
		total = -total
	}
	return total, true
}

// clockParts splits HH:MM:SS, HH:MM or HHMMSS.
func clockParts(s string) (h, m, sec int64, ok bool) {
	parts := strings.Split(s, ":")
	n := make([]int64, len(parts))
	for i, p := range parts {
		x, err := strconv.ParseInt(p, 10, 32)
		if err != nil || x < 0 {
			return 0, 0, 0, false
		}
		n[i] = x
	}
	switch len(n) {
	case 1:
		return n[0] / 10000, n[0] / 100 % 100, n[0] % 100, true
	case 2:
		return n[0], n[1], 0, true
	case 3:
		return n[0], n[1], n[2], true
	}
	return 0, 0, 0, false
}

// fractionOf reads the digits behind the point of seconds, as microseconds.
func fractionOf(digits string) (int64, bool) {
	if digits == "" {
		return 0, true
	}
	if len(digits) > 6 {
		digits = digits[:6]
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", 6-len(digits)), 10, 64)
	return n, err == nil && n >= 0
}

// timeOf makes a TIME of microseconds.
func timeOf(us int64) types.Timespan {
	return types.Time.(types.TimespanType_).MicrosecondsToTimespan(max(min(us, maxSpan), -maxSpan))
}
