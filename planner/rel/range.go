package rel

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/planner/grid"
	"scrim/planner/tree"
)

// RangeOf returns the public range of the values of an expression, as if it were declared, nil
// where none is known: a column with a declared range, a constant, and a choice among such: CASE
// WHEN c THEN amount ELSE 0 END. What is outside of the range is clamped to it, so a loss never
// rests on it.
func (s *Writer) RangeOf(r *Relation, e sql.Expression) *grid.Bounds {
	if b := s.hull(r, e); b != nil && b.Lo < b.Hi {
		return b
	}
	return nil
}

// hull is rangeOf, also of one value alone.
func (s *Writer) hull(r *Relation, e sql.Expression) *grid.Bounds {
	switch e := tree.Unalias(e).(type) {
	case *expression.GetField:
		c := r.Find(e)
		if c == nil {
			return nil
		}
		b := r.PlainBase(*c)
		if b == nil || b.DeclaredRange() == nil {
			return nil
		}
		d := b.DeclaredRange()
		return &grid.Bounds{Lo: d.Min, Hi: d.Max}
	case *expression.Literal:
		if !types.IsNumber(e.Type(s.ctx)) {
			return nil
		}
		x, ok := tree.Float(e.Value())
		if !ok {
			return nil
		}
		return &grid.Bounds{Lo: x, Hi: x}
	case *expression.Case:
		values := []sql.Expression{e.Else}
		for _, b := range e.Branches {
			values = append(values, b.Value)
		}
		return s.hullOf(r, values)
	case *function.If:
		return s.hullOf(r, e.Children()[1:])
	case *function.Coalesce, *function.IfNull:
		return s.hullOf(r, e.Children())
	}
	return nil
}

// hullOf is the smallest range that has those of all values; absent ones and NULL have none.
func (s *Writer) hullOf(r *Relation, values []sql.Expression) *grid.Bounds {
	var out *grid.Bounds
	for _, v := range values {
		if l, ok := v.(*expression.Literal); v == nil || ok && l.Value() == nil {
			continue
		}
		b := s.hull(r, v)
		switch {
		case b == nil:
			return nil
		case out == nil:
			out = b
		default:
			out = &grid.Bounds{Lo: min(out.Lo, b.Lo), Hi: max(out.Hi, b.Hi)}
		}
	}
	return out
}
