package standard

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/collation"
)

// Collate makes comparisons by collations ones by bytes: of conditions, keys of GROUP BY and of
// windows, and orders. What plans and what evaluates a statement comes behind it.
func Collate(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	c := &collator{types: map[sql.ColumnId]sql.Type{}, origins: map[sql.ColumnId]sql.Expression{}}
	c.walker = newWalker(ctx, c)
	if create, ok := n.(*plan.CreateTable); ok {
		return c.selected(create)
	}
	return c.node(n)
}

// collator is one pass over a tree.
type collator struct {
	walker
	types   map[sql.ColumnId]sql.Type       // of columns of texts, whose collation the binder may have lost
	origins map[sql.ColumnId]sql.Expression // what columns of derived tables are
	nulls   sql.ColSet                      // columns that may be NULL, though the binder has them NOT NULL
}

func (c *collator) derived(a *plan.SubqueryAlias, ids []sql.ColumnId) {
	columns, schema := Collations(c.ctx, a.Child), a.Child.Schema(c.ctx)
	p, _ := a.Child.(*plan.Project)
	for i, id := range ids {
		if i < len(columns) {
			c.note(id, schema[i].Type, columns[i])
		}
		if p != nil && i < len(p.Projections) {
			c.origins[id] = c.origin(p.Projections[i])
		}
		if i < len(schema) && c.columnNull(a.Child, i) {
			c.nulls.Add(id)
		}
	}
}

// columnNull reports whether a column of a query may be NULL.
func (c *collator) columnNull(n sql.Node, i int) bool {
	switch n := n.(type) {
	case *plan.Project:
		return c.mayBeNull(n.Projections[i])
	case *plan.Sort, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Having, *plan.Filter, *plan.SetOp:
		return slices.ContainsFunc(n.Children(), func(n sql.Node) bool { return c.columnNull(n, i) })
	}
	return n.Schema(c.ctx)[i].Nullable
}

// mayBeNull reports whether MySQL takes an expression for one that may be NULL, as it does all
// aggregates but those that count or combine bits.
func (c *collator) mayBeNull(e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.GetField:
		return e.IsNullable(c.ctx) || c.nulls.Contains(e.Id())
	case *aggregation.Count, *aggregation.CountDistinct, *aggregation.BitAnd, *aggregation.BitOr, *aggregation.BitXor:
		return false
	case sql.Aggregation, *plan.Subquery, *gms.NullIf:
		return true
	case *gms.IfNull, *gms.Coalesce:
		return !slices.ContainsFunc(e.Children(), func(e sql.Expression) bool { return !c.mayBeNull(e) })
	}
	return e.IsNullable(c.ctx) || slices.ContainsFunc(e.Children(), c.mayBeNull)
}

func (c *collator) defined(id sql.ColumnId, e sql.Expression) {
	if c.mayBeNull(e) {
		c.nulls.Add(id)
	}
	if by, err := Collation(c.ctx, "", e); err == nil {
		c.note(id, e.Type(c.ctx), by)
	}
}

func (c *collator) over(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	n, same, err := c.children(n)
	switch n := n.(type) {
	case *plan.InsertInto:
		if err == nil {
			err = c.insertBytes(n)
		}
	case *plan.JoinNode:
		for i, outer := range []bool{n.Op.IsRightOuter() || n.Op.IsFullOuter(), n.Op.IsLeftOuter() || n.Op.IsFullOuter()} {
			transform.Inspect(n.Children()[i], func(n sql.Node) bool {
				if t, ok := n.(plan.TableIdNode); ok && outer {
					c.nulls.UnionWith(t.Columns())
				}
				return outer
			})
		}
	}
	return n, same, err
}

func (c *collator) listed(n sql.Node, list []sql.Expression, same transform.TreeIdentity) ([]sql.Expression, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.Sort, *plan.TopN:
		return c.each(list, same, 0, len(list), Sorted)
	case *plan.SetOp:
		return c.each(list, same, len(list)-len(n.SortConditions), len(list), Sorted)
	case *plan.GroupBy:
		return c.each(list, same, len(n.SelectDeps), len(list), c.keyed)
	}
	return list, same, nil
}

// selected gives the columns of a CREATE TABLE AS SELECT the collations of what is selected, and
// the types of its DECIMALs, and lets those be NULL that may.
func (c *collator) selected(n *plan.CreateTable) (sql.Node, transform.TreeIdentity, error) {
	q, _, err := c.node(n.Select())
	schema, columns, changed := n.PkSchema().Schema.Copy(), Collations(c.ctx, q), false
	as, _, failed := Types(c.ctx, q, false)
	for i, column := range schema {
		if len(q.Schema(c.ctx)) == len(schema) && !column.Nullable && c.columnNull(q, i) {
			column.Nullable, changed = true, true
		}
		if failed == nil && len(columns) == len(schema) && types.IsDecimal(column.Type) {
			column.Type, changed = as.Schema(c.ctx)[i].Type, true
		}
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
				row[i] = Stored(c.ctx, row[i])
			}
		}
	}
	return nil
}

// origin is what a column of a derived table is there.
func (c *collator) origin(e sql.Expression) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	if f, ok := e.(*expression.GetField); ok && c.origins[f.Id()] != nil {
		return c.origins[f.Id()]
	}
	return e
}

// keyed is Keyed of an expression, or of what it is in the derived table that it is from:
// a column of constants keeps their spelling.
func (c *collator) keyed(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	if o := c.origin(e); !identical(o, e) {
		if k, err := Keyed(ctx, o); err == nil && identical(k, o) {
			return e, nil
		}
	}
	return Keyed(ctx, e)
}

// each rewrites some of the expressions of a list.
func (c *collator) each(list []sql.Expression, same transform.TreeIdentity, from, to int, f func(*sql.Context, sql.Expression) (sql.Expression, error)) ([]sql.Expression, transform.TreeIdentity, error) {
	for i := from; i < to; i++ {
		e, err := f(c.ctx, list[i])
		if err != nil {
			return list, same, err
		}
		if !identical(e, list[i]) {
			list[i], same = e, transform.NewTree
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

func (c *collator) column(f *expression.GetField) sql.Expression {
	t, ok := c.types[f.Id()]
	if !ok || f.Id() == 0 || collation.Of(t) == collation.Of(f.Type(c.ctx)) {
		return f
	}
	return fieldAs(c.ctx, f, t, f.TableId())
}

func (c *collator) rewritten(e sql.Expression, children []sql.Expression, same transform.TreeIdentity) (out sql.Expression, _ transform.TreeIdentity, err error) {
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		orders := len(w.Window().OrderBy)
		if children, same, err = c.each(children, same, 0, orders, Sorted); err == nil {
			children, same, err = c.each(children, same, orders, orders+len(w.Window().PartitionBy), c.keyed)
		}
		if err != nil {
			return e, same, err
		}
	}
	out = e
	if !same {
		if out, err = e.WithChildren(c.ctx, children...); err != nil {
			return e, same, err
		}
		if was, ok := e.(sql.IdExpression); ok {
			if is, ok := out.(sql.IdExpression); ok && is.Id() != was.Id() {
				out = is.WithId(was.Id())
			}
		}
	}
	by, err := Collated(c.ctx, out)
	return by, same && transform.TreeIdentity(identical(by, out)), err
}
