package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/accounting/days"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/planner/lower"
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
			if in, ok := c.(*plan.InSubquery); ok && s.inBytes(in) {
				out.knowListed(s.ctx, in.Left(), list)
			}
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
	s.narrow(&out, conds)
	return &out, nil
}

// noteCondition keeps a condition of the rows that is a function of base columns.
func (r *Relation) noteCondition(ctx *sql.Context, cond sql.Expression) {
	if o := r.Computed().Origin(ctx, cond); o != nil && len(tree.Fields(ctx, o)) > 0 {
		r.Known = append(slices.Clone(r.Known), o)
	}
}

// know keeps that each row has a partner among public rows with which conditions over the base
// columns of both hold: what a column of the row can be is what it can be in a join with these.
func (r *Relation) know(public *Relation, conds []sql.Expression) {
	r.Bases = slices.Concat(r.Bases, public.Bases)
	r.Known = slices.Concat(r.Known, public.Known, conds)
}

// knowListed keeps that an expression equals the column of a public row.
func (r *Relation) knowListed(ctx *sql.Context, e sql.Expression, list *Relation) {
	if x, y := r.Origin(ctx, e), list.Columns[0].origin; x != nil && y != nil {
		r.know(list, []sql.Expression{expression.NewEquals(x, y)})
	}
}

// inBytes reports whether IN compares by bytes, or values that are no texts.
func (s *Writer) inBytes(in *plan.InSubquery) bool {
	by, err := standard.InCollation(s.ctx, in.Left(), in.RightChild.(*plan.Subquery), 0)
	return err == nil && collation.ByBytes(by)
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

// narrow keeps to the periods that conditions on the day of a unit leave, and says so in the
// relation, of the unit of the very table that the day is of: it needs no join of a link. The
// conditions hold of all rows. The units and conditions of r are its own.
func (s *Writer) narrow(r *Relation, conds []sql.Expression) {
	for i := range r.units {
		u := &r.units[i]
		if u.every == "" {
			continue
		}
		d := calendar{ctx: s.ctx, Span: days.Span{First: days.Earliest, Last: days.Latest}}
		d.is = func(e sql.Expression) bool {
			gf, ok := e.(*expression.GetField)
			if !ok {
				return false
			}
			c := r.Find(gf)
			return c != nil && !c.Extended && slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagDay && t.unit == i })
		}
		for _, c := range conds {
			d.take(c)
		}
		on := periodsOf(u.every, d.stretch())
		if (&on).Whole() == nil || (&on).Check() != nil {
			continue
		}
		if on.First != days.Earliest {
			from, _ := periodFrom(u.expr, u.every, on.First)
			r.where = append(r.where, from)
		}
		if on.Last != days.Latest {
			_, before := periodFrom(u.expr, u.every, on.Last+1)
			r.where = append(r.where, before)
		}
		u.blocks = narrower(u.blocks, on)
	}
}

// listed translates x [NOT] IN (SELECT y FROM public tables): whether a row meets it is a function
// of that row and of public data, as with a join, and it makes no row of another. ok is false for
// other conditions.
func (s *Writer) listed(r *Relation, cond sql.Expression) (sqlText string, reads *Relation, ok bool, err error) {
	not, negated := cond.(*expression.Not)
	if negated {
		cond = not.Child
	}
	in, is := cond.(*plan.InSubquery)
	if !is {
		return "", nil, false, nil
	}
	q, is := in.Right().(*plan.Subquery)
	if !is || !q.Correlated().Empty() || s.HasProtected(q.Query) {
		return "", nil, false, nil
	}
	n := q.Query
	if d, is := n.(*plan.Distinct); is {
		n = d.Child
	}
	list, err := s.Public(n)
	if err != nil || len(list.Columns) != 1 {
		return "", nil, false, nil
	}
	x, err := s.Lower(in.Left(), r.Resolve)
	if err != nil {
		return "", nil, false, err
	}
	by, err := standard.InCollation(s.ctx, in.Left(), q, 0)
	if err != nil {
		return "", nil, false, err
	}
	x, y, ok := lower.Alike(lower.By(x, by, collation.ForKey), lower.By(list.Columns[0].Expr, by, collation.ForKey))
	if !ok {
		return "", nil, false, nil
	}
	word := " IN "
	if negated {
		word = " NOT IN "
	}
	return "(" + x.SQL + word + "(SELECT " + y.SQL + s.Clause(list) + "))", list, true, nil
}
