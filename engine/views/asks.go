package views

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

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
			name := strings.TrimPrefix(n.Name.Lowered(), "dp_")
			if !n.IsAggregate() && name == n.Name.Lowered() {
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
