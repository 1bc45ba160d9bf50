package keys

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// named is the values that a condition lists of a column: x = 3, x IN ('a', 'b'), one OR the other.
func (sp *space) named(b *rel.Base) ([]any, bool) {
	return sp.namedOf(b.Type, b.Expr.Type, func(e sql.Expression) bool { return sp.base(e) == b })
}

// namedOf is the values of an expression of given types that a condition lists.
func (sp *space) namedOf(t sql.Type, lowered lower.Type, is func(sql.Expression) bool) ([]any, bool) {
	for _, c := range sp.conds {
		if list, ok := equalTo(c, is); ok {
			if out, ok := sp.constants(t, lowered, list); ok {
				return out, true
			}
		}
	}
	return nil, false
}

// equalTo lists what an expression equals one of, where a condition holds; false where the
// condition does not say so.
func equalTo(c sql.Expression, is func(sql.Expression) bool) ([]sql.Expression, bool) {
	switch c := c.(type) {
	case *expression.Equals:
		switch {
		case is(c.Left()):
			return []sql.Expression{c.Right()}, true
		case is(c.Right()):
			return []sql.Expression{c.Left()}, true
		}
	case *expression.InTuple:
		if is(c.Left()) {
			return c.Right().Children(), true
		}
	case *expression.And:
		if list, ok := equalTo(c.LeftChild, is); ok {
			return list, true
		}
		return equalTo(c.RightChild, is)
	case *expression.Or:
		l, ok1 := equalTo(c.LeftChild, is)
		r, ok2 := equalTo(c.RightChild, is)
		return slices.Concat(l, r), ok1 && ok2
	}
	return nil, false
}

// namedAtom makes a variable of an expression whose values a condition lists:
//
//	WHERE SUBSTRING(phone, 1, 2) IN ('13', '31') GROUP BY SUBSTRING(phone, 1, 2)
func (sp *space) namedAtom(e sql.Expression) (sql.Expression, bool) {
	name, ok := sp.identity(e)
	if !ok || len(tree.Fields(sp.f.ctx, e)) == 0 {
		return nil, false
	}
	x, err := lower.Lower(sp.f.ctx, e, new(lower.Binder), sp.column)
	if err != nil {
		return nil, false
	}
	values, ok := sp.namedOf(e.Type(sp.f.ctx), x.Type, func(other sql.Expression) bool {
		text, ok := sp.identity(other)
		return ok && text == name
	})
	if !ok {
		return nil, false
	}
	v := &variable{columns: []virtual{sp.virtual(e.Type(sp.f.ctx), x.Type)}, from: "the conditions of the query", found: true}
	for _, x := range values {
		v.rows = append(v.rows, sql.Row{x})
	}
	return sp.note(e, &atom{field: v.columns[0], rows: v})
}

// constants are the values of given types that equal one of a list; false where another value may
// do so too.
func (sp *space) constants(t sql.Type, lowered lower.Type, list []sql.Expression) ([]any, bool) {
	if _, set := t.(sql.SetType); set {
		return nil, false
	}
	var out []any
	seen := map[string]bool{}
	for _, e := range list {
		v, ok := sp.constant(e)
		if !ok {
			return nil, false
		}
		if v == nil {
			continue
		}
		text, isText := v.(string)
		switch lowered.Kind {
		case lower.String:
			ok = isText
		case lower.Int, lower.UInt, lower.Decimal, lower.Double:
			_, ok = tree.Float(v)
			ok = ok && !isText
		case lower.Date:
			if isText {
				v, ok = strictMoment(text)
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
		x, in, err := t.Convert(sp.f.ctx, v)
		if err != nil || in != sql.InRange {
			return nil, false
		}
		if name := RowName(sql.Row{x}); !seen[name] {
			seen[name] = true
			out = append(out, x)
		}
	}
	return out, len(out) > 0 && len(out) <= MaxFound
}
