package keys

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/lists"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// A column of moments or whole numbers with a range has too many values to try each. It is cut into
// cells of one width, of which one value each is tried, where no expression tells two values of one
// cell apart: YEAR(t) and DATE(t) do not within a day, t DIV 300 not within 300 whole seconds.
//
// What is known of an expression while a column stays in one cell is its spread: one value; values
// within one cell of a width of its own; or nothing. It is found from the expression's parts.

// spread is what is known of an expression's values while every ranged column stays in one cell.
type spread struct {
	known bool
	width int64 // 0: one value; else all lie in one cell of this width, counted from 0 or from 1970
}

var oneValue, anything = spread{known: true}, spread{}

// A day and its parts in microseconds, in which the cells of moments are counted.
const (
	second = int64(1e6)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// addCells makes a variable of the cells of a ranged column, the widest that do.
func (sp *space) addCells(b *rel.Base, exprs []sql.Expression) {
	lo, hi, from, ok := sp.rangeOf(b)
	if !ok {
		return
	}
	for _, width := range sp.widths(b, exprs) {
		first, last := floorDiv(lo, width), floorDiv(hi, width)
		if last-first >= MaxTried {
			return
		}
		sp.cells[b.ID], sp.known = width, map[sql.Expression]spread{}
		if slices.ContainsFunc(exprs, func(e sql.Expression) bool { return sp.spread(e) != oneValue }) {
			delete(sp.cells, b.ID)
			sp.known = map[sql.Expression]spread{}
			continue
		}
		v := &variable{from: from, found: len(b.Domains) == 0}
		v.columns = []virtual{sp.virtual(b.Type, b.Expr.Type), sp.virtual(b.Type, b.Expr.Type)}
		v.run = &run{base: b, first: first, cells: int(last - first + 1), width: width, lo: lo, hi: hi, null: !sp.solid[b.ID] && (nullable(b) || b.Extended)}
		sp.reads[b.ID], sp.ends[b.ID] = v.columns[0], v.columns[1]
		sp.vars = append(sp.vars, v)
		return
	}
}

// run is the cells of a range one after another, each by its first and its last value; then NULL,
// where it is a value.
type run struct {
	base         *rel.Base
	first, width int64
	lo, hi       int64
	cells        int
	null         bool
}

func (r *run) size() int {
	if r.null {
		return r.cells + 1
	}
	return r.cells
}

func (r *run) row(i int) sql.Row {
	if i == r.cells {
		return sql.Row{nil, nil}
	}
	c := r.first + int64(i)
	return sql.Row{valueOf(r.base, max(r.lo, c*r.width)), valueOf(r.base, min(r.hi, (c+1)*r.width-1))}
}

// sql is a value of the n-th row: the first of its cell, or the last.
func (r *run) sql(column int) string {
	x := fmt.Sprintf("greatest(%d, (%d + n) * %d)", r.lo, r.first, r.width)
	if column == 1 {
		x = fmt.Sprintf("least(%d, (%d + n) * %d - 1)", r.hi, r.first+1, r.width)
	}
	switch r.base.Expr.Type.Kind {
	case lower.Date:
		x = "CAST(make_timestamp(CAST(" + x + " AS BIGINT)) AS DATE)"
	case lower.Datetime:
		x = "make_timestamp(CAST(" + x + " AS BIGINT))"
	default:
		x = "CAST(" + x + " AS BIGINT)"
	}
	return fmt.Sprintf("CASE WHEN n < %d THEN %s END", r.cells, x)
}

// valueOf is the value that a number of microseconds or units stands for.
func valueOf(b *rel.Base, x int64) any {
	if b.Expr.Type.Kind == lower.Int {
		return x
	}
	return time.UnixMicro(x).UTC()
}

// maxWidths bounds the constants of the expressions that are tried as widths.
const maxWidths = 16

// widths are the widths of cells that are tried, the widest first: parts of a day, the whole
// numbers that the expressions divide by, and the halves of even ones.
func (sp *space) widths(b *rel.Base, exprs []sql.Expression) []int64 {
	unit := second
	if b.Expr.Type.Kind == lower.Int {
		unit = 1
	}
	out := lists.Map([]int64{86400, 3600, 1800, 900, 60, 1}, func(w int64) int64 { return w * unit })
	for _, e := range exprs {
		tree.Contains(sp.f.ctx, e, func(e sql.Expression) bool {
			if n, ok := wholeConstant(e); ok && n > 1 && n <= math.MaxInt32 && len(out) < maxWidths {
				if out = append(out, n*unit); n%2 == 0 {
					out = append(out, n/2*unit)
				}
			}
			return false
		})
	}
	slices.Sort(out)
	slices.Reverse(out)
	return slices.Compact(out)
}

// wholeConstant is a positive whole-number constant.
func wholeConstant(e sql.Expression) (int64, bool) {
	x, ok := number(e)
	return int64(x), ok && x > 0 && x < 1<<53 && x == math.Trunc(x)
}

// atEnds is a comparison of a ranged column with a constant, at both ends of the cells: it may hold
// somewhere in a cell only where it holds at one of them, for it is monotone.
func (sp *space) atEnds(c sql.Expression) (first, last sql.Expression, ok bool) {
	var column *expression.GetField
	var constant sql.Expression
	switch c.(type) {
	case *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.LessThan, *expression.LessThanOrEqual:
		x := c.(expression.Comparer)
		if column, ok = x.Left().(*expression.GetField); ok {
			constant = x.Right()
		} else if column, ok = x.Right().(*expression.GetField); ok {
			constant = x.Left()
		}
	}
	if !ok || sp.cells[column.Id()] == 0 || len(tree.Fields(sp.f.ctx, constant)) > 0 {
		return nil, nil, false
	}
	if first, ok = sp.rewrite(c); !ok {
		return nil, nil, false
	}
	sp.reads[column.Id()], sp.ends[column.Id()] = sp.ends[column.Id()], sp.reads[column.Id()]
	last, ok = sp.rewrite(c)
	sp.reads[column.Id()], sp.ends[column.Id()] = sp.ends[column.Id()], sp.reads[column.Id()]
	return first, last, ok
}

// spread finds what is known of an expression over base columns, once: it is asked for by each of
// the expressions around it.
func (sp *space) spread(e sql.Expression) spread {
	if _, list := e.(expression.Tuple); list { // a slice, which is no key of a map
		return sp.findSpread(e)
	}
	s, ok := sp.known[e]
	if !ok {
		s = sp.findSpread(e)
		sp.known[e] = s
	}
	return s
}

func (sp *space) findSpread(e sql.Expression) spread {
	if gf, ok := e.(*expression.GetField); ok {
		w := sp.cells[gf.Id()]
		if b := sp.r.BaseByID(gf.Id()); w == 0 || w == 1 && b.Expr.Type.Kind == lower.Int || w == day && b.Expr.Type.Kind == lower.Date {
			return oneValue
		}
		return spread{true, w}
	}
	children := e.Children()
	if in, ok := e.(*expression.InTuple); ok {
		children = []sql.Expression{in.Left()}
	}
	one := true
	for _, c := range children {
		one = one && sp.spread(c) == oneValue
	}
	if one {
		return oneValue
	}
	switch e := e.(type) {
	case *expression.Alias:
		return sp.spread(e.Child)
	case *expression.Wrapper:
		return sp.spread(e.Unwrap())
	case *expression.Convert:
		return sp.cast(e)
	case *expression.Arithmetic:
		return sp.arithmetic(e)
	case *expression.IntDiv:
		return sp.divided(e.LeftChild, e.RightChild)
	case *expression.LessThan:
		return sp.aligned(e.Left(), e.Right())
	case *expression.GreaterThanOrEqual:
		return sp.aligned(e.Left(), e.Right())
	case *expression.GreaterThan:
		return sp.aligned(e.Right(), e.Left())
	case *expression.LessThanOrEqual:
		return sp.aligned(e.Right(), e.Left())
	case sql.FunctionExpression:
		return sp.function(strings.ToLower(e.FunctionName()), e, e.Children())
	}
	return anything
}

// kind is the kind of an expression's value in the store; Null where it does not translate.
func (sp *space) kind(e sql.Expression) lower.Kind {
	x, err := lower.Lower(sp.f.ctx, e, new(lower.Binder), sp.column)
	if err != nil {
		return lower.Null
	}
	return x.Type.Kind
}

// moment is the width of the cells that a moment stays in.
func (sp *space) moment(e sql.Expression) (int64, bool) {
	if sp.kind(e) != lower.Datetime {
		return 0, false
	}
	s := sp.spread(e)
	return s.width, s.known && s.width > 0
}

// whole is the width of the cells that a whole number from 0 on stays in.
func (sp *space) whole(e sql.Expression) (int64, bool) {
	if sp.kind(e) != lower.Int || !sp.notNegative(e) {
		return 0, false
	}
	s := sp.spread(e)
	return s.width, s.known && s.width > 0
}

// notNegative reports whether a whole number is a ranged column from 0 on, seconds since 1970, or
// made of such.
func (sp *space) notNegative(e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.Alias:
		return sp.notNegative(e.Child)
	case *expression.Wrapper:
		return sp.notNegative(e.Unwrap())
	case *expression.GetField:
		b := sp.r.BaseByID(e.Id())
		if b == nil || b.Expr.Type.Kind != lower.Int {
			return false
		}
		lo, _, _, ok := sp.rangeOf(b)
		return ok && lo >= 0
	case *expression.IntDiv:
		_, ok := wholeConstant(e.RightChild)
		return ok && sp.notNegative(e.LeftChild)
	case *expression.Arithmetic:
		_, ok := wholeConstant(e.RightChild)
		return ok && e.Op == "*" && sp.notNegative(e.LeftChild)
	case sql.FunctionExpression:
		switch name := strings.ToLower(e.FunctionName()); name {
		case "unix_timestamp":
			return true
		case "floor":
			d, ok := e.Children()[0].(*expression.Div)
			if !ok {
				return sp.notNegative(e.Children()[0])
			}
			_, ok = wholeConstant(d.RightChild)
			return ok && sp.notNegative(d.LeftChild)
		}
	}
	return false
}

// cast is the spread of a CAST that keeps a moment or a whole number, or drops the time.
func (sp *space) cast(e *expression.Convert) spread {
	switch target := sp.kind(e); target {
	case lower.Date:
		return sp.within(e.Child, day)
	case lower.Int:
		if d, ok := e.Child.(*expression.Div); ok {
			return sp.rounded(d)
		}
		if sp.kind(e.Child) == lower.Int {
			return sp.spread(e.Child)
		}
	}
	return anything
}

// mostRounded is the divisor up to which a quotient of whole numbers, which has four digits after
// the point, is rounded to the same whole number as the exact one: one under a half is under it by
// 1/divisor at least.
const mostRounded = 5000

// rounded is the spread of a quotient x / k that is rounded to a whole number, where x is not
// negative: it changes at odd halves of k.
func (sp *space) rounded(d *expression.Div) spread {
	w, ok1 := sp.whole(d.LeftChild)
	k, ok2 := wholeConstant(d.RightChild)
	if ok1 && ok2 && (w == 1 || k <= mostRounded && k%2 == 0 && k/2%w == 0) {
		return oneValue
	}
	return anything
}

// within is one value where a moment's cells divide a part of a day.
func (sp *space) within(e sql.Expression, part int64) spread {
	if w, ok := sp.moment(e); ok && part%w == 0 {
		return oneValue
	}
	return anything
}

// aligned is the spread of x < c and of x >= c: it changes at c alone, where a cell begins.
func (sp *space) aligned(x, c sql.Expression) spread {
	w, ok := sp.moment(x)
	var at int64
	if ok {
		at, ok = sp.fixedMoment(c)
	} else if w, ok = sp.whole(x); ok {
		at, ok = wholeConstant(c)
	}
	if ok && at%w == 0 {
		return oneValue
	}
	return anything
}

// fixedText is the text of an expression without columns.
func (sp *space) fixedText(e sql.Expression) (string, bool) {
	v, ok := sp.constant(e)
	text, is := v.(string)
	return text, ok && is
}

// fixedMoment is the moment of an expression without columns, in microseconds since 1970.
func (sp *space) fixedMoment(e sql.Expression) (int64, bool) {
	v, ok := sp.constant(e)
	t, is := v.(time.Time)
	if text, written := v.(string); written {
		t, is = strictMoment(text)
	}
	return t.UnixMicro(), ok && is
}

// arithmetic is the spread of a multiple, of x − x % k, and of a moment moved by whole cells.
func (sp *space) arithmetic(e *expression.Arithmetic) spread {
	if iv, ok := e.RightChild.(*expression.Interval); ok && (e.Op == "+" || e.Op == "-") {
		return sp.moved(e.LeftChild, iv)
	}
	switch e.Op {
	case "*":
		x, k := e.LeftChild, e.RightChild
		if _, ok := wholeConstant(x); ok {
			x, k = k, x
		}
		w, ok1 := sp.whole(x)
		n, ok2 := wholeConstant(k)
		if ok1 && ok2 && n < math.MaxInt32 && w < math.MaxInt32 {
			return spread{true, w * n}
		}
	case "-":
		x, k, ok := remainder(e.RightChild)
		if !ok {
			break
		}
		a, ok1 := sp.identity(e.LeftChild)
		b, ok2 := sp.identity(x)
		if w, ok := sp.whole(x); ok && ok1 && ok2 && a == b && k%w == 0 {
			return oneValue
		}
	}
	return anything
}

// remainder reads x % k and MOD(x, k).
func remainder(e sql.Expression) (x sql.Expression, k int64, ok bool) {
	m, is := e.(*expression.Mod)
	if !is {
		return nil, 0, false
	}
	k, ok = wholeConstant(m.RightChild)
	return m.LeftChild, k, ok
}

// divided is the spread of x DIV k and of FLOOR(x / k), where x is not negative.
func (sp *space) divided(x, k sql.Expression) spread {
	w, ok1 := sp.whole(x)
	n, ok2 := wholeConstant(k)
	switch {
	case !ok1 || !ok2:
		return anything
	case n%w == 0:
		return oneValue
	case w%n == 0:
		return spread{true, w / n}
	}
	return anything
}

// moved is the spread of a moment to which whole cells are added: days and months keep the time.
func (sp *space) moved(x sql.Expression, iv *expression.Interval) spread {
	w, ok := sp.moment(x)
	if !ok || sp.spread(iv.Child) != oneValue {
		return anything
	}
	step := day
	switch strings.ToUpper(iv.Unit) {
	case "YEAR", "QUARTER", "MONTH", "WEEK", "DAY":
	case "HOUR":
		step = hour
	case "MINUTE":
		step = minute
	default:
		return anything
	}
	if step%w != 0 {
		return anything
	}
	return spread{true, w}
}

// function is the spread of a function of a moment.
func (sp *space) function(name string, e sql.FunctionExpression, args []sql.Expression) spread {
	for i, a := range args {
		if at := map[string]int{"extract": 1, "timestampdiff": 2}[name]; i != at {
			if _, interval := a.(*expression.Interval); !interval && sp.spread(a) != oneValue {
				return anything
			}
		}
	}
	switch name {
	case "year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "dayname", "monthname",
		"week", "weekofyear", "yearweek", "date", "last_day", "to_days", "datediff":
		return sp.within(args[0], day)
	case "hour":
		return sp.within(args[0], hour)
	case "minute":
		return sp.within(args[0], minute)
	case "second":
		return sp.within(args[0], second)
	case "extract":
		unit, _ := constantText(args[0])
		return sp.within(args[1], finest(strings.ToUpper(unit)))
	case "date_format":
		if format, ok := constantText(args[1]); ok {
			return sp.within(args[0], finestOf(format))
		}
	case "timestamp", "datetime":
		if len(args) == 1 && sp.kind(args[0]) == lower.Datetime {
			return sp.spread(args[0])
		}
	case "date_add", "adddate", "timestampadd", "date_sub", "subdate":
		if iv, ok := args[1].(*expression.Interval); ok {
			return sp.moved(args[0], iv)
		}
	case "unix_timestamp":
		if w, ok := sp.moment(args[0]); ok && sp.clockSteps(w) {
			return spread{true, max(1, w/second)}
		}
	case "from_unixtime":
		w, ok := sp.whole(args[0])
		if !ok || w > math.MaxInt32 || !sp.clockSteps(w*second) {
			break
		}
		if len(args) == 1 {
			return spread{true, w * second}
		}
		if format, ok := constantText(args[1]); ok && finestOf(format)%(w*second) == 0 {
			return oneValue
		}
	case "timestampdiff":
		unit, _ := constantText(args[0])
		if at, ok := sp.fixedMoment(args[1]); ok && at%day == 0 {
			return sp.within(args[2], finest(strings.TrimPrefix(strings.ToUpper(unit), "SQL_TSI_")))
		}
	case "convert_tz":
		from, ok1 := sp.fixedText(args[1])
		to, ok2 := sp.fixedText(args[2])
		if w, ok := sp.moment(args[0]); ok && ok1 && ok2 && stepsOf(from, w) && stepsOf(to, w) {
			return spread{true, w}
		}
	case "floor":
		if d, ok := args[0].(*expression.Div); ok {
			return sp.divided(d.LeftChild, d.RightChild)
		}
		if sp.kind(args[0]) == lower.Int {
			return sp.spread(args[0])
		}
	}
	return anything
}

// finest is the part of a day that a unit of EXTRACT tells apart.
func finest(unit string) int64 {
	switch {
	case strings.HasSuffix(unit, "MICROSECOND"):
		return 1
	case strings.HasSuffix(unit, "SECOND"):
		return second
	case strings.HasSuffix(unit, "MINUTE"):
		return minute
	case strings.HasSuffix(unit, "HOUR"):
		return hour
	}
	return day
}

// finestOf is the part of a day that a format tells apart.
func finestOf(format string) int64 {
	tells := told(format)
	switch {
	case strings.ContainsAny(tells, fractionSpecifiers):
		return 1
	case strings.ContainsAny(tells, secondSpecifiers):
		return second
	case strings.ContainsAny(tells, minuteSpecifiers):
		return minute
	case strings.ContainsAny(tells, hourSpecifiers):
		return hour
	}
	return day
}

// clockSteps reports whether the clock of the session's zone moves cells of a width as a whole.
func (sp *space) clockSteps(width int64) bool {
	name, ok := lower.SessionZone(sp.f.ctx)
	return ok && stepsOf(name, width)
}

// stepsOf reports whether a zone's clock is ahead of UTC by whole cells, and changes between them.
func stepsOf(zone string, width int64) bool {
	step, ok := lower.ZoneStep(zone)
	return ok && step*second%width == 0
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}
