package standard

import (
	"strings"
	"time"
)

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
