package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions/standard"
	"scrim/internal/refuse"
)

// Window functions over groups
//
//	SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY SUM(x)) FROM t GROUP BY city HAVING n > 5 ORDER BY n
//
// are window functions over the rows of an aggregation:
//
//	SELECT city AS city, n AS n, RANK() OVER (ORDER BY w1) AS `RANK() OVER (ORDER BY SUM(x))`
//	FROM (SELECT city, COUNT(*) AS n, SUM(x) AS w1 FROM t GROUP BY city HAVING n > 5) AS `window` ORDER BY 2
//
// On protected rows the aggregation is released as it would be by itself, and what is around it
// reads released rows only. Columns of the list without a window function are the aggregation's,
// with their aliases, which HAVING, GROUP BY and error bars may name. Of the others, the
// aggregates, keys, columns and subqueries are; operators stay outside, so that no quotient is
// rounded on the way. DISTINCT, ORDER BY and LIMIT belong to the whole.
//
// Aggregates in HAVING over several tables are columns of such an aggregation, too: the binder
// finds their arguments by name, in the first table that has it.

// windows rewrites every SELECT of a statement that has window functions over groups, or such a
// HAVING, the inner ones first.
func windows(s ast.Statement) error {
	var found []*ast.Select
	everywhere(s, func(n ast.SQLNode) {
		if sel, ok := n.(*ast.Select); ok && (windowed(sel) || sifted(sel)) {
			found = append(found, sel)
		}
	})
	for i := len(found) - 1; i >= 0; i-- {
		if err := overGroups(found[i]); err != nil {
			return err
		}
	}
	return nil
}

// overs gives the functions with an OVER clause the names under which they are bound, and before
// their arguments how many of the same text come before: the binder takes a second one in ORDER BY
// for ambiguous. It refuses those that stand where MySQL has none.
func overs(s ast.Statement) error {
	found, standing, texts := []*ast.FuncExpr(nil), map[*ast.FuncExpr]bool{}, map[string]int{}
	everywhere(s, func(n ast.SQLNode) {
		switch n := n.(type) {
		case *ast.FuncExpr:
			if n.Over != nil && !slices.Contains(found, n) {
				found = append(found, n)
			}
		case *ast.Select:
			_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
				_, sub := n.(*ast.Subquery)
				f, call := n.(*ast.FuncExpr)
				if call && f.Over != nil {
					standing[f] = true
				}
				return !sub && !(call && (f.Over != nil || f.IsAggregate())), nil
			}, n.SelectExprs, n.OrderBy)
		}
	})
	for _, f := range found {
		name, text := f.Name.Lowered(), strings.ToLower(ast.String(f))
		switch {
		case !standing[f]:
			return mysql.NewSQLError(errWindowUse, mysql.SSUnknownSQLState, "You cannot use the window function '%s' in this context.", name)
		case f.Distinct:
			return mysql.NewSQLError(mysql.ERNotSupportedYet, "42000", "This version of MySQL doesn't yet support '<window function>(DISTINCT ..)'")
		case name == "count" && ast.String(f.Exprs) == "*":
			f.Exprs = ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1"))}}
		}
		before := &ast.AliasedExpr{Expr: ast.NewIntVal(fmt.Append(nil, texts[text]))}
		texts[text]++
		f.Name, f.Exprs = ast.NewColIdent(standard.Windowed(name)), append(ast.SelectExprs{before}, f.Exprs...)
	}
	return nil
}

// errWindowUse is MySQL's ER_WINDOW_INVALID_WINDOW_FUNC_USE.
const errWindowUse = 3593

// windowed reports whether a SELECT itself has both groups and window functions.
func windowed(sel *ast.Select) bool {
	over, star := false, false
	grouped := len(sel.GroupBy) > 0
	look := func(e ast.Expr) (ast.Expr, bool) {
		over = over || isWindow(e)
		grouped = grouped || !isWindow(e) && aggregate(e)
		_, sub := e.(*ast.Subquery)
		return nil, !sub
	}
	for _, e := range sel.SelectExprs {
		_, named := e.(*ast.AliasedExpr)
		star = star || !named
	}
	copyOf(sel.SelectExprs, look)
	copyOf(sel.OrderBy, look)
	copyOf(sel.Window, look)
	if sel.Having != nil && over {
		copyOf(sel.Having.Expr, look)
	}
	return over && grouped && !star
}

// sifted reports whether a HAVING has an aggregate of a column of another table than the first.
func sifted(sel *ast.Select) bool {
	if sel.Having == nil || slices.ContainsFunc(sel.SelectExprs, func(e ast.SelectExpr) bool { _, named := e.(*ast.AliasedExpr); return !named }) {
		return false
	}
	first, found := "", false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		t, ok := n.(*ast.AliasedTableExpr)
		if ok && first == "" {
			if first = t.As.String(); first == "" {
				name, _ := t.Expr.(ast.TableName)
				first = name.Name.String()
			}
		}
		return !ok, nil
	}, sel.From)
	copyOf(sel.Having.Expr, func(e ast.Expr) (ast.Expr, bool) {
		_, sub := e.(*ast.Subquery)
		if !sub && aggregate(e) && !isWindow(e) {
			copyOf(e, func(e ast.Expr) (ast.Expr, bool) {
				c, ok := e.(*ast.ColName)
				found = found || ok && !c.Qualifier.IsEmpty() && !strings.EqualFold(c.Qualifier.Name.String(), first)
				return nil, true
			})
		}
		return nil, !sub
	})
	return found
}

func isWindow(e ast.Expr) bool {
	f, ok := e.(*ast.FuncExpr)
	return ok && f.Over != nil
}

// holdsWindow reports whether there is a window function in an expression, outside its subqueries.
func holdsWindow(e ast.Expr) bool {
	found := false
	copyOf(e, func(e ast.Expr) (ast.Expr, bool) {
		found = found || isWindow(e)
		_, sub := e.(*ast.Subquery)
		return nil, !found && !sub
	})
	return found
}

// windowing is the rewriting of one SELECT.
type windowing struct {
	sel   *ast.Select
	inner *ast.Select // the aggregation
	// by column of the list: its place in the aggregation from 1 on, 0 for those with a window
	// function
	at      []int
	names   []string          // by column of the list: its name in the aggregation
	added   map[string]string // by text: names of columns of the aggregation that the list has not
	taken   map[string]bool   // names of the aggregation's columns, in lower case
	keys    map[string]bool   // texts of the keys that are no columns, without tables
	ordered bool              // aliases of the list count
	err     error
}

func overGroups(sel *ast.Select) error {
	w := &windowing{sel: sel, added: map[string]string{}, taken: map[string]bool{}, keys: map[string]bool{}}
	w.inner = &ast.Select{From: sel.From, Where: sel.Where, Having: sel.Having}
	outer := derived("window")
	w.list()
	w.group()
	if sifted(sel) {
		w.inner.Having = &ast.Where{Type: sel.Having.Type, Expr: copyOf(sel.Having.Expr, func(e ast.Expr) (ast.Expr, bool) {
			if aggregate(e) {
				return w.column(e), false
			}
			_, sub := e.(*ast.Subquery)
			return nil, !sub
		})}
	}
	for i, e := range sel.SelectExprs {
		a := e.(*ast.AliasedExpr)
		x := a.Expr
		if w.at[i] > 0 {
			x = column(w.names[i])
		} else {
			x = w.outside(x)
		}
		outer.SelectExprs = append(outer.SelectExprs, &ast.AliasedExpr{Expr: x, As: ast.NewColIdent(columnName(a))})
	}
	outer.Window = copyOf(sel.Window, w.swap)
	w.ordered = true
	for _, o := range sel.OrderBy {
		x := o.Expr
		if i, ok := w.find().listed(x); ok {
			x = ast.NewIntVal(fmt.Append(nil, i+1))
		} else {
			x = w.outside(x)
		}
		outer.OrderBy = append(outer.OrderBy, &ast.Order{Expr: x, Direction: o.Direction})
	}
	if len(w.inner.SelectExprs) == 0 {
		w.add(ast.NewIntVal([]byte("1")), "window 1")
	}
	if w.check(); w.err != nil {
		return w.err
	}
	outer.With, outer.Comments, outer.QueryOpts, outer.Limit, outer.Lock, outer.Into = sel.With, sel.Comments, sel.QueryOpts, sel.Limit, sel.Lock, sel.Into
	outer.From[0].(*ast.AliasedTableExpr).Expr.(*ast.Subquery).Select = w.inner
	*sel = *outer
	return nil
}

// find looks for columns of the list.
func (w *windowing) find() *total { return &total{sel: w.sel} }

// list puts the columns of the list that have no window function into the aggregation.
func (w *windowing) list() {
	for i, e := range w.sel.SelectExprs {
		a := e.(*ast.AliasedExpr)
		if holdsWindow(a.Expr) {
			w.at, w.names = append(w.at, 0), append(w.names, "")
			continue
		}
		name := columnName(a)
		if a.As.IsEmpty() && !isColumn(a.Expr) || w.taken[strings.ToLower(name)] {
			name = fmt.Sprintf("window column %d", i+1)
		}
		w.add(a.Expr, name)
		w.at, w.names = append(w.at, len(w.inner.SelectExprs)), append(w.names, name)
	}
}

// add gives the aggregation a column.
func (w *windowing) add(e ast.Expr, name string) {
	w.taken[strings.ToLower(name)] = true
	w.inner.SelectExprs = append(w.inner.SelectExprs, &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(name)})
}

// group takes the keys over. A number is the column's in the aggregation. A name that only a window
// function has is a column of a table.
func (w *windowing) group() {
	for _, k := range w.sel.GroupBy {
		meant := k
		_, number := k.(*ast.SQLVal)
		switch i, ok := w.find().listed(k); {
		case ok && w.at[i] == 0 && number:
			w.early(w.sel.SelectExprs[i])
		case ok && w.at[i] > 0 && !w.find().shadowed(i, k):
			meant = w.find().expr(i)
			if number {
				k = ast.NewIntVal(fmt.Append(nil, w.at[i]))
			}
		}
		if !isColumn(plain(meant)) {
			w.keys[bare(meant)] = true
		}
		w.inner.GroupBy = append(w.inner.GroupBy, k)
	}
}

// check refuses a HAVING that names a window function by its alias.
func (w *windowing) check() {
	if w.sel.Having == nil {
		return
	}
	copyOf(w.sel.Having.Expr, func(e ast.Expr) (ast.Expr, bool) {
		if c, ok := e.(*ast.ColName); ok && c.Qualifier.IsEmpty() && !w.taken[c.Name.Lowered()] {
			for i, x := range w.sel.SelectExprs {
				if w.at[i] == 0 && x.(*ast.AliasedExpr).As.Lowered() == c.Name.Lowered() {
					w.early(x)
				}
			}
		}
		_, sub := e.(*ast.Subquery)
		return nil, !sub
	})
}

// early refuses that keys or HAVING name a window function.
func (w *windowing) early(e ast.SelectExpr) {
	w.err = refuse.New(refuse.Unsupported, "GROUP BY and HAVING cannot use '%.64s', which has a window function.", columnName(e.(*ast.AliasedExpr))).With(
		"%s", "Filter or group the answer in a query around it: SELECT * FROM (SELECT g, RANK() OVER (ORDER BY COUNT(*)) AS r FROM t GROUP BY g) x WHERE r <= 3.")
}

// outside is an expression over the columns of the aggregation.
func (w *windowing) outside(e ast.Expr) ast.Expr { return copyOf(e, w.swap) }

// swap puts columns of the aggregation into the place of what only it can compute.
func (w *windowing) swap(e ast.Expr) (ast.Expr, bool) {
	if c, ok := e.(*ast.ColName); ok {
		if strings.HasPrefix(c.Name.String(), "@") {
			return nil, false
		}
		if i, ok := w.find().listed(c); ok && w.ordered && c.Qualifier.IsEmpty() {
			if w.at[i] > 0 {
				return column(w.names[i]), false
			}
			return nil, false // by its alias
		}
		return w.column(e), false
	}
	if isWindow(e) {
		return nil, true
	}
	_, sub := e.(*ast.Subquery)
	if sub || aggregate(e) || grouping(e) || asks(e) && !holdsWindow(e) || len(w.keys) > 0 && w.keys[bare(e)] {
		return w.column(e), false
	}
	return nil, true
}

// column is the aggregation's column of an expression.
func (w *windowing) column(e ast.Expr) ast.Expr {
	text := ast.String(e)
	name, ok := w.added[text]
	if !ok {
		name = fmt.Sprintf("window %d", len(w.added)+1)
		w.added[text] = name
		w.add(copyOf(e, nil), name)
	}
	return column(name)
}

func grouping(e ast.Expr) bool {
	f, ok := e.(*ast.FuncExpr)
	return ok && f.Name.Lowered() == "grouping"
}

// asks reports whether an expression is a test of a subquery of any number of rows.
func asks(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ExistsExpr:
		return true
	case *ast.ComparisonExpr:
		_, sub := e.Right.(*ast.Subquery)
		return sub
	}
	return false
}

// bare is the text of an expression without the tables of its columns.
func bare(e ast.Expr) string {
	return ast.String(copyOf(plain(e), func(e ast.Expr) (ast.Expr, bool) {
		if c, ok := e.(*ast.ColName); ok {
			return &ast.ColName{Name: ast.NewColIdent(c.Name.Lowered())}, false
		}
		return nil, true
	}))
}
