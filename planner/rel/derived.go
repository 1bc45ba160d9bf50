package rel

import (
	"fmt"
	"strings"

	"scrim/planner/lower"
)

// nest turns the relation into a derived table, so that its columns and units become plain column
// references.
func (s *Writer) nest(r *Relation) (*Relation, error) {
	if err := r.Single(); err != nil {
		return nil, err
	}
	return s.Derived(r, "", nil), nil
}

// Derived builds the derived table; the suffix comes after the WHERE clause. With fixed column
// expressions (over the FROM item) the columns are those.
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
	out.units = append([]unit(nil), r.units...)
	var items []string
	ref := func(name string, e lower.Expr) lower.Expr {
		items = append(items, e.SQL+" AS "+name)
		return lower.Expr{SQL: alias + "." + name, Type: e.Type, Nullable: e.Nullable}
	}
	if r.IsPrivate() {
		u := r.units[0]
		u.expr = ref("u", u.expr)
		out.units = []unit{u}
		for i := range out.Columns {
			out.Columns[i].tags = rootTags(r, out.Columns[i].tags)
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

// rootTags rewrites tags to unit 0 where their unit is proven to be it; the others are dropped.
func rootTags(r *Relation, tags []tag) []tag {
	var out []tag
	for _, t := range tags {
		if r.root(t.unit) == 0 {
			t.unit = 0
			out = append(out, t)
		}
	}
	return out
}
