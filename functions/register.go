package functions

import (
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

var hook sync.Once

// Register tells go-mysql-server's binder that the DP functions are aggregates, once a process, and
// returns the functions for an engine's catalogue, and those that refuse what MySQL has not. Call
// it before the first statement is bound.
func Register() []sql.Function {
	hook.Do(func() {
		base := planbuilder.IsAggregateFunc
		planbuilder.IsAggregateFunc = func(ctx *sql.Context, name string) (bool, error) {
			if f, ok := ByName(name); ok && f.bound() {
				return true, nil
			}
			if _, ok := ErrorBarByName(name); ok {
				return true, nil
			}
			if _, ok := ReportByName(name); ok {
				return true, nil
			}
			return base(ctx, name)
		}
	})
	var out []sql.Function
	for _, f := range table {
		if !f.bound() {
			continue
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			out = append(out, sql.FunctionN{Name: strings.ToLower(name), Fn: f.marker})
		}
	}
	for _, f := range errorBarFunctions {
		out = append(out, sql.FunctionN{Name: strings.ToLower(f.Name), Fn: f.bound})
	}
	out = append(out, sql.FunctionN{Name: strings.ToLower(LawName), Fn: lawFunction.bound}, intervalScalar.function())
	for _, f := range reportFunctions {
		out = append(out, sql.FunctionN{Name: strings.ToLower(f.Name), Fn: f.bound})
	}
	out = append(out, lists.Map(scalars, (*Scalar).function)...)
	return append(out, refusals()...)
}

// bound reports whether calls are bound as markers.
func (f *Function) bound() bool { return f.Role == Private || f.Lacking }

// marker builds the aggregate of one call. Arguments may still be bind variables: what they are is
// checked by the planner.
func (f *Function) marker(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	args = undistinct(ctx, args)
	most := f.MaxArgs
	if f.Role == Private {
		most++ // the options
	}
	if len(args) < f.MinArgs || len(args) > most {
		return nil, refuse.New(refuse.Aggregate, "%s does not take %d arguments.", f.Name, len(args)).With("Use %s.", f.Signature)
	}
	if f.Counts && len(args) == 1 && isText(args[0]) {
		return nil, refuse.New(refuse.Option, "%s has options but nothing to count.", f.Name).With("Use DP_COUNT(*, 'epsilon=…').")
	}
	return &Aggregate{Function: f, Args: args}, nil
}

// undistinct puts DISTINCT before the first argument where the options end in that word, which is
// how the parser hands it on beside options.
func undistinct(ctx *sql.Context, args []sql.Expression) []sql.Expression {
	last := len(args) - 1
	if last < 1 || !isText(args[last]) {
		return args
	}
	options, ok := strings.CutSuffix(args[last].(*expression.Literal).Val.(string), Distinct)
	if !ok {
		return args
	}
	args = slices.Clone(args)
	args[0], args[last] = expression.NewDistinctExpression(args[0]), expression.NewLiteral(options, args[last].Type(ctx))
	return args
}

// isText reports whether an argument is a text constant.
func isText(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	_, ok = l.Val.(string)
	return ok
}

// absent are aggregates of other servers that MySQL has not, with what is to be written instead on
// protected tables.
var absent = []struct{ name, instead string }{
	{"MEDIAN", "DP_MEDIAN(x),"},
	{"PERCENTILE_CONT", "DP_QUANTILE(x, q), as DP_QUANTILE(amount, 0.9),"},
	{"PERCENTILE_DISC", "DP_QUANTILE(x, q), as DP_QUANTILE(amount, 0.9),"},
}

// refusals are functions that refuse each call of an absent one, and name what serves.
func refusals() []sql.Function {
	var out []sql.Function
	for _, a := range absent {
		out = append(out, sql.FunctionN{Name: strings.ToLower(a.name), Fn: func(*sql.Context, ...sql.Expression) (sql.Expression, error) {
			return nil, refuse.New(refuse.Unsupported, "MySQL has no function %s.", a.name).
				With("Of protected tables ask for %s which takes one value a person, or with 'weight=row' each row; of public ones, number the rows by ROW_NUMBER() OVER (ORDER BY x) in a derived table.", a.instead)
		}})
	}
	return out
}
