package fuzz

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// copies is how many persons have each row of the protected table: keys of few are not answered.
const copies = 20

// rowsEach is how many rows each person has.
const rowsEach = 3

// visits are the columns of the protected table, whose values are within what Declarations declare.
var visits = []column{
	{"k", "INT", "1|2|3|4", ""},
	{"i", "INT", "0|1|2|3|-7|50", ""},
	{"b", "BIGINT", "0|1|2|-3|100", ""},
	{"u", "TINYINT UNSIGNED", "0|1|2|200", ""},
	{"d2", "DECIMAL(10,2)", "0|1|1.50|-2.25|10.00|99.99", ""},
	{"x", "DOUBLE", "0|1|0.5|-2.5|64|3.25", ""},
	{"f", "FLOAT", "0|1|0.5|-1.5", ""},
	{"da", "DATE", "'2020-01-01'|'2020-02-29'|'2021-12-31'|'1999-12-31'", ""},
	{"dt", "DATETIME", "'2020-01-01 00:00:00'|'2020-01-01 10:00:00'|'2021-12-31 23:59:59'|'2020-02-29 12:30:15'", ""},
	{"tm", "TIME", "'00:00:00'|'00:00:01'|'10:00:00'|'23:59:59'", ""},
	{"y", "YEAR", "1999|2020|2021", ""},
	{"v", "VARCHAR(20)", "'a'|'A'|'ab'|'1'|'-1.5'|'é'|''|'2020-01-01'", ""},
	{"c", "CHAR(10)", "'north'|'south'|'10'|'ß'", ""},
	{"e", "ENUM('b','a','1','A')", "'b'|'a'|'1'|'A'", ""},
	{"z", "INT NOT NULL", "0|1|2|3|4|5", ""},
}

var privateColumns = map[byte][]string{
	'i': {"i", "b", "u", "y", "z", "z", "i"},
	'n': {"i", "d2", "d2", "x", "f", "z"},
	's': {"v", "c", "e", "v"},
	'd': {"da", "dt", "da"},
	't': {"tm"},
	'b': {"z", "i"},
}

// PrivateTables make the table o, whose rows are of persons, and the public table l, which o.k
// names rows of.
func PrivateTables() []string {
	r := rand.New(rand.NewPCG(38, 2))
	var defined, rows []string
	for _, c := range visits {
		defined = append(defined, c.name+" "+c.sql)
	}
	for id := range 24 {
		var row []string
		for _, c := range visits {
			values := strings.Split(c.common, "|")
			v := values[r.IntN(len(values))]
			if r.IntN(8) == 0 && !strings.Contains(c.sql, "NOT NULL") {
				v = "NULL"
			}
			row = append(row, v)
		}
		for p := range copies {
			rows = append(rows, fmt.Sprintf("(%d, %s)", id/rowsEach*copies+p, strings.Join(row, ", ")))
		}
	}
	return []string{
		"CREATE TABLE o (person INT NOT NULL, " + strings.Join(defined, ", ") + ")", "INSERT INTO o VALUES " + strings.Join(rows, ", "),
		"CREATE TABLE l (id INT PRIMARY KEY, label VARCHAR(10), w DECIMAL(6,2))", "INSERT INTO l VALUES (1, 'one', 1.25), (2, 'two', -2.00), (3, 'Three', NULL), (5, NULL, 7.50)",
	}
}

// Declarations declare schema.o as protected, with public ranges and keys and a budget that no
// number of statements exhausts, and schema.l as public.
func Declarations(schema string) []string {
	out := []string{"CALL dp_public('" + schema + ".l')", "CALL dp_protect('" + schema + ".o', 'person', 'person')"}
	for _, of := range [][2]string{
		{"i", `{"min":-64,"max":64}`}, {"b", `{"min":-128,"max":128}`}, {"u", `{"min":0,"max":255}`}, {"d2", `{"min":-128,"max":128}`}, {"x", `{"min":-128,"max":128}`}, {"f", `{"min":-16,"max":16}`},
		{"z", `{"min":0,"max":5}`}, {"k", `[1, 2, 3, 4, null]`}, {"e", `["b", "a", "1", "A", null]`}, {"c", `["north", "south", "10", "ß", null]`}, {"y", `[1999, 2020, 2021, null]`},
		{"da", `["2020-01-01", "2020-02-29", "2021-12-31", "1999-12-31", null]`},
	} {
		out = append(out, fmt.Sprintf("CALL dp_set_domain('%s.o', '%s', '%s')", schema, of[0], of[1]))
	}
	for _, who := range []string{"*", "default"} {
		out = append(out, fmt.Sprintf("CALL dp_set_budget('%s.o', '%s', 'rho=1000000', 1e-3, 'never')", schema, who))
	}
	// of which no more count: then no clip is searched for, which would take a part of a sum
	return append(out, fmt.Sprintf(`CALL dp_set_defaults('%s.o', '{"max_rows_per_unit": %d}')`, schema, rowsEach))
}

// PrivateShapes are what statements on protected rows are about.
var PrivateShapes = []string{"total", "group", "group", "join"}

// Private makes statement n of the seed on protected rows. It has a column n, a COUNT(*).
func Private(seed, n uint64) Statement {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, n+1<<40)), columns: privateColumns, grammar: maps.Clone(grammar), written: written, anything: "iinnnssssddtb", scope: []string{"o."}}
	for kind, forms := range grammar {
		m.grammar[kind] = without(forms, "SELECT", "JSON", "%j", "%x")
	}
	s := Statement{Shape: PrivateShapes[m.IntN(len(PrivateShapes))]}
	from, keys := part(" FROM o"), m.IntN(3)
	switch s.Shape {
	case "total":
		keys = 0
	case "join":
		from = part(" FROM o " + m.pick("JOIN", "LEFT JOIN") + " l ON o.k = l.id")
	}
	by, items, aggs, having := list(" GROUP BY ", ", ", 0), list("", "", 0), list(", ", ", ", 0), list(" HAVING ", " AND ", 0)
	for i := range keys {
		k := m.expression("iinsssddb"[m.IntN(9)], m.IntN(2))
		if s.Shape == "join" && m.IntN(2) == 0 {
			k = &Node{Form: m.pick("l.label", "l.w", "l.id", "UPPER(l.label)"), Kind: 's'}
		}
		items.Kids = append(items.Kids, part("%0 AS k"+strconv.Itoa(i)+", ", k))
		by.Kids = append(by.Kids, part("k"+strconv.Itoa(i)))
	}
	forms := []string{"COUNT(%a)", "SUM(%n)", "SUM(%i)", "AVG(%n)", "AVG(%i)", "SUM(%b)", "COUNT(DISTINCT o.person)", "SUM(%n)"} // without noise, variances are not exact
	for i := range m.IntN(3) {
		aggs.Kids = append(aggs.Kids, part("%0 AS a"+strconv.Itoa(i), m.aggregate(forms, 1+m.IntN(2))))
	}
	if keys > 0 && m.IntN(4) == 0 {
		having.Kids = append(having.Kids, part("n "+m.pick(">", "<=", "<>")+" "+m.pick("20", "40", "50")))
	}
	s.Tree = part("SELECT %0COUNT(*) AS n%1%2%3%4%5", items, aggs, from, m.where(m.IntN(3)), by, having)
	return s
}

// without returns the forms that hold none of the texts.
func without(forms []string, texts ...string) []string {
	return slices.DeleteFunc(slices.Clone(forms), func(f string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(f, t) })
	})
}
