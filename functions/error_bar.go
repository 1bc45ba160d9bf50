package functions

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// ErrorBar says what is told of an aggregate's error in place of its answer.
type ErrorBar uint8

// Bars.
const (
	NoErrorBar ErrorBar = iota
	StdErr              // the standard deviation of the noise
	Low                 // the lower end of an interval
	High                // the upper end
	Radius              // of vectors: an ℓ2 distance
	Info                // what the error is made of, as JSON
	Law                 // what intervals of expressions are made of, see Interval
)

// String is the name in an explained plan.
func (b ErrorBar) String() string {
	return [...]string{"", "stderr", "low", "high", "radius", "info", "interval of an expression"}[b]
}

// DefaultLevel is the level of an interval where none is given.
const DefaultLevel = 0.95

// ErrorBarFunction is one of the functions that tell of an aggregate's error.
type ErrorBarFunction struct {
	ErrorBar
	Name      string // upper case
	Signature string
	Level     bool // takes a level
	Doc       string
	Example   string
}

// errorBarFunctions lists them in the order of the documentation.
var errorBarFunctions = []*ErrorBarFunction{
	{
		ErrorBar: StdErr, Name: "DP_STDERR", Signature: "DP_STDERR(a)",
		Doc:     "The standard deviation of the noise in the answer of a DP aggregate or its alias; NULL where it is not known, as of quantiles. Of vectors a JSON array. It costs nothing.",
		Example: "SELECT DP_MEAN(amount) AS m, DP_STDERR(m) FROM orders",
	},
	{
		ErrorBar: Low, Name: "DP_LOW", Signature: "DP_LOW(a [, level])", Level: true,
		Doc: "The lower end of an interval that covers the exact answer on the data with a probability of at least level, 0.95 where it is left out; NULL where none is known. " +
			"a is a DP aggregate, or what + - * /, ROUND and the like make of several, of SUM(…) OVER (…) of them and of scalar subqueries: a share, a rate, a difference. " +
			"It covers the noise, and of counts, sums and means what a clip that was searched for may have taken (DP_INFO and EXPLAIN say where it does not); not that persons may be a sample. " +
			"Of vectors and DP_QUANTILES a JSON array, each entry at the level by itself. It costs nothing; an interval of a quantile takes a fifth of the loss of the statement's quantiles.",
		Example: "SELECT region, DP_MEAN(amount) AS m, DP_LOW(m), DP_HIGH(m) FROM orders GROUP BY region",
	},
	{
		ErrorBar: High, Name: "DP_HIGH", Signature: "DP_HIGH(a [, level])", Level: true,
		Doc:     "The upper end, as DP_LOW.",
		Example: "SELECT COUNT(*), DP_LOW(COUNT(*), 0.99), DP_HIGH(COUNT(*), 0.99) FROM orders",
	},
	{
		ErrorBar: Radius, Name: "DP_RADIUS", Signature: "DP_RADIUS(a [, level])", Level: true,
		Doc:     "Of an answer that is a vector: a distance within which the exact vector is, in the ℓ2 norm, with a probability of at least level, 0.95 where it is left out. It covers what DP_LOW does. It costs nothing.",
		Example: "SELECT DP_MEAN(embedding) AS m, DP_RADIUS(m) FROM profiles",
	},
	{
		ErrorBar: Info, Name: "DP_INFO", Signature: "DP_INFO(a)",
		Doc: "What the error of an answer is made of, as a JSON object: the noise, the clip and the share that it is estimated to have cut, persons by a released number, and what each end " +
			"of the interval rests on; of a NULL the number of persons that would do. Of vectors an array of them. It costs nothing.",
		Example: "SELECT region, COUNT(*) AS n, DP_HIGH(n), DP_INFO(n) FROM orders GROUP BY region",
	},
}

// lawFunction stands for the answers in an interval of an expression, where the grammar puts it.
var lawFunction = &ErrorBarFunction{ErrorBar: Law, Name: LawName, Signature: LawName + "(a)", Example: "DP_LOW(SUM(x) / COUNT(*))"}

// ErrorBarByName finds a function that tells of an error by its name in any case.
func ErrorBarByName(name string) (*ErrorBarFunction, bool) {
	if strings.EqualFold(name, LawName) {
		return lawFunction, true
	}
	return lists.Find(errorBarFunctions, func(f *ErrorBarFunction) bool { return strings.EqualFold(f.Name, name) })
}

// ErrorBarCall is what a marker has beside the aggregate when it stands for a bar.
type ErrorBarCall struct {
	Function *ErrorBarFunction
	Level    sql.Expression // constant
	Alias    string         // by which the aggregate was named; "" where it was written out
}

// A call of a bar reaches the binder in one of two forms, which planner.Parser makes of what was
// written:
//
//	DP_LOW(x, …, 'DP_MEAN', level, 'alias')    the arguments of the aggregate, its name, with DISTINCT after it where that stood
//	                                           before the argument, the level and the alias or ''
//	DP_LOW('cause', 'remedy')                  a refusal, as parsers have no words of their own
//
// Distinct is the mark after the name.
const Distinct = " DISTINCT"

// bound builds the marker of a call in one of these forms.
func (f *ErrorBarFunction) bound(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	n := len(args) - 3
	if len(args) == 2 && isText(args[0]) && isText(args[1]) {
		return nil, refuse.New(refuse.Aggregate, "%s", text(args[0])).With("%s", text(args[1]))
	}
	if n < 0 || !isText(args[n]) || !isText(args[n+2]) {
		return nil, refuse.New(refuse.Aggregate, "%s wants a DP aggregate.", f.Name).With("For example %s.", f.Example)
	}
	name, distinct := strings.CutSuffix(text(args[n]), Distinct)
	of, ok := ByName(name)
	if !ok || of.Role == Refused {
		return nil, refuse.New(refuse.Aggregate, "%s wants a DP aggregate, and %s is none.", f.Name, name).With("For example %s.", f.Example)
	}
	e, err := of.marker(nil, args[:n:n]...)
	if err != nil {
		return nil, err
	}
	a := e.(*Aggregate)
	if distinct && n > 0 {
		a.Args[0] = expression.NewDistinctExpression(a.Args[0])
	}
	a.Told = &ErrorBarCall{Function: f, Level: args[n+1], Alias: text(args[n+2])}
	return a, nil
}

func text(e sql.Expression) string { s, _ := e.(*expression.Literal).Val.(string); return s }

// Type is the type of a bar of an aggregate, as far as the binder can know it: vectors make it a
// JSON array.
func (t *ErrorBarCall) Type(of *Function) sql.Type {
	if b := t.Function.ErrorBar; b == Law {
		return types.LongText
	} else if b == Info || of.Result == JSON && b != Radius {
		return types.JSON
	}
	return types.Float64
}

// ParseLevel reads a level.
func (f *ErrorBarFunction) ParseLevel(text string) (float64, error) {
	level, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(level > 0 && level < 1) {
		return 0, refuse.New(refuse.Option, "%s wants a level strictly between 0 and 1, not %.40q.", f.Name, text).
			With("For example 0.95, or 0.99; not 95.")
	}
	return level, nil
}

// result is the type of its answer.
func (f *ErrorBarFunction) result() string {
	if f.ErrorBar == Info {
		return "JSON"
	}
	return "DOUBLE; JSON for vectors"
}
