package estimates

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/engine/collections"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/internal/refuse"
)

// stored is a table that the store holds.
type stored interface {
	sql.Table
	StoreRef() store.TableRef
}

// source is the input of a GROUP BY over reports: the table of a collection under whatever names,
// and conditions on its stratum.
type source struct {
	collection collections.Summary
	columns    map[sql.ColumnId]string // what the table calls them
	where      []sql.Expression        // over a row of the stratum alone
}

// name is the collection's, with its database.
func (s *source) name() string { return s.collection.Schema + "." + s.collection.Name }

// is reports whether an expression is a column of the table.
func (s *source) is(e sql.Expression, column string) bool {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	gf, ok := e.(*expression.GetField)
	return ok && s.columns[gf.Id()] == column
}

// source follows a subtree down to the table of a collection.
func (r *rule) source(ctx *sql.Context, n sql.Node, f *functions.Reported) (*source, error) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		return r.table(ctx, n, f)
	case *plan.TableAlias:
		return r.source(ctx, n.Child, f)
	case *plan.Sort:
		return r.source(ctx, n.Child, f) // the order of the reports plays no part
	case *plan.Filter:
		s, err := r.source(ctx, n.Child, f)
		if err != nil {
			return nil, err
		}
		return s, s.condition(ctx, n.Expression, f)
	case *plan.Project:
		s, err := r.source(ctx, n.Child, f)
		if err != nil {
			return nil, err
		}
		return s, s.renamed(n)
	case *plan.SubqueryAlias:
		if n.IsLateral || !n.Correlated.Empty() {
			break
		}
		s, err := r.source(ctx, n.Child, f)
		if err != nil {
			return nil, err
		}
		return s, s.derived(ctx, n, f)
	}
	return nil, r.refused(ctx, n, f)
}

// table begins at the table itself.
func (r *rule) table(ctx *sql.Context, n *plan.ResolvedTable, f *functions.Reported) (*source, error) {
	t, ok := underlying(n.Table)
	if !ok || !r.Collections.Holds(t.StoreRef()) {
		return nil, r.refused(ctx, n, f)
	}
	c, ok := r.Collections.Lookup(t.StoreRef().String())
	if !ok {
		return nil, r.refused(ctx, n, f)
	}
	s := &source{collection: c, columns: map[sql.ColumnId]string{}}
	schema, ids := n.Schema(ctx), idsOf(n)
	if len(ids) != len(schema) {
		return nil, filter(f, "The columns of %s cannot be followed.", s.name())
	}
	for i, c := range schema {
		s.columns[ids[i]] = strings.ToLower(c.Name)
	}
	return s, nil
}

// renamed follows columns that a projection passes on; what it computes is none of the table's.
func (s *source) renamed(n *plan.Project) error {
	out := map[sql.ColumnId]string{}
	for _, e := range n.Projections {
		named, ok := e.(sql.IdExpression)
		if a, is := e.(*expression.Alias); is {
			e = a.Child
		}
		if gf, is := e.(*expression.GetField); ok && is && s.columns[gf.Id()] != "" {
			out[named.Id()] = s.columns[gf.Id()]
			out[gf.Id()] = s.columns[gf.Id()]
		}
	}
	s.columns = out
	return nil
}

// derived follows columns out of a derived table, a view or a common table expression, where they
// get new ids.
func (s *source) derived(ctx *sql.Context, n *plan.SubqueryAlias, f *functions.Reported) error {
	ids, below := idsOf(n), outputs(ctx, n.Child)
	if len(ids) != len(below) {
		return filter(f, "The columns of %s cannot be followed.", n.Name())
	}
	out := map[sql.ColumnId]string{}
	for i, id := range below {
		if c := s.columns[id]; c != "" {
			out[ids[i]] = c
		}
	}
	s.columns = out
	return nil
}

// outputs lists the column ids that a query block returns, 0 where one has none.
func outputs(ctx *sql.Context, n sql.Node) []sql.ColumnId {
	switch n := n.(type) {
	case *plan.Project:
		out := make([]sql.ColumnId, len(n.Projections))
		for i, e := range n.Projections {
			if x, ok := e.(sql.IdExpression); ok {
				out[i] = x.Id()
			}
		}
		return out
	case *plan.Filter, *plan.Sort, *plan.TableAlias:
		return outputs(ctx, n.Children()[0])
	case plan.TableIdNode:
		return idsOf(n)
	}
	return nil
}

// idsOf lists the ids of a relation's columns in their order.
func idsOf(n interface{ Columns() sql.ColSet }) (ids []sql.ColumnId) {
	set := n.Columns()
	set.ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	return ids
}

// condition takes conditions that are on the stratum alone, of whatever form: strata are few and
// public, so each can be tried.
func (s *source) condition(ctx *sql.Context, e sql.Expression, f *functions.Reported) error {
	for _, c := range expression.SplitConjunction(ctx, e) {
		var other sql.Expression
		on, _, err := transform.Expr(ctx, c, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			switch x := e.(type) {
			case *expression.GetField:
				if s.columns[x.Id()] != "stratum" {
					other = e
					return e, transform.SameTree, nil
				}
				return x.WithIndex(0), transform.NewTree, nil
			case *plan.Subquery, *plan.ExistsSubquery, sql.NonDeterministicExpression:
				other = e
			}
			return e, transform.SameTree, nil
		})
		if err != nil {
			return err
		}
		if other != nil {
			return filter(f, "%s over %s depends on the condition %s: an estimate is made from all reports, or from all of a stratum.", f.Function.Name, s.name(), c)
		}
		s.where = append(s.where, on)
	}
	return nil
}

// refused says why the input of a GROUP BY is not the table of one collection.
func (r *rule) refused(ctx *sql.Context, n sql.Node, f *functions.Reported) error {
	var tables []store.TableRef
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if rt, ok := n.(*plan.ResolvedTable); ok {
			if t, ok := underlying(rt.Table); ok {
				tables = append(tables, t.StoreRef())
			}
		}
		return n != nil
	})
	for _, t := range tables {
		if r.Protected(t) {
			return refuse.New(refuse.Aggregate, "%s is for the reports of a collection, and %s is a protected table.", f.Function.Name, t).
				With("Use the DP functions there, for example DP_MEAN; SELECT * FROM dp.collections lists the collections.")
		}
	}
	held := ""
	for _, t := range tables {
		if r.Collections.Holds(t) {
			held = t.String()
		}
	}
	if held == "" {
		return refuse.New(refuse.Aggregate, "%s is for the reports of a collection, and none is under it here.", f.Function.Name).
			With("SELECT * FROM dp.collections lists the collections.")
	}
	return filter(f, "%s is over the reports of %s after something was done with them (%s): an estimate is made from all reports of one collection as they are.",
		f.Function.Name, held, operation(n))
}

// operation names what stands between a GROUP BY and the reports.
func operation(n sql.Node) string {
	switch n.(type) {
	case *plan.JoinNode:
		return "a join"
	case *plan.Limit, *plan.Offset, *plan.TopN:
		return "LIMIT"
	case *plan.Distinct:
		return "DISTINCT"
	case *plan.SetOp:
		return "UNION"
	case *plan.GroupBy:
		return "GROUP BY"
	case *plan.Window:
		return "a window function"
	}
	return "a derived table"
}

// underlying returns the store's table under a table of go-mysql-server's.
func underlying(t sql.Table) (stored, bool) {
	for {
		if s, ok := t.(stored); ok {
			return s, true
		}
		w, ok := t.(sql.TableWrapper)
		if !ok {
			return nil, false
		}
		t = w.Underlying()
	}
}
