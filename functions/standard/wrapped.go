package standard

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(function{name: "timestamp", min: 2, max: 2, typ: types.DatetimeMaxPrecision, eval: timestamp,
		doc: "adds a time to a date."})
	wrap("timestamp", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		if len(args) == 1 {
			return gms.NewDatetime(ctx, args...)
		}
		return nil, nil
	})
}

// wrapped are the functions of go-mysql-server that serve for some arguments only: nil leaves the
// others to the table.
var wrapped = map[string]func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error){}

func wrap(name string, f func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error)) {
	wrapped[name] = f
}

// timestamp is TIMESTAMP(date, time).
func timestamp(ctx *sql.Context, a []any) (any, error) {
	t, ok := moment(ctx, a[0])
	by, timed := span(ctx, a[1])
	if !ok || !timed {
		return nil, nil
	}
	return t.Add(time.Duration(by) * time.Microsecond), nil
}
