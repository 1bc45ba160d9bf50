package cells

import (
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner/aggregate"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/settings"
)

// Answer is what a view tells of an aggregation.
type Answer struct {
	View plan.View
	Sums []Sum // of each aggregate
	// of each group, by aggregate; groups are numbered as the executor does, by the keys in the
	// order of the grouping, the last one fastest
	Groups [][]estimator.Estimate
}

// Sum tells of one aggregate.
type Sum struct {
	plan.ViewSum
	Clip float64 // about what one person counts for, in units of the answer, where StdErr is; 0: not known
	Cut  float64 // about how far what the clip takes may be from what was added for it, likewise
}

// Error is the expected error: of the noise, and of what the clip takes.
func (s Sum) Error() float64 { return math.Hypot(s.StdErr, s.Cut) }

// maxErrors bounds groups times cells of what is answered: the error of each group takes time in
// proportion to the cells.
const maxErrors = 1 << 25

// Find answers an aggregation from a view. Where its cells do not tell it, why says so.
func Find(ctx *sql.Context, d *Definition, q *Question) (answer *Answer, why string, err error) {
	m, ok := matched(ctx, d, q)
	if !ok || !m.told() || !m.whole() {
		return nil, m.why, nil
	}
	list, err := m.unions()
	if err != nil || list == nil {
		return nil, m.why, err
	}
	a := &Answer{View: d.View.View, Groups: make([][]estimator.Estimate, len(list))}
	for i, s := range m.sums {
		told := Sum{ViewSum: plan.ViewSum{Text: q.Aggregates[i].Asked, Of: d.Measures[s.of].Column}, Clip: d.Measures[s.of].Clip}
		if s.by >= 0 {
			told.Of, told.StdErr = told.Of+" and "+d.Measures[s.by].Column, math.NaN()
		}
		for k, g := range list {
			e := m.estimate(s, g)
			a.Groups[k] = append(a.Groups[k], e)
			if x := e.StdErr[0]; x >= told.StdErr || math.IsNaN(told.StdErr) && !math.IsNaN(x) { // NaN where a mean has no rows
				told.StdErr, told.Cut = x, d.Measures[s.of].doubt()*math.Abs(g.sums[s.of].raw)
				if s.by >= 0 {
					rows := g.sums[s.by].raw
					told.Clip, told.Cut = d.Measures[s.of].Clip/rows, math.Hypot(told.Cut, d.Measures[s.by].doubt()*math.Abs(g.sums[s.of].raw))/rows
				}
			}
		}
		a.Sums = append(a.Sums, told)
	}
	return a, "", nil
}

// group is a union of cells.
type group struct {
	cells []sql.Row // the values of the dimensions
	sums  []number  // by measure of the view
}

// number is a sum of cells of a measure: as it is shown, without bias, and the standard deviation
// of the noise of that.
type number struct{ fit, raw, stdErr float64 }

// estimate is the answer to an aggregate in a group. What is shown adds up with all other answers
// of the view; its interval is about the number without bias, and allows for what the clip takes.
func (m *match) estimate(s sum, g *group) estimator.Estimate {
	x, of := g.sums[s.of], m.d.Measures[s.of]
	if s.by < 0 {
		return estimator.Estimate{Values: []float64{x.fit}, StdErr: []float64{x.stdErr}, Error: &estimator.Error{
			Form: estimator.Quotient, Noise: []float64{x.stdErr}, Raw: []float64{x.raw}, Cut: of.cut(math.Abs(x.raw))}}
	}
	n, by := g.sums[s.by], m.d.Measures[s.by]
	if n.fit < 1 || n.raw < 1 {
		return estimator.Estimate{Values: []float64{math.NaN()}, StdErr: []float64{math.NaN()}}
	}
	mean := x.raw / n.raw
	noise, under := x.stdErr/n.raw, n.stdErr/n.raw
	return estimator.Estimate{Values: []float64{x.fit / n.fit}, StdErr: []float64{math.Hypot(noise, mean*under)}, Error: &estimator.Error{
		Form: estimator.Quotient, Noise: []float64{noise}, Under: []float64{under}, Raw: []float64{mean},
		Cut: quotientCut(math.Abs(mean) * (of.Near + of.Wide + by.Near + by.Wide))}}
}

// doubt is about the standard deviation of the share that the clip takes beyond Near, of which Wide
// is a bound at 95 %.
func (x *Measure) doubt() float64 { return x.Wide / 2 }

// cut is what a clip may have taken from a sum of a size, as dp_view_errors allows for it.
func (x *Measure) cut(size float64) []estimator.Cut {
	if x.Near == 0 && x.Wide == 0 {
		return nil
	}
	c := estimator.Cut{Added: x.Near * size, Up: beyond((x.Near + x.Wide) * size)}
	if x.Signed { // what the clip takes may be of either sign
		c.Up, c.Down = beyond((2*x.Near+x.Wide)*size), beyond(x.Wide*size)
	}
	return []estimator.Cut{c}
}

// quotientCut is what clips may have moved a quotient by, up or down.
func quotientCut(size float64) []estimator.Cut {
	if size == 0 {
		return nil
	}
	return []estimator.Cut{{Up: beyond(size), Down: beyond(size)}}
}

func beyond(size float64) []estimator.CutPart {
	return []estimator.CutPart{{Weight: 1, Mean: size}}
}

// unions makes the groups of the question of the view's cells. It is nil where a condition or a key
// has several values in a cell, or where the view has not the cells that its definition has now.
func (m *match) unions() ([]*group, error) {
	dims, named := len(m.dims), len(m.dims)+len(m.keys)
	together, err := m.d.Finder.Together(m.d.Relation, slices.Concat(m.dims, m.keys, m.rest))
	if err != nil || together == nil {
		m.not("what is filtered or grouped by has values that are not public, or too many")
		return nil, err
	}
	released, err := m.released()
	if err != nil || released == nil {
		m.not("it cannot be read")
		return nil, err
	}
	if len(released)*m.q.Grouping.Groups*max(1, m.d.Work) > maxErrors {
		m.not("the groups times its cells are too many")
		return nil, nil
	}
	groups, known := m.groups()
	of := map[string]sql.Row{} // of each cell, the values of the rest
	for _, row := range together {
		cell := keys.RowName(row[:dims])
		if seen, ok := of[cell]; ok {
			if !m.decided(seen, row[dims:]) {
				return nil, nil
			}
			continue
		}
		of[cell] = row[dims:]
		numbers, there := released[cell]
		if !there {
			m.not("it does not have the cells that its definition has now")
			return nil, nil
		}
		holds, err := m.hold(row[named:])
		if err != nil {
			return nil, err
		}
		g := known[keys.RowName(row[dims:named])]
		if !holds || g == nil {
			continue
		}
		g.cells = append(g.cells, numbers.shown)
		for i, x := range numbers.measures {
			g.sums[i].fit += x.fit
			g.sums[i].raw += x.raw
		}
	}
	return groups, m.errors(groups)
}

// decided reports whether keys and conditions have the same values at two places of a cell.
func (m *match) decided(a, b sql.Row) bool {
	for i := range a {
		if keys.RowName(a[i:i+1]) == keys.RowName(b[i:i+1]) {
			continue
		}
		return m.not("%s has several values in one of its cells", m.textOf(i))
	}
	return true
}

// errors fills in the errors of the groups.
func (m *match) errors(groups []*group) error {
	for i := range m.d.Measures {
		of, err := m.d.StdErrs(i)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if err := m.ctx.Err(); err != nil {
				return err
			}
			if g.sums[i].stdErr, err = of(g.cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// hold reports whether all conditions are true.
func (m *match) hold(values sql.Row) (bool, error) {
	for _, v := range values {
		if v == nil {
			return false, nil
		}
		if holds, err := sql.ConvertToBool(m.ctx, v); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// groups are the question's groups by their numbers, and by the values of their keys.
func (m *match) groups() ([]*group, map[string]*group) {
	g := &m.q.Grouping
	list, known := make([]*group, g.Groups), map[string]*group{}
	for at := range list {
		list[at] = &group{sums: make([]number, len(m.d.Parts))}
		row, rest := make(sql.Row, len(g.Keys)), at
		for k := len(row) - 1; k >= 0; k-- {
			values := g.Keys[k].Image.Values
			row[k] = values[rest%len(values)]
			rest /= len(values)
		}
		known[keys.RowName(row)] = list[at]
	}
	return list, known
}

// released is a cell of a view.
type released struct {
	shown    sql.Row // the values of its dimensions
	measures []number
}

// released reads the view: the cells by the values of the keys that its dimensions show.
func (m *match) released() (map[string]released, error) {
	var columns []string
	var schema sql.Schema
	for i, name := range m.d.Dimensions {
		columns, schema = append(columns, name), append(schema, &sql.Column{Name: name, Type: m.d.Keys[i].Type, Nullable: true})
	}
	for _, x := range m.d.Measures {
		for _, name := range []string{x.Column, x.Raw} {
			columns, schema = append(columns, name), append(schema, &sql.Column{Name: name, Type: types.Float64, Nullable: true})
		}
	}
	rows, err := m.d.Finder.PublicRows(m.d.Ref, columns, schema)
	if err != nil {
		return nil, err
	}
	dims := len(m.d.Dimensions)
	out := make(map[string]released, len(rows))
	for _, row := range rows {
		numbers := make([]number, len(m.d.Measures))
		for i := range numbers {
			fit, is := row[dims+2*i].(float64)
			raw, too := row[dims+2*i+1].(float64)
			if !is || !too {
				return nil, nil
			}
			numbers[i] = number{fit: fit, raw: raw}
		}
		by := slices.Clone(row[:dims])
		for i, v := range by {
			by[i] = m.d.Keys[i].Of(v)
		}
		out[keys.RowName(by)] = released{row[:dims], numbers}
	}
	return out, nil
}

// View is a DP view as it was released.
type View struct {
	plan.View
	Ref   store.TableRef
	Asked string // plan.Release.Asked of its release
	// the definition, as it was planned
	Text       string
	Tree       ast.Statement
	Settings   settings.View
	Dimensions []string  // its columns, in the order of the keys of its release
	Measures   []Measure // in the order of its parts
	// StdErrs returns the function that tells the standard deviation of the noise of a sum of cells
	// of a measure; cells are told by the values of their dimensions.
	StdErrs func(measure int) (func(cells []sql.Row) (float64, error), error)
	Work    int // what the error of a group takes for each cell, 1 but where there are ranges
}

// Measure is a column of numbers that add up, and are not under 0 where they cannot be.
type Measure struct {
	Column, Raw string // Raw: that of the numbers without bias
	Signed      bool   // a number may be under 0
	// Clip is what one person was shortened to, in units of the numbers, 0 where nobody was; Near
	// the share that was added for what that takes, and Wide how much more it may be.
	Clip, Near, Wide float64
}

// Rows are those below a GROUP BY: the rows of a FROM clause, and conditions on them.
type Rows struct {
	Text  string           // of the FROM clause, rel.Writer.Identity
	From  *rel.Relation    // the FROM clause
	Conds []sql.Expression // over its base columns
}

// Definition is the definition of a view, as it is planned now.
type Definition struct {
	*View
	Rows     Rows
	Relation *rel.Relation // below the GROUP BY
	Keys     []keys.Key
	Parts    []*aggregate.Aggregate // the measures
	Finder   *keys.Finder
}

// Question is an aggregation of a statement.
type Question struct {
	Rows       Rows
	Relation   *rel.Relation
	Grouping   keys.Grouping
	Aggregates []*aggregate.Aggregate
}
