package keys

import (
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

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
	v := &variable{from: from, found: len(b.Domains) == 0, columns: []virtual{sp.virtual(e.Type(sp.f.ctx), y.Type)}}
	for n := first; n <= last; n++ {
		value, _, err := e.Type(sp.f.ctx).Convert(sp.f.ctx, n)
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
