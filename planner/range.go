package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/planner/tree"
)

// rangeOf returns the public range of the values of an expression, as if it were declared, nil where none is known: a column with a declared range, a
// constant, and a choice among such: CASE WHEN c THEN amount ELSE 0 END. What is outside of the range is clamped to it, so a loss never
// rests on it.
func (s *statement) rangeOf(r *relation, e sql.Expression) *bounds {
	if b := s.hull(r, e); b != nil && b.lo < b.hi {
		return b
	}
	return nil
}

// hull is rangeOf, also of one value alone.
func (s *statement) hull(r *relation, e sql.Expression) *bounds {
	switch e := tree.Unalias(e).(type) {
	case *expression.GetField:
		c := r.find(e)
		if c == nil {
			return nil
		}
		b := r.plainBase(*c)
		if b == nil || b.domain.domain.Range == nil || len(b.domain.also) > 0 {
			return nil
		}
		d := b.domain.domain.Range
		return &bounds{d.Min, d.Max}
	case *expression.Literal:
		if !types.IsNumber(e.Type(s.ctx)) {
			return nil
		}
		x, ok := asFloat(e.Value())
		if !ok {
			return nil
		}
		return &bounds{x, x}
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
func (s *statement) hullOf(r *relation, values []sql.Expression) *bounds {
	var out *bounds
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
			out = &bounds{min(out.lo, b.lo), max(out.hi, b.hi)}
		}
	}
	return out
}
