package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// onlyFullGroupBy holds a statement to sql_mode's ONLY_FULL_GROUP_BY: what is selected beside
// aggregates, or sorts the groups, has one value in each group. It follows from the keys by unique
// columns and by equations, as in MySQL. And what sorts distinct rows is selected.
func onlyFullGroupBy(ctx *sql.Context, n sql.Node) error {
	if !sql.LoadSqlMode(ctx).OnlyFullGroupBy() {
		return nil
	}
	return blocks(ctx, n, nil)
}

// blocks checks the query blocks of a tree. Above are the nodes of n's own block, from its top on.
func blocks(ctx *sql.Context, n sql.Node, above []sql.Node) error {
	if e, ok := n.(sql.Expressioner); ok {
		for _, e := range e.Expressions() {
			var err error
			tree.Contains(ctx, e, func(e sql.Expression) bool {
				if q, ok := e.(*gmsplan.Subquery); ok && err == nil {
					err = blocks(ctx, q.Query, nil)
				}
				return err != nil
			})
			if err != nil {
				return err
			}
		}
	}
	var below []sql.Node
	switch n := n.(type) {
	case *gmsplan.InsertInto:
		return blocks(ctx, n.Source, nil)
	case *gmsplan.SubqueryAlias:
		return blocks(ctx, n.Child, nil)
	case *gmsplan.GroupBy:
		if err := grouped(ctx, n, above); err != nil {
			return err
		}
	case *gmsplan.Distinct:
		if err := distinctly(ctx, n); err != nil {
			return err
		}
		below = append(above[:len(above):len(above)], n)
	case *gmsplan.Project, *gmsplan.Sort, *gmsplan.Having, *gmsplan.Window, *gmsplan.Limit, *gmsplan.Offset:
		below = append(above[:len(above):len(above)], n)
	}
	return lists.Each(n.Children(), func(c sql.Node) error { return blocks(ctx, c, below) })
}

// grouped checks the groups of a block.
func grouped(ctx *sql.Context, g *gmsplan.GroupBy, above []sql.Node) error {
	if len(g.GroupByExprs) == 0 && !slices.ContainsFunc(g.SelectDeps, func(e sql.Expression) bool { return aggregates(ctx, e) }) {
		return nil
	}
	d := dependences{ctx: ctx, keys: g.GroupByExprs, aliases: map[sql.ColumnId]sql.Expression{}}
	for _, n := range above {
		if p, ok := n.(*gmsplan.Project); ok {
			d.named(p)
		}
	}
	d.within(g.Child)
	d.settle()
	first := true
	for _, n := range above {
		switch n := n.(type) {
		case *gmsplan.Project:
			for i, e := range n.Projections {
				if gf := d.free(e); gf != nil && first {
					if len(g.GroupByExprs) == 0 {
						return sql.ErrNonAggregatedColumnWithoutGroupBy.New(i+1, gf)
					}
					return notGrouped(i, gf)
				}
			}
			first = false
		case *gmsplan.Sort:
			for i, e := range n.Expressions() {
				if gf := d.free(e); gf != nil && len(g.GroupByExprs) > 0 {
					return analyzererrors.ErrValidationGroupByOrderBy.New(i+1, gf)
				}
			}
		case *gmsplan.Window:
			for _, e := range n.SelectExprs {
				if _, passes := e.(*expression.GetField); passes {
					continue
				}
				if gf := d.free(e); gf != nil && len(g.GroupByExprs) == 0 {
					return sql.ErrNonAggregatedColumnWithoutGroupBy.New(1, gf)
				} else if gf != nil {
					return notGrouped(0, gf)
				}
			}
		}
	}
	return nil
}

// aggregates reports whether an expression has an aggregate: ANY_VALUE is none.
func aggregates(ctx *sql.Context, e sql.Expression) bool {
	return tree.Contains(ctx, e, func(e sql.Expression) bool {
		_, is := e.(sql.Aggregation)
		_, any := e.(*aggregation.AnyValue)
		return is && !any
	})
}

// distinctly checks what sorts distinct rows.
func distinctly(ctx *sql.Context, n *gmsplan.Distinct) error {
	p, ok := n.Child.(*gmsplan.Project)
	if !ok {
		return nil
	}
	s, ok := p.Child.(*gmsplan.Sort)
	if !ok {
		return nil
	}
	d := dependences{ctx: ctx, keys: p.Projections, aliases: map[sql.ColumnId]sql.Expression{}}
	for _, id := range tree.OutputIDs(d.below(s.Child)) {
		d.inside.Add(id)
	}
	d.begin()
	for i, e := range s.Expressions() {
		if gf := d.free(e); gf != nil {
			return mysql.NewSQLError(3065, "HY000", "Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT list; this is incompatible with DISTINCT", i+1, gf)
		}
	}
	return nil
}

// dependences are the columns of a block that have one value where the keys have one each.
type dependences struct {
	ctx     *sql.Context
	keys    []sql.Expression
	aliases map[sql.ColumnId]sql.Expression
	inside  sql.ColSet // columns of the rows that are grouped; others are outside of the block, or aggregates
	known   sql.ColSet
	follows []func() // each may add to what is known
}

// within takes the rows below the groups.
func (d *dependences) within(n sql.Node) {
	for _, id := range tree.OutputIDs(n) {
		d.inside.Add(id)
	}
	d.rows(n)
}

// settle finds all that follows from the keys.
func (d *dependences) settle() {
	d.begin()
	for before := -1; before != d.known.Len(); {
		before = d.known.Len()
		for _, f := range d.follows {
			f()
		}
	}
}

// begin takes the keys themselves.
func (d *dependences) begin() {
	for _, k := range d.keys {
		k = standard.Unkeyed(tree.Unalias(k))
		if gf, ok := k.(*expression.GetField); ok {
			d.known.Add(gf.Id())
			if a, ok := d.aliases[gf.Id()]; ok {
				d.keys = append(d.keys, a)
				k = a
			}
		}
		if gf, ok := k.(*expression.GetField); ok {
			d.known.Add(gf.Id())
		}
	}
}

// rows adds what follows from what in a FROM and its WHERE.
func (d *dependences) rows(n sql.Node) {
	switch n := n.(type) {
	case *gmsplan.Filter:
		d.equal(n.Expression, nil)
		d.rows(n.Child)
	case *gmsplan.JoinNode:
		var outer sql.ColSet
		switch {
		case n.Op.IsFullOuter():
			return
		case n.Op.IsLeftOuter():
			outer = columnsOf(n.Left())
		case n.Op.IsRightOuter():
			outer = columnsOf(n.Right())
		}
		if n.Filter != nil {
			d.equal(n.Filter, &outer)
		}
		d.rows(n.Left())
		d.rows(n.Right())
	case *gmsplan.TableAlias:
		d.table(n.Child, tree.OutputIDs(n))
	case *gmsplan.ResolvedTable:
		d.table(n, tree.OutputIDs(n))
	case *gmsplan.SubqueryAlias:
		d.derived(n)
	}
}

func columnsOf(n sql.Node) (set sql.ColSet) {
	for _, id := range tree.OutputIDs(n) {
		set.Add(id)
	}
	return set
}

// equal takes the equations of a condition: where one side is known, the other is. Of an outer join
// they hold for the rows that it adds only from its outer side on, once all that the condition
// reads of this side is known.
func (d *dependences) equal(condition sql.Expression, outer *sql.ColSet) {
	var needs sql.ColSet
	if outer != nil && !outer.Empty() {
		for _, id := range tree.Fields(d.ctx, condition) {
			if outer.Contains(id) {
				needs.Add(id)
			}
		}
	}
	for _, e := range tree.Conjuncts(condition) {
		e, ok := e.(*expression.Equals)
		if !ok {
			continue
		}
		for _, pair := range [][2]sql.Expression{{e.Left(), e.Right()}, {e.Right(), e.Left()}} {
			if gf, ok := pair[1].(*expression.GetField); ok && (outer == nil || !outer.Contains(gf.Id())) {
				d.follows = append(d.follows, func() {
					if d.free(pair[0]) == nil && needs.SubsetOf(d.known) {
						d.known.Add(gf.Id())
					}
				})
			}
		}
	}
}

// table takes the unique keys of a table.
func (d *dependences) table(n sql.Node, ids []sql.ColumnId) {
	switch t := n.(type) {
	case *gmsplan.SubqueryAlias:
		d.derived(t)
	case *gmsplan.ResolvedTable:
		schema := t.Schema(d.ctx)
		if len(ids) != len(schema) {
			return
		}
		for _, key := range uniqueKeys(t.Table, schema) {
			d.follows = append(d.follows, func() {
				for _, i := range key {
					if !d.known.Contains(ids[i]) {
						return
					}
				}
				for _, id := range ids {
					d.known.Add(id)
				}
			})
		}
	}
}

// uniqueKeys lists the columns of each key of a table that has no NULLs.
func uniqueKeys(t sql.Table, schema sql.Schema) (keys [][]int) {
	if t, ok := stored.Under(t); ok {
		if t, ok := t.(interface{ UniqueKeys() [][]int }); ok {
			return t.UniqueKeys()
		}
	}
	var primary []int
	for i, c := range schema {
		if c.PrimaryKey {
			primary = append(primary, i)
		}
	}
	if primary != nil {
		keys = append(keys, primary)
	}
	return keys
}

// derived takes what follows within a derived table.
func (d *dependences) derived(n *gmsplan.SubqueryAlias) {
	ids := tree.OutputIDs(n)
	block := n.Child
	for {
		switch b := block.(type) {
		case *gmsplan.Distinct, *gmsplan.Sort, *gmsplan.Having, *gmsplan.Limit, *gmsplan.Offset:
			block = b.Children()[0]
			continue
		}
		break
	}
	p, ok := block.(*gmsplan.Project)
	if !ok || len(p.Projections) != len(ids) {
		return
	}
	in := &dependences{ctx: d.ctx, aliases: map[sql.ColumnId]sql.Expression{}}
	below := in.below(p.Child)
	g, groups := below.(*gmsplan.GroupBy)
	if groups {
		below = g.Child
	}
	in.within(below)
	seen := -1 // of its columns, in the last run
	d.follows = append(d.follows, func() {
		in.keys = nil
		for i, e := range p.Projections {
			if d.known.Contains(ids[i]) {
				in.keys = append(in.keys, e)
			}
		}
		if len(in.keys) == seen {
			return
		}
		seen = len(in.keys)
		in.settle()
		one := groups && !slices.ContainsFunc(g.GroupByExprs, func(k sql.Expression) bool { return in.free(k) != nil })
		for i, e := range p.Projections {
			if one || !groups && in.free(e) == nil { // each row of its is one group
				d.known.Add(ids[i])
			}
		}
	})
}

// below notes the aliases of the projections down to the rows of a block, and returns these.
func (d *dependences) below(n sql.Node) sql.Node {
	for {
		switch b := n.(type) {
		case *gmsplan.Project:
			d.named(b)
		case *gmsplan.Sort, *gmsplan.Having:
		default:
			return n
		}
		n = n.Children()[0]
	}
}

// named notes the aliases of a projection.
func (d *dependences) named(p *gmsplan.Project) {
	for _, e := range p.Projections {
		if a, ok := e.(*expression.Alias); ok && a.Id() != 0 {
			d.aliases[a.Id()] = a.Child
		}
	}
}

// free is a column by which an expression may have several values where the keys have one each.
func (d *dependences) free(e sql.Expression) *expression.GetField {
	if slices.ContainsFunc(d.keys, func(k sql.Expression) bool { return d.same(tree.Unalias(e), tree.Unalias(k)) }) {
		return nil
	}
	switch e := e.(type) {
	case *expression.GetField:
		if a, ok := d.aliases[e.Id()]; ok && !d.known.Contains(e.Id()) {
			return d.free(a)
		}
		if d.inside.Contains(e.Id()) && !d.known.Contains(e.Id()) {
			return e
		}
		return nil
	case sql.Aggregation:
		return nil
	case *gmsplan.Subquery:
		var found *expression.GetField
		tree.Inspect(d.ctx, e.Query, nil, func(x sql.Expression) {
			if gf, ok := x.(*expression.GetField); ok && found == nil && e.Correlated().Contains(gf.Id()) {
				found = d.free(gf)
			}
		})
		return found
	}
	for _, c := range e.Children() {
		if gf := d.free(c); gf != nil {
			return gf
		}
	}
	return nil
}

// same reports whether an expression is a key. Subqueries are told apart by their texts.
func (d *dependences) same(e, key sql.Expression) bool {
	return tree.Same(d.ctx, e, key) || tree.HasSubquery(d.ctx, e) && e.String() == key.String() && slices.Equal(tree.Fields(d.ctx, e), tree.Fields(d.ctx, key))
}
