package standard

import (
	"reflect"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// walker is one pass over a bound tree, from the leaves on, through derived tables and the queries
// of subqueries.
type walker struct {
	ctx *sql.Context
	visitor
	queries map[sql.Node]sql.Node        // of common table expressions: one node for all uses
	tables  map[sql.TableId]sql.ColSet   // of derived tables, by which a second one has the same number
	moved   map[sql.ColumnId]sql.TableId // the tables of columns of those that had another's number
}

// visitor is what a pass does to a tree.
type visitor interface {
	// over is a node over what the pass has made of those below.
	over(n sql.Node) (sql.Node, transform.TreeIdentity, error)
	// listed changes the rewritten expressions of a node.
	listed(n sql.Node, list []sql.Expression, same transform.TreeIdentity) ([]sql.Expression, transform.TreeIdentity, error)
	// column is what takes the place of a column.
	column(f *expression.GetField) sql.Expression
	// rewritten is an expression with the children given, which are its own where same is set.
	rewritten(e sql.Expression, children []sql.Expression, same transform.TreeIdentity) (sql.Expression, transform.TreeIdentity, error)
	// defined notes a column that an expression of a list defines.
	defined(id sql.ColumnId, e sql.Expression)
	// derived notes the columns of a derived table.
	derived(a *plan.SubqueryAlias, ids []sql.ColumnId)
}

func newWalker(ctx *sql.Context, v visitor) walker {
	return walker{ctx: ctx, visitor: v, queries: map[sql.Node]sql.Node{}, tables: map[sql.TableId]sql.ColSet{}, moved: map[sql.ColumnId]sql.TableId{}}
}

func (w *walker) node(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if a, ok := n.(*plan.SubqueryAlias); ok {
		return w.alias(a)
	}
	n, same, err := w.over(n)
	x, ok := n.(sql.Expressioner)
	if err != nil || !ok {
		return n, same, err
	}
	list, as, err := w.list(x.Expressions())
	if err == nil {
		list, as, err = w.listed(n, list, as)
	}
	if err == nil && !bool(as) {
		n, err = x.WithExpressions(w.ctx, list...)
	}
	if err != nil {
		return n, same, err
	}
	for _, e := range list {
		if x, ok := e.(sql.IdExpression); ok && x.Id() != 0 {
			if _, column := e.(*expression.GetField); !column {
				w.defined(x.Id(), e)
			}
		}
	}
	return n, same && as, nil
}

// alias is a derived table over its rewritten query. The binder may give a use of a common table
// expression the number of a table beside it, by which joins would take one for the other.
func (w *walker) alias(a *plan.SubqueryAlias) (sql.Node, transform.TreeIdentity, error) {
	q, done := w.queries[a.Child]
	if !done {
		var err error
		if q, _, err = w.node(a.Child); err != nil {
			return a, transform.SameTree, err
		}
		w.queries[a.Child] = q
	}
	out, same, ids := a, transform.SameTree, columnIds(a)
	if !sameNode(q, a.Child) {
		out, same = a.WithChild(q), transform.NewTree
	}
	if was, taken := w.tables[a.Id()]; taken && !was.Equals(a.Columns()) {
		id := movedTables + sql.TableId(len(w.moved))
		for _, c := range ids {
			w.moved[c] = id
		}
		out, same = out.WithId(id).(*plan.SubqueryAlias), transform.NewTree
	}
	w.tables[a.Id()] = a.Columns()
	w.derived(out, ids)
	return out, same, nil
}

// movedTables is above all numbers of the binder: a statement has 400 tables at most.
const movedTables = 1 << 12

// sameNode reports whether two nodes are one.
func sameNode(a, b sql.Node) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && (!reflect.TypeOf(a).Comparable() || a == b)
}

// children is a node over what the pass makes of those that it has.
func (w *walker) children(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	same := transform.SameTree
	children := slices.Clone(n.Children())
	for i, c := range children {
		d, identity, err := w.node(c)
		if err != nil {
			return n, transform.SameTree, err
		}
		children[i], same = d, same && identity
	}
	if same {
		return n, same, nil
	}
	n, err := n.WithChildren(w.ctx, children...)
	return n, same, err
}

func (w *walker) list(exprs []sql.Expression) ([]sql.Expression, transform.TreeIdentity, error) {
	same := transform.SameTree
	out := slices.Clone(exprs)
	for i, e := range exprs {
		x, identity, err := w.expr(e)
		if err != nil {
			return exprs, transform.SameTree, err
		}
		out[i], same = x, same && identity
	}
	return out, same, nil
}

func (w *walker) expr(e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case nil, *sql.ColumnDefaultValue, *expression.Literal:
		return e, transform.SameTree, nil
	case *expression.GetField:
		out := w.column(e)
		if id, moved := w.moved[e.Id()]; moved && id != e.TableId() {
			out = fieldAs(w.ctx, e, out.Type(w.ctx), id)
		}
		return out, transform.TreeIdentity(out == sql.Expression(e)), nil
	case *plan.Subquery:
		q, same, err := w.node(e.Query)
		if err != nil || bool(same) {
			return e, transform.SameTree, err
		}
		return e.WithQuery(q), same, nil
	}
	children, same, err := w.list(e.Children())
	if err != nil {
		return e, transform.SameTree, err
	}
	return w.rewritten(e, children, same)
}

// fieldAs is a column with another type, or of a table with another number.
func fieldAs(ctx *sql.Context, f *expression.GetField, typ sql.Type, table sql.TableId) sql.Expression {
	g := expression.NewGetFieldWithTable(f.Index(), int(table), typ, f.Database(), f.Table(), f.Name(), f.IsNullable(ctx))
	return g.WithId(f.Id()).(sql.Expression)
}
