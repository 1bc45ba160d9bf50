package standard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

func init() {
	for _, name := range []string{"date_add", "date_sub", "adddate", "subdate"} {
		sign := int64(1)
		if strings.Contains(name, "sub") {
			sign = -1
		}
		wrap(name, func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			if len(args) != 2 {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), 2, len(args))
			}
			by, ok := args[1].(*expression.Interval)
			if !ok && strings.HasPrefix(name, "date") {
				return nil, sql.ErrInvalidArgument.New(strings.ToUpper(name) + " wants an INTERVAL")
			}
			if !ok {
				by = expression.NewInterval(args[1], "DAY")
			}
			return newShift(ctx, sign, args[0], by), nil
		})
	}
	for name, t := range map[string]func(digits int) sql.Type{
		"date literal": func(int) sql.Type { return types.Date },
		"time literal": TimeType,
		"timestamp literal": func(digits int) sql.Type {
			return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
		},
	} {
		wrap(name, func(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
			return literal(ctx, name, t, args)
		})
	}
}

// literal is DATE 'text', TIME 'text' or TIMESTAMP 'text': a constant of that type, whose value is
// the text in MySQL's own form.
func literal(ctx *sql.Context, name string, typ func(digits int) sql.Type, args []sql.Expression) (sql.Expression, error) {
	kind := strings.ToUpper(strings.TrimSuffix(name, " literal"))
	l, ok := args[0].(*expression.Literal)
	if !ok || len(args) != 1 {
		return nil, sql.ErrInvalidArgument.New(kind)
	}
	s, _ := l.Value().(string)
	_, fraction, _ := strings.Cut(s, ".")
	t, out := typ(min(len(fraction), 6)), ""
	if IsTimespan(t) {
		us, read := span(ctx, s)
		ok, out = read && !dated(s), shownSpan(t, us)
	} else {
		m, read := moment(ctx, s)
		ok, out = read && dashed(s), m.Format("2006-01-02")
		if d := t.(sql.DatetimeType); !types.IsDateType(t) {
			v, err := d.SQL(ctx, nil, m)
			ok, out = ok && err == nil, v.ToString()
		}
	}
	if !ok {
		return nil, mysql.NewSQLError(1525, "HY000", "Incorrect %s value: '%s'", strings.Replace(kind, "TIMESTAMP", "DATETIME", 1), s)
	}
	return expression.NewLiteral(out, t), nil
}

// shift is DATE_ADD or DATE_SUB.
type shift struct {
	sign int64
	date sql.Expression
	by   *expression.Interval
	typ  sql.Type
	// its second child is the length, instead of the INTERVAL, which go-mysql-server takes in calls
	// of its own functions only
	lengthAlone bool
}

var _ sql.FunctionExpression = (*shift)(nil)

func newShift(ctx *sql.Context, sign int64, date sql.Expression, by *expression.Interval) *shift {
	return &shift{sign: sign, date: date, by: by, typ: shiftedType(ctx, date.Type(ctx), by)}
}

// shiftedType is the type of DATE_ADD: a DATE stays one by whole days, a TIME by days and less, and
// a text or a number becomes a text. There are as many digits of a second as the one or the other
// has.
func shiftedType(ctx *sql.Context, t sql.Type, by *expression.Interval) sql.Type {
	months, whole := strings.Contains(by.Unit, "MONTH") || by.Unit == "YEAR" || by.Unit == "QUARTER", false
	whole = months || by.Unit == "WEEK" || by.Unit == "DAY"
	digits := 0
	switch n := by.Child.Type(ctx); {
	case strings.HasSuffix(by.Unit, "MICROSECOND"):
		digits = 6
	case by.Unit == "SECOND" && !types.IsInteger(n):
		digits = 6
		if d, ok := n.(sql.DecimalType); ok {
			digits = min(int(d.Scale()), 6)
		}
	}
	switch {
	case types.IsDateType(t) && whole:
		return types.Date
	case IsTimespan(t) && !months && by.Unit != "WEEK":
		return TimeType(max(digits, SpanDigits(t)))
	case IsTimespan(t):
		return types.DatetimeMaxPrecision
	case types.IsTime(t):
		return types.MustCreateDatetimeType(sqltypes.Datetime, max(digits, t.(sql.DatetimeType).Precision()))
	case types.IsDeferredType(t):
		if whole {
			return types.Date
		}
		return types.DatetimeMaxPrecision
	case t == types.Null:
		return t
	}
	return types.LongText
}

// Eval implements sql.Expression.
func (s *shift) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evaluated(ctx, s.date, row)
	if err != nil || v == nil {
		return nil, err
	}
	n, err := s.by.Child.Eval(ctx, row)
	if err != nil || n == nil {
		return nil, err
	}
	months, us, ok := lengthOfInterval(ctx, n, s.by.Unit)
	if !ok {
		return nil, nil
	}
	months, us = s.sign*months, s.sign*us
	_, timed := v.(types.Timespan)
	if IsTimespan(s.typ) || timed {
		by, ok := span(ctx, v)
		if sum := by + us; !ok || IsTimespan(s.typ) {
			if !ok || max(sum, -sum) > maxSpan {
				return nil, nil
			}
			return timeOf(sum), nil
		}
		v = todayAt(ctx, by)
	}
	m, ok := moment(ctx, v)
	if !ok {
		ctx.Warn(1292, "Incorrect datetime value: '%v'", v)
		return nil, nil
	}
	if m, ok = shifted(m, months, us); !ok {
		return nil, nil
	}
	if !types.IsText(s.typ) {
		return m, nil
	}
	text := momentText(m)
	if s, _ := text0(ctx, v); !strings.ContainsAny(strings.TrimSpace(s), " :T") && len(s) <= 10 && us%86400e6 == 0 {
		text = text[:len("2006-01-02")]
	}
	return text, nil
}

// text0 is a value as text, without leading blanks.
func text0(ctx *sql.Context, v any) (string, bool) {
	s, ok := text(ctx, v)
	return strings.TrimLeft(s, " "), ok
}

// shifted moves a moment by months, where the day is at most the last of the month, and then by
// microseconds. It stays within the years 1 to 9999.
func shifted(m time.Time, months, us int64) (time.Time, bool) {
	const most = 120000
	if months > most || months < -most {
		return m, false
	}
	if months != 0 {
		first := time.Date(m.Year(), m.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		m = first.AddDate(0, 0, min(m.Day(), last)-1).Add(time.Duration(clockOf(m)) * time.Microsecond)
	}
	day, rest := us/86400e6, us%86400e6
	if day > 4e6 || day < -4e6 {
		return m, false
	}
	m = m.AddDate(0, 0, int(day)).Add(time.Duration(rest) * time.Microsecond)
	return m, m.Year() >= 1 && m.Year() <= 9999
}

// parts of the units that are several, the least one last.
var compositeUnits = map[string][]int64{
	"YEAR_MONTH": {12, 1}, "DAY_HOUR": {86400e6, 3600e6}, "DAY_MINUTE": {86400e6, 3600e6, 60e6}, "DAY_SECOND": {86400e6, 3600e6, 60e6, 1e6},
	"DAY_MICROSECOND": {86400e6, 3600e6, 60e6, 1e6, 1}, "HOUR_MINUTE": {3600e6, 60e6}, "HOUR_SECOND": {3600e6, 60e6, 1e6},
	"HOUR_MICROSECOND": {3600e6, 60e6, 1e6, 1}, "MINUTE_SECOND": {60e6, 1e6}, "MINUTE_MICROSECOND": {60e6, 1e6, 1}, "SECOND_MICROSECOND": {1e6, 1},
}

var simpleUnits = map[string]int64{
	"YEAR": 12, "QUARTER": 3, "MONTH": 1, "WEEK": 7 * 86400e6, "DAY": 86400e6, "HOUR": 3600e6, "MINUTE": 60e6, "SECOND": 1e6, "MICROSECOND": 1,
}

// lengthOfInterval is INTERVAL v unit, in months and in microseconds. Of several units, v has the
// numbers with anything between them; where there are fewer, they are the last ones.
func lengthOfInterval(ctx *sql.Context, v any, unit string) (months, us int64, ok bool) {
	n := 0.0
	if parts, several := compositeUnits[unit]; several {
		s, read := text0(ctx, v)
		if n, ok = composite(s, parts, strings.HasSuffix(unit, "MICROSECOND")); !read || !ok {
			return 0, 0, false
		}
	} else {
		size := simpleUnits[unit]
		if unit == "SECOND" {
			f, read := leadingFloat(ctx, v)
			n, ok = math.Round(f*1e6), read
		} else {
			whole, read := wholeNumber(ctx, v)
			n, ok = float64(whole)*float64(size), read
		}
		if !ok || size == 0 {
			return 0, 0, false
		}
	}
	if math.Abs(n) > 1<<62 {
		return 0, 0, false
	}
	if strings.HasSuffix(unit, "MONTH") || unit == "YEAR" || unit == "QUARTER" {
		return int64(n), 0, true
	}
	return 0, int64(n), true
}

// composite adds up the numbers of a text. A last one of microseconds is a fraction's digits.
func composite(s string, parts []int64, fraction bool) (float64, bool) {
	negative := strings.HasPrefix(s, "-")
	groups := numbersIn(s)
	if len(groups) > len(parts) {
		return 0, false
	}
	total := 0.0
	for i, g := range groups {
		size := parts[len(parts)-len(groups)+i]
		if fraction && i == len(groups)-1 && len(g) < 6 {
			g += strings.Repeat("0", 6-len(g))
		}
		x := 0.0
		if _, err := fmt.Sscanf(g, "%f", &x); err != nil {
			return 0, false
		}
		total += x * float64(size)
	}
	if negative {
		total = -total
	}
	return total, true
}

// leadingFloat is the number that a value is, or that a text begins with.
func leadingFloat(ctx *sql.Context, v any) (float64, bool) {
	if s, ok := plainText(v); ok {
		x := 0.0
		_, _ = fmt.Sscanf(strings.TrimLeft(s, " "), "%f", &x) // 0 where it begins with none
		return x, !math.IsInf(x, 0)
	}
	return float(ctx, v)
}

// wholeNumber rounds a number, DOUBLEs half to even, and cuts that of a text.
func wholeNumber(ctx *sql.Context, v any) (int64, bool) {
	if s, ok := plainText(v); ok {
		x, read := leadingFloat(ctx, s)
		return int64(x), read && math.Abs(x) < 1<<62
	}
	if x, ok := v.(float64); ok {
		return int64(math.RoundToEven(x)), math.Abs(x) < 1<<62
	}
	return integer(ctx, v)
}

// FunctionName implements sql.FunctionExpression.
func (s *shift) FunctionName() string {
	if s.sign < 0 {
		return "date_sub"
	}
	return "date_add"
}

// Description implements sql.FunctionExpression.
func (s *shift) Description() string { return "moves a date or time by an interval." }

// Type implements sql.Expression.
func (s *shift) Type(*sql.Context) sql.Type { return s.typ }

// IsNullable implements sql.Expression.
func (s *shift) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (s *shift) Resolved() bool { return s.date.Resolved() && s.by.Resolved() }

// Children implements sql.Expression.
func (s *shift) Children() []sql.Expression {
	if s.lengthAlone {
		return []sql.Expression{s.date, s.by.Child}
	}
	return []sql.Expression{s.date, s.by}
}

// WithChildren implements sql.Expression.
func (s *shift) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	by, ok := children[1].(*expression.Interval)
	if !ok {
		by = expression.NewInterval(children[1], s.by.Unit)
	}
	n := newShift(ctx, s.sign, children[0], by)
	n.lengthAlone = s.lengthAlone
	return n, nil
}

// closed is the call as it is evaluated; nil where it is that.
func (s *shift) closed() sql.Expression {
	if s.lengthAlone {
		return nil
	}
	n := *s
	n.lengthAlone = true
	return &n
}

func (s *shift) String() string { return fmt.Sprintf("%s(%s,%s)", s.FunctionName(), s.date, s.by) }

// CollationCoercibility implements sql.CollationCoercible.
func (s *shift) CollationCoercibility(ctx *sql.Context) (collation sql.CollationID, coercibility byte) {
	return ctx.GetCollation(), 4
}

// spanType is TIME(digits). go-mysql-server has one type for all of them, which is TIME without
// digits here.
type spanType struct {
	types.TimespanType_
	digits int
}

// TimeType is TIME(digits).
func TimeType(digits int) sql.Type {
	if digits <= 0 {
		return types.Time
	}
	return spanType{digits: min(digits, 6)}
}

// IsTimespan reports whether a type is TIME, with digits or without.
func IsTimespan(t sql.Type) bool {
	_, digits := t.(spanType)
	return digits || types.IsTimespan(t)
}

// SpanDigits is n of TIME(n).
func SpanDigits(t sql.Type) int {
	s, _ := t.(spanType)
	return s.digits
}

// SecondDigits is n of TIME(n), for what describes results.
func (t spanType) SecondDigits() int { return t.digits }

// Equals implements sql.Type.
func (t spanType) Equals(o sql.Type) bool { return t == o }

// Promote implements sql.Type.
func (t spanType) Promote() sql.Type { return t }

// String implements sql.Type.
func (t spanType) String() string { return fmt.Sprintf("time(%d)", t.digits) }

// SQL implements sql.Type.
func (t spanType) SQL(_ *sql.Context, dest []byte, v any) (sqltypes.Value, error) {
	if v == nil {
		return sqltypes.NULL, nil
	}
	by, err := t.ConvertToTimespan(v)
	if err != nil {
		return sqltypes.NULL, err
	}
	return sqltypes.MakeTrusted(sqltypes.Time, append(dest, t.text(by.AsMicroseconds())...)), nil
}

// text writes a TIME with the digits of its type.
func (t spanType) text(us int64) string {
	return formatSpan(us, "%H:%i:%s") + fmt.Sprintf(".%06d", max(us, -us)%1e6)[:1+t.digits]
}

// shownSpan writes a TIME of a type.
func shownSpan(t sql.Type, us int64) string {
	if s, ok := t.(spanType); ok {
		return s.text(us)
	}
	return spanText(us)
}

// secondDigits are the digits of a second that MySQL expects of a value that is read as a date or
// time: those of a constant text, six of another one.
func secondDigits(ctx *sql.Context, e sql.Expression) int {
	t := e.Type(ctx)
	switch d := t.(type) {
	case spanType:
		return d.digits
	case sql.DatetimeType:
		if types.IsDateType(t) {
			return 0
		}
		return d.Precision()
	case sql.DecimalType:
		return min(int(d.Scale()), 6)
	}
	switch {
	case types.IsText(t) && isLiteral(e):
		s, _ := plainText(e.(*expression.Literal).Value())
		_, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
		return min(len(fraction)-len(strings.TrimLeft(fraction, "0123456789")), 6)
	case types.IsText(t), member(t), types.IsFloat(t), types.IsJSON(t), types.IsDeferredType(t):
		return 6
	}
	return 0
}

// spanOf is the type of a TIME that is made of arguments, with as many digits as one of them has.
func spanOf(ctx *sql.Context, args []sql.Expression) sql.Type {
	return TimeType(mostDigits(ctx, args))
}

func mostDigits(ctx *sql.Context, args []sql.Expression) (digits int) {
	for _, a := range args {
		digits = max(digits, secondDigits(ctx, a))
	}
	return digits
}

// secondsType is the type of a TIME whose seconds are a number, the last argument. A text has six
// digits then.
func secondsType(ctx *sql.Context, args []sql.Expression) sql.Type {
	last := args[len(args)-1]
	if types.IsText(last.Type(ctx)) {
		return TimeType(6)
	}
	return TimeType(secondDigits(ctx, last))
}
