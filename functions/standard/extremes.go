package standard

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

func init() {
	for name, sign := range map[string]int{"greatest": 1, "least": -1} {
		wrap(name, func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			f := &function{name: name, min: 2, max: 256, doc: "returns the " + name + " of its arguments."}
			switch t := extremeType(ctx, args); {
			case t != nil:
				f.typeOf = extremeType
				f.eval = func(ctx *sql.Context, a []any) (any, error) { return extreme(ctx, sign, t, args, a) }
			case hasOther(ctx, args, isExact):
				f.texts = extremeText(sign)
				if f.typeOf = f.texts.typeOf; !hasOther(ctx, args, isNumber) {
					f.texts, f.typeOf, f.typ = nil, nil, extremeNumber(ctx, args)
					double := f.typ == types.Float64
					f.eval = func(ctx *sql.Context, a []any) (any, error) {
						if v := extremeOf(sign, a); !double || v == nil {
							return v, nil
						} else {
							return doubleOf(ctx, v), nil
						}
					}
				}
			case sign < 0:
				return gms.NewLeast(ctx, args...)
			default:
				return gms.NewGreatest(ctx, args...)
			}
			return f.instance(ctx, args)
		})
	}
}

// hasOther reports whether all arguments are resolved and one has a type that is not of a kind.
func hasOther(ctx *sql.Context, args []sql.Expression, kind func(sql.Type) bool) bool {
	other := false
	for _, a := range args {
		if !a.Resolved() || types.IsDeferredType(a.Type(ctx)) {
			return false
		}
		other = other || a.Type(ctx) != types.Null && !kind(a.Type(ctx))
	}
	return other
}

func isExact(t sql.Type) bool {
	return isNumber(t) && !types.IsFloat(t) && !types.IsBit(t) && !types.IsYear(t)
}

func isNumber(t sql.Type) bool {
	if v, ok := t.(sql.SystemVariableType); ok {
		t = v.UnderlyingType()
	}
	return types.IsNumber(t) || types.IsBit(t) || types.IsYear(t)
}

// extremeNumber is the type of the greatest of numbers of which one is a DOUBLE, a BIT or a YEAR.
func extremeNumber(ctx *sql.Context, args []sql.Expression) sql.Type {
	signed, most := false, false
	for _, a := range args {
		t := a.Type(ctx)
		if types.IsFloat(t) || types.IsDecimal(t) {
			return types.Float64
		}
		n, ok := NumberOf(ctx, a)
		signed, most = signed || ok && !n.Unsigned, most || t == types.Uint64
	}
	switch {
	case !signed:
		return types.Uint64
	case most:
		return types.MustCreateDecimalType(20, 0)
	}
	return types.Int64
}

// extremeOf is GREATEST of numbers, which are compared by all of their digits.
func extremeOf(sign int, values []any) any {
	best := 0
	var most *apd.Decimal
	for i, v := range values {
		d := decimalOf(v)
		if f, ok := v.(float32); ok {
			d = decimalOf(float64(f))
		}
		if d == nil {
			return nil
		}
		if most == nil || d.Cmp(most) == sign {
			best, most = i, d
		}
	}
	return values[best]
}

// extremeText is GREATEST where one of the arguments is a text: all are compared as texts.
func extremeText(sign int) *textual {
	return &textual{args: "s+", eval: func(t *texts) any {
		best := t.s(0)
		for i := range t.args {
			if t.compare(t.s(i), best) == sign {
				best = t.s(i)
			}
		}
		return best
	}}
}

// extremeType is the type of GREATEST and LEAST where an argument is a date or time; nil where none
// is. Dates and times among themselves stay what they are, and others make them texts.
func extremeType(ctx *sql.Context, args []sql.Expression) sql.Type {
	var out sql.Type
	found := false
	for _, a := range args {
		if !a.Resolved() {
			return nil
		}
		t := a.Type(ctx)
		found = found || temporal(t)
		switch {
		case t == types.Null:
		case out == nil:
			out = t
		case types.IsTime(t) && types.IsTime(out):
			if !t.Equals(out) {
				digits := max(t.(sql.DatetimeType).Precision(), out.(sql.DatetimeType).Precision())
				out = types.MustCreateDatetimeType(sqltypes.Datetime, digits)
			}
		case IsTimespan(t) && IsTimespan(out):
			out = TimeType(max(SpanDigits(t), SpanDigits(out)))
		default:
			out = types.LongText
		}
	}
	if !found {
		return nil
	}
	return out
}

// extreme is GREATEST for a sign of 1, and LEAST for -1. A text beside a date is compared as a date
// where it can be read as one, and with others as a text.
func extreme(ctx *sql.Context, sign int, t sql.Type, args []sql.Expression, values []any) (any, error) {
	compare := types.DatetimeMaxPrecision.Compare
	read := func(v any) (any, bool) { m, ok := moment(ctx, v); return m, ok }
	if IsTimespan(t) {
		compare = types.Time.Compare
		read = func(v any) (any, bool) { us, ok := span(ctx, v); return timeOf(us), ok }
	}
	list := make([]any, len(values))
	inText := types.IsText(t)
	for i, v := range values {
		out, ok := read(v)
		if list[i] = out; !ok || types.IsNumber(args[i].Type(ctx)) || IsTimespan(args[i].Type(ctx)) && inText {
			list = nil
			break
		}
	}
	if inText {
		for i, v := range values {
			if us, ok := span(ctx, v); ok && IsTimespan(args[i].Type(ctx)) {
				values[i] = shownSpan(args[i].Type(ctx), us)
				continue
			}
			s, err := args[i].Type(ctx).SQL(ctx, nil, v)
			if err != nil {
				return nil, err
			}
			values[i] = s.ToString()
		}
	}
	if list == nil {
		list, compare = values, types.LongText.Compare
	}
	best := 0
	for i := range list {
		c, err := compare(ctx, list[i], list[best])
		if err != nil {
			return nil, err
		}
		if c == sign {
			best = i
		}
	}
	if inText {
		return values[best], nil
	}
	return list[best], nil
}
