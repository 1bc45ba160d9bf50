package functions

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

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
