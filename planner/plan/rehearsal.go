package plan

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions"
	"scrim/internal/panics"
)

// Computation is the failure of what a statement computes from its answers.
type Computation struct {
	Cause error
	// Charged is false where it failed in the rehearsal, before any charge.
	Charged bool
}

// Error is for the operators' log.
func (c *Computation) Error() string { return "planner: computed from answers: " + c.Cause.Error() }

// Unwrap returns the cause.
func (c *Computation) Unwrap() error { return c.Cause }

// rehearse computes what the statement computes from its answers, from made-up ones, before
// anything is charged or read. It returns the failure of what fails for every one of numbers: then
// the charge would be for nothing. Made-up answers follow from the plan alone, and of public tables
// the first rows are read, so the result tells nothing of persons. What does anything but compute
// is left out.
func (b *Budget) rehearse(ctx *sql.Context, builder sql.NodeExecBuilder) error {
	before := ctx.Warnings()
	defer func() {
		if len(ctx.Warnings()) == len(before) {
			return
		}
		ctx.ClearWarnings()
		for _, w := range slices.Backward(before) { // the newest is the first
			ctx.Session.Warn(w)
		}
	}()
	var first error
	transform.InspectWithOpaque(ctx, b.Child, func(ctx *sql.Context, n sql.Node) bool {
		if first != nil || n == nil || !computes(ctx, n) {
			return first == nil
		}
		for _, x := range numbers {
			again, err := fresh(ctx, n)
			if err == nil {
				err = rows(Reserved(ctx, b.Statement, madeUp(x)), builder, again)
			}
			if err == nil || ctx.Err() != nil {
				first = nil
				break
			}
			if first == nil {
				first = err
			}
		}
		return false
	})
	if first != nil {
		return &Computation{Cause: first}
	}
	return nil
}

// numbers are what all numbers of a made-up answer are, those with a fraction a half more.
var numbers = []int64{1, 0, 1_000_000, -1_000_000}

// rows asks a node for its rows, as they are sent. A panic is an error.
func rows(ctx *sql.Context, builder sql.NodeExecBuilder, n sql.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			panics.Recovered()
			err = fmt.Errorf("planner: panic: %v", p)
		}
	}()
	iter, err := builder.Build(ctx, n, nil)
	schema := n.Schema(ctx)
	for err == nil {
		var row sql.Row
		row, err = iter.Next(ctx)
		for i := 0; err == nil && i < min(len(row), len(schema)); i++ {
			if row[i] != nil { // NULL is sent without its type
				_, err = schema[i].Type.SQL(ctx, nil, row[i])
			}
		}
	}
	if iter != nil {
		_ = iter.Close(ctx)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// madeUp makes up answers: all their numbers are it, and their texts and selected keys are NULL.
type madeUp int64

// Answer implements Execution: one row, or two of groups, so that they are sorted.
func (x madeUp) Answer(ctx *sql.Context, r *Release) ([]sql.Row, error) {
	row := make(sql.Row, len(r.Output))
	for i, o := range r.Output {
		var v any
		switch t := r.Schema[i].Type; {
		case o.Key >= 0:
			if d := r.Keys[o.Key].Domain; len(d) > 0 {
				row[i] = d[0]
			}
			continue
		case types.IsUnsigned(t):
			v = max(int64(x), 0)
		case types.IsInteger(t):
			v = int64(x)
		case types.IsNumber(t):
			v = float64(x) + 0.5
		case types.IsTime(t):
			v = time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)
		}
		if v == nil {
			continue
		}
		if v, in, err := r.Schema[i].Type.Convert(ctx, v); err == nil && in == sql.InRange {
			row[i] = v
		}
	}
	if len(r.Keys) == 0 {
		return []sql.Row{row}, nil
	}
	return []sql.Row{row, row}, nil
}

// fewRows is how many rows of a public table are read.
const fewRows = 1000

// fresh copies a subtree: joins and subqueries keep rows in their nodes, and those of made-up
// answers are none that the statement may read. Of tables it reads the first rows.
func fresh(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if t, ok := n.(*plan.ResolvedTable); ok {
			return plan.NewLimit(expression.NewLiteral(int64(fewRows), types.Int64), t), transform.NewTree, nil
		}
		n, err := n.WithChildren(ctx, n.Children()...)
		if err != nil {
			return nil, transform.SameTree, err
		}
		n, _, err = transform.OneNodeExpressions(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			q, ok := e.(*plan.Subquery)
			if !ok {
				return e, transform.SameTree, nil
			}
			query, err := fresh(ctx, q.Query)
			if err != nil {
				return nil, transform.SameTree, err
			}
			return q.WithQuery(query), transform.NewTree, nil
		})
		return n, transform.NewTree, err
	})
	return out, err
}

// computes reports whether a subtree computes something from answers and does nothing else: it
// keeps nothing for later and changes nothing.
func computes(ctx *sql.Context, n sql.Node) bool {
	pure, answers := true, false
	var look func(ctx *sql.Context, n sql.Node) bool
	look = func(ctx *sql.Context, n sql.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *DPAggregate:
			answers = true
			return false
		case *plan.Project, *plan.Filter, *plan.Having, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Window, *plan.GroupBy, *plan.SetOp, *plan.TableAlias,
			*plan.ResolvedTable, *plan.HashLookup, *plan.CachedResults, *plan.Max1Row:
		case *plan.JoinNode:
			pure = pure && !n.Op.IsLateral() && !n.Op.IsLookup()
		case *plan.SubqueryAlias:
			pure = pure && !n.IsLateral && n.Correlated.Empty()
		default:
			pure = false
		}
		if x, ok := n.(sql.Expressioner); ok && pure {
			for _, e := range x.Expressions() {
				sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
					if q, ok := e.(*plan.Subquery); ok {
						transform.InspectWithOpaque(ctx, q.Query, look)
					} else if e != nil {
						pure = pure && !acts(e)
					}
					return pure
				})
			}
		}
		return pure
	}
	transform.InspectWithOpaque(ctx, n, look)
	return pure && answers
}

// acts reports whether an expression may do more than compute a value, or compute another one the
// next time.
func acts(e sql.Expression) bool {
	switch e := e.(type) {
	case *plan.InSubquery, *plan.ExistsSubquery:
		return false
	case *expression.SetField, *expression.UserVar, *expression.BindVar:
		return true
	case sql.NonDeterministicExpression:
		if e.IsNonDeterministic() {
			return true
		}
	}
	if f, ok := e.(sql.FunctionExpression); ok && slices.Contains([]string{"sleep", "benchmark", "get_lock", "release_lock", "release_all_locks", "last_insert_id", "load_file"}, strings.ToLower(f.FunctionName())) {
		return true
	}
	t := reflect.TypeOf(e)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	from := t.PkgPath()
	if t == reflect.TypeFor[functions.Interval]() {
		return false
	}
	return !strings.HasPrefix(from, "github.com/dolthub/go-mysql-server/sql/expression") && from != "scrim/functions/standard"
}
