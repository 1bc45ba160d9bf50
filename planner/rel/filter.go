package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/tree"
)

// Filter adds a condition: a per-row function, so it changes nothing about the units, except that
// an equality of units in it joins them.
func (s *Writer) Filter(r *Relation, cond sql.Expression) (*Relation, error) {
	out := *r
	out.units = append([]unit(nil), r.units...)
	out.where = append([]string(nil), r.where...)
	conds := tree.Conjuncts(cond)
	// What subqueries decide comes after the equalities that tell whose row it is.
	slices.SortStableFunc(conds, func(a, b sql.Expression) int { return s.deciding(a) - s.deciding(b) })
	for _, c := range conds {
		if text, list, ok, err := s.listed(&out, c); err != nil {
			return nil, err
		} else if ok {
			out.where = append(out.where, text)
			out.Reads = append(out.Reads[:len(out.Reads):len(out.Reads)], list.Reads...)
			continue
		}
		p, err := s.perRow(&out, c, true)
		if err != nil {
			return nil, err
		}
		out.where = append(out.where, p.SQL)
		out.link(c, true)
		out.noteCondition(s.ctx, c)
	}
	out.fix(conds)
	return &out, nil
}

// noteCondition keeps a condition of the rows that is a function of base columns.
func (r *Relation) noteCondition(ctx *sql.Context, cond sql.Expression) {
	if o := r.Origin(ctx, cond); o != nil && len(tree.Fields(ctx, o)) > 0 {
		r.Known = append(slices.Clone(r.Known), o)
	}
}

// deciding is 1 for a condition with a subquery, and 0 for another.
func (s *Writer) deciding(cond sql.Expression) int {
	if tree.HasSubquery(s.ctx, cond) {
		return 1
	}
	return 0
}
