package functions

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator/covariance"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Aggregate marks the place of a DP function in a bound plan. The planner replaces it; one that is
// left over in a query of a shape that the planner does not know cannot be evaluated.
type Aggregate struct {
	Function *Function
	Args     []sql.Expression // as written, the options string last
	Told     *ErrorBarCall    // set where the aggregate's error is asked for, not its answer

	marker
}

// marker is what the marks of aggregates in a bound plan have in common.
type marker struct {
	id     sql.ColumnId
	window *sql.WindowDefinition
}

// IsNonDeterministic keeps go-mysql-server from evaluating the marker ahead of time.
func (marker) IsNonDeterministic() bool { return true }

// IsNullable implements sql.Expression: too few persons, or reports, give NULL.
func (marker) IsNullable(*sql.Context) bool { return true }

// Id implements sql.IdExpression.
func (m marker) Id() sql.ColumnId { return m.id }

// Window implements sql.WindowAdaptableExpression.
func (m marker) Window() *sql.WindowDefinition { return m.window }

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

// Resolved implements sql.Expression.
func (a *Aggregate) Resolved() bool { return expression.ExpressionsResolved(a.Children()...) }

// String is the aggregate's identity: the binder merges aggregates whose texts are equal in lower
// case into one column, so it holds every argument, and a mark where a text constant has capitals:
// without it DP_SUM(IF(g = 'A', x, 0)) and DP_SUM(IF(g = 'a', x, 0)) would be taken for one.
func (a *Aggregate) String() string {
	if t := a.Told; t != nil && t.Function.Level {
		return a.name() + "(" + a.Base().String() + ", " + t.Level.String() + ")"
	} else if t != nil {
		return a.name() + "(" + a.Base().String() + ")"
	}
	return called(a.Function.Name, a.Args)
}

// called is the identity of a call.
func called(name string, args []sql.Expression) string {
	return name + "(" + strings.Join(lists.Map(args, func(e sql.Expression) string { return e.String() }), ", ") + ")" + capitals(args)
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
	return a.Function.Result.bound()
}

// bound is the type of the result as it is bound.
func (r Result) bound() sql.Type {
	switch r {
	case BigInt:
		return types.Int64
	case JSON:
		return types.JSON
	}
	return types.Float64
}

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

// WithId implements sql.IdExpression.
func (a *Aggregate) WithId(id sql.ColumnId) sql.IdExpression {
	n := *a
	n.id = id
	return &n
}

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

// pairs computes an exact statistic of two arguments over public rows that the store does not have:
// by means and central moments that each row moves, so that no digits are lost to large means.
type pairs struct {
	of         covariance.Statistic
	args       []sql.Expression
	n          float64
	mean       [2]float64
	xx, yy, xy float64 // sums of squares and products about the means
}

// Update implements sql.AggregationBuffer.
func (p *pairs) Update(ctx *sql.Context, row sql.Row) error {
	var v [2]float64
	for i, e := range p.args {
		x, err := e.Eval(ctx, row)
		if err != nil || x == nil {
			return err
		}
		f, ok := number(ctx, x)
		if !ok {
			return nil
		}
		v[i] = f
	}
	p.n++
	dx, dy := v[0]-p.mean[0], v[1]-p.mean[1]
	p.mean[0] += dx / p.n
	p.mean[1] += dy / p.n
	p.xx += dx * (v[0] - p.mean[0])
	p.yy += dy * (v[1] - p.mean[1])
	p.xy += dx * (v[1] - p.mean[1])
	return nil
}

// Eval implements sql.AggregationBuffer: NULL where the statistic of the rows is not defined.
func (p *pairs) Eval(*sql.Context) (any, error) {
	v := math.NaN()
	switch slope := p.xy / p.yy; p.of {
	case covariance.Correlation:
		v = p.xy / math.Sqrt(p.xx*p.yy)
	case covariance.PopulationCovariance:
		v = p.xy / p.n
	case covariance.SampleCovariance:
		v = p.xy / (p.n - 1)
	case covariance.Slope:
		v = slope
	case covariance.Intercept:
		v = p.mean[0] - slope*p.mean[1]
	case covariance.Determination:
		if v = p.xy / p.xx * slope; p.xx == 0 && p.yy > 0 {
			v = 1
		}
	}
	if _, ok := finite(v); !ok {
		return nil, nil
	}
	return v, nil
}

// Dispose implements sql.AggregationBuffer.
func (*pairs) Dispose(*sql.Context) {}
