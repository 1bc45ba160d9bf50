package standard

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// maxDigits is the largest number of digits of a DECIMAL in MySQL.
const maxDigits = 65

// Number is MySQL's type of an exact number: a DECIMAL, or a BIGINT with the digits that its values
// may have.
type Number struct {
	Decimal, Unsigned bool
	Precision, Scale  int
}

// Type is the SQL type.
func (n Number) Type() sql.Type {
	switch {
	case n.Decimal:
		return types.MustCreateDecimalType(uint8(n.Precision), uint8(n.Scale))
	case n.Unsigned:
		return types.Uint64
	}
	return types.Int64
}

// fit limits digits to what MySQL has.
func (n Number) fit() Number {
	n.Scale = max(min(n.Scale, maxScale), 0)
	n.Precision = max(min(n.Precision, maxDigits), n.Scale, 1)
	return n
}

// NumberOf returns the type of an expression of exact numbers; false of others.
func NumberOf(ctx *sql.Context, e sql.Expression) (Number, bool) {
	if t, ok := e.(*typed); ok {
		return t.number, true
	}
	typ := e.Type(ctx)
	if l, ok := e.(*expression.Literal); ok && l.Value() != nil {
		d := decimalOf(l.Value())
		switch {
		case types.IsInteger(typ) && d != nil:
			return Number{Unsigned: types.IsUnsigned(typ) && !d.Coeff.IsInt64(), Precision: int(d.NumDigits())}, true
		case types.IsDecimal(typ) && d != nil:
			s := max(int(-d.Exponent), 0)
			return Number{Decimal: true, Precision: max(int(d.NumDigits()), s), Scale: s}.fit(), true
		}
	}
	switch t := typ.(type) {
	case sql.DecimalType:
		return Number{Decimal: true, Precision: int(t.Precision()), Scale: int(t.Scale())}, true
	case sql.SystemVariableType:
		return Number{}, false
	}
	switch {
	case typ == nil || types.IsNull(ctx, e) || types.IsDeferredType(typ):
		return Number{}, false
	case types.IsBoolean(typ):
		return Number{Precision: 1}, true
	case types.IsBit(typ), types.IsYear(typ):
		return Number{Unsigned: true, Precision: 20}, true
	case types.IsInteger(typ):
		widths := map[sql.Type]int{types.Int8: 3, types.Uint8: 3, types.Int16: 5, types.Uint16: 5, types.Int24: 7, types.Uint24: 8, types.Int32: 10, types.Uint32: 10, types.Int64: 19, types.Uint64: 20}
		return Number{Unsigned: types.IsUnsigned(typ), Precision: widths[typ]}, true
	}
	return Number{}, false
}

// Combined is the type of l op r.
func Combined(op string, l, r Number) (Number, bool) {
	n := Number{Decimal: l.Decimal || r.Decimal, Unsigned: l.Unsigned || r.Unsigned, Scale: max(l.Scale, r.Scale)}
	switch strings.ToLower(op) {
	case "+", "-":
		n.Precision = max(l.Precision-l.Scale, r.Precision-r.Scale) + 1 + n.Scale
	case "*":
		n.Precision, n.Scale = l.Precision+r.Precision, l.Scale+r.Scale
	case "/":
		n.Decimal, n.Precision, n.Scale = true, l.Precision+r.Scale+divIncrement, l.Scale+divIncrement
	case "%":
		n.Precision, n.Unsigned = max(l.Precision, r.Precision), l.Unsigned
	case "div":
		n.Decimal, n.Precision, n.Scale = false, 20, 0
	default:
		return n, false
	}
	if n.Decimal {
		n.Unsigned = false
	}
	return n.fit(), true
}

// Digits is the type of ROUND and TRUNCATE to so many digits behind the point.
func (n Number) Digits(places int, cut bool) Number {
	if !n.Decimal {
		return Number{Unsigned: n.Unsigned, Precision: 20}
	}
	s := max(min(places, maxScale), 0)
	p := n.Precision - n.Scale + s
	if s < n.Scale && !cut {
		p++
	}
	n.Precision, n.Scale = p, s
	return n.fit()
}

// Whole is the type of CEIL and FLOOR.
func Whole(n Number, ok bool) (Number, bool) {
	if !n.Decimal {
		return n, ok
	}
	n.Precision, n.Scale = n.Precision-n.Scale+1, 0
	n.Decimal = n.Precision > 18
	return n.fit(), ok
}

// chosen is the type of a choice among values: DECIMAL where one is, or where signed and unsigned
// ones are mixed. It is false where one is no exact number.
func chosen(ctx *sql.Context, values []sql.Expression) (Number, bool) {
	var all []Number
	for _, v := range values {
		if v == nil || types.IsNull(ctx, v) {
			continue
		}
		n, ok := NumberOf(ctx, v)
		if !ok || types.IsBit(v.Type(ctx)) || types.IsYear(v.Type(ctx)) {
			return n, false
		}
		all = append(all, n)
	}
	if len(all) == 0 || len(all) < len(values) && len(values) == 1 {
		return Number{}, false
	}
	out, signed := Number{}, false
	whole := 0
	for _, n := range all {
		out.Decimal, out.Unsigned = out.Decimal || n.Decimal, out.Unsigned || n.Unsigned
		signed = signed || !n.Unsigned
		out.Scale, whole = max(out.Scale, n.Scale), max(whole, n.Precision-n.Scale)
	}
	out.Precision = whole + out.Scale
	if out.Unsigned && signed {
		out.Decimal = out.Decimal || whole > 18
	}
	if out.Decimal || signed {
		out.Unsigned = false
	}
	return out.fit(), true
}

// operators compute + - * / DIV and % of two exact numbers, without rounding.
var operators = map[string]func(ctx *sql.Context, a []any) (any, error){
	"+": exactly((*apd.Context).Add, true),
	"-": exactly((*apd.Context).Sub, false),
	"*": exactly((*apd.Context).Mul, true),
	"/": func(ctx *sql.Context, a []any) (any, error) {
		x, y := decimalOf(a[0]), decimalOf(a[1])
		return quotient(ctx, x, y, int32(QuotientScale(int(max(-x.Exponent, 0)), int(max(-y.Exponent, 0)))))
	},
	"div": func(ctx *sql.Context, a []any) (any, error) {
		return quotient(ctx, decimalOf(a[0]), decimalOf(a[1]), 0)
	},
	"%": func(ctx *sql.Context, a []any) (any, error) {
		x, y := decimalOf(a[0]), decimalOf(a[1])
		q, err := quotient(ctx, x, y, 0)
		if q == nil || err != nil || x.IsZero() {
			return q, err
		}
		out := new(apd.Decimal)
		if _, err = wide.Mul(out, q.(*apd.Decimal), y); err == nil {
			_, err = wide.Sub(out, x, out)
		}
		return out, err
	},
}

// wide has room for all digits of a product.
var wide = &apd.Context{Precision: 600, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}

// exactly computes op. As in MySQL's decimal_sub and decimal_mul, a zero has no digits behind the
// point where the signs of the operands differ, or, with differ false, where they do not.
func exactly(op func(c *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error), differ bool) func(*sql.Context, []any) (any, error) {
	return func(_ *sql.Context, a []any) (any, error) {
		out, x, y := new(apd.Decimal), decimalOf(a[0]), decimalOf(a[1])
		_, err := op(wide, out, x, y)
		if out.IsZero() && (x.Negative != y.Negative) == differ {
			out.SetInt64(0)
		}
		if -out.Exponent > 2*maxScale+maxScale/2 {
			out = rounded(out, 2*maxScale, apd.RoundHalfUp)
		}
		return out, err
	}
}

// QuotientScale is the digits behind the point that MySQL computes of a quotient of numbers with so
// many of them: whole words of nine.
func QuotientScale(s1, s2 int) int {
	words := func(digits int) int { return (digits + 8) / 9 * 9 }
	more := max(divIncrement-(words(s1)-s1)-(words(s2)-s2), 0)
	return words(words(s1) + words(s2) + more)
}

// quotient is x / y cut to a scale, nil with a warning where y is 0.
func quotient(ctx *sql.Context, x, y *apd.Decimal, scale int32) (any, error) {
	if y.IsZero() {
		ctx.Warn(1365, "Division by 0")
		return nil, nil
	}
	if x.IsZero() { // which has no digits behind the point
		return apd.New(0, 0), nil
	}
	out, up := new(apd.Decimal), new(apd.Decimal).Set(x)
	up.Exponent += scale
	if _, err := wide.QuoInteger(out, up, y); err != nil {
		return nil, err
	}
	out.Exponent -= scale
	if out.IsZero() {
		out.Negative = false
	}
	return out, nil
}

// finite is a DOUBLE: NULL where it is no number, and MySQL's error where it is infinite.
func finite(x float64, what string) (any, error) {
	switch {
	case math.IsNaN(x):
		return nil, nil
	case math.IsInf(x, 0):
		return nil, mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "DOUBLE value is out of range in '%s'", what)
	}
	return x, nil
}

func init() {
	pow := func(ctx *sql.Context, a []any) (any, error) {
		x, y := doubleOf(ctx, a[0]), doubleOf(ctx, a[1])
		return finite(power(x, y), fmt.Sprintf("pow(%v,%v)", a[0], a[1]))
	}
	define(
		function{name: "pow", min: 2, max: 2, typ: types.Float64, eval: pow, doc: "returns a number to the power of another."},
		function{name: "power", min: 2, max: 2, typ: types.Float64, eval: pow, doc: "returns a number to the power of another."},
		function{name: "exp", min: 1, max: 1, typ: types.Float64, doc: "returns e to the power of a number.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				return finite(library["exp"](doubleOf(ctx, a[0])), fmt.Sprintf("exp(%v)", a[0]))
			}},
		function{name: "bin", min: 1, max: 1, typ: types.LongText, doc: "writes a whole number in digits of 0 and 1.",
			eval: func(ctx *sql.Context, a []any) (any, error) {
				return strconv.FormatUint(bitsOf(ctx, a[0]), 2), nil
			}},
		function{name: "format", min: 2, max: 2, typ: types.LongText, eval: format, doc: "writes a number with commas between its thousands."},
	)
	wrap("format", func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
		if len(args) < 3 {
			return nil, nil
		}
		return gms.NewFormat(ctx, args...)
	})
}

// doubleOf is a value as a DOUBLE: of a text the number that it begins with.
func doubleOf(ctx *sql.Context, v any) float64 {
	s, ok := plainText(v)
	if !ok {
		x, _ := float(ctx, v) // 0 where it is none
		return x
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(leadingNumber.FindString(s)), 64)
	if err != nil && !math.IsInf(x, 0) {
		return 0
	}
	return max(min(x, math.MaxFloat64), -math.MaxFloat64)
}

// hexNumber is the whole number that HEX shows of another: one beyond 64 bits has them all.
func hexNumber(ctx *sql.Context, e sql.Expression) sql.Expression {
	return as(ctx, "number", e, types.Uint64, func(ctx *sql.Context, v any) (any, error) {
		switch x := doubleOf(ctx, v); {
		case x <= math.MinInt64 || x >= math.MaxUint64:
			return uint64(math.MaxUint64), nil
		case x < 0:
			return uint64(int64(x - 0.5)), nil
		default:
			return uint64(x + 0.5), nil
		}
	})
}

// format is FORMAT(number, digits).
func format(ctx *sql.Context, a []any) (any, error) {
	n, ok := wholeNumber(ctx, a[1])
	if !ok {
		return nil, nil
	}
	digits := int(max(min(n, maxScale), 0))
	var text string
	_, isText := plainText(a[0])
	_, isFloat := a[0].(float64)
	_, isShort := a[0].(float32)
	if d := decimalOf(a[0]); d != nil && !isText && !isFloat {
		text = rounded(d, digits, apd.RoundHalfUp).Text('f')
	} else {
		x := doubleOf(ctx, a[0])
		if f, ok := a[0].(float32); isShort && ok {
			x = float64(f)
		}
		if by := math.Pow10(digits); math.Abs(x)*by < 1<<52 {
			x = math.RoundToEven(x*by) / by
		}
		text = strconv.FormatFloat(x, 'f', digits, 64)
		if math.Abs(x) >= 1<<53 { // no more digits than tell it from its neighbours
			text = rounded(decimalOf(x), digits, apd.RoundHalfUp).Text('f')
		}
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole, nil
}

// leadingNumber is what of a text is read as a number.
var leadingNumber = regexp.MustCompile(`^[ \t\n\r\v\f]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?`)

// CastDecimal is the type of CAST(x AS DECIMAL(p, s)), which the node keeps to its text; false of
// other casts.
func CastDecimal(ctx *sql.Context, c *expression.Convert) (Number, bool) {
	if !types.IsDecimal(c.Type(ctx)) {
		return Number{}, false
	}
	n := Number{Decimal: true, Precision: 10}
	target := strings.TrimPrefix(c.String(), "convert("+c.Child.String()+", decimal")
	_, _ = fmt.Sscanf(target, "(%d,%d)", &n.Precision, &n.Scale)
	return n.fit(), true
}

// castDecimal is a value as a DECIMAL: of a text the number that it begins with, and the largest
// that the type has, with a warning, where a number has no place.
func castDecimal(ctx *sql.Context, v any, n Number) (any, error) {
	d, _ := v.(*apd.Decimal)
	if s, ok := plainText(v); ok {
		lead := leadingNumber.FindString(s)
		var err error
		if d, _, err = apd.NewFromString(strings.TrimSpace(lead)); lead == "" || err != nil {
			d = apd.New(0, 0)
		}
		if strings.TrimSpace(s) != strings.TrimSpace(lead) {
			ctx.Warn(mysql.ERTruncatedWrongValue, "Truncated incorrect DECIMAL value: '%s'", s)
		}
	} else if d == nil {
		f, ok := float(ctx, v)
		if d, _, _ = apd.NewFromString(strconv.FormatFloat(f, 'g', -1, 64)); !ok {
			return nil, nil
		}
	}
	if d.NumDigits()+int64(d.Exponent) <= int64(n.Precision-n.Scale)+1 {
		if out := rounded(d, n.Scale, apd.RoundHalfUp); out.NumDigits() <= int64(n.Precision) {
			return out, nil
		}
	}
	ctx.Warn(mysql.ERWarnDataOutOfRange, "Out of range value for a DECIMAL(%d,%d)", n.Precision, n.Scale)
	most, _, err := apd.NewFromString(strings.Repeat("9", n.Precision))
	if err != nil {
		return nil, err
	}
	most.Exponent, most.Negative = int32(-n.Scale), d.Negative
	return most, nil
}
