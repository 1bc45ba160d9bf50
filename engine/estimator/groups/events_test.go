package groups

import (
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// TestGroupsAreNoiseAlone: for a Gaussian account counts, sums and means of all groups are Gaussian
// noise of their own ρ. Centres are found by bisection at every loss; were one drawn, its step
// would say so, and all would count as choices do.
func TestGroupsAreNoiseAlone(t *testing.T) {
	small := estimator.Grid{Step: 1, Decimal: true, Lo: 0, Hi: 1}
	wide := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 50, Hi: 1 << 50}
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, rho := range []float64{1e-6, 0.001, 0.5, 20} {
			for _, aggregates := range [][]Aggregate{
				{{Measure: Rows}}, {{Measure: Persons}, {Measure: Sum, Grid: wide}},
				{{Measure: RowMean, Grid: small}}, {{Measure: Rows}, {Measure: RowMean, Grid: wide}},
			} {
				e, err := New(Params{Rho: rho, Relation: relation, Groups: 300, Aggregates: aggregates})
				if err != nil {
					t.Fatal(err)
				}
				events := estimator.RoundedEvents(e)
				if len(events) != 1 || events[0].Kind != privacy.Gaussian || events[0].Rho != e.Loss().Rho {
					t.Errorf("%v at %v, %v: events %+v, want all of ρ as noise", aggregates, rho, relation, events)
				}
			}
		}
	}
}
