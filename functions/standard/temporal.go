package standard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Dates and times as operands. MySQL decides by the type what a date is where a number or a text is
// wanted: the DATE 2020-01-31 is 20200131 and '2020-01-31', a DATETIME(1) 20200131101112.5, and a
// TIME 101112. go-mysql-server decides by the value, which does not tell a DATE from a DATETIME.

func temporal(t sql.Type) bool { return types.IsTime(t) || types.IsTimespan(t) }

// as is an expression with another type and value. NULL stays NULL.
func as(ctx *sql.Context, name string, e sql.Expression, t sql.Type, eval func(ctx *sql.Context, v any) (any, error)) sql.Expression {
	return newCall(ctx, &function{name: name, min: 1, max: 1, typ: t, unseen: true,
		eval: func(ctx *sql.Context, a []any) (any, error) { return eval(ctx, a[0]) }}, []sql.Expression{e})
}

// digitsType is the type of a date or time as a number: whole without a fraction of seconds, else a
// DECIMAL with the digits of the fraction.
func digitsType(t sql.Type) (typ sql.Type, precision, scale int) {
	d, ok := t.(sql.DatetimeType)
	switch {
	case !ok:
		precision, scale = 7, 6
	case types.IsDateType(t):
		return types.Int64, 8, 0
	default:
		precision, scale = 14, d.Precision()
	}
	if scale == 0 {
		return types.Int64, precision, 0
	}
	return types.MustCreateDecimalType(uint8(precision+scale), uint8(scale)), precision + scale, scale
}

// digitsOf is a date or time of a type as a number with so many digits of a fraction; nil where the
// value is none.
func digitsOf(ctx *sql.Context, t sql.Type, v any, scale int) (any, error) {
	var n, us int64
	sign := ""
	if types.IsTimespan(t) {
		by, ok := span(ctx, v)
		if !ok {
			return nil, nil
		}
		if by < 0 {
			sign, by = "-", -by
		}
		n, us = by/3600e6*10000+by/60e6%60*100+by/1e6%60, by%1e6
	} else {
		m, ok := moment(ctx, v)
		if !ok {
			return nil, nil
		}
		n = int64(m.Year())*10000 + int64(m.Month())*100 + int64(m.Day())
		if !types.IsDateType(t) {
			n = n*1000000 + int64(m.Hour())*10000 + int64(m.Minute())*100 + int64(m.Second())
		}
		us = int64(m.Nanosecond() / 1000)
	}
	if scale == 0 {
		if sign != "" {
			n = -n
		}
		return n, nil
	}
	d, _, err := apd.NewFromString(fmt.Sprintf("%s%d.%s", sign, n, fmt.Sprintf("%06d", us)[:scale]))
	return d, err
}

// inDigits is a date or time as a number.
func inDigits(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	typ, _, scale := digitsType(t)
	return as(ctx, "digits", e, typ, func(ctx *sql.Context, v any) (any, error) { return digitsOf(ctx, t, v, scale) })
}

// inWholeDigits is inDigits without a fraction, which is cut off.
func inWholeDigits(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	return as(ctx, "digits", e, types.Int64, func(ctx *sql.Context, v any) (any, error) { return digitsOf(ctx, t, v, 0) })
}

// inWords is a date or time as a text.
func inWords(ctx *sql.Context, e sql.Expression) sql.Expression {
	t := e.Type(ctx)
	if now, ok := e.(*gms.Now); ok && len(now.Children()) == 1 {
		if n, constant := constantOf(ctx, now.Children()[0]); constant && n >= 0 && n <= 6 {
			t = types.MustCreateDatetimeType(sqltypes.Datetime, n)
		}
	}
	return as(ctx, "words", e, types.LongText, func(ctx *sql.Context, v any) (any, error) {
		if s, ok := v.(types.Timespan); ok {
			return spanText(s.AsMicroseconds()), nil
		} else if s, ok := v.(string); ok && types.IsTimespan(t) {
			return s, nil // of CURTIME
		}
		if m, ok := v.(time.Time); ok && m.Year() > 0 { // cut, as NOW() has more digits than its type
			form := "2006-01-02 15:04:05.000000"
			if d, ok := t.(sql.DatetimeType); types.IsDateType(t) {
				form = form[:10]
			} else if ok {
				form = strings.TrimSuffix(form[:20+d.Precision()], ".")
			}
			return m.Format(form), nil
		}
		s, err := t.SQL(ctx, nil, v)
		return s.ToString(), err
	})
}

// cast is CAST to DATE, DATETIME or TIME, which are rounded to so many digits of a second.
func cast(ctx *sql.Context, e sql.Expression, t sql.Type, digits int) sql.Expression {
	unit := time.Second
	for range digits {
		unit /= 10
	}
	if types.IsText(e.Type(ctx)) {
		e = &checked{Expression: e}
	}
	return as(ctx, "cast", e, t, func(ctx *sql.Context, v any) (any, error) {
		if types.IsTimespan(t) {
			us, ok := span(ctx, v)
			if !ok {
				return nil, nil
			}
			return timeOf(time.Duration(us * 1000).Round(unit).Microseconds()), nil
		}
		m, ok := moment(ctx, v)
		if s, timed := v.(types.Timespan); timed {
			m, ok = todayAt(ctx, s.AsMicroseconds()), true
		}
		switch {
		case !ok:
			if s, isText := plainText(v); isText && types.IsZeroTimestampStr(strings.TrimSpace(s)) {
				return types.ZeroTime, nil // which no column takes
			}
			return nil, nil
		case types.IsDateType(t):
			return m.Truncate(24 * time.Hour), nil
		}
		if m = m.Round(unit); m.Year() > 9999 {
			return nil, nil
		}
		return m, nil
	})
}

// todayAt is the moment that MySQL reads a TIME as where it wants one.
func todayAt(ctx *sql.Context, us int64) time.Time {
	t := ctx.QueryTime()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Add(time.Duration(us) * time.Microsecond)
}

// Functions that take numbers, and texts; others take dates and times themselves, or values of any
// type.
var (
	takeNumbers = set("sum avg abs acos asin atan atan2 bit_count ceil ceiling cos cot degrees exp floor ln log log10 log2 mod pow power radians round sign " +
		"sin sqrt tan truncate interval bit_and bit_or bit_xor bitand bitor bitxor stddevpop stddevsamp varpop varsamp std stddev stddev_pop stddev_samp variance var_pop var_samp")
	takeTexts = set("concat concat_ws left right substring substr mid replace insert hex length octet_length bit_length char_length character_length ascii ord " +
		"crc32 md5 sha sha1 sha2 strcmp instr lower lcase upper ucase locate position lpad rpad ltrim rtrim trim repeat reverse soundex quote to_base64 " +
		"substring_index find_in_set field elt group_concat regexp_like regexp_instr regexp_substr regexp_replace bin oct conv export_set make_set char @:=")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// operands gives the operands of an expression that are dates or times the type that the expression
// takes. It returns nil where there is nothing to change.
func operands(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	list := slices.Clone(e.Children())
	is := func(test func(sql.Type) bool) bool {
		return slices.ContainsFunc(list, func(c sql.Expression) bool { return test(c.Type(ctx)) })
	}
	each := func(of func(*sql.Context, sql.Expression) sql.Expression) (sql.Expression, error) {
		for i, c := range list {
			if temporal(c.Type(ctx)) {
				list[i] = of(ctx, c)
			}
		}
		return withOperands(ctx, e, list)
	}
	if c, ok := e.(*expression.Convert); ok && e.Resolved() {
		switch t := c.Type(ctx); {
		case types.IsTimespan(t), types.IsDatetimeType(t), types.IsDateType(t):
			return cast(ctx, c.Child, t, castDigits(ctx, c)), nil
		case !is(temporal), types.IsJSON(t):
			return nil, nil
		case types.IsText(t), types.IsBinaryType(t):
			return each(inWords)
		case types.IsInteger(t):
			return each(inWholeDigits)
		}
		return each(inDigits)
	}
	switch e.(type) {
	case expression.Tuple, *expression.Interval, *expression.Alias, *plan.InSubquery:
		return nil, nil
	}
	if len(list) == 0 || !e.Resolved() {
		return nil, nil
	}
	switch e := e.(type) {
	case *shift:
		return e.closed(), nil
	case *gms.Extract:
		return newCall(ctx, extract, list), nil
	case *Over: // whose arguments come behind what its window is of
		first, changed := len(list)-len(e.Args()), false
		for i := first; i < len(list) && takeNumbers[e.Name]; i++ {
			if temporal(list[i].Type(ctx)) {
				list[i], changed = inDigits(ctx, list[i]), true
			}
		}
		if !changed {
			return nil, nil
		}
		return withOperands(ctx, e, list)
	}
	if _, in := e.(*expression.InTuple); in {
		if t, ok := list[1].(expression.Tuple); ok {
			return inList(ctx, e, list[0], t)
		}
		return nil, nil
	}
	if !is(temporal) {
		return nil, nil
	}
	switch e := e.(type) {
	case *expression.Arithmetic, *expression.Div, *expression.IntDiv, *expression.Mod, *expression.UnaryMinus, *expression.BitOp:
		if slices.ContainsFunc(list, isInterval) {
			return nil, nil
		}
		return each(inDigits)
	case *expression.Like, *expression.Binary:
		return each(inWords)
	case expression.Comparer, *expression.Between, *gms.NullIf:
		if compared(ctx, list) {
			return withOperands(ctx, e, list)
		}
		return nil, nil
	}
	if f, ok := e.(sql.FunctionExpression); ok {
		switch name := strings.ToLower(f.FunctionName()); {
		case takeNumbers[name]:
			return each(inDigits)
		case name == "format":
			list[0] = inDigits(ctx, list[0])
			return withOperands(ctx, e, list)
		case takeTexts[name]:
			return each(inWords)
		case strings.HasPrefix(name, "json_"):
			return each(func(ctx *sql.Context, c sql.Expression) sql.Expression {
				if types.IsDateType(c.Type(ctx)) { // others have all six digits in JSON
					return inWords(ctx, c)
				}
				return c
			})
		}
	}
	if c, ok := e.(*expression.Case); len(choices(e)) > 0 && types.IsText(e.Type(ctx)) && (!ok || c.Expr == nil) {
		t := extremeType(ctx, choices(e))
		for i, x := range list {
			if !temporal(x.Type(ctx)) || !slices.Contains(choices(e), x) {
				continue
			}
			if d, ok := t.(sql.DatetimeType); ok {
				x = cast(ctx, x, d, d.Precision()) // of a DATE and a DATETIME
			}
			list[i] = inWords(ctx, x)
		}
		return withOperands(ctx, e, list)
	}
	return nil, nil
}

// withOperands is an expression with other operands. Some lose the id of their column by that.
func withOperands(ctx *sql.Context, e sql.Expression, list []sql.Expression) (sql.Expression, error) {
	out, err := e.WithChildren(ctx, list...)
	if id, ok := e.(sql.IdExpression); ok && err == nil {
		out = out.(sql.IdExpression).WithId(id.Id()).(sql.Expression)
	}
	return out, err
}

func isInterval(e sql.Expression) bool { _, ok := e.(*expression.Interval); return ok }

// castDigits is the n of CAST(x AS DATETIME(n)) or TIME(n), which the node keeps to itself except
// in its text.
func castDigits(_ *sql.Context, c *expression.Convert) (n int) {
	s := c.String()
	if at := strings.LastIndexByte(s, '('); strings.HasSuffix(s, "))") {
		_, _ = fmt.Sscanf(s[at:], "(%d))", &n) // 0 where there is none
	}
	return min(n, 6)
}

// compared brings the operands of a comparison together where one is a date or time and another is
// none, and reports whether it has changed any. A constant number beside a date is a date where it
// can be one, else dates are numbers beside numbers.
func compared(ctx *sql.Context, list []sql.Expression) bool {
	var dates, times, years, numbers, texts bool
	readable := true
	for _, e := range list {
		t := e.Type(ctx)
		dates, times, years = dates || types.IsTime(t), times || types.IsTimespan(t), years || types.IsYear(t)
		if types.IsNumber(t) {
			numbers = true
			l, ok := e.(*expression.Literal)
			if ok {
				_, ok = moment(ctx, l.Value())
			}
			readable = readable && ok
		}
		texts = texts || types.IsText(t)
	}
	if !dates && !times || !numbers && !texts {
		return false
	}
	changed := false
	for i, e := range list {
		switch t := e.Type(ctx); {
		case years && dates && !times: // a year is the number that a date begins with
			if !types.IsTime(t) {
				continue
			}
			list[i] = inWords(ctx, e)
		case numbers && temporal(t) && (times || !readable):
			list[i] = inDigits(ctx, e)
		case dates && types.IsNumber(t) && readable && !times:
			list[i] = cast(ctx, e, types.DatetimeMaxPrecision, 6)
		case dates && !numbers && types.IsText(t) && !isLiteral(e):
			list[i] = cast(ctx, e, types.DatetimeMaxPrecision, 6) // NULL where it is none, and no error
		case times && !dates && !numbers && types.IsText(t):
			list[i] = cast(ctx, e, types.Time, 6)
		default:
			continue
		}
		changed = true
	}
	return changed
}

func isLiteral(e sql.Expression) bool { _, ok := e.(*expression.Literal); return ok }

// inList is compared for left IN (list).
func inList(ctx *sql.Context, e, left sql.Expression, t expression.Tuple) (sql.Expression, error) {
	list := append([]sql.Expression{left}, t...)
	if slices.ContainsFunc(list, func(e sql.Expression) bool { return types.IsTuple(e.Type(ctx)) }) || !compared(ctx, list) {
		return nil, nil
	}
	return e.WithChildren(ctx, list[0], expression.Tuple(list[1:]))
}

// extract is EXTRACT(unit FROM date or time). A TIME, also in a text, has hours beyond 24.
var extract = &function{name: "extract", min: 2, max: 2, typ: types.Int64, doc: "returns parts of a date or time.",
	eval: func(ctx *sql.Context, a []any) (any, error) {
		unit, _ := a[0].(string)
		var t time.Time
		us, sign, ok := int64(0), int64(1), false
		s, isText := plainText(a[1])
		_, isTime := a[1].(types.Timespan)
		if dateUnit := strings.ContainsAny(unit[:1], "YQW") || unit == "MONTH" || unit == "DAY"; !dateUnit && (isTime || isText && !dated(s)) {
			if us, ok = span(ctx, a[1]); us < 0 {
				us, sign = -us, -1
			}
		} else if t, ok = moment(ctx, a[1]); ok {
			us = clockOf(t)
		}
		if isTime && !ok {
			t, ok = todayAt(ctx, 0), true
		}
		if x, number := float(ctx, a[1]); !ok && !isText && number && x == 0 {
			return int64(0), nil // the date 0000-00-00
		}
		if !ok {
			return nil, nil
		}
		switch unit {
		case "YEAR":
			return int64(t.Year()), nil
		case "QUARTER":
			return int64(t.Month()+2) / 3, nil
		case "MONTH":
			return int64(t.Month()), nil
		case "YEAR_MONTH":
			return int64(t.Year())*100 + int64(t.Month()), nil
		case "WEEK":
			week := *byName["week"]
			return week.eval(ctx, []any{t})
		case "DAY":
			return int64(t.Day()), nil
		}
		values, widths := []int64{us / 3600e6, us / 60e6 % 60, us / 1e6 % 60, us % 1e6}, []int64{100, 100, 100, 1000000}
		names := []string{"HOUR", "MINUTE", "SECOND", "MICROSECOND"}
		from, to, both := strings.Cut(unit, "_")
		if !both {
			to = from
		}
		n := int64(0)
		if from == "DAY" && !isTime && (!isText || dated(s)) {
			n = int64(t.Day())
		}
		for i := max(slices.Index(names, from), 0); i <= slices.Index(names, to); i++ {
			n = n*widths[i] + values[i]
		}
		return sign * n, nil
	}}

// alikeDates gives columns of a UNION that are a DATE on the one side and a DATETIME on the other
// one form: go-mysql-server makes both of them texts.
func alikeDates(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	u, ok := n.(*plan.SetOp)
	if !ok {
		return n, transform.SameTree, nil
	}
	l, isL := u.Left().(*plan.Project)
	r, isR := u.Right().(*plan.Project)
	if !isL || !isR || len(l.Projections) != len(r.Projections) {
		return n, transform.SameTree, nil
	}
	sides := [2][]sql.Expression{slices.Clone(l.Projections), slices.Clone(r.Projections)}
	same := transform.SameTree
	for i := range sides[0] {
		var values [2]sql.Expression
		for k := range sides {
			transform.InspectExpr(ctx, sides[k][i], func(ctx *sql.Context, e sql.Expression) bool {
				if c, ok := e.(*expression.Convert); ok && types.IsText(c.Type(ctx)) && types.IsTime(c.Child.Type(ctx)) && values[k] == nil {
					values[k] = c.Child
				}
				return false
			})
		}
		if values[0] == nil || values[1] == nil {
			continue
		}
		t := extremeType(ctx, values[:]).(sql.DatetimeType)
		for k := range sides {
			x, identity, err := transform.Expr(ctx, sides[k][i], func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
				if c, ok := e.(*expression.Convert); ok && c.Child == values[k] {
					e, err := c.WithChildren(ctx, cast(ctx, c.Child, t, t.Precision()))
					return e, transform.NewTree, err
				}
				return e, transform.SameTree, nil
			})
			if err != nil {
				return n, same, err
			}
			sides[k][i], same = x, same && identity
		}
	}
	if same {
		return n, same, nil
	}
	out, err := u.WithChildren(ctx, plan.NewProject(ctx, sides[0], l.Child), plan.NewProject(ctx, sides[1], r.Child))
	return out, transform.NewTree, err
}
