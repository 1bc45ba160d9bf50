package standard

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Types gives the expressions of a bound tree the types of exact numbers that MySQL gives them, and
// columns those of the expressions that they are. Where go-mysql-server has another type, or other
// values, an expression of ours stands in the place of its own, which Untyped returns. Where strict
// is set, a division by zero is an error.
func Types(ctx *sql.Context, n sql.Node, strict bool) (sql.Node, transform.TreeIdentity, error) {
	return typesOf(ctx, n, true, strict)
}

// ColumnTypes gives columns the types that Types does, and leaves other expressions as they are.
func ColumnTypes(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	n, _, err := typesOf(ctx, n, false, false)
	return n, err
}

// typesOf goes over a tree, and once more where the binder reads an alias below its definition.
func typesOf(ctx *sql.Context, n sql.Node, wrap, strict bool) (sql.Node, transform.TreeIdentity, error) {
	t := &typer{wrap: wrap, strict: strict, columns: map[sql.ColumnId]sql.Type{}}
	all := transform.SameTree
	for range 2 {
		t.walker, t.read, t.unions, t.late = newWalker(ctx, t), map[sql.ColumnId]sql.Type{}, map[sql.ColumnId]sql.Type{}, false
		out, same, err := t.node(n)
		if err != nil {
			return n, transform.SameTree, err
		}
		n, all = out, all && same
		if !t.late {
			break
		}
	}
	return n, all, nil
}

// Typed is an expression with the types that Types gives, of columns whose types are right.
func Typed(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := &typer{wrap: true, columns: map[sql.ColumnId]sql.Type{}}
	t.walker = newWalker(ctx, t)
	if out, _, err := t.expr(e); err == nil {
		return out
	}
	return e
}

// TypeOf is the type of an expression, of columns whose types are right.
func TypeOf(ctx *sql.Context, e sql.Expression) sql.Type { return Typed(ctx, e).Type(ctx) }

// typer is one pass over a tree.
type typer struct {
	walker
	wrap    bool
	strict  bool                      // a division by zero is an error
	columns map[sql.ColumnId]sql.Type // of derived columns
	unions  map[sql.ColumnId]sql.Type // of columns of a UNION, which has the ids of its left side
	read    map[sql.ColumnId]sql.Type // of columns as they were read
	late    bool                      // one was read before its type was known, with another
}

// note records the type of a column.
func (t *typer) note(id sql.ColumnId, typ sql.Type) {
	t.columns[id] = typ
	if was, ok := t.read[id]; ok && !was.Equals(typ) {
		t.late = true
	}
}

func (t *typer) derived(a *plan.SubqueryAlias, ids []sql.ColumnId) {
	for i, c := range a.Schema(t.ctx) {
		if i < len(ids) {
			t.note(ids[i], c.Type)
		}
	}
}

func (t *typer) defined(id sql.ColumnId, e sql.Expression) { t.note(id, e.Type(t.ctx)) }

func (t *typer) listed(_ sql.Node, list []sql.Expression, same transform.TreeIdentity) ([]sql.Expression, transform.TreeIdentity, error) {
	return list, same, nil
}

func (t *typer) over(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if u, ok := n.(*plan.SetOp); ok {
		return t.united(u)
	}
	n, same, err := t.children(n)
	if s, ok := n.(*plan.Sort); ok && t.wrap && err == nil {
		n = t.orderOfDistinct(s)
		same = same && transform.TreeIdentity(n == s)
	}
	return n, same, err
}

// orderOfDistinct makes a position in ORDER BY the column that DISTINCT has of it. The binder takes
// the expression, which what DISTINCT has no longer allows to compute.
func (t *typer) orderOfDistinct(s *plan.Sort) *plan.Sort {
	order, any := slices.Clone(s.SortConditions), false
	for i, by := range order {
		_, over := s.Child.(*plan.Distinct)
		if a, ok := by.Expr.(*expression.Alias); ok && over {
			order[i].Expr, any = expression.NewGetField(int(a.Id()), a.Type(t.ctx), a.Name(), a.IsNullable(t.ctx)), true
		}
	}
	if !any {
		return s
	}
	return plan.NewSort(order, s.Child)
}

func (t *typer) column(f *expression.GetField) sql.Expression {
	typ, ok := t.unions[f.Id()]
	if !ok {
		typ, ok = t.columns[f.Id()]
	}
	if t.read != nil && !ok {
		t.read[f.Id()] = f.Type(t.ctx)
	}
	if was := f.Type(t.ctx); ok && types.IsTextOnly(typ) && types.IsTextOnly(was) { // keeps its collation
		if by, err := typ.(sql.TypeWithCollation).WithNewCollation(was.(sql.TypeWithCollation).Collation()); err == nil {
			typ = by
		}
	}
	if !ok || f.Id() == 0 || typ.Equals(f.Type(t.ctx)) {
		return f
	}
	return fieldAs(t.ctx, f, typ, f.TableId())
}

func (t *typer) rewritten(e sql.Expression, children []sql.Expression, same transform.TreeIdentity) (out sql.Expression, _ transform.TreeIdentity, err error) {
	switch e.(type) {
	case *typed, *retyped:
		if !same {
			e, err = e.WithChildren(t.ctx, children...)
		}
		return e, same, err
	}
	if reads, compares := readsExactly(t.ctx, e); reads && unrounded(children) || compares && t.wrap && t.read != nil && years(t.ctx, children) {
		same = transform.NewTree
	}
	if !same {
		if e, err = withOperands(t.ctx, e, children); err != nil {
			return e, same, err
		}
	}
	if a, ok := e.(*summary); ok && !bool(same) {
		if now, exact := a.again(t.ctx); exact {
			return now, transform.NewTree, nil
		}
	}
	if s, ok := e.(*gms.Substring); ok {
		x, err := bounded("substring").NewInstance(t.ctx, s.Children())
		return x, transform.NewTree, err
	}
	switch e.(type) { // a JSON is read as a DOUBLE where a number is wanted
	case *gms.Round, *gms.Truncate:
		if of := e.Children(); types.IsJSON(of[0].Type(t.ctx)) {
			of[0] = expression.NewConvert(of[0], expression.ConvertToDouble)
			x, err := e.WithChildren(t.ctx, of...)
			return x, transform.NewTree, err
		}
	}
	if x := typedOf(t.ctx, e); x != nil && t.wrap {
		x.strict = t.strict && divides(e)
		return x, transform.NewTree, nil
	}
	x, err := retypedOf(t.ctx, e)
	if t.strict && divides(e) && err == nil {
		r, ok := x.(*retyped)
		if !ok {
			r = &retyped{shadow: shadow{e}, typ: e.Type(t.ctx), eval: e.Eval}
		}
		x, r.strict = r, true
	}
	if x != nil && t.wrap || err != nil {
		return x, transform.NewTree, err
	}
	return e, same, nil
}
