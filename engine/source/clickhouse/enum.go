package clickhouse

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	enumType = regexp.MustCompile(`^Enum(?:8|16)\((.*)\)$`)
	enumItem = regexp.MustCompile(`^(?:, )?'((?:[^'\\]|\\.)*)' = (-?[0-9]+)`)
	escaped  = regexp.MustCompile(`\\.`)
)

// labels reads what the numbers of an enumeration stand for; ok is false where the type is none
// that is understood. Numbers are read rather than names: the library's reader of such a type ends
// the process where a name has a quote in it.
func labels(typ string) (names map[int64]string, ok bool) {
	m := enumType.FindStringSubmatch(typ)
	if m == nil {
		return nil, false
	}
	names = map[int64]string{}
	for rest := m[1]; rest != ""; {
		item := enumItem.FindStringSubmatch(rest)
		if item == nil {
			return nil, false
		}
		n, err := strconv.ParseInt(item[2], 10, 16)
		name, clear := unescape(item[1])
		if err != nil || !clear {
			return nil, false
		}
		names[n], rest = name, rest[len(item[0]):]
	}
	return names, true
}

// unescape reads a text as it is between quotes.
func unescape(s string) (out string, ok bool) {
	ok = true
	out = escaped.ReplaceAllStringFunc(s, func(e string) string {
		at := strings.IndexByte(`'\ntr0bf`, e[1])
		if at < 0 {
			ok = false
			return ""
		}
		return "'\\\n\t\r\x00\b\f"[at : at+1]
	})
	return out, ok
}
