package standard

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func init() {
	part := func(name, doc string, of func(us int64) int64) function {
		return function{name: name, min: 1, max: 1, typ: types.Int32, doc: doc, eval: func(ctx *sql.Context, a []any) (any, error) {
			us, ok := span(ctx, a[0])
			if !ok {
				return nil, nil
			}
			return int32(of(max(us, -us))), nil
		}}
	}
	define(
		part("hour", "returns the hours of a time.", func(us int64) int64 { return us / 3600e6 }),
		part("minute", "returns the minutes of a time.", func(us int64) int64 { return us / 60e6 % 60 }),
		part("second", "returns the seconds of a time.", func(us int64) int64 { return us / 1e6 % 60 }),
		part("microsecond", "returns the microseconds of a time.", func(us int64) int64 { return us % 1e6 }),
		function{name: "time_to_sec", min: 1, max: 1, typ: types.Int64, doc: "returns the seconds of a time.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				us, ok := span(ctx, a[0])
				if !ok {
					return nil, nil
				}
				return us / 1e6, nil
			}},
		function{name: "addtime", min: 2, max: 2, typeOf: sumType, eval: addTime(1), doc: "adds a time to a time or a date with a time."},
		function{name: "subtime", min: 2, max: 2, typeOf: sumType, eval: addTime(-1), doc: "takes a time off a time or a date with a time."},
	)
}

// sumType is the type of ADDTIME: that of what is added to, or a text for texts.
func sumType(ctx *sql.Context, args []sql.Expression) sql.Type {
	switch t := args[0].Type(ctx); {
	case types.IsTimespan(t):
		return types.Time
	case types.IsDatetimeType(t), types.IsTimestampType(t):
		return types.DatetimeMaxPrecision
	}
	return types.LongText
}

// addTime is ADDTIME, or SUBTIME for a sign of -1.
func addTime(sign int64) func(ctx *sql.Context, a []any) (any, error) {
	return func(ctx *sql.Context, a []any) (any, error) {
		if s, ok := text(ctx, a[1]); ok && dated(s) {
			return nil, nil // a date cannot be added
		}
		by, ok := span(ctx, a[1])
		if !ok {
			return nil, nil
		}
		by *= sign
		s, isText := a[0].(string)
		if t, is := a[0].(time.Time); is || isText && dated(s) {
			if !is {
				if t, ok = moment(ctx, s); !ok {
					return nil, nil
				}
			}
			sum := t.Add(time.Duration(by) * time.Microsecond)
			if isText {
				return momentText(sum), nil
			}
			return sum, nil
		}
		us, ok := span(ctx, a[0])
		if !ok {
			return nil, nil
		}
		sum := timeOf(us + by)
		if isText {
			return spanText(sum.AsMicroseconds()), nil
		}
		return sum, nil
	}
}
