package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/planner/tree"
)

// Project computes output columns from expressions.
func (s *Writer) Project(r *Relation, exprs []sql.Expression) (*Relation, error) {
	out, in := *r, *r
	out.Columns = make([]Column, len(exprs))
	plain := true
	for i, e := range exprs {
		c := Column{Type: e.Type(s.ctx), Name: e.String()}
		if n, ok := e.(sql.Nameable); ok {
			c.Name = n.Name()
		}
		if id, ok := e.(sql.IdExpression); ok {
			c.ID = id.Id()
		}
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		if done := r.computed(s.ctx, e, c.ID); done != nil {
			done.Name = c.Name
			out.Columns[i] = *done
			continue
		}
		if gf, ok := e.(*expression.GetField); ok {
			if src := r.Find(gf); src != nil {
				c.Expr, c.origin, c.tags, c.Extended, c.Scales, c.Opaque = src.Expr, src.origin, src.tags, src.Extended, src.Scales, src.Opaque
				c.table, c.primary = src.table, src.primary
				out.Columns[i] = c
				continue
			}
		}
		x, err := s.perRow(&in, e, false)
		if err != nil {
			return nil, err
		}
		plain = plain && len(x.SQL) < 16
		if c.Expr, c.origin = x, r.Origin(s.ctx, e); r.Fixed(s.ctx, e) {
			c.tags = []tag{{kind: tagFixed}}
		}
		out.Columns[i] = c
	}
	out.Private, out.Reads, out.links = in.Private, in.Reads, in.links
	if plain {
		return &out, nil
	}
	return s.Derived(&out, "", nil), nil
}

// computed finds the column that an expression with a subquery is already: the binder repeats what
// an alias names.
func (r *Relation) computed(ctx *sql.Context, e sql.Expression, id sql.ColumnId) *Column {
	i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.ID == id })
	if id == 0 || i < 0 || !tree.HasSubquery(ctx, e) {
		return nil
	}
	c := r.Columns[i]
	return &c
}
