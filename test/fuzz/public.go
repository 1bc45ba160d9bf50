package fuzz

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Statement is a random statement.
type Statement struct {
	Shape string // one of Shapes
	Tree  *Node  // of the shape change, a condition on t1 alone
}

// Ordered reports whether the rows of tree, which is the statement's or a smaller one, have one
// order. A limit without one is unsound: its rows are not determined.
func (s Statement) Ordered(tree *Node) (ordered, sound bool) {
	switch s.Shape {
	case "limit":
		items, order, limit := tree.Kids[0], tree.Kids[3], tree.Kids[4]
		ordered = len(order.Kids) >= len(items.Kids)
		return ordered, ordered || len(limit.Kids) == 0
	case "union":
		return len(tree.Kids) == 3 && len(tree.Kids[2].Kids) > 0, true
	}
	return false, true
}

// Shapes are what statements on public rows are about. A change is a condition for SELECT, UPDATE
// and DELETE.
var Shapes = []string{"expression", "where", "group", "distinct", "limit", "join", "semi-join", "union", "derived", "window", "subquery", "change"}

// Public makes statement n of the seed.
func Public(seed, n uint64) Statement {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, n)), columns: columns, grammar: grammar, written: written, anything: kinds, scope: []string{""}}
	s := Statement{Shape: Shapes[m.IntN(len(Shapes))]}
	switch s.Shape {
	case "expression":
		s.Tree = m.selects("", m.items(1+m.IntN(2), 2), part(" FROM "+m.table()))
	case "where":
		s.Tree = m.selects("", list("", ", ", 1, part("id")), part(" FROM "+m.table()), m.where(1+m.IntN(2)))
	case "group":
		s.Tree = m.group(part(" FROM " + m.table()))
	case "distinct":
		s.Tree = m.selects("DISTINCT ", m.items(1+m.IntN(2), 1), part(" FROM "+m.table()), m.where(m.IntN(2)))
	case "limit":
		s.Tree = m.limit()
	case "join":
		s.Tree = m.join()
	case "semi-join":
		s.Tree = m.semi()
	case "union":
		s.Tree = m.union()
	case "derived":
		s.Tree = m.derived()
	case "window":
		s.Tree = m.window()
	case "subquery":
		s.Tree = m.subquery()
	case "change":
		s.Tree = part("%0", m.expression('b', 2))
	}
	return s
}

func (m *maker) table() string { return m.pick("t1", "t1", "t1", "t2") }

// selects puts a query together: what, the items, and the clauses.
func (m *maker) selects(what string, items *Node, clauses ...*Node) *Node {
	n := part("SELECT "+what+"%0", items)
	for _, c := range clauses {
		n.Form += "%" + strconv.Itoa(len(n.Kids))
		n.Kids = append(n.Kids, c)
	}
	return n
}

// items makes select items; the last one alone may be JSON.
func (m *maker) items(n, depth int) *Node {
	l := list("", ", ", 1)
	for i := range n {
		kind := byte('a')
		if m.IntN(12) == 0 {
			kind = 'j'
		}
		l.Kids = append(l.Kids, part("%0 AS c"+strconv.Itoa(i), m.expression(kind, depth)))
	}
	return l
}

func (m *maker) where(n int) *Node {
	l := list(" WHERE ", " AND ", 0)
	for range n {
		l.Kids = append(l.Kids, part("(%0)", m.expression('b', 1+m.IntN(2))))
	}
	return l
}

// ordinals orders by columns 1 to n.
func (m *maker) ordinals(n int) *Node {
	l := list(" ORDER BY ", ", ", 0)
	for _, i := range m.Perm(n) {
		l.Kids = append(l.Kids, part(strconv.Itoa(i+1)+m.pick("", " DESC")))
	}
	return l
}

// aggregates over an expression; %n and so on as in the grammar.
var aggregates = []string{"COUNT(*)", "COUNT(%a)", "SUM(%n)", "SUM(%i)", "AVG(%n)", "AVG(%i)", "MIN(%n)", "MAX(%n)", "MIN(%s)", "MAX(%s)", "MIN(%d)", "MAX(%d)", "MIN(%t)", "COUNT(DISTINCT %a)", "SUM(DISTINCT %i)", "BIT_AND(%i)", "BIT_OR(%i)", "BIT_XOR(%i)", "STDDEV(%n)", "VAR_SAMP(%n)", "GROUP_CONCAT(DISTINCT %s ORDER BY 1)", "MAX(%x)", "SUM(%b)", "SUM(%d)", "AVG(%s)"}

// aggregate makes a call, of a kind of its own so that no condition takes its place.
func (m *maker) aggregate(forms []string, depth int) *Node {
	saved := m.grammar
	m.grammar = map[byte][]string{'g': forms}
	for k, v := range saved {
		m.grammar[k] = v
	}
	defer func() { m.grammar = saved }()
	n := m.expression('g', depth)
	return n
}

func (m *maker) group(from ...*Node) *Node {
	items, by, having := list("", ", ", 1), list(" GROUP BY ", ", ", 0), list(" HAVING ", " AND ", 0)
	for i := range m.IntN(3) {
		k := m.expression('a', m.IntN(2))
		items.Kids = append(items.Kids, part("%0 AS k"+strconv.Itoa(i), k))
		by.Kids = append(by.Kids, part("k"+strconv.Itoa(i)))
	}
	for i := range 1 + m.IntN(2) {
		items.Kids = append(items.Kids, part("%0 AS a"+strconv.Itoa(i), m.aggregate(aggregates, 2)))
	}
	if m.IntN(4) == 0 {
		having.Kids = append(having.Kids, part("%0 "+m.pick(">", "<=", "<>")+" "+m.pick("0", "1", "2", "1.5"), m.aggregate([]string{"COUNT(*)", "SUM(%n)", "MAX(%i)", "COUNT(%a)"}, 1)))
	}
	return m.selects("", items, append(append(from, m.where(m.IntN(2))), by, having)...)
}

// limit makes a query whose rows have one order: all columns are ordered by.
func (m *maker) limit() *Node {
	items := list("", ", ", 1)
	for i := range 1 + m.IntN(3) {
		items.Kids = append(items.Kids, part("%0 AS c"+strconv.Itoa(i), m.expression('a', m.IntN(2))))
	}
	items.Kids = append(items.Kids, part("id"))
	limit := list("", "", 0)
	if m.IntN(2) == 0 {
		limit.Kids = append(limit.Kids, part(" LIMIT "+m.pick("1", "3", "5")+m.pick("", " OFFSET 2")))
	}
	return m.selects("", items, part(" FROM "+m.table()), m.where(m.IntN(2)), m.ordinals(len(items.Kids)), limit)
}

func (m *maker) join() *Node {
	m.scope = []string{"p.", "q."}
	on := list("", " AND ", 1)
	if m.IntN(3) > 0 {
		kinds := []string{"ii", "in", "is", "ss", "dd", "nn", "ds", "xx", "sx", "tt", "ns"}
		k := m.pick(kinds...)
		m.scope = []string{"p."}
		l := m.column(k[0])
		m.scope = []string{"q."}
		r := m.column(k[1])
		m.scope = []string{"p.", "q."}
		on.Kids = append(on.Kids, part("%0 "+m.pick("=", "=", "=", "<=>")+" %1", l, r))
	}
	if len(on.Kids) == 0 || m.IntN(3) == 0 {
		on.Kids = append(on.Kids, part("(%0)", m.expression('b', 1)))
	}
	from := part(" FROM "+m.table()+" p "+m.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT JOIN")+" "+m.table()+" q ON %0", on)
	if m.IntN(4) == 0 {
		return m.group(from)
	}
	items := m.items(1, 1)
	items.Kids = append(items.Kids, part("p.id"), part("q.id AS id2"))
	return m.selects("", items, from, m.where(m.IntN(2)))
}

func (m *maker) semi() *Node {
	m.scope = []string{"q."}
	k := m.pick("ii", "in", "is", "ss", "dd", "nn", "ds", "xx", "si", "tt", "ns")
	inner, where := m.expression(k[1], m.IntN(2)), m.where(m.IntN(2))
	m.scope = []string{"p."}
	outer := m.expression(k[0], m.IntN(2))
	table := m.table()
	var cond *Node
	switch m.IntN(4) {
	case 0:
		cond = part("%0"+m.pick(" IN", " NOT IN")+" (SELECT %1 FROM "+table+" q%2)", outer, inner, where)
	case 1:
		m.scope = []string{"p.", "q."}
		cond = part(m.pick("", "NOT ")+"EXISTS (SELECT 1 FROM "+table+" q WHERE %0 = %1 AND (%2))", outer, inner, m.expression('b', 1))
	case 2:
		cond = part("(%0, p.id)"+m.pick(" IN", " NOT IN")+" (SELECT %1, q.id FROM "+table+" q%2)", outer, inner, where)
	case 3:
		cond = part("%0 "+m.pick("= ANY", "<> ALL", "> ALL", "< ANY")+" (SELECT %1 FROM "+table+" q%2)", outer, inner, where)
	}
	return m.selects("", list("", ", ", 1, part("p.id")), part(" FROM "+m.table()+" p"), list(" WHERE ", " AND ", 0, cond))
}

func (m *maker) union() *Node {
	k := m.pick("ii", "in", "nn", "is", "ss", "dd", "ds", "sx", "tt", "nd", "si")
	one := func(kind byte) *Node {
		return m.selects("", list("", ", ", 1, part("%0 AS c0", m.expression(kind, m.IntN(2)))), part(" FROM "+m.table()), m.where(m.IntN(2)))
	}
	n := part("%0 UNION "+m.pick("", "ALL ")+"%1%2", one(k[0]), one(k[1]), list(" ORDER BY ", ", ", 0))
	if m.IntN(3) == 0 {
		n.Kids[2].Kids = append(n.Kids[2].Kids, part("1"+m.pick("", " DESC")))
	}
	return n
}

// derived asks a derived table or a common table expression.
func (m *maker) derived() *Node {
	k := m.pick("i", "n", "s", "d", "n", "t")
	inner := m.selects(m.pick("", "", "DISTINCT "), list("", ", ", 3, part("%0 AS z", m.expression(k[0], 1)), part("%0 AS w", m.expression('i', 1)), part("id")), part(" FROM "+m.table()), m.where(m.IntN(2)))
	if m.IntN(3) == 0 {
		inner = part("SELECT %0 AS z, %1 AS w, COUNT(*) AS id FROM "+m.table()+" GROUP BY z, w", m.expression(k[0], 1), m.expression('i', 1))
	}
	saved := m.columns
	defer func() { m.columns = saved }()
	m.columns, m.scope = map[byte][]string{'i': {"w", "id"}, k[0]: {"z", "z"}}, []string{"v."}
	if k == "i" {
		m.columns['i'] = []string{"w", "z", "id"}
	}
	var outer *Node
	from := part(" FROM v")
	if m.IntN(2) == 0 {
		from = part(" FROM (%0) v", inner)
	}
	if m.IntN(2) == 0 {
		outer = m.group(from)
	} else {
		outer = m.selects("", m.items(2, 1), from, m.where(m.IntN(2)))
	}
	if len(from.Kids) == 0 {
		return part("WITH v AS (%0) %1", inner, outer)
	}
	return outer
}

func (m *maker) window() *Node {
	partition := list("PARTITION BY ", ", ", 0)
	if m.IntN(2) == 0 {
		partition.Kids = append(partition.Kids, m.expression('a', m.IntN(2)))
	}
	desc := func() string { return m.pick("", " DESC") }
	l := list("", ", ", 1)
	for i := range 1 + m.IntN(2) {
		var over *Node
		frame, form := part(""), ""
		if m.IntN(2) == 0 { // one order, in which rows have numbers
			over = part(" ORDER BY %0"+desc()+", id"+desc(), m.expression('a', m.IntN(2)))
			form = m.pick("ROW_NUMBER()", "LAG(%a)", "LEAD(%n, 2)", "LAG(%s, 1)", "FIRST_VALUE(%a)", "LAST_VALUE(%a)", "NTILE(3)", "SUM(%i)", "AVG(%n)", "COUNT(%a)", "MIN(%n)", "MAX(%d)", "NTH_VALUE(%a, 2)")
			if strings.Contains("SUM AVG COUNT MIN FIRST_VALUE LAST_VALUE", strings.SplitN(form, "(", 2)[0]) {
				frame = part(m.pick("", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING"))
			}
		} else {
			over = list(" ORDER BY ", ", ", 0)
			if m.IntN(4) > 0 {
				over.Kids, over.Min = append(over.Kids, part("%0"+desc(), m.expression('a', m.IntN(2)))), 1
				form = m.pick("RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "")
			}
			form = cmp.Or(form, m.pick("SUM(%i)", "SUM(%n)", "COUNT(*)", "COUNT(%a)", "AVG(%i)", "MIN(%n)", "MAX(%s)", "MAX(%d)"))
			if strings.Contains(form, "%") && len(over.Kids) > 0 {
				frame = part(m.pick("", "", " RANGE UNBOUNDED PRECEDING", " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"))
			}
		}
		l.Kids = append(l.Kids, part("%0 OVER (%1%2%3) AS w"+strconv.Itoa(i), m.aggregate([]string{form}, 1), partition, over, frame))
	}
	l.Kids = append(l.Kids, part("id"))
	if m.IntN(5) == 0 {
		k := m.expression('a', m.IntN(2))
		return part("SELECT %0 AS k, SUM(COUNT(*)) OVER (ORDER BY %0"+desc()+") AS w, COUNT(*) AS n FROM "+m.table()+" GROUP BY k", k)
	}
	return m.selects("", l, part(" FROM "+m.table()), m.where(m.IntN(2)))
}

func (m *maker) subquery() *Node {
	m.scope = []string{"q."}
	inner := m.aggregate([]string{"COUNT(*)", "MAX(%n)", "MIN(%s)", "SUM(%i)", "MAX(%d)", "COUNT(%a)", "AVG(%i)"}, 1)
	table := m.table()
	where := list(" WHERE ", " AND ", 0)
	if m.IntN(3) > 0 { // correlated
		k := m.pick("ii", "ss", "nn", "dd", "in")
		l := m.column(k[0])
		m.scope = []string{"p."}
		where.Kids = append(where.Kids, part("%0 "+m.pick("=", "=", "<")+" %1", l, m.column(k[1])))
	}
	if m.IntN(2) == 0 {
		m.scope = []string{"q."}
		where.Kids = append(where.Kids, part("(%0)", m.expression('b', 1)))
	}
	sub := part("(SELECT %0 FROM "+table+" q%1)", inner, where)
	m.scope = []string{"p."}
	from := part(" FROM " + m.table() + " p")
	switch m.IntN(3) {
	case 0:
		return m.selects("", list("", ", ", 1, part("p.id"), part("%0 AS u", sub)), from)
	case 1:
		return m.selects("", list("", ", ", 1, part("p.id")), from, list(" WHERE ", " AND ", 0, part("%0 "+m.pick("=", "<", ">=")+" %1", m.expression(m.pick("i", "n")[0], 1), sub)))
	}
	return m.selects("", list("", ", ", 1, part("p.id"), part("%0 + %1 AS u", m.expression('i', 1), sub)), from, m.where(m.IntN(2)))
}
