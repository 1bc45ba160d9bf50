package standard

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/lists"
)

// Untyped returns the expression as it was bound behind one of Types'.
func Untyped(e sql.Expression) sql.Expression {
	switch t := e.(type) {
	case *typed:
		return t.Expression
	case *retyped:
		return t.Expression
	case *collatedColumn:
		return Untyped(t.Child)
	}
	return e
}

// readsExactly reports whether an expression reads its operands by all of their digits: as DOUBLEs,
// or because it compares them.
func readsExactly(ctx *sql.Context, e sql.Expression) (reads, compares bool) {
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals, *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan,
		*expression.GreaterThanOrEqual, *expression.Between, *expression.InTuple:
		return true, true
	case *expression.Mod:
		return slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return c.Resolved() && types.IsFloat(c.Type(ctx)) }), false
	case *expression.Arithmetic, *expression.Div, *expression.Convert, *gms.If, *gms.IfNull, *gms.Coalesce, *expression.Case:
		return e.Resolved() && types.IsFloat(e.Type(ctx)), false
	}
	f, ok := e.(sql.FunctionExpression)
	return ok && real[strings.ToLower(f.FunctionName())], false
}

// real are the functions of DOUBLEs, which read numbers by all of their digits, too.
var real = lists.Words("acos asin atan atan2 cos cot degrees exp ln log log10 log2 pow power radians sin sqrt tan")

// unrounded makes operands, and members of tuples among them, those of a comparison, and reports
// whether there are any.
func unrounded(operands []sql.Expression) (any bool) {
	for i, o := range operands {
		switch o := o.(type) {
		case *typed:
			if o.number.Decimal && !o.compared {
				c := *o
				c.compared, c.typ = true, types.MustCreateDecimalType(maxDigits, maxScale)
				operands[i], any = &c, true
			}
		case expression.Tuple:
			members := append(expression.Tuple(nil), o...)
			if unrounded(members) {
				operands[i], any = members, true
			}
		}
	}
	return any
}

// years makes constants of one or two digits that are compared with a column of years what the
// column would hold, and reports whether there are any.
func years(ctx *sql.Context, operands []sql.Expression) (any bool) {
	list := operands
	if len(operands) == 2 {
		if t, ok := operands[1].(expression.Tuple); ok {
			list = append([]sql.Expression{operands[0]}, t...)
		}
	}
	column := false
	for _, o := range list {
		f, ok := o.(*expression.GetField)
		if column = column || ok && f.Table() != "" && types.IsYear(f.Type(ctx)); !ok && !isLiteral(o) {
			return false
		}
	}
	for i, o := range list {
		l, ok := o.(*expression.Literal)
		if !ok || !column || l.Value() == nil {
			continue
		}
		s, isText := plainText(l.Value())
		if types.IsTime(l.Type(ctx)) && len(operands) == 2 { // of which the column would hold the year
			if m, ok := moment(ctx, l.Value()); ok {
				list[i], any = expression.NewLiteral(int64(m.Year()), types.Int64), true
			}
			continue
		}
		n, number := integer(ctx, l.Value())
		if d := decimalOf(l.Value()); !number || n < 0 || n > 99 || n == 0 && !isText || isText && len(s) > 2 || d == nil || d.Exponent < 0 {
			continue
		}
		list[i], any = expression.NewLiteral(year4(n), types.Int64), true
	}
	if any && len(list) != len(operands) {
		operands[0], operands[1] = list[0], expression.Tuple(list[1:])
	} else if any && len(operands) == 2 {
		if _, ok := operands[1].(expression.Tuple); ok {
			operands[1] = expression.Tuple(list[1:])
		}
	}
	return any
}

// typed is an expression of exact numbers with the type and the values that MySQL gives it.
type typed struct {
	shadow
	typ    sql.Type
	number Number
	// eval is what the expression is of its operands, of which none is nil, before it is rounded to
	// the scale of its type; nil of a choice.
	eval func(ctx *sql.Context, operands []any) (any, error)
	// compared is set of an operand of a comparison, which is not rounded.
	compared bool
	strict   bool // a division by zero is an error
}

// Type implements sql.Expression.
func (t *typed) Type(*sql.Context) sql.Type { return t.typ }

// WithChildren implements sql.Expression.
func (t *typed) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := t.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	if x := typedOf(ctx, e); x != nil {
		x.strict = t.strict
		if list := []sql.Expression{x}; t.compared && unrounded(list) {
			return list[0], nil
		}
		return x, nil
	}
	return e, nil
}

// errByZero is the error of a division by zero in strict mode.
var errByZero = mysql.NewSQLError(1365, "22012", "Division by 0")

// divides reports whether an expression is a quotient or a remainder.
func divides(e sql.Expression) bool {
	switch e.(type) {
	case *expression.Div, *expression.IntDiv, *expression.Mod:
		return true
	}
	return false
}

// FailsByZero reports whether an expression is a quotient or a remainder by which zero is an error.
func FailsByZero(e sql.Expression) bool {
	t, ok := e.(*typed)
	r, also := e.(*retyped)
	return ok && t.strict || also && r.strict
}

// texted is an expression around another, whose text has the collation of the other.
type texted struct{ sql.Expression }

// CollationCoercibility implements sql.CollationCoercible.
func (t texted) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	return sql.GetCoercibility(ctx, t.Expression)
}

// shadow is an expression under another one's names.
type shadow struct{ sql.Expression }

// DebugString implements sql.DebugStringer.
func (s shadow) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, s.Expression) }

// FunctionName implements sql.FunctionExpression.
func (s shadow) FunctionName() string {
	if f, ok := s.Expression.(sql.FunctionExpression); ok {
		return f.FunctionName()
	}
	return ""
}

// Description implements sql.FunctionExpression.
func (shadow) Description() string { return "" }

// CollationCoercibility implements sql.CollationCoercible.
func (t *typed) CollationCoercibility(*sql.Context) (collation sql.CollationID, coercibility byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (t *typed) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := t.unrounded(ctx, row)
	if d, ok := v.(*apd.Decimal); ok && t.number.Decimal && !t.compared && err == nil {
		return t.scaled(d, t.number.Scale)
	}
	return v, err
}

// reduced is a DECIMAL without zeros at its end, of which joins hash the text; other values as they
// are.
func reduced(v any) any {
	d, ok := v.(*apd.Decimal)
	if !ok {
		return v
	}
	out, _ := new(apd.Decimal).Reduce(d)
	return out
}

// unrounded is the value of which operators and ROUND compute: a quotient has more digits than its
// type shows.
func (t *typed) unrounded(ctx *sql.Context, row sql.Row) (any, error) {
	switch t.Expression.(type) {
	case *gms.IfNull, *gms.Coalesce:
		for _, c := range t.Children() {
			if v, err := operand(ctx, row, c); v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	case *expression.Case, *gms.If:
		v, err := t.Expression.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		return t.exact(v)
	}
	children := t.Children()
	operands := make([]any, len(children))
	_, sum := t.Expression.(*expression.Arithmetic)
	for i, c := range children {
		var err error
		if operands[i], err = operand(ctx, row, c); err != nil || operands[i] == nil && (t.number.Decimal || !sum) {
			return nil, err
		}
	}
	if slices.Contains(operands, nil) { // of integers, of which MySQL evaluates all
		return nil, nil
	}
	v, err := t.eval(ctx, operands)
	if err == nil && v == nil && t.strict {
		err = errByZero
	}
	if err != nil || v == nil {
		return nil, err
	}
	return t.exact(v)
}

// operand is the value of an operand: nil, a *apd.Decimal of an exact number, or what it is.
func operand(ctx *sql.Context, row sql.Row, e sql.Expression) (v any, err error) {
	if s, ok := e.(*spelledSo); ok {
		e = s.Expression
	}
	if t, ok := e.(*typed); ok {
		v, err = t.unrounded(ctx, row)
	} else {
		v, err = evaluated(ctx, e, row)
	}
	if err != nil || v == nil {
		return nil, err
	}
	if typ := e.Type(ctx); temporal(typ) {
		_, _, scale := digitsType(typ)
		if v, err = digitsOf(ctx, typ, v, scale); v == nil || err != nil {
			return nil, err
		}
		return decimalOf(v), nil
	}
	if _, ok := NumberOf(ctx, e); ok {
		d := decimalOf(v)
		if d == nil {
			return nil, sql.ErrInvalidValue.New(v, e.Type(ctx))
		}
		return d, nil
	}
	return v, nil
}

// exact makes a value one of the type: an integer, or a DECIMAL that has not been rounded.
func (t *typed) exact(v any) (any, error) {
	d := decimalOf(v)
	switch {
	case d == nil:
		return v, nil
	case t.number.Decimal:
		if d.IsZero() && d.Negative {
			d = new(apd.Decimal).Abs(d)
		}
		if d.NumDigits()+int64(d.Exponent) > maxDigits {
			return nil, t.beyond("DECIMAL")
		}
		return d, nil
	case t.number.Unsigned:
		whole, ok := wholeOf(d)
		if !ok || whole.Negative && !whole.IsZero() || !whole.Coeff.IsUint64() {
			return nil, t.beyond("BIGINT UNSIGNED")
		}
		return whole.Coeff.Uint64(), nil
	}
	whole, ok := wholeOf(d)
	if !ok {
		return nil, t.beyond("BIGINT")
	}
	n, err := whole.Int64()
	if err != nil {
		return nil, t.beyond("BIGINT")
	}
	return n, nil
}

// beyond is MySQL's error of a number that has no place in its type.
func (t *typed) beyond(typ string) error {
	return mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "%s value is out of range in '%s'", typ, t.String())
}

// scaled rounds a number to the digits of a scale.
func (t *typed) scaled(d *apd.Decimal, scale int) (any, error) {
	if int(-d.Exponent) == scale {
		return d, nil
	}
	out := rounded(d, scale, apd.RoundHalfUp)
	if out.NumDigits()-int64(scale) > maxDigits {
		return nil, t.beyond("DECIMAL")
	}
	return out, nil
}

// Rounded returns a number with so many digits behind the point, as MySQL rounds.
func Rounded(d *apd.Decimal, scale int) *apd.Decimal { return rounded(d, scale, apd.RoundHalfUp) }

// rounded returns a number with so many digits behind the point.
func rounded(d *apd.Decimal, scale int, how apd.Rounder) *apd.Decimal {
	c := apd.Context{Precision: 400, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: how}
	out := new(apd.Decimal)
	if _, err := c.Quantize(out, d, int32(-scale)); err != nil {
		return d
	}
	if out.IsZero() {
		out.Negative, out.Exponent = false, min(out.Exponent, 0)
	}
	return out
}

// wholeOf is a number with the exponent 0; false where it has a fraction.
func wholeOf(d *apd.Decimal) (*apd.Decimal, bool) {
	if d.Exponent == 0 {
		return d, true
	}
	w := rounded(d, 0, apd.RoundDown)
	return w, w.Cmp(d) == 0
}

// decimalOf reads an exact number; nil where a value is none.
func decimalOf(v any) *apd.Decimal {
	switch n := v.(type) {
	case *apd.Decimal:
		return n
	case bool:
		if n {
			return apd.New(1, 0)
		}
		return apd.New(0, 0)
	case int64:
		return apd.New(n, 0)
	case int, int8, int16, int32:
		return apd.New(reflect.ValueOf(n).Int(), 0)
	case uint, uint8, uint16, uint32, uint64:
		d := new(apd.Decimal)
		d.Coeff.SetUint64(reflect.ValueOf(n).Uint())
		return d
	case float64: // of what go-mysql-server computes in floating point
		return decimalOf(strconv.FormatFloat(n, 'g', -1, 64))
	case string:
		if d, _, err := apd.NewFromString(n); err == nil && d.Form == apd.Finite && len(n) <= 128 {
			return d
		}
	}
	return nil
}

// typedOf returns the expression of ours that takes a bound one's place; nil where that of
// go-mysql-server serves.
func typedOf(ctx *sql.Context, e sql.Expression) *typed {
	out := &typed{shadow: shadow{e}}
	ok := false
	switch x := e.(type) {
	case *expression.Arithmetic, *expression.Div, *expression.IntDiv, *expression.Mod:
		b := x.(expression.ArithmeticOp)
		for _, c := range e.Children() {
			if _, interval := c.(expression.TimeDeltaExpression); interval {
				return nil
			}
		}
		l, isL := OperandOf(ctx, b.Left())
		r, isR := OperandOf(ctx, b.Right())
		if isL && isR {
			out.number, ok = Combined(b.Operator(), l, r)
			out.eval = operators[b.Operator()]
		} else if _, div := x.(*expression.IntDiv); div && inexact(ctx, b.Left()) && inexact(ctx, b.Right()) {
			out.number, ok = Number{Precision: 20, Unsigned: isL && l.Unsigned || isR && r.Unsigned}, true
			out.eval = func(ctx *sql.Context, a []any) (any, error) {
				return quotient(ctx, nearestDecimal(ctx, a[0]), nearestDecimal(ctx, a[1]), 0)
			}
		}
	case *expression.UnaryMinus:
		if _, constant := x.Child.(*expression.Literal); constant && !types.IsDecimal(x.Child.Type(ctx)) {
			return nil
		}
		out.number, ok = OperandOf(ctx, x.Child)
		out.number = Number{Decimal: out.number.Decimal, Precision: out.number.Precision, Scale: out.number.Scale}
		out.eval = func(_ *sql.Context, a []any) (any, error) { return new(apd.Decimal).Neg(decimalOf(a[0])), nil }
	case *gms.AbsVal:
		out.number, ok = NumberOf(ctx, x.Child)
		out.eval = func(_ *sql.Context, a []any) (any, error) { return new(apd.Decimal).Abs(decimalOf(a[0])), nil }
	case *gms.Sign:
		_, ok = NumberOf(ctx, x.Child)
		ok = ok || types.IsFloat(x.Child.Type(ctx))
		out.eval = sign
	case *gms.Round:
		out.number, out.eval, ok = digits(ctx, x.Children(), apd.RoundHalfUp)
	case *gms.Truncate:
		out.number, out.eval, ok = digits(ctx, x.Children(), apd.RoundDown)
	case *gms.Ceil:
		out.number, ok = Whole(NumberOf(ctx, x.Child))
		out.eval = func(_ *sql.Context, a []any) (any, error) { return whole(wide.Ceil, a[0]) }
	case *gms.Floor:
		out.number, ok = Whole(NumberOf(ctx, x.Child))
		out.eval = func(_ *sql.Context, a []any) (any, error) { return whole(wide.Floor, a[0]) }
	case *gms.Greatest, *gms.Least:
		out.number, ok = chosen(ctx, e.Children())
		side := 1
		if _, least := e.(*gms.Least); least {
			side = -1
		}
		out.eval = func(_ *sql.Context, a []any) (any, error) {
			d := decimalOf(a[0])
			for _, v := range a[1:] {
				if c := decimalOf(v); c.Cmp(d) == side {
					d = c
				}
			}
			return d, nil
		}
	case *expression.Case, *gms.If, *gms.IfNull, *gms.Coalesce:
		if out.number, ok = chosen(ctx, choices(e)); ok && !out.number.Decimal {
			return nil
		}
	case *expression.Convert:
		if _, constant := x.Child.(*expression.Literal); constant && types.IsBinaryType(x.Child.Type(ctx)) {
			return nil // X'20' is a number
		}
		if t := x.Type(ctx); t == types.Uint64 || t == types.Int64 {
			n, isExact := NumberOf(ctx, x.Child)
			if !isExact || !n.Decimal {
				return nil
			}
			out.number = Number{Precision: 20, Unsigned: t == types.Uint64}
			out.typ, out.eval = t, func(_ *sql.Context, a []any) (any, error) {
				return nearestWhole(decimalOf(a[0]), t == types.Uint64), nil
			}
			return out
		}
		if out.number, ok = CastDecimal(ctx, x); !ok || types.IsTime(x.Child.Type(ctx)) || IsTimespan(x.Child.Type(ctx)) {
			return nil
		}
		out.eval = func(ctx *sql.Context, a []any) (any, error) { return castDecimal(ctx, a[0], out.number) }
	}
	if !ok {
		return nil
	}
	out.typ = out.number.Type()
	return out
}

// OperandOf is the type of an operand of an operator, which takes a date or time as its digits.
func OperandOf(ctx *sql.Context, e sql.Expression) (Number, bool) {
	if typ := e.Type(ctx); temporal(typ) {
		_, precision, scale := digitsType(typ)
		return Number{Decimal: scale > 0, Precision: precision, Scale: scale}, true
	}
	return NumberOf(ctx, e)
}

// inexact reports whether DIV reads an operand as a DECIMAL: numbers and texts.
func inexact(ctx *sql.Context, e sql.Expression) bool {
	t := e.Type(ctx)
	_, exact := NumberOf(ctx, e)
	return exact || types.IsFloat(t) || types.IsText(t) && !types.IsBinaryType(t)
}

// nearestDecimal is a number, or what a text begins with, as a DECIMAL. MySQL has room for 81
// digits before or after the point; beyond them a number has 65 nines, or is cut.
func nearestDecimal(ctx *sql.Context, v any) *apd.Decimal {
	if d, ok := v.(*apd.Decimal); ok {
		return d
	}
	d := decimalOf(doubleOf(ctx, v))
	if d.NumDigits()+int64(d.Exponent) > 81 {
		most := decimalOf(strings.Repeat("9", 65))
		most.Negative = d.Negative
		return most
	}
	return rounded(d, 81, apd.RoundDown)
}

// nearestWhole rounds a number to one of 64 bits, the nearest where it is beyond them.
func nearestWhole(d *apd.Decimal, unsigned bool) any {
	w := rounded(d, 0, apd.RoundHalfUp)
	least, most := apd.New(math.MinInt64, 0), decimalOf(uint64(math.MaxInt64))
	if unsigned {
		least, most = apd.New(0, 0), decimalOf(uint64(math.MaxUint64))
	}
	if w.Cmp(least) < 0 {
		return least
	} else if w.Cmp(most) > 0 {
		return most
	}
	return w
}

// whole is CEIL or FLOOR.
func whole(op func(d, x *apd.Decimal) (apd.Condition, error), v any) (any, error) {
	out := new(apd.Decimal)
	_, err := op(out, decimalOf(v))
	return out, err
}

// sign is SIGN of a number.
func sign(_ *sql.Context, a []any) (any, error) {
	if d, ok := a[0].(*apd.Decimal); ok {
		return int64(d.Sign()), nil
	}
	x, _ := a[0].(float64)
	if f, ok := a[0].(float32); ok {
		x = float64(f)
	}
	switch {
	case x > 0:
		return int64(1), nil
	case x < 0:
		return int64(-1), nil
	}
	return int64(0), nil
}

// digits is ROUND or TRUNCATE of an exact number.
func digits(ctx *sql.Context, args []sql.Expression, how apd.Rounder) (Number, func(*sql.Context, []any) (any, error), bool) {
	n, ok := NumberOf(ctx, args[0])
	if !ok {
		return n, nil, false
	}
	shown := 0
	if len(args) > 1 {
		shown = n.Scale
		if l, constant := constantOf(ctx, args[1]); constant {
			shown = l
		} else if _, ok := NumberOf(ctx, args[1]); !ok {
			return n, nil, false
		}
	}
	n = n.Digits(shown, how == apd.RoundDown)
	return n, func(_ *sql.Context, a []any) (any, error) {
		d, places := decimalOf(a[0]), int64(0)
		if len(a) > 1 {
			places, _ = rounded(decimalOf(a[1]), 0, apd.RoundHalfUp).Int64()
		}
		places = max(min(places, int64(n.Scale)), -maxDigits-1)
		return rounded(d, int(places), how), nil
	}, true
}

// constantOf reads a constant whole number, with its sign.
func constantOf(ctx *sql.Context, e sql.Expression) (int, bool) {
	minus, negative := Untyped(e).(*expression.UnaryMinus)
	if negative {
		e = minus.Child
	}
	l, ok := e.(*expression.Literal)
	if !ok || l.Value() == nil {
		return 0, false
	}
	n, ok := integer(ctx, l.Value())
	if !ok || n > math.MaxInt32 || n < -math.MaxInt32 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return int(n), true
}
