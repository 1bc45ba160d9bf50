package lower

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/functions/standard"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/tree"
)

// The start of a string that MySQL reads as a number, and as an integer.
const (
	numberPrefix  = `'^[ \t\n\r\v\f]*([-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?)'`
	integerPrefix = `'^[ \t\n\r\v\f]*([-+]?[0-9]+)'`
)

// Strings that are read as a date, and as a date with a time. Fractions beyond microseconds are
// cut.
const (
	dashedMoment  = `'^[ ]*[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([ T]+[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]*)?)?)?[ ]*$'`
	compactDate   = `'^[0-9]{8}$'`
	compactMoment = `'^[0-9]{14}$'`
)

// convert returns x in another kind; false when there is no conversion.
func (l *lowerer) convert(x Expr, t Type) (Expr, bool) {
	if x.Type.Kind == Null {
		return Expr{SQL: "CAST(NULL AS " + t.duckdb() + ")", Type: t, Nullable: true}, true
	}
	if x.Type.Kind == t.Kind && t.Kind != Decimal {
		x.Type.Members, x.Type.Bits = "", false
		return x, true
	}
	if !scalar(x.Type.Kind) {
		return Expr{}, false
	}
	switch t.Kind {
	case Bool:
		return l.isTruth(x), true
	case Int:
		return l.toInt(x), true
	case UInt:
		return l.toUInt(x), true
	case Decimal:
		return l.toDecimal(x, t.Precision, t.Scale), true
	case Double:
		return l.toDouble(x), true
	case String:
		return l.toString(x), true
	case Date:
		return l.toDate(x), true
	case Datetime:
		return l.toDatetime(x), true
	}
	return Expr{}, false
}

// scalar tells whether a kind takes part in arithmetic, comparison and string functions.
func scalar(k Kind) bool { return k != JSON && k != Array && k != Time && k != Bytes }

func numeric(k Kind) bool {
	return k == Bool || k == Int || k == UInt || k == Decimal || k == Double
}

func temporal(k Kind) bool { return k == Date || k == Datetime }

// counted returns an ENUM as the place of its member, 0 for none, and a SET as the sum of 2^i of
// its members i = 0, 1, …; other values as they are.
func (l *lowerer) counted(x Expr) Expr {
	if x.binary {
		l.refuse("A constant X'…' as a number is not allowed on protected rows: write the number.")
	}
	kind, list, ok := strings.Cut(x.Type.Members, "\x00")
	if !ok {
		return x
	}
	members := strings.Split(list, "\x00")
	for i, m := range members {
		if members[i] = sqltext.StoreText(m); kind == "set" {
			// a text without letters has no member
			members[i] = fmt.Sprintf("CASE WHEN %[1]s <> '' AND list_position(string_split(%[1]s, ','), %[2]s) > 0 THEN %[3]d ELSE 0 END", x.SQL, members[i], uint64(1)<<i)
		}
	}
	if kind == "set" {
		return of(UInt, "(CASE WHEN "+x.SQL+" IS NOT NULL THEN CAST("+strings.Join(members, " + ")+" AS UBIGINT) END)", x)
	}
	y := of(Int, "(CASE WHEN "+x.SQL+" IS NOT NULL THEN CAST(COALESCE(list_position(["+strings.Join(members, ", ")+"], "+x.SQL+"), 0) AS BIGINT) END)", x)
	y.digits = len(strconv.Itoa(len(members)))
	return y
}

// Ordered returns what a value is sorted by: an ENUM or SET by its number.
func Ordered(x Expr) Expr { return new(lowerer).counted(x) }

// toNumber returns x as a number of its natural kind: a Bool as Int, a string as Double, a date as
// the integer YYYYMMDD and a date with time as YYYYMMDDhhmmss.ffffff.
func (l *lowerer) toNumber(x Expr) Expr {
	x = l.counted(x)
	switch x.Type.Kind {
	case Bool:
		y := of(Int, "CAST("+x.SQL+" AS BIGINT)", x)
		y.digits = 1
		return y
	case String:
		return l.toDouble(x)
	case Date:
		y := of(Int, l.let(x.SQL, func(r string) string {
			return fmt.Sprintf("(year(%[1]s)*10000+month(%[1]s)*100+day(%[1]s))", r)
		}), x)
		y.digits = 8
		return y
	case Datetime:
		// YYYYMMDDhhmmss.ffffff
		return decimal(l.let(x.SQL, func(r string) string {
			return "(CAST(" + digitsOf(r) + " * 1000000::HUGEINT + epoch_us(" + r + ") % 1000000 AS DECIMAL(20,0)) * CAST('0.000001' AS DECIMAL(6,6)))"
		}), 26, 6, x.Nullable)
	}
	return x
}

// wholeSeconds makes a moment that is declared, or written, without a fraction a whole number.
func (l *lowerer) wholeSeconds(x Expr, e sql.Expression) Expr {
	if x.Type.Kind != Datetime {
		return x
	}
	t, declared := e.Type(l.ctx).(sql.DatetimeType)
	whole := declared && t.Precision() == 0
	if len(tree.Fields(l.ctx, e)) == 0 {
		v, err := e.Eval(l.ctx, nil)
		at, moment := v.(time.Time)
		whole = whole || err == nil && moment && at.Nanosecond() == 0
	}
	if whole {
		return l.toInt(x)
	}
	return x
}

// digitsOf is a moment as the integer YYYYMMDDhhmmss.
func digitsOf(r string) string {
	return fmt.Sprintf("(((year(%[1]s)*10000+month(%[1]s)*100+day(%[1]s))*100+hour(%[1]s))*10000+minute(%[1]s)*100+second(%[1]s))", r)
}

func (l *lowerer) toDouble(x Expr) Expr {
	x = l.counted(x)
	switch x.Type.Kind {
	case Double:
		return x
	case Null:
		return maybe(Double, "CAST(NULL AS DOUBLE)")
	case String:
		// Text that is no number counts as 0; 1e999 is infinite, hence NULL, and the largest number
		// where an infinity is an error.
		text := l.numberText(x, numberPrefix, "DOUBLE")
		if l.raises() {
			return maybe(Double, l.let(text, func(r string) string {
				return "(CASE WHEN isinf(" + r + ") THEN sign(" + r + ") * CAST(1.7976931348623157e308 AS DOUBLE) ELSE " + r + " END)"
			}))
		}
		return loose(text)
	case Date, Datetime:
		x = l.toNumber(x)
	case Decimal:
		if l.raises() {
			x = x.Unrounded()
		}
	}
	return of(Double, "CAST("+x.SQL+" AS DOUBLE)", x)
}

// numberText reads the number at the start of a string; 0 when there is none, NULL beyond the type.
func (l *lowerer) numberText(x Expr, pattern, t string) string {
	return l.name("regexp_extract("+x.SQL+", "+pattern+", 1)", func(r string) string {
		return "(CASE WHEN " + r + " = '' THEN CAST(0 AS " + t + ") ELSE TRY_CAST(" + r + " AS " + t + ") END)"
	})
}

// toInt rounds half away from zero, doubles half to even, as MySQL does.
func (l *lowerer) toInt(x Expr) Expr {
	x = l.counted(x)
	switch x.Type.Kind {
	case Int:
		return x
	case Bool, Date:
		return l.toNumber(x)
	case Datetime:
		y := of(Int, l.let(x.SQL, digitsOf), x)
		y.digits = 14
		return y
	case String:
		return maybe(Int, l.numberText(x, integerPrefix, "BIGINT"))
	case Null:
		return maybe(Int, "CAST(NULL AS BIGINT)")
	}
	x = l.tight(x)
	if x.Type.Kind == Double { // the nearest where it is out of range
		return maybe(Int, l.let(x.SQL, func(r string) string {
			return "(CASE WHEN " + r + " >= 9223372036854775807 THEN 9223372036854775807 WHEN " + r + " <= -9223372036854775808 THEN (-9223372036854775808)::BIGINT ELSE TRY_CAST(" + r + " AS BIGINT) END)"
		}))
	}
	return maybe(Int, "TRY_CAST("+x.SQL+" AS BIGINT)")
}

// toUInt takes a negative integer modulo 2^64, as CAST(x AS UNSIGNED) does.
func (l *lowerer) toUInt(x Expr) Expr {
	x = l.counted(x)
	from := x.Type.Kind
	if from == UInt {
		return x
	}
	if x.Type.Kind == String {
		x = decimal(l.numberText(x, integerPrefix, "DECIMAL(38,0)"), maxPrecision, 0, true)
	}
	if x.Type.Kind == Double {
		x = l.toInt(x)
	}
	if temporal(x.Type.Kind) || x.Type.Kind == Bool {
		x = l.toNumber(x)
	}
	if from == Decimal { // the nearest where it is out of range
		return maybe(UInt, l.let("TRY_CAST("+x.SQL+" AS HUGEINT)", func(r string) string {
			return "(CASE WHEN " + r + " < 0 THEN 0::UBIGINT WHEN " + r + " > 18446744073709551615 THEN 18446744073709551615::UBIGINT ELSE TRY_CAST(" + r + " AS UBIGINT) END)"
		}))
	}
	return maybe(UInt, l.let("TRY_CAST("+x.SQL+" AS HUGEINT)", func(r string) string {
		return "(CASE WHEN " + r + " BETWEEN (-9223372036854775808) AND (-1) THEN TRY_CAST(" + r + " + 18446744073709551616 AS UBIGINT) ELSE TRY_CAST(" + r + " AS UBIGINT) END)"
	}))
}

// toDecimal is NULL where MySQL would clamp to the largest value with a warning.
func (l *lowerer) toDecimal(x Expr, p, s int) Expr {
	t := Type{Kind: Decimal, Precision: p, Scale: s}
	x = l.counted(x)
	switch x.Type.Kind {
	case Decimal:
		if x.Type == t {
			return x
		}
		if x.Type.Scale <= s && x.Type.Precision-x.Type.Scale <= p-s {
			return decimal("CAST("+x.SQL+" AS "+t.duckdb()+")", p, s, x.Nullable)
		}
	case String:
		return decimal(l.numberText(x, numberPrefix, t.duckdb()), p, s, true)
	case Double:
		x = l.tight(x)
	case Bool, Date, Datetime:
		x = l.toNumber(x)
	}
	if x.Type.Kind == Decimal && x.Type.Scale > s && p < maxPrecision && x.Type.Precision-x.Type.Scale >= p-s {
		// The store refuses the topmost values when it drops digits, so it does that one digit
		// wider.
		x.SQL = fmt.Sprintf("TRY_CAST(%s AS DECIMAL(%d,%d))", x.SQL, p+1, s)
	}
	if w := width(x); w > 0 && w <= p-s {
		return decimal(x.asDecimal(p, s), p, s, x.Nullable)
	}
	return decimal("TRY_CAST("+x.SQL+" AS "+t.duckdb()+")", p, s, true)
}

// Digits is the number of decimal digits before the point of a number, or of the number that a
// moment is, by its type; false where that says nothing.
func Digits(x Expr) (int, bool) {
	switch x.Type.Kind {
	case Bool:
		return 0, true
	case Int, UInt:
		return width(x), true
	case Decimal:
		return x.Type.Precision - x.Type.Scale, true
	case Date:
		return 8, true
	case Datetime:
		return 14, true
	}
	return 0, false
}

// width is the number of decimal digits of an integer; 0 for other kinds.
func width(x Expr) int {
	switch {
	case x.Type.Kind != Int && x.Type.Kind != UInt:
		return 0
	case x.digits > 0:
		return x.digits
	case x.Narrow():
		return x.read.digits
	case x.Type.Kind == UInt:
		return 20
	}
	return 19
}

// toString writes a Double in the store's shortest form with MySQL's exponent, and a date with time
// with six digits of fraction where there is a fraction.
func (l *lowerer) toString(x Expr) Expr {
	if x.Type.Bits {
		l.refuse("A BIT value as a text is not allowed on protected rows: use BIT + 0, which is a number.")
	}
	switch x.Type.Kind {
	case String:
		x.Type.Members = ""
		return x
	case Null:
		return maybe(String, "CAST(NULL AS VARCHAR)")
	case Bool:
		x = l.toNumber(x)
	case Decimal:
		if t := x.Type; t.Precision == t.Scale && t.Scale < maxPrecision { // else the store writes .5
			x = decimal("CAST("+x.SQL+" AS "+Type{Kind: Decimal, Precision: t.Precision + 1, Scale: t.Scale}.duckdb()+")", t.Precision+1, t.Scale, x.Nullable)
		}
	case Double:
		x = l.tight(x)
		s := "CAST(" + x.SQL + " AS VARCHAR)"
		if x.Type.Single || x.read.single && x.SQL == x.read.text {
			s = "CAST(CAST(printf('%.5e', " + x.SQL + ") AS DOUBLE) AS VARCHAR)" // of six digits
		}
		s = "regexp_replace(regexp_replace(" + s + ", '[.]0$|[+]', ''), 'e(-?)0', 'e\\1')"
		return of(String, s, x)
	case Date:
		return of(String, "strftime("+x.SQL+", '%Y-%m-%d')", x)
	case Datetime:
		if n := x.Type.Scale; n > 0 {
			return of(String, fmt.Sprintf("substring(strftime(%s, '%%Y-%%m-%%d %%H:%%M:%%S.%%f'), 1, %d)", x.SQL, 20+n), x)
		}
		return of(String, l.let(x.SQL, func(r string) string {
			return "(CASE WHEN epoch_us(" + r + ") % 1000000 = 0 THEN strftime(" + r + ", '%Y-%m-%d %H:%M:%S') ELSE strftime(" + r + ", '%Y-%m-%d %H:%M:%S.%f') END)"
		}), x)
	}
	return of(String, "CAST("+x.SQL+" AS VARCHAR)", x)
}

// toDatetime reads strings of the forms YYYY-MM-DD[ hh:mm[:ss[.ffffff]]] with - / or . between the
// parts, and strings and integers YYYYMMDD and YYYYMMDDhhmmss. Everything else is NULL.
func (l *lowerer) toDatetime(x Expr) Expr {
	switch x.Type.Kind {
	case Datetime:
		return x
	case Date:
		if x.text != nil {
			return l.constantMoment(*x.text)
		}
		return of(Datetime, "CAST("+x.SQL+" AS TIMESTAMP)", x)
	case Null:
		return maybe(Datetime, "CAST(NULL AS TIMESTAMP)")
	case String:
		if x.text != nil && l.ctx != nil {
			return l.constantMoment(*x.text)
		}
	case Int, UInt, Bool:
		if x.number != nil && l.ctx != nil && (x.digits < 8 || x.digits == 12) {
			return l.constantMoment(strconv.FormatInt(*x.number, 10))
		}
		x = of(String, "CAST("+x.SQL+" AS VARCHAR)", x)
	default: // Decimal, Double: their integral part
		x = of(String, "CAST("+l.toInt(x).SQL+" AS VARCHAR)", x)
	}
	parsed := l.let(x.SQL, func(r string) string {
		return "(CASE WHEN regexp_matches(" + r + ", " + dashedMoment + ") THEN TRY_CAST(regexp_replace(regexp_replace(regexp_replace(" + r +
			", '[/.]([0-9]{1,2})[/.]', '-\\1-'), '([.][0-9]{6})[0-9]*', '\\1'), '[T ]+', ' ') AS TIMESTAMP)" +
			" WHEN regexp_matches(" + r + ", " + compactDate + ") THEN try_strptime(" + r + ", '%Y%m%d')" +
			" WHEN regexp_matches(" + r + ", " + compactMoment + ") THEN try_strptime(" + r + ", '%Y%m%d%H%M%S') END)"
	})
	return maybe(Datetime, l.inCalendar(parsed))
}

// moment reads what is compared with a moment. A constant that is none is an error of MySQL's, or
// less than every moment, by its version.
func (l *lowerer) moment(x Expr) Expr {
	if x.number != nil {
		digits := strconv.FormatInt(*x.number, 10)
		x = Expr{Type: Type{Kind: String}, text: &digits}
	}
	y := l.toDatetime(x)
	if x.text != nil && strings.HasPrefix(y.SQL, "CAST(NULL") {
		l.refuse("The constant '%s' is no date: compare dates with constants like '2024-12-31'.", clip(*x.text))
	}
	if x.text == nil && x.Type.Kind == String { // a text that is no date is before all of them
		y.SQL = l.let(x.SQL, func(r string) string {
			return "COALESCE(" + y.SQL + ", CASE WHEN " + r + " IS NOT NULL THEN make_timestamp(-62167219200000000) END)"
		})
		y.Nullable = x.Nullable
	}
	return y
}

// constantMoment reads a string constant as MySQL does; NULL when it is no date.
func (l *lowerer) constantMoment(s string) Expr {
	if t, ok := standard.Moment(l.ctx, s); ok {
		return moment(t, Datetime)
	}
	return maybe(Datetime, "CAST(NULL AS TIMESTAMP)")
}

func (l *lowerer) toDate(x Expr) Expr {
	if x.Type.Kind == Date {
		return x
	}
	x = l.toDatetime(x)
	return of(Date, "CAST("+x.SQL+" AS DATE)", x)
}

// cast translates CAST and CONVERT.
func (l *lowerer) cast(e *expression.Convert) (Expr, error) {
	name, length := castTarget(e)
	x, err := l.scalar(e.Child, "CAST")
	if err != nil {
		return x, err
	}
	var t Type
	switch name {
	case expression.ConvertToSigned:
		t.Kind = Int
	case expression.ConvertToUnsigned:
		t.Kind = UInt
	case expression.ConvertToDecimal:
		n, _ := standard.CastDecimal(l.ctx, e)
		t = Type{Kind: Decimal, Precision: min(n.Precision, maxPrecision), Scale: min(n.Scale, maxPrecision)}
	case expression.ConvertToDouble, expression.ConvertToReal, expression.ConvertToFloat:
		t.Kind = Double
	case expression.ConvertToDate:
		t.Kind = Date
	case expression.ConvertToDatetime:
		t.Kind = Datetime
	case expression.ConvertToChar, expression.ConvertToNChar:
		t.Kind = String
	default:
		return Expr{}, refuse.New(refuse.Expression, "CAST AS %s is not allowed on protected rows.", strings.ToUpper(name))
	}
	if t.Kind == Int && x.Type.Kind == UInt { // two's complement, as MySQL
		return maybe(Int, l.let("CAST("+x.SQL+" AS HUGEINT)", func(r string) string {
			return "CAST(CASE WHEN " + r + " > 9223372036854775807 THEN " + r + " - 18446744073709551616 ELSE " + r + " END AS BIGINT)"
		})), nil
	}
	if t.Kind == Decimal {
		x = x.Unrounded()
	}
	from := x
	x, _ = l.convert(x, t)
	if t.Kind == Decimal && l.raises() && x.Nullable && (from.Type.Kind == String || strings.HasPrefix(x.SQL, "TRY_")) {
		// the largest number of the type is in the place of those beyond it
		most := Type{Kind: Decimal, Precision: t.Precision, Scale: t.Scale}.duckdb()
		digits := strings.Repeat("9", t.Precision-t.Scale) + "." + strings.Repeat("9", t.Scale)
		x.SQL = l.let(l.tight(l.toDouble(from)).SQL, func(r string) string {
			return "COALESCE(" + x.SQL + ", CASE WHEN " + r + " > 0 THEN CAST('" + digits + "' AS " + most + ") WHEN " + r + " < 0 THEN CAST('-" + digits + "' AS " + most + ") END)"
		})
	}
	if t.Kind == Double && name == expression.ConvertToFloat {
		x = l.tight(x)
		x = loose("CAST(TRY_CAST(" + x.SQL + " AS FLOAT) AS DOUBLE)")
	}
	if t.Kind == Datetime && length < 6 {
		x = l.roundMoment(x, length)
	}
	if t.Kind == Datetime && l.raises() {
		x.Type.Scale = length
	}
	if t.Kind == String && length > 0 {
		x = of(String, fmt.Sprintf("substring(%s, 1, %d)", x.SQL, length), x)
	}
	return x, nil
}

// roundMoment rounds to n digits of a second; NULL past the last day.
func (l *lowerer) roundMoment(x Expr, n int) Expr {
	unit := pow10(6 - n)
	return maybe(Datetime, l.inCalendar("make_timestamp((epoch_us("+x.SQL+") + 62135596800000000 + "+unit+"//2) // "+unit+" * "+unit+" - 62135596800000000)"))
}

func pow10(n int) string { return "1" + strings.Repeat("0", n) }

// castTarget reads the target of a CAST, which the node keeps to itself except in its text and
// type.
func castTarget(e *expression.Convert) (name string, length int) {
	s := strings.TrimSuffix(e.String(), ")")
	s = s[len("convert("+e.Child.String()+", "):]
	name, rest, found := strings.Cut(s, "(")
	if found {
		_, _ = fmt.Sscanf(rest, "%d", &length)
	}
	return name, length
}
