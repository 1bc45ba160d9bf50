package functions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cover"
	"scrim/engine/estimator/friendly"
	"scrim/engine/estimator/person"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Question is what a function asks of the reports of a collection.
type Question uint8

// Questions.
const (
	AskMean Question = iota
	AskStdErr
	AskLow
	AskHigh
	AskSD
	AskSum
	AskCount
	AskRange
	AskQuantile
	AskVector
	AskInfo
)

// ReportFunction is an aggregate over the reports of a collection. What it answers is
// post-processing of reports that are private already: it costs no budget.
type ReportFunction struct {
	Question
	Name      string // upper case
	Signature string
	// over the messages of a shuffle collection; else over the reports of a local one
	Shuffle bool
	MinArgs int // constants after the column
	MaxArgs int
	Result  Result
	Doc     string
	Example string
}

// reportForms are the functions of both models; the column and the prefix come with the model.
var reportForms = []struct {
	question Question
	name     string
	rest     string // of the signature, after the column
	min, max int
	result   Result
	models   string // "LS"
	doc      string
}{
	{AskMean, "MEAN", "", 0, 0, Double, "LS", "The estimate of the mean of the contributors' values. It costs no budget: the reports are private already."},
	{AskStdErr, "STDERR", "", 0, 0, Double, "LS", "The standard error of that mean; of vectors, of the ℓ2 norm of the error. %s_INFO says what it covers and what not."},
	{AskLow, "LOW", " [, conf]", 0, 1, Double, "LS", "The lower end of an interval that covers the mean with probability conf, 0.95 where it is left out. %s_INFO says what it leaves out."},
	{AskHigh, "HIGH", " [, conf]", 0, 1, Double, "LS", "The upper end, as %s_LOW."},
	{AskSD, "SD", "", 0, 0, Double, "L", "The estimate of the values' standard deviation, where the protocol has one (LDP_UV1, LDP_UV2)."},
	{AskSum, "SUM", "", 0, 0, Double, "S", "The estimate of the sum over the contributors of the batches."},
	{AskCount, "COUNT", "", 0, 0, BigInt, "LS", "How many reports have arrived, in all rounds, in any state of the collection; %s_INFO tells them by cell."},
	{AskRange, "RANGE", ", a, b", 2, 2, Double, "LS", "The share of values from a up to but not including b, of 1."},
	{AskQuantile, "QUANTILE", ", q", 1, 1, Double, "LS", "The value below which a share q of the values lies, 0 to 1: of 0.5 the median."},
	{AskVector, "VECTOR_MEAN", "", 0, 0, JSON, "LS", "The estimate of the mean vector, as an array. %s_STDERR tells its error."},
	{AskInfo, "INFO", "", 0, 0, JSON, "LS", "What the estimate is made of: reports and minimum of each cell of the round, diagnostics, warnings, and what error bars cover. Before there is an estimate, %s_INFO tells what has arrived and why there is none."},
}

// reportFunctions lists them in the order of the documentation.
var reportFunctions = func() []*ReportFunction {
	var out []*ReportFunction
	for _, m := range []struct{ letter, prefix, column, table string }{{"L", "LDP", "report", "commute"}, {"S", "SHUFFLE", "msg", "income"}} {
		for _, f := range reportForms {
			if !strings.Contains(f.models, m.letter) {
				continue
			}
			name := m.prefix + "_" + f.name
			constants := map[string]string{", a, b": ", 0, 30", ", q": ", 0.5", " [, conf]": ", 0.99"}[f.rest]
			out = append(out, &ReportFunction{
				Question: f.question, Name: name, Signature: name + "(" + m.column + f.rest + ")", Shuffle: m.letter == "S",
				MinArgs: f.min, MaxArgs: f.max, Result: f.result, Doc: strings.ReplaceAll(f.doc, "%s", m.prefix),
				Example: fmt.Sprintf("SELECT %s(%s%s) FROM survey.%s", name, m.column, constants, m.table),
			})
		}
	}
	return out
}()

// ReportByName finds a function over reports by its name in any case.
func ReportByName(name string) (*ReportFunction, bool) {
	return lists.Find(reportFunctions, func(f *ReportFunction) bool { return strings.EqualFold(f.Name, name) })
}

// Twin returns the function of the other model that asks the same; false where there is none.
func (f *ReportFunction) Twin() (*ReportFunction, bool) {
	return lists.Find(reportFunctions, func(g *ReportFunction) bool { return g.Question == f.Question && g.Shuffle != f.Shuffle })
}

// Column is the name of the column that the function takes.
func (f *ReportFunction) Column() string {
	if f.Shuffle {
		return "msg"
	}
	return "report"
}

// bound builds the marker of one call. Arguments may still be bind variables.
func (f *ReportFunction) bound(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) < 1+f.MinArgs || len(args) > 1+f.MaxArgs {
		return nil, refuse.New(refuse.Aggregate, "%s does not take %d arguments.", f.Name, len(args)).With("Use %s.", f.Signature)
	}
	return &Reported{Function: f, Args: args}, nil
}

// Reported marks the place of a function over reports in a bound plan. It is replaced by its answer
// before the plan runs; one that is left over cannot be evaluated.
type Reported struct {
	Function *ReportFunction
	Args     []sql.Expression // as written: the column, then constants

	marker
}

var (
	_ sql.Aggregation                = (*Reported)(nil)
	_ sql.FunctionExpression         = (*Reported)(nil)
	_ sql.NonDeterministicExpression = (*Reported)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (r *Reported) FunctionName() string { return strings.ToLower(r.Function.Name) }

// Description implements sql.FunctionExpression.
func (r *Reported) Description() string { return r.Function.Doc }

// Resolved implements sql.Expression.
func (r *Reported) Resolved() bool { return expression.ExpressionsResolved(r.Args...) }

// String is the aggregate's identity, as that of Aggregate.
func (r *Reported) String() string { return called(r.Function.Name, r.Args) }

// Type implements sql.Expression.
func (r *Reported) Type(*sql.Context) sql.Type { return r.Function.Result.bound() }

// Eval implements sql.Expression; it always refuses.
func (r *Reported) Eval(*sql.Context, sql.Row) (any, error) { return nil, r.misplaced() }

// Children implements sql.Expression.
func (r *Reported) Children() []sql.Expression { return r.Args }

// WithChildren implements sql.Expression.
func (r *Reported) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(r.Args) {
		return nil, sql.ErrInvalidChildrenNumber.New(r, len(children), len(r.Args))
	}
	n := *r
	n.Args = children
	return &n, nil
}

// WithId implements sql.IdExpression.
func (r *Reported) WithId(id sql.ColumnId) sql.IdExpression {
	n := *r
	n.id = id
	return &n
}

// WithWindow implements sql.WindowAdaptableExpression.
func (r *Reported) WithWindow(_ *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	n := *r
	n.window = w
	return &n
}

// NewWindowFunction implements sql.WindowAdaptableExpression; it always refuses.
func (r *Reported) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, r.misplaced()
}

// NewBuffer implements sql.Aggregation; it always refuses.
func (r *Reported) NewBuffer(*sql.Context) (sql.AggregationBuffer, error) { return nil, r.misplaced() }

func (r *Reported) misplaced() error {
	return refuse.New(refuse.CollectionFilter, "%s is for the reports of one collection in a query block of its own, and cannot be evaluated here.", r.Function.Name).
		With("%s, in a derived table where more is done with it.", r.Function.Example)
}

// personOptions are the options that only the person-level methods have.
var personOptions = []string{"moment", "sigma_k", "rows", "stages", "split", "histogram"}

// method is the method of a mean under public facts. Where the call leaves it open it is person for
// persons who have several rows and options that speak of them, and for vectors where only pure
// mechanisms may run.
func (c Call) method(p estimator.Params) string {
	o := c.Options
	speaks := slices.ContainsFunc(personOptions, o.Has) || c.Vectors == nil && (o.Has("sigma") || o.Has("radius"))
	switch {
	case !c.automatic():
		return o.Method
	case p.Pure() && c.Vectors != nil, speaks && p.MaxRows != 1:
		return "person"
	}
	return "auto"
}

// ofPersons is the mechanism of a mean by a person-level method.
func (c Call) ofPersons(p estimator.Params, method string) (estimator.Estimator, error) {
	o, dim, sigma := c.Options, 1, 0.0
	if c.Vectors != nil {
		dim = c.Vectors.Dim
	}
	for _, s := range o.Sigma {
		sigma = max(sigma, s)
	}
	if method == "cover" {
		q := cover.Params{Params: p, Dim: dim, Persons: int64(o.Persons), Error: o.Error, Moment: o.Moment, Radius: o.Radius, Sigma: o.SigmaK, Rows: o.Rows}
		if c.Vectors == nil {
			return cover.NewNumber(q)
		}
		return cover.NewMean(q)
	}
	q := person.Params{Params: p, Dim: dim, Moment: o.Moment, Radius: o.Radius, Sigma: sigma, SigmaK: o.SigmaK, Rows: o.Rows, Stages: o.Stages, Split: o.Split}
	if o.Stable {
		q.Delta = p.Delta
	}
	if c.Vectors == nil {
		return person.NewNumber(q)
	}
	return person.NewMean(q)
}

// friendlyParams are the public facts under which a friendly mean is built.
func (c Call) friendlyParams(p estimator.Params) friendly.Params {
	o := c.Options
	return friendly.Params{Params: p, Dim: c.Vectors.Dim, Delta: p.Delta, Sigma: o.Sigma, SigmaMin: o.SigmaMin, SigmaMax: o.SigmaMax, Top: o.Top}
}
