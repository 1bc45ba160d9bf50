package functions

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

// Scalar is a function of one row: a maker of vectors, or one that works on answers.
type Scalar struct {
	Name      string // upper case
	Signature string
	MinArgs   int
	MaxArgs   int
	Result    Result
	Doc       string
	Example   string
	// build makes the expression of a call; nil: calls are written out when they are parsed, and
	// one that is left over is refused
	build func(*Scalar, []sql.Expression) sql.Expression
}

// MaxVector bounds the arguments of DP_VECTOR.
const MaxVector = 1024

// scalars lists the functions that are no aggregates, in the order of the documentation.
var scalars = []*Scalar{
	{
		Name: "DP_VECTOR", Signature: "DP_VECTOR(a, b, …)", MinArgs: 1, MaxArgs: MaxVector, Result: JSON,
		Doc:     "The vector of its arguments, numbers, at most 1024; a row where one of them is NULL is absent. Without lower and upper, or ranges of the columns, a coordinate counts as at most 2^30 in size, as that of an array does.",
		Example: "SELECT DP_MEAN(DP_VECTOR(age, income, height)) FROM people",
		build:   func(f *Scalar, args []sql.Expression) sql.Expression { return &Vector{maker{f, args}} },
	},
	{
		Name: "DP_ONEHOT", Signature: "DP_ONEHOT(item, 'dimension=N')", MinArgs: 2, MaxArgs: 2, Result: JSON,
		Doc:     "For aggregates: one vector a person with a 1 for each item in the person's rows, items being whole numbers from 0 to N-1; persons without any are absent. Sparse: its cost in time and memory follows the 1s.",
		Example: "SELECT DP_MEAN(DP_ONEHOT(page_id, 'dimension=5000')) FROM clicks",
		build:   func(f *Scalar, args []sql.Expression) sql.Expression { return &Onehot{maker{f, args}} },
	},
	{
		Name: "DP_VALUE", Signature: "DP_VALUE(v, i)", MinArgs: 2, MaxArgs: 2, Result: Double,
		Doc:     "Coordinate i of a vector, counted from 1; NULL where there is none. It works on answers, at no cost, and on rows with a constant i.",
		Example: "SELECT DP_VALUE(DP_MEAN(embedding), 3) FROM profiles",
		build:   func(f *Scalar, args []sql.Expression) sql.Expression { return &Value{maker{f, args}} },
	},
	{
		Name: "DP_BUCKET", Signature: "DP_BUCKET(x, low, high, n)", MinArgs: 0, MaxArgs: MaxVector, Result: Double,
		Doc:     "The lower end of the one of n buckets of equal width between the constants low and high that x is in, high in the last one; NULL outside. n is at most 200. Its values are public keys of a GROUP BY: a histogram has all of its rows, and one of what is outside.",
		Example: "SELECT DP_BUCKET(age, 0, 100, 10) AS low, COUNT(*) FROM people GROUP BY low ORDER BY low",
	},
}

// function registers a scalar function. Arguments may still be bind variables.
func (f *Scalar) function() sql.Function {
	return sql.FunctionN{Name: strings.ToLower(f.Name), Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) < f.MinArgs || len(args) > f.MaxArgs {
			return nil, refuse.New(refuse.Expression, "%s does not take %d arguments.", f.Name, len(args)).With("Use %s.", f.Signature)
		}
		if f.build == nil {
			return nil, refuse.New(refuse.Expression, "%s takes a number, and three constants that make buckets.", f.Name).With("Use %s, as in %s.", f.Signature, f.Example)
		}
		return f.build(f, args), nil
	}}
}

// maker is what the expressions of scalar functions share.
type maker struct {
	scalar *Scalar
	args   []sql.Expression
}

// FunctionName implements sql.FunctionExpression.
func (m maker) FunctionName() string { return strings.ToLower(m.scalar.Name) }

// Description implements sql.FunctionExpression.
func (m maker) Description() string { return m.scalar.Doc }

// Children implements sql.Expression.
func (m maker) Children() []sql.Expression { return m.args }

// IsNullable implements sql.Expression.
func (m maker) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (m maker) Resolved() bool { return expression.ExpressionsResolved(m.args...) }

// String implements sql.Expression. Aggregates are told apart by it, so it marks text constants
// with capitals.
func (m maker) String() string { return called(m.scalar.Name, m.args) }

// CollationCoercibility implements sql.CollationCoercible.
func (m maker) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// with returns the parts with other arguments.
func (m maker) with(e sql.Expression, children []sql.Expression) (maker, error) {
	if len(children) != len(m.args) {
		return m, sql.ErrInvalidChildrenNumber.New(e, len(children), len(m.args))
	}
	return maker{m.scalar, children}, nil
}

// Vector is DP_VECTOR(a, b, …). Under an aggregate over a protected table the planner takes it
// apart; elsewhere its value is the JSON array of its arguments.
type Vector struct{ maker }

// Coordinates are the arguments.
func (v *Vector) Coordinates() []sql.Expression { return v.args }

// Type implements sql.Expression.
func (v *Vector) Type(*sql.Context) sql.Type { return types.JSON }

// Eval implements sql.Expression: NULL where an argument is NULL or not a number.
func (v *Vector) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	list := make([]any, len(v.args))
	for i, e := range v.args {
		x, err := e.Eval(ctx, row)
		if err != nil || x == nil {
			return nil, err
		}
		f, ok := number(ctx, x)
		if !ok {
			return nil, nil
		}
		list[i] = f
	}
	return types.JSONDocument{Val: list}, nil
}

// WithChildren implements sql.Expression.
func (v *Vector) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	m, err := v.with(v, children)
	return &Vector{m}, err
}

// Onehot is DP_ONEHOT(item, 'dimension=N'): it has a meaning under an aggregate over a protected
// table only.
type Onehot struct{ maker }

// Item is the expression of the coordinate that is 1.
func (o *Onehot) Item() sql.Expression { return o.args[0] }

// Options is the expression of the options string.
func (o *Onehot) Options() sql.Expression { return o.args[1] }

// Function is the entry under which the options are checked.
func (o *Onehot) Function() *Function { return onehot }

// onehot documents the options of DP_ONEHOT to their parser.
var onehot = &Function{Name: "DP_ONEHOT", Signature: "DP_ONEHOT(item, 'dimension=N')", Options: []string{"dimension"}}

// Type implements sql.Expression.
func (o *Onehot) Type(*sql.Context) sql.Type { return types.JSON }

// IsNonDeterministic keeps go-mysql-server from evaluating the marker ahead of time.
func (o *Onehot) IsNonDeterministic() bool { return true }

// Eval implements sql.Expression; it always refuses.
func (o *Onehot) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, refuse.New(refuse.Aggregate, "DP_ONEHOT is the argument of DP_MEAN, DP_SUM, DP_VARIANCE or DP_STDDEV over a protected table.").
		With("For example DP_MEAN(%s).", o.scalar.Signature)
}

// WithChildren implements sql.Expression.
func (o *Onehot) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	m, err := o.with(o, children)
	return &Onehot{m}, err
}

// Value is DP_VALUE(v, i): coordinate i, counted from 1, of a JSON array, its text, or a VECTOR. It
// is an ordinary function: on an answer it is post-processing.
type Value struct{ maker }

// Type implements sql.Expression.
func (v *Value) Type(*sql.Context) sql.Type { return types.Float64 }

// Eval implements sql.Expression. NULL, and what is no vector, no coordinate or no number, gives
// NULL.
func (v *Value) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	x, err := v.args[0].Eval(ctx, row)
	if err != nil || x == nil {
		return nil, err
	}
	at, err := v.args[1].Eval(ctx, row)
	if err != nil || at == nil {
		return nil, err
	}
	i, ok := number(ctx, at)
	if !ok || i != math.Trunc(i) {
		return nil, nil
	}
	f, ok := coordinate(ctx, x, i)
	if !ok {
		return nil, nil
	}
	return f, nil
}

// WithChildren implements sql.Expression.
func (v *Value) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	m, err := v.with(v, children)
	return &Value{m}, err
}

// coordinate picks one number of a vector.
func coordinate(ctx *sql.Context, x any, i float64) (float64, bool) {
	if b, ok := x.([]byte); ok { // VECTOR: float32, little endian
		if len(b)%4 != 0 || !(i >= 1 && i <= float64(len(b)/4)) {
			return 0, false
		}
		return finite(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*(int(i)-1):]))))
	}
	doc, _, err := types.JSON.Convert(ctx, x)
	if err != nil {
		return 0, false
	}
	w, ok := doc.(sql.JSONWrapper)
	if !ok {
		return 0, false
	}
	val, err := w.ToInterface(ctx)
	if err != nil {
		return 0, false
	}
	list, ok := val.([]any)
	if !ok || !(i >= 1 && i <= float64(len(list))) {
		return 0, false
	}
	return number(ctx, list[int(i)-1])
}

// number reads an SQL number; text and JSON of other kinds are none.
func number(ctx *sql.Context, x any) (float64, bool) {
	switch x.(type) {
	case nil, string, []byte, []any, map[string]any, sql.JSONWrapper:
		return 0, false
	}
	f, in, err := types.Float64.Convert(ctx, x)
	if err != nil || in != sql.InRange || f == nil {
		return 0, false
	}
	return finite(f.(float64))
}

func finite(f float64) (float64, bool) { return f, !math.IsNaN(f) && !math.IsInf(f, 0) }
