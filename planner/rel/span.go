package rel

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/tree"
)

// Most returns how far from 0 the values of an expression are: by the types of columns, their
// declared ranges and constants. Of a BIGINT and of a DECIMAL with more digits before the point
// that says nothing of the values, and they count as grid.Wide. It is +Inf where nothing is known.
//
// The scale of a grid follows from it, and no loss does: what is beyond is clamped.
func (s *Writer) Most(r *Relation, e sql.Expression) float64 {
	lo, hi := s.span(r, e)
	return max(-lo, hi)
}

// span is the range of an expression's values. Everything is as good as unknown from ±Inf on.
func (s *Writer) span(r *Relation, e sql.Expression) (lo, hi float64) {
	lo, hi = s.spanOf(r, standard.Untyped(tree.Unalias(e)))
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return math.Inf(-1), math.Inf(1)
	}
	return lo, hi
}

func (s *Writer) spanOf(r *Relation, e sql.Expression) (lo, hi float64) {
	if b := s.hull(r, e); b != nil {
		return b.Lo, b.Hi
	}
	if f, ok := e.(*expression.GetField); ok {
		if c := r.Find(f); c != nil {
			m, ok := lower.Digits(c.Expr)
			if !ok {
				return math.Inf(-1), math.Inf(1)
			}
			most := min(math.Pow10(m), grid.Wide)
			return -most, most
		}
		return math.Inf(-1), math.Inf(1)
	}
	switch e := e.(type) {
	case *expression.Arithmetic:
		a, b := s.span(r, e.LeftChild)
		c, d := s.span(r, e.RightChild)
		switch e.Op {
		case "+":
			return a + c, b + d
		case "-":
			return a - d, b - c
		case "*":
			x, y, z, w := a*c, a*d, b*c, b*d
			return min(x, y, z, w), max(x, y, z, w)
		}
	case *expression.Div:
		return s.quotientSpan(r, e.LeftChild, e.RightChild)
	case *expression.IntDiv:
		return s.quotientSpan(r, e.LeftChild, e.RightChild)
	case *expression.Mod:
		m := min(s.Most(r, e.LeftChild), s.Most(r, e.RightChild))
		return -m, m
	case *expression.UnaryMinus:
		a, b := s.span(r, e.Child)
		return -b, -a
	case *function.AbsVal:
		return 0, s.Most(r, e.Child)
	case *function.Round, *function.Truncate, *function.Ceil, *function.Floor:
		a, b := s.span(r, e.Children()[0])
		return a - 1, b + 1
	case *expression.Case:
		values := []sql.Expression{e.Else}
		values = append(values, lists.Map(e.Branches, func(b expression.CaseBranch) sql.Expression { return b.Value })...)
		return s.spanOfAll(r, values)
	case *function.If:
		return s.spanOfAll(r, e.Children()[1:])
	case *function.Coalesce, *function.IfNull, *function.NullIf, *function.Greatest, *function.Least:
		return s.spanOfAll(r, e.Children())
	}
	most := math.Inf(1)
	switch t := e.Type(s.ctx).(type) {
	case sql.DecimalType:
		most = min(math.Pow10(int(t.Precision())-int(t.Scale())), grid.Wide)
	default:
		if types.IsBoolean(t) {
			return 0, 1
		}
		if types.IsInteger(t) {
			most = grid.Wide
		}
	}
	return -most, most
}

// quotientSpan is that of x / y: y is 0, and the quotient NULL, or at least one unit of its type.
func (s *Writer) quotientSpan(r *Relation, x, y sql.Expression) (lo, hi float64) {
	a, b := s.span(r, x)
	c, d := s.span(r, y)
	least := 0.0
	t := y.Type(s.ctx)
	if of, ok := t.(sql.DecimalType); ok {
		least = math.Pow10(-int(of.Scale()))
	} else if types.IsInteger(t) {
		least = 1
	}
	if c > 0 || d < 0 {
		least = min(math.Abs(c), math.Abs(d))
	}
	m := max(-a, b) / least
	return -m, m
}

// spanOfAll is the smallest range that has those of all; NULL has none.
func (s *Writer) spanOfAll(r *Relation, values []sql.Expression) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if l, ok := v.(*expression.Literal); v == nil || ok && l.Value() == nil {
			continue
		}
		a, b := s.span(r, v)
		lo, hi = min(lo, a), max(hi, b)
	}
	if lo > hi {
		return 0, 0
	}
	return lo, hi
}
