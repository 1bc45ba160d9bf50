package standard

import (
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Windowed returns the name under which a function is bound where it has an OVER clause. Such a
// call has a number before its arguments, which tells it from others of the same text. The grammar
// renames calls: go-mysql-server's own functions of windows have wrong types, tell two frames apart
// by texts that are equal for some of them, and lack NTH_VALUE and CUME_DIST.
func Windowed(name string) string { return name + windowed }

const windowed = " over"

// Over is a function with an OVER clause. It has a type and no values: package hold computes them.
type Over struct {
	Name      string          // as MySQL has it, in lower case
	Aggregate sql.Aggregation // without a window; nil for the functions that only windows have
	args      []sql.Expression
	nth       sql.Expression // the number that tells it from others of the same text
	window    *sql.WindowDefinition
	id        sql.ColumnId
}

var _ sql.FunctionExpression = (*Over)(nil)
var _ sql.WindowAdaptableExpression = (*Over)(nil)

// overs are the functions that only windows have, with the least and the largest number of their
// arguments.
var overs = map[string][2]int{
	"row_number": {}, "rank": {}, "dense_rank": {}, "percent_rank": {}, "cume_dist": {}, "ntile": {1, 1},
	"lag": {1, 3}, "lead": {1, 3}, "first_value": {1, 1}, "last_value": {1, 1}, "nth_value": {2, 2},
}

// OnlyOver lists the functions that have a value with an OVER clause only, in lower case.
func OnlyOver() []string { return slices.Sorted(maps.Keys(overs)) }

func init() {
	base := planbuilder.IsWindowFunc
	planbuilder.IsWindowFunc = func(ctx *sql.Context, name string) (bool, error) {
		if strings.HasSuffix(name, windowed) {
			return true, nil
		}
		return base(ctx, name)
	}
	for name, n := range overs {
		wrap(Windowed(name), func(_ *sql.Context, args []sql.Expression) (sql.Expression, error) {
			if len(args) <= n[0] || len(args) > n[1]+1 {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), n, len(args)-1)
			}
			return &Over{Name: name, nth: args[0], args: args[1:]}, nil
		})
	}
	for _, name := range []string{"count", "sum", "avg", "min", "max", "bit_and", "bit_or", "bit_xor", "json_arrayagg", "json_objectagg",
		"std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"} {
		wrap(Windowed(name), func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			a, err := aggregate(ctx, name, args[1:])
			return &Over{Name: name, nth: args[0], Aggregate: a}, err
		})
	}
}

var registry = gms.NewRegistry()

// aggregate makes an aggregate by its name: this package's, or go-mysql-server's.
func aggregate(ctx *sql.Context, name string, args []sql.Expression) (sql.Aggregation, error) {
	f, ok := Function(name)
	if !ok {
		f, ok = registry.Function(nil, "", name)
	}
	if !ok {
		return nil, sql.ErrFunctionNotFound.New(name)
	}
	e, err := f.NewInstance(ctx, args)
	if err != nil {
		return nil, err
	}
	return e.(sql.Aggregation), nil
}

// Beside returns another aggregate of the same arguments.
func (o *Over) Beside(ctx *sql.Context, name string) (sql.Aggregation, error) {
	return aggregate(ctx, name, o.Args())
}

// Args returns what stands between the brackets.
func (o *Over) Args() []sql.Expression {
	if o.Aggregate != nil {
		return o.Aggregate.Children()
	}
	return o.args
}

// Type implements sql.Expression.
func (o *Over) Type(ctx *sql.Context) sql.Type {
	switch {
	case o.Aggregate != nil:
		return o.Aggregate.Type(ctx)
	case o.Name == "percent_rank" || o.Name == "cume_dist":
		return types.Float64
	case len(o.args) == 3:
		c, err := gms.NewCoalesce(ctx, o.args[0], o.args[2])
		if err != nil {
			return o.args[0].Type(ctx)
		}
		if d, ok := c.Type(ctx).(sql.DecimalType); ok { // with room for the digits of both
			return types.MustCreateDecimalType(types.DecimalTypeMaxPrecision, d.Scale())
		}
		return c.Type(ctx)
	case o.Name == "lag" || o.Name == "lead" || strings.HasSuffix(o.Name, "_value"):
		return o.args[0].Type(ctx)
	}
	return types.Uint64
}

// IsNullable implements sql.Expression.
func (o *Over) IsNullable(ctx *sql.Context) bool {
	switch {
	case o.Name == "count" || strings.HasPrefix(o.Name, "bit_"):
		return false
	case o.Aggregate != nil:
		return true
	}
	return len(o.args) > 0
}

// FunctionName implements sql.FunctionExpression.
func (o *Over) FunctionName() string { return o.Name }

// Description implements sql.FunctionExpression.
func (o *Over) Description() string { return "computes a value of each row from the rows of a window." }

// Eval implements sql.Expression.
func (o *Over) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, sql.ErrWindowUnsupported.New(o.Name)
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (o *Over) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, sql.ErrWindowUnsupported.New(o.Name)
}

// Id implements sql.IdExpression.
func (o *Over) Id() sql.ColumnId { return o.id }

// WithId implements sql.IdExpression.
func (o *Over) WithId(id sql.ColumnId) sql.IdExpression {
	copied := *o
	copied.id = id
	return &copied
}

// Window implements sql.WindowAdaptableExpression.
func (o *Over) Window() *sql.WindowDefinition { return o.window }

// WithWindow implements sql.WindowAdaptableExpression.
func (o *Over) WithWindow(_ *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	copied := *o
	if copied.window = w; w != nil && w.Frame != nil {
		def := *w
		def.Frame = frame{w.Frame}
		copied.window = &def
	}
	return &copied
}

// Resolved implements sql.Expression.
func (o *Over) Resolved() bool { return expression.ExpressionsResolved(o.Children()...) }

// Children implements sql.Expression: the window's, and the arguments.
func (o *Over) Children() []sql.Expression { return append(o.window.ToExpressions(), o.Args()...) }

// WithChildren implements sql.Expression.
func (o *Over) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	n := len(children) - len(o.Args())
	if n < 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(o, len(children), len(o.Children()))
	}
	w, err := o.window.FromExpressions(ctx, children[:n])
	if err != nil {
		return nil, err
	}
	copied := *o
	copied.window = w
	if o.Aggregate == nil {
		copied.args = children[n:]
		return &copied, nil
	}
	a, err := o.Aggregate.WithChildren(ctx, children[n:]...)
	if err != nil {
		return nil, err
	}
	copied.Aggregate = a.(sql.Aggregation)
	return &copied, nil
}

// String is what tells one function of a SELECT from another: it has all of it.
func (o *Over) String() string {
	text := o.Name + "("
	if n := o.nth.String(); n != "0" {
		text = o.Name + "#" + n + "("
	}
	for i, a := range o.Args() {
		if i > 0 {
			text += ", "
		}
		text += a.String()
	}
	return text + ") " + o.window.String()
}

// CollationCoercibility implements sql.CollationCoercible.
func (o *Over) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	if list := o.Args(); len(list) > 0 && types.IsText(o.Type(ctx)) {
		return collationOf(ctx, list[0])
	}
	return sql.Collation_binary, 5
}

// frame is a frame whose text has both ends.
type frame struct{ sql.WindowFrame }

func (f frame) String() string {
	text := "ROWS BETWEEN "
	if Ranged(f) {
		text = "RANGE BETWEEN "
	}
	switch {
	case f.UnboundedPreceding():
		text += "UNBOUNDED PRECEDING"
	case f.StartNPreceding() != nil:
		text += f.StartNPreceding().String() + " PRECEDING"
	case f.StartNFollowing() != nil:
		text += f.StartNFollowing().String() + " FOLLOWING"
	default:
		text += "CURRENT ROW"
	}
	switch text += " AND "; {
	case f.UnboundedFollowing():
		return text + "UNBOUNDED FOLLOWING"
	case f.EndNPreceding() != nil:
		return text + f.EndNPreceding().String() + " PRECEDING"
	case f.EndNFollowing() != nil:
		return text + f.EndNFollowing().String() + " FOLLOWING"
	}
	return text + "CURRENT ROW"
}

// Ranged reports whether a frame is one of values, not of rows. Only its text tells.
func Ranged(f sql.WindowFrame) bool {
	if own, ok := f.(frame); ok {
		f = own.WindowFrame
	}
	return strings.HasPrefix(f.String(), "RANGE")
}
