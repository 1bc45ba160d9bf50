package planner

import (
	"reflect"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/planner/survey"
	"scrim/planner/tree"
)

// collated is the rule that makes comparisons by collations ones by bytes: of conditions, keys of
// GROUP BY and of windows, and orders. What plans and what evaluates a statement comes behind it.
func collated(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	create, creates := n.(*plan.CreateTable)
	if survey.SchemaOnly(ctx, n) || creates && (create.Select() == nil || create.TableOpts != nil) {
		return n, transform.SameTree, nil
	}
	c := &collator{ctx: ctx, types: map[sql.ColumnId]sql.Type{}, queries: map[sql.Node]sql.Node{}, origins: map[sql.ColumnId]sql.Expression{}}
	if creates {
		return c.selected(create)
	}
	out, err := c.node(n)
	if err != nil || !c.changed {
		return n, transform.SameTree, err
	}
	return out, transform.NewTree, nil
}

// collator is one pass over a tree, from the leaves on.
type collator struct {
	ctx     *sql.Context
	types   map[sql.ColumnId]sql.Type       // of columns of texts, whose collation the binder may have lost
	queries map[sql.Node]sql.Node           // of common table expressions: one node for all uses
	origins map[sql.ColumnId]sql.Expression // what columns of derived tables are
	changed bool
}

func (c *collator) node(n sql.Node) (sql.Node, error) {
	if a, ok := n.(*plan.SubqueryAlias); ok {
		q, done := c.queries[a.Child]
		if !done {
			var err error
			if q, err = c.node(a.Child); err != nil {
				return n, err
			}
			c.queries[a.Child] = q
		}
		if !sameNode(q, a.Child) {
			a = a.WithChild(q)
		}
		i, columns := 0, standard.Collations(c.ctx, q)
		p, _ := q.(*plan.Project)
		a.Columns().ForEach(func(id sql.ColumnId) {
			if i < len(columns) {
				c.note(id, q.Schema(c.ctx)[i].Type, columns[i])
			}
			if p != nil && i < len(p.Projections) {
				c.origins[id] = c.origin(p.Projections[i])
			}
			i++
		})
		return a, nil
	}
	children, same := slices.Clone(n.Children()), true
	for i, child := range n.Children() {
		out, err := c.node(child)
		if err != nil {
			return n, err
		}
		same = same && sameNode(out, child)
		children[i] = out
	}
	if !same {
		var err error
		if n, err = n.WithChildren(c.ctx, children...); err != nil {
			return n, err
		}
	}
	if insert, ok := n.(*plan.InsertInto); ok {
		if err := c.insertBytes(insert); err != nil {
			return n, err
		}
	}
	x, ok := n.(sql.Expressioner)
	if !ok {
		return n, nil
	}
	before := x.Expressions()
	after, same, err := c.list(before)
	if err != nil {
		return n, err
	}
	switch n := n.(type) {
	case *plan.Sort, *plan.TopN:
		after, same, err = c.each(after, same, 0, len(after), standard.Sorted)
	case *plan.SetOp:
		after, same, err = c.each(after, same, len(after)-len(n.SortConditions), len(after), standard.Sorted)
	case *plan.GroupBy:
		after, same, err = c.each(after, same, len(n.SelectDeps), len(after), c.keyed)
	}
	if err != nil {
		return n, err
	}
	if !same {
		c.changed = true
		if n, err = x.WithExpressions(c.ctx, after...); err != nil {
			return n, err
		}
	}
	for _, e := range after {
		id, ok := e.(sql.IdExpression)
		if _, field := e.(*expression.GetField); !ok || field || id.Id() == 0 {
			continue
		}
		if by, err := standard.Collation(c.ctx, "", e); err == nil {
			c.note(id.Id(), e.Type(c.ctx), by)
		}
	}
	return n, nil
}

// selected gives the columns of a CREATE TABLE AS SELECT the collations of what is selected.
func (c *collator) selected(n *plan.CreateTable) (sql.Node, transform.TreeIdentity, error) {
	q, err := c.node(n.Select())
	schema, columns, changed := n.PkSchema().Schema.Copy(), standard.Collations(c.ctx, q), false
	for i, column := range schema {
		if t, ok := column.Type.(sql.TypeWithCollation); ok && types.IsTextOnly(column.Type) && len(columns) == len(schema) && t.Collation() != columns[i] {
			if by, err := t.WithNewCollation(columns[i]); err == nil {
				column.Type, changed = by, true
			}
		}
	}
	if err != nil || !changed {
		return n, transform.SameTree, err
	}
	spec := &plan.TableSpec{Schema: sql.NewPrimaryKeySchema(schema), Collation: n.Collation}
	return plan.NewCreateTableSelect(n.Db, n.Name(), n.IfNotExists(), n.Temporary(), n.Select(), spec), transform.NewTree, nil
}

// insertBytes makes bytes of texts of latin1 that are inserted into columns of bytes, and refuses
// those of a query.
func (c *collator) insertBytes(n *plan.InsertInto) error {
	values, ok := n.Source.(*plan.Values)
	schema, source := n.Destination.Schema(c.ctx), sql.Schema(nil)
	if !ok && n.Source.Resolved() {
		source = n.Source.Schema(c.ctx)
	}
	for i, name := range n.ColumnNames {
		at := schema.IndexOfColName(name)
		if at < 0 || !types.IsBinaryType(schema[at].Type) {
			continue
		}
		if i < len(source) && types.IsTextOnly(source[i].Type) && collation.Of(source[i].Type).CharacterSet() == sql.CharacterSet_latin1 {
			return mysql.NewSQLError(1235, "42000", "A text of latin1 is not copied into a column of bytes. Write CAST(x AS BINARY), or CONVERT(x USING utf8mb4) for its bytes in UTF-8.")
		}
		for k := 0; ok && k < len(values.ExpressionTuples); k++ {
			if row := values.ExpressionTuples[k]; i < len(row) {
				row[i] = standard.Stored(c.ctx, row[i])
			}
		}
	}
	return nil
}

// origin is what a column of a derived table is there.
func (c *collator) origin(e sql.Expression) sql.Expression {
	e = tree.Unalias(e)
	if f, ok := e.(*expression.GetField); ok && c.origins[f.Id()] != nil {
		return c.origins[f.Id()]
	}
	return e
}

// keyed is standard.Keyed of an expression, or of what it is in the derived table that it is from:
// a column of constants keeps their spelling.
func (c *collator) keyed(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	if o := c.origin(e); !identical(o, e) {
		if k, err := standard.Keyed(ctx, o); err == nil && identical(k, o) {
			return e, nil
		}
	}
	return standard.Keyed(ctx, e)
}

// each rewrites some of the expressions of a list.
func (c *collator) each(list []sql.Expression, same bool, from, to int, f func(*sql.Context, sql.Expression) (sql.Expression, error)) ([]sql.Expression, bool, error) {
	for i := from; i < to; i++ {
		e, err := f(c.ctx, list[i])
		if err != nil {
			return list, same, err
		}
		if !identical(e, list[i]) {
			list[i], same = e, false
		}
	}
	return list, same, nil
}

// identical reports whether two expressions are one. Tuples are slices, which are not compared.
func identical(a, b sql.Expression) bool {
	if _, ok := a.(expression.Tuple); ok {
		return false
	}
	if _, ok := b.(expression.Tuple); ok {
		return false
	}
	return a == b
}

func sameNode(a, b sql.Node) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && (!reflect.TypeOf(a).Comparable() || a == b)
}

// note remembers the type of a column of texts, with its collation, for what refers to it.
func (c *collator) note(id sql.ColumnId, t sql.Type, by sql.CollationID) {
	s, ok := t.(sql.TypeWithCollation)
	if !ok || !types.IsTextOnly(t) {
		return
	}
	if t, err := s.WithNewCollation(by); err == nil {
		c.types[id] = t
	}
}

func (c *collator) list(before []sql.Expression) (after []sql.Expression, same bool, err error) {
	after, same = slices.Clone(before), true
	for i, e := range before {
		out, changed, err := c.expr(e)
		if err != nil {
			return before, true, err
		}
		if changed {
			after[i], same = out, false
		}
	}
	return after, same, nil
}

func (c *collator) expr(e sql.Expression) (out sql.Expression, changed bool, err error) {
	switch e := e.(type) {
	case nil, *sql.ColumnDefaultValue, *expression.Literal:
		return e, false, nil
	case *expression.GetField:
		t, ok := c.types[e.Id()]
		if !ok || e.Id() == 0 || collation.Of(t) == collation.Of(e.Type(c.ctx)) {
			return e, false, nil
		}
		f := expression.NewGetFieldWithTable(e.Index(), int(e.TableId()), t, e.Database(), e.Table(), e.Name(), e.IsNullable(c.ctx))
		return f.WithId(e.Id()).(sql.Expression), true, nil
	case *plan.Subquery:
		q, err := c.node(e.Query)
		if err != nil || sameNode(q, e.Query) {
			return e, false, err
		}
		return e.WithQuery(q), true, nil
	}
	children, same, err := c.list(e.Children())
	if err != nil {
		return e, false, err
	}
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil && err == nil {
		orders := len(w.Window().OrderBy)
		if children, same, err = c.each(children, same, 0, orders, standard.Sorted); err == nil {
			children, same, err = c.each(children, same, orders, orders+len(w.Window().PartitionBy), c.keyed)
		}
		if err != nil {
			return e, false, err
		}
	}
	out = e
	if !same {
		if out, err = e.WithChildren(c.ctx, children...); err != nil {
			return e, false, err
		}
		if was, ok := e.(sql.IdExpression); ok {
			if is, ok := out.(sql.IdExpression); ok && is.Id() != was.Id() {
				out = is.WithId(was.Id())
			}
		}
	}
	by, err := standard.Collated(c.ctx, out)
	if err != nil {
		return e, false, err
	}
	if !identical(by, out) {
		return by, true, nil
	}
	return out, !same, nil
}
