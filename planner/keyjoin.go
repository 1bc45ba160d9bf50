package planner

import (
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/planner/keys"
	"scrim/planner/tree"
)

// keyJoin keeps the rows of an answer whose keys another answer has: what a join of rows of persons
// with that answer comes to, see join_after_release.go.
type keyJoin struct {
	left, right sql.Node
	pairs       []matched
	in, not     bool // for IN and NOT IN, NULL has their meaning
}

// matched is a column of each side that are compared; with null, NULL equals NULL.
type matched struct {
	left, right int
	null        bool
	by          sql.CollationID // of texts
}

var (
	_ sql.ExecBuilderNode    = (*keyJoin)(nil)
	_ sql.Projector          = (*keyJoin)(nil)
	_ sql.CollationCoercible = (*keyJoin)(nil)
)

func (j *keyJoin) Resolved() bool                     { return j.left.Resolved() && j.right.Resolved() }
func (j *keyJoin) IsReadOnly() bool                   { return true }
func (j *keyJoin) Schema(ctx *sql.Context) sql.Schema { return j.left.Schema(ctx) }
func (j *keyJoin) Children() []sql.Node               { return []sql.Node{j.left, j.right} }
func (j *keyJoin) ProjectedExprs() []sql.Expression   { return j.left.(sql.Projector).ProjectedExprs() }
func (j *keyJoin) String() string                     { return "KeyJoin" }
func (j *keyJoin) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(j, len(children), 2)
	}
	n := *j
	n.left, n.right = children[0], children[1]
	return &n, nil
}

func (j *keyJoin) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// BuildRowIter implements sql.ExecBuilderNode.
func (j *keyJoin) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	l, err := b.Build(ctx, j.left, row)
	if err != nil {
		return nil, err
	}
	r, err := b.Build(ctx, j.right, row)
	if err != nil {
		return nil, err
	}
	return &keyJoinIter{join: j, left: l, right: r, types: j.types(ctx)}, nil
}

// types are those that values are compared in: of the left side's columns.
func (j *keyJoin) types(ctx *sql.Context) []sql.Type {
	schema := j.left.Schema(ctx)
	return lists.Map(j.pairs, func(p matched) sql.Type { return schema[p.left].Type })
}

type keyJoinIter struct {
	join        *keyJoin
	left, right sql.RowIter
	types       []sql.Type
	known       map[string]bool // of the right side's rows; nil before they are read
	null        bool            // one of them has a NULL
}

func (i *keyJoinIter) Close(ctx *sql.Context) error {
	err := i.left.Close(ctx)
	if e := i.right.Close(ctx); err == nil {
		err = e
	}
	return err
}

// Next implements sql.RowIter.
func (i *keyJoinIter) Next(ctx *sql.Context) (sql.Row, error) {
	if i.known == nil {
		if err := i.read(ctx); err != nil {
			return nil, err
		}
	}
	for {
		row, err := i.left.Next(ctx)
		if err != nil {
			return nil, err
		}
		key, null, err := i.text(ctx, row, func(p matched) int { return p.left })
		if err != nil {
			return nil, err
		}
		found := i.known[key] && !null
		if i.join.not {
			found = len(i.known) == 0 && !i.null || !i.known[key] && !null && !i.null
		}
		if found {
			return row, nil
		}
	}
}

func (i *keyJoinIter) read(ctx *sql.Context) error {
	i.known = map[string]bool{}
	for {
		row, err := i.right.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		key, null, err := i.text(ctx, row, func(p matched) int { return p.right })
		if err != nil {
			return err
		}
		if null {
			i.null = true
		} else {
			i.known[key] = true
		}
	}
}

// text writes the compared columns of a row. null is true where one is NULL that equals nothing.
func (i *keyJoinIter) text(ctx *sql.Context, row sql.Row, at func(matched) int) (string, bool, error) {
	var b strings.Builder
	null := false
	for k, p := range i.join.pairs {
		v := row[at(p)]
		if v == nil {
			null = null || !p.null
			b.WriteString("-")
			continue
		}
		v, _, err := i.types[k].Convert(ctx, v)
		if err != nil {
			return "", false, err
		}
		text := collation.Key(p.by, fmt.Sprint(keys.Text(i.types[k], v)))
		fmt.Fprintf(&b, "%d:%s", len(text), text)
	}
	return b.String(), null, nil
}

// follow rewrites the expressions of a node over an answer: keys, column types, subqueries.
func (s *statement) follow(n sql.Node, keys []keyField) (sql.Node, error) {
	ex, ok := n.(sql.Expressioner)
	if !ok {
		return n, nil
	}
	before := s.over
	s.over = n
	defer func() { s.over = before }()
	exprs := ex.Expressions()
	out := make([]sql.Expression, len(exprs))
	_, passes := n.(*plan.Project)
	for i, e := range exprs {
		if gf, plain := e.(*expression.GetField); plain && passes && s.carried[gf.Id()] {
			out[i] = e // which the top of the query block does not read
			continue
		}
		x, err := s.followExpr(e, keys)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return ex.WithExpressions(s.ctx, out...)
}

// notGrouped is MySQL's error of a column that is neither a key nor in an aggregate: a group has
// many values of it, each of them a person's.
func notGrouped(at int, gf *expression.GetField) error {
	return analyzererrors.ErrValidationGroupBy.New(at+1, gf)
}

func (s *statement) followExpr(e sql.Expression, keys []keyField) (sql.Expression, error) {
	if _, weighed := e.(*standard.Weighed); !weighed { // whose text is that of what it is of
		if k, ok := lists.Find(keys, func(k keyField) bool { return tree.Same(s.ctx, e, standard.Unkeyed(k.expr)) }); ok {
			return k.field, nil
		}
	}
	switch e := e.(type) {
	case *plan.Subquery:
		return s.subquery(e)
	case *plan.InSubquery, *plan.ExistsSubquery:
		// which ask for rows, and not for a value
		for _, c := range e.Children() {
			if q, ok := c.(*plan.Subquery); ok && !q.Correlated().Empty() && s.HasProtected(q.Query) {
				return nil, everyRow()
			}
		}
	case *expression.GetField:
		if s.carried[e.Id()] {
			return nil, notGrouped(0, e)
		}
		if t, ok := s.retyped[e.Id()]; ok {
			return tree.Column(e.Id(), e.TableId(), t, e.Database(), e.Table(), e.Name()), nil
		}
		return e, nil
	}
	children := e.Children()
	if len(children) == 0 {
		return e, nil
	}
	out, changed := make([]sql.Expression, len(children)), false
	for i, c := range children {
		x, err := s.followExpr(c, keys)
		if err != nil {
			return nil, err
		}
		_, list := c.(expression.Tuple) // a slice, which is not compared
		out[i], changed = x, changed || list || x != c
	}
	if !changed {
		return e, nil
	}
	return e.WithChildren(s.ctx, out...)
}
