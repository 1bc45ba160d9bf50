package estimates

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/local"
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

// group makes the leaf for a GROUP BY over reports, or says what is wrong with it.
func (r *rule) group(ctx *sql.Context, g *plan.GroupBy) (*Estimates, error) {
	first := asked(ctx, g.SelectDeps)[0]
	s, err := r.source(ctx, g.Child, first)
	if err != nil {
		return nil, err
	}
	for _, k := range g.GroupByExprs {
		if !s.is(k, "stratum") {
			return nil, filter(first, "%s over %s is grouped by %s: only the stratum divides the reports of a collection.", first.Function.Name, s.name(), k)
		}
	}
	leaf := &Estimates{rule: r, source: s, first: first, grouped: len(g.GroupByExprs) > 0, schema: g.Schema(ctx)}
	for i, e := range g.SelectDeps {
		out, err := s.output(ctx, leaf, e, first)
		if err != nil {
			return nil, err
		}
		leaf.outputs = append(leaf.outputs, out)
		id := sql.ColumnId(0)
		if x, ok := e.(sql.IdExpression); ok {
			id = x.Id()
		}
		c := leaf.schema[i]
		leaf.exprs = append(leaf.exprs, expression.NewGetFieldWithTable(int(id), 0, c.Type, c.DatabaseSource, c.Source, c.Name, true))
	}
	return leaf, nil
}

// unread refuses a statement that reads, above an estimate, a column of the reports that the
// estimate is made from.
func (n *Estimates) unread(ctx *sql.Context, root sql.Node) (err error) {
	for _, c := range n.carried {
		f := n.first
		transform.InspectWithOpaque(ctx, root, func(ctx *sql.Context, above sql.Node) bool {
			if x, ok := above.(sql.Expressioner); ok {
				for _, e := range x.Expressions() {
					sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
						if gf, ok := e.(*expression.GetField); ok && gf.Id() == c.Id() {
							err = filter(f, "%s beside %s over %s: an estimate is made from all reports, and has nothing of each.", c, f.Function.Name, n.source.name())
							if n.source.is(c, "stratum") {
								err = refuse.New(refuse.CollectionFilter, "The column stratum is read beside %s, and the query is not grouped by it.", f.Function.Name).
									With("SELECT stratum, %s FROM %s GROUP BY stratum.", f, n.source.name())
							}
						}
						return e != nil
					})
				}
			}
			return above != nil
		})
	}
	return err
}

// output reads one column of the GROUP BY.
func (s *source) output(ctx *sql.Context, leaf *Estimates, e sql.Expression, first *functions.Reported) (output, error) {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	switch e := e.(type) {
	case *functions.Reported:
		return s.call(ctx, e)
	case *expression.GetField:
		if leaf.grouped && s.is(e, "stratum") {
			return output{stratum: true}, nil
		}
		leaf.carried = append(leaf.carried, e)
		return output{}, nil
	}
	return output{}, filter(first, "%s beside %s in one query block: it would be of the rows of %s, and the estimate is not.", e, first.Function.Name, s.name())
}

// call checks one function: its model, its column, and that the rest is constant.
func (s *source) call(ctx *sql.Context, f *functions.Reported) (output, error) {
	if f.Window() != nil {
		return output{}, misplaced(nil, f)
	}
	if err := s.model(f); err != nil {
		return output{}, err
	}
	if _, ok := f.Args[0].(*expression.DistinctExpression); ok {
		return output{}, filter(f, "%s takes every report, also those that are equal: it has no DISTINCT.", f.Function.Name)
	}
	if _, ok := f.Args[0].(*expression.GetField); !ok || !s.is(f.Args[0], f.Function.Column()) {
		return output{}, filter(f, "The argument of %s is the column %s of the collection itself, not %s.", f.Function.Name, f.Function.Column(), f.Args[0])
	}
	out := output{function: f.Function, text: f.String()}
	for _, e := range f.Args[1:] {
		if !constant(ctx, e) {
			return output{}, refuse.New(refuse.Option, "The arguments of %s after the column are constants, not %s.", f.Function.Name, e).
				With("Use %s.", f.Function.Signature)
		}
		out.constants = append(out.constants, e)
	}
	return out, nil
}

// model refuses a function of the other model.
func (s *source) model(f *functions.Reported) error {
	if f.Function.Shuffle == (s.collection.Model == collect.Shuffle) {
		return nil
	}
	err := refuse.New(refuse.Aggregate, "%s does not answer from %s, a collection of %s in the %s model.", f.Function.Name, s.name(), s.collection.Protocol, s.collection.Model)
	if g, ok := f.Function.Twin(); ok {
		return err.With("Use %s.", g.Signature)
	}
	if f.Function.Shuffle {
		return err.With("Use LDP_MEAN(report), and multiply by the number of contributors that you know.")
	}
	return err.With("Use SHUFFLE_QUANTILE(msg, q) of a collection of SHUF_HIER for the spread.")
}

// constant reports whether an expression has the same value for every row.
func constant(ctx *sql.Context, e sql.Expression) bool {
	fixed := true
	transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case *expression.GetField, *plan.Subquery, sql.Aggregation, sql.NonDeterministicExpression:
			fixed = false
		}
		return !fixed
	})
	return fixed
}

// output is one column of the answer: a function, the stratum, or a column of the table that the
// binder carries along because an argument names it: nothing above reads that (see unread).
type output struct {
	function  *functions.ReportFunction
	stratum   bool
	constants []sql.Expression
	text      string
}

// level is the confidence of an interval where none is given.
const level = 0.95

// numbers evaluates the constants of a call.
func (o output) numbers(ctx *sql.Context) ([]float64, error) {
	out := make([]float64, len(o.constants))
	for i, e := range o.constants {
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		x, ok := number(ctx, v)
		if !ok {
			return nil, refuse.New(refuse.Option, "%s has an argument that is no number: %s.", o.text, shown(v)).With("Use %s.", o.function.Signature)
		}
		out[i] = x
	}
	if q := o.function.Question; len(out) == 0 && (q == functions.AskLow || q == functions.AskHigh) {
		out = append(out, level)
	}
	return out, nil
}

func shown(v any) string {
	if v == nil {
		return "NULL"
	}
	return fmt.Sprintf("%.80v", v)
}
