package views

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/store"
	"scrim/internal/params"
	"scrim/internal/sqltext"
)

// Charged is a charge of a private statement: its text without literals, the tables, and what it
// cost.
type Charged struct {
	Statement string
	Tables    []string
	Rho       float64
}

// Suggestion is a view that would have answered most of what was charged, by the texts.
type Suggestion struct {
	Statement string // that makes it; "" where no view would have answered anything
	Answered  []int  // which of the charges
	Unread    int    // charges whose text no view answers, or does not tell what was asked
}

// kind is all charges that ask the same of a view.
type kind struct {
	*asks
	charges []int
	rho     float64
}

// mostDimensions bounds a suggestion: cells of more are mostly noise.
const mostDimensions = 6

// Suggest proposes the view that would have answered the most of what charges have cost. It plans
// definitions with the rights of the session, and runs nothing.
func (v *Views) Suggest(ctx *sql.Context, charges []Charged) (Suggestion, error) {
	var out Suggestion
	kinds := map[string]*kind{}
	for i, c := range charges {
		a, ok := v.readCharged(ctx, c)
		if !ok {
			out.Unread++
			continue
		}
		slices.Sort(a.columns)
		name := fmt.Sprint(a.from, a.columns, a.measures, a.moments)
		if kinds[name] == nil {
			kinds[name] = &kind{asks: a}
		}
		kinds[name].charges, kinds[name].rho = append(kinds[name].charges, i), kinds[name].rho+c.Rho
	}
	byFrom := map[string][]*kind{}
	for _, k := range kinds {
		byFrom[k.from] = append(byFrom[k.from], k)
	}
	best := 0.0
	for _, from := range slices.Sorted(maps.Keys(byFrom)) {
		p := &proposal{v: v, from: from, dims: map[string]string{}}
		rho, answered := p.cover(ctx, byFrom[from])
		if rho <= best {
			continue
		}
		ref, err := v.freeName(ctx, charges[answered[0]].Tables[0])
		if err != nil {
			return out, err
		}
		best, out.Answered = rho, answered
		out.Statement = fmt.Sprintf("CALL dp_create_view(%s, %s, '{\"epsilon\": %v, \"ways\": %d}')", sqltext.Text(ref.String()), sqltext.Text(p.definition(p.columns, p.measures)), params.DefaultEpsilon, p.ways)
	}
	return out, ctx.Err()
}

// readCharged reads the text of a charge.
func (v *Views) readCharged(ctx *sql.Context, c Charged) (*asks, bool) {
	parsed, _, rest, err := v.Engine.Parser.Parse(ctx, strings.ReplaceAll(c.Statement, "(...)", "(?)"), false)
	if err != nil || rest != "" {
		return nil, false
	}
	return readAsks(parsed, c.Tables)
}

// proposal is a view in the making.
type proposal struct {
	v                 *Views
	from              string
	dims              map[string]string // of a column, the dimension that holds it; "": none does
	columns, measures []string
	ways              int
}

// cover adds what is asked, the dearest first, as long as there is such a view, and returns what
// the charges that it answers have cost.
func (p *proposal) cover(ctx *sql.Context, list []*kind) (rho float64, answered []int) {
	slices.SortFunc(list, func(a, b *kind) int {
		if a.rho != b.rho {
			return map[bool]int{true: -1, false: 1}[a.rho > b.rho]
		}
		return strings.Compare(fmt.Sprint(a.columns, a.measures), fmt.Sprint(b.columns, b.measures))
	})
	for _, k := range list {
		columns, measures := union(p.columns, k.columns), union(p.measures, k.measures)
		if !p.holds(ctx, k) || len(columns) > mostDimensions {
			continue
		}
		if (len(columns) > len(p.columns) || len(measures) > len(p.measures)) && !p.planned(ctx, columns, measures) {
			continue
		}
		p.columns, p.measures, p.ways = columns, measures, max(p.ways, len(k.columns))
		rho, answered = rho+k.rho, append(answered, k.charges...)
	}
	slices.Sort(answered)
	return rho, answered
}

// union is two lists, without what is there twice.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// holds reports whether each column has public values: its own, or as a moment those of its date.
func (p *proposal) holds(ctx *sql.Context, k *kind) bool {
	for _, c := range k.columns {
		if _, known := p.dims[c]; !known {
			p.dims[c] = ""
			for _, dim := range []string{c, "DATE(" + c + ")"} {
				p.dims[c] = dim
				if p.planned(ctx, []string{c}, []string{"COUNT(*)"}) {
					break
				}
				p.dims[c] = ""
			}
		}
		if d := p.dims[c]; d == "" || d != c && k.moments[c] {
			return false
		}
	}
	return true
}

// planned reports whether there is a view of these columns and measures.
func (p *proposal) planned(ctx *sql.Context, columns, measures []string) bool {
	_, err := p.v.planned(ctx, p.definition(columns, measures), Loss{Epsilon: params.DefaultEpsilon}, Options{}.planned(nil, nil))
	return err == nil && ctx.Err() == nil
}

// notWord are the characters that do not stand in a plain name.
var notWord = regexp.MustCompile(`\W+`)

// definition writes the definition.
func (p *proposal) definition(columns, measures []string) string {
	used := map[string]bool{}
	as := func(text string) string {
		name := strings.Trim(notWord.ReplaceAllString(text, "_"), "_")
		for n := 2; used[strings.ToLower(name)]; n++ {
			name = strings.TrimRight(name, "0123456789") + fmt.Sprint(n)
		}
		used[strings.ToLower(name)] = true
		return name
	}
	var items, by []string
	for i, c := range columns {
		plain := c[strings.LastIndex(c, ".")+1:]
		if name := as(plain); p.dims[c] == c && name == plain {
			items = append(items, c)
		} else {
			items = append(items, p.dims[c]+" AS "+sqltext.Name(name))
		}
		by = append(by, fmt.Sprint(i+1))
	}
	for _, m := range measures {
		name := "n"
		if m != "COUNT(*)" {
			name = map[bool]string{true: "n_", false: "s_"}[strings.HasPrefix(m, "COUNT")] + m[strings.Index(m, "(")+1:len(m)-1]
		}
		items = append(items, m+" AS "+sqltext.Name(as(name)))
	}
	return "SELECT " + sqltext.List(items) + " FROM " + p.from + " GROUP BY " + sqltext.List(by)
}

// freeName is a name for a view of a table that no other has.
func (v *Views) freeName(ctx *sql.Context, table string) (store.TableRef, error) {
	schema, name, _ := strings.Cut(table, ".")
	for n := 1; ; n++ {
		ref := store.TableRef{Schema: schema, Name: name + "_view"}
		if n > 1 {
			ref.Name += fmt.Sprint(n)
		}
		_, there, err := v.st.Table(ctx, ref)
		if err == nil && !there {
			there, err = v.Tables.HasView(ctx, ref.Schema, ref.Name)
		}
		if err != nil || !there {
			return ref, err
		}
	}
}

// asks is what a charged statement asks, as far as its text without literals tells.
type asks struct {
	from     string
	columns  []string        // that it filters and groups by
	moments  map[string]bool // columns of which it asks more than the date
	measures []string        // COUNT(*), COUNT(x), SUM(x)
}

// readAsks reads a SELECT of tables by name; false where no view could answer it, or where its text
// does not tell. tables are those that it was charged for.
func readAsks(s sqlparser.Statement, tables []string) (*asks, bool) {
	sel, ok := s.(*sqlparser.Select)
	if !ok || sel.With != nil || sel.Into != nil || len(sel.From) != 1 {
		return nil, false
	}
	a := &asks{moments: map[string]bool{}}
	joined, ok := named(sel.From[0], tables)
	if !ok {
		return nil, false
	}
	a.from = sqlparser.String(sel.From[0])
	plain := !hasSubquery(sel.SelectExprs) && (sel.Where == nil || !hasSubquery(sel.Where)) && (sel.Having == nil || !hasSubquery(sel.Having))
	return a, plain && a.readMeasures(sel) && a.readKeys(sel, joined) && (sel.Where == nil || a.readColumns(sel.Where.Expr, joined)) && len(a.columns) > 0
}

// named names the databases of the tables of a FROM clause by those that were charged for, and
// drops the alias of a single one; false where it is more than tables, or where they are not known.
func named(t sqlparser.TableExpr, tables []string) (joined, ok bool) {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		name, is := t.Expr.(sqlparser.TableName)
		if !is {
			return false, false
		}
		if name.DbQualifier.IsEmpty() {
			at := slices.IndexFunc(tables, func(s string) bool {
				_, last, _ := strings.Cut(s, ".")
				return strings.EqualFold(last, name.Name.String())
			})
			if at < 0 {
				return false, false
			}
			schema, _, _ := strings.Cut(tables[at], ".")
			name.DbQualifier = sqlparser.NewTableIdent(schema)
		}
		t.Expr = sqlparser.TableName{Name: name.Name, DbQualifier: name.DbQualifier}
		t.As = sqlparser.TableIdent{}
		return false, true
	case *sqlparser.JoinTableExpr:
		before := map[*sqlparser.AliasedTableExpr]sqlparser.TableIdent{}
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if x, is := n.(*sqlparser.AliasedTableExpr); is {
				before[x] = x.As
			}
			return true, nil
		}, t)
		_, left := named(t.LeftExpr, tables)
		_, right := named(t.RightExpr, tables)
		for x, as := range before {
			x.As = as
		}
		return true, left && right && !hasValue(t.Condition.On)
	}
	return false, false
}

// readMeasures reads the aggregates: those that a view holds, and means of them.
func (a *asks) readMeasures(sel *sqlparser.Select) bool {
	ok := true
	read := func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.FuncExpr:
			n = barred(n)
			name := strings.TrimPrefix(n.Name.Lowered(), "dp_")
			if !n.IsAggregate() && name == n.Name.Lowered() || name == "interval" {
				return true, nil
			}
			ok = ok && a.readMeasure(name, n)
			return false, nil
		case *sqlparser.GroupConcatExpr, *sqlparser.Subquery:
			ok = false
		}
		return ok, nil
	}
	_ = sqlparser.Walk(read, sel.SelectExprs)
	if sel.Having != nil {
		_ = sqlparser.Walk(read, sel.Having)
	}
	slices.Sort(a.measures)
	a.measures = slices.Compact(a.measures)
	return ok && len(a.measures) > 0
}

// barred is the aggregate that an end of an interval is of, which a view tells too, in the form
// that parse.Adapt gives it; other calls as they are.
func barred(f *sqlparser.FuncExpr) *sqlparser.FuncExpr {
	n := len(f.Exprs) - 3
	if !slices.Contains([]string{"dp_low", "dp_high", "dp_stderr", "dp_law"}, f.Name.Lowered()) || n < 1 {
		return f
	}
	of := &sqlparser.FuncExpr{Name: sqlparser.NewColIdent(strings.Trim(sqlparser.String(f.Exprs[n]), "'")), Exprs: f.Exprs[:n]}
	if hasValue(of.Exprs) && of.Name.Lowered() == "count" {
		of.Exprs = sqlparser.SelectExprs{&sqlparser.StarExpr{}}
	}
	return of
}

func (a *asks) readMeasure(name string, f *sqlparser.FuncExpr) bool {
	if f.Distinct || f.Over != nil || len(f.Exprs) != 1 || hasValue(f.Exprs) {
		return false
	}
	arg := unqualified(f.Exprs[0], a.from)
	switch name {
	case "count", "sum":
		a.measures = append(a.measures, strings.ToUpper(name)+"("+arg+")")
	case "avg":
		a.measures = append(a.measures, "COUNT("+arg+")", "SUM("+arg+")")
	default:
		return false
	}
	return true
}

// readKeys reads the columns of the GROUP BY. A number in it is a literal, which the text does not
// have: then it is by all that is selected beside aggregates.
func (a *asks) readKeys(sel *sqlparser.Select, joined bool) bool {
	byNumber := slices.ContainsFunc(sel.GroupBy, func(e sqlparser.Expr) bool { _, is := e.(*sqlparser.SQLVal); return is })
	for _, e := range sel.SelectExprs {
		x, is := e.(*sqlparser.AliasedExpr)
		if !is {
			return false
		}
		key := byNumber || slices.ContainsFunc(sel.GroupBy, func(g sqlparser.Expr) bool {
			c, is := g.(*sqlparser.ColName)
			return is && !x.As.IsEmpty() && c.Name.EqualString(x.As.String())
		})
		if key && !hasAggregate(x.Expr) && !a.readColumns(x.Expr, joined) {
			return false
		}
	}
	for _, g := range sel.GroupBy {
		c, column := g.(*sqlparser.ColName)
		aliased := column && slices.ContainsFunc(sel.SelectExprs, func(e sqlparser.SelectExpr) bool {
			x, is := e.(*sqlparser.AliasedExpr)
			return is && x.As.EqualString(c.Name.String())
		})
		if _, number := g.(*sqlparser.SQLVal); number || aliased {
			continue
		}
		if !a.readColumns(g, joined) {
			return false
		}
	}
	return true
}

// ofDates are functions of a moment that its date decides.
var ofDates = map[string]bool{"date": true, "year": true, "month": true, "day": true, "dayofmonth": true, "dayofweek": true, "dayofyear": true, "weekday": true,
	"week": true, "weekofyear": true, "yearweek": true, "quarter": true, "dayname": true, "monthname": true, "last_day": true, "to_days": true}

// readColumns adds the columns that an expression reads.
func (a *asks) readColumns(e sqlparser.Expr, joined bool) bool {
	ok, dated := true, map[*sqlparser.ColName]bool{}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.FuncExpr:
			for _, x := range n.Exprs {
				if x, is := x.(*sqlparser.AliasedExpr); is {
					if c, is := x.Expr.(*sqlparser.ColName); is {
						dated[c] = ofDates[n.Name.Lowered()]
					}
				}
			}
		case *sqlparser.ColName:
			if joined && n.Qualifier.IsEmpty() {
				ok = false
				return false, nil
			}
			name := unqualified(n, a.from)
			if date, inside := dated[n]; inside && !date {
				a.moments[name] = true
			}
			if !slices.Contains(a.columns, name) {
				a.columns = append(a.columns, name)
			}
			return false, nil
		}
		return true, nil
	}, e)
	return ok
}

// unqualified writes an expression, without the names of the table where there is one.
func unqualified(n sqlparser.SQLNode, from string) string {
	if strings.Contains(from, " join ") {
		return sqlparser.String(n)
	}
	buf := sqlparser.NewTrackedBuffer(func(buf *sqlparser.TrackedBuffer, n sqlparser.SQLNode) {
		if c, is := n.(*sqlparser.ColName); is {
			n = &sqlparser.ColName{Name: c.Name}
		}
		n.Format(buf)
	})
	buf.Myprintf("%v", n)
	return buf.String()
}

// hasValue reports whether a literal stands in a part of a statement.
func hasValue(n sqlparser.SQLNode) bool {
	return has(n, func(n sqlparser.SQLNode) bool { _, is := n.(*sqlparser.SQLVal); return is })
}

func hasSubquery(n sqlparser.SQLNode) bool {
	return has(n, func(n sqlparser.SQLNode) bool { _, is := n.(*sqlparser.Subquery); return is })
}

func hasAggregate(n sqlparser.SQLNode) bool {
	return has(n, func(n sqlparser.SQLNode) bool {
		f, is := n.(*sqlparser.FuncExpr)
		return is && (f.IsAggregate() || strings.HasPrefix(f.Name.Lowered(), "dp_"))
	})
}

func has(n sqlparser.SQLNode, is func(sqlparser.SQLNode) bool) bool {
	found := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		found = found || is(n)
		return !found, nil
	}, n)
	return found
}
