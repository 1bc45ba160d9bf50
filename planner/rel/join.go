package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/refuse"
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
