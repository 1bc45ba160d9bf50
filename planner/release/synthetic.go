package release

import (
	"errors"
	"fmt"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/synthetic"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/grid"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

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
