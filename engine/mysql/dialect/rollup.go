package dialect

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Totals
//
//	SELECT a, b, SUM(x) FROM t GROUP BY a, b WITH ROLLUP
//
// is the groups, the totals of each a, and the total, in the order of the groups with each total
// behind what it sums up:
//
//	SELECT a, b, c3 AS `SUM(x)` FROM (
//	          SELECT a, b,       SUM(x) AS c3, 0 AS g1, a    AS k1, 0 AS g2, b    AS k2 FROM t GROUP BY a, b
//	UNION ALL SELECT a, NULL AS b, SUM(x),     0,       a,          1,       NULL       FROM t GROUP BY a
//	UNION ALL SELECT NULL, NULL,   SUM(x),     1,       NULL,       1,       NULL       FROM t
//	) AS `rollup` ORDER BY g1, k1, g2, k2
//
// Each part is an aggregation of its own: on protected rows a release with its own price. What a
// part has no key for is NULL wherever the key stands outside an aggregate, and GROUPING(key) is a
// number. HAVING belongs to the parts, ORDER BY and LIMIT to the whole.

// rollups rewrites every SELECT of a statement that has totals, the inner ones first.
func rollups(s ast.Statement) error {
	var found []*ast.Select
	everywhere(s, func(n ast.SQLNode) {
		if sel, ok := n.(*ast.Select); ok && rolled(sel) && !slices.Contains(found, sel) { // that of CREATE TABLE is met twice
			found = append(found, sel)
		}
	})
	for i := len(found) - 1; i >= 0; i-- {
		if parts := len(found[i].GroupBy); nodes(found[i])*parts > maxRollup {
			return rollupRefusal("The totals of WITH ROLLUP are too many aggregations.", "Ask for fewer keys, or for the totals of one SELECT at a time.")
		}
		if err := rollUp(found[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxRollup bounds what the totals of a SELECT come to, in parts of the syntax tree. Totals over a
// subquery that has totals itself repeat all of it for each of theirs, so that a short text could
// ask for more than there is memory.
const maxRollup = 100_000

// nodes counts the parts of a tree.
func nodes(s ast.SQLNode) int {
	n := 0
	everywhere(s, func(ast.SQLNode) { n++ })
	return n
}

// rolled reports whether a SELECT's keys end with the mark.
func rolled(sel *ast.Select) bool {
	if len(sel.GroupBy) == 0 {
		return false
	}
	f, ok := sel.GroupBy[len(sel.GroupBy)-1].(*ast.FuncExpr)
	return ok && f.Name.Lowered() == RollupMark
}

// total is the rewriting of one SELECT.
type total struct {
	sel   *ast.Select
	keys  []rollKey
	names []string // of the columns of the parts that the SELECT lists
	order []ast.Expr
	err   error
}

// rollKey is a key: as GROUP BY gives it, and the expression behind an alias or a number.
type rollKey struct{ written, meant ast.Expr }

func rollUp(sel *ast.Select) error {
	t := &total{sel: sel}
	if err := t.read(); err != nil {
		return err
	}
	outer := t.frame()
	outer.With, outer.Comments, outer.QueryOpts, outer.Limit, outer.Lock, outer.Into = sel.With, sel.Comments, sel.QueryOpts, sel.Limit, sel.Lock, sel.Into
	outer.OrderBy = t.ordered() // what it orders by is added to the parts
	union := t.part(len(t.keys))
	for level := len(t.keys) - 1; level >= 0; level-- {
		union = &ast.SetOp{Type: ast.UnionAllStr, Left: union, Right: t.part(level)}
	}
	outer.From[0].(*ast.AliasedTableExpr).Expr.(*ast.Subquery).Select = union
	if t.err != nil {
		return t.err
	}
	*sel = *outer
	return nil
}

// read finds the keys and names the columns.
func (t *total) read() error {
	taken := map[string]bool{}
	for i, e := range t.sel.SelectExprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok {
			return rollupRefusal("WITH ROLLUP wants its columns by name.", "Write the columns of the SELECT list out.")
		}
		name := columnName(a)
		if a.As.IsEmpty() && !isColumn(a.Expr) || hides(a) || taken[strings.ToLower(name)] {
			name = fmt.Sprintf("column %d", i+1)
		}
		taken[strings.ToLower(name)] = true
		t.names = append(t.names, name)
	}
	for _, e := range t.sel.GroupBy[:len(t.sel.GroupBy)-1] {
		k := rollKey{e, e}
		if i, ok := t.listed(e); ok && !t.shadowed(i, e) {
			k.meant = t.expr(i)
			if _, number := e.(*ast.SQLVal); number {
				k.written = k.meant
			}
		}
		t.keys = append(t.keys, k)
	}
	if len(t.keys) == 0 {
		return rollupRefusal("WITH ROLLUP wants keys.", "Write GROUP BY a, b WITH ROLLUP.")
	}
	return nil
}

func rollupRefusal(cause, remedy string) error {
	return refuse.New(refuse.Unsupported, "%s", cause).With("%s", remedy)
}

func (t *total) expr(i int) ast.Expr { return t.sel.SelectExprs[i].(*ast.AliasedExpr).Expr }

// listed finds the column of the SELECT list that an expression of GROUP BY or ORDER BY means: by
// its number, its alias or what it says.
func (t *total) listed(e ast.Expr) (int, bool) {
	if v, ok := e.(*ast.SQLVal); ok && v.Type == ast.IntVal {
		n := 0
		if _, err := fmt.Sscan(string(v.Val), &n); err == nil && n >= 1 && n <= len(t.sel.SelectExprs) {
			return n - 1, true
		}
		return 0, false
	}
	if c, ok := e.(*ast.ColName); ok && c.Qualifier.IsEmpty() {
		for i, x := range t.sel.SelectExprs {
			if a := x.(*ast.AliasedExpr); !a.As.IsEmpty() && a.As.Lowered() == c.Name.Lowered() {
				return i, true
			}
		}
	}
	for i := range t.sel.SelectExprs {
		if same(t.expr(i), e) {
			return i, true
		}
	}
	return 0, false
}

// shadowed reports whether a key is the column of a table that column i of the list hides under its
// alias: GROUP BY means the table's.
func (t *total) shadowed(i int, key ast.Expr) bool {
	a := t.sel.SelectExprs[i].(*ast.AliasedExpr)
	return isColumn(key) && hides(a) && same(key, &ast.ColName{Name: a.As})
}

// hides reports whether a column of the list has the name of a column that it is made from:
// COALESCE(a, 'all') AS a. An alias cannot be used beside it in the list, so that the name inside
// is the column of a table.
func hides(a *ast.AliasedExpr) bool {
	if a.As.IsEmpty() || isColumn(a.Expr) {
		return false
	}
	found := false
	copyOf(a.Expr, func(e ast.Expr) (ast.Expr, bool) {
		found = found || isColumn(e) && same(e, &ast.ColName{Name: a.As})
		return nil, true
	})
	return found
}

// frame is the outer SELECT, over a subquery that is still to come.
func (t *total) frame() *ast.Select {
	outer := derived("with rollup")
	for i, e := range t.sel.SelectExprs {
		outer.SelectExprs = append(outer.SelectExprs, &ast.AliasedExpr{
			Expr: column(t.names[i]), As: ast.NewColIdent(columnName(e.(*ast.AliasedExpr)))})
	}
	return outer
}

// derived is SELECT FROM (…) AS name, whose columns and whose subquery are still to come.
func derived(name string) *ast.Select {
	s, err := ast.Parse("SELECT 1 FROM (SELECT 1) AS `" + name + "`")
	if err != nil {
		panic("dialect: " + err.Error()) // a fixed text
	}
	outer := s.(*ast.Select)
	outer.SelectExprs = nil
	return outer
}

// ordered is the order of the whole: the one that is asked for, or else the groups' with each total
// last.
func (t *total) ordered() ast.OrderBy {
	var out ast.OrderBy
	by := func(e ast.Expr, direction string) { out = append(out, &ast.Order{Expr: e, Direction: direction}) }
	for _, o := range t.sel.OrderBy {
		if i, ok := t.listed(o.Expr); ok {
			by(column(t.names[i]), o.Direction)
			continue
		}
		if t.sel.QueryOpts.Distinct {
			t.err = rollupRefusal("SELECT DISTINCT … WITH ROLLUP is ordered by what it lists.", "Add the expression to the SELECT list.")
		}
		t.order = append(t.order, o.Expr)
		by(column(hidden("order", len(t.order))), o.Direction)
	}
	if len(t.sel.OrderBy) == 0 && !t.sel.QueryOpts.Distinct {
		for i := range t.keys {
			by(column(hidden("grouping", i+1)), ast.AscScr)
			by(column(hidden("key", i+1)), ast.AscScr)
		}
	}
	return out
}

// part is the aggregation by the first keys.
func (t *total) part(level int) ast.SelectStatement {
	s := &ast.Select{From: copyOf(t.sel.From, nil), Where: copyOf(t.sel.Where, nil), Window: copyOf(t.sel.Window, nil)}
	if level == 0 && !t.aggregates() {
		s.From, s.Where, s.Window = nil, nil, nil // one row of NULLs
	}
	s.GroupBy = append(s.GroupBy, lists.Map(t.keys[:level], func(k rollKey) ast.Expr { return copyOf(k.written, nil) })...)
	for i := range t.sel.SelectExprs {
		s.SelectExprs = append(s.SelectExprs, &ast.AliasedExpr{Expr: t.at(level, t.expr(i)), As: ast.NewColIdent(t.names[i])})
	}
	add := func(e ast.Expr, name string) {
		s.SelectExprs = append(s.SelectExprs, &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(name)})
	}
	for i, e := range t.order {
		add(t.at(level, e), hidden("order", i+1))
	}
	for i, k := range t.keys {
		if len(t.sel.OrderBy) > 0 || t.sel.QueryOpts.Distinct {
			break
		}
		add(ast.NewIntVal([]byte{'0' + bit(i >= level)}), hidden("grouping", i+1))
		add(t.at(level, k.meant), hidden("key", i+1))
	}
	if t.sel.Having != nil {
		s.Having = &ast.Where{Type: t.sel.Having.Type, Expr: t.at(level, t.sel.Having.Expr)}
	}
	return s
}

// at copies an expression for the part with the first keys: the others are NULL in it, outside
// aggregates and subqueries.
func (t *total) at(level int, e ast.Expr) ast.Expr {
	f := func(e ast.Expr) (ast.Expr, bool) {
		if slices.ContainsFunc(t.keys[level:], func(k rollKey) bool { return same(e, k.written) || same(e, k.meant) }) {
			return &ast.NullVal{}, false
		}
		if call, ok := e.(*ast.FuncExpr); ok && call.Name.Lowered() == "grouping" {
			return t.grouping(level, call), false
		}
		_, sub := e.(*ast.Subquery)
		return nil, !sub && !aggregate(e)
	}
	return copyOf(e, f)
}

// grouping is the number that GROUPING(a, b) is in a part: a bit for each argument, set where the
// part has no such key.
func (t *total) grouping(level int, call *ast.FuncExpr) ast.Expr {
	n := 0
	for i, x := range call.Exprs {
		at := -1
		if a, ok := x.(*ast.AliasedExpr); ok {
			for k, key := range t.keys {
				if same(a.Expr, key.written) || same(a.Expr, key.meant) {
					at = k
				}
			}
		}
		if at < 0 {
			t.err = rollupRefusal(fmt.Sprintf("Argument #%d of GROUPING function is not in GROUP BY.", i), "Name a key of GROUP BY … WITH ROLLUP.")
		}
		n = 2*n + int(bit(at >= level))
	}
	return ast.NewIntVal(strconv.AppendInt(nil, int64(n), 10))
}

// aggregates reports whether the SELECT has an aggregate of its own.
func (t *total) aggregates() bool {
	found := false
	look := func(e ast.Expr) (ast.Expr, bool) {
		found = found || aggregate(e)
		_, sub := e.(*ast.Subquery)
		return nil, !sub
	}
	for i := range t.sel.SelectExprs {
		copyOf(t.expr(i), look)
	}
	if t.sel.Having != nil {
		copyOf(t.sel.Having.Expr, look)
	}
	for _, e := range t.order {
		copyOf(e, look)
	}
	return found
}

// aggregate reports whether an expression is the call of an aggregate, or of a function of its
// answer.
func aggregate(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.GroupConcatExpr:
		return true
	case *ast.FuncExpr:
		if e.Over != nil || e.IsAggregate() || e.Name.Lowered() == "any_value" {
			return true
		}
		_, known := functions.ByName(e.Name.Lowered())
		_, bar := functions.ErrorBarByName(e.Name.Lowered())
		return known || bar
	}
	return false
}

// same reports whether two expressions say the same, a column with or without its table.
func same(a, b ast.Expr) bool {
	a, b = plain(a), plain(b)
	x, one := a.(*ast.ColName)
	y, two := b.(*ast.ColName)
	if one && two {
		return x.Name.Lowered() == y.Name.Lowered() &&
			(x.Qualifier.IsEmpty() || y.Qualifier.IsEmpty() || strings.EqualFold(ast.String(x.Qualifier), ast.String(y.Qualifier)))
	}
	return !one && !two && ast.String(a) == ast.String(b)
}

func plain(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

func isColumn(e ast.Expr) bool {
	_, ok := e.(*ast.ColName)
	return ok
}

// columnName is the name that a column of an answer has.
func columnName(a *ast.AliasedExpr) string {
	switch c, ok := a.Expr.(*ast.ColName); {
	case !a.As.IsEmpty():
		return a.As.String()
	case ok:
		return c.Name.String()
	case a.InputExpression != "":
		return a.InputExpression
	}
	return ast.String(a.Expr)
}

func column(name string) ast.Expr { return &ast.ColName{Name: ast.NewColIdent(name)} }

// hidden names a column of the parts that the answer has not.
func hidden(what string, i int) string { return fmt.Sprintf("with rollup %s %d", what, i) }

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// swap tells what takes the place of an expression in a copy: by, or, where that is nil, the
// expression's own copy, in whose parts it is asked again if inside is set.
type swap func(e ast.Expr) (by ast.Expr, inside bool)

// copyOf copies a part of a syntax tree, so that no node is shared: later steps change trees in
// place.
func copyOf[T any](part T, f swap) T {
	var out T
	reflect.ValueOf(&out).Elem().Set(copyValue(reflect.ValueOf(&part).Elem(), f))
	return out
}

// copyValue copies a value. What is not exported is taken over: names, which nobody changes.
func copyValue(v reflect.Value, f swap) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if e, ok := v.Interface().(ast.Expr); ok && f != nil {
			by, inside := f(e)
			if by != nil {
				out.Set(reflect.ValueOf(by))
				return out
			}
			if !inside {
				f = nil
			}
		}
		out.Set(copyValue(v.Elem(), f))
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyValue(v.Elem(), f))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyValue(v.Index(i), f))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(copyValue(v.Field(i), f))
			}
		}
		return out
	}
	return v
}
