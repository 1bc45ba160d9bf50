// Package tree reads and makes go-mysql-server's bound trees: one walker over nodes and
// expressions, what an expression is whatever its rows are, the ids of columns, and a leaf of known
// rows. It knows nothing of privacy or of the store.
package tree

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/internal/lists"
)

// Holder is an expression that reads rows of nodes which are no children of any node.
type Holder interface{ Held() []sql.Node }

// Inspect visits every node and every expression of a statement, through opaque nodes and into the
// queries of subquery expressions and what other expressions hold. Either function may be nil.
func Inspect(ctx *sql.Context, n sql.Node, node func(sql.Node), expr func(sql.Expression)) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if n == nil {
			return false
		}
		if node != nil {
			node(n)
		}
		if ex, ok := n.(sql.Expressioner); ok {
			for _, e := range ex.Expressions() {
				Contains(ctx, e, func(e sql.Expression) bool {
					if expr != nil {
						expr(e)
					}
					switch e := e.(type) {
					case *plan.Subquery:
						Inspect(ctx, e.Query, node, expr)
					case Holder:
						for _, n := range e.Held() {
							Inspect(ctx, n, node, expr)
						}
					}
					return false
				})
			}
		}
		return true
	})
}

// Contains reports whether is holds of an expression or of one below it, not counting the queries
// of subqueries. It visits from above, left to right, until is holds.
func Contains(ctx *sql.Context, e sql.Expression, is func(sql.Expression) bool) bool {
	found := false
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		found = found || e != nil && is(e)
		return e != nil && !found
	})
	return found
}

// Has reports whether is holds of a node of a statement, as Inspect visits them.
func Has(ctx *sql.Context, n sql.Node, is func(sql.Node) bool) bool {
	found := false
	Inspect(ctx, n, func(n sql.Node) { found = found || is(n) }, nil)
	return found
}

// HasSubquery reports whether a subquery stands in an expression.
func HasSubquery(ctx *sql.Context, e sql.Expression) bool {
	return Contains(ctx, e, func(e sql.Expression) bool { _, is := e.(*plan.Subquery); return is })
}

// Replaced returns an expression with others in the place of those of one type in it, from below.
// Where by has nil, they stay.
func Replaced[E sql.Expression](ctx *sql.Context, e sql.Expression, by func(E) sql.Expression) (sql.Expression, error) {
	out, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if x, ok := e.(E); ok {
			if other := by(x); other != nil {
				return other, transform.NewTree, nil
			}
		}
		return e, transform.SameTree, nil
	})
	return out, err
}

// Fields lists the columns that an expression reads, left to right, each as often as it is read.
func Fields(ctx *sql.Context, e sql.Expression) []sql.ColumnId {
	var ids []sql.ColumnId
	Contains(ctx, e, func(e sql.Expression) bool {
		if id, ok := fieldID(e); ok {
			ids = append(ids, id)
		}
		return false
	})
	return ids
}

// KnownRows is a leaf whose rows are known when the query is planned. Tools probe the shape of a
// result with WHERE 0=1 or LIMIT 0; such a subtree is empty whatever the data are, so its place is
// taken by no rows, at no cost.
type KnownRows struct {
	Rows    []sql.Row
	Exprs   []sql.Expression // one a column, with the id by which nodes above refer to it
	Columns sql.Schema
}

var (
	_ sql.ExecSourceRel      = (*KnownRows)(nil)
	_ sql.Projector          = (*KnownRows)(nil)
	_ sql.CollationCoercible = (*KnownRows)(nil)
)

// NoRows is a leaf with the columns of a node and no rows.
func NoRows(ctx *sql.Context, n sql.Node) *KnownRows {
	ids := OutputIDs(n)
	leaf := &KnownRows{Columns: n.Schema(ctx)}
	for i, c := range leaf.Columns {
		var id sql.ColumnId
		if i < len(ids) {
			id = ids[i]
		}
		leaf.Exprs = append(leaf.Exprs, Column(id, 0, c.Type, c.DatabaseSource, c.Source, c.Name))
	}
	return leaf
}

// Resolved implements sql.Node.
func (n *KnownRows) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *KnownRows) IsReadOnly() bool { return true }

// Schema implements sql.Node.
func (n *KnownRows) Schema(*sql.Context) sql.Schema { return n.Columns }

// Children implements sql.Node.
func (n *KnownRows) Children() []sql.Node { return nil }

// ProjectedExprs implements sql.Projector.
func (n *KnownRows) ProjectedExprs() []sql.Expression { return n.Exprs }

// String names the leaf.
func (n *KnownRows) String() string { return "NoRows" }

// WithChildren implements sql.Node.
func (n *KnownRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return Leaf(n, children)
}

// Leaf returns a node that has no children, and an error where it is given some.
func Leaf(n sql.Node, children []sql.Node) (sql.Node, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 0)
	}
	return n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *KnownRows) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// RowIter implements sql.ExecSourceRel.
func (n *KnownRows) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(n.Rows...), nil
}

// Column makes a reference to a column by its id.
func Column(id sql.ColumnId, table sql.TableId, t sql.Type, db, tab, name string) *expression.GetField {
	return expression.NewGetFieldWithTable(int(id), int(table), t, db, tab, name, true)
}

func fieldID(e sql.Expression) (sql.ColumnId, bool) {
	gf, ok := e.(*expression.GetField)
	if !ok {
		return 0, false
	}
	return gf.Id(), true
}

// ID is the id of the column that an expression of a list defines, 0 where it has none.
func ID(e sql.Expression) sql.ColumnId {
	if x, ok := e.(sql.IdExpression); ok {
		return x.Id()
	}
	return 0
}

// Same reports whether two expressions are the same function of the same columns, of at least one:
// they print alike and refer to the same column ids in the same order.
func Same(ctx *sql.Context, a, b sql.Expression) bool {
	if a.String() != b.String() {
		return false
	}
	x := Fields(ctx, a)
	return len(x) > 0 && slices.Equal(x, Fields(ctx, b))
}

// Unalias strips the alias that an expression of a list may carry.
func Unalias(e sql.Expression) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		return a.Child
	}
	return e
}

// Untuple returns the only member of a tuple, and any other expression as it is.
func Untuple(e sql.Expression) sql.Expression {
	if t, ok := e.(expression.Tuple); ok && len(t) == 1 {
		return t[0]
	}
	return e
}

// Conjuncts splits a condition at its ANDs.
func Conjuncts(e sql.Expression) []sql.Expression {
	if e == nil {
		return nil
	}
	if a, ok := e.(*expression.And); ok {
		return append(Conjuncts(a.LeftChild), Conjuncts(a.RightChild)...)
	}
	return []sql.Expression{e}
}

// CountsRows reports whether a plain aggregate is COUNT(*) or COUNT of a constant other than NULL.
func CountsRows(a sql.Aggregation) bool {
	if _, ok := a.(*aggregation.Count); !ok || len(a.Children()) != 1 {
		return false
	}
	switch e := a.Children()[0].(type) {
	case *expression.Star:
		return true
	case *expression.Literal:
		return e.Value() != nil
	}
	return false
}

// NeverHolds reports whether a condition is false or NULL whatever the row, as its constants tell.
func NeverHolds(ctx *sql.Context, e sql.Expression) bool {
	for _, c := range Conjuncts(e) {
		if !Constant(ctx, c) {
			continue
		}
		v, err := sql.EvaluateCondition(ctx, c, nil)
		if err == nil && !sql.IsTrue(v) {
			return true
		}
	}
	return false
}

// Constant reports whether an expression is made of literals and operators only.
func Constant(ctx *sql.Context, e sql.Expression) bool {
	return !Contains(ctx, e, func(e sql.Expression) bool {
		switch e.(type) {
		case *expression.Literal, *expression.Equals, *expression.LessThan, *expression.GreaterThan,
			*expression.LessThanOrEqual, *expression.GreaterThanOrEqual, *expression.NullSafeEquals,
			*expression.And, *expression.Or, *expression.Xor, *expression.Not:
			return false
		}
		return true
	})
}

// IsZero reports whether a LIMIT is the constant 0.
func IsZero(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	switch v := l.Value().(type) {
	case int, int8, int16, int32, int64, uint64:
		return reflect.ValueOf(v).IsZero()
	}
	return false
}

// Float reads the numbers among SQL values, and texts of a type of their own that are numbers.
func Float(v any) (float64, bool) {
	switch x := v.(type) {
	case float32, float64:
		return reflect.ValueOf(x).Float(), true
	case int, int8, int16, int32, int64:
		return float64(reflect.ValueOf(x).Int()), true
	case uint8, uint16, uint32, uint64:
		return float64(reflect.ValueOf(x).Uint()), true
	case fmt.Stringer:
		f, err := strconv.ParseFloat(x.String(), 64)
		return f, err == nil
	}
	return 0, false
}

// ColumnIDs lists the ids of a relation's columns in the order of its schema; nil when their number
// is not count.
func ColumnIDs(n interface{ Columns() sql.ColSet }, count int) []sql.ColumnId {
	var ids []sql.ColumnId
	n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	if len(ids) != count {
		return nil
	}
	return ids
}

// OutputIDs lists the ids of the columns that a node yields, in their order.
func OutputIDs(n sql.Node) []sql.ColumnId {
	var ids []sql.ColumnId
	switch n := n.(type) {
	case sql.Projector:
		ids = append(ids, lists.Map(n.ProjectedExprs(), ID)...)
	case *plan.SetOp:
		return OutputIDs(n.Left())
	case *plan.TableAlias:
		return OutputIDs(n.Child)
	case plan.TableIdNode:
		n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	default:
		for _, c := range n.Children() {
			ids = append(ids, OutputIDs(c)...)
		}
	}
	return ids
}

// Types are the types of columns that differ from what the binder said.
type Types map[sql.ColumnId]sql.Type

// Note records that a column has another type than the binder gave it.
func (t Types) Note(id sql.ColumnId, was, is sql.Type) {
	if id != 0 && !was.Equals(is) {
		t[id] = is
	}
}

// PastWindows returns the tree with the columns that subqueries beside window functions read of the
// rows around them: the binder has the windows hand on only what stands outside of subqueries.
func PastWindows(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		list, ok := n.(sql.Expressioner)
		if _, window := n.(*plan.Window); !ok || window || len(n.Children()) != 1 {
			return n, transform.SameTree, nil
		}
		var read sql.ColSet
		for _, e := range list.Expressions() {
			sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
				if q, ok := e.(*plan.Subquery); ok {
					read = read.Union(q.Correlated())
				}
				return true
			})
		}
		child, changed, err := handOn(ctx, n.Children()[0], read)
		if err != nil || !changed {
			return n, transform.SameTree, err
		}
		n, err = n.WithChildren(ctx, child)
		return n, transform.NewTree, err
	})
}

// handOn adds columns to a window, and to the projections above it.
func handOn(ctx *sql.Context, n sql.Node, read sql.ColSet) (sql.Node, bool, error) {
	below := n.Children()
	if len(below) != 1 || read.Empty() {
		return n, false, nil
	}
	var err error
	_, found := n.(*plan.Window)
	switch n.(type) {
	case *plan.Window:
	case *plan.Project, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Offset, *plan.Having, *plan.Filter:
		if below[0], found, err = handOn(ctx, below[0], read); err != nil || !found {
			return n, false, err
		}
	}
	list, projects := n.(sql.Projector)
	if !found || !projects {
		if found {
			n, err = n.WithChildren(ctx, below[0])
		}
		return n, found, err
	}
	exprs := slices.Clone(list.ProjectedExprs())
	schema, ids := below[0].Schema(ctx), OutputIDs(below[0])
	for i, id := range ids {
		if len(ids) == len(schema) && read.Contains(id) && !slices.ContainsFunc(exprs, func(e sql.Expression) bool { return ID(e) == id }) {
			c := schema[i]
			exprs = append(exprs, expression.NewGetFieldWithTable(int(id), 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable))
		}
	}
	if _, window := n.(*plan.Window); window {
		return plan.NewWindow(exprs, below[0]), true, nil
	}
	return plan.NewProject(ctx, exprs, below[0]), true, nil
}
