package rel

import (
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Join combines two relations. The rows of the result belong to:
//
//	private × public (inner, cross, left)   the units of the private row
//	public LEFT JOIN private                the units of the private row, nobody where it is missing
//	private × private                       the common unit, where an equality of the units is seen,
//	                                        in ON or in a WHERE above; else the units of both rows
//	private LEFT JOIN private               the unit of the left row; the equality must be in ON
func (s *Writer) Join(l, r *Relation, j *plan.JoinNode) (*Relation, error) {
	left := false
	switch j.Op {
	case plan.JoinTypeCross, plan.JoinTypeInner:
	case plan.JoinTypeLeftOuter:
		left = true
	case plan.JoinTypeRightOuter:
		left = true
		l, r = r, l
	default:
		return nil, rule.Deny(rule.JoinKind, refuse.Shape, "Use INNER, LEFT or CROSS JOIN.",
			"A %s over a protected table is not supported.", j.Op)
	}
	across := left && l.IsPrivate() && r.IsPrivate()
	if across {
		if l.Shared() || r.Shared() || l.Entity != r.Entity {
			return nil, outerJoin(l, r)
		}
	}
	if left {
		// An expression over the null-extended side must be NULL where no row matches.
		r = s.Derived(r, "", nil)
	}
	out := concat(l, r)
	out.joined = true
	if out.Known = l.Known; !left {
		out.Known = append(slices.Clone(l.Known), r.Known...)
	}
	kind := " CROSS JOIN "
	var on []string
	translate := func(c sql.Expression) (lower.Expr, error) { return s.perRow(out, c, true) }
	if left { // the store has no such condition there
		translate = func(c sql.Expression) (lower.Expr, error) { return s.predicate(c, out.Resolve) }
	}
	for _, c := range s.ordinaryFirst(tree.Conjuncts(j.Filter)) {
		p, err := translate(c)
		if err != nil {
			return nil, err
		}
		on = append(on, p.SQL)
		if across || !left { // ON of an outer join holds of no row of the left side
			out.link(c, !left)
		}
		if !left {
			out.noteCondition(s.ctx, c)
		}
	}
	if !left {
		out.fix(tree.Conjuncts(j.Filter))
		s.narrow(out, tree.Conjuncts(j.Filter))
	}
	switch {
	case left:
		kind = " LEFT JOIN "
		if len(on) == 0 {
			on = []string{"TRUE"}
		}
	case len(on) > 0:
		kind = " JOIN "
	}
	out.from = l.from + kind + parenthesised(r)
	if len(on) > 0 {
		out.from += " ON " + and(s.ordered(on))
	}
	if across && out.pending() {
		return nil, outerJoin(l, r)
	}
	if left {
		s.nullExtend(out, len(l.Columns), len(l.Bases), len(l.units))
	}
	return out, nil
}

// outerJoin refuses an outer join of rows of different persons: where a row has no partner depends
// on all other persons.
func outerJoin(l, r *Relation) error {
	return rule.Deny(rule.JoinUnit, refuse.Shape, l.oneUnit("Add an equality of the unit columns to the join, for example ON a.unit = b.unit; or use an inner join."),
		"The outer join of %s and %s is not on their unit: whether a row has a partner would depend on other persons.", l.Private[0].Name, r.Private[0].Name)
}

// concat lines up the columns, units and conditions of two relations.
func concat(l, r *Relation) *Relation {
	out := &Relation{
		where:   append(append([]string(nil), l.where...), r.where...),
		Bases:   append(append([]Base(nil), l.Bases...), r.Bases...),
		units:   append([]unit(nil), l.units...),
		Entity:  l.Entity,
		rowUnit: l.rowUnit,
		Private: append(append([]Protected(nil), l.Private...), r.Private...),
		Reads:   append(l.Reads[:len(l.Reads):len(l.Reads)], r.Reads...),
		Columns: append([]Column(nil), l.Columns...),
		links:   append([]linkJoin(nil), l.links...),
		spared:  append(append([]linkJoin(nil), l.spared...), r.spared...),
	}
	if !l.IsPrivate() {
		out.Entity, out.rowUnit = r.Entity, r.rowUnit
	}
	shift := len(l.units)
	for _, j := range r.links {
		j.unit += shift
		out.links = append(out.links, j)
	}
	for _, u := range r.units {
		u.merged += shift
		out.units = append(out.units, u)
	}
	for _, c := range r.Columns {
		tags := make([]tag, len(c.tags))
		for i, t := range c.tags {
			t.unit += shift
			tags[i] = t
		}
		c.tags = tags
		out.Columns = append(out.Columns, c)
	}
	return out
}

// nullExtend marks the columns and the units of the null-extended side as nullable.
func (s *Writer) nullExtend(r *Relation, columns, bases, units int) {
	for i := units; i < len(r.units); i++ {
		r.units[i].present, r.units[i].blocks = false, nil
	}
	for i := columns; i < len(r.Columns); i++ {
		r.Columns[i].Expr.Nullable, r.Columns[i].Extended = true, true
		if _, plain := r.Columns[i].origin.(*expression.GetField); !plain {
			r.Columns[i].origin = nil // an expression may have a value where its columns are NULL
		}
	}
	for i := bases; i < len(r.Bases); i++ {
		r.Bases[i].Expr.Nullable, r.Bases[i].Extended = true, true
	}
}

// parenthesised returns the FROM item of the right side of a join, which may be a join itself.
func parenthesised(r *Relation) string {
	if r.joined {
		return "(" + r.from + ")"
	}
	return r.from
}

func and(conds []string) string {
	s := conds[0]
	for _, c := range conds[1:] {
		s += " AND " + c
	}
	return s
}

// linkJoin is a part of a FROM item that leads from the rows of a linked table to their unit.
type linkJoin struct {
	own  string // the table, "child AS t1"
	text string // what follows it, " JOIN parent AS t2 ON …"
	unit int
}

// spare leaves out the joins that lead from a linked table to its unit where its parent is joined
// as well:
//
//	lineitem AS t1 JOIN orders AS t2 ON t1.order_id = t2.id … orders AS t3 … WHERE t1.order_id = t3.id
//
// x is the link's column and y the key that it refers to, and they are equal on all rows. The key
// is unique, so that the row of t2 is there and is that of t3, and so is its unit. So it is within
// a subquery where the parent, or another row that refers to it, is of the rows around it.
func (r *Relation) spare(child, parent *Column, x, y tag) {
	at := slices.IndexFunc(r.links, func(j linkJoin) bool { return j.unit == x.unit })
	around := x.unit >= r.outside && y.unit < r.outside
	if at < 0 || x.kind != tagLink || y.kind != tagSelf && !around || x.unit == y.unit || child.Extended || parent.Extended {
		return
	}
	r.spared = append(slices.Clone(r.spared), r.links[at])
	r.links = slices.Delete(slices.Clone(r.links), at, at+1)
	old := r.units[x.unit].expr.SQL
	for i := range r.units {
		if r.units[i].expr.SQL == old {
			r.units[i].expr, r.units[i].present = r.units[y.unit].expr, r.units[y.unit].present
		}
	}
}

// Union puts the rows of two private relations of one entity under each other. Both come with the
// same number of columns; a column keeps a public domain when both have one.
func (s *Writer) Union(l, r *Relation, n *plan.SetOp) (*Relation, error) {
	switch {
	case n.SetOpType != plan.UnionType || n.Distinct:
		return nil, rule.Deny(rule.UnionDistinct, refuse.Shape, "Use UNION ALL.",
			"UNION DISTINCT, INTERSECT and EXCEPT compare rows of different persons.")
	case n.Limit != nil || n.Offset != nil:
		return nil, rule.Deny(rule.Limit, refuse.Shape, "Put LIMIT outside the aggregate, on the answer.",
			"LIMIT below an aggregate depends on the rows of other persons.")
	case !l.IsPrivate() || !r.IsPrivate():
		return nil, rule.Deny(rule.UnionPublic, refuse.Shape, "Aggregate the protected and the public part apart.",
			"UNION ALL of a protected and a public table has rows without a unit.")
	case l.Entity != r.Entity:
		return nil, rule.Deny(rule.UnionEntity, refuse.Shape, "Aggregate each table apart.",
			"The protected tables %s and %s have different entities.", l.Private[0].Name, r.Private[0].Name)
	case l.rowUnit != r.rowUnit:
		return nil, rule.Deny(rule.UnionRow, refuse.Shape, "Aggregate each table apart.",
			"UNION ALL of tables whose unit is the row can only be of one table.")
	}
	if err := lists.Each([]*Relation{l, r}, (*Relation).Single); err != nil {
		return nil, err
	}
	l, r = s.Derived(l, "", nil), s.Derived(r, "", nil)
	alias := s.Alias()
	out := &Relation{
		Entity: l.Entity, rowUnit: l.rowUnit,
		Private: append(append([]Protected(nil), l.Private...), r.Private...),
		Reads:   append(l.Reads[:len(l.Reads):len(l.Reads)], r.Reads...),
	}
	lu, ru := l.units[0].expr, r.units[0].expr
	if lu.Type.Kind != ru.Type.Kind || l.units[0].by != r.units[0].by || l.units[0].named != r.units[0].named || len(l.Columns) != len(r.Columns) {
		return nil, unionTypes("the unit")
	}
	left, right := []string{lu.SQL + " AS u"}, []string{ru.SQL + " AS u"}
	out.units = []unit{{expr: lower.Expr{SQL: alias + ".u", Type: lu.Type}, entity: l.Entity, by: l.units[0].by}}
	if a, b := l.units[0], r.units[0]; a.every == b.every {
		out.units[0].every, out.units[0].blocks, out.units[0].named = a.every, Hull(a.blocks, b.blocks), a.named
	}
	add := func(name string, a, b lower.Expr) (lower.Expr, bool) {
		t := a.Type
		switch {
		case a.Type == b.Type || b.Type.Kind == lower.Null:
		case a.Type.Kind == lower.Null:
			t = b.Type
		case a.Type.Kind == lower.Decimal && b.Type.Kind == lower.Decimal:
			t.Scale = max(a.Type.Scale, b.Type.Scale)
			t.Precision = min(38, t.Scale+max(a.Type.Precision-a.Type.Scale, b.Type.Precision-b.Type.Scale))
		default:
			return lower.Expr{}, false
		}
		left = append(left, a.SQL+" AS "+name)
		right = append(right, b.SQL+" AS "+name)
		return lower.Expr{SQL: alias + "." + name, Type: t, Nullable: a.Nullable || b.Nullable}, true
	}
	for i, c := range l.Columns {
		d := r.Columns[i]
		e, ok := add("c"+strconv.Itoa(i), c.Expr, d.Expr)
		if !ok {
			return nil, unionTypes("the column " + c.Name)
		}
		o := Column{ID: c.ID, Name: c.Name, Type: c.Type, Expr: e, tags: commonTags(c.tags, d.tags), Extended: c.Extended || d.Extended}
		if a, b := l.PlainBase(c), r.PlainBase(d); a != nil && b != nil && a.Expr.Type == b.Expr.Type {
			m := Base{ID: s.NewID(), Name: c.Name, Type: a.Type, Expr: e, Required: a.Required && b.Required, Extended: a.Extended || b.Extended}
			if len(a.Domains) > 0 && len(b.Domains) > 0 {
				m.Domains = slices.Concat(a.Domains, b.Domains)
			}
			out.Bases = append(out.Bases, m)
			o.origin = expression.NewGetFieldWithTable(int(m.ID), 0, m.Type, "", "", m.Name, true)
		}
		out.Columns = append(out.Columns, o)
	}
	out.from = "(SELECT " + sqltext.List(left) + s.Clause(l) + " UNION ALL SELECT " + sqltext.List(right) + s.Clause(r) + ") AS " + alias
	return out, nil
}

func unionTypes(what string) error {
	return rule.Deny(rule.UnionTypes, refuse.Shape, "CAST both to one type.",
		"The branches of UNION ALL have different types for %s.", what)
}

// PlainBase returns the base column that the column is, unchanged.
func (r *Relation) PlainBase(c Column) *Base {
	gf, ok := c.origin.(*expression.GetField)
	if !ok {
		return nil
	}
	return r.BaseByID(gf.Id())
}

// commonTags keeps what both branches of a union say of a column.
func commonTags(a, b []tag) []tag {
	var out []tag
	for _, t := range a {
		for _, u := range b {
			if t.kind == u.kind && t.key == u.key && t.by == u.by && t.kind != tagSelf && t.kind != tagFixed {
				out = append(out, tag{t.kind, t.key, 0, t.by})
			}
		}
	}
	return out
}

// PublicUnion puts the rows of two public relations under each other, each row once where distinct
// says so. ok is false where columns have other types on the other side.
func (s *Writer) PublicUnion(l, r *Relation, distinct bool) (out *Relation, ok bool) {
	if len(l.Columns) != len(r.Columns) {
		return nil, false
	}
	alias, word := s.Alias(), " UNION ALL SELECT "
	if distinct {
		word = " UNION SELECT "
	}
	out = &Relation{Reads: append(l.Reads[:len(l.Reads):len(l.Reads)], r.Reads...)}
	var left, right []string
	for i, c := range l.Columns {
		a, b := c.Expr, r.Columns[i].Expr
		if a.Type != b.Type || c.Opaque || r.Columns[i].Opaque {
			return nil, false
		}
		name := "c" + strconv.Itoa(i)
		left, right = append(left, a.SQL+" AS "+name), append(right, b.SQL+" AS "+name)
		e := lower.Expr{SQL: alias + "." + name, Type: a.Type, Nullable: a.Nullable || b.Nullable}
		out.Columns = append(out.Columns, Column{ID: c.ID, Name: c.Name, Type: c.Type, Expr: e})
	}
	out.from = "(SELECT " + sqltext.List(left) + s.Clause(l) + word + sqltext.List(right) + s.Clause(r) + ") AS " + alias
	return out, true
}
