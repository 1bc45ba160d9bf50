package standard

import (
	"math"
	mathbits "math/bits"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/lists"
)

// retyped is an expression that is no exact number and has another type in MySQL than
// go-mysql-server gives it.
type retyped struct {
	shadow
	typ sql.Type
	// eval is the value, of the type.
	eval   func(ctx *sql.Context, row sql.Row) (any, error)
	strict bool // a division by zero is an error
}

// retypedBy is an expression of operands with a type, and what it is of their values. NULL is NULL.
func retypedBy(e sql.Expression, typ sql.Type, of func(ctx *sql.Context, a []any) (any, error), operands ...sql.Expression) *retyped {
	return &retyped{shadow: shadow{e}, typ: typ, eval: func(ctx *sql.Context, row sql.Row) (any, error) {
		values := make([]any, len(operands))
		for i, x := range operands {
			var err error
			if values[i], err = evaluated(ctx, x, row); values[i] == nil || err != nil {
				return nil, err
			}
		}
		return of(ctx, values)
	}}
}

// Type implements sql.Expression.
func (r *retyped) Type(*sql.Context) sql.Type { return r.typ }

// Eval implements sql.Expression.
func (r *retyped) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := r.eval(ctx, row)
	for i := 0; v == nil && err == nil && r.strict; i++ {
		if i == len(r.Children()) {
			return nil, errByZero
		}
		if x, err := r.Children()[i].Eval(ctx, row); x == nil || err != nil {
			return nil, err
		}
	}
	return v, err
}

// WithChildren implements sql.Expression.
func (r *retyped) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := r.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	x, err := retypedOf(ctx, e)
	if n, ok := x.(*retyped); ok {
		n.strict = r.strict
	} else if x == nil && r.strict {
		x = &retyped{shadow: shadow{e}, typ: e.Type(ctx), eval: e.Eval, strict: true}
	}
	if x != nil || err != nil {
		return x, err
	}
	return e, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (r *retyped) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	return r.typ.CollationCoercibility(ctx)
}

// retypedOf returns the expression that takes a bound one's place. It is nil where the bound one
// stays. Replaced are operators on DOUBLEs and members, bits of numbers and JSON_TYPE; and choices
// among binary texts, among members, and among numbers where one is a FLOAT or a BIT.
func retypedOf(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	if !e.Resolved() {
		return nil, nil
	}
	if x := ofLibrary(ctx, e); x != nil {
		return x, nil
	}
	bare := e
	if b, ok := e.(*boundedCall); ok {
		bare = b.Expression
	}
	switch x := bare.(type) {
	case *expression.Mod:
		return remainder(ctx, x), nil
	case *expression.BitOp:
		return bits(ctx, x), nil
	case *expression.Arithmetic, *expression.Div:
		list, members := slices.Clone(e.Children()), false
		for i, c := range list {
			if t := c.Type(ctx); member(t) {
				list[i], members = inDouble(ctx, c), true
			} else if !isNumber(t) {
				return nil, nil
			}
		}
		if !members && !types.IsFloat(e.Type(ctx)) {
			return nil, nil
		}
		with, err := e.WithChildren(ctx, list...)
		if err != nil {
			return nil, err
		}
		return retypedBy(e, types.Float64, func(ctx *sql.Context, a []any) (any, error) { return finite(doubleOf(ctx, a[0]), e.String()) }, with), nil
	case *gms.BitCount: // of a number, or of all bytes
		of := e.Children()[0]
		bytes := types.IsBinaryType(of.Type(ctx))
		return retypedBy(e, types.Int32, func(ctx *sql.Context, a []any) (any, error) {
			s, ok := plainText(a[0])
			if !ok || !bytes {
				return int32(mathbits.OnesCount64(bitsOf(ctx, a[0]))), nil
			}
			n := lists.Sum([]byte(s), mathbits.OnesCount8)
			return int32(n), nil
		}, of), nil
	case *expression.Convert:
		digits := castDigits(ctx, x)
		if digits == 0 || !IsTimespan(x.Type(ctx)) {
			return nil, nil
		}
		from := x.Child
		if member(from.Type(ctx)) {
			from = inText(ctx, from)
		}
		return &retyped{shadow: shadow{e}, typ: TimeType(digits), eval: cast(ctx, from, TimeType(digits), digits).Eval}, nil
	case *gms.Round:
		return ofDouble(ctx, e, math.RoundToEven), nil
	case *gms.Truncate:
		return ofDouble(ctx, e, math.Trunc), nil
	case *gms.Ceil:
		return ofDouble(ctx, e, math.Ceil), nil
	case *gms.Floor:
		return ofDouble(ctx, e, math.Floor), nil
	case *expression.UnaryMinus, *gms.AbsVal: // a FLOAT becomes a DOUBLE
		child := e.Children()[0]
		if child.Type(ctx) != types.Float32 {
			return nil, nil
		}
		with, err := e.WithChildren(ctx, inDouble(ctx, child))
		return &retyped{shadow: shadow{e}, typ: types.Float64, eval: func(ctx *sql.Context, row sql.Row) (any, error) { return with.Eval(ctx, row) }}, err
	case *json.JSONType:
		kind, known := "", false
		parsedOnly := !transform.InspectExpr(ctx, e, func(ctx *sql.Context, c sql.Expression) bool { return c != e && types.IsDecimal(c.Type(ctx)) })
		if c, ok := e.Children()[0].(*call); ok {
			kind, known = strings.CutSuffix(c.f.name, inDocument)
		}
		return &retyped{shadow: shadow{e}, typ: types.LongText, eval: func(ctx *sql.Context, row sql.Row) (any, error) {
			v, err := e.Eval(ctx, row)
			if known && err == nil && v != "NULL" {
				return kind, nil
			}
			if v == "DECIMAL" && parsedOnly { // in which a number with a point is a DOUBLE
				return "DOUBLE", err
			}
			if v == "NULL" && err == nil { // that of JSON, or no document
				if d, err := e.Children()[0].Eval(ctx, row); d == nil || err != nil {
					return nil, err
				}
			}
			return v, err
		}}, nil
	}
	if f, ok := e.(sql.FunctionExpression); ok && takeTexts[strings.ToLower(f.FunctionName())] && member(e.Type(ctx)) {
		list := slices.Clone(e.Children())
		for i, c := range list {
			if t := c.Type(ctx); member(t) {
				list[i] = inText(ctx, c)
			} else if temporal(t) {
				list[i] = inWords(ctx, c)
			}
		}
		with, err := e.WithChildren(ctx, list...)
		return &retyped{shadow: shadow{e}, typ: types.LongText, eval: func(ctx *sql.Context, row sql.Row) (any, error) { return with.Eval(ctx, row) }}, err
	}
	values := choices(e)
	if _, alias := e.(*expression.Alias); alias || len(values) == 0 {
		return nil, nil
	}
	is := func(test func(sql.Type) bool) bool {
		return slices.ContainsFunc(values, func(v sql.Expression) bool { return test(v.Type(ctx)) })
	}
	other := func(test func(sql.Type) bool) bool {
		return is(func(t sql.Type) bool { return t != types.Null && !test(t) })
	}
	textual := false // a text, also where a number is wanted
	text := func(t sql.Type) bool { return types.IsText(t) || member(t) }
	float32s := func(t sql.Type) bool { return t == types.Float32 }
	switch e.(type) {
	case *gms.IfNull, *gms.Coalesce:
		textual = !is(isNumber) && !is(temporal)
	case *gms.NullIf:
		if !is(member) {
			return nil, nil
		}
	}
	if slices.ContainsFunc(values, func(v sql.Expression) bool { return types.IsDeferredType(v.Type(ctx)) }) {
		return nil, nil
	}
	times := extremeType(ctx, values)
	switch {
	case is(temporal) && !other(temporal) && temporal(times) && !times.Equals(e.Type(ctx)):
		d, moments := times.(sql.DatetimeType)
		return chosenAs(ctx, e, times, func(v sql.Expression) sql.Expression {
			if moments && !v.Type(ctx).Equals(times) {
				return cast(ctx, v, times, d.Precision())
			}
			return v
		}, func(ctx *sql.Context, v any) (any, error) { // a text where one of the values is NULL
			if !moments {
				us, ok := span(ctx, v)
				if !ok {
					return nil, nil
				}
				return timeOf(us), nil
			}
			m, ok := moment(ctx, v)
			if !ok {
				return nil, nil
			}
			return m, nil
		})
	case is(types.IsBinaryType) && !other(text):
		// A character for each byte, as go-mysql-server takes the values for texts.
		return chosenAs(ctx, e, types.LongBlob, func(v sql.Expression) sql.Expression {
			t := v.Type(ctx)
			return as(ctx, "characters", v, types.LongText, func(ctx *sql.Context, v any) (any, error) {
				s, err := words(ctx, v, t)
				return characters(s), err
			})
		}, func(_ *sql.Context, v any) (any, error) {
			if s, ok := plainText(v); ok {
				return octets(s), nil
			}
			return v, nil
		})
	case is(types.IsTextOnly) && is(types.IsFloat), is(member) && textual,
		is(member) && other(func(t sql.Type) bool { return t.Equals(values[0].Type(ctx)) && member(t) }), is(member) && len(values) == 1:
		return chosenAs(ctx, e, types.LongText, func(v sql.Expression) sql.Expression {
			switch t := v.Type(ctx); {
			case temporal(t):
				return inWords(ctx, v)
			case member(t), types.IsNumber(t): // a DOUBLE in MySQL's form
				return inText(ctx, v)
			}
			return v
		}, nil)
	case is(types.IsBit) && is(types.IsUnsigned) && !other(func(t sql.Type) bool { return types.IsBit(t) || types.IsUnsigned(t) }):
		return chosenAs(ctx, e, types.Uint64, func(v sql.Expression) sql.Expression {
			return as(ctx, "number", v, types.Uint64, func(ctx *sql.Context, v any) (any, error) { return decimalOf(v).Coeff.Uint64(), nil })
		}, nil)
	case is(float32s) && other(float32s) && !slices.ContainsFunc(values, func(v sql.Expression) bool { return !single(v.Type(ctx)) || isLiteral(v) }):
		return chosenAs(ctx, e, types.Float32, func(v sql.Expression) sql.Expression { return inDouble(ctx, v) }, func(ctx *sql.Context, v any) (any, error) {
			return float32(doubleOf(ctx, v)), nil
		})
	case is(types.IsFloat) && (is(float32s) && other(float32s) || is(types.IsBit)) && !other(isNumber):
		return chosenAs(ctx, e, types.Float64, func(v sql.Expression) sql.Expression { return inDouble(ctx, v) }, nil)
	}
	return nil, nil
}

// chosenAs is a choice of a type, whose values are made so first, and of that last.
func chosenAs(ctx *sql.Context, e sql.Expression, t sql.Type, first func(sql.Expression) sql.Expression, last func(*sql.Context, any) (any, error)) (sql.Expression, error) {
	list, values := slices.Clone(e.Children()), choices(e)
	for i, c := range list {
		if slices.Contains(values, c) && !types.IsNull(ctx, c) {
			list[i] = first(c)
		}
	}
	if n, ok := e.(*gms.NullIf); ok { // compares what it gives
		if c := n.RightChild; member(c.Type(ctx)) {
			list[1] = inText(ctx, c)
		}
	}
	with, err := e.WithChildren(ctx, list...)
	if err != nil {
		return nil, err
	}
	return &retyped{shadow: shadow{e}, typ: t, eval: func(ctx *sql.Context, row sql.Row) (any, error) {
		v, err := evaluated(ctx, with, row)
		if v == nil || err != nil || last == nil {
			return v, err
		}
		return last(ctx, v)
	}}, nil
}

// remainder is % of numbers of which one is a DOUBLE; nil of others.
func remainder(ctx *sql.Context, m *expression.Mod) sql.Expression {
	l, r := m.LeftChild.Type(ctx), m.RightChild.Type(ctx)
	number := func(t sql.Type) bool { return types.IsNumber(t) || types.IsTextOnly(t) }
	inexact := func(t sql.Type) bool { return types.IsFloat(t) || types.IsTextOnly(t) }
	if !inexact(l) && !inexact(r) || !number(l) || !number(r) {
		return nil
	}
	return retypedBy(m, types.Float64, func(ctx *sql.Context, a []any) (any, error) {
		y := doubleOf(ctx, a[1])
		if y == 0 {
			ctx.Warn(1365, "Division by 0")
			return nil, nil
		}
		return math.Mod(doubleOf(ctx, a[0]), y), nil
	}, m.LeftChild, m.RightChild)
}

// bitsOf are the bits of a number, the nearest whole one.
func bitsOf(ctx *sql.Context, v any) uint64 {
	if s, ok := plainText(v); ok {
		return uint64(number(ctx, s))
	}
	if _, double := v.(float64); double {
		return uint64(nearestInteger(doubleOf(ctx, v)))
	}
	if d := decimalOf(v); d != nil {
		w, _ := nearestWhole(d, !d.Negative).(*apd.Decimal)
		if n, err := w.Int64(); err == nil {
			return uint64(n)
		}
		return w.Coeff.Uint64()
	}
	return uint64(nearestInteger(doubleOf(ctx, v)))
}

// nearestInteger rounds a DOUBLE half to even, to the nearest BIGINT where it is beyond them.
func nearestInteger(x float64) int64 {
	if x = math.RoundToEven(x); x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(max(x, math.MinInt64))
}

// bits is an operator on the bits of two numbers; nil of others.
func bits(ctx *sql.Context, b *expression.BitOp) sql.Expression {
	takes := func(e sql.Expression) bool { t := e.Type(ctx); return isNumber(t) || types.IsTextOnly(t) }
	if !takes(b.LeftChild) || !takes(b.RightChild) {
		return nil
	}
	return retypedBy(b, types.Uint64, func(ctx *sql.Context, a []any) (any, error) {
		x, y := bitsOf(ctx, a[0]), bitsOf(ctx, a[1])
		switch b.Op {
		case "&":
			return x & y, nil
		case "|":
			return x | y, nil
		case "^":
			return x ^ y, nil
		case "<<":
			return x << y, nil
		}
		return x >> y, nil
	}, b.LeftChild, b.RightChild)
}

// ofLibrary is a function of a number that the C library has, as SIN(x), LOG(x) among them; nil of
// others.
func ofLibrary(ctx *sql.Context, e sql.Expression) sql.Expression {
	f, ok := e.(sql.FunctionExpression)
	if !ok {
		return nil
	}
	name, list := strings.ToLower(f.FunctionName()), e.Children()
	if len(list) == 2 { // the base that LOG(x) has, and what ATAN(x) is divided by
		if name == "atan" {
			slices.Reverse(list)
		}
		if l, ok := list[0].(*expression.Literal); !ok || l.Value() != math.E && l.Value() != 1 {
			return nil
		}
		list = list[1:]
	}
	of := library[name]
	if of == nil || len(list) != 1 || !isNumber(list[0].Type(ctx)) {
		return nil
	}
	return &retyped{shadow: shadow{e}, typ: types.Float64, eval: func(ctx *sql.Context, row sql.Row) (any, error) {
		v, err := evaluated(ctx, list[0], row)
		if v == nil || err != nil {
			return nil, err
		}
		if y := of(doubleOf(ctx, v)); !math.IsInf(y, 0) && !math.IsNaN(y) {
			return y, nil
		}
		return e.Eval(ctx, row) // NULL and a warning, or an error
	}}
}

// ofDouble is ROUND, TRUNCATE, CEILING or FLOOR of a DOUBLE; nil of others.
func ofDouble(ctx *sql.Context, e sql.Expression, round func(float64) float64) sql.Expression {
	list := e.Children()
	number := func(x sql.Expression) bool {
		t := x.Type(ctx)
		return types.IsTextBlob(t) || isNumber(t)
	}
	if types.IsGeometry(list[0].Type(ctx)) {
		return retypedBy(e, types.Float64, func(*sql.Context, []any) (any, error) {
			return nil, mysql.NewSQLError(mysql.ERWrongArguments, mysql.SSUnknownSQLState, "Incorrect arguments to %s", e.(sql.FunctionExpression).FunctionName())
		}, list...)
	}
	if t := list[0].Type(ctx); !types.IsFloat(t) && !types.IsTextBlob(t) || len(list) > 1 && !number(list[1]) {
		return nil
	}
	return retypedBy(e, types.Float64, func(ctx *sql.Context, a []any) (any, error) {
		if s, ok := plainText(a[0]); ok && strings.TrimSpace(leadingNumber.FindString(s)) != strings.TrimSpace(s) {
			ctx.Warn(mysql.ERTruncatedWrongValue, "Truncated incorrect DOUBLE value: '%s'", s)
		}
		places := int64(0)
		if len(a) > 1 {
			places, _ = integer(ctx, a[1])
		}
		x, by := doubleOf(ctx, a[0]), math.Pow10(int(min(max(places, -places), 400)))
		switch {
		case places < 0 && math.IsInf(by, 0):
			return 0.0, nil
		case places < 0:
			return round(x/by) * by, nil
		case math.IsInf(x*by, 0) || math.IsNaN(x*by):
			return x, nil
		}
		return round(x*by) / by, nil
	}, list...)
}
