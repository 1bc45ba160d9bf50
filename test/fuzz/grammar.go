package fuzz

import (
	"math/rand/v2"
	"strings"
)

// grammar has the forms of expressions by kind: %i an integer, %n a number, %s a text, %x a binary
// text, %d a day or a moment, %t a time of day, %j JSON, %b a condition, %a anything, %c a small
// number that is written out, %p a pattern.
var grammar = map[byte][]string{
	'i': {"%i + %i", "%i - %i", "%i * %i", "%i DIV %i", "%i %% %i", "-%i", "ABS(%i)", "SIGN(%n)", "CEILING(%n)", "FLOOR(%n)", "CAST(%n AS SIGNED)", "CAST(%s AS SIGNED)", "CAST(%n AS UNSIGNED)", "CAST(%d AS SIGNED)",
		"LENGTH(%s)", "CHAR_LENGTH(%s)", "LOCATE(%s, %s)", "LOCATE(%s, %s, %c)", "INSTR(%s, %s)", "ASCII(%s)", "ORD(%s)", "FIELD(%s, %s, %s)", "FIND_IN_SET(%s, %s)", "STRCMP(%s, %s)", "BIT_COUNT(%i)", "%i & %i", "%i | %i", "%i ^ %i", "%i << %c", "%i >> %c",
		"YEAR(%d)", "MONTH(%d)", "DAY(%d)", "DAYOFWEEK(%d)", "DAYOFYEAR(%d)", "WEEKDAY(%d)", "WEEK(%d)", "WEEK(%d, 3)", "YEARWEEK(%d)", "QUARTER(%d)", "HOUR(%d)", "MINUTE(%t)", "SECOND(%t)", "HOUR(%t)", "MICROSECOND(%d)", "TO_DAYS(%d)", "DATEDIFF(%d, %d)", "TIME_TO_SEC(%t)", "UNIX_TIMESTAMP(%d)",
		"TIMESTAMPDIFF(DAY, %d, %d)", "TIMESTAMPDIFF(MONTH, %d, %d)", "TIMESTAMPDIFF(SECOND, %d, %d)", "EXTRACT(YEAR_MONTH FROM %d)", "EXTRACT(HOUR_SECOND FROM %d)", "CRC32(%s)", "INTERVAL(%i, 1, 5, 100)", "JSON_LENGTH(%j)", "JSON_DEPTH(%j)", "JSON_VALID(%s)", "%d + 0", "%t + 0", "%b",
		"COALESCE(%i, %i)", "IFNULL(%i, %i)", "NULLIF(%i, %i)", "IF(%b, %i, %i)", "CASE WHEN %b THEN %i ELSE %i END", "CASE %i WHEN %i THEN %i WHEN %i THEN %i END", "GREATEST(%i, %i)", "LEAST(%i, %i)"},
	'n': {"%i", "%n + %n", "%n - %n", "%n * %n", "%n / %n", "%i / %i", "%n DIV %n", "%n %% %n", "MOD(%n, %n)", "-%n", "ABS(%n)", "ROUND(%n)", "ROUND(%n, %c)", "TRUNCATE(%n, %c)", "SQRT(%n)", "POW(%n, %c)", "EXP(%c)", "LN(%n)", "LOG10(%n)", "LOG2(%n)", "SIN(%n)", "ATAN(%n)", "DEGREES(%n)",
		"CAST(%n AS DECIMAL(10,2))", "CAST(%s AS DECIMAL(12,4))", "CAST(%n AS DOUBLE)", "CAST(%n AS DECIMAL(30,0))", "%n + %s", "%n * %s", "%n - %d",
		"COALESCE(%n, %n)", "COALESCE(%n, 0.0)", "IFNULL(%n, %n)", "NULLIF(%n, %n)", "IF(%b, %n, %n)", "CASE WHEN %b THEN %n WHEN %b THEN %n ELSE %n END", "CASE %n WHEN %n THEN %n END", "GREATEST(%n, %n)", "LEAST(%n, %n, %n)"},
	's': {"CONCAT(%s, %s)", "CONCAT(%s, %a)", "CONCAT_WS(%s, %s, %a)", "UPPER(%s)", "LOWER(%s)", "SUBSTRING(%s, %c)", "SUBSTRING(%s, %c, %c)", "SUBSTRING(%n, %c, %c)", "LEFT(%s, %c)", "RIGHT(%s, %c)", "TRIM(%s)", "LTRIM(%s)", "RTRIM(%s)", "TRIM(LEADING 'a' FROM %s)", "TRIM(BOTH %s FROM %s)", "REPLACE(%s, %s, %s)",
		"LPAD(%s, %c, %s)", "RPAD(%s, %c, %s)", "INSERT(%s, %c, %c, %s)", "REVERSE(%s)", "REPEAT(%s, %c)", "SPACE(%c)", "SUBSTRING_INDEX(%s, ',', %c)", "HEX(%s)", "HEX(%i)", "HEX(%x)", "MD5(%s)", "ELT(%c, %s, %s)", "QUOTE(%s)", "CONV(%i, 10, 16)", "BIN(%i)", "OCT(%i)", "FORMAT(%n, %c)", "SOUNDEX(%s)", "TO_BASE64(%s)", "MAKE_SET(%c, %s, %s)",
		"CAST(%a AS CHAR)", "CAST(%s AS CHAR(3))", "CAST(%n AS CHAR)", "CAST(%d AS CHAR)", "DATE_FORMAT(%d, '%%Y-%%m-%%d %%H:%%i:%%s')", "DATE_FORMAT(%d, '%%W %%M %%e %%y %%j %%U')", "DATE_FORMAT(%d, '%%f %%p %%r %%a %%b %%D')", "DAYNAME(%d)", "MONTHNAME(%d)", "TIME_FORMAT(%t, '%%H-%%i-%%s')", "JSON_UNQUOTE(JSON_EXTRACT(%j, '$.a'))", "JSON_TYPE(%j)",
		"COALESCE(%s, %s)", "IFNULL(%s, %a)", "NULLIF(%s, %s)", "IF(%b, %s, %s)", "CASE WHEN %b THEN %s ELSE %a END", "CASE %s WHEN %s THEN %s ELSE %s END", "GREATEST(%s, %s)", "LEAST(%s, %s)"},
	'x': {"CONCAT(%x, %x)", "UNHEX(HEX(%s))", "CAST(%s AS BINARY)", "SUBSTRING(%x, %c)", "COALESCE(%x, %x)", "LEFT(%x, %c)"},
	'd': {"DATE(%d)", "LAST_DAY(%d)", "%d + INTERVAL %c DAY", "%d - INTERVAL %c MONTH", "DATE_ADD(%d, INTERVAL %i DAY)", "DATE_ADD(%d, INTERVAL %c YEAR)", "DATE_SUB(%d, INTERVAL %c SECOND)", "DATE_ADD(%d, INTERVAL '1:30' MINUTE_SECOND)", "DATE_ADD(%d, INTERVAL %c WEEK)", "DATE_ADD(%d, INTERVAL %c QUARTER)", "TIMESTAMP(%d)", "FROM_DAYS(TO_DAYS(%d))", "MAKEDATE(YEAR(%d), DAYOFYEAR(%d))",
		"FROM_UNIXTIME((%i) %% 2000000000)", "CAST(%d AS DATE)", "CAST(%d AS DATETIME)", "CAST(%d AS DATETIME(6))", "STR_TO_DATE(CAST(%d AS CHAR), '%%Y-%%m-%%d')", "CAST(%s AS DATE)", "COALESCE(%d, %d)", "IFNULL(%d, %d)", "NULLIF(%d, %d)", "IF(%b, %d, %d)", "CASE WHEN %b THEN %d ELSE %d END", "GREATEST(%d, %d)", "LEAST(%d, %d)"},
	't': {"TIME(%d)", "SEC_TO_TIME(%i)", "MAKETIME(%c, %c, %c)", "TIMEDIFF(%t, %t)", "ADDTIME(%t, %t)", "SUBTIME(%t, %t)", "DATE_ADD(%t, INTERVAL %c MINUTE)", "CAST(%t AS TIME)", "COALESCE(%t, %t)", "IF(%b, %t, %t)", "CAST(%s AS TIME)", "GREATEST(%t, %t)"},
	'j': {"JSON_EXTRACT(%j, '$.a')", "JSON_EXTRACT(%j, '$[0]')", "JSON_EXTRACT(%j, '$.b[1]')", "JSON_OBJECT('k', %n)", "JSON_OBJECT('k', %s, 'l', %i)", "JSON_ARRAY(%n, %s)", "JSON_ARRAY(%i, %j)", "JSON_SET(%j, '$.a', %i)", "JSON_REMOVE(%j, '$.a')", "JSON_KEYS(%j)", "JSON_QUOTE(%s)", "COALESCE(%j, %j)", "JSON_MERGE_PATCH(%j, %j)"},
	'b': {"%n = %n", "%n <> %n", "%n < %n", "%n >= %n", "%i = %i", "%i > %i", "%n <=> %n", "%s = %s", "%s < %s", "%s >= %s", "%s <> %s", "%s <=> %s", "%x = %x", "%x < %x", "%x = %s", "%d = %d", "%d < %d", "%d >= %d", "%d <=> %d", "%t > %t", "%t = %t", "%n = %s", "%n > %s", "%d = %s", "%d > %s", "%d = %i", "%t < %s", "%a = %a", "%a < %a", "%a <=> %a",
		"NOT %b", "%b AND %b", "%b OR %b", "%b XOR %b", "%a IS NULL", "%a IS NOT NULL", "%b IS TRUE", "%b IS NOT TRUE", "%b IS FALSE", "%b IS NOT FALSE", "%b IS UNKNOWN", "%n IN (%n, %n)", "%n IN (%c, %n, NULL)", "%n NOT IN (%n, %n)", "%s IN (%s, %s)", "%s NOT IN (%s, NULL)", "%d IN (%d, %d)", "%a IN (%a, %a)", "%n IN (%s, %n)",
		"%n BETWEEN %n AND %n", "%n NOT BETWEEN %n AND %n", "%s BETWEEN %s AND %s", "%d BETWEEN %d AND %d", "%d NOT BETWEEN %d AND %d", "%s LIKE %p", "%s NOT LIKE %p", "%s LIKE %s", "%n LIKE %p", "%d LIKE '2020%%'", "%s LIKE '%%!_%%' ESCAPE '!'", "%s REGEXP '^a'", "%s REGEXP '[0-9]+$'", "(%n, %s) = (%n, %s)", "(%i, %s) < (%i, %s)", "(%i, %s) IN ((%i, %s), (%c, %s))", "(%i, %n) <=> (%i, NULL)", "(%i, %i) NOT IN ((%c, %i), (NULL, %c))",
		"%n", "%i", "%s", "%d", "JSON_CONTAINS(%j, '1')", "JSON_CONTAINS_PATH(%j, 'one', '$.a')", "COALESCE(%b, %b)", "IF(%b, %b, %b)", "EXISTS (SELECT 1 FROM t2 q WHERE q.i = %i)", "%i IN (SELECT q.i FROM t2 q)", "%s NOT IN (SELECT q.v FROM t2 q WHERE q.v IS NOT NULL)", "%i = (SELECT MAX(q.i) FROM t2 q)"},
	'c': {"0", "1", "2", "3", "5", "-1", "-2", "7", "10"},
	'p': {"'a%%'", "'%%a'", "'%%1%%'", "'_'", "'a_'", "'%%'", "''", "'A%%'", "'%%é%%'", "'1.%%'", "'-%%'"},
}

// written are expressions that are written out, by kind.
var written = map[byte][]string{
	'i': {"0", "1", "2", "-1", "7", "255", "65536", "NULL"},
	'n': {"0", "1", "1.5", "-2.25", "0.001", "1e0", "2.5e-3", "100", "NULL", "'12'", "10.00"},
	's': {"''", "'a'", "'A'", "'ab'", "' a '", "'1'", "'1.5x'", "'é'", "'日本'", "'😀'", "NULL", "'2020-01-01'", "','"},
	'x': {"X'61'", "X'FF00'", "X''", "NULL"},
	'd': {"DATE '2020-02-29'", "'2020-01-01'", "TIMESTAMP '2020-01-01 10:00:00'", "'2021-12-31 23:59:59'", "NULL", "DATE '1999-12-31'"},
	't': {"TIME '10:00:00'", "'00:00:01'", "TIME '23:59:59'", "NULL"},
	'j': {"'{\"a\": 1, \"b\": [1, 2]}'", "'[1, \"x\", null]'", "'3'"},
	'b': {"TRUE", "FALSE", "NULL"},
}

// columns are the columns of t1 and t2 by kind.
var columns = map[byte][]string{
	'i': {"id", "ti", "si", "mi", "i", "b", "tu", "su", "mu", "iu", "bu", "y", "bt"},
	'n': {"i", "b", "bu", "d1", "d2", "d3", "d4", "f", "x", "d2", "x"},
	's': {"c", "v", "tx", "e", "s", "v"},
	'x': {"bc", "vb", "bl"},
	'd': {"da", "dt", "d6", "da"},
	't': {"tm"},
	'j': {"j"},
	'b': {"ti", "i"},
}

// kinds are what %a is one of.
const kinds = "iinnnssssxddtb"

// maker makes the expressions of one statement.
type maker struct {
	*rand.Rand
	scope    []string // aliases of the tables in it, each with a full stop
	columns  map[byte][]string
	grammar  map[byte][]string
	written  map[byte][]string
	anything string // kinds that %a may be
}

func (m *maker) pick(xs ...string) string { return xs[m.IntN(len(xs))] }

// leaf makes a column or what is written out.
func (m *maker) leaf(kind byte) *Node {
	if cols := m.columns[kind]; len(cols) > 0 && m.IntN(4) > 0 {
		return &Node{Form: m.pick(m.scope...) + m.pick(cols...), Kind: kind}
	}
	return &Node{Form: strings.ReplaceAll(m.pick(m.written[kind]...), "%", "%%"), Kind: kind}
}

// column makes a column.
func (m *maker) column(kind byte) *Node {
	return &Node{Form: m.pick(m.scope...) + m.pick(m.columns[kind]...), Kind: kind}
}

// expression makes one of the kind, of at most depth forms inside each other.
func (m *maker) expression(kind byte, depth int) *Node {
	if kind == 'a' {
		kind = m.anything[m.IntN(len(m.anything))]
	}
	if kind == 'c' || kind == 'p' {
		return &Node{Form: m.pick(m.grammar[kind]...), Kind: kind}
	}
	if depth <= 0 {
		return m.leaf(kind)
	}
	form := m.pick(m.grammar[kind]...)
	n := &Node{Kind: kind}
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if b.WriteByte(form[i]); form[i] != '%' {
			continue
		}
		if i++; form[i] == '%' {
			b.WriteByte('%')
			continue
		}
		b.WriteByte(byte('0' + len(n.Kids)))
		n.Kids = append(n.Kids, m.expression(form[i], depth-1-m.IntN(2)))
	}
	n.Form = b.String()
	return n
}
