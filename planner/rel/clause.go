package rel

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"scrim/internal/lists"
	"scrim/planner/lower"
	"scrim/planner/plan"
)

// Clause returns the FROM and WHERE clauses, the conditions in the order of their texts.
func (s *Writer) Clause(r *Relation) string {
	out := *r
	out.where = s.ordered(r.where)
	return out.clause()
}

// Identity is the text of a relation's rows: relations of one text have the same rows, as long as
// their tables are defined alike.
func (s *Writer) Identity(r *Relation) string {
	return s.inked(s.Clause(r))
}

// ordered returns conditions in the order of their texts, with the values in them. A statement on
// public tables alone keeps its own.
func (s *Writer) ordered(conds []string) []string {
	if s.AsWritten || len(conds) < 2 {
		return conds
	}
	type cond struct{ sql, text string }
	list := lists.Map(conds, func(c string) cond { return cond{c, s.inked(c)} })
	sort.SliceStable(list, func(i, j int) bool { return list[i].text < list[j].text })
	out := make([]string, len(conds))
	for i, c := range list {
		out[i] = c.sql
	}
	return out
}

// inked writes values in the place of their place holders.
func (s *Writer) inked(sql string) string {
	args := s.binder.Args()
	return holders(sql, func(n int) string {
		if n < 1 || n > len(args) {
			return "?"
		}
		return fmt.Sprintf("%T %q", args[n-1], fmt.Sprint(args[n-1]))
	})
}

// Renumbered numbers the place holders of a scan in the order of the text, so that it tells nothing
// of the order in which the parts of a query were translated.
func Renumbered(sc plan.Scan) plan.Scan {
	var args []any
	given := map[int]int{}
	sc.SQL = holders(sc.SQL, func(n int) string {
		if _, ok := given[n]; !ok {
			args = append(args, sc.Args[n-1])
			given[n] = len(args)
		}
		return "$" + strconv.Itoa(given[n])
	})
	sc.Args = args
	return sc
}

// holders replaces the place holders $1, $2, … of a generated statement, outside of quoted names
// and texts.
func holders(sql string, f func(n int) string) string {
	var b strings.Builder
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			end := i + 1
			for end < len(sql) && sql[end] != c {
				end++
			}
			end = min(end+1, len(sql)) // a doubled quote begins the next piece
			b.WriteString(sql[i:end])
			i = end
		case c == '$' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9':
			n := 0
			for i++; i < len(sql) && sql[i] >= '0' && sql[i] <= '9'; i++ {
				n = n*10 + int(sql[i]-'0')
			}
			b.WriteString(f(n))
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// clause returns the FROM and WHERE clauses.
func (r *Relation) clause() string {
	s := " FROM " + r.from
	for _, j := range r.spared {
		s = strings.Replace(strings.Replace(s, j.text, "", 1), "("+j.own+")", j.own, 1)
	}
	if len(r.where) > 0 {
		s += " WHERE " + strings.Join(r.where, " AND ")
	}
	return s
}

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
