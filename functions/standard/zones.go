package standard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Conversions between clocks. go-mysql-server takes the offset of another moment within hours of a
// change of the clock, as it reads a zone's own clock as if it were UTC's. Here they are as the
// store computes them (planner/lower), hour by hour.

func init() {
	define(function{name: "from_unixtime", min: 1, max: 1, typ: types.DatetimeMaxPrecision, eval: fromUnixtime,
		doc: "returns the date and time of so many seconds since 1970, on the clock of the session's time_zone."},
		function{name: "convert_tz", min: 3, max: 3, typ: types.DatetimeMaxPrecision, eval: convertTz,
			doc: "converts a date and time from the clock of one time zone to that of another."})
	wrap("from_unixtime", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, nil
		}
		return newCall(ctx, byName["date_format"], []sql.Expression{newCall(ctx, byName["from_unixtime"], args[:1]), args[1]}), nil
	})
}

// fromUnixtime is FROM_UNIXTIME(n). go-mysql-server cuts off fractions of seconds, too.
func fromUnixtime(ctx *sql.Context, a []any) (any, error) {
	x, ok := float(ctx, a[0])
	if !ok || !(x >= 0 && x <= gms.MaxUnixTimeSecs) {
		return nil, nil
	}
	at, err := sessionZone(ctx)
	if err != nil {
		return nil, err
	}
	whole, part := math.Modf(x)
	utc := time.Unix(int64(whole), int64(math.Round(part*1e6))*1000).UTC()
	return utc.Add(ahead(at, utc)), nil
}

// The moments that CONVERT_TZ converts, in UTC; others it leaves as they are, as MySQL does from
// 8.0.28.
var firstZoned, lastZoned = time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(3001, 1, 18, 23, 59, 59, 999999999, time.UTC)

// convertTz is CONVERT_TZ(d, from, to).
func convertTz(ctx *sql.Context, a []any) (any, error) {
	d, ok1 := moment(ctx, a[0])
	from, ok2 := zone(ctx, a[1])
	to, ok3 := zone(ctx, a[2])
	if !ok1 || !ok2 || !ok3 {
		return nil, nil
	}
	d = onPaper(d)
	utc := d.Add(-aheadOfClock(from, d))
	if utc.Before(firstZoned) || utc.After(lastZoned) {
		return d, nil
	}
	return utc.Add(ahead(to, utc)), nil
}

// zone reads an argument that names a zone.
func zone(ctx *sql.Context, v any) (*time.Location, bool) {
	name, ok := text(ctx, v)
	if !ok {
		return nil, false
	}
	at, err := location(name)
	return at, err == nil
}

// sessionZone is the zone of the session's clock.
func sessionZone(ctx *sql.Context) (*time.Location, error) {
	name, err := gms.SessionTimeZone(ctx)
	if err != nil {
		return nil, err
	}
	return location(name)
}

// location is the zone of a name as MySQL writes it: SYSTEM, an offset such as '+02:00', or a name
// of the IANA data base.
func location(name string) (*time.Location, error) {
	if name == "SYSTEM" {
		name = sql.SystemTimezoneOffset()
	}
	if by, err := sql.MySQLOffsetToDuration(name); err == nil {
		if by.Abs() >= 15*time.Hour {
			return nil, fmt.Errorf("standard: the offset %q is too far", name)
		}
		return time.FixedZone(name, int(by/time.Second)), nil
	}
	if name == "" || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("standard: %q is no zone", name)
	}
	return time.LoadLocation(name)
}

// The years whose changes of the clock are known, MySQL's TIMESTAMP: before and after them clocks
// stay as they are at that end.
var firstChange, lastChange = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2038, 12, 31, 23, 59, 59, 0, time.UTC)

// ahead is how far a zone's clock is ahead of UTC at a moment of UTC.
func ahead(at *time.Location, utc time.Time) time.Duration {
	if utc.Before(firstChange) {
		utc = firstChange
	} else if utc.After(lastChange) {
		utc = lastChange
	}
	_, offset := utc.In(at).Zone()
	return time.Duration(offset) * time.Second
}

// farthest is more than any clock is off UTC.
const farthest = 27 * time.Hour

// aheadOfClock is how far a zone's clock is ahead of UTC when it shows a time, written as one of
// UTC. A time that it shows twice is the later one, and one that it leaves out is counted from
// before the change.
func aheadOfClock(at *time.Location, shown time.Time) time.Duration {
	by := ahead(at, shown.Add(-farthest))
	for t := shown.Add(-farthest); ; {
		if t.Before(firstChange) {
			t = firstChange
		}
		_, change := t.In(at).ZoneBounds()
		if change.IsZero() || change.After(lastChange) {
			return by
		}
		next := ahead(at, change.UTC())
		if shown.Before(change.UTC().Add(next)) {
			return by
		}
		by, t = next, change.UTC()
	}
}

// onPaper is a time as it is written, in UTC.
func onPaper(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

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
	read, ok := momentOrToday(ctx, v)
	if !ok {
		ctx.Warn(1292, "Incorrect datetime value: %s", u.Date.String())
		return int64(0), nil
	}
	at, err := sessionZone(ctx)
	if err != nil {
		return nil, err
	}
	d := onPaper(read)
	moment := *u.UnixTimestamp
	moment.Date = expression.NewLiteral(d.Add(-aheadOfClock(at, d)), types.Timestamp)
	return moment.Eval(ctx, nil)
}

// WithChildren implements sql.Expression.
func (u unixTimestamp) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return newUnixTimestamp(ctx, children...)
}
