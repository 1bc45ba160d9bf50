package keys

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/lists"
	"scrim/planner/canon"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// space is the variables that expressions over the columns of a relation are made of, so that the
// values of the expressions on all combinations hold those of every row. Columns with few public
// values are variables themselves; public tables are variables of rows; columns with a range are
// read at one moment a cell, where the expressions tell no more of them; and of a column that
// nothing is known of, expressions such as HOUR(t) and x > 3 are variables.
type space struct {
	*facts
	vars  []*variable
	reads map[sql.ColumnId]virtual  // what stands for a base column
	ends  map[sql.ColumnId]virtual  // the last moment of the cell that stands for one
	atoms map[string]*atom          // expressions that are variables, by their translation
	dials map[string]*dial          // moments that atoms are parts of
	cells map[sql.ColumnId]int64    // widths of the cells of ranged columns
	cases []*variable               // which test of a CASE is the first that holds
	order []string                  // atoms, dials and cases in the order in which they were noted
	tests [][]sql.Expression        // conditions over the variables: of each list one has to hold
	known map[sql.Expression]spread // of expressions at the present widths of cells
	next  sql.ColumnId
	fixed bool // no expression becomes a variable any more
	rest  bool // rows may have other values of a column, and no key then
}

// firstVirtual keeps the ids of virtual columns apart from those of most base columns, for whoever
// reads them; no expression has both.
const firstVirtual sql.ColumnId = 1 << 15

// spaceOf builds the space of expressions over base columns, and returns them as expressions over
// its variables. It is nil where they have too many values, or ones that are not public.
func (s *Finder) spaceOf(k *facts, exprs []sql.Expression) (*space, []sql.Expression, error) {
	sp := &space{facts: k, reads: map[sql.ColumnId]virtual{}, ends: map[sql.ColumnId]virtual{},
		atoms: map[string]*atom{}, dials: map[string]*dial{}, cells: map[sql.ColumnId]int64{}, known: map[sql.Expression]spread{}, next: firstVirtual}
	out := lists.Map(exprs, k.read)
	var ids []sql.ColumnId
	for _, e := range out {
		for _, id := range tree.Fields(s.ctx, e) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if err := sp.columns(ids, out); err != nil {
		return nil, nil, err
	}
	for i, e := range out {
		x, ok := sp.rewrite(e)
		if !ok {
			return nil, nil, nil
		}
		out[i] = x
	}
	conds, err := sp.conditions(ids)
	if err != nil {
		return nil, nil, err
	}
	if err := sp.settle(); err != nil {
		return nil, nil, err
	}
	sp.tests = conds
	return sp, out, nil
}

// columns makes variables of the columns that have public values, or ranges whose cells are enough.
func (sp *space) columns(ids []sql.ColumnId, exprs []sql.Expression) error {
	var public, ranged []*rel.Base
	for _, id := range ids {
		b := sp.r.BaseByID(id)
		if b == nil {
			continue
		}
		if b.From != "" {
			public = append(public, b)
			continue
		}
		values, from, ok, err := sp.listed(b, exprs)
		if err != nil {
			return err
		}
		if ok {
			sp.addColumn(b, values, from)
		} else {
			ranged = append(ranged, b)
		}
	}
	if err := sp.tables(public); err != nil {
		return err
	}
	for _, b := range ranged {
		sp.addCells(b, exprs)
	}
	return nil
}

// addColumn makes a variable of a column with listed values.
func (sp *space) addColumn(b *rel.Base, values []any, from string) {
	v := &variable{from: from, found: len(b.Domains) == 0}
	v.columns = []virtual{sp.virtual(b.Type, b.Expr.Type)}
	v.rows = append(v.rows, lists.Map(values, func(x any) sql.Row { return sql.Row{x} })...)
	if b.Extended && !slices.Contains(values, nil) && !sp.solid[b.ID] {
		v.rows = append(v.rows, sql.Row{nil})
	}
	sp.reads[b.ID] = v.columns[0]
	sp.vars = append(sp.vars, v)
}

func (sp *space) virtual(t sql.Type, lowered lower.Type) virtual {
	sp.next++
	return virtual{sp.next, t, lowered}
}

// rewrite makes an expression over base columns one over variables; false where it has values that
// are not public.
func (sp *space) rewrite(e sql.Expression) (sql.Expression, bool) {
	if gf, ok := e.(*expression.GetField); ok {
		if v, ok := sp.reads[gf.Id()]; ok {
			return v.field(), true
		}
		return nil, false
	}
	if c, ok := e.(*expression.Case); ok && len(c.Branches) > manyTests && !sp.fixed {
		if x, ok := sp.choice(c); ok {
			return x, true
		}
	} else {
		before := len(sp.order)
		if x, ok := sp.parts(e, e.Children()); ok {
			return x, true
		}
		sp.forget(before)
	}
	if sp.readsRow(e) {
		return nil, false
	}
	return sp.atom(e)
}

// parts rewrites what is inside an expression.
func (sp *space) parts(e sql.Expression, children []sql.Expression) (sql.Expression, bool) {
	if len(children) == 0 {
		_, row := e.(*expression.GetField)
		return e, !row
	}
	if in, ok := e.(*expression.InTuple); ok { // whose right side is no expression of its own
		left, ok := sp.rewrite(in.Left())
		if !ok || len(tree.Fields(sp.f.ctx, in.Right())) > 0 {
			return nil, false
		}
		return expression.NewInTuple(left, in.Right()), true
	}
	out := make([]sql.Expression, len(children))
	for i, c := range children {
		x, ok := sp.rewrite(c)
		if !ok {
			return nil, false
		}
		out[i] = x
	}
	x, err := e.WithChildren(sp.f.ctx, out...)
	return x, err == nil
}

// readsRow reports whether an expression cannot be a variable of its own: it translates into none.
func (sp *space) readsRow(e sql.Expression) bool {
	_, err := lower.Lower(sp.f.ctx, e, new(lower.Binder), sp.column)
	return err != nil
}

// manyTests is the number of tests of a CASE beyond which one variable says which of them is the
// first that holds: each by itself, they have too many combinations.
const manyTests = 4

// choice rewrites a CASE of many tests. Each part of it is looked at once, as one CASE may stand in
// another.
func (sp *space) choice(c *expression.Case) (sql.Expression, bool) {
	before := len(sp.order)
	out := &expression.Case{}
	for _, b := range c.Branches {
		x, ok := sp.rewrite(b.Value)
		if !ok {
			sp.forget(before)
			return nil, false
		}
		out.Branches = append(out.Branches, expression.CaseBranch{Value: x})
	}
	if c.Else != nil {
		x, ok := sp.rewrite(c.Else)
		if !ok {
			sp.forget(before)
			return nil, false
		}
		out.Else = x
	}
	values, covered := len(sp.order), true
	if c.Expr != nil {
		out.Expr, covered = sp.rewrite(c.Expr)
	}
	for i, b := range c.Branches {
		if covered {
			out.Branches[i].Cond, covered = sp.rewrite(b.Cond)
		}
	}
	if covered && len(sp.order) == values {
		return out, true
	}
	sp.forget(values)
	v := &variable{from: "the values of a CASE", found: true}
	for i := range len(c.Branches) + 1 {
		row := make(sql.Row, len(c.Branches))
		for j := range row {
			row[j] = int8(0)
		}
		if i < len(row) {
			row[i] = int8(1)
			test := sp.virtual(types.Boolean, lower.Type{Kind: lower.Bool})
			v.columns = append(v.columns, test)
			out.Branches[i].Cond = test.field()
		}
		v.rows = append(v.rows, row)
	}
	out.Expr = nil
	sp.order = append(sp.order, fmt.Sprintf("case %d", v.columns[0].id))
	sp.cases = append(sp.cases, v)
	return out, true
}

// conditions are the tests of the space: what is known of the rows and is a function of its
// variables. Conditions on other columns say nothing of its expressions.
func (sp *space) conditions(ids []sql.ColumnId) ([][]sql.Expression, error) {
	sp.fixed = true
	var out [][]sql.Expression
	for _, c := range sp.conds {
		fields := tree.Fields(sp.f.ctx, c)
		if len(fields) == 0 || slices.ContainsFunc(fields, func(id sql.ColumnId) bool { return !slices.Contains(ids, id) }) {
			continue
		}
		if sp.readsRow(c) {
			continue
		}
		if sp.spread(c) != oneValue { // on each cell of the ranged columns
			if first, last, ok := sp.atEnds(c); ok {
				out = append(out, []sql.Expression{first, last})
				continue
			}
			if x, ok := sp.atomOf(c); ok {
				out = append(out, []sql.Expression{x})
			}
			continue
		}
		if x, ok := sp.rewrite(c); ok {
			out = append(out, []sql.Expression{x})
		}
	}
	return out, nil
}

// identity is the text of an expression over base columns: equal ones are equal on every row.
func (sp *space) identity(e sql.Expression) (string, bool) {
	b := new(lower.Binder)
	x, err := lower.Lower(sp.f.ctx, canon.Expr(sp.f.ctx, e, sp.column), b, sp.column)
	return fmt.Sprintf("%s %q", x.SQL, b.Args()), err == nil
}
