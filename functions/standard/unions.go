package standard

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/collation"
)

// Unions gives both sides of a UNION the collations by which its rows are compared, which the casts
// that are put around the columns lose.
func Unions(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	n, queries, err := transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		s, ok := e.(*plan.Subquery)
		if !ok {
			return e, transform.SameTree, nil
		}
		q, same, err := Unions(ctx, s.Query)
		if err != nil || bool(same) {
			return e, transform.SameTree, err
		}
		return s.WithQuery(q), same, nil
	})
	if err != nil {
		return n, transform.SameTree, err
	}
	n, unions, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		u, ok := n.(*plan.SetOp)
		if !ok || !u.Distinct && u.SetOpType == plan.UnionType {
			return n, transform.SameTree, nil
		}
		by := Collations(ctx, u)
		if !slices.ContainsFunc(by, func(c sql.CollationID) bool { return !collation.ByBytes(c) }) && !casts(ctx, u.Left()) && !casts(ctx, u.Right()) {
			return n, transform.SameTree, nil
		}
		l, err := columnsBy(ctx, u.Left(), by)
		if err != nil {
			return n, transform.SameTree, err
		}
		r, err := columnsBy(ctx, u.Right(), by)
		if err != nil {
			return n, transform.SameTree, err
		}
		out, err := u.WithChildren(ctx, l, r)
		return out, transform.NewTree, err
	})
	return n, queries && unions, err
}

// casts reports whether the binder casts a column of a side of a UNION to a text, which has the
// connection's collation then.
func casts(ctx *sql.Context, n sql.Node) bool {
	p, ok := n.(*plan.Project)
	return ok && slices.ContainsFunc(p.Projections, func(e sql.Expression) bool { return merged(e) != nil && types.IsTextOnly(e.Type(ctx)) })
}

// columnsBy gives the columns of a side of a UNION their collations.
func columnsBy(ctx *sql.Context, n sql.Node, by []sql.CollationID) (sql.Node, error) {
	switch n := n.(type) {
	case *plan.Project:
		list := slices.Clone(n.Projections)
		for i, e := range list {
			if i >= len(by) || !types.IsTextOnly(e.Type(ctx)) {
				continue
			}
			a, ok := e.(*expression.Alias)
			if !ok {
				list[i] = columnBy(e, by[i])
				continue
			}
			var err error
			if list[i], err = a.WithChildren(ctx, columnBy(a.Child, by[i])); err != nil {
				return n, err
			}
		}
		out, err := n.WithExpressions(ctx, list...)
		return out, err
	case *plan.SetOp, *plan.Distinct, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Offset, *plan.Filter, *plan.Having:
		children := slices.Clone(n.Children())
		for i, c := range children {
			var err error
			if children[i], err = columnsBy(ctx, c, by); err != nil {
				return n, err
			}
		}
		return n.WithChildren(ctx, children...)
	}
	return n, mysql.NewSQLError(1235, "42000", "A UNION compares rows of texts that are not compared by bytes as SELECTs with a list of columns only. Use SELECT … FROM (…) x, or x COLLATE %s.", collation.Bytes.Name())
}

// collatedColumn is a column of one side of a UNION.
type collatedColumn struct {
	expression.UnaryExpressionStub
	by sql.CollationID
}

var _ sql.IdExpression = (*collatedColumn)(nil)

// columnBy gives a column a collation. It replaces the one of a UNION below.
func columnBy(e sql.Expression, by sql.CollationID) sql.Expression {
	if c, ok := e.(*collatedColumn); ok {
		e = c.Child
	}
	return &collatedColumn{expression.UnaryExpressionStub{Child: e}, by}
}

// Id implements sql.IdExpression.
func (c *collatedColumn) Id() sql.ColumnId {
	if x, ok := c.Child.(sql.IdExpression); ok {
		return x.Id()
	}
	return 0
}

// WithId implements sql.IdExpression.
func (c *collatedColumn) WithId(id sql.ColumnId) sql.IdExpression {
	if x, ok := c.Child.(sql.IdExpression); ok {
		return &collatedColumn{expression.UnaryExpressionStub{Child: x.WithId(id)}, c.by}
	}
	return c
}

// Eval implements sql.Expression.
func (c *collatedColumn) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	return c.Child.Eval(ctx, row)
}

// Type implements sql.Expression.
func (c *collatedColumn) Type(ctx *sql.Context) sql.Type {
	t := c.Child.Type(ctx)
	if s, ok := t.(sql.TypeWithCollation); ok {
		if by, err := s.WithNewCollation(c.by); err == nil {
			return by
		}
	}
	return t
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *collatedColumn) CollationCoercibility(*sql.Context) (sql.CollationID, byte) { return c.by, 2 }

// WithChildren implements sql.Expression.
func (c *collatedColumn) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 1)
	}
	return &collatedColumn{expression.UnaryExpressionStub{Child: children[0]}, c.by}, nil
}

func (c *collatedColumn) String() string { return c.Child.String() }
