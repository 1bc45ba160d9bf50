package standard

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
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
func asExact(ctx *sql.Context, a sql.Aggregation, more int) sql.Aggregation {
	e := a.Children()[0]
	if d, ok := e.(*expression.DistinctExpression); ok {
		e = d.Child
	}
	n, ok := NumberOf(ctx, Typed(ctx, e))
	if !ok {
		return a
	}
	return &exact{a, types.MustCreateDecimalType(types.DecimalTypeMaxPrecision, uint8(min(n.Scale+more, maxScale)))}
}

// again is the aggregate with the type that its argument gives it now.
func (e *exact) again(ctx *sql.Context) sql.Aggregation {
	more := 0
	if _, ok := e.Aggregation.(*aggregation.Avg); ok {
		more = divIncrement
	}
	return asExact(ctx, e.Aggregation, more)
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
	child, err := transform.Clone(ctx, e.Children()[0])
	_, mean := e.Aggregation.(*aggregation.Avg)
	return &exactBuffer{child: child, typ: e.typ, mean: mean}, err
}

// exactBuffer adds up without rounding.
type exactBuffer struct {
	child sql.Expression
	typ   sql.DecimalType
	mean  bool
	sum   apd.Decimal
	rows  int64
}

// Update implements sql.AggregationBuffer.
func (b *exactBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := operand(ctx, row, b.child)
	if d := decimalOf(v); d != nil && err == nil {
		b.rows++
		_, err = wide.Add(&b.sum, &b.sum, d)
	}
	return err
}

// Eval implements sql.AggregationBuffer.
func (b *exactBuffer) Eval(ctx *sql.Context) (any, error) {
	if b.rows == 0 {
		return nil, nil
	}
	out := &b.sum
	if b.mean {
		out = new(apd.Decimal)
		if _, err := wide.Quo(out, &b.sum, apd.New(b.rows, 0)); err != nil {
			return nil, err
		}
	}
	return rounded(out, int(b.typ.Scale()), apd.RoundHalfUp), nil
}

// Dispose implements sql.Disposable.
func (b *exactBuffer) Dispose(ctx *sql.Context) { expression.Dispose(ctx, b.child) }

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
