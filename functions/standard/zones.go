package standard

import (
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	define(function{name: "from_unixtime", min: 1, max: 1, typ: types.DatetimeMaxPrecision, eval: fromUnixtime,
		doc: "returns the date and time of so many seconds since 1970, on the clock of the session's time_zone."})
	wrap("from_unixtime", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, nil
		}
		return newCall(ctx, byName["date_format"], []sql.Expression{newCall(ctx, byName["from_unixtime"], args[:1]), args[1]}), nil
	})
}

// fromUnixtime is FROM_UNIXTIME(n). go-mysql-server takes the clock of another moment within hours of a change of the clock, and cuts off
// fractions of seconds.
func fromUnixtime(ctx *sql.Context, a []any) (any, error) {
	x, ok := float(ctx, a[0])
	if !ok || !(x >= 0 && x <= gms.MaxUnixTimeSecs) {
		return nil, nil
	}
	name, err := gms.SessionTimeZone(ctx)
	if err != nil {
		return nil, err
	}
	at, err := location(name)
	if err != nil {
		return nil, err
	}
	whole, part := math.Modf(x)
	t := time.Unix(int64(whole), int64(math.Round(part*1e6))*1000).In(at)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), nil
}

// location is the zone of a name or of an offset such as '+02:00'.
func location(name string) (*time.Location, error) {
	if by, err := sql.MySQLOffsetToDuration(name); err == nil {
		return time.FixedZone(name, int(by/time.Second)), nil
	}
	return time.LoadLocation(name)
}
