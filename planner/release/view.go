package release

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"scrim/engine/estimator"
	"scrim/engine/estimator/continual"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/synthetic"
	"scrim/engine/estimator/view"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/grid"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// viewVector replaces the aggregates of a view's definition by one that answers them in all cells:
//
//	SELECT region, product, COUNT(*), SUM(amount) FROM orders GROUP BY region, product
//
// The keys are the dimensions of a cube. A person is one vector over cells for each measure, in the
// scan of all groups at once; what releases it is package view.
func (s *Builder) viewVector(d *Aggregation, outputs []plan.Output, v *settings.View) error {
	switch {
	case d.Pure:
		return notView("The noise of a view is Gaussian.", "Ask on a budget with a delta above 0.")
	case d.Relation.Shared():
		return notView("A row belongs to two persons.", "Define the view on rows of one person each.")
	case len(d.Keys) == 0:
		return notView("The view has no dimension.", "GROUP BY the columns that its cells are of.")
	case len(d.Keys) > cube.MaxDimensions:
		return notView("The view has too many dimensions.", "Group by fewer columns.")
	}
	if v.Series != nil {
		if err := hasDays(d); err != nil {
			return err
		}
	}
	for _, k := range d.Keys {
		if k.Image == nil {
			return rule.Deny(rule.GroupKey, refuse.View, "CALL dp_set_domain('table', 'column', '[…]') declares the values, or the range, of the column; or group by a coarser expression of it.",
				"The dimension %s has no public values, or too many.", k.Name)
		}
	}
	for _, i := range v.Ranges {
		if i >= len(d.Keys) {
			return notView("The view has fewer dimensions than it had.", "Refresh it, or make it anew.")
		}
		if err := hasOrder(d.Keys[i].Name, d.Keys[i].Image.Values); err != nil {
			return err
		}
	}
	for _, a := range d.Aggregates {
		if m := a; !m.FitsGroupVector() || m.Measure() != groups.Rows && m.Measure() != groups.Sum {
			return notView("A view holds numbers of rows and sums, and not "+a.Text+".", "Select COUNT(*), COUNT(x) and SUM(x); a mean is SUM(s) / SUM(n) of the view.")
		}
	}
	if len(d.Aggregates) == 0 {
		return notView("The view has no measure.", "Select COUNT(*) AS n beside the dimensions.")
	}
	if v.Series != nil {
		if err := onlyAdds(d, v.Series); err != nil {
			return err
		}
	}
	if v.Series == nil { // a row without a day of the span counts nowhere, as is said of series
		for _, k := range d.Keys {
			if !s.keys.Whole(d.Relation, k.Image) {
				d.Partial = append(d.Partial, k.Name)
			}
		}
	}
	t := aggregate.GroupVectorOf(d.Aggregates)
	t.View, t.Series = true, v.Series != nil
	d.replace(d.Aggregates, t, outputs)
	d.MaxGroups, d.Bounded, d.View = 1, false, v
	d.Memory = s.Memory
	d.Choice = plan.Grouping{Together: true, Why: "they are the cells of a view"}
	return nil
}

func notView(cause, remedy string) error {
	return rule.Deny(rule.View, refuse.View, remedy, "%s", cause)
}

// viewOf builds the mechanism of a view's cells.
func (d *Aggregation) viewOf(a *aggregate.Aggregate, rho float64) (estimator.Estimator, error) {
	if a.Series {
		return d.seriesOf(a, rho)
	}
	p := view.Params{Rho: rho, Relation: d.Neighbours(), Ways: d.View.Ways, OneRow: d.Relation.Unique, Cells: cellsWithin(d.Memory)}
	p.Sets = append(p.Sets, lists.Map(d.View.Sets, func(places []int) cube.Set { return cube.Of(places...) })...)
	for i, k := range d.Keys {
		p.Dims = append(p.Dims, cube.Dimension{Name: k.Name, Size: len(k.Image.Values), Ranges: slices.Contains(d.View.Ranges, i)})
	}
	for _, m := range a.Parts {
		p.Measures = append(p.Measures, view.Measure{Sum: m.Measure() == groups.Sum, Grid: m.Grid.Grid, Lower: m.Grid.Lower, Upper: m.Grid.Upper})
	}
	e, err := view.New(p)
	if large := (*cube.TooLarge)(nil); errors.As(err, &large) {
		return nil, tooManyCells(large.Cells, large.Limit, large.Coarsen, large.To)
	}
	if long := (*cube.TooLong)(nil); errors.As(err, &long) {
		return nil, notView(fmt.Sprintf("The dimensions %s have too many values to be measured together.", long.Of), "Name fewer of them in ranges, or coarsen them.")
	}
	return e, err
}

// cellsWithin is how many cells fit into the memory of a query.
func cellsWithin(memory int64) int64 {
	if memory <= 0 {
		return cube.MaxCells
	}
	return max(1, min(memory/cube.CellBytes, cube.MaxCells))
}

// TooManyCells refuses a view of more cells than keys may have combinations, and names the
// dimension that has most values.
func TooManyCells(g keys.Grouping) error {
	cells, most := 1.0, -1
	for i, k := range g.Keys {
		if k.Image == nil {
			continue
		}
		cells *= float64(len(k.Image.Values))
		if most < 0 || len(k.Image.Values) > len(g.Keys[most].Image.Values) {
			most = i
		}
	}
	size := float64(len(g.Keys[most].Image.Values))
	return tooManyCells(cells, keys.MaxPublic, g.Keys[most].Name, int(keys.MaxPublic/(cells/size)))
}

func tooManyCells(cells, limit float64, dimension string, to int) error {
	remedy := fmt.Sprintf("Coarsen %s and others, or leave dimensions out.", dimension)
	if to >= 2 {
		remedy = fmt.Sprintf("Bring %s to %d values or fewer, or leave dimensions out.", dimension, to)
	}
	return rule.Deny(rule.GroupSize, refuse.View, remedy, "The view has %.0f cells; a view has at most %.0f.", cells, limit)
}

// hasOrder refuses a dimension of ranges whose public values are no dates or numbers, are not in
// rising order, or are too many. NULL, which is in no interval, comes first or last.
func hasOrder(name string, values []any) error {
	if len(values) > cube.MaxRanges {
		return notView(fmt.Sprintf("The dimension %s of ranges has %d values; it has at most %d.", name, len(values), cube.MaxRanges),
			fmt.Sprintf("Coarsen %s, as a date to its week, or leave it out of ranges.", name))
	}
	if len(values) > 0 && values[0] == nil {
		values = values[1:]
	}
	if last := len(values) - 1; last >= 0 && values[last] == nil {
		values = values[:last]
	}
	for i, v := range values {
		if !ordered(v) {
			return notView(fmt.Sprintf("The dimension %s of ranges has no order: its values are no dates or numbers.", name),
				fmt.Sprintf("Leave %s out of ranges.", name))
		}
		if i > 0 && compared(values[i-1], v) >= 0 {
			return notView(fmt.Sprintf("The public values of the dimension %s of ranges are not in their order.", name),
				"Declare them in rising order, or as a range: CALL dp_set_domain('table', 'column', '{\"min\": …, \"max\": …}').")
		}
	}
	return nil
}

// ordered reports whether compared takes a value.
func ordered(v any) bool {
	_, number := numberOf(v)
	_, moment := v.(time.Time)
	return number || moment
}

// compared compares two dates or two numbers; of one of each it tells that they are in no order.
func compared(a, b any) int {
	if s, is := a.(time.Time); is {
		if t, too := b.(time.Time); too {
			return s.Compare(t)
		}
		return 1
	}
	x, _ := numberOf(a)
	y, is := numberOf(b)
	if !is {
		return 1
	}
	return cmp.Compare(x.Cmp(y), 0)
}

// numberOf reads a number of SQL, exactly.
func numberOf(v any) (*big.Rat, bool) {
	switch v.(type) {
	case nil, string, []byte, bool, time.Time:
		return nil, false
	}
	return new(big.Rat).SetString(fmt.Sprint(v))
}

// hasDays refuses definitions of running totals that are of more than days, or of persons who
// cannot be found again on a later day.
//
//	SELECT DATE(placed), COUNT(*), SUM(amount) FROM orders GROUP BY DATE(placed)
func hasDays(d *Aggregation) error {
	switch {
	case d.Relation.RowUnit():
		return notView("Each row is one person, whom nothing names from one day to the next.", "Protect the table by a column that identifies the person: dp_protect.")
	case len(d.Keys) != 1:
		return notView("A series of totals has a row for each day, and no other dimension.", "GROUP BY the day alone; make a series for each value of another column, by its WHERE.")
	case d.Keys[0].Image == nil:
		return notView("The key "+d.Keys[0].Name+" is no day of a row.", "Group by DATE(x), or by a column of type DATE.")
	case len(d.Keys[0].Image.Values) > continual.MaxDays:
		return notView(fmt.Sprintf("The series has %d days.", len(d.Keys[0].Image.Values)), fmt.Sprintf("It has at most %d.", continual.MaxDays))
	}
	return nil
}

// onlyAdds refuses sums of numbers that may take something away.
func onlyAdds(d *Aggregation, x *settings.Series) error {
	for _, a := range d.Aggregates {
		if seriesMeasure(a, x).Signed() {
			return notView("The numbers of "+a.Text+" may be under 0, and would take back what was counted.",
				`CALL dp_set_domain('table', 'column', '{"min": 0, "max": 500}') declares their range.`)
		}
	}
	return nil
}

// seriesMeasure is what an aggregate adds up, and the most of it that one person counts for.
func seriesMeasure(a *aggregate.Aggregate, x *settings.Series) continual.Measure {
	m := continual.Measure{}
	if m.Sum = a.Measure() == groups.Sum; m.Sum {
		m.Grid, m.Lower, m.Upper = a.Grid.Grid, a.Grid.Lower, a.Grid.Upper
	}
	_, hi := m.Range()
	steps := float64(hi) * float64(x.PerPerson)
	if m.Sum && x.Clip > 0 {
		steps = x.Clip / m.Value(1) * (1 + 1e-12) // what the division rounds is far less
	}
	m.Bound = int64(math.Floor(min(max(1, steps), estimator.MaxUnits)))
	return m
}

// seriesOf builds the mechanism of running totals.
func (d *Aggregation) seriesOf(a *aggregate.Aggregate, rho float64) (estimator.Estimator, error) {
	p := continual.Params{Rho: rho, Relation: d.Neighbours(), Days: len(d.Keys[0].Image.Values)}
	for _, m := range a.Parts {
		p.Measures = append(p.Measures, seriesMeasure(m, d.View.Series))
	}
	return continual.New(p)
}

// CheckSynthetic refuses what no synthetic table is made of, where the statement is one's release.
func (s *Builder) CheckSynthetic(d *Aggregation) error {
	switch {
	case settings.SyntheticOf(s.ctx) == nil:
		return nil
	case d.Pure:
		return notView("The noise of a synthetic table is Gaussian.", "Ask on a budget with a delta above 0.")
	case d.Relation.Shared():
		return notView("A row belongs to two persons.", "Make a synthetic table of rows of one person each.")
	}
	return nil
}

// syntheticRows replaces the one aggregate of a statement by the release of a synthetic table:
//
//	SELECT DP_MEAN(DP_VECTOR(CASE WHEN region = 'north' THEN 0 … END, …)) FROM orders
//
// Each coordinate is the code of a value, and NULL where the row has none: such a row is absent. A
// person is one row, however many the table has: the one whose keyed hash is least (vectorScan).
// The choice depends on nothing but that person's rows and the secret, so a person who comes, goes
// or is exchanged is one row more, less or exchanged.
func (s *Builder) syntheticRows(d *Aggregation, y *settings.Synthetic) error {
	if len(d.Keys) > 0 || len(d.Aggregates) != 1 || d.Aggregates[0].Vector == nil || len(d.Aggregates[0].Vector.Coordinates) != len(y.Columns) {
		return errors.New("planner: a synthetic table is not of one vector of its columns")
	}
	a := d.Aggregates[0]
	a.Synthetic = true
	a.Present = func(e estimator.Estimate) any { return e }
	for _, c := range y.Columns {
		lo, hi := int64(0), int64(c.Size-1)
		a.Vector.Grids = append(a.Vector.Grids, grid.Grid{Grid: estimator.Grid{Step: 1, Lo: lo, Hi: hi}, Lower: &lo, Upper: &hi})
	}
	d.Synthetic, d.Memory = y, s.Memory
	return nil
}

// syntheticOf builds the mechanism of a synthetic table.
func (d *Aggregation) syntheticOf(rho float64) (estimator.Estimator, error) {
	y := d.Synthetic
	p := synthetic.Params{Rho: rho, Relation: d.Neighbours(), Ways: y.Ways, Rows: y.Rows, Cells: synthetic.MaxCells}
	for _, c := range y.Columns {
		p.Columns = append(p.Columns, cube.Dimension{Name: c.Name, Size: c.Size})
	}
	if d.Memory > 0 { // two fifths for cells, two for rows
		p.Cells = max(1, min(p.Cells, d.Memory*2/5/synthetic.CellBytes))
		most := max(1, d.Memory*2/5/synthetic.CodeBytes/int64(len(y.Columns)))
		if p.Rows == 0 || int64(p.Rows) > most {
			p.Rows = int(min(most, synthetic.MostRows))
		}
	}
	e, err := synthetic.New(p)
	if large := (*cube.TooLarge)(nil); errors.As(err, &large) {
		return nil, rule.Deny(rule.GroupSize, refuse.View, fmt.Sprintf("Use fewer bins, leave %s or others out with the option columns, or say \"ways\": 2.", large.Coarsen),
			"The tables of the columns have %.0f cells; of a synthetic table they have at most %.0f.", large.Cells, large.Limit)
	}
	return e, err
}

// syntheticScan is the scan of the persons of a synthetic table: 1, and the code of each column.
// Where a person may have several rows that are present, it is the one whose keyed hash is least.
func (s *Builder) syntheticScan(d *Aggregation, in *flat) string {
	rows := "SELECT " + sqltext.List(append([]string{"CAST(1 AS BIGINT) AS n"}, in.vector...)) + " FROM (" + in.sql + ") AS r"
	if !d.Relation.Unique {
		rows += " QUALIFY row_number() OVER (PARTITION BY u ORDER BY " + s.choice("u", in.vector) + ") = 1"
	}
	return rows
}
