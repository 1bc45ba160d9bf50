package functions

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/flow"
	"scrim/engine/estimator/friendly"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/variance"
	"scrim/engine/estimator/vector"
	"scrim/internal/refuse"
)

// Aggregate marks the place of a DP function in a bound plan. The planner replaces it; one that is
// left over in a query of a shape that the planner does not know cannot be evaluated.
type Aggregate struct {
	Function *Function
	Args     []sql.Expression // as written, the options string last
	Told     *ErrorBarCall    // set where the aggregate's error is asked for, not its answer

	id     sql.ColumnId
	window *sql.WindowDefinition
}

var (
	_ sql.Aggregation                = (*Aggregate)(nil)
	_ sql.FunctionExpression         = (*Aggregate)(nil)
	_ sql.NonDeterministicExpression = (*Aggregate)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (a *Aggregate) FunctionName() string { return strings.ToLower(a.name()) }

// name is that of the function called.
func (a *Aggregate) name() string {
	if a.Told != nil {
		return a.Told.Function.Name
	}
	return a.Function.Name
}

// Description implements sql.FunctionExpression.
func (a *Aggregate) Description() string { return a.Function.Doc }

// IsNonDeterministic keeps go-mysql-server from evaluating the marker ahead of time.
func (a *Aggregate) IsNonDeterministic() bool { return true }

// Resolved implements sql.Expression.
func (a *Aggregate) Resolved() bool {
	for _, e := range a.Children() {
		if !e.Resolved() {
			return false
		}
	}
	return true
}

// String is the aggregate's identity: the binder merges aggregates whose texts are equal in lower
// case into one column, so it holds every argument, and a mark where a text constant has capitals:
// without it DP_SUM(IF(g = 'A', x, 0)) and DP_SUM(IF(g = 'a', x, 0)) would be taken for one.
func (a *Aggregate) String() string {
	if t := a.Told; t != nil && t.Function.Level {
		return a.name() + "(" + a.Base().String() + ", " + t.Level.String() + ")"
	} else if t != nil {
		return a.name() + "(" + a.Base().String() + ")"
	}
	args := make([]string, len(a.Args))
	for i, e := range a.Args {
		args[i] = e.String()
	}
	return a.Function.Name + "(" + strings.Join(args, ", ") + ")" + capitals(a.Args)
}

// Base is the aggregate itself, whose answer's error this tells of.
func (a *Aggregate) Base() *Aggregate {
	n := *a
	n.Told = nil
	return &n
}

// capitals digests the text constants in expressions when lower case would change one of them.
func capitals(args []sql.Expression) string {
	h := fnv.New64a()
	changed := false
	var visit func(e sql.Expression)
	visit = func(e sql.Expression) {
		if l, ok := e.(*expression.Literal); ok {
			if s, ok := l.Val.(string); ok {
				changed = changed || s != strings.ToLower(s)
				fmt.Fprintf(h, "%q", s)
			}
		}
		for _, c := range e.Children() {
			visit(c)
		}
	}
	for _, e := range args {
		visit(e)
	}
	if !changed {
		return ""
	}
	return fmt.Sprintf(" /* %016x */", h.Sum64())
}

// Type implements sql.Expression.
func (a *Aggregate) Type(*sql.Context) sql.Type {
	if a.Told != nil {
		return a.Told.Type(a.Function)
	}
	switch a.Function.Result {
	case BigInt:
		return types.Int64
	case JSON:
		return types.JSON
	default:
		return types.Float64
	}
}

// IsNullable implements sql.Expression: too few persons give NULL.
func (a *Aggregate) IsNullable(*sql.Context) bool { return true }

// Eval implements sql.Expression; it always refuses.
func (a *Aggregate) Eval(*sql.Context, sql.Row) (any, error) { return nil, a.misplaced() }

// Children implements sql.Expression.
func (a *Aggregate) Children() []sql.Expression {
	if a.Told != nil {
		return append(a.Args[:len(a.Args):len(a.Args)], a.Told.Level)
	}
	return a.Args
}

// WithChildren implements sql.Expression.
func (a *Aggregate) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if want := len(a.Children()); len(children) != want {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), want)
	}
	n := *a
	if n.Args = children[:len(a.Args):len(a.Args)]; a.Told != nil {
		t := *a.Told
		t.Level = children[len(a.Args)]
		n.Told = &t
	}
	return &n, nil
}

// Id implements sql.IdExpression.
func (a *Aggregate) Id() sql.ColumnId { return a.id }

// WithId implements sql.IdExpression.
func (a *Aggregate) WithId(id sql.ColumnId) sql.IdExpression {
	n := *a
	n.id = id
	return &n
}

// Window implements sql.WindowAdaptableExpression.
func (a *Aggregate) Window() *sql.WindowDefinition { return a.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (a *Aggregate) WithWindow(_ *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *a
	n.window = w
	return &n
}

// NewWindowFunction implements sql.WindowAdaptableExpression; it always refuses.
func (a *Aggregate) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, refuse.New(refuse.Shape, "%s cannot be a window function.", a.name()).With("Aggregate with GROUP BY.")
}

// NewBuffer implements sql.Aggregation. It refuses all but plain aggregates that go-mysql-server
// has not, over rows that are public: the planner has replaced every other.
func (a *Aggregate) NewBuffer(*sql.Context) (sql.AggregationBuffer, error) {
	if a.Function.Lacking && a.Told == nil {
		return &pairs{of: a.Function.Statistics[0], args: a.Args}, nil
	}
	return nil, a.misplaced()
}

// misplaced is the answer where no protected table stands under the aggregate, or where the planner
// did not reach it.
func (a *Aggregate) misplaced() error {
	return refuse.New(refuse.Aggregate, "%s is for protected tables, and none is under it here.", a.name()).
		With("On public tables use the plain SQL aggregate.")
}

// counts are the numbers of rows, of persons, or of distinct values.
var counts = Measure{
	Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		switch {
		case c.Distinct:
			return flow.New(p, flow.Options{Shape: flow.Distinct, Cap: int64(c.Options.Values), Most: p.MaxRows, Clamp: c.Function.AtLeastZero})
		case c.Units:
			return count.NewUnits(p, c.Function.AtLeastZero)
		}
		return count.NewRows(p, c.Function.AtLeastZero)
	},
	Counts: true,
	InGroups: func(c Call) groups.Measure {
		if c.Units {
			return groups.Persons
		}
		return groups.Rows
	},
}

// sums are over rows.
var sums = Measure{
	Estimator: func(_ Call, p estimator.Params) (estimator.Estimator, error) { return mean.NewSum(p) },
	Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		return vector.NewSum(c.vectorParams(p))
	},
	InGroups: func(Call) groups.Measure { return groups.Sum },
	Adds:     true,
}

// means are over persons, or over rows.
var means = Measure{
	Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		if c.Options.Weight == ByRow {
			return mean.NewRowMean(p)
		}
		if method := c.method(p); method != "auto" {
			e, err := c.ofPersons(p, method)
			return e, c.unanswerable(err)
		}
		return mean.NewMean(p)
	},
	Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		switch method := c.method(p); {
		case method == "friendly":
			return friendly.NewMean(c.friendlyParams(p))
		case slices.Contains(ofNumbers, method):
			return c.ofPersons(p, method)
		}
		return vector.NewMean(c.vectorParams(p))
	},
	Columns: func(c Call, p estimator.Params) []estimator.Kind {
		switch {
		case !slices.Contains([]string{"person", "friendly", "cover"}, c.method(p)):
		case c.Vectors != nil:
			return []estimator.Kind{estimator.Vector}
		case c.Options.Weight == ByPerson:
			return []estimator.Kind{estimator.Rows, estimator.Sum}
		}
		return nil
	},
	Averages: true,
	Weighed:  true,
	Methods:  true,
	Slack:    func(c Call) bool { return c.Options.Method == "friendly" || c.Options.Stable },
	InGroups: func(c Call) groups.Measure {
		if c.Options.Weight == ByRow {
			return groups.RowMean
		}
		return groups.PersonMean
	},
	Fused: &Fused{
		Options: "method=plan, relative=on",
		Estimator: func(c Call, p estimator.Params, alone func(int, float64) (estimator.Estimator, error)) (estimator.Estimator, error) {
			return vector.NewColumns(c.vectorParams(p), alone)
		},
	},
}

// spread is a variance or a standard deviation.
func spread(o variance.Options) Measure {
	return Measure{
		Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			if c.Options.Weight == ByRow {
				return variance.NewRows(p, o)
			}
			return variance.New(p, o)
		},
		Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			return vector.NewVariance(c.vectorParams(p), o.Stddev, o.Population)
		},
		Weighed:    true,
		Squares:    true,
		NotPure:    "Use DP_QUANTILES(x, '[0.25, 0.75]') for the spread, or have a DBA give the table a budget with delta > 0.",
		BarNumbers: func(dim int) int { return dim * 3 / 2 }, // moments
	}
}

// plainSpread is a plain SQL aggregate that is a variance or a standard deviation over rows.
func plainSpread(name, private, doc string, o variance.Options, aliases ...string) *Function {
	return &Function{
		Name: name, Aliases: aliases, Role: Rewritten, Measure: spread(o), Signature: name + "(x)",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByRow,
		DPForm: private, Instead: "DP_VARIANCE(x, 'weight=row') or DP_STDDEV(x, 'weight=row')",
		Doc: doc, Example: "SELECT " + name + "(amount) FROM orders",
	}
}

// of is the measure of a statistic of two arguments.
func ofTwo(s covariance.Statistic) Measure {
	return Measure{
		Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			return covariance.New(p, c.Statistics, c.Options.Weight == ByRow)
		},
		Statistics: []covariance.Statistic{s},
		Weighed:    true,
		Squares:    true,
		NotPure:    "Use DP_QUANTILE of each column, or have a DBA give the table a budget with delta > 0.",
	}
}

// two is a private function of two arguments, and plainTwo the aggregate of the SQL standard over
// rows, which MySQL has not.
func two(name, args string, s covariance.Statistic, doc, example string) *Function {
	return &Function{
		Name: name, Role: Private, Measure: ofTwo(s), Signature: name + "(" + args + " [, options])", Two: true,
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByPerson, Options: twoOptions,
		Doc:     doc + ", the means of the person's rows; 'weight=row' for that over rows. Rows where one of the two is NULL do not count.",
		Example: "SELECT " + name + "(" + example + ") FROM people",
	}
}

func plainTwo(name, args string, s covariance.Statistic, doc, example string) *Function {
	return &Function{
		Name: name, Role: Rewritten, Lacking: true, Measure: ofTwo(s), Signature: name + "(" + args + ")", Two: true,
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByRow, DPForm: "DP_" + name, Instead: "DP_" + name + "(" + args + ", 'weight=row')",
		Doc: doc + " Rows where one of the two is NULL do not count. Asked together of the same columns they share one release.", Example: "SELECT " + name + "(" + example + ") FROM people",
	}
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
