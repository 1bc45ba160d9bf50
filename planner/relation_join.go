package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/refuse"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// join combines two relations. At most one of them is public, or both are private and of one
// entity. The rows of the result belong to:
//
//	private × public (inner, cross, left)   the unit of the private row
//	public LEFT JOIN private                the unit of the private row, nobody where it is missing
//	private × private                       the common unit; until an equality of the units is seen,
//	                                        in ON or in a WHERE directly above, the join is pending
//	private LEFT JOIN private               the unit of the left row; the equality must be in ON
func (s *writer) join(l, r *relation, j *plan.JoinNode) (*relation, error) {
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
	if l.isPrivate() && r.isPrivate() && l.entity != r.entity {
		return nil, rule.Deny(rule.JoinEntity, refuse.Shape, "Join protected tables of one entity, on the unit.",
			"The protected tables %s and %s have different entities.", l.private[0].name, r.private[0].name)
	}
	if left {
		// An expression over the null-extended side must be NULL where no row matches.
		var err error
		if r, err = s.nest(r); err != nil {
			return nil, err
		}
		if err := l.single(); err != nil {
			return nil, err
		}
	}
	out := concat(l, r)
	out.joined = true
	if out.known = l.known; !left {
		out.known = append(slices.Clone(l.known), r.known...)
	}
	kind := " CROSS JOIN "
	var on []string
	for _, c := range tree.Conjuncts(j.Filter) {
		p, err := s.predicate(c, out.resolve)
		if err != nil {
			return nil, err
		}
		on = append(on, p.SQL)
		out.link(c, !left)
		if !left {
			out.noteCondition(s.ctx, c)
		}
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
	if left && l.isPrivate() && r.isPrivate() {
		if err := out.single(); err != nil {
			return nil, err
		}
	}
	if left {
		s.nullExtend(out, len(l.columns), len(l.bases))
	}
	return out, nil
}

// concat lines up the columns, units and conditions of two relations.
func concat(l, r *relation) *relation {
	out := &relation{
		where:   append(append([]string(nil), l.where...), r.where...),
		bases:   append(append([]base(nil), l.bases...), r.bases...),
		units:   append([]unit(nil), l.units...),
		entity:  l.entity,
		rowUnit: l.rowUnit,
		private: append(append([]protected(nil), l.private...), r.private...),
		reads:   append(l.reads[:len(l.reads):len(l.reads)], r.reads...),
		columns: append([]column(nil), l.columns...),
		links:   append([]linkJoin(nil), l.links...),
		spared:  append(append([]linkJoin(nil), l.spared...), r.spared...),
	}
	if !l.isPrivate() {
		out.entity, out.rowUnit = r.entity, r.rowUnit
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
	for _, c := range r.columns {
		tags := make([]tag, len(c.tags))
		for i, t := range c.tags {
			t.unit += shift
			tags[i] = t
		}
		c.tags = tags
		out.columns = append(out.columns, c)
	}
	return out
}

// nullExtend marks the columns of the null-extended side as nullable.
func (s *writer) nullExtend(r *relation, columns, bases int) {
	for i := columns; i < len(r.columns); i++ {
		r.columns[i].expr.Nullable, r.columns[i].extended = true, true
	}
	for i := bases; i < len(r.bases); i++ {
		r.bases[i].expr.Nullable = true
	}
}

// parenthesised returns the FROM item of the right side of a join, which may be a join itself.
func parenthesised(r *relation) string {
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
