package standard

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// exact is SUM or AVG of whole numbers or DECIMALs, whose answers are DECIMALs in MySQL: SUM has
// the scale of its argument, AVG four digits more, at most 30. go-mysql-server gives DOUBLEs.
type exact struct {
	sql.Aggregation
	typ sql.DecimalType
}

var _ sql.FunctionExpression = (*exact)(nil)

// divIncrement is MySQL's div_precision_increment: the digits that a quotient has beyond its
// dividend.
const divIncrement = 4

// maxScale is the largest scale of a DECIMAL in MySQL.
const maxScale = 30

func init() {
	wrap("sum", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		if len(args) != 1 {
			return nil, sql.ErrInvalidArgumentNumber.New("SUM", 1, len(args))
		}
		return asExact(ctx, aggregation.NewSum(args[0]), 0), nil
	})
	wrap("avg", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		if len(args) != 1 {
			return nil, sql.ErrInvalidArgumentNumber.New("AVG", 1, len(args))
		}
		return asExact(ctx, aggregation.NewAvg(args[0]), divIncrement), nil
	})
}

// asExact gives an aggregate the type that MySQL does, more digits being those that it adds to its
// argument's scale.
func asExact(ctx *sql.Context, a sql.Aggregation, more uint8) sql.Aggregation {
	e := a.Children()[0]
	if d, ok := e.(*expression.DistinctExpression); ok {
		e = d.Child
	}
	scale, ok := scaleOf(ctx, e)
	if !ok {
		return a
	}
	return &exact{a, types.MustCreateDecimalType(types.DecimalTypeMaxPrecision, min(scale+more, maxScale))}
}

// scaleOf is the scale of an exact number. Where go-mysql-server gives the largest there is,
// because it does not know, the values that a choice is between tell.
func scaleOf(ctx *sql.Context, e sql.Expression) (uint8, bool) {
	t := e.Type(ctx)
	switch d, decimal := t.(sql.DecimalType); {
	case types.IsInteger(t), types.IsBoolean(t), types.IsBit(t), types.IsYear(t):
		return 0, true
	case decimal && d.Scale() < maxScale:
		return d.Scale(), true
	case !decimal:
		return 0, false
	}
	var scale uint8
	list := choices(e)
	for _, c := range list {
		if types.IsNull(ctx, c) {
			continue
		}
		s, ok := scaleOf(ctx, c)
		if !ok {
			return 0, false
		}
		scale = max(scale, s)
	}
	return scale, len(list) > 0
}

// choices are the values that an expression chooses from, nil for others.
func choices(e sql.Expression) []sql.Expression {
	switch e := e.(type) {
	case *gms.If:
		return e.Children()[1:]
	case *gms.IfNull, *gms.Coalesce:
		return e.Children()
	case *gms.NullIf:
		return e.Children()[:1]
	case *expression.Case:
		var list []sql.Expression
		for _, b := range e.Branches {
			list = append(list, b.Value)
		}
		if e.Else != nil {
			list = append(list, e.Else)
		}
		return list
	case *expression.Alias:
		return []sql.Expression{e.Child}
	}
	return nil
}

// Plain returns go-mysql-server's own aggregate behind one of this package's.
func Plain(a sql.Aggregation) sql.Aggregation {
	switch e := a.(type) {
	case *exact:
		return e.Aggregation
	case *spread:
		return e.Aggregation
	}
	return a
}

// with is the same with another aggregate behind it.
func (e *exact) with(a any) *exact { return &exact{a.(sql.Aggregation), e.typ} }

// Type implements sql.Expression.
func (e *exact) Type(*sql.Context) sql.Type { return e.typ }

// FunctionName implements sql.FunctionExpression.
func (e *exact) FunctionName() string { return e.Aggregation.(sql.FunctionExpression).FunctionName() }

// Description implements sql.FunctionExpression.
func (e *exact) Description() string { return e.Aggregation.(sql.FunctionExpression).Description() }

// DebugString implements sql.DebugStringer.
func (e *exact) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, e.Aggregation) }

// WithChildren implements sql.Expression. The type stays: a column that what is planned replaces by
// a wider one does not change what the answer is.
func (e *exact) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	a, err := e.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return e.with(a), nil
}

// WithId implements sql.IdExpression.
func (e *exact) WithId(id sql.ColumnId) sql.IdExpression { return e.with(e.Aggregation.WithId(id)) }

// WithWindow implements sql.WindowAdaptableExpression.
func (e *exact) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return e.with(e.Aggregation.WithWindow(ctx, w))
}

// NewBuffer implements sql.Aggregation.
func (e *exact) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b, err := e.Aggregation.NewBuffer(ctx)
	if err != nil {
		return nil, err
	}
	return &exactBuffer{b, e.typ}, nil
}

// exactBuffer makes the answer a DECIMAL.
type exactBuffer struct {
	sql.AggregationBuffer
	typ sql.DecimalType
}

// Eval implements sql.AggregationBuffer.
func (b *exactBuffer) Eval(ctx *sql.Context) (any, error) {
	v, err := b.AggregationBuffer.Eval(ctx)
	if err != nil || v == nil {
		return nil, err
	}
	d, err := b.typ.ConvertToDecimal(v)
	if err != nil || d == nil {
		return nil, err
	}
	out := new(apd.Decimal)
	if _, err := rounding.Quantize(out, d, -int32(b.typ.Scale())); err != nil {
		return d, nil
	}
	return out, nil
}

// rounding has room for every DECIMAL, and rounds as MySQL does.
var rounding = &apd.Context{Precision: 100, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}

// spread is a variance or a standard deviation: DOUBLE in MySQL, of whatever it is. go-mysql-server
// gives them their argument's type, and so rounds the spread of whole numbers to whole numbers.
type spread struct{ sql.Aggregation }

var _ sql.FunctionExpression = (*spread)(nil)

func init() {
	own := gms.NewRegistry()
	for _, name := range []string{"std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"} {
		f, ok := own.Function(nil, "", name)
		if !ok {
			panic("standard: no function " + name)
		}
		wrap(name, func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			e, err := f.NewInstance(ctx, args)
			if a, ok := e.(sql.Aggregation); ok && err == nil {
				return &spread{a}, nil
			}
			return e, err
		})
	}
}

// Type implements sql.Expression.
func (*spread) Type(*sql.Context) sql.Type { return types.Float64 }

// IsNullable implements sql.Expression: there is no spread of no values.
func (*spread) IsNullable(*sql.Context) bool { return true }

// FunctionName implements sql.FunctionExpression.
func (s *spread) FunctionName() string { return s.Aggregation.(sql.FunctionExpression).FunctionName() }

// Description implements sql.FunctionExpression.
func (s *spread) Description() string { return s.Aggregation.(sql.FunctionExpression).Description() }

// DebugString implements sql.DebugStringer.
func (s *spread) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, s.Aggregation) }

// WithChildren implements sql.Expression.
func (s *spread) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	a, err := s.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &spread{a.(sql.Aggregation)}, nil
}

// WithId implements sql.IdExpression.
func (s *spread) WithId(id sql.ColumnId) sql.IdExpression {
	return &spread{s.Aggregation.WithId(id).(sql.Aggregation)}
}

// WithWindow implements sql.WindowAdaptableExpression.
func (s *spread) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &spread{s.Aggregation.WithWindow(ctx, w).(sql.Aggregation)}
}
