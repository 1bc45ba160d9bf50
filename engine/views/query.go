package views

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator/view"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner"
	"scrim/planner/plan"
)

// Sum is one sum of cells of a view, with its error.
type Sum struct {
	Group  string // the values of the dimensions that it is of, as JSON
	Column string
	Value  float64
	StdErr float64
	// Low and High hold what is exact with the level asked for: by the noise, and by an estimate of
	// what the clip may take.
	Low, High float64
}

// Limits of one query.
const mostGroups = 4096

// asked is a statement on a view, read.
type asked struct {
	record *Record
	where  string
	by     []string
	sums   []Measure
}

// Sums answers a statement on one view, SELECT dimensions, SUM(measure) FROM view WHERE … GROUP BY
// dimensions, by the numbers without bias, each with its standard error and an interval. It reads
// the view with the rights of the session, and costs nothing.
func (v *Views) Sums(ctx *sql.Context, query string, level float64) ([]Sum, error) {
	a, err := v.read(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := v.cells(ctx, a)
	if err != nil {
		return nil, err
	}
	return a.sum(ctx, rows, level)
}

// read reads the statement.
func (v *Views) read(ctx *sql.Context, query string) (*asked, error) {
	parsed, _, rest, err := v.Engine.Parser.Parse(ctx, query, false)
	if err != nil {
		return nil, mysqlerr.OfParser(err)
	}
	sel, ok := parsed.(*sqlparser.Select)
	if !ok || rest != "" || sel.Having != nil || sel.Limit != nil || sel.With != nil || sel.Into != nil || len(sel.From) != 1 {
		return nil, notAsked("The statement is not one plain SELECT on a view.")
	}
	from, ok := sel.From[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return nil, notAsked("The statement does not read one view.")
	}
	name, ok := from.Expr.(sqlparser.TableName)
	if !ok || !from.As.IsEmpty() {
		return nil, notAsked("The statement does not read one view under its own name.")
	}
	ref := store.TableRef{Schema: strings.ToLower(name.DbQualifier.String()), Name: strings.ToLower(name.Name.String())}
	if ref.Schema == "" {
		ref.Schema = strings.ToLower(ctx.GetCurrentDatabase())
	}
	a := &asked{}
	if a.record, err = v.find(ref); err != nil {
		return nil, err
	}
	if sel.Where != nil {
		a.where = " WHERE " + sqlparser.String(sel.Where.Expr)
	}
	if err := lists.Each(sel.SelectExprs, a.column); err != nil {
		return nil, err
	}
	for _, g := range sel.GroupBy {
		c, ok := g.(*sqlparser.ColName)
		if !ok || !slices.ContainsFunc(a.by, func(d string) bool { return strings.EqualFold(d, c.Name.String()) }) {
			return nil, notAsked("The GROUP BY names something other than the dimensions that are selected.")
		}
	}
	if len(sel.GroupBy) != len(a.by) || len(a.sums) == 0 {
		return nil, notAsked("The statement wants SUM of a measure, and a GROUP BY of each dimension that is selected.")
	}
	return a, nil
}

// column reads one selected expression.
func (a *asked) column(e sqlparser.SelectExpr) error {
	plain := notAsked(fmt.Sprintf("%.80s is neither a dimension nor SUM of a measure of the view.", sqlparser.String(e)))
	x, ok := e.(*sqlparser.AliasedExpr)
	if !ok {
		return plain
	}
	switch x := x.Expr.(type) {
	case *sqlparser.ColName:
		for _, d := range a.record.Dimensions {
			if strings.EqualFold(d.Column, x.Name.String()) {
				a.by = append(a.by, d.Column)
				return nil
			}
		}
	case *sqlparser.FuncExpr:
		if !x.Name.EqualString("sum") || x.Distinct || len(x.Exprs) != 1 {
			return plain
		}
		arg, ok := x.Exprs[0].(*sqlparser.AliasedExpr)
		if !ok {
			return plain
		}
		c, ok := arg.Expr.(*sqlparser.ColName)
		if !ok {
			return plain
		}
		for _, m := range a.record.Measures {
			if c.Name.EqualString(m.Column) || c.Name.EqualString(m.Column+"_noisy") {
				a.sums = append(a.sums, m)
				return nil
			}
		}
	}
	return plain
}

func notAsked(cause string) error {
	return refuse.New(refuse.View, "%s", cause).
		With("For example CALL dp_view_errors('SELECT region, SUM(n) FROM shop.sales WHERE day >= ''2025-06-01'' GROUP BY region').")
}

// cells reads the cells of the condition: the dimensions, in the order of the cube's, then what is
// asked for.
func (v *Views) cells(ctx *sql.Context, a *asked) ([]sql.Row, error) {
	columns := make([]string, len(a.record.Dimensions))
	for _, d := range a.record.Dimensions {
		columns[d.At] = sqltext.Name(d.Column)
	}
	columns = append(columns, lists.Map(a.sums, func(m Measure) string { return sqltext.Name(m.Column + "_noisy") })...)
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + sqltext.Name(a.record.Schema) + "." + sqltext.Name(a.record.Name) + a.where
	parsed, _, _, err := v.Engine.Parser.Parse(ctx, text, false)
	if err != nil {
		return nil, mysqlerr.OfParser(err)
	}
	n, err := planner.Analyze(ctx, v.Engine, text, parsed)
	if err != nil {
		return nil, err
	}
	if _, private := n.(*plan.Budget); private {
		return nil, notAsked("The condition reads a protected table.")
	}
	iter, err := v.Engine.Analyzer.ExecBuilder.Build(ctx, n, nil)
	if err != nil {
		return nil, err
	}
	return sql.RowIterToRows(ctx, iter)
}

// group is what a sum is of.
type group struct {
	text   string
	cells  []int
	values []float64
}

// sum adds up the cells of each group.
func (a *asked) sum(ctx *sql.Context, rows []sql.Row, level float64) ([]Sum, error) {
	r := a.record
	n := r.number()
	by := make([]int, len(a.by))
	for i, name := range a.by {
		at := slices.IndexFunc(r.Dimensions, func(d Dimension) bool { return d.Column == name })
		by[i] = r.Dimensions[at].At
	}
	var groups []*group
	known := map[string]*group{}
	for _, row := range rows {
		cell, err := n.of(row)
		if err != nil {
			return nil, err
		}
		text, err := groupText(a.by, by, row)
		if err != nil {
			return nil, err
		}
		g := known[text]
		if g == nil {
			if len(groups) == mostGroups {
				return nil, notAsked(fmt.Sprintf("The statement has more than %d groups.", mostGroups))
			}
			g = &group{text: text, values: make([]float64, len(a.sums))}
			known[text], groups = g, append(groups, g)
		}
		g.cells = append(g.cells, cell)
		for i := range a.sums {
			x, _ := row[len(r.Dimensions)+i].(float64)
			g.values[i] += x
		}
	}
	return a.errors(ctx, groups, n.cells, level)
}

// errors tells the sums of the groups with their errors. It ends with the statement: each group
// takes time in proportion to the cells of the view.
func (a *asked) errors(ctx *sql.Context, groups []*group, cells int, level float64) ([]Sum, error) {
	z := math.Sqrt2 * math.Erfinv(level)
	of, err := lists.Try(a.sums, func(m Measure) (func([]float64) float64, error) {
		return view.StdErrs(a.record.Params, m.At, m.Clip, m.Near)
	})
	if err != nil {
		return nil, err
	}
	var out []Sum
	weights := make([]float64, cells)
	for _, g := range groups {
		clear(weights)
		for _, c := range g.cells {
			weights[c] = 1
		}
		for i, m := range a.sums {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s := Sum{Group: g.text, Column: m.Column, Value: g.values[i], StdErr: of[i](weights)}
			size := math.Abs(s.Value)
			s.Low, s.High = s.Value-z*s.StdErr-m.Near*size, s.Value+z*s.StdErr+m.Wide*size
			if a.record.Params.Signed(m.At) { // what the clip takes may be of either sign
				s.Low -= m.Wide * size
				s.High += m.Near * size
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// shown writes the value of a dimension.
func shown(v any) string {
	t, ok := v.(time.Time)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

// groupText writes the values of the dimensions of a group as JSON.
func groupText(names []string, at []int, row sql.Row) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range names {
		var text any
		if v := row[at[i]]; v != nil {
			text = shown(v)
		}
		value, err := json.Marshal(text)
		if err != nil {
			return "", err
		}
		key, _ := json.Marshal(name) // of a text
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", key, value)
	}
	b.WriteByte('}')
	return b.String(), nil
}
