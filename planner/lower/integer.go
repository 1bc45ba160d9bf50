package lower

import (
	"fmt"
	"math"
)

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
func (l *lowerer) raises() bool { return l.b != nil && l.b.Raise }

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
