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
	conds := s.ordinaryFirst(tree.Conjuncts(cond))
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

// ordinaryFirst puts conditions with subqueries last: after the equalities that tell whose row it
// is.
func (s *Writer) ordinaryFirst(conds []sql.Expression) []sql.Expression {
	slices.SortStableFunc(conds, func(a, b sql.Expression) int {
		switch x, y := tree.HasSubquery(s.ctx, a), tree.HasSubquery(s.ctx, b); {
		case x && !y:
			return 1
		case y && !x:
			return -1
		}
		return 0
	})
	return conds
}
