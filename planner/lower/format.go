package lower

import (
	"regexp"
	"strings"

	"scrim/internal/refuse"
)

// storeFormat maps MySQL's format specifiers to the store's.
var storeFormat = map[byte]string{
	'Y': "%Y", 'y': "%y", 'm': "%m", 'c': "%-m", 'd': "%d", 'e': "%-d", 'H': "%H", 'k': "%-H", 'h': "%I", 'I': "%I", 'l': "%-I",
	'i': "%M", 'S': "%S", 's': "%S", 'f': "%f", 'p': "%p", 'M': "%B", 'b': "%b", 'W': "%A", 'a': "%a", 'j': "%j", 'w': "%w",
	'T': "%H:%M:%S", 'r': "%I:%M:%S %p", '%': "%%",
}

// weekFormat maps MySQL's specifiers of weeks to mode and whether it is the year of the week.
var weekFormat = map[byte]struct {
	mode int
	year bool
}{'U': {0, false}, 'u': {1, false}, 'V': {2, false}, 'v': {3, false}, 'X': {2, true}, 'x': {3, true}}

// dateFormat translates DATE_FORMAT. Text between the specifiers is bound.
func (l *lowerer) dateFormat(d Expr, format string) (Expr, error) {
	s := l.let(d.SQL, func(r string) string {
		var out []string
		var store strings.Builder
		flush := func() {
			if store.Len() > 0 {
				out = append(out, "strftime("+r+", "+l.hold(store.String())+")")
				store.Reset()
			}
		}
		for i := 0; i < len(format); i++ {
			ch := format[i]
			if ch != '%' || i+1 == len(format) {
				if ch == '%' {
					store.WriteString("%%")
				} else {
					store.WriteByte(ch)
				}
				continue
			}
			i++
			spec := format[i]
			if f, ok := storeFormat[spec]; ok {
				store.WriteString(f)
				continue
			}
			if w, ok := weekFormat[spec]; ok {
				flush()
				number := week(l, "CAST("+r+" AS DATE)", w.mode, w.year)
				if w.year {
					out = append(out, "lpad(CAST("+number+" // 100 AS VARCHAR), 4, '0')")
				} else {
					out = append(out, "lpad(CAST("+number+" AS VARCHAR), 2, '0')")
				}
				continue
			}
			if spec == 'D' {
				flush()
				out = append(out, "(CAST(day("+r+") AS VARCHAR) || CASE WHEN day("+r+") BETWEEN 11 AND 13 THEN 'th' WHEN day("+r+
					") % 10 = 1 THEN 'st' WHEN day("+r+") % 10 = 2 THEN 'nd' WHEN day("+r+") % 10 = 3 THEN 'rd' ELSE 'th' END)")
				continue
			}
			store.WriteByte(spec) // as MySQL: an unknown specifier is its letter
		}
		flush()
		if len(out) == 0 {
			return "substring(strftime(" + r + ", '%Y'), 1, 0)"
		}
		return "(" + strings.Join(out, " || ") + ")"
	})
	return of(String, s, d), nil
}

// readFormat are patterns of what the specifiers read that STR_TO_DATE takes.
var readFormat = func() map[byte]string {
	m := map[byte]string{'Y': "[0-9]{1,4}", 'f': "[0-9]{1,6}", 'j': "[0-9]{1,3}", 'M': "[A-Za-z]+", 'b': "[A-Za-z]{3}", 'p': "[AaPp][Mm]",
		'T': "[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}", '%': "%"}
	for _, c := range []byte("ymcdeHkhIliSs") {
		m[c] = "[0-9]{1,2}"
	}
	return m
}()

// strToDate reads a text by a constant format. A format without a part of the day gives a date.
func strToDate(l *lowerer, c *call) (Expr, error) {
	format, ok := c.constantText(1)
	if !ok {
		return Expr{}, c.needConstant("format")
	}
	if monday, ok := weekOf[format]; ok {
		return weekDate(l, c, monday), nil
	}
	var store strings.Builder
	var pattern strings.Builder // of what is read: a text may go on behind it
	pattern.WriteString("^[ ]*")
	clock, date := false, false
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			store.WriteByte(format[i])
			pattern.WriteString(regexp.QuoteMeta(format[i : i+1]))
			continue
		}
		i++
		if i == len(format) || readFormat[format[i]] == "" {
			return Expr{}, refuse.New(refuse.Expression, "STR_TO_DATE() takes the specifiers that docs/reference.md lists on protected rows.")
		}
		clock = clock || strings.IndexByte("HkhIliSspfT", format[i]) >= 0
		date = date || strings.IndexByte("YymcdeMbj", format[i]) >= 0
		pattern.WriteString(readFormat[format[i]])
		store.WriteString(strings.ReplaceAll(storeFormat[format[i]], "%-", "%"))
	}
	if !date {
		return Expr{}, refuse.New(refuse.Expression, "STR_TO_DATE() needs a format with a date on protected rows.")
	}
	if l.raises() {
		l.refuse("STR_TO_DATE() of texts that go on behind the format.")
	}
	s := l.toString(c.args[0])
	x := maybe(Datetime, l.inCalendar("try_strptime(regexp_extract("+s.SQL+", "+l.hold(pattern.String())+"), "+l.hold(store.String())+")"))
	if !clock {
		x = maybe(Date, "CAST("+x.SQL+" AS DATE)")
	}
	return x, nil
}
