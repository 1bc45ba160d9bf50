package rel

import (
	"fmt"
	"slices"
	"strings"

	"scrim/planner/lower"
)

// Derived turns the relation into a derived table, so that its columns and units become plain
// column references; the suffix comes after the WHERE clause. With fixed column expressions (over
// the FROM item) the columns are those.
func (s *Writer) Derived(r *Relation, suffix string, exprs []string) *Relation {
	out, text, alias := s.derived(r, suffix, exprs)
	out.from = text + " AS " + alias
	return out
}

// derived is Derived without its FROM item: the text in parentheses, and its alias.
func (s *Writer) derived(r *Relation, suffix string, exprs []string) (d *Relation, text, alias string) {
	alias = s.Alias()
	out := *r
	out.where, out.links, out.spared = nil, nil, nil
	out.joined = false
	out.Columns = append([]Column(nil), r.Columns...)
	var items []string
	ref := func(name string, e lower.Expr) lower.Expr {
		items = append(items, e.SQL+" AS "+name)
		return lower.Expr{SQL: alias + "." + name, Type: e.Type, Nullable: e.Nullable}
	}
	if r.IsPrivate() {
		at := map[int]int{} // of a representative, its place among those of the derived table
		out.units = nil
		for i, u := range r.units {
			if r.root(i) != i {
				continue
			}
			at[i] = len(out.units)
			name := "u"
			if at[i] > 0 {
				name = fmt.Sprintf("u%d", at[i])
			}
			u.expr, u.merged, u.blocks = ref(name, u.expr), at[i], r.blocksOf(i)
			out.units = append(out.units, u)
		}
		for i := range out.Columns {
			out.Columns[i].tags = rootTags(r, out.Columns[i].tags, at)
		}
	}
	for i := range out.Columns {
		e := out.Columns[i].Expr
		if exprs != nil {
			e.SQL = exprs[i]
		}
		out.Columns[i].Expr = ref(fmt.Sprintf("c%d", i), e)
	}
	if len(items) == 0 {
		items = []string{"1 AS one"}
	}
	return &out, "(SELECT " + strings.Join(items, ", ") + s.Clause(r) + suffix + ")", alias
}

// Common makes a common table expression of a public relation, for a query that reads it several
// times. definition stands behind WITH; each use gives its rows by another alias.
func (s *Writer) Common(r *Relation, suffix string) (definition string, use func() *Relation) {
	d, text, name := s.derived(r, suffix, nil)
	return name + " AS " + text, func() *Relation {
		alias := s.Alias()
		out := *d
		out.from = name + " AS " + alias
		out.Columns = append([]Column(nil), d.Columns...)
		for i := range out.Columns {
			out.Columns[i].Expr.SQL = alias + strings.TrimPrefix(out.Columns[i].Expr.SQL, name)
		}
		return &out
	}
}

// rootTags rewrites tags to the places at which the representatives of their units stand.
func rootTags(r *Relation, tags []tag, at map[int]int) []tag {
	out := slices.Clone(tags)
	for i := range out {
		out[i].unit = at[r.root(out[i].unit)]
	}
	return out
}
