package fuzz

import (
	"maps"
	"math/rand/v2"
	"strconv"
)

// answers are aggregates of protected rows and their public keys, by kind: the columns of what is
// computed from them.
var answers = map[byte][]string{
	'i': {"COUNT(*)", "COUNT(o.i)", "COUNT(DISTINCT o.person)", "SUM(o.z)", "SUM(o.b)"},
	'n': {"SUM(o.i)", "SUM(o.d2)", "SUM(o.x)", "AVG(o.i)", "AVG(o.d2)", "AVG(o.f)", "VAR_POP(o.z)", "STDDEV(o.x)", "SUM(o.i * 0.5)", "AVG(o.z > 2)", "MAX(o.i)", "MIN(o.d2)"},
	's': {"CONCAT(COUNT(*), 'x')", "CAST(SUM(o.d2) AS CHAR)", "MAX(o.c)"},
	'x': {"CAST(COUNT(*) AS BINARY)"},
	'd': {"DATE '2020-01-01' + INTERVAL COUNT(*) DAY", "MAX(o.da)"},
	't': {"SEC_TO_TIME(SUM(o.z))"},
	'j': {"JSON_ARRAY(COUNT(*))", "JSON_OBJECT('a', SUM(o.x))"},
	'b': {"COUNT(*) > 3", "SUM(o.d2) > 0"},
}

// mixed are forms of operands of any kinds, and casts to every type.
var mixed = []string{"COALESCE(%a, %a)", "COALESCE(%a, 0.0)", "IFNULL(%a, %a)", "NULLIF(%a, %a)", "IF(%b, %a, %a)", "IF(%a, %a, %a)", "CASE WHEN %b THEN %a WHEN %b THEN %a ELSE %a END", "CASE %a WHEN %a THEN %a END", "GREATEST(%a, %a)", "LEAST(%a, %a, %a)",
	"CONCAT(%a, %a)", "CONCAT_WS(%a, %a, %a)", "ROUND(%a, %c)", "ROUND(%a)", "TRUNCATE(%a, %c)", "FORMAT(%a, %c)", "%a + %a", "%a - %a", "%a * %a", "%a / %a", "%a DIV %a", "%a %% %a", "-%a", "%a | %a", "~%a", "%a << %a", "HEX(%a)", "BIN(%a)", "CHAR_LENGTH(%a)", "DATE(%a)", "DATE_ADD(%a, INTERVAL %a DAY)",
	"CAST(%a AS SIGNED)", "CAST(%a AS UNSIGNED)", "CAST(%a AS DECIMAL(20,3))", "CAST(%a AS DOUBLE)", "CAST(%a AS FLOAT)", "CAST(%a AS CHAR)", "CAST(%a AS CHAR(2))", "CAST(%a AS BINARY)", "CAST(%a AS BINARY(4))", "CAST(%a AS DATE)", "CAST(%a AS DATETIME)", "CAST(%a AS TIME)", "CAST(%a AS JSON)", "CAST(%a AS YEAR)", "CONVERT(%a USING utf8mb4)", "CONVERT(%a, DECIMAL)",
	"JSON_OBJECT('a', %a)", "JSON_ARRAY(%a, %a)", "JSON_EXTRACT(%a, '$.a')", "JSON_VALID(%a)", "FROM_UNIXTIME(%a)", "SEC_TO_TIME(%a)", "FROM_DAYS(%a)", "DAYNAME(%a)", "ELT(%a, %a, %a)", "FIELD(%a, %a, %a)", "POW(%a, %a)", "SQRT(%a)", "ABS(%a)", "SIGN(%a)", "MOD(%a, %a)", "LOG(%a, %a)", "SUBSTRING(%a, %a, %a)", "LEFT(%a, %a)", "LPAD(%a, %c, %a)", "REPLACE(%a, %a, %a)", "REGEXP_REPLACE(%a, 'a', 'b')", "%a LIKE %a", "%a REGEXP '1'", "%a IN (%a, %a)", "%a BETWEEN %a AND %a", "%a = %a", "%a <=> %a",
	"INET_NTOA(%a)", "UUID_TO_BIN(%a)", "UNHEX(%a)", "MD5(%a)", "CHAR(%a, %a)", "MAKE_SET(%a, %a)", "DATE_FORMAT(%a, '%%Y')", "STR_TO_DATE(%a, '%%Y')", "TIMEDIFF(%a, %a)", "INTERVAL(%a, %a, %a)", "@v := %a", "RAND(%a)"}

// windowed are windows over an expression of kind n.
var windowed = []string{"SUM(%0) OVER ()", "RANK() OVER (ORDER BY %0)", "LAG(%0) OVER (ORDER BY %0)", "LEAD(%0, 1, 0.0) OVER (ORDER BY %0)", "AVG(%0) OVER (ORDER BY %0 ROWS UNBOUNDED PRECEDING)",
	"%0 / SUM(%0) OVER ()", "ROW_NUMBER() OVER (PARTITION BY %0 > 1 ORDER BY %0)", "FIRST_VALUE(%0) OVER (ORDER BY %0)", "NTILE(2) OVER (ORDER BY %0)", "MAX(%0) OVER (PARTITION BY %0)"}

// OuterShapes are what Outer's statements are about.
var OuterShapes = []string{"value", "value", "value", "group", "group", "window", "union", "derived", "order", "subquery"}

// Outer makes statement n of the seed, which computes something of answers on protected rows: of
// aggregates of the table o of PrivateTables.
func Outer(seed, n uint64) Statement {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, n+2<<40)), columns: answers, grammar: grammar, written: written, anything: "iinnnssssxddtbj", scope: []string{""}}
	s := Statement{Shape: OuterShapes[m.IntN(len(OuterShapes))]}
	m.grammar = maps.Clone(grammar)
	for kind, forms := range grammar { // t2 is none of the tables
		m.grammar[kind] = without(forms, "SELECT")
		if kind != 'c' && kind != 'p' {
			m.grammar[kind] = append(m.grammar[kind], mixed...)
		}
	}
	item := func() *Node { return m.expression(m.anything[m.IntN(len(m.anything))], 1+m.IntN(3)) }
	rows, key := part(" FROM o"), m.pick("o.c", "o.e", "o.k", "o.y", "o.z")
	grouped := part(" FROM o GROUP BY " + key)
	switch s.Shape {
	case "value":
		s.Tree = part("SELECT %0%1", list("", ", ", 1, item(), item()), rows)
	case "group":
		s.Tree = part("SELECT "+key+" AS k, %0%1", list("", ", ", 1, item()), grouped)
	case "window":
		s.Tree = part("SELECT "+key+" AS k, %0%1", part(m.pick(windowed...), m.expression('n', m.IntN(3))), grouped)
	case "union":
		s.Tree = part("SELECT %0%1 "+m.pick("UNION", "UNION ALL")+" SELECT %2%3", item(), rows, item(), part(m.pick("", " FROM o", " FROM l")))
		if s.Tree.Kids[3].Form != " FROM o" {
			s.Tree.Kids[2] = m.leafWritten()
		}
	case "derived":
		kind := m.anything[m.IntN(len(m.anything))]
		inner := m.expression(kind, 1+m.IntN(2))
		outer := &maker{Rand: m.Rand, columns: map[byte][]string{kind: {"q.v"}}, grammar: m.grammar, written: written, anything: m.anything, scope: []string{""}}
		s.Tree = part("SELECT %0 FROM (SELECT "+key+" AS k, %1 AS v%2) q"+m.pick("", " WHERE q.v IS NOT NULL", " GROUP BY q.v", " JOIN l ON l.id = q.v"), outer.expression(outer.anything[m.IntN(len(outer.anything))], 2), inner, grouped)
	case "order":
		s.Tree = part("SELECT %0 AS v%1 HAVING %2 ORDER BY %3 LIMIT "+strconv.Itoa(1+m.IntN(3)), item(), grouped, m.expression('b', 1+m.IntN(2)), item())
	case "subquery":
		s.Tree = part("SELECT %0, (SELECT %1 FROM o) AS v FROM l", part(m.pick("l.id", "l.w > (SELECT AVG(o.d2) FROM o)", "l.label")), item())
	}
	return s
}

// leafWritten makes an expression that is written out.
func (m *maker) leafWritten() *Node {
	kind := m.anything[m.IntN(len(m.anything))]
	return &Node{Form: m.pick(m.written[kind]...), Kind: kind}
}
