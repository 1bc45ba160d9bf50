package keys

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/lists"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// A condition on columns with public values decides which keys can have rows, and so does a column
// that two keys are made of:
//
//	SELECT status, COUNT(*) FROM orders WHERE status IN ('paid', 'open') GROUP BY status     two keys of the domain's four
//	SELECT YEAR(d), QUARTER(d), COUNT(*) FROM orders GROUP BY 1, 2                           no quarter in which no date of the domain lies
//
// Keys without rows whatever the data are leave the answer, as they do in MySQL. Nothing is learnt
// from it: domains and the text of the query decide alone. Where the planner takes a condition
// another way than the store does, a group is missing or empty; that is no loss of privacy either.

// Feasible tells of each combination of public keys, in the order in which GROUP BY names them,
// whether rows can have it; nil where all can.
func (s *Finder) Feasible(r *rel.Relation, g *Grouping) ([]bool, error) {
	var bounds []map[string]bool
	var of [][]int
	known := s.factsOf(r.Computed())
	for _, part := range s.entangled(known, g) {
		m, err := s.combinations(known, g, part)
		if err != nil && !errors.Is(err, errText) {
			return nil, err
		}
		if m != nil {
			bounds, of = append(bounds, m), append(of, part)
		}
	}
	if bounds == nil {
		return nil, nil
	}
	keep := make([]bool, g.Groups)
	index := make([]int, len(g.Keys))
	for at := range keep {
		for k := range index {
			index[k] = g.place(at, k)
		}
		keep[at] = true
		for i, m := range bounds {
			keep[at] = keep[at] && m[indexes(index, of[i])]
		}
	}
	return keep, nil
}

// narrow leaves in the images the values that some feasible combination has:
//
//	… WHERE a.name = 'France' AND b.name = 'Peru' OR a.name = 'Peru' AND b.name = 'France' GROUP BY a.name, b.name     two values each
//
// Rows have no other values, as the conditions that say so hold of every row.
func (s *Finder) narrow(r *rel.Relation, g *Grouping) error {
	known := s.factsOf(r)
	for _, part := range s.entangled(known, g) {
		m, err := s.combinations(known, g, part)
		if err != nil && !errors.Is(err, errText) {
			return err
		}
		if m == nil {
			continue
		}
		for at, key := range part {
			seen := map[string]bool{}
			for places := range m {
				seen[strings.Fields(places)[at]] = true
			}
			g.Keys[key].Image = g.Keys[key].Image.only(func(i int) bool { return seen[strconv.Itoa(i)] })
		}
	}
	return nil
}

// entangled divides the keys that have images into parts that share columns, public tables or a
// condition, and returns those of more than one key.
func (s *Finder) entangled(k *facts, g *Grouping) [][]int {
	part := lists.Make(len(g.Keys), func(i int) int { return i })
	join := func(touches func(b *rel.Base) bool) {
		first := -1
		for i, key := range g.Keys {
			if key.Image == nil || !slices.ContainsFunc(s.bases(k.r, key.Image.expr), func(b *rel.Base) bool { return touches(k.inPlace(b)) }) {
				continue
			}
			if first < 0 {
				first = part[i]
			}
			for j, p := range part {
				if p == part[i] && j != i {
					part[j] = first
				}
			}
			part[i] = first
		}
	}
	for _, key := range g.Keys {
		if key.Image == nil {
			continue
		}
		for _, b := range s.bases(k.r, key.Image.expr) {
			b = k.inPlace(b)
			join(func(c *rel.Base) bool { return c.ID == b.ID || b.From != "" && c.From == b.From })
		}
	}
	for _, c := range k.conds {
		ids := tree.Fields(s.ctx, c)
		join(func(b *rel.Base) bool { return slices.Contains(ids, b.ID) })
	}
	var out [][]int
	for p := range g.Keys {
		var members []int
		for i := range g.Keys {
			if part[i] == p {
				members = append(members, i)
			}
		}
		if len(members) > 1 {
			out = append(out, members)
		}
	}
	return out
}

// inPlace is the column that is read for another.
func (k *facts) inPlace(b *rel.Base) *rel.Base {
	if p := k.stand[b.ID]; p != nil {
		return p
	}
	return b
}

// combinations is the set of the values that the given keys can have together, each written by
// indexes; nil where there are too many to try.
func (s *Finder) combinations(k *facts, g *Grouping, keys []int) (map[string]bool, error) {
	exprs := lists.Map(keys, func(key int) sql.Expression { return g.Keys[key].Image.expr })
	sp, exprs, err := s.spaceOf(k, exprs)
	if err != nil || sp == nil || product(sp.vars) > MaxTried {
		return nil, err
	}
	rows, ok, err := s.table(sp.vars, exprs, sp.tests)
	if err != nil || !ok {
		return nil, err
	}
	set := map[string]bool{}
	index := make([]int, len(g.Keys))
rows:
	for _, row := range rows {
		for i, key := range keys {
			at, ok := g.Keys[key].Image.index[RowName(row[i:i+1])]
			if !ok {
				continue rows
			}
			index[key] = at
		}
		set[indexes(index, keys)] = true
	}
	return set, nil
}

func indexes(index, of []int) string {
	var b strings.Builder
	for _, k := range of {
		fmt.Fprint(&b, index[k], " ")
	}
	return b.String()
}

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
	v.rows = append(v.rows, lists.Map(values, func(x any) sql.Row { return sql.Row{x} })...)
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
