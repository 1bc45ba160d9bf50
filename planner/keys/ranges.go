package keys

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// MaxFound bounds the public values of a key that no domain is declared for. More of them are
// mostly empty, and selecting the others privately says more.
const MaxFound = 10000

// listed is the public values of a column: those of its domain, of its type, or of conditions.
func (sp *space) listed(b *rel.Base, exprs []sql.Expression) (values []any, from string, ok bool, err error) {
	if len(b.Domains) > 0 {
		if values, ok, err = sp.f.Values(b); ok || err != nil {
			if from = b.Listed; from == "" {
				from = "the domain of " + b.Name
			}
			return values, from, ok, err
		}
	}
	if values, ok = typed(b); ok {
		from = "the type of " + b.Name
	} else if values, ok = sp.named(b); ok {
		from = "the conditions on " + b.Name
	} else if values, ok = sp.run(b); ok {
		from = "the conditions on " + b.Name
	} else if isBoolean(b) && slices.ContainsFunc(exprs, func(e sql.Expression) bool { return sp.base(e) == b }) {
		values, from, ok, sp.rest = []any{int8(0), int8(1)}, "the type of "+b.Name+", TINYINT(1)", true, true
	}
	if ok && !sp.solid[b.ID] {
		values = append(values, nil)
	}
	return values, from, ok, nil
}

// isBoolean reports whether a column is declared BOOLEAN, which is TINYINT(1): all but 0 and 1 are
// for other columns, though MySQL keeps nobody from it.
func isBoolean(b *rel.Base) bool { return b.Expr.Type.Kind == lower.Int && b.Type == types.Boolean }

// typed is the values of a column of a type that has few.
func typed(b *rel.Base) ([]any, bool) {
	if b.Expr.Type.Kind == lower.Bool {
		return []any{int8(0), int8(1)}, true
	}
	if e, ok := b.Type.(sql.EnumType); ok {
		var out []any
		for i := range e.NumberOfElements() {
			out = append(out, i+1)
		}
		return out, len(out) > 0
	}
	return nil, false
}

// run is the whole numbers or days between the conditions on a column.
func (sp *space) run(b *rel.Base) ([]any, bool) {
	lo, hi, _, ok := sp.rangeOf(b)
	width := int64(1)
	switch b.Expr.Type.Kind {
	case lower.Int:
	case lower.Date:
		width = day
	default:
		return nil, false
	}
	if !ok || hi/width-lo/width >= MaxFound {
		return nil, false
	}
	var out []any
	for x := lo; x <= hi; x += width {
		v, in, err := b.Type.Convert(sp.f.ctx, valueOf(b, x))
		if err == nil && in == sql.InRange {
			out = append(out, v)
		}
	}
	return out, true
}

// rangeOf is the least and the greatest value of a column of moments or whole numbers, in
// microseconds since 1970 or units, as its domain and the conditions on it tell. An end that is not
// told is unknown.
func (k *facts) rangeOf(b *rel.Base) (lo, hi int64, from string, ok bool) {
	switch b.Expr.Type.Kind {
	case lower.Int, lower.Date, lower.Datetime:
	default:
		return 0, 0, "", false
	}
	lo, hi, from = math.MinInt64, math.MaxInt64, "the conditions on "+b.Name
	if len(b.Domains) == 1 {
		switch d := b.Domains[0]; {
		case d.Span != nil:
			lo, hi = d.Span.Min.UnixMicro(), d.Span.Max.UnixMicro()
		case d.Range != nil && b.Expr.Type.Kind == lower.Int && math.Abs(d.Range.Min) < 1<<53 && math.Abs(d.Range.Max) < 1<<53:
			lo, hi = int64(math.Ceil(d.Range.Min)), int64(math.Floor(d.Range.Max))
		}
		if lo != math.MinInt64 {
			from = "the range declared for " + b.Name
		}
	}
	for _, c := range k.conds {
		a, z := k.interval(b, c)
		lo, hi = max(lo, a), min(hi, z)
	}
	if b.Expr.Type.Kind == lower.Date && lo != math.MinInt64 && hi != math.MaxInt64 {
		lo, hi = floorDiv(lo, day)*day, floorDiv(hi, day)*day
	}
	return lo, hi, from, lo != math.MinInt64 && hi != math.MaxInt64
}

// interval is the values of a column between which a condition may hold.
func (k *facts) interval(b *rel.Base, c sql.Expression) (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	x, ok := c.(expression.Comparer)
	if !ok {
		return lo, hi
	}
	left, right, turned := x.Left(), x.Right(), false
	if len(tree.Fields(k.f.ctx, left)) == 0 {
		left, right, turned = right, left, true
	}
	first, last, ok := k.point(b, left, right)
	if !ok {
		return lo, hi
	}
	below, above := false, false // the column is at most, at least, the constant
	switch c.(type) {
	case *expression.Equals:
		below, above = true, true
	case *expression.LessThan, *expression.LessThanOrEqual:
		below = true
	case *expression.GreaterThan, *expression.GreaterThanOrEqual:
		above = true
	}
	if turned && below != above {
		below, above = above, below
	}
	if below {
		hi = last
	}
	if above {
		lo = first
	}
	return lo, hi
}

// point is the least and the greatest value of a column at which an expression of it is a constant:
// the column itself, DATE(t) or YEAR(t).
func (k *facts) point(b *rel.Base, e, constant sql.Expression) (first, last int64, ok bool) {
	v, ok := k.constant(constant)
	if !ok || v == nil {
		return 0, 0, false
	}
	name, arg := "", e
	switch f := e.(type) {
	case *expression.Convert:
		if name = "date"; !types.IsDateType(f.Type(k.f.ctx)) {
			return 0, 0, false
		}
		arg = f.Child
	case sql.FunctionExpression:
		if name = strings.ToLower(f.FunctionName()); len(f.Children()) != 1 {
			return 0, 0, false
		}
		arg = f.Children()[0]
	}
	if k.base(arg) != b {
		return 0, 0, false
	}
	if b.Expr.Type.Kind == lower.Int || name == "year" {
		x, number := tree.Float(v)
		_, isText := v.(string)
		if !number || isText || math.Abs(x) >= 1<<53 {
			return 0, 0, false
		}
		switch {
		case name == "" && b.Expr.Type.Kind == lower.Int:
			return int64(math.Floor(x)), int64(math.Ceil(x)), true
		case name == "year" && b.Expr.Type.Kind != lower.Int && x >= 1 && x <= 9999:
			return yearStart(int(math.Floor(x))), yearStart(int(math.Ceil(x))+1) - 1, true
		}
		return 0, 0, false
	}
	t, isTime := v.(time.Time)
	if text, is := v.(string); is {
		t, isTime = strictMoment(text)
	}
	if !isTime {
		return 0, 0, false
	}
	at := t.UnixMicro()
	switch name {
	case "":
		return at, at, true
	case "date":
		return floorDiv(at, day) * day, floorDiv(at, day)*day + day - 1, true
	}
	return 0, 0, false
}

func yearStart(year int) int64 {
	return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
}

// constant is the value of an expression without columns, as the store computes it.
func (k *facts) constant(e sql.Expression) (any, bool) {
	e = tree.Unalias(e)
	if l, ok := e.(*expression.Literal); ok {
		return l.Value(), true
	}
	if w, ok := e.(*standard.Weighed); ok {
		v, ok := k.constant(w.Child)
		if text, is := v.(string); is {
			v = w.Of(text)
		}
		return v, ok
	}
	if len(tree.Fields(k.f.ctx, e)) > 0 {
		return nil, false
	}
	one := &variable{columns: []virtual{{1, types.Int64, lower.Type{Kind: lower.Int}}}, rows: []sql.Row{{int64(1)}}}
	rows, ok, err := k.f.table([]*variable{one}, []sql.Expression{e}, nil)
	if err != nil || !ok || len(rows) != 1 {
		return nil, false
	}
	return rows[0][0], true
}

// The forms of a moment that MySQL, the store and go-mysql-server read alike.
var momentText = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?)?$`)

func strictMoment(text string) (time.Time, bool) {
	if !momentText.MatchString(text) {
		return time.Time{}, false
	}
	t, err := time.Parse("2006-01-02 15:04:05", strings.Replace(text, "T", " ", 1))
	if err != nil {
		t, err = time.Parse("2006-01-02", text)
	}
	return t, err == nil && t.Year() > 0
}

// A number with a range that is rounded to whole numbers has the whole numbers between those of its
// ends: FLOOR(price / 10) of 0 to 99.5 is 0 to 9. The functions never fall as the number grows, in
// the store's arithmetic too, which rounds each step the same way.

// ladder makes a variable of a rounded number with a range.
func (sp *space) ladder(e sql.Expression) (sql.Expression, bool) {
	x, ok := rounded(sp.f.ctx, e)
	if !ok {
		return nil, false
	}
	b := sp.rising(x)
	if b == nil {
		return nil, false
	}
	lo, hi, from, ok := sp.numbers(b)
	if !ok {
		return nil, false
	}
	ends := &variable{columns: []virtual{sp.virtual(b.Type, b.Expr.Type)}}
	for _, end := range []float64{lo, hi} {
		v, in, err := b.Type.Convert(sp.f.ctx, end)
		if err != nil || in != sql.InRange {
			return nil, false
		}
		ends.rows = append(ends.rows, sql.Row{v})
	}
	at := &space{facts: sp.facts, reads: map[sql.ColumnId]virtual{b.ID: ends.columns[0]}, fixed: true}
	over, ok := at.parts(e, e.Children())
	if !ok {
		return nil, false
	}
	rows, ok, err := sp.f.table([]*variable{ends}, []sql.Expression{over}, nil)
	if err != nil || !ok || len(rows) == 0 {
		return nil, false
	}
	first, ok1 := tree.Float(rows[0][0])
	last, ok2 := tree.Float(rows[len(rows)-1][0])
	if !ok1 || !ok2 || first > last || last-first >= MaxPublic || math.Abs(first) >= 1<<53 || math.Abs(last) >= 1<<53 {
		return nil, false
	}
	y, err := lower.Lower(sp.f.ctx, e, new(lower.Binder), sp.column)
	if err != nil {
		return nil, false
	}
	t := sp.f.typeOf(e, y)
	v := &variable{from: from, found: len(b.Domains) == 0, columns: []virtual{sp.virtual(t, y.Type)}}
	for n := first; n <= last; n++ {
		value, _, err := t.Convert(sp.f.ctx, n)
		if err != nil {
			return nil, false
		}
		v.rows = append(v.rows, sql.Row{value})
	}
	if !sp.solid[b.ID] {
		v.rows = append(v.rows, sql.Row{nil})
	}
	return sp.note(e, &atom{field: v.columns[0], rows: v})
}

// rounded is what a function rounds to whole numbers.
func rounded(ctx *sql.Context, e sql.Expression) (sql.Expression, bool) {
	switch e := e.(type) {
	case *expression.IntDiv:
		_, ok := wholeConstant(e.RightChild)
		return e.LeftChild, ok
	case *expression.Convert:
		return e.Child, e.Type(ctx) == types.Int64
	case sql.FunctionExpression:
		args := e.Children()
		switch strings.ToLower(e.FunctionName()) {
		case "floor", "ceil", "ceiling":
			return args[0], true
		case "round":
			return args[0], len(args) == 1 || args[1] == nil || tree.IsZero(args[1])
		case "truncate":
			return args[0], len(args) == 2 && tree.IsZero(args[1])
		}
	}
	return nil, false
}

// rising is the column of which an expression is one that never falls as the column grows: itself,
// its quotient or product with a positive constant, its sum or difference with a constant; nil for
// others.
func (sp *space) rising(e sql.Expression) *rel.Base {
	switch e := tree.Unalias(e).(type) {
	case *expression.GetField:
		return sp.base(e)
	case *expression.Div:
		if n, ok := number(e.RightChild); ok && n > 0 {
			return sp.rising(e.LeftChild)
		}
	case *expression.Arithmetic:
		if n, ok := number(e.RightChild); ok && (e.Op == "+" || e.Op == "-" || e.Op == "*" && n > 0) {
			return sp.rising(e.LeftChild)
		}
	}
	return nil
}

// number is a constant that is a number.
func number(e sql.Expression) (float64, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	if _, text := l.Value().(string); text {
		return 0, false
	}
	return tree.Float(l.Value())
}

// numbers is the least and the greatest value of a column of numbers, as its domain and the
// conditions on it tell.
func (k *facts) numbers(b *rel.Base) (lo, hi float64, from string, ok bool) {
	switch b.Expr.Type.Kind {
	case lower.Int, lower.UInt, lower.Decimal, lower.Double:
	default:
		return 0, 0, "", false
	}
	lo, hi, from = math.Inf(-1), math.Inf(1), "the conditions on "+b.Name
	if d := b.DeclaredRange(); d != nil {
		lo, hi, from = d.Min, d.Max, "the range declared for "+b.Name
	}
	for _, c := range k.conds {
		x, is := c.(expression.Comparer)
		if !is {
			continue
		}
		left, right, turned := x.Left(), x.Right(), false
		if k.base(left) != b {
			left, right, turned = right, left, true
		}
		if k.base(left) != b {
			continue
		}
		v, known := k.constant(right)
		n, number := tree.Float(v)
		if _, text := v.(string); !known || !number || text {
			continue
		}
		switch c.(type) {
		case *expression.Equals:
			lo, hi = max(lo, n), min(hi, n)
		case *expression.LessThan, *expression.LessThanOrEqual:
			if turned {
				lo = max(lo, n)
			} else {
				hi = min(hi, n)
			}
		case *expression.GreaterThan, *expression.GreaterThanOrEqual:
			if turned {
				hi = min(hi, n)
			} else {
				lo = max(lo, n)
			}
		}
	}
	return lo, hi, from, lo <= hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0)
}
