package lower

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/refuse"
	"scrim/planner/tree"
)

// scalar lowers an operand that must be a single value of an ordinary kind.
func (l *lowerer) scalar(e sql.Expression, what string) (Expr, error) {
	x, err := l.expr(e)
	if err == nil && !scalar(x.Type.Kind) {
		return Expr{}, refuse.New(refuse.Expression, "%s of a JSON, TIME, binary or vector value is not allowed on protected rows.", what)
	}
	return x, err
}

func temporalType(t sql.Type) bool { return types.IsTime(t) || standard.IsTimespan(t) }

func operator(e expression.Comparer) string {
	switch e.(type) {
	case *expression.NullSafeEquals:
		return "IS NOT DISTINCT FROM"
	case *expression.GreaterThan:
		return ">"
	case *expression.GreaterThanOrEqual:
		return ">="
	case *expression.LessThan:
		return "<"
	case *expression.LessThanOrEqual:
		return "<="
	}
	return "="
}

// comparison translates a comparison of two values, or of two rows of values by = and <=>.
func (l *lowerer) comparison(e expression.Comparer) (Expr, error) {
	if a, b := e.Left().Type(l.ctx), e.Right().Type(l.ctx); a != nil && b != nil && (types.IsYear(a) && temporalType(b) || types.IsYear(b) && temporalType(a)) {
		return Expr{}, refuse.New(refuse.Expression, "A comparison of a year and a date or time is not allowed on protected rows.").With("Compare with YEAR(…) of the date.")
	}
	op := operator(e)
	a, okA := e.Left().(expression.Tuple)
	b, okB := e.Right().(expression.Tuple)
	if okA || okB {
		if !okA || !okB || len(a) != len(b) || !strings.HasSuffix("IS NOT DISTINCT FROM", op) && op != "=" {
			return Expr{}, refuse.New(refuse.Expression, "A comparison of rows of values with %s is not allowed on protected rows.", op)
		}
		return l.rowsEqual(a, b, op)
	}
	x, err := l.operand(e.Left())
	if err != nil {
		return x, err
	}
	y, err := l.operand(e.Right())
	if err != nil {
		return y, err
	}
	if err := l.alignTimes(&x, &y); err != nil {
		return Expr{}, err
	}
	if l.raises() && (l.isMomentText(e.Left(), x) && y.Type.Kind == String || l.isMomentText(e.Right(), y) && x.Type.Kind == String) {
		return Expr{}, refuse.New(refuse.Expression, "A date that is computed of a text is compared with texts as one.")
	}
	y.fails = y.fails && !standard.Joins(l.ctx, e) // whose rows the store finds by both sides
	return l.compare(op, l.inYears(e.Right(), e.Left(), x), l.inYears(e.Left(), e.Right(), y)), nil
}

// isMomentText reports whether MySQL has a text for what is a date or moment in the store: what
// DATE_ADD makes of a text.
func (l *lowerer) isMomentText(e sql.Expression, x Expr) bool {
	t := e.Type(l.ctx)
	return temporal(x.Type.Kind) && t != nil && types.IsText(t)
}

// inYears makes a constant of one or two digits beside a YEAR column the year that it is stored as:
// MySQL converts whole numbers to the type of a column that they are compared with. x is e.
func (l *lowerer) inYears(column, e sql.Expression, x Expr) Expr {
	f, ok := standard.Untyped(column).(*expression.GetField)
	if !ok || f.Table() == "" || !types.IsYear(f.Type(l.ctx)) || x.Type.Kind != Int && x.Type.Kind != UInt || len(tree.Fields(l.ctx, e)) > 0 {
		return x
	}
	v, err := e.Eval(l.ctx, nil)
	n, number := tree.Float(v)
	switch {
	case err != nil || !number || n < 1 || n > 99:
		return x
	case n < 70:
		return integer(2000 + int64(n))
	}
	return integer(1900 + int64(n))
}

// alignTimes makes TIME values comparable: beside one, a text constant is read as a time, and
// another kind is refused. A constant TIME beside numbers is a number.
func (l *lowerer) alignTimes(xs ...*Expr) error {
	times, digits := false, true
	for _, x := range xs {
		times = times || x.Type.Kind == Time
		digits = digits && (numeric(x.Type.Kind) || x.Type.Kind == Null || x.Type.Kind == Time && x.text != nil)
	}
	if times && digits {
		for _, x := range xs {
			if x.Type.Kind == Time && !l.inDigits(x) {
				return refuse.New(refuse.Expression, "A TIME constant could not be read.")
			}
		}
		return nil
	}
	for _, x := range xs {
		if !times || x.Type.Kind == Time || x.Type.Kind == Null {
			continue
		}
		if x.text != nil {
			if v, _, err := types.Time.Convert(l.ctx, *x.text); err == nil {
				if by, ok := v.(types.Timespan); ok {
					*x = span(by)
					continue
				}
			}
		}
		return refuse.New(refuse.Expression, "A TIME value is compared with times and constants like '10:00:00' only, on protected rows.")
	}
	return nil
}

// inDigits makes a constant TIME the number that its digits are; false where it has none.
func (l *lowerer) inDigits(x *Expr) bool {
	v, _, err := types.Time.Convert(l.ctx, *x.text)
	by, ok := v.(types.Timespan)
	if err != nil || !ok {
		return false
	}
	us, sign := by.AsMicroseconds(), ""
	if us < 0 {
		us, sign = -us, "-"
	}
	n, err := decimalLiteral(fmt.Sprintf("%s%d.%06d", sign, us/3600e6*10000+us/60e6%60*100+us/1e6%60, us%1e6))
	*x = n
	return err == nil
}

// operand lowers a side of a comparison: any kind but JSON and vectors.
func (l *lowerer) operand(e sql.Expression) (Expr, error) {
	x, err := l.expr(e)
	if err == nil && (x.Type.Kind == JSON || x.Type.Kind == Array) {
		err = refuse.New(refuse.Expression, "A comparison of a JSON or vector value is not allowed on protected rows.")
	}
	return x, err
}

func (l *lowerer) rowsEqual(a, b expression.Tuple, op string) (Expr, error) {
	parts := make([]string, len(a))
	for i := range a {
		x, err := l.operand(a[i])
		if err != nil {
			return x, err
		}
		y, err := l.operand(b[i])
		if err != nil {
			return y, err
		}
		if err := l.alignTimes(&x, &y); err != nil {
			return Expr{}, err
		}
		parts[i] = l.compare(op, x, y).SQL
	}
	return maybe(Bool, "("+strings.Join(parts, " AND ")+")"), nil
}

// compare compares two values after MySQL's conversions. As in MySQL, a NULL on the left leaves
// what may raise on the right out.
func (l *lowerer) compare(op string, x, y Expr) Expr {
	if y.fails && x.Nullable && op != "IS NOT DISTINCT FROM" {
		y.fails = false
		return maybe(Bool, l.let(l.tight(x).SQL, func(r string) string {
			x.SQL, x.loose = r, false
			return "(CASE WHEN " + r + " IS NOT NULL THEN " + l.compare(op, x, y).SQL + " END)"
		}))
	}
	x, y = l.comparable(x, y)
	if x.Type.Kind == Null || y.Type.Kind == Null {
		if op != "IS NOT DISTINCT FROM" {
			return maybe(Bool, "CAST(NULL AS BOOLEAN)")
		}
		if x.Type.Kind == Null {
			x, y = y, x
		}
		return Expr{SQL: "(" + x.SQL + " IS NULL)", Type: Type{Kind: Bool}}
	}
	z := boolean("("+x.SQL+" "+op+" "+y.SQL+")", x, y)
	if op == "IS NOT DISTINCT FROM" {
		z.Nullable = false
	}
	return z
}

// comparable brings two values to one kind in which the store compares them without a conversion
// of its own. Either of them Null stays Null.
func (l *lowerer) comparable(x, y Expr) (Expr, Expr) {
	x, y = l.tight(x), l.tight(y)
	a, b := x.Type.Kind, y.Type.Kind
	switch {
	case a == Null || b == Null:
		return x, y
	case a == b && a != Decimal:
		return x, y
	case a == Bytes || b == Bytes:
		return l.toBytes(x), l.toBytes(y)
	case temporal(a) && (b == String || y.number != nil || temporal(b) && y.text != nil):
		return l.alike(x, l.moment(y))
	case temporal(b) && (a == String || x.number != nil || temporal(a) && x.text != nil):
		y, x = l.alike(y, l.moment(x))
		return x, y
	case temporal(a) && temporal(b):
		return l.toDatetime(x), l.toDatetime(y)
	}
	return l.sameNumbers(x, y)
}

// toBytes reads a text beside a binary value, which compares by its bytes.
func (l *lowerer) toBytes(x Expr) Expr {
	switch x.Type.Kind {
	case Bytes:
		return x
	case String:
		return of(Bytes, "encode("+x.SQL+")", x)
	}
	l.refuse("A binary value is compared with texts and binary values only, on protected rows.")
	return x
}

// Alike brings two values that were lowered apart to one type, as a comparison of them does, so
// that the store compares them without a conversion of its own: that of an integer to a DECIMAL
// without room for it is an error, which a row could raise. ok is false for values that are not
// both numbers, or of one kind.
func Alike(x, y Expr) (a, b Expr, ok bool) {
	exact := func(k Kind) bool { return k == Int || k == Decimal }
	switch k := x.Type.Kind; {
	case k == Null || k == JSON || k == Array || k == Time || k == Bytes:
		return x, y, false
	case k != y.Type.Kind && !(exact(k) && exact(y.Type.Kind)):
		return x, y, false
	}
	a, b = new(lowerer).comparable(x, y)
	return a, b, true
}

// alike compares a date with a moment at midnight as dates, so that the store can prune by it.
func (l *lowerer) alike(x, y Expr) (Expr, Expr) {
	if x.Type.Kind == Date && strings.HasPrefix(y.SQL, "TIMESTAMP '") && strings.HasSuffix(y.SQL, " 00:00:00'") {
		return x, of(Date, "DATE"+strings.TrimSuffix(strings.TrimPrefix(y.SQL, "TIMESTAMP"), " 00:00:00'")+"'")
	}
	return l.toDatetime(x), y
}

// sameNumbers brings two values to one numeric type, exact numbers that have no room in 38 digits
// together to rows of two.
func (l *lowerer) sameNumbers(x, y Expr) (Expr, Expr) {
	x, y = l.toNumber(x), l.toNumber(y)
	a, b := x.Type.Kind, y.Type.Kind
	switch {
	case a == Double || b == Double:
		return l.tight(l.toDouble(x)), l.tight(l.toDouble(y))
	case a == b && a != Decimal:
		return x, y
	case a != Decimal && b != Decimal:
		return of(Int, "CAST("+x.SQL+" AS HUGEINT)", x), of(Int, "CAST("+y.SQL+" AS HUGEINT)", y)
	}
	p1, s1 := precision(x)
	p2, s2 := precision(y)
	s := max(s1, s2)
	p := max(p1-s1, p2-s2) + s
	if p > maxPrecision {
		return l.inTwo(x, s), l.inTwo(y, s)
	}
	return l.toDecimal(x, p, s), l.toDecimal(y, p, s)
}

// inTwo is an exact number as a row of two, and such rows compare as the numbers do: 0 and the
// number where that has room in 38 digits with the scale, else its whole part and its fraction,
// which the store computes slowly.
func (l *lowerer) inTwo(x Expr, scale int) Expr {
	p, s := precision(x)
	let := l.let
	if x.Subquery {
		let = l.name
	}
	x = l.toDecimal(x, p, s)
	x.SQL = let(x.SQL, func(r string) string {
		whole, rest := "trunc("+r+")", fmt.Sprintf("%s %% CAST('1' AS DECIMAL(%d,%d))", r, maxPrecision, s)
		if s == maxPrecision {
			whole, rest = "0", r
		}
		row := func(whole, rest string) string {
			return fmt.Sprintf("row(CAST(%s AS DECIMAL(%d,0)), CAST(%s AS DECIMAL(%[2]d,%[4]d)))", whole, maxPrecision, rest, scale)
		}
		most := fmt.Sprintf("%s' AS DECIMAL(%d,%d))", "0"+strings.Repeat("9", maxPrecision-scale), maxPrecision, s)
		return "(CASE WHEN " + r + " BETWEEN CAST('-" + most + " AND CAST('" + most + " THEN " + row("0", r) + " WHEN " + r + " IS NOT NULL THEN " + row(whole, rest) + " END)"
	})
	return x
}

// precision gives the digits and the scale of an exact number.
func precision(x Expr) (p, s int) {
	if x.Type.Kind == Decimal {
		return x.Type.Precision, x.Type.Scale
	}
	return width(x), 0
}

// between translates val BETWEEN lo AND hi as two comparisons.
func (l *lowerer) between(e *expression.Between) (Expr, error) {
	v, err := l.operand(e.Val)
	if err != nil {
		return v, err
	}
	lo, err := l.operand(e.Lower)
	if err != nil {
		return lo, err
	}
	hi, err := l.operand(e.Upper)
	if err != nil {
		return hi, err
	}
	if err := l.alignTimes(&v, &lo, &hi); err != nil {
		return Expr{}, err
	}
	v, lo, hi = l.tight(v), l.inYears(e.Val, e.Lower, lo), l.inYears(e.Val, e.Upper, hi)
	s := l.let(v.SQL, func(r string) string {
		w := v
		w.SQL = r
		return "(" + l.compare(">=", w, lo).SQL + " AND " + l.compare("<=", w, hi).SQL + ")"
	})
	return boolean(s, v, lo, hi, maybe(Bool, "")), nil
}

// in translates left IN (list).
func (l *lowerer) in(left, right sql.Expression) (Expr, error) {
	list, ok := right.(expression.Tuple)
	if !ok {
		return Expr{}, refuse.New(refuse.Expression, "IN with a subquery is not allowed on protected rows.").
			With("List the values, or join with the table.")
	}
	if row, ok := left.(expression.Tuple); ok {
		return l.rowIn(row, list)
	}
	x, err := l.operand(left)
	if err != nil {
		return x, err
	}
	x = l.tight(x)
	ys, all := make([]Expr, len(list)), []*Expr{&x}
	for i, e := range list {
		if ys[i], err = l.operand(e); err != nil {
			return ys[i], err
		}
		all = append(all, &ys[i])
	}
	if err := l.alignTimes(all...); err != nil { // together: x is compared in one form
		return Expr{}, err
	}
	for i, e := range list {
		ys[i] = l.inYears(left, e, ys[i])
	}
	s := l.let(x.SQL, func(r string) string {
		w := x
		w.SQL = r
		return l.inList(w, ys)
	})
	z := boolean(s)
	for _, y := range ys {
		z.Nullable = z.Nullable || l.compare("=", x, y).Nullable
	}
	return z, nil
}

// inList writes one IN where all members compare with x in one form, else a chain of comparisons.
func (l *lowerer) inList(x Expr, ys []Expr) string {
	var first Expr
	members := make([]string, len(ys))
	chain := make([]string, len(ys))
	same := true
	for i, y := range ys {
		a, b := l.comparable(x, y)
		if i == 0 {
			first = a
		}
		same = same && a.SQL == first.SQL && a.Type.Kind != Null && b.Type.Kind != Null && !y.fails
		members[i] = b.SQL
		chain[i] = l.compare("=", x, y).SQL
	}
	if same {
		return "(" + first.SQL + " IN (" + strings.Join(members, ", ") + "))"
	}
	return "(" + strings.Join(chain, " OR ") + ")"
}

func (l *lowerer) rowIn(row, list expression.Tuple) (Expr, error) {
	parts := make([]string, len(list))
	for i, e := range list {
		other, ok := e.(expression.Tuple)
		if !ok || len(other) != len(row) {
			return Expr{}, refuse.New(refuse.Expression, "IN compares rows of different lengths.")
		}
		x, err := l.rowsEqual(row, other, "=")
		if err != nil {
			return x, err
		}
		parts[i] = x.SQL
	}
	return maybe(Bool, "("+strings.Join(parts, " OR ")+")"), nil
}

// condition translates what stands where NULL is false: a condition by itself, and the operands of
// AND and OR in it. One that compares a column of days or moments, as it is read, with a constant
// becomes one on the column itself: false where the comparison is NULL, because a column outside
// the years 1 to 9999 is read as NULL.
func (l *lowerer) condition(e sql.Expression) (Expr, error) {
	operand := func(e sql.Expression) (Expr, error) { return l.nested(e, l.condition) }
	switch e.(type) {
	case *expression.And:
		return l.junction(e, " AND ", operand)
	case *expression.Or:
		return l.junction(e, " OR ", operand)
	}
	if x, ok, err := l.pruning(e); ok || err != nil {
		return x, err
	}
	return l.truth(e)
}

// pruning is condition of a comparison of such a column with a constant; ok is false for others.
func (l *lowerer) pruning(e sql.Expression) (x Expr, ok bool, err error) {
	switch e := e.(type) {
	case *expression.Between:
		return l.pruningPair(">=", e.Val, e.Lower, "<=", e.Upper)
	case *expression.Equals, *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual:
		c := e.(expression.Comparer)
		if len(tree.Fields(l.ctx, c.Left())) == 0 {
			return l.pruningPair(turned[operator(c)], c.Right(), c.Left(), "", nil)
		}
		return l.pruningPair(operator(c), c.Left(), c.Right(), "", nil)
	}
	return Expr{}, false, nil
}

// turned are the comparisons of the same operands in the other order.
var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}

// pruningPair is left op right, AND left op2 right2 where there is one.
func (l *lowerer) pruningPair(op string, left, right sql.Expression, op2 string, right2 sql.Expression) (Expr, bool, error) {
	x, ok, err := l.pruned(op, left, right)
	if !ok || err != nil || right2 == nil {
		return x, ok, err
	}
	y, ok, err := l.pruned(op2, left, right2)
	return boolean("("+x.SQL+" AND "+y.SQL+")", x, y), ok, err
}

func (l *lowerer) pruned(op string, left, right sql.Expression) (Expr, bool, error) {
	if len(tree.Fields(l.ctx, right)) > 0 { // no part of a table is left out by two of its columns
		return Expr{}, false, nil
	}
	x, err := l.operand(left)
	if err != nil {
		return x, false, err
	}
	y, err := l.operand(right)
	if err != nil {
		return y, false, err
	}
	if k := x.Type.Kind; !temporal(k) || !temporal(y.Type.Kind) && y.Type.Kind != String {
		return x, false, nil
	}
	x, y = l.comparable(x, y)
	if x.Type.Kind != y.Type.Kind || !temporal(x.Type.Kind) {
		return x, false, nil
	}
	first, last := firstMoment, lastMoment
	if x.Type.Kind == Date {
		first, last = firstDay, lastDay
	}
	if x.read.moment == "" || x.SQL != x.read.text {
		return x, false, nil
	}
	// The constant is in range itself.
	guard := ""
	switch op {
	case "<", "<=":
		guard = " AND " + x.read.moment + " >= " + first
	case ">", ">=":
		guard = " AND " + x.read.moment + " <= " + last
	}
	return boolean("("+x.read.moment+" "+op+" "+y.SQL+guard+")", x, y), true, nil
}
