package lower

import (
	"fmt"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/functions/standard"
)

// maxScale is MySQL's limit of fractional digits of a DECIMAL.
const maxScale = 30

// binary translates + - * / DIV %. The kinds follow MySQL: a string or a Double makes the result a
// Double; integers stay integers, NULL on overflow; an integer divided by / gives a DECIMAL with
// four more fractional digits. A DECIMAL has at most 38 digits and is NULL beyond them.
func (l *lowerer) binary(op string, left, right sql.Expression) (Expr, error) {
	if iv, ok := right.(*expression.Interval); ok && (op == "+" || op == "-") {
		return l.shift(left, iv, map[string]int64{"+": 1, "-": -1}[op])
	}
	if iv, ok := left.(*expression.Interval); ok && op == "+" {
		return l.shift(right, iv, 1)
	}
	x, err := l.scalar(left, "Arithmetic")
	if err != nil {
		return x, err
	}
	y, err := l.scalar(right, "Arithmetic")
	if err != nil {
		return y, err
	}
	if x.Type.Kind == Null || y.Type.Kind == Null {
		return null(), nil
	}
	if l.raises() { // members are DOUBLEs
		for _, v := range []*Expr{&x, &y} {
			if v.Type.Members != "" {
				*v = l.toDouble(*v)
			}
		}
	}
	z := l.unroundedArithmetic(op, l.toNumber(l.wholeSeconds(x, left)), l.toNumber(l.wholeSeconds(y, right)))
	return l.notBelowZero(op, z, left, right), nil
}

// notBelowZero makes an error of a negative result where MySQL's type is BIGINT UNSIGNED, and an
// error may be raised.
func (l *lowerer) notBelowZero(op string, z Expr, left, right sql.Expression) Expr {
	a, okA := standard.OperandOf(l.ctx, left)
	b, okB := standard.OperandOf(l.ctx, right)
	n, ok := standard.Combined(op, a, b)
	if !l.raises() || !okA || !okB || !ok || n.Decimal || !n.Unsigned || z.Type.Kind != Int || op == "%" || op != "-" && a.Unsigned && b.Unsigned {
		return z
	}
	return of(Int, l.let(z.SQL, func(r string) string {
		return "(CASE WHEN " + r + " < 0 THEN error('a BIGINT UNSIGNED value is out of range') ELSE " + r + " END)"
	}), z)
}

// unroundedArithmetic computes of operands before they were rounded, as MySQL does, and rounds the
// result to the scale that follows from their types.
func (l *lowerer) unroundedArithmetic(op string, x, y Expr) Expr {
	a, b := x.Unrounded(), y.Unrounded()
	same := a.SQL == x.SQL && b.SQL == y.SQL
	if same || op == "DIV" || x.Type.Kind == Double || y.Type.Kind == Double {
		z := l.arithmetic(op, a, b)
		if op == "/" && z.Type.Kind == Decimal {
			z.more = more{z.SQL, func() Expr { return l.quotient(a, b) }}
		}
		return z
	}
	_, s1 := precision(x)
	_, s2 := precision(y)
	n, _ := standard.Combined(op, standard.Number{Decimal: true, Scale: s1}, standard.Number{Decimal: true, Scale: s2})
	var z Expr
	if op == "/" {
		z = l.quotient(a, b)
	} else {
		z = l.arithmetic(op, a, b)
	}
	if z.Type.Scale <= n.Scale {
		return z
	}
	out := l.toDecimal(z, min(z.Type.Precision-z.Type.Scale+n.Scale+1, maxPrecision), n.Scale)
	out.Type.Quotient = z.Type.Quotient
	out.more = more{out.SQL, func() Expr { return z }}
	return out
}

func (l *lowerer) arithmetic(op string, x, y Expr) Expr {
	a, b := x.Type.Kind, y.Type.Kind
	switch {
	case op == "DIV":
		return l.intDiv(x, y)
	case a == Double || b == Double:
		return l.doubles(op, l.toDouble(x), l.toDouble(y))
	case op == "/":
		return l.divide(x, y)
	case a == Decimal || b == Decimal:
		return l.decimals(op, x, y)
	}
	return l.integers(op, x, y)
}

// doubles leaves infinities and NaN to the guard of the result: they never turn finite again under
// + - and *; a divisor must be finite and not zero.
func (l *lowerer) doubles(op string, x, y Expr) Expr {
	switch op {
	case "/":
		y = l.tight(y)
		if l.raises() { // else the guard makes NULL of what a division by zero gives
			y.SQL = "nullif(" + y.SQL + ", 0)"
		}
	case "%":
		x, y = l.tight(x), l.tight(y)
	}
	return loose("(" + x.SQL + " " + op + " " + y.SQL + ")")
}

// decimals adds, subtracts, multiplies or takes the remainder of exact numbers.
func (l *lowerer) decimals(op string, x, y Expr) Expr {
	p1, s1 := precision(x)
	p2, s2 := precision(y)
	if op == "*" {
		z := withWord(op, l.product(x, y), x, y)
		if len(z.SQL) <= letOver {
			z.near = near{z.SQL, "(" + nearly(x) + " * " + nearly(y) + ")"}
		}
		return z
	}
	s := max(s1, s2)
	whole := max(p1-s1, p2-s2)
	if op == "%" {
		p := min(whole+s, maxPrecision)
		x, y = l.toDecimal(x, p, s), l.toDecimal(y, p, s)
		return decimal("("+x.SQL+" % "+y.SQL+")", p, s, true)
	}
	if p := whole + s + 1; p <= maxPrecision {
		if p-1 == wordDigits {
			p++
		}
		a, b := l.toDecimal(x, p-1, s), l.toDecimal(y, p-1, s)
		return withWord(op, decimal("("+a.SQL+" "+op+" "+b.SQL+")", p, s, a.Nullable || b.Nullable), x, y)
	}
	a, b := l.toDecimal(x, maxPrecision, s), l.toDecimal(y, maxPrecision, s)
	return withWord(op, l.guarded(op, a, b, maxPrecision-s, s), x, y)
}

// product multiplies exact numbers. Where both have many fractional digits, they are rounded to 15
// each first, so that the result has no more than MySQL's 30.
func (l *lowerer) product(x, y Expr) Expr {
	p1, s1 := precision(x)
	p2, s2 := precision(y)
	if s1+s2 > maxScale {
		if s1 > maxScale/2 {
			x = l.toDecimal(x, maxPrecision, max(maxScale/2, maxScale-s2))
		}
		_, s1 = precision(x)
		if s1+s2 > maxScale {
			y = l.toDecimal(y, maxPrecision, maxScale-s1)
		}
		p1, s1 = precision(x)
		p2, s2 = precision(y)
	}
	if p1+p2 > wordDigits {
		p1 = max(p1, wordDigits+1)
	}
	x, y = l.toDecimal(x, p1, s1), l.toDecimal(y, p2, s2)
	if p1+p2 <= maxPrecision {
		return decimal("("+x.SQL+" * "+y.SQL+")", p1+p2, s1+s2, x.Nullable || y.Nullable)
	}
	return l.guarded("*", x, y, maxPrecision-s1-s2, s1+s2)
}

// guarded applies op to decimals where the result stays under 10^digits, by an estimate in floating
// point that is a millionth below that, and is NULL elsewhere. The result has the store's full
// width.
func (l *lowerer) guarded(op string, x, y Expr, digits, scale int) Expr {
	limit := fmt.Sprintf("CAST('0.999999e%d' AS DOUBLE)", digits)
	s := l.let(x.SQL, func(a string) string {
		return l.let(y.SQL, func(b string) string {
			beyond := ""
			if l.raises() {
				beyond = " WHEN " + a + " IS NOT NULL AND " + b + " IS NOT NULL THEN error('a DECIMAL value is out of range')"
			}
			return "(CASE WHEN abs(CAST(" + a + " AS DOUBLE) " + op + " CAST(" + b + " AS DOUBLE)) < " + limit +
				" THEN " + a + " " + op + " " + b + beyond + " END)"
		})
	})
	return decimal(s, maxPrecision, scale, true)
}

// wordDigits is the width up to which the store keeps a DECIMAL in a machine word. A product or a
// sum of two such numbers stays in one and raises when it does not fit, so one of them is widened.
const wordDigits = 18

// wide widens x when a product of p digits would not fit into a word.
func (l *lowerer) wide(x Expr, p int) Expr {
	if x.Type.Kind != Decimal || p <= wordDigits || x.Type.Precision > wordDigits {
		return x
	}
	return l.toDecimal(x, wordDigits+1, x.Type.Scale)
}

// negate translates the unary minus.
func (l *lowerer) negate(child sql.Expression) (Expr, error) {
	x, err := l.scalar(child, "Arithmetic")
	if err != nil {
		return x, err
	}
	if x.Type.Kind == Null {
		return x, nil
	}
	x = l.toNumber(l.wholeSeconds(x, child))
	switch x.Type.Kind {
	case Double:
		y := of(Double, "(- "+x.SQL+")", x)
		y.loose = x.loose
		return y, nil
	case Decimal:
		y := decimal("(- "+x.SQL+")", x.Type.Precision, x.Type.Scale, x.Nullable)
		if z := x.Unrounded(); z.SQL != x.SQL {
			z.SQL = "(- " + z.SQL + ")"
			y.more = more{y.SQL, func() Expr { return z }}
		}
		return y, nil
	}
	if x.number != nil && *x.number != math.MinInt64 {
		return integer(-*x.number), nil
	}
	if x.Type.Kind == UInt {
		return maybe(Int, l.narrowed("(- CAST("+x.SQL+" AS HUGEINT))", "BIGINT")), nil
	}
	if l.raises() {
		return l.integers("-", integer(0), x), nil
	}
	return maybe(Int, l.let(x.SQL, negated)), nil
}

// integers applies + - * or % to 64-bit integers, NULL on overflow. Signed operands are guarded in
// 64 bits, because the store's 128-bit arithmetic is many times slower; unsigned ones go through
// it.
func (l *lowerer) integers(op string, x, y Expr) Expr {
	if l.raises() && op != "%" && op != "DIV" && x.Type.Kind == Int && y.Type.Kind == Int {
		return of(Int, "("+x.SQL+" "+op+" "+y.SQL+")", x, y)
	}
	if x.Type.Kind == UInt || y.Type.Kind == UInt {
		return l.wideIntegers(op, x, y)
	}
	if y.number != nil {
		return maybe(Int, l.let(x.SQL, func(r string) string { return constantRight(op, r, *y.number) }))
	}
	if x.number != nil && (op == "+" || op == "*") {
		return maybe(Int, l.let(y.SQL, func(r string) string { return constantRight(op, r, *x.number) }))
	}
	return maybe(Int, l.let(x.SQL, func(a string) string {
		return l.let(y.SQL, func(b string) string { return signed(op, a, b) })
	}))
}

// raises tells whether a number that has no place is an error.
func (l *lowerer) raises() bool {
	if l.b == nil || !l.b.Raise {
		return false
	}
	l.fails++
	return true
}

// narrowed casts a number to a type that may have no place for it.
func (l *lowerer) narrowed(x, to string) string {
	return map[bool]string{false: "TRY_"}[l.raises()] + "CAST(" + x + " AS " + to + ")"
}

var (
	minInt = integer(math.MinInt64).SQL
	maxInt = integer(math.MaxInt64).SQL
)

// signed applies op to two signed columns. In each branch the bound itself cannot overflow.
func signed(op, a, b string) string {
	switch op {
	case "+":
		return fmt.Sprintf("(CASE WHEN %[2]s >= 0 THEN CASE WHEN %[1]s <= %[3]s - %[2]s THEN %[1]s + %[2]s END WHEN %[1]s >= %[4]s - %[2]s THEN %[1]s + %[2]s END)", a, b, maxInt, minInt)
	case "-":
		return fmt.Sprintf("(CASE WHEN %[2]s >= 0 THEN CASE WHEN %[1]s >= %[4]s + %[2]s THEN %[1]s - %[2]s END WHEN %[1]s <= %[3]s + %[2]s THEN %[1]s - %[2]s END)", a, b, maxInt, minInt)
	case "*":
		return fmt.Sprintf("(CASE WHEN abs(CAST(%[1]s AS DOUBLE) * CAST(%[2]s AS DOUBLE)) < 9.2e18 THEN %[1]s * %[2]s ELSE TRY_CAST(CAST(%[1]s AS HUGEINT) * CAST(%[2]s AS HUGEINT) AS BIGINT) END)", a, b)
	case "%":
		return fmt.Sprintf("(CASE WHEN %[2]s = -1 THEN %[1]s * 0 ELSE %[1]s %% %[2]s END)", a, b)
	}
	// DIV: the one quotient that overflows is of the least integer by -1.
	return fmt.Sprintf("(CASE WHEN %[2]s = -1 THEN %[3]s ELSE %[1]s // %[2]s END)", a, b, negated(a))
}

func negated(a string) string { return "(CASE WHEN " + a + " > " + minInt + " THEN -" + a + " END)" }

// constantRight applies op to a column and a constant.
func constantRight(op, a string, c int64) string {
	k := integer(c).SQL
	if op == "-" && c != math.MinInt64 {
		op, c = "+", -c
		k = integer(c).SQL
	}
	within := func(lo, hi int64, result string) string {
		return fmt.Sprintf("(CASE WHEN %s BETWEEN %s AND %s THEN %s END)", a, integer(lo).SQL, integer(hi).SQL, result)
	}
	switch op {
	case "+":
		if c >= 0 {
			return within(math.MinInt64, math.MaxInt64-c, a+" + "+k)
		}
		return within(math.MinInt64-c, math.MaxInt64, a+" + "+k)
	case "-": // the least integer
		return within(math.MinInt64, -1, a+" - "+k)
	case "*":
		switch {
		case c == 0 || c == 1:
			return "(" + a + " * " + k + ")"
		case c == -1:
			return negated(a)
		case c > 0:
			return within(math.MinInt64/c, math.MaxInt64/c, a+" * "+k)
		}
		return within(math.MaxInt64/c, math.MinInt64/c, a+" * "+k)
	}
	switch {
	case c == 0:
		return "CAST(NULL AS BIGINT)"
	case c == -1 && op == "%":
		return "(" + a + " * 0)"
	case c == -1:
		return negated(a)
	case op == "%":
		return "(" + a + " % " + k + ")"
	}
	return "(" + a + " // " + k + ")"
}

// wideIntegers calculates with 128 bits, so that no row overflows before the result is narrowed.
func (l *lowerer) wideIntegers(op string, x, y Expr) Expr {
	out, wide := UInt, "HUGEINT"
	if x.Type.Kind == UInt && y.Type.Kind == UInt && op == "*" {
		wide = "UHUGEINT"
	}
	if op == "%" {
		out = x.Type.Kind // the sign and the type of the dividend
	}
	return maybe(out, l.narrowed("(CAST("+x.SQL+" AS "+wide+") "+op+" CAST("+y.SQL+" AS "+wide+"))", Type{Kind: out}.duckdb()))
}
