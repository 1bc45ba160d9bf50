package standard

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Forms of a value as another type has it: digits, bytes, words, a cast.

// as is an expression with another type and value. NULL stays NULL.
func as(ctx *sql.Context, name string, e sql.Expression, t sql.Type, eval func(ctx *sql.Context, v any) (any, error)) sql.Expression {
	return newCall(ctx, &function{name: name, min: 1, max: 1, typ: t, unseen: true,
		eval: func(ctx *sql.Context, a []any) (any, error) { return eval(ctx, a[0]) }}, []sql.Expression{e})
}

// digitsType is the type of a date or time as a number: whole without a fraction of seconds, else a
// DECIMAL with the digits of the fraction.
func digitsType(t sql.Type) (typ sql.Type, precision, scale int) {
	d, ok := t.(sql.DatetimeType)
	switch {
	case !ok:
		precision, scale = 7, SpanDigits(t)
	case types.IsDateType(t):
		return types.Int64, 8, 0
	default:
		precision, scale = 14, d.Precision()
	}
	if scale == 0 {
		return types.Int64, precision, 0
	}
	return types.MustCreateDecimalType(uint8(precision+scale), uint8(scale)), precision + scale, scale
}

// digitsOf is a date or time of a type as a number with so many digits of a fraction; nil where the
// value is none.
func digitsOf(ctx *sql.Context, t sql.Type, v any, scale int) (any, error) {
	var n, us int64
	sign := ""
	if IsTimespan(t) {
		by, ok := span(ctx, v)
		if !ok {
			return nil, nil
		}
		if by < 0 {
			sign, by = "-", -by
		}
		n, us = by/3600e6*10000+by/60e6%60*100+by/1e6%60, by%1e6
	} else {
		m, ok := moment(ctx, v)
		if !ok {
			return nil, nil
		}
		n = int64(m.Year())*10000 + int64(m.Month())*100 + int64(m.Day())
		if !types.IsDateType(t) {
			n = n*1000000 + int64(m.Hour())*10000 + int64(m.Minute())*100 + int64(m.Second())
		}
		us = int64(m.Nanosecond() / 1000)
	}
	if scale == 0 || us == 0 { // MySQL's lldiv_t2my_decimal has no digits of a fraction that is 0
		if sign != "" {
			n = -n
		}
		if scale > 0 {
			return apd.New(n, 0), nil
		}
		return n, nil
	}
	d, _, err := apd.NewFromString(fmt.Sprintf("%s%d.%s", sign, n, fmt.Sprintf("%06d", us)[:scale]))
	return d, err
}

// inDouble is a value as a DOUBLE. A constant of bytes is the number that they are.
func inDouble(ctx *sql.Context, e sql.Expression) sql.Expression {
	literal := isLiteral(e)
	if s, ok := Untyped(e).(*shift); ok && types.IsTextOnly(s.typ) { // digits of a day or a moment in a text
		return as(ctx, "number", e, types.Float64, func(ctx *sql.Context, v any) (any, error) {
			t := sql.Type(types.DatetimeMaxPrecision)
			if s, ok := plainText(v); ok && len(s) <= len(time.DateOnly) {
				t = types.Date
			}
			d, err := digitsOf(ctx, t, v, 0)
			if d == nil || err != nil {
				return nil, err
			}
			return doubleOf(ctx, d), nil
		})
	}
	return as(ctx, "number", e, types.Float64, func(ctx *sql.Context, v any) (any, error) {
		if b, ok := v.([]byte); ok && literal {
			return float64(new(big.Int).SetBytes(b[max(len(b)-8, 0):]).Uint64()), nil
		}
		if err := tooLongForOne(ctx, v); err != nil {
			return nil, err
		}
		return doubleOf(ctx, v), nil
	})
}

// inBytes is a text as bytes.
func inBytes(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	return as(ctx, "words", e, types.LongBlob, func(ctx *sql.Context, v any) (any, error) {
		s, err := words(ctx, v, t)
		return []byte(s), err
	})
}

// inDigits is a date or time as a number.
func inDigits(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	typ, _, scale := digitsType(t)
	return as(ctx, "digits", e, typ, func(ctx *sql.Context, v any) (any, error) { return digitsOf(ctx, t, v, scale) })
}

// inWholeDigits is inDigits without a fraction, which is cut off.
func inWholeDigits(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	return as(ctx, "digits", e, types.Int64, func(ctx *sql.Context, v any) (any, error) { return digitsOf(ctx, t, v, 0) })
}

// inJSON is a date or time as a document: a text, which JSON_TYPE calls by its kind.
func inJSON(ctx *sql.Context, e sql.Expression) sql.Expression {
	kind := "DATE"
	switch t := e.Type(ctx); {
	case IsTimespan(t):
		kind, e = "TIME", cast(ctx, e, TimeType(6), 6)
	case !types.IsDateType(t):
		kind, e = "DATETIME", cast(ctx, e, types.DatetimeMaxPrecision, 6)
	}
	return as(ctx, kind+inDocument, inWords(ctx, e), types.JSON, func(_ *sql.Context, v any) (any, error) { return types.JSONDocument{Val: v}, nil })
}

// inDocument ends the names of casts to JSON.
const inDocument = " in JSON"

// inWords is a date or time as a text.
func inWords(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	if now, ok := e.(*gms.Now); ok && len(now.Children()) == 1 {
		if n, constant := constantOf(ctx, now.Children()[0]); constant && n >= 0 && n <= 6 {
			t = types.MustCreateDatetimeType(sqltypes.Datetime, n)
		}
	}
	return as(ctx, "words", e, types.LongText, func(ctx *sql.Context, v any) (any, error) {
		if s, ok := v.(types.Timespan); ok {
			return shownSpan(t, s.AsMicroseconds()), nil
		} else if s, ok := v.(string); ok && IsTimespan(t) {
			return s, nil // of CURTIME
		}
		if m, ok := v.(time.Time); ok && m.Year() > 0 { // cut, as NOW() has more digits than its type
			form := "2006-01-02 15:04:05.000000"
			if d, ok := t.(sql.DatetimeType); types.IsDateType(t) {
				form = form[:10]
			} else if ok {
				form = strings.TrimSuffix(form[:20+d.Precision()], ".")
			}
			return m.Format(form), nil
		}
		s, err := t.SQL(ctx, nil, v)
		return s.ToString(), err
	})
}

// shownOtherwise reports whether MySQL has another text for values of a type than go-mysql-server.
func shownOtherwise(t sql.Type) bool {
	return types.IsEnum(t) || types.IsSet(t) || types.IsBit(t) || types.IsFloat(t) || types.IsYear(t)
}

// inText is a value of such a type as a text.
func inText(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	typ := sql.Type(types.LongText)
	if types.IsBit(t) {
		typ = types.LongBlob
	}
	return as(ctx, "words", e, typ, func(ctx *sql.Context, v any) (any, error) {
		s, err := words(ctx, v, t)
		if types.IsBit(t) {
			return []byte(s), err
		}
		return s, err
	})
}

// cast is CAST to DATE, DATETIME or TIME, which are rounded to so many digits of a second.
func cast(ctx *sql.Context, e sql.Expression, t sql.Type, digits int) sql.Expression {
	unit := time.Second
	for range digits {
		unit /= 10
	}
	if types.IsText(e.Type(ctx)) {
		e = &checked{texted: texted{e}}
	}
	return as(ctx, "cast", e, t, func(ctx *sql.Context, v any) (any, error) {
		if IsTimespan(t) {
			us, ok := span(ctx, v)
			if !ok {
				return nil, nil
			}
			return timeOf(time.Duration(us * 1000).Round(unit).Microseconds()), nil
		}
		m, ok := momentOrToday(ctx, v)
		switch {
		case !ok:
			if s, isText := plainText(v); isText && types.IsZeroTimestampStr(strings.TrimSpace(s)) {
				return types.ZeroTime, nil // which no column takes
			}
			return nil, nil
		case types.IsDateType(t):
			return m.Truncate(24 * time.Hour), nil
		}
		if m = m.Round(unit); m.Year() > 9999 {
			return nil, nil
		}
		return m, nil
	})
}

// momentOrToday reads a date as moment does, and a TIME as one of today.
func momentOrToday(ctx *sql.Context, v any) (time.Time, bool) {
	if s, timed := v.(types.Timespan); timed {
		return todayAt(ctx, s.AsMicroseconds()), true
	}
	return moment(ctx, v)
}

// todayAt is the moment that MySQL reads a TIME as where it wants one.
func todayAt(ctx *sql.Context, us int64) time.Time {
	t := ctx.QueryTime()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Add(time.Duration(us) * time.Microsecond)
}

// isBytes reports whether a type has binary texts. go-mysql-server counts JSON among them.
func isBytes(t sql.Type) bool { return types.IsBinaryType(t) && !types.IsJSON(t) }
