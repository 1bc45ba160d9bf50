package release

import (
	"errors"
	"fmt"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/view"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
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
	for _, places := range d.View.Sets {
		p.Sets = append(p.Sets, cube.Of(places...))
	}
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
