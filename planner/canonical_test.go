package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"scrim/catalog"
)

// invented is a random query on orders, perhaps joined with customers, regions and stores.
type invented struct {
	aggregates []term // of the SELECT list
	keys       []string
	joins      []string // of the tables below
	where      *term
}

// term is an expression: an operator with operands, a column or a constant.
type term struct {
	op   string
	text string // of columns and constants
	kids []term
}

// joinable are the tables that orders may be joined with, by their conditions.
var joinable = map[string]string{"customers": "orders.customer_id = customers.id", "regions": "regions.name = orders.region", "stores": "stores.id = orders.store_id"}

func asColumn(name string) term { return term{op: "column", text: name} }

func asConstant(text string) term { return term{op: "constant", text: text} }

// inventor makes random queries.
type inventor struct{ *rand.Rand }

func (r inventor) number(depth int) term {
	if depth <= 0 || r.IntN(3) == 0 {
		return asColumn([]string{"orders.amount", "orders.qty", "orders.score", "orders.big"}[r.IntN(4)])
	}
	if r.IntN(4) == 0 {
		return asConstant(fmt.Sprint(1 + r.IntN(50)))
	}
	return term{op: []string{"+", "*", "-"}[r.IntN(3)], kids: []term{r.number(depth - 1), r.number(depth - 1)}}
}

func (r inventor) condition(depth int) term {
	if depth > 0 && r.IntN(2) == 0 {
		t := term{op: []string{"AND", "OR"}[r.IntN(2)]}
		for range 2 + r.IntN(3) {
			t.kids = append(t.kids, r.condition(depth-1))
		}
		return t
	}
	switch r.IntN(6) {
	case 0:
		t := term{op: "IN", kids: []term{asColumn("orders.qty")}}
		for range 1 + r.IntN(4) {
			t.kids = append(t.kids, asConstant(fmt.Sprint(r.IntN(30))))
		}
		return t
	case 1:
		return term{op: "=", kids: []term{asColumn("orders.status"), asConstant(fmt.Sprintf("'%c%d'", 'a'+rune(r.IntN(3)), r.IntN(9)))}}
	case 2:
		return term{op: "NOT", kids: []term{r.condition(depth - 1)}}
	case 3:
		return term{op: "<", kids: []term{asColumn("orders.amount"), asConstant(fmt.Sprintf("%d.%d", r.IntN(90), 1+r.IntN(9)))}}
	}
	return term{op: []string{"=", "<", "<="}[r.IntN(3)], kids: []term{asColumn("orders.qty"), r.number(1)}}
}

func (r inventor) query() invented {
	var q invented
	for range 1 + r.IntN(3) {
		f := []string{"COUNT", "SUM", "AVG", "DP_MEAN", "DP_MEDIAN"}[r.IntN(5)]
		a := term{op: f}
		if f != "COUNT" {
			a.kids = []term{r.number(1)}
		}
		// The binder takes the same column twice for a reference to the other.
		if same := func(b term) bool { return b.meant() == a.meant() }; !slices.ContainsFunc(q.aggregates, same) {
			q.aggregates = append(q.aggregates, a)
		}
	}
	for _, name := range []string{"customers", "regions", "stores"} {
		if r.IntN(4) == 0 {
			q.joins = append(q.joins, name)
		}
	}
	if r.IntN(3) == 0 {
		q.keys = []string{"orders.region"}
	}
	if r.IntN(4) > 0 {
		w := r.condition(2)
		q.where = &w
	}
	return q
}

// meant is one text for all queries that mean what q means, and no others, as far as the rewritings
// below go.
func (q invented) meant() string {
	var aggs []string
	for _, a := range q.aggregates {
		aggs = append(aggs, a.meant())
	}
	sort.Strings(aggs)
	joins := slices.Sorted(slices.Values(q.joins))
	where := ""
	if q.where != nil {
		where = q.where.meant()
	}
	return fmt.Sprint(slices.Compact(aggs), q.keys, joins, where)
}

func (t term) meant() string {
	var kids []string
	for _, k := range t.kids {
		if k.op == t.op && (t.op == "AND" || t.op == "OR") {
			for _, kk := range k.kids {
				kids = append(kids, kk.meant())
			}
			continue
		}
		kids = append(kids, k.meant())
	}
	switch t.op {
	case "column", "constant":
		return t.text
	case "AND", "OR", "+", "*", "=":
		sort.Strings(kids)
	case "IN":
		sort.Strings(kids[1:])
		kids = append(kids[:1], slices.Compact(kids[1:])...)
	}
	return t.op + "(" + strings.Join(kids, ",") + ")"
}

// scribe writes a query in one of its spellings.
type scribe struct {
	inventor
	alias map[string]string // of tables
	cases bool
}

func (r inventor) scribe() *scribe {
	s := &scribe{inventor: r, alias: map[string]string{}, cases: r.IntN(2) == 0}
	for i, t := range []string{"orders", "customers", "regions", "stores"} {
		s.alias[t] = t
		if r.IntN(2) == 0 {
			s.alias[t] = fmt.Sprintf("%c%d", 'p'+rune(r.IntN(8)), i)
		}
	}
	return s
}

func (s *scribe) space() string { return []string{" ", "  ", "\n", " /* note */ ", "\t"}[s.IntN(5)] }

func (s *scribe) word(w string) string {
	if s.cases {
		return strings.ToLower(w)
	}
	return w
}

func (s *scribe) term(t term) string {
	sp := s.space()
	switch t.op {
	case "column":
		table, name, _ := strings.Cut(t.text, ".")
		if s.cases {
			name = strings.ToUpper(name)
		}
		return s.alias[table] + "." + name
	case "constant":
		if strings.HasPrefix(t.text, "'") && s.IntN(3) == 0 {
			return "_utf8mb4" + t.text
		}
		return t.text
	case "AND", "OR":
		var kids []string
		for _, k := range t.kids {
			kids = append(kids, "("+s.term(k)+")")
		}
		s.Shuffle(len(kids), func(i, j int) { kids[i], kids[j] = kids[j], kids[i] })
		for len(kids) > 1 { // grouped in any way
			i := s.IntN(len(kids) - 1)
			kids = slices.Replace(kids, i, i+2, "("+kids[i]+sp+s.word(t.op)+sp+kids[i+1]+")")
		}
		return kids[0]
	case "NOT":
		return s.word("NOT") + sp + "(" + s.term(t.kids[0]) + ")"
	case "IN":
		var list []string
		for _, k := range t.kids[1:] {
			list = append(list, s.term(k))
		}
		s.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if s.IntN(2) == 0 {
			list = append(list, list[0])
		}
		return s.term(t.kids[0]) + sp + s.word("IN") + sp + "(" + strings.Join(list, ","+sp) + ")"
	}
	l, r := s.side(t.op, t.kids[0]), s.side(t.op, t.kids[1])
	op := t.op
	if s.IntN(2) == 0 && op != "-" {
		l, r = r, l
		op = map[string]string{"<": ">", "<=": ">=", "=": "=", "+": "+", "*": "*"}[op]
	}
	return l + sp + op + sp + r
}

// side writes an operand; a decimal that is compared may have more zeros.
func (s *scribe) side(op string, t term) string {
	if t.op == "constant" && strings.Contains(t.text, ".") && strings.ContainsAny(op, "<=") {
		return t.text + strings.Repeat("0", s.IntN(3))
	}
	if len(t.kids) > 0 {
		return "(" + s.term(t) + ")"
	}
	return s.term(t)
}

func (s *scribe) query(q invented) string {
	var list []string
	for i, a := range q.aggregates {
		text := s.word("COUNT") + []string{"(*)", "(1)", "( * )"}[s.IntN(3)]
		if len(a.kids) > 0 {
			text = s.word(a.op) + "(" + s.term(a.kids[0]) + ")"
		}
		if s.IntN(2) == 0 {
			text += fmt.Sprintf(" AS x%d", s.IntN(9)*10+i)
		}
		list = append(list, text)
	}
	for _, k := range q.keys {
		list = append(list, s.term(asColumn(k)))
	}
	s.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	out := s.word("SELECT") + s.space() + strings.Join(list, ","+s.space()) + s.space() + s.word("FROM") + " " + s.from(q)
	if q.where != nil {
		out += s.space() + s.word("WHERE") + s.space() + s.term(*q.where)
	}
	if len(q.keys) > 0 {
		out += s.space() + s.word("GROUP BY") + " " + s.term(asColumn(q.keys[0]))
	}
	return out
}

// from joins the tables in any order; orders stands before what its conditions name.
func (s *scribe) from(q invented) string {
	tables := append([]string{"orders"}, q.joins...)
	s.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	at := slices.Index(tables, "orders")
	out := s.table(tables[0])
	for i, t := range tables[1:] {
		out += " " + s.word("JOIN") + " " + s.table(t)
		var on []string
		for j, x := range tables[:i+2] {
			if c := joinable[x]; c != "" && (x == t && at <= i || t == "orders" && j <= i) {
				l, r, _ := strings.Cut(c, " = ")
				on = append(on, s.term(term{op: "=", kids: []term{asColumn(l), asColumn(r)}}))
			}
		}
		if s.Shuffle(len(on), func(i, j int) { on[i], on[j] = on[j], on[i] }); len(on) > 0 {
			out += " ON " + strings.Join(on, " AND ")
		}
	}
	return out
}

func (s *scribe) table(t string) string {
	name := t
	if s.IntN(2) == 0 {
		name = "shop." + t
	}
	if a := s.alias[t]; a != t {
		return name + []string{" ", " AS "}[s.IntN(2)] + a
	}
	return name
}

func (h *harness) keys(q string) string {
	h.t.Helper()
	s, _, err := h.plan(q)
	if err != nil || s == nil {
		h.t.Fatalf("%s: %v", q, err)
	}
	var keys []string
	for _, r := range s.Releases {
		keys = append(keys, r.Key)
	}
	return strings.Join(keys, " ")
}

// TestSpellingsHaveOneKey: rewritings of a random query that keep its meaning have its key, and
// queries of different meaning never share one.
func TestSpellingsHaveOneKey(t *testing.T) {
	h := newHarness(t)
	if out := h.fixture("shop"); out != "ok" {
		t.Fatal(out)
	}
	r := inventor{rand.New(rand.NewPCG(21, 22))}
	meaning := map[string]string{}
	n := 150
	if testing.Short() {
		n = 40
	}
	for range n {
		q := r.query()
		first := r.scribe().query(q)
		key := h.keys(first)
		if other, ok := meaning[key]; ok && other != q.meant() {
			t.Fatalf("one key for\n%s\n%s", other, q.meant())
		}
		meaning[key] = q.meant()
		for range 4 {
			if again := r.scribe().query(q); h.keys(again) != key {
				a, _, _ := h.plan(first)
				b, _, _ := h.plan(again)
				t.Fatalf("two keys for\n%s\n%s\n%s\n%s", first, again, scanText(a.Releases[0].Scans[0]), scanText(b.Releases[0].Scans[0]))
			}
		}
	}
	if len(meaning) < n*9/10 {
		t.Errorf("only %d different queries of %d", len(meaning), n)
	}
}

// TestMutationsHaveOtherKeys: a changed constant, column, operator, function, key or table of a
// random query changes its key.
func TestMutationsHaveOtherKeys(t *testing.T) {
	h := newHarness(t)
	if out := h.fixture("shop"); out != "ok" {
		t.Fatal(out)
	}
	r := inventor{rand.New(rand.NewPCG(31, 32))}
	changed := 0
	for range 60 {
		q := r.query()
		m := r.mutated(q)
		if m.meant() == q.meant() {
			continue
		}
		changed++
		a, b := r.scribe().query(q), r.scribe().query(m)
		if h.keys(a) == h.keys(b) {
			t.Errorf("one key for\n%s\n%s", a, b)
		}
	}
	if changed < 30 {
		t.Errorf("only %d mutations", changed)
	}
}

// mutated changes one thing.
func (r inventor) mutated(q invented) invented {
	m := q
	m.aggregates = slices.Clone(q.aggregates)
	switch {
	case q.where != nil && r.IntN(3) > 0:
		w := r.changed(*q.where)
		m.where = &w
	case r.IntN(3) == 0:
		m.keys = map[bool][]string{true: nil, false: {"orders.region"}}[len(q.keys) > 0]
	default:
		i := r.IntN(len(m.aggregates))
		if a := m.aggregates[i]; len(a.kids) > 0 && r.IntN(2) == 0 {
			m.aggregates[i] = term{op: a.op, kids: []term{r.changed(a.kids[0])}}
		} else {
			m.aggregates[i] = term{op: "SUM", kids: []term{asColumn("orders.ubig")}}
		}
	}
	return m
}

func (r inventor) changed(t term) term {
	if len(t.kids) > 0 && r.IntN(4) > 0 {
		i := r.IntN(len(t.kids))
		t.kids = slices.Clone(t.kids)
		t.kids[i] = r.changed(t.kids[i])
		return t
	}
	switch t.op {
	case "constant":
		if strings.HasPrefix(t.text, "'") {
			return asConstant("'zz'")
		}
		return asConstant(t.text + "1")
	case "column":
		if strings.HasSuffix(t.text, "status") {
			return asColumn("orders.note")
		}
		return asColumn("orders.ubig")
	}
	if to, ok := map[string]string{"AND": "OR", "OR": "AND", "+": "-", "-": "*", "*": "+", "<": "<=", "<=": "<", "=": "<"}[t.op]; ok {
		t.op = to
	}
	return t
}

// TestParametersAndPoliciesChangeTheKey: whatever decides an answer besides the query's text is
// part of its key, and what does not is not.
func TestParametersAndPoliciesChangeTheKey(t *testing.T) {
	const q = "SELECT region, COUNT(*), AVG(qty) FROM orders WHERE amount > 3 GROUP BY region"
	for _, c := range []struct {
		change string
		same   bool
	}{
		{"set dp_epsilon 0.3", false},
		{"set dp_delta 1e-9", false},
		{"set dp_rho 0.01", false},
		{"set dp_group_by separate", false},
		{"set dp_max_groups_contributed 2", true}, // one vector of all groups is not divided
		{"set dp_group_by vector", true},          // which is how it was answered before
		{`defaults shop.orders {"dp_epsilon": 0.7}`, false},
		{`defaults shop.orders {"min_group_units": 9}`, false},
		{`defaults shop.orders {"max_rows_per_unit": 9}`, false},
		{`domain shop.orders qty {"min": 0, "max": 101}`, false},
		{`domain shop.orders region ["north", "south"]`, false},
		{`domain shop.orders region ["south", "north", "east"]`, false},
		{`domain shop.orders big {"min": 0, "max": 9}`, false},
		{"entity shop.orders somebody", false},
		{"protect shop.orders store_id customer", false},
		{"neighbours shop.orders", false},
		{"neighbours shop.orders sized", false},
		{"pure account:shop.orders on", false},
		{`defaults shop.orders {"dp_share_replays": true}`, true},
		{`defaults shop.people {"dp_epsilon": 0.7}`, true},
		{`domain shop.people age {"min": 0, "max": 9}`, true},
	} {
		h := newHarness(t)
		if out := h.fixture("shop"); out != "ok" {
			t.Fatal(out)
		}
		before := h.keys(q)
		if h.keys(q) != before {
			t.Fatal("the key of one query changes")
		}
		if err := h.policy(c.change); err != nil {
			t.Fatal(err)
		}
		if same := h.keys(q) == before; same != c.same {
			t.Errorf("%s: the key stays: %v, want %v", c.change, same, c.same)
		}
	}
}

// TestSharedReleases: all protected tables of a release must share.
func TestSharedReleases(t *testing.T) {
	h := newHarness(t)
	if out := h.fixture("shop"); out != "ok" {
		t.Fatal(out)
	}
	shares := func(q string) bool {
		s, _, err := h.plan(q)
		if err != nil {
			t.Fatal(err)
		}
		return s.Releases[0].Shared
	}
	share := func(name string) {
		p := h.policies[name]
		p.Defaults = catalog.Defaults{ShareReplays: true}
		h.policies[name] = p
	}
	const one, both = "SELECT COUNT(*) FROM orders", "SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
	if shares(one) || shares(both) {
		t.Error("shared although no table says so")
	}
	share("shop.orders")
	if !shares(one) || shares(both) {
		t.Error("one of two tables shares")
	}
	share("shop.customers")
	if !shares(both) {
		t.Error("both tables share")
	}
	if !shares("SELECT COUNT(*) FROM orders o JOIN regions r ON r.name = o.region") {
		t.Error("a public table has nothing to say")
	}
	if shares("SELECT COUNT(*) FROM lineitem") {
		t.Error("a linked table's own policy does not share")
	}
}
