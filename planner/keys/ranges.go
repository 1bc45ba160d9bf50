package keys

import (
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// MaxFound bounds the public values of a key that no domain is declared for. More of them are
// mostly empty, and selecting the others privately says more.
const MaxFound = 10000

// listed is the public values of a column: those of its domain, of its type, or of conditions.
func (sp *space) listed(b *rel.Base) (values []any, from string, ok bool, err error) {
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
	}
	if ok && !sp.solid[b.ID] {
		values = append(values, nil)
	}
	return values, from, ok, nil
}

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
