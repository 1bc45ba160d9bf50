package standard

import (
	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

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
