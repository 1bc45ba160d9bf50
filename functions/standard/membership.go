package standard

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/collation"
	"scrim/internal/lists"
)

// alike reports whether go-mysql-server compares values of two types as MySQL does where it looks
// one up among many of the other: integers, and texts and dates of one kind.
func alike(ctx *sql.Context, a, b sql.Expression) bool {
	x, y := a.Type(ctx), b.Type(ctx)
	switch {
	case x == types.Null || y == types.Null:
		return false
	case types.IsInteger(x) && types.IsInteger(y), types.IsDateType(x) && types.IsDateType(y):
		return true
	case types.IsTextOnly(x) && types.IsTextOnly(y):
		c, _ := collationOf(ctx, a)
		d, _ := collationOf(ctx, b)
		return c == d && collation.ByBytes(c)
	}
	return types.IsDatetimeType(x) && x.Equals(y)
}

// hasRoom reports whether the type of b holds an integer a, or a is none: go-mysql-server converts
// it.
func hasRoom(ctx *sql.Context, a, b sql.Expression) bool {
	m, ok := NumberOf(ctx, a)
	n, _ := NumberOf(ctx, b)
	if m.Unsigned == n.Unsigned {
		return m.Precision <= n.Precision || !ok
	}
	return m.Unsigned && m.Precision < n.Precision
}

// fields are the columns that rows of a type have.
func fields(ctx *sql.Context, t sql.Type, from int) []sql.Expression {
	list := []sql.Type{t}
	if row, ok := t.(types.TupleType); ok {
		list = row
	}
	out := make([]sql.Expression, len(list))
	for i, t := range list {
		out[i] = expression.NewGetField(from+i, t, "", true)
	}
	return out
}

// pairs are a = c AND b = d of the rows (a, b) and (c, d), each compared as = does.
func pairs(ctx *sql.Context, left, right []sql.Expression) (sql.Expression, error) {
	if len(left) != len(right) {
		return nil, sql.ErrInvalidOperandColumns.New(len(left), len(right))
	}
	list := make([]sql.Expression, len(left))
	for i := range left {
		var err error
		if list[i], err = pair(ctx, expression.NewEquals(nil, nil), left[i], right[i]); err != nil {
			return nil, err
		}
	}
	return expression.JoinAnd(list...), nil
}

// pair is a comparison with two other operands.
func pair(ctx *sql.Context, by sql.Expression, l, r sql.Expression) (sql.Expression, error) {
	e, err := by.WithChildren(ctx, l, r)
	if err != nil {
		return nil, err
	}
	if e, err = Collated(ctx, e); err != nil {
		return nil, err
	}
	l, r = e.Children()[0], e.Children()[1]
	p, q := l.Type(ctx), r.Type(ctx)
	if member(p) && !isNumber(q) && !isBytes(q) {
		l = inText(ctx, l)
	}
	if member(q) && !isNumber(p) && !isBytes(p) {
		r = inText(ctx, r)
	}
	if e, err = by.WithChildren(ctx, l, r); err != nil {
		return nil, err
	}
	return Guarded(ctx, Typed(ctx, e))
}

// members are the values of a row.
func members(e sql.Expression) []sql.Expression {
	if row, ok := e.(expression.Tuple); ok {
		return row
	}
	return []sql.Expression{e}
}

// inTuple is IN over a list whose members are rows, or of types that go-mysql-server compares by
// that of the first: a chain of comparisons. It returns nil of other lists.
func inTuple(ctx *sql.Context, e *expression.InTuple) (sql.Expression, error) {
	list, ok := e.Right().(expression.Tuple)
	if !ok || !e.Resolved() {
		return nil, nil
	}
	for _, m := range append([]sql.Expression{e.Left()}, list...) {
		if _, row := m.(expression.Tuple); !row && types.NumColumns(m.Type(ctx)) > 1 {
			return nil, nil // a subquery of several columns
		}
	}
	left, same := e.Left(), true
	for _, m := range list {
		same = same && (alike(ctx, left, m) || m.Type(ctx) == types.Null)
	}
	if _, row := left.(expression.Tuple); same && !row {
		return nil, nil
	}
	parts, err := lists.Try(list, func(m sql.Expression) (sql.Expression, error) { return pairs(ctx, members(left), members(m)) })
	if err != nil {
		return nil, err
	}
	return anyOf(parts), nil
}

// chained is a comparison of two rows, NULLIF, or CASE with an operand, whose values
// go-mysql-server compares by other types than it does single ones: a chain of comparisons. It
// returns nil of others.
func chained(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	switch e := Untyped(e).(type) {
	case *expression.Case:
		if e.Expr == nil || !e.Resolved() || !slices.ContainsFunc(e.Branches, func(b expression.CaseBranch) bool { return !alike(ctx, e.Expr, b.Cond) }) {
			return nil, nil
		}
		branches := slices.Clone(e.Branches)
		for i, b := range branches {
			var err error
			if branches[i].Cond, err = pairs(ctx, []sql.Expression{e.Expr}, []sql.Expression{b.Cond}); err != nil {
				return nil, err
			}
		}
		return Typed(ctx, expression.NewCase(nil, branches, e.Else)), nil
	case *gms.NullIf:
		if !e.Resolved() || alike(ctx, e.LeftChild, e.RightChild) || e.LeftChild.Type(ctx) == types.Null || e.RightChild.Type(ctx) == types.Null {
			return nil, nil
		}
		equal, err := pairs(ctx, []sql.Expression{e.LeftChild}, []sql.Expression{e.RightChild})
		if err != nil {
			return nil, err
		}
		return gms.NewIf(ctx, expression.NewIsTrue(equal), expression.NewLiteral(nil, types.Null), e.LeftChild), nil
	case expression.Comparer:
		l, isL := e.Left().(expression.Tuple)
		r, isR := e.Right().(expression.Tuple)
		if !isL || !isR || len(l) != len(r) || !e.Resolved() {
			return nil, nil
		}
		same, strict := true, expression.Comparer(nil)
		for i := range l {
			same = same && alike(ctx, l[i], r[i])
		}
		switch e.(type) {
		case *expression.GreaterThan, *expression.GreaterThanOrEqual:
			strict = expression.NewGreaterThan(nil, nil)
		case *expression.LessThan, *expression.LessThanOrEqual:
			strict = expression.NewLessThan(nil, nil)
		case *expression.Equals, *expression.NullSafeEquals:
		default:
			return nil, nil
		}
		if same {
			return nil, nil
		}
		var out sql.Expression
		for i := len(l) - 1; i >= 0; i-- {
			x, err := pair(ctx, e, l[i], r[i])
			if err != nil {
				return nil, err
			}
			if out == nil || strict == nil {
				if out != nil {
					x = expression.NewAnd(x, out)
				}
				out = x
				continue
			}
			if x, err = pair(ctx, strict, l[i], r[i]); err != nil {
				return nil, err
			}
			equal, err := pairs(ctx, l[i:i+1], r[i:i+1])
			if err != nil {
				return nil, err
			}
			out = expression.NewOr(x, expression.NewAnd(equal, out))
		}
		return out, nil
	}
	return nil, nil
}

// anyOf is OR of conditions, as a tree of little depth.
func anyOf(list []sql.Expression) sql.Expression {
	if len(list) == 1 {
		return list[0]
	}
	half := len(list) / 2
	return expression.NewOr(anyOf(list[:half]), anyOf(list[half:]))
}

// InCollation returns the collation by which IN compares a value with a column of a subquery.
func InCollation(ctx *sql.Context, left sql.Expression, q *plan.Subquery, column int) (sql.CollationID, error) {
	schema := q.Query.Schema(ctx)
	if column >= len(schema) {
		return collation.Bytes, nil
	}
	right := sql.Expression(expression.NewGetField(column, schema[column].Type, schema[column].Name, true))
	if p, ok := q.Query.(sql.Projector); ok && len(p.ProjectedExprs()) == len(schema) {
		right = p.ProjectedExprs()[column]
	}
	return Collation(ctx, "in", left, right)
}

// named gives the columns of a subquery names, without which go-mysql-server would make a join of
// it whose condition reads columns below them.
func named(ctx *sql.Context, n sql.Node) (out sql.Node, changed bool, err error) {
	switch n := n.(type) {
	case *plan.Project:
		list := slices.Clone(n.Projections)
		for i, e := range list {
			switch e.(type) {
			case *expression.Alias, *expression.GetField:
			default:
				list[i], changed = expression.NewAlias(ctx, e.String(), e).AsUnreferencable(), true
			}
		}
		if !changed {
			return n, false, nil
		}
		return plan.NewProject(ctx, list, n.Child), true, nil
	case *plan.Limit, *plan.Offset, *plan.Sort, *plan.TopN, *plan.Distinct, *plan.Filter, *plan.Having:
		child, changed, err := named(ctx, n.Children()[0])
		if err != nil || !changed {
			return n, false, err
		}
		out, err = n.WithChildren(ctx, child)
		return out, true, err
	}
	return n, false, nil
}

// Listed evaluates IN over a subquery here where it compares texts by a collation. It comes behind
// what translates for the store, and before go-mysql-server makes joins of such conditions.
func Listed(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *plan.Subquery:
			q, same, err := Listed(ctx, e.Query)
			if err != nil {
				return e, transform.SameTree, err
			}
			q, renamed, err := named(ctx, q)
			if err != nil || bool(same) && !renamed {
				return e, transform.SameTree, err
			}
			return e.WithQuery(q), transform.NewTree, nil
		case *plan.InSubquery:
			q, ok := e.RightChild.(*plan.Subquery)
			if !ok || !e.Resolved() {
				return e, transform.SameTree, nil
			}
			for i, l := range members(e.LeftChild) {
				if c, err := InCollation(ctx, l, q, i); err != nil {
					return e, transform.SameTree, err
				} else if !collation.ByBytes(c) {
					out, err := inSubquery(ctx, e)
					return out, transform.NewTree, err
				}
			}
		}
		return e, transform.SameTree, nil
	})
}

// inRows is IN over a subquery, evaluated by one comparison after the other. Its child is the node
// of go-mysql-server, which other rules know.
type inRows struct {
	in    *plan.InSubquery
	equal sql.Expression // of a row of the left values and those of the subquery
}

// inSubquery returns the node that takes the place of IN over a subquery; nil where
// go-mysql-server's own serves.
func inSubquery(ctx *sql.Context, in *plan.InSubquery) (sql.Expression, error) {
	q, ok := in.RightChild.(*plan.Subquery)
	if !ok || !in.Resolved() {
		return nil, nil
	}
	left := members(in.LeftChild)
	right := fields(ctx, q.Type(ctx), types.NumColumns(in.LeftChild.Type(ctx)))
	if len(left) == 1 && len(right) == 1 && alike(ctx, left[0], right[0]) && hasRoom(ctx, left[0], right[0]) {
		return nil, nil
	}
	values := fields(ctx, in.LeftChild.Type(ctx), 0)
	for i := range min(len(left), len(right)) {
		c, err := InCollation(ctx, left[i], q, i)
		if err != nil {
			return nil, err
		}
		if !collation.ByBytes(c) && len(values) == len(left) {
			values[i], right[i] = weighed(values[i], c, collation.ForKey), weighed(right[i], c, collation.ForKey)
		}
	}
	equal, err := pairs(ctx, values, right)
	if err != nil {
		return nil, err
	}
	return &inRows{in, equal}, nil
}

// Eval implements sql.Expression.
func (e *inRows) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	left, err := e.in.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	rows, err := e.in.RightChild.(*plan.Subquery).EvalMultiple(ctx, row)
	if err != nil {
		return nil, err
	}
	start := values(nil, left)
	for len(start) < types.NumColumns(e.in.LeftChild.Type(ctx)) {
		start = append(start, nil) // of a subquery without a row
	}
	null := false
	for i, r := range rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v, err := sql.EvaluateCondition(ctx, e.equal, values(start, r))
		if err != nil {
			return nil, err
		}
		if sql.IsTrue(v) {
			return true, nil
		}
		null = null || v == nil
	}
	if null {
		return nil, nil
	}
	return false, nil
}

// values puts the values of a row behind others.
func values(before sql.Row, v any) sql.Row {
	before = before[:len(before):len(before)]
	if list, ok := v.([]any); ok {
		return append(before, list...)
	}
	return append(before, v)
}

// Children implements sql.Expression.
func (e *inRows) Children() []sql.Expression { return []sql.Expression{e.in} }

// WithChildren implements sql.Expression.
func (e *inRows) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if again, ok := children[0].(*inRows); ok { // of a tree that Guard has seen before
		return again, nil
	}
	in, ok := children[0].(*plan.InSubquery)
	if len(children) != 1 || !ok {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &inRows{in, e.equal}, nil
}

// Type implements sql.Expression.
func (e *inRows) Type(*sql.Context) sql.Type { return types.Boolean }

// IsNullable implements sql.Expression.
func (e *inRows) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (e *inRows) Resolved() bool { return e.in.Resolved() }

func (e *inRows) String() string { return e.in.String() }

// DebugString implements sql.DebugStringer.
func (e *inRows) DebugString(ctx *sql.Context) string { return e.in.DebugString(ctx) }

// CollationCoercibility implements sql.CollationCoercible.
func (e *inRows) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	return e.in.CollationCoercibility(ctx)
}
