package keys

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/functions/standard"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// facts is what the text of a query says of all rows of a relation: which columns are equal, which
// conditions hold, which columns are not NULL. It follows from the query and from definitions of
// tables alone.
type facts struct {
	f *Finder
	r *rel.Relation
	// of a column of no public table, an equal one that is read in its place
	stand map[sql.ColumnId]*rel.Base
	conds []sql.Expression      // over the columns that are read
	solid map[sql.ColumnId]bool // columns that are not NULL
}

// factsOf collects what is known of a relation.
func (s *Finder) factsOf(r *rel.Relation) *facts {
	k := &facts{f: s, r: r, stand: map[sql.ColumnId]*rel.Base{}, solid: map[sql.ColumnId]bool{}}
	k.equalities()
	for _, c := range r.Known {
		for _, c := range halves(k.read(c)) {
			if e, ok := c.(*expression.Equals); ok && tree.Same(s.ctx, e.Left(), e.Right()) {
				continue
			}
			k.conds = append(k.conds, c)
		}
	}
	for i := range r.Bases {
		b := &r.Bases[i]
		k.solid[b.ID] = k.solid[b.ID] || b.Required && !b.Extended || len(b.Domains) > 0 && b.From == "" && !b.Extended && !nullable(b)
	}
	for _, c := range k.conds {
		ids := tree.Fields(s.ctx, c)
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(id sql.ColumnId) bool { return id != ids[0] }) && !k.holdsOfNull(c) {
			k.solid[ids[0]] = true
		}
		if x, ok := c.(expression.Comparer); ok {
			if _, safe := c.(*expression.NullSafeEquals); !safe {
				for _, side := range []sql.Expression{x.Left(), x.Right()} {
					if gf, ok := standard.Unkeyed(side).(*expression.GetField); ok {
						k.solid[gf.Id()] = true
					}
				}
			}
		}
	}
	return k
}

// nullable reports whether a declared domain says that NULL is a value.
func nullable(b *rel.Base) bool {
	for _, d := range b.Domains {
		if d.Null || d.Source != nil || slices.Contains(d.Values, nil) {
			return true
		}
	}
	return false
}

// halves splits x BETWEEN a AND b, so that each half is monotone in x.
func halves(c sql.Expression) []sql.Expression {
	b, ok := c.(*expression.Between)
	if !ok {
		return []sql.Expression{c}
	}
	return []sql.Expression{expression.NewGreaterThanOrEqual(b.Val, b.Lower), expression.NewLessThanOrEqual(b.Val, b.Upper)}
}

// equalities finds the columns that joins make equal: of each set, the first of a public table is
// read for those of none.
func (k *facts) equalities() {
	class := map[sql.ColumnId]sql.ColumnId{}
	find := func(id sql.ColumnId) sql.ColumnId {
		for {
			up, ok := class[id]
			if !ok || up == id {
				return id
			}
			id = up
		}
	}
	for _, c := range k.r.Known {
		e, ok := c.(*expression.Equals)
		if !ok {
			continue
		}
		a, b := k.base(e.Left()), k.base(e.Right())
		if a == nil || b == nil {
			continue
		}
		k.solid[a.ID], k.solid[b.ID] = true, true
		if a.Expr.Type == b.Expr.Type && a.Type.Equals(b.Type) && a.Expr.Type.Kind != lower.Double {
			class[find(b.ID)] = find(a.ID)
		}
	}
	public := map[sql.ColumnId]*rel.Base{}
	for i := range k.r.Bases {
		if b := &k.r.Bases[i]; b.From != "" && !b.Extended && public[find(b.ID)] == nil {
			public[find(b.ID)] = b
		}
	}
	for i := range k.r.Bases {
		b := &k.r.Bases[i]
		if p := public[find(b.ID)]; p != nil && b.From == "" {
			k.stand[b.ID], k.solid[p.ID] = p, true
		}
	}
}

// base is the base column that an expression is, nil for others.
func (k *facts) base(e sql.Expression) *rel.Base {
	if gf, ok := e.(*expression.GetField); ok {
		return k.r.BaseByID(gf.Id())
	}
	return nil
}

// read puts the columns that are read in the place of those that they are equal to.
func (k *facts) read(e sql.Expression) sql.Expression {
	out, err := tree.Replaced(k.f.ctx, e, func(e *expression.GetField) sql.Expression {
		if b := k.base(e); b != nil && k.stand[b.ID] != nil {
			p := k.stand[b.ID]
			return expression.NewGetFieldWithTable(int(p.ID), 0, p.Type, p.Ref.Schema, p.Ref.Name, p.Name, true)
		}
		return nil
	})
	if err != nil {
		return e
	}
	return out
}

// holdsOfNull reports whether a condition on one column may hold where it is NULL.
func (k *facts) holdsOfNull(c sql.Expression) bool {
	at, err := placed(k.f.ctx, c, func(sql.ColumnId) int { return 0 })
	if err != nil {
		return true
	}
	v, err := sql.EvaluateCondition(k.f.ctx, at, sql.Row{nil})
	return err != nil || sql.IsTrue(v)
}

// placed makes an expression over base columns read them at the given places of a row.
func placed(ctx *sql.Context, e sql.Expression, place func(sql.ColumnId) int) (sql.Expression, error) {
	return tree.Replaced(ctx, e, func(gf *expression.GetField) sql.Expression { return gf.WithIndex(place(gf.Id())) })
}

// column resolves base columns for a translation that names them apart, with what is known of
// their being NULL.
func (k *facts) column(gf *expression.GetField) (lower.Expr, bool) {
	b := k.r.BaseByID(gf.Id())
	if b == nil {
		return lower.Expr{}, false
	}
	return lower.Expr{SQL: columnName(b.ID), Type: b.Expr.Type, Nullable: !k.solid[b.ID]}, true
}
