package planner

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/planner/plan"
)

// TestEvents holds the events of every plan of the corpus against the loss that it declares: no
// more is claimed, and no less than what is drawn.
func TestEvents(t *testing.T) {
	seen := map[privacy.EventKind]int{}
	scales, exchanged := 0, 0
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		h := newHarness(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "fixture":
				h.fixture(d.CmdArgs[0].Key)
			case "define":
				h.define(d.Input)
			case "policy":
				h.declare(d.Input)
			case "explain", "allow", "scan":
				for _, q := range statements(d.Input) {
					s, _, err := h.plan(q)
					if err != nil || s == nil {
						continue
					}
					for _, r := range s.Releases {
						for _, problem := range unsound(r) {
							t.Errorf("%s: %s", q, problem)
						}
						for _, e := range r.Events() {
							seen[e.Kind]++
						}
						scales += scaled(t, q, r)
						for _, a := range r.Aggregates {
							if a.Exchange > estimator.ExchangeParts {
								exchanged++
							}
						}
					}
				}
			}
			return d.Expected
		})
	})
	for _, k := range []privacy.EventKind{
		privacy.ZCDP, privacy.DiscreteGaussian, privacy.DiscreteLaplace, privacy.Exponential, privacy.Threshold,
	} {
		if seen[k] == 0 {
			t.Errorf("no plan has an event of kind %s: %v", k, seen)
		}
	}
	if scales < 10 || exchanged < 3 {
		t.Errorf("%d noise scales and %d exchanges compared: the corpus shows too little", scales, exchanged)
	}
}

// eventUnit is the rounding of one event: of its ρ, and of an ε to ρ.
const eventUnit = 8 * privacy.RhoUnit

// unsound compares the events of a release with its loss.
func unsound(r *plan.Release) (problems []string) {
	var sum privacy.Loss
	events := r.Events()
	room := eventUnit * float64(len(events))
	for _, e := range events {
		l := e.Loss()
		room += eventUnit * float64(e.Count) * math.Max(1, e.Epsilon.Float())
		sum = sum.Add(l)
	}
	rho, want := sum.Rho.Float(), r.Loss.Rho.Float()
	if rho > want*(1+1e-11)+room {
		problems = append(problems, "events have rho "+exactly(rho)+", declared "+exactly(want))
	}
	// Each share is rounded down by 10^-12, so nearly all of ρ is drawn; a pure release has ε in
	// parts, with less ρ.
	if r.Loss.Pure == 0 && rho < want*(1-1e-9)-room {
		problems = append(problems, "events have only rho "+exactly(rho)+", declared "+exactly(want))
	}
	if p := r.Loss.Pure.Float(); p > 0 && (!sum.IsPure() || math.Abs(sum.Pure.Float()-p) > p*1e-9+room) {
		problems = append(problems, "events have pure epsilon "+exactly(sum.Pure.Float())+", declared "+exactly(p))
	}
	if math.Abs(sum.DeltaEvent-r.Loss.DeltaEvent) > 1e-9*sum.DeltaEvent || math.Abs(sum.DeltaTV-r.Loss.DeltaTV) > 1e-9*sum.DeltaTV {
		problems = append(problems, "events have slack "+exactly(sum.DeltaEvent)+" and "+exactly(sum.DeltaTV)+", declared "+exactly(r.Loss.DeltaEvent)+" and "+exactly(r.Loss.DeltaTV))
	}
	for _, delta := range []privacy.Delta{1e-3, 1e-6, 1e-12} {
		best, _ := privacy.BestEpsilon(r.Loss, privacy.CurveOf(events), delta)
		curve, by := privacy.BestEpsilon(privacy.Loss{Rho: privacy.MaxRho, DeltaEvent: r.Loss.DeltaEvent, DeltaTV: r.Loss.DeltaTV}, privacy.CurveOf(events), delta)
		if e := privacy.EpsilonOf(r.Loss, delta); best > e || curve < best*(1-1e-9) {
			problems = append(problems, "best epsilon "+exactly(float64(best))+", by "+string(by)+" "+exactly(float64(curve))+", of the loss "+exactly(float64(e)))
		}
	}
	return problems
}

// scaled recomputes the loss of aggregates of one Gaussian step from their noise: (Δ/σ)²/2 for each
// group, and what an exchange takes. It returns how many there are.
func scaled(t *testing.T, q string, r *plan.Release) (n int) {
	for _, a := range r.Aggregates {
		steps := a.Estimator.Steps()
		sigma, known := a.Estimator.ExpectedError()
		if !known || len(steps) != 1 || steps[0].Mechanism != estimator.DiscreteGaussian || steps[0].Use != "" || a.Groups != nil || a.Vector != nil {
			continue
		}
		moves, err := strconv.ParseFloat(strings.TrimPrefix(steps[0].Sensitivity, "l2="), 64)
		if err != nil {
			continue
		}
		n++
		drawn := moves * moves / (2 * sigma * sigma) * float64(r.PerUnit)
		drawn *= float64(a.Exchange) / estimator.ExchangeParts
		alone := &plan.Release{Aggregates: []plan.Aggregate{a}, PerUnit: r.PerUnit}
		claimed := privacy.Rho(0)
		for _, e := range alone.Events() {
			claimed = claimed.Add(e.Loss().Rho)
		}
		// The variance is an integer of steps rounded up: no claim is below the draw, and few are
		// far above.
		if c := claimed.Float(); c < drawn*(1-1e-9) || sigma > 10 && c > drawn*1.1+eventUnit {
			t.Errorf("%s: %s draws rho %v in all groups, the events claim %v", q, a.Text, drawn, c)
		}
	}
	return n
}

// TestEventsOfExchange: one removal and one addition, in every group that a person may be in.
func TestEventsOfExchange(t *testing.T) {
	r, a := &plan.Release{PerUnit: 3}, &plan.Aggregate{Exchange: 5 * estimator.ExchangeParts / 2}
	got := r.InGroups(a, privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: 5, Steps: 1, Count: 2})
	if want := (privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: 10, Steps: 2, Count: 6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = r.InGroups(a, privacy.Event{Kind: privacy.DiscreteGaussian, Rho: 7, Count: 1})
	if want := (privacy.Event{Kind: privacy.DiscreteGaussian, Rho: 18, Count: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r, a = &plan.Release{PerUnit: 1 << 20}, &plan.Aggregate{Exchange: estimator.ExchangeParts}
	many := privacy.Event{Kind: privacy.Exponential, Epsilon: 1 << 20, Count: 1 << 20}
	if got := r.InGroups(a, many); got.Loss().Rho < many.Loss().Rho*(1<<20) || got.Epsilon != many.Epsilon<<40 {
		t.Errorf("more runs than fit into a count: %+v", got)
	}
}

func exactly(x float64) string { return strconv.FormatFloat(x, 'g', 15, 64) }
