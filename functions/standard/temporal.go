package standard

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/lists"
)

// Dates and times as operands. MySQL decides by the type what a date is where a number or a text is
// wanted: the DATE 2020-01-31 is 20200131 and '2020-01-31', a DATETIME(1) 20200131101112.5, and a
// TIME 101112. go-mysql-server decides by the value, which does not tell a DATE from a DATETIME.

func temporal(t sql.Type) bool { return types.IsTime(t) || IsTimespan(t) }

// Functions that take numbers, and texts; others take dates and times themselves, or values of any
// type.
var (
	takeNumbers = lists.Words("sum avg abs acos asin atan atan2 bit_count ceil ceiling cos cot degrees exp floor ln log log10 log2 mod pow power radians round sign " +
		"sin sqrt tan truncate interval bit_and bit_or bit_xor bitand bitor bitxor sec_to_time stddevpop stddevsamp varpop varsamp std stddev stddev_pop stddev_samp variance var_pop var_samp")
	takeOnlyTexts = lists.Words("length octet_length bit_length char_length character_length md5 sha sha1 to_base64 find_in_set reverse")
	takeTexts     = lists.Words("concat concat_ws left right substring substr mid replace insert hex length octet_length bit_length char_length character_length ascii ord " +
		"crc32 md5 sha sha1 sha2 strcmp instr lower lcase upper ucase locate position lpad rpad ltrim rtrim trim repeat reverse soundex quote to_base64 " +
		"substring_index find_in_set field elt group_concat regexp_like regexp_instr regexp_substr regexp_replace bin oct conv export_set make_set char @:=")
)

// operands gives the operands of an expression that are dates or times the type that the expression
// takes. It returns nil where there is nothing to change.
func operands(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	list := slices.Clone(e.Children())
	is := func(test func(sql.Type) bool) bool {
		return slices.ContainsFunc(list, func(c sql.Expression) bool { return test(c.Type(ctx)) })
	}
	each := func(of func(*sql.Context, sql.Expression) sql.Expression) (sql.Expression, error) {
		for i, c := range list {
			if d, ok := c.(*expression.DistinctExpression); ok && temporal(c.Type(ctx)) {
				list[i] = expression.NewDistinctExpression(of(ctx, d.Child))
			} else if temporal(c.Type(ctx)) {
				list[i] = of(ctx, c)
			}
		}
		return withOperands(ctx, e, list)
	}
	if c, ok := e.(*expression.Convert); ok && e.Resolved() {
		switch t := c.Type(ctx); {
		case IsTimespan(t), types.IsDatetimeType(t), types.IsDateType(t):
			if member(c.Child.Type(ctx)) {
				list[0] = inText(ctx, c.Child)
			}
			return cast(ctx, list[0], t, castDigits(ctx, c)), nil
		case types.IsText(t) && is(shownOtherwise):
			list[0] = inText(ctx, list[0])
			return withOperands(ctx, e, list)
		case types.IsFloat(c.Child.Type(ctx)) && types.IsInteger(t): // UNSIGNED has the same bits
			return as(ctx, "cast", c.Child, t, func(ctx *sql.Context, v any) (any, error) {
				n := nearestInteger(doubleOf(ctx, v))
				if t == types.Uint64 {
					return uint64(n), nil
				}
				return n, nil
			}), nil
		case !is(temporal):
			return nil, nil
		case types.IsJSON(t):
			return inJSON(ctx, list[0]), nil
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
	switch e.(type) {
	case *expression.Arithmetic, *expression.Div, *expression.IntDiv, *expression.Mod, *expression.UnaryMinus:
		changed := false
		for i, c := range list {
			if s, ok := Untyped(c).(*shift); ok && types.IsTextOnly(s.typ) {
				list[i], changed = inDouble(ctx, c), true
			}
		}
		if changed {
			return withOperands(ctx, e, list)
		}
	}
	if !is(func(t sql.Type) bool { return temporal(t) || shownOtherwise(t) }) {
		return nil, nil
	}
	if f, ok := e.(sql.FunctionExpression); !is(temporal) && (!ok || !takeTexts[strings.ToLower(f.FunctionName())] && !strings.HasPrefix(f.FunctionName(), "json_")) {
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
			for i, c := range list {
				if t := c.Type(ctx); name != "@:=" && name != "group_concat" && member(t) || types.IsFloat(t) && takeOnlyTexts[name] {
					list[i] = inText(ctx, c)
				}
			}
			return each(inWords)
		case strings.HasPrefix(name, "json_"):
			for i, c := range list {
				switch t := c.Type(ctx); {
				case member(t):
					list[i] = inText(ctx, c)
				case types.IsBit(t): // bytes of a type of their own
					n := int(t.(types.BitType).NumberOfBits()+7) / 8
					list[i] = as(ctx, "words", c, types.LongText, func(ctx *sql.Context, v any) (any, error) {
						b := binary.BigEndian.AppendUint64(nil, bitsOf(ctx, v))
						return "base64:type16:" + base64.StdEncoding.EncodeToString(b[8-n:]), nil
					})
				}
			}
			return each(func(ctx *sql.Context, c sql.Expression) sql.Expression {
				switch t := c.Type(ctx); { // all but days have six digits in JSON
				case types.IsDateType(t):
					return inWords(ctx, c)
				case IsTimespan(t):
					return inWords(ctx, cast(ctx, c, TimeType(6), 6))
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
		if to, ok := out.(sql.IdExpression); ok && to.Id() != id.Id() {
			out = to.WithId(id.Id()).(sql.Expression)
		}
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
func compared(ctx *sql.Context, list []sql.Expression) (changed bool) {
	var dates, times, years, numbers, texts, open bool // open: a text that is no constant
	readable := true
	for _, e := range list {
		t := e.Type(ctx)
		open = open || (types.IsText(t) || member(t)) && !isLiteral(e)
		dates, times, years = dates || types.IsTime(t), times || IsTimespan(t), years || types.IsYear(t)
		if types.IsNumber(t) {
			numbers = true
			l, ok := e.(*expression.Literal)
			if ok {
				_, ok = moment(ctx, l.Value())
			}
			readable = readable && ok
		}
		texts = texts || types.IsText(t) || member(t)
	}
	for i, e := range list { // TIME as go-mysql-server knows it
		if !numbers && !texts && !dates && SpanDigits(e.Type(ctx)) > 0 {
			list[i], changed = cast(ctx, e, types.Time, 6), true
		}
	}
	if !dates && !times || !numbers && !texts && !(dates && times) {
		return changed
	}
	for i, e := range list {
		switch t := e.Type(ctx); {
		case years && dates && !times: // a year is before all of its days
			switch {
			case types.IsTime(t):
				list[i] = inWords(ctx, e)
			case types.IsYear(t):
				list[i] = as(ctx, "words", e, types.LongText, func(ctx *sql.Context, v any) (any, error) {
					s, err := words(ctx, v, types.Year)
					return s + "-00-00", err
				})
			default:
				continue
			}
		case numbers && temporal(t) && (times || !readable):
			list[i] = inDigits(ctx, e)
		case dates && types.IsNumber(t) && readable && !times:
			list[i] = cast(ctx, e, types.DatetimeMaxPrecision, 6)
		case dates && !numbers && IsTimespan(t): // of today
			list[i] = cast(ctx, e, types.DatetimeMaxPrecision, 6)
		case dates && !numbers && isLiteral(e) && types.IsText(t):
			if !isNoMoment(ctx, e) {
				continue
			}
			list[i] = noMoment(ctx, e, list)
		case dates && !numbers && len(list) == 2 && (types.IsText(t) || member(t)) && !isLiteral(e):
			list[i] = dateText(ctx, e)
		case dates && !numbers && types.IsText(t) && !isLiteral(e):
			list[i] = cast(ctx, e, types.DatetimeMaxPrecision, 6) // two texts that are no dates are not equal
		case times && !dates && !numbers && types.IsText(t) && isLiteral(e) && !open:
			list[i] = cast(ctx, e, types.Time, 6)
		case times && !dates && !numbers && open && (IsTimespan(t) || member(t)): // which are texts, then
			list[i] = inWords(ctx, e)
		default:
			continue
		}
		changed = true
	}
	return changed
}

// isNoMoment reports whether a constant text cannot be read as a date.
func isNoMoment(ctx *sql.Context, e sql.Expression) bool {
	s, ok := plainText(e.(*expression.Literal).Value())
	_, read := moment(ctx, s)
	return ok && !read && !types.IsZeroTimestampStr(strings.TrimSpace(s))
}

// noMoment is the error of a constant that is no date and is compared with one.
func noMoment(ctx *sql.Context, e sql.Expression, list []sql.Expression) sql.Expression {
	kind := "DATETIME"
	for _, o := range list {
		switch t := o.Type(ctx); {
		case types.IsTimestampType(t):
			kind = "TIMESTAMP"
		case types.IsDateType(t):
			kind = "DATE"
		}
	}
	return as(ctx, "cast", e, types.DatetimeMaxPrecision, func(_ *sql.Context, v any) (any, error) {
		s, _ := plainText(v)
		return nil, mysql.NewSQLError(mysql.ERWrongValue, "HY000", "Incorrect %s value: '%s'", kind, s)
	})
}

// dateText is a text that is compared with a date: before all dates where it is none.
func dateText(ctx *sql.Context, e sql.Expression) sql.Expression {
	if member(e.Type(ctx)) {
		e = inWords(ctx, e)
	}
	return as(ctx, "cast", &checked{texted: texted{e}}, types.DatetimeMaxPrecision, func(ctx *sql.Context, v any) (any, error) {
		if m, ok := moment(ctx, v); ok {
			return m, nil
		}
		return types.ZeroTime, nil
	})
}

// truthless reports whether MySQL reads values of a type as numbers where they are conditions.
func truthless(t sql.Type) bool { return types.IsTextOnly(t) || temporal(t) || types.IsJSON(t) }

// inTruth is such a condition as a number, which is not 0 where it is true. Documents are compared
// with 0.
func inTruth(ctx *sql.Context, e sql.Expression) sql.Expression {
	if types.IsJSON(e.Type(ctx)) {
		return as(ctx, "truth", e, types.Boolean, func(ctx *sql.Context, v any) (any, error) {
			d, err := document(ctx, v, "", 1)
			if err != nil {
				return nil, err
			}
			order, err := ranking(ctx, d, int64(0))
			return order != 0, err
		})
	}
	if temporal(e.Type(ctx)) {
		e = inDigits(ctx, e)
	}
	return inDouble(ctx, e)
}

// member reports whether values of a type are members of an ENUM or SET.
func member(t sql.Type) bool { return types.IsEnum(t) || types.IsSet(t) }

// asTexts gives an expression that takes members of an ENUM or SET as texts, or texts as numbers,
// operands that are so: comparisons with texts, MAX and MIN, and sums. It returns nil where there
// is nothing to change.
func asTexts(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	if len(e.Children()) == 0 || !e.Resolved() {
		return nil, nil
	}
	list, changed := slices.Clone(e.Children()), false
	each := func(from int, is func(sql.Type) bool, of func(*sql.Context, sql.Expression) sql.Expression) {
		for i := from; i < len(list); i++ {
			c := list[i]
			if d, ok := c.(*expression.DistinctExpression); ok && is(d.Child.Type(ctx)) {
				list[i], changed = expression.NewDistinctExpression(of(ctx, d.Child)), true
			} else if !ok && is(c.Type(ctx)) {
				list[i], changed = of(ctx, c), true
			}
		}
	}
	name, from := "", 0
	inexact := func(t sql.Type) bool { return types.IsDecimal(t) || types.IsFloat(t) }
	switch e := e.(type) {
	case *boundedCall:
		if e.FunctionName() == "hex" {
			each(0, inexact, hexNumber)
		}
	case *gms.If, *expression.Case:
		c, ok := e.(*expression.Case)
		for i := 0; i < len(list)-1 && (!ok || c.Expr == nil); i += 2 {
			if truthless(list[i].Type(ctx)) {
				list[i], changed = inTruth(ctx, list[i]), true
			}
		}
	case *expression.And, *expression.Or, *expression.Xor, *expression.Not, *expression.IsTrue:
		each(0, truthless, inTruth)
	case *Over:
		name, from = e.Name, len(list)-len(e.Args())
	case sql.Aggregation:
		name = strings.ToLower(e.(sql.FunctionExpression).FunctionName())
	case *gms.Round, *gms.Truncate, *gms.Sign:
		each(0, types.IsJSON, inDouble)
	case *expression.Arithmetic, *expression.Div, *expression.UnaryMinus:
		if !slices.ContainsFunc(list, isInterval) {
			each(0, isTextual, inDouble)
		}
	case expression.Comparer, *expression.Between:
		rows := slices.ContainsFunc(list, func(c sql.Expression) bool { _, row := c.(expression.Tuple); return row })
		is := func(test func(sql.Type) bool) bool {
			return !rows && slices.ContainsFunc(list, func(c sql.Expression) bool { return test(c.Type(ctx)) })
		}
		wordy := func(t sql.Type) bool { return isBytes(t) || member(t) }
		switch {
		case is(types.IsJSON):
			each(0, types.IsJSON, inRank)
			if q, ok := e.(expression.Equality); ok && q.RepresentsEquality() { // a join must not hash documents
				x, err := withOperands(ctx, e, list)
				return as(ctx, "equal", x, types.Boolean, func(_ *sql.Context, v any) (any, error) { return v, nil }), err
			}
		case is(member) && !is(types.IsNumber) && !is(temporal):
			each(0, member, inWords)
			if is(isBytes) {
				each(0, types.IsTextOnly, inBytes)
			}
		case !is(temporal) && !is(isBytes) && is(types.IsTextOnly) && is(isNumber) && !(slices.ContainsFunc(list, isTextConstant) && slices.ContainsFunc(list, isBigint(ctx))):
			each(0, func(sql.Type) bool { return true }, inDouble)
		case !is(temporal) && (is(wordy) && is(types.IsNumber) || is(types.IsDecimal) && (is(types.IsFloat) || is(types.IsText))):
			each(0, func(t sql.Type) bool { return wordy(t) || types.IsDecimal(t) }, inDouble)
		case !is(temporal) && is(types.IsDecimal): // go-mysql-server compares by the digits of one of them
			widest := types.MustCreateDecimalType(maxDigits, maxScale)
			each(0, types.IsDecimal, func(ctx *sql.Context, e sql.Expression) sql.Expression {
				if c, ok := e.(*call); ok && c.f.name == "reduced" {
					return e
				}
				return as(ctx, "reduced", e, widest, func(_ *sql.Context, v any) (any, error) { return reduced(v), nil })
			})
		}
	}
	switch {
	case name == "max" || name == "min":
		each(from, member, inWords)
	case strings.HasPrefix(name, "bit") && takeNumbers[name]:
		each(from, inexact, func(ctx *sql.Context, e sql.Expression) sql.Expression { // negative ones have bits, too
			return as(ctx, "number", e, types.Int64, func(ctx *sql.Context, v any) (any, error) { return int64(bitsOf(ctx, v)), nil })
		})
	case takeNumbers[name]:
		each(from, isTextual, inDouble)
	}
	if !changed {
		return nil, nil
	}
	return withOperands(ctx, e, list)
}

// isBigint finds columns that MySQL compares with constant texts as integers.
func isBigint(ctx *sql.Context) func(e sql.Expression) bool {
	return func(e sql.Expression) bool {
		f, ok := e.(*expression.GetField)
		return ok && (f.Type(ctx) == types.Int64 || f.Type(ctx) == types.Uint64 || types.IsYear(f.Type(ctx)))
	}
}

// isTextual reports whether a type has texts, of characters or of bytes.
func isTextual(t sql.Type) bool { return types.IsTextOnly(t) || isBytes(t) }

func isTextConstant(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if ok {
		_, ok = plainText(l.Value())
	}
	return ok
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
