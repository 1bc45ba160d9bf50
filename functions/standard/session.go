package standard

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	user := func(ctx *sql.Context, _ []any) (any, error) {
		c := ctx.Session.Client()
		return c.User + "@" + c.Address, nil
	}
	define(
		function{name: "session_user", typ: types.LongText, eval: user, doc: "returns the account of the session, as USER() does."},
		function{name: "system_user", typ: types.LongText, eval: user, doc: "returns the account of the session, as USER() does."},
		function{name: "interval", min: 2, max: 256, typ: types.Int64, nulls: true, eval: interval,
			doc: "returns how many of the numbers behind the first, which ascend, it reaches."},
	)
}

// interval is INTERVAL(n, a, b, …), whose numbers ascend; -1 for NULL.
func interval(ctx *sql.Context, a []any) (any, error) {
	if a[0] == nil {
		return int64(-1), nil
	}
	n, ok := float(ctx, a[0])
	if !ok {
		return int64(0), nil
	}
	for i, v := range a[1:] {
		if v == nil {
			continue
		}
		if x, ok := float(ctx, v); ok && n < x {
			return int64(i), nil
		}
	}
	return int64(len(a) - 1), nil
}
