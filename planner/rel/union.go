package rel

import (
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rule"
)

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
