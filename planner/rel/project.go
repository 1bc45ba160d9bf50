package rel

import (
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/accounting/days"
	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Project computes output columns from expressions.
func (s *Writer) Project(r *Relation, exprs []sql.Expression) (*Relation, error) {
	out, in := *r, *r
	out.Columns = make([]Column, len(exprs))
	plain := true
	for i, e := range exprs {
		c := Column{Type: standard.TypeOf(s.ctx, e), Name: e.String()}
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

// Windows adds window functions to rows of persons, where each window is of the rows of one person:
//
//	SELECT userId, rating, LAG(rating) OVER (PARTITION BY userId ORDER BY ts) AS before FROM ratings
//
// Its PARTITION BY has the unit, or a column that has its value on rows of one person alone, and
// the generated one has the unit beside it. So the rows of a person with their new columns are a
// function of that person's rows, as those of a derived table by person are, and no sensitivity
// changes.
//
// The function has to be one of the rows as a set: rows that ORDER BY has equal come in the order
// of all their columns, and what is equal in these is not told apart by anything above. The order
// in which the store keeps rows, which follows from the rows of others, decides nothing.
func (s *Writer) Windows(r *Relation, n *plan.Window) (*Relation, error) {
	if err := r.Single(); err != nil {
		return nil, err
	}
	out := *r
	out.Columns = nil
	var exprs []string
	for _, e := range n.SelectExprs {
		c := Column{ID: tree.ID(e), Name: e.String(), Type: e.Type(s.ctx)}
		switch e := e.(type) {
		case *expression.GetField:
			src := r.Find(e)
			if src == nil {
				return nil, rule.Deny(rule.Node, refuse.Shape, "", "The column %s cannot be followed.", e)
			}
			id := c.ID
			c = *src
			c.ID = id
		case sql.WindowAdaptableExpression:
			x, err := s.overOwnRows(r, e)
			if err != nil {
				return nil, err
			}
			c.Expr = x
		default:
			return nil, windowRefused(r)
		}
		exprs = append(exprs, c.Expr.SQL)
		out.Columns = append(out.Columns, c)
	}
	return s.Derived(&out, "", exprs), nil
}

// windowRefused refuses windows that are not of one person's rows.
func windowRefused(r *Relation) error {
	return rule.Deny(rule.Window, refuse.Shape,
		r.oneUnit("In a derived table below an aggregate, use ROW_NUMBER, RANK, DENSE_RANK, LAG or LEAD with PARTITION BY the unit; other window functions work on the answer, in an outer query."),
		"A window function over protected rows depends on the rows of other persons, unless it is partitioned by the unit.")
}

// overOwnRows translates a window function over rows of one person.
func (s *Writer) overOwnRows(r *Relation, e sql.WindowAdaptableExpression) (lower.Expr, error) {
	w := e.Window()
	if w == nil || !slices.ContainsFunc(w.PartitionBy, r.TellsUnit) {
		return lower.Expr{}, windowRefused(r)
	}
	by, order := []string{r.units[0].expr.SQL}, []string(nil)
	for _, p := range w.PartitionBy {
		x, err := s.Lower(p, r.Resolve)
		if err != nil {
			return x, err
		}
		by = append(by, x.SQL)
	}
	for _, f := range w.OrderBy {
		x, err := s.Lower(f.Expr, r.Resolve)
		if err != nil {
			return x, err
		}
		if f.Order == sql.Descending {
			order = append(order, x.SQL+" DESC NULLS LAST")
		} else {
			order = append(order, x.SQL+" ASC NULLS FIRST")
		}
	}
	total := slices.Clone(order) // an order in which only equal rows are equal
	for _, c := range r.Columns {
		switch total = append(total, c.Expr.SQL); c.Expr.Type.Kind {
		case lower.Double: // the order has -0 and 0 equal
			total = append(total, "signbit("+c.Expr.SQL+")")
		case lower.Array, lower.JSON:
			total = append(total, "CAST("+c.Expr.SQL+" AS VARCHAR)")
		}
	}
	over := func(f string, order []string) string {
		text := f + " OVER (PARTITION BY " + sqltext.List(by)
		if len(order) > 0 {
			text += " ORDER BY " + sqltext.List(order)
		}
		return text + ")"
	}
	integer := lower.Type{Kind: lower.Int}
	o, ok := e.(*standard.Over)
	if !ok {
		return lower.Expr{}, windowRefused(r)
	}
	switch o.Name {
	case "row_number":
		return lower.Expr{SQL: over("row_number()", total), Type: integer}, nil
	case "rank", "dense_rank":
		return lower.Expr{SQL: over(o.Name+"()", order), Type: integer}, nil
	case "lag", "lead":
		return s.shifted(r, o, func(f string) string { return over(f, total) })
	}
	return lower.Expr{}, windowRefused(r)
}

// shifted translates LAG and LEAD.
func (s *Writer) shifted(r *Relation, o *standard.Over, over func(string) string) (lower.Expr, error) {
	args, offset := o.Args(), 1
	if len(args) == 3 {
		return lower.Expr{}, rule.Deny(rule.Window, refuse.Shape, "Use COALESCE around it.", "%s with a default is not supported over protected rows.", o.Name)
	}
	if len(args) == 2 {
		var err error
		if offset, err = expression.LiteralToInt(args[1]); err != nil {
			return lower.Expr{}, err
		}
	}
	x, err := s.Lower(args[0], r.Resolve)
	if err != nil {
		return x, err
	}
	return lower.Expr{SQL: over(o.Name + "(" + x.SQL + ", " + strconv.Itoa(offset) + ")"), Type: x.Type, Nullable: true}, nil
}

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
