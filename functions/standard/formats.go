package standard

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(
		function{name: "date_format", min: 2, max: 2, typ: types.LongText, doc: "writes a date as a format says.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				t, ok := momentOrToday(ctx, a[0])
				f, formatted := text(ctx, a[1])
				if !ok || !formatted {
					return nil, nil
				}
				return formatMoment(t, f), nil
			}},
		function{name: "time_format", min: 2, max: 2, typ: types.LongText, doc: "writes a time as a format says.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				us, ok := span(ctx, a[0])
				f, formatted := text(ctx, a[1])
				if !ok || !formatted {
					return nil, nil
				}
				return formatSpan(us, f), nil
			}},
	)
}

// formatMoment writes a date by the specifiers of DATE_FORMAT. A letter that is none stands for
// itself.
func formatMoment(t time.Time, format string) string {
	var b strings.Builder
	each(format, &b, func(c byte) bool {
		switch c {
		case 'a':
			b.WriteString(t.Weekday().String()[:3])
		case 'b':
			b.WriteString(t.Month().String()[:3])
		case 'c':
			fmt.Fprint(&b, int(t.Month()))
		case 'D':
			fmt.Fprint(&b, t.Day(), ordinal(t.Day()))
		case 'd':
			fmt.Fprintf(&b, "%02d", t.Day())
		case 'e':
			fmt.Fprint(&b, t.Day())
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'M':
			b.WriteString(t.Month().String())
		case 'm':
			fmt.Fprintf(&b, "%02d", int(t.Month()))
		case 'W':
			b.WriteString(t.Weekday().String())
		case 'w':
			fmt.Fprint(&b, int(t.Weekday()))
		case 'Y':
			fmt.Fprintf(&b, "%04d", t.Year())
		case 'y':
			fmt.Fprintf(&b, "%02d", t.Year()%100)
		case 'U', 'u', 'V', 'v':
			_, w := weekOf(t, weekModes[c])
			fmt.Fprintf(&b, "%02d", w)
		case 'X', 'x':
			y, _ := weekOf(t, weekModes[c])
			fmt.Fprintf(&b, "%04d", y)
		default:
			return formatClock(&b, clockOf(t), c)
		}
		return true
	})
	return b.String()
}

// weekModes are the modes of WEEK that the specifiers stand for.
var weekModes = map[byte]int{'U': 0, 'u': weekMonday, 'V': weekYear, 'v': weekMonday | weekYear, 'X': weekYear, 'x': weekMonday | weekYear}

// each reads a format: specifier writes what a letter behind % stands for, and reports whether it
// is a specifier.
func each(format string, b *strings.Builder, specifier func(c byte) bool) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		if i++; !specifier(format[i]) {
			b.WriteByte(format[i])
		}
	}
}

// formatClock writes one specifier of a time of day, or of one above 24 hours; us is not negative.
func formatClock(b *strings.Builder, us int64, c byte) bool {
	h, m, s := us/3600e6, us/60e6%60, us/1e6%60
	twelve, half := (h+11)%12+1, "AM"
	if h%24 >= 12 {
		half = "PM"
	}
	switch c {
	case 'H':
		fmt.Fprintf(b, "%02d", h)
	case 'k':
		fmt.Fprint(b, h)
	case 'h', 'I':
		fmt.Fprintf(b, "%02d", twelve)
	case 'l':
		fmt.Fprint(b, twelve)
	case 'i':
		fmt.Fprintf(b, "%02d", m)
	case 'S', 's':
		fmt.Fprintf(b, "%02d", s)
	case 'f':
		fmt.Fprintf(b, "%06d", us%1e6)
	case 'p':
		b.WriteString(half)
	case 'r':
		fmt.Fprintf(b, "%02d:%02d:%02d %s", twelve, m, s, half)
	case 'T':
		fmt.Fprintf(b, "%02d:%02d:%02d", h, m, s)
	default:
		return false
	}
	return true
}

// formatSpan writes a TIME; what only a date has is 0, or nothing where it has a name.
func formatSpan(us int64, format string) string {
	var b strings.Builder
	if us < 0 {
		b.WriteByte('-')
		us = -us
	}
	each(format, &b, func(c byte) bool {
		switch c {
		case 'd', 'm', 'y':
			b.WriteString("00")
		case 'Y':
			b.WriteString("0000")
		case 'c', 'e':
			b.WriteByte('0')
		case 'a', 'b', 'D', 'j', 'M', 'W', 'w', 'U', 'u', 'V', 'v', 'X', 'x':
		default:
			return formatClock(&b, us, c)
		}
		return true
	})
	return b.String()
}

// ordinal is the ending of 1st, 2nd, 3rd and 4th.
func ordinal(n int) string {
	if n/10 == 1 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// spanText writes a TIME, with a fraction where there is one.
func spanText(us int64) string {
	s := formatSpan(us, "%H:%i:%s")
	if f := max(us, -us) % 1e6; f != 0 {
		s += fmt.Sprintf(".%06d", f)
	}
	return s
}

// momentText writes a date with its time, with a fraction where there is one.
func momentText(t time.Time) string {
	return t.Format("2006-01-02 ") + spanText(clockOf(t))
}
