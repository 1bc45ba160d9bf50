package release

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/continual"
	"scrim/engine/estimator/groups"
	"scrim/planner/aggregate"
	"scrim/planner/settings"
)

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
