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
// values, an expression of ours stands in the place of its own, which Untyped returns.
func Types(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return typesOf(ctx, n, true)
}

// ColumnTypes gives columns the types that Types does, and leaves other expressions as they are.
func ColumnTypes(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	n, _, err := typesOf(ctx, n, false)
	return n, err
}

// typesOf goes over a tree, and once more where the binder reads an alias below its definition.
func typesOf(ctx *sql.Context, n sql.Node, wrap bool) (sql.Node, transform.TreeIdentity, error) {
	t := &typer{ctx: ctx, wrap: wrap, columns: map[sql.ColumnId]sql.Type{}}
	all := transform.SameTree
	for range 2 {
		t.queries, t.read, t.unions, t.late = map[sql.Node]sql.Node{}, map[sql.ColumnId]sql.Type{}, map[sql.ColumnId]sql.Type{}, false
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
	t := &typer{ctx: ctx, wrap: true, columns: map[sql.ColumnId]sql.Type{}, queries: map[sql.Node]sql.Node{}}
	if out, _, err := t.expr(e); err == nil {
		return out
	}
	return e
}

// TypeOf is the type of an expression, of columns whose types are right.
func TypeOf(ctx *sql.Context, e sql.Expression) sql.Type { return Typed(ctx, e).Type(ctx) }

// typer is one pass over a tree.
type typer struct {
	ctx     *sql.Context
	wrap    bool
	columns map[sql.ColumnId]sql.Type // of derived columns
	unions  map[sql.ColumnId]sql.Type // of columns of a UNION, which has the ids of its left side
	queries map[sql.Node]sql.Node     // of common table expressions: one node for all uses
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

func (t *typer) node(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if a, ok := n.(*plan.SubqueryAlias); ok {
		q, done := t.queries[a.Child]
		if !done {
			var err error
			if q, _, err = t.node(a.Child); err != nil {
				return n, transform.SameTree, err
			}
			t.queries[a.Child] = q
		}
		out, same := a, transform.SameTree
		if q != a.Child {
			out, same = a.WithChild(q), transform.NewTree
		}
		i, schema := 0, out.Schema(t.ctx)
		a.Columns().ForEach(func(id sql.ColumnId) {
			if i < len(schema) {
				t.note(id, schema[i].Type)
			}
			i++
		})
		return out, same, nil
	}
	below := t.children
	if u, ok := n.(*plan.SetOp); ok {
		below = func(sql.Node) (sql.Node, transform.TreeIdentity, error) { return t.united(u) }
	}
	n, same, err := below(n)
	if err != nil {
		return n, same, err
	}
	if s, ok := n.(*plan.Sort); ok && t.wrap {
		n = t.orderOfDistinct(s)
		same = same && transform.TreeIdentity(n == s)
	}
	x, ok := n.(sql.Expressioner)
	if !ok {
		return n, same, nil
	}
	out, identity, err := t.list(x.Expressions())
	if err != nil {
		return n, same, err
	}
	if identity == transform.NewTree {
		same = identity
		if n, err = x.WithExpressions(t.ctx, out...); err != nil {
			return n, same, err
		}
	}
	for _, e := range out {
		switch e := e.(type) {
		case *expression.GetField:
		case sql.IdExpression:
			if e.Id() != 0 {
				t.note(e.Id(), e.Type(t.ctx))
			}
		}
	}
	return n, same, nil
}

// columnAs is a column with another type.
func (t *typer) columnAs(f *expression.GetField, typ sql.Type) sql.Expression {
	g := expression.NewGetFieldWithTable(f.Index(), int(f.TableId()), typ, f.Database(), f.Table(), f.Name(), f.IsNullable(t.ctx))
	return g.WithId(f.Id()).(sql.Expression)
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

// children is a node over what node makes of those that it has.
func (t *typer) children(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	same := transform.SameTree
	children := append([]sql.Node(nil), n.Children()...)
	for i, c := range children {
		d, identity, err := t.node(c)
		if err != nil {
			return n, transform.SameTree, err
		}
		children[i], same = d, same && identity
	}
	if same {
		return n, same, nil
	}
	n, err := n.WithChildren(t.ctx, children...)
	return n, same, err
}

func (t *typer) list(exprs []sql.Expression) ([]sql.Expression, transform.TreeIdentity, error) {
	same := transform.SameTree
	out := append([]sql.Expression(nil), exprs...)
	for i, e := range exprs {
		x, identity, err := t.expr(e)
		if err != nil {
			return exprs, transform.SameTree, err
		}
		out[i], same = x, same && identity
	}
	return out, same, nil
}

func (t *typer) expr(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case nil, *sql.ColumnDefaultValue, *expression.Literal:
		return e, transform.SameTree, nil
	case *expression.GetField:
		typ, ok := t.unions[e.Id()]
		if !ok {
			typ, ok = t.columns[e.Id()]
		}
		if t.read != nil && !ok {
			t.read[e.Id()] = e.Type(t.ctx)
		}
		if was := e.Type(t.ctx); ok && types.IsTextOnly(typ) && types.IsTextOnly(was) { // keeps its collation
			if by, err := typ.(sql.TypeWithCollation).WithNewCollation(was.(sql.TypeWithCollation).Collation()); err == nil {
				typ = by
			}
		}
		if !ok || e.Id() == 0 || typ.Equals(e.Type(t.ctx)) {
			return e, transform.SameTree, nil
		}
		return t.columnAs(e, typ), transform.NewTree, nil
	case *plan.Subquery:
		q, same, err := t.node(e.Query)
		if err != nil || same {
			return e, transform.SameTree, err
		}
		return e.WithQuery(q), transform.NewTree, nil
	case *typed, *retyped:
		children, same, err := t.list(e.Children())
		if err != nil || same {
			return e, transform.SameTree, err
		}
		x, err := e.WithChildren(t.ctx, children...)
		return x, transform.NewTree, err
	}
	children, same, err := t.list(e.Children())
	if err != nil {
		return e, transform.SameTree, err
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
		return x, transform.NewTree, nil
	}
	if x, err := retypedOf(t.ctx, e); x != nil && t.wrap || err != nil {
		return x, transform.NewTree, err
	}
	return e, same, nil
}
