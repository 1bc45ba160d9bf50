package estimates

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/engine/collections"
	"scrim/engine/estimator/local"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/internal/refuse"
)

// Collections is what the package needs of collections; *collections.Collections is one.
type Collections interface {
	Holds(ref store.TableRef) bool
	Lookup(name string) (collections.Summary, bool)
	Estimate(ctx context.Context, name, stratum string) (collections.Estimate, error)
	Arrived(name, stratum string) (info local.Info, reports uint64, err error)
}

// Config holds what the rule depends on. All fields are required.
type Config struct {
	Collections Collections
	// Protected reports whether a table holds rows of persons: the refusal then says what serves.
	Protected func(ref store.TableRef) bool
	// NullIfFew reports whether the session wants NULL and a warning in the place of
	// refuse.TooFewReports.
	NullIfFew func(ctx *sql.Context) bool
}

// ruleID is above those of go-mysql-server and of the planner.
const ruleID analyzer.RuleId = 20101

// Add adds the rule to an analyzer. It is to come before the planner's rules, which see the leaf as
// a public table.
func Add(b *analyzer.Builder, c Config) {
	r := &rule{c}
	b.AddPreAnalyzeRule(ruleID, func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if found := find(ctx, n); !found.functions || found.unbound {
			return n, transform.SameTree, nil
		}
		return r.statement(ctx, n)
	})
}

type rule struct{ Config }

// found is what a look at a statement tells.
type found struct {
	functions bool // over reports
	unbound   bool // a statement is prepared whose values are still to come
}

// find looks through a statement, its derived tables and its subqueries.
func find(ctx *sql.Context, n sql.Node) (f found) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if n == nil {
			return false
		}
		if x, ok := n.(sql.Expressioner); ok {
			for _, e := range x.Expressions() {
				g := findIn(ctx, e)
				f.functions, f.unbound = f.functions || g.functions, f.unbound || g.unbound
			}
		}
		return true
	})
	return f
}

func findIn(ctx *sql.Context, e sql.Expression) (f found) {
	sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case nil:
			return false
		case *functions.Reported:
			f.functions = true
		case *expression.BindVar:
			f.unbound = true
		case *plan.Subquery:
			g := find(ctx, e.Query)
			f.functions, f.unbound = f.functions || g.functions, f.unbound || g.unbound
		}
		return true
	})
	return f
}

// statement replaces every GROUP BY over reports, in derived tables and subqueries too.
func (r *rule) statement(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	var made []*Estimates
	out, same, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if g, ok := n.(*plan.GroupBy); ok && len(asked(ctx, g.SelectDeps)) > 0 {
			leaf, err := r.group(ctx, g)
			if err != nil {
				return n, transform.SameTree, err
			}
			made = append(made, leaf)
			return leaf, transform.NewTree, nil
		}
		if x, ok := n.(sql.Expressioner); ok {
			for _, f := range asked(ctx, x.Expressions()) {
				return n, transform.SameTree, misplaced(n, f)
			}
		}
		return transform.OneNodeExpressions(ctx, n, r.subquery)
	})
	for _, leaf := range made {
		if err == nil {
			err = leaf.unread(ctx, out)
		}
	}
	return out, same, err
}

// subquery does the same in the query of a subquery expression.
func (r *rule) subquery(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	q, ok := e.(*plan.Subquery)
	if !ok {
		return e, transform.SameTree, nil
	}
	n, same, err := r.statement(ctx, q.Query)
	if err != nil || same {
		return e, transform.SameTree, err
	}
	return q.WithQuery(n), transform.NewTree, nil
}

// asked lists the functions over reports in expressions, outside of their subqueries.
func asked(ctx *sql.Context, list []sql.Expression) []*functions.Reported {
	var out []*functions.Reported
	for _, e := range list {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if f, ok := e.(*functions.Reported); ok {
				out = append(out, f)
			}
			return e != nil
		})
	}
	return out
}

// misplaced refuses a function over reports that is not an output of a GROUP BY.
func misplaced(n sql.Node, f *functions.Reported) error {
	what := "is used where it cannot be answered"
	if _, ok := n.(*plan.Window); ok || f.Window() != nil {
		what = "is no window function: an estimate is made from all reports"
	}
	return filter(f, "%s %s.", f.Function.Name, what)
}

// filter refuses what an estimate cannot be made from.
func filter(f *functions.Reported, format string, args ...any) error {
	return refuse.New(refuse.CollectionFilter, format, args...).
		With("%s, with WHERE stratum = '…' or GROUP BY stratum where there are strata; anything more in an outer query.", f.Function.Example)
}
