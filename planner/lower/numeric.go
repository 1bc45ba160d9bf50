package lower

import (
	"fmt"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/functions/standard"
)

// numericFunctions is the functions of numbers. Doubles outside a function's domain give NULL.
var numericFunctions = []entry{
	{names: "abs", signature: "ABS(x)", lower: func(l *lowerer, c *call) (Expr, error) {
		x := l.toNumber(c.args[0])
		switch x.Type.Kind {
		case Int:
			return maybe(Int, l.let(x.SQL, func(r string) string {
				beyond := ""
				if l.raises() {
					beyond = " WHEN " + r + " IS NOT NULL THEN error('a BIGINT value is out of range')"
				}
				return "(CASE WHEN " + r + " > " + minInt + " THEN abs(" + r + ")" + beyond + " END)"
			})), nil
		case UInt:
			return x, nil
		}
		x.SQL, x.Type.Single = "abs("+x.SQL+")", false
		return x.plain(), nil
	}},
	{names: "sign", signature: "SIGN(x)", lower: func(l *lowerer, c *call) (Expr, error) {
		x := l.tight(l.toNumber(c.args[0]))
		return of(Int, "CAST(sign("+x.SQL+") AS BIGINT)", x), nil
	}},
	{names: "ceil ceiling", signature: "CEIL(x)", lower: whole},
	{names: "floor", signature: "FLOOR(x)", lower: whole},
	{names: "round", signature: "ROUND(x [, digits])", remark: "a constant number of digits; a DOUBLE is rounded half to even", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.digits(c, false)
	}},
	{names: "truncate", signature: "TRUNCATE(x, digits)", remark: "a constant number of digits", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.digits(c, true)
	}},
	{names: "sqrt", signature: "SQRT(x)", lower: guardedDouble("%[1]s >= 0", "sqrt(%[1]s)")},
	{names: "exp", signature: "EXP(x)", lower: guardedDouble("", "exp(%[1]s)")},
	{names: "ln", signature: "LN(x)", lower: guardedDouble("%[1]s > 0", "ln(%[1]s)")},
	{names: "log2", signature: "LOG2(x)", lower: guardedDouble("%[1]s > 0", "log2(%[1]s)")},
	{names: "log10", signature: "LOG10(x)", lower: guardedDouble("%[1]s > 0", "log10(%[1]s)")},
	{names: "log", signature: "LOG([base,] x)", lower: func(l *lowerer, c *call) (Expr, error) {
		if !c.has(1) {
			return guardedDouble("%[1]s > 0", "ln(%[1]s)")(l, c)
		}
		return l.twoDoubles(c, "%[1]s > 0 AND %[1]s <> 1 AND %[2]s > 0", "(ln(%[2]s) / ln(%[1]s))")
	}},
	{names: "power pow", signature: "POW(x, y)", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.twoDoubles(c, "", "pow(%[1]s, %[2]s)")
	}},
	{names: "sin", signature: "SIN(x)", lower: guardedDouble("", "sin(%[1]s)")},
	{names: "cos", signature: "COS(x)", lower: guardedDouble("", "cos(%[1]s)")},
	{names: "tan", signature: "TAN(x)", lower: guardedDouble("", "tan(%[1]s)")},
	{names: "cot", signature: "COT(x)", lower: guardedDouble("%[1]s <> 0", "(1 / tan(%[1]s))")},
	{names: "asin", signature: "ASIN(x)", lower: guardedDouble("%[1]s BETWEEN -1 AND 1", "asin(%[1]s)")},
	{names: "acos", signature: "ACOS(x)", lower: guardedDouble("%[1]s BETWEEN -1 AND 1", "acos(%[1]s)")},
	{names: "atan atan2", signature: "ATAN(y [, x])", lower: func(l *lowerer, c *call) (Expr, error) {
		if !c.has(1) {
			return guardedDouble("", "atan(%[1]s)")(l, c)
		}
		return l.twoDoubles(c, "", "atan2(%[1]s, %[2]s)")
	}},
	{names: "degrees", signature: "DEGREES(x)", lower: guardedDouble("", "degrees(%[1]s)")},
	{names: "radians", signature: "RADIANS(x)", lower: guardedDouble("", "radians(%[1]s)")},
	{names: "mod", signature: "MOD(x, y)", lower: func(l *lowerer, c *call) (Expr, error) {
		return l.unroundedArithmetic("%", l.toNumber(c.args[0]), l.toNumber(c.args[1])), nil
	}},
}

// plain drops what was known of a constant after a function was applied to it.
func (x Expr) plain() Expr {
	x.number, x.text = nil, nil
	return x
}

// guardedDouble is a function of one finite double, NULL where cond does not hold. In both formats
// %[1]s is the argument.
func guardedDouble(cond, format string) func(*lowerer, *call) (Expr, error) {
	return func(l *lowerer, c *call) (Expr, error) {
		x := l.tight(l.toDouble(c.args[0]))
		if cond == "" {
			return loose(fmt.Sprintf(format, x.SQL)), nil
		}
		return loose(l.let(x.SQL, func(r string) string {
			return "(CASE WHEN " + fmt.Sprintf(cond, r) + " THEN " + fmt.Sprintf(format, r) + " END)"
		})), nil
	}
}

// twoDoubles is a function of two finite doubles.
func (l *lowerer) twoDoubles(c *call, cond, format string) (Expr, error) {
	x, y := l.tight(l.toDouble(c.args[0])), l.tight(l.toDouble(c.args[1]))
	if cond == "" {
		return loose(fmt.Sprintf(format, x.SQL, y.SQL)), nil
	}
	return loose(l.let(x.SQL, func(a string) string {
		return l.let(y.SQL, func(b string) string {
			return "(CASE WHEN " + fmt.Sprintf(cond, a, b) + " THEN " + fmt.Sprintf(format, a, b) + " END)"
		})
	})), nil
}

// whole is CEIL or FLOOR: integers are as they are, a DECIMAL of up to 18 whole digits gives a
// BIGINT, a Double stays one.
func whole(l *lowerer, c *call) (Expr, error) {
	fn := "floor"
	if c.name != "floor" {
		fn = "ceil"
	}
	if d, ok := standard.Untyped(c.raw[0]).(*expression.Div); ok {
		if x, done, err := l.wholeQuotient(d, c.name == "floor"); done || err != nil {
			return x, err
		}
	}
	x := l.toNumber(c.args[0])
	switch x.Type.Kind {
	case Int, UInt:
		return x, nil
	case Double:
		y := loose(fn + "(" + x.SQL + ")")
		return y, nil
	}
	p, s := precision(x)
	if s == 0 {
		return x.plain(), nil
	}
	// One more digit, so that rounding up a number of nines fits.
	wide := l.toDecimal(x, min(p+1, maxPrecision), s)
	if p-s <= 18 {
		return maybe(Int, "TRY_CAST("+fn+"("+wide.SQL+") AS BIGINT)"), nil
	}
	return decimal("TRY_CAST("+fn+"("+wide.SQL+") AS DECIMAL(38,0))", maxPrecision, 0, true), nil
}

// wholeQuotient is FLOOR or CEIL of a quotient of integers, without its rounding to four digits,
// which would make the last seconds of a day the next: FLOOR(UNIX_TIMESTAMP(t) / 86400). done is
// false for other operands.
func (l *lowerer) wholeQuotient(d *expression.Div, floor bool) (x Expr, done bool, err error) {
	a, err := l.scalar(d.LeftChild, "Arithmetic")
	if err != nil {
		return a, true, err
	}
	b, err := l.scalar(d.RightChild, "Arithmetic")
	if err != nil || a.Type.Kind != Int || b.Type.Kind != Int {
		return b, false, err
	}
	// The quotient is cut toward zero: one less where that is above the exact one, one more for
	// CEIL where it is below.
	step, apart := " - ", "<>"
	if !floor {
		step, apart = " + ", "="
	}
	q, rest := l.integers("DIV", a, b), l.integers("%", a, b)
	return maybe(Int, l.let(a.SQL, func(x string) string {
		return l.let(b.SQL, func(y string) string {
			return "(" + q.SQL + step + "(CASE WHEN " + rest.SQL + " <> 0 AND (" + x + " < 0) " + apart + " (" + y + " < 0) THEN 1 ELSE 0 END))"
		})
	})), true, nil
}

// digits is ROUND and TRUNCATE to a constant number of digits.
func (l *lowerer) digits(c *call, cut bool) (Expr, error) {
	d := int64(0)
	if c.has(1) {
		n, ok := c.constantInt(1)
		if !ok {
			return Expr{}, c.needConstant("number of digits")
		}
		d = max(min(n, maxScale), -maxPrecision)
	}
	x := l.toNumber(c.args[0]).Unrounded()
	switch x.Type.Kind {
	case Double:
		return l.roundDouble(x, int(d), cut), nil
	case Decimal:
		return l.roundDecimal(x, int(d), cut), nil
	}
	if d >= 0 {
		return x.plain(), nil
	}
	if d < -19 {
		return of(x.Type.Kind, "(CASE WHEN "+x.SQL+" IS NOT NULL THEN CAST(0 AS "+x.Type.duckdb()+") END)", x), nil
	}
	return l.roundInteger(x, int(-d), cut), nil
}

// roundInteger rounds half away from zero, or cuts, at the k-th digit before the point, k from 1 to
// 19: in 64 bits where one more unit fits there, else in 128.
func (l *lowerer) roundInteger(x Expr, k int, cut bool) Expr {
	t := x.Type.duckdb()
	return maybe(x.Type.Kind, l.let(x.SQL, func(r string) string {
		unit := pow10(k) + "::HUGEINT"
		n := "CAST(" + r + " AS HUGEINT)"
		if !cut {
			n = "(" + n + " + (CASE WHEN " + r + " < 0 THEN -1 ELSE 1 END) * (" + unit + " // 2))"
		}
		slow := "TRY_CAST(" + n + " // " + unit + " * " + unit + " AS " + t + ")"
		if k > wordDigits || x.Type.Kind == UInt {
			return slow
		}
		short := pow10(k) + "::BIGINT"
		up := ""
		if !cut {
			up = fmt.Sprintf(" + (CASE WHEN %[1]s %% %[2]s >= %[2]s // 2 THEN %[2]s WHEN %[1]s %% %[2]s <= -(%[2]s // 2) THEN -%[2]s ELSE 0 END)", r, short)
		}
		return fmt.Sprintf("(CASE WHEN %[1]s BETWEEN %[2]s + %[4]s AND %[3]s - %[4]s THEN %[1]s - %[1]s %% %[4]s%[5]s ELSE %[6]s END)", r, minInt, maxInt, short, up, slow)
	}))
}

// roundDouble rounds half to even at the d-th digit in floating point, as MySQL does, or cuts.
func (l *lowerer) roundDouble(x Expr, d int, cut bool) Expr {
	x = l.tight(x)
	nearest := func(v string) string {
		if cut {
			return "trunc(" + v + ")"
		}
		return "(CASE WHEN abs(" + v + ") < 4503599627370496 AND abs(" + v + " - trunc(" + v + ")) = 0.5 THEN 2 * round(" + v + " / 2) ELSE round(" + v + ") END)"
	}
	if d == 0 {
		return loose(l.let(x.SQL, nearest))
	}
	factor := "CAST('1e" + strconv.Itoa(abs(d)) + "' AS DOUBLE)"
	up, down := " * ", " / "
	if d < 0 {
		up, down = down, up
	}
	s := l.let(x.SQL, func(r string) string {
		scaled := l.let("("+r+up+factor+")", func(v string) string {
			return "(CASE WHEN isfinite(" + v + ") THEN " + nearest(v) + down + factor + " END)"
		})
		return "COALESCE(" + scaled + ", " + r + ")"
	})
	return loose(s)
}

// roundDecimal rounds half away from zero at the d-th digit, or cuts. The result has d fractional
// digits at most, as in MySQL.
func (l *lowerer) roundDecimal(x Expr, d int, cut bool) Expr {
	p, s := precision(x)
	if d >= s {
		return x.plain()
	}
	if d < -(p-s) || cut && d == -(p-s) {
		return decimal("(CASE WHEN "+x.SQL+" IS NOT NULL THEN CAST(0 AS DECIMAL(1,0)) END)", 1, 0, x.Nullable)
	}
	if cut {
		return l.cutDecimal(x, d)
	}
	if d >= 0 {
		return l.toDecimal(x, min(p-s+1+d, maxPrecision), d)
	}
	k := -d
	if p+k > maxPrecision { // beyond exact arithmetic: through floating point
		return l.toDecimal(l.roundDouble(l.toDouble(x), d, cut), maxPrecision, 0)
	}
	x = l.wide(x, p+k)
	shifted := decimal(fmt.Sprintf("(%s * CAST('0.%s1' AS DECIMAL(%d,%d)))", x.SQL, zeros(k-1), k, k), p+k, s+k, x.Nullable)
	rounded := l.toDecimal(shifted, p-s+1, 0)
	return decimal(fmt.Sprintf("TRY_CAST(CAST(%s AS HUGEINT) * %s AS DECIMAL(%d,0))", rounded.SQL, pow10(k), min(p-s+1, maxPrecision)), min(p-s+1, maxPrecision), 0, true)
}

// cutDecimal drops the digits after the d-th.
func (l *lowerer) cutDecimal(x Expr, d int) Expr {
	p, s := precision(x)
	unit := fmt.Sprintf("CAST('%s' AS DECIMAL(%d,%d))", "0."+zeros(max(d-1, 0))+"1", max(d, 1), d)
	if d <= 0 {
		unit = fmt.Sprintf("CAST('%s' AS DECIMAL(%d,0))", pow10(-d), -d+1)
	}
	y := decimal(l.let(x.SQL, func(r string) string {
		return "CAST((" + r + " - (" + r + " % " + unit + ")) AS DECIMAL(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + "))"
	}), p, s, x.Nullable)
	return l.toDecimal(y, min(p-s+1+max(d, 0), maxPrecision), max(d, 0))
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
