package standard

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	wrap("unix_timestamp", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		return newUnixTimestamp(ctx, args...)
	})
}

// unixTimestamp is UNIX_TIMESTAMP as go-mysql-server has it, but for the offset of the session's
// clock.
type unixTimestamp struct{ *gms.UnixTimestamp }

var _ sql.FunctionExpression = unixTimestamp{}

func newUnixTimestamp(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := timestampOf(ctx, args)
	if err != nil {
		return nil, err
	}
	return unixTimestamp{e}, nil
}

// timestampOf is go-mysql-server's function. It evaluates an argument for its digits after the
// point, without a context; one that may want a context is shown to it as a column.
func timestampOf(ctx *sql.Context, args []sql.Expression) (*gms.UnixTimestamp, error) {
	shown := args
	if len(args) == 1 && ours(ctx, args[0]) && !types.IsDatetimeType(args[0].Type(ctx)) {
		shown = []sql.Expression{expression.NewGetField(0, types.LongText, "", true)}
	}
	e, err := gms.NewUnixTimestamp(ctx, shown...)
	if err != nil {
		return nil, err
	}
	u := *e.(*gms.UnixTimestamp)
	if len(args) == 1 {
		u.Date = args[0]
	}
	return &u, nil
}

// ours reports whether an expression calls a function of this package.
func ours(ctx *sql.Context, e sql.Expression) (found bool) {
	transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case *call, unixTimestamp:
			found = true
		}
		return found
	})
	return found
}

// Eval implements sql.Expression.
func (u unixTimestamp) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if u.Date == nil || u.Date.Type(ctx).Equals(types.Timestamp) {
		return u.UnixTimestamp.Eval(ctx, row)
	}
	v, err := u.Date.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, _, err = types.DatetimeMaxPrecision.Convert(ctx, v); err != nil {
		ctx.Warn(1292, "Incorrect datetime value: %s", u.Date.String())
		return int64(0), nil
	}
	at, err := sessionZone(ctx)
	if err != nil {
		return nil, err
	}
	d := onPaper(v.(time.Time))
	moment := *u.UnixTimestamp
	moment.Date = expression.NewLiteral(d.Add(-aheadOfClock(at, d)), types.Timestamp)
	return moment.Eval(ctx, nil)
}

// WithChildren implements sql.Expression.
func (u unixTimestamp) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return newUnixTimestamp(ctx, children...)
}
