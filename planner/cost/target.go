package cost

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/release"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// An aggregate may name the error that is wanted in the place of a cost: by the option error, or by
// dp_target_error for the whole statement. Its cost is then solved for before anything is
// spent:
//
//   - from the mechanism's own formula, where the error is known before the data are read: counts,
//     and sums with declared bounds;
//   - else from an earlier answer of the same question by the same principal, whose cost and noisy
//     error are both public to them: the noise falls with the square root of ρ, and with ε of a
//     pure release;
//   - else from a pilot, where one is allowed: the statement is answered at that share of its usual
//     cost first, charged like any other, and its answer is the earlier one;
//   - else the statement is refused.
//
// Every cost that comes of it is a function of public facts and of released answers, chosen before
// the charge, as the account's filter wants it. A target is for the noise of every group's answer.
// The cost comes on top of what the other aggregates of the statement cost; max_epsilon of the
// table and the budgets bound it as they bound any other.

// solve finds what an aggregate costs so that its error is what is wanted.
func (s *Divider) solve(d *release.Aggregation, a *aggregate.Aggregate) (privacy.Cost, error) {
	divided := d.Divide(a)
	if a.Call.Slack() {
		return s.fromEarlier(d, a, divided)
	}
	expected := func(units uint64) (float64, bool, error) {
		e, err := d.EstimatorOf(a, s.params.Cost(units))
		if err != nil {
			return 0, false, err
		}
		x, ok := e.ExpectedError()
		return x, ok, nil
	}
	limit := privacy.CostWithin(s.params.Kind(), mostForTarget)
	most := divided.Group(limit).Units
	least, known, err := expected(most)
	switch {
	case err != nil:
		return privacy.Cost{}, s.tooSmall(a, err)
	case !known:
		return s.fromEarlier(d, a, divided)
	case least > a.Target:
		return privacy.Cost{}, s.unreached(a, "Even at %s = %v its noise has a standard deviation of %.3g.", s.params.CostWord(), mostForTarget, least)
	}
	lo, hi := uint64(0), most // the error at hi is small enough
	for hi-lo > 1 && float64(hi-lo) > 1e-4*float64(hi) {
		mid := lo + (hi-lo)/2
		if x, ok, err := expected(mid); err == nil && ok && x <= a.Target {
			hi = mid
		} else {
			lo = mid
		}
	}
	return divided.All(s.params.Cost(hi)), nil
}

// mostForTarget is the largest cost that a target may lead to, ρ or ε. The server chooses it, so it
// ends where nothing is private any more; who wants more than that states it.
var mostForTarget = params.Epsilon.Max

// fromEarlier scales what an earlier answer cost.
func (s *Divider) fromEarlier(d *release.Aggregation, a *aggregate.Aggregate, divided release.Divided) (privacy.Cost, error) {
	if find := s.Earlier; find != nil {
		if e, ok := find(s.ctx, d.Shape(a)); ok && e.StdErr > 0 && e.Loss > 0 && !math.IsInf(e.StdErr, 0) {
			ratio := e.StdErr / a.Target
			if !s.params.IsPure() {
				ratio *= ratio
			}
			cost := math.Ceil(e.Loss * ratio / privacy.CostUnit)
			if most := divided.Group(privacy.CostWithin(s.params.Kind(), mostForTarget)); cost > float64(most.Units) {
				return privacy.Cost{}, s.unreached(a, "An earlier answer had %.3g: it would cost more than %s = %v.", e.StdErr, s.params.CostWord(), mostForTarget)
			}
			return divided.All(s.params.Cost(max(1, uint64(cost)))), nil
		}
	}
	switch p := settings.PilotOf(s.ctx); {
	case p.Over:
		return privacy.Cost{}, s.unreached(a, "The pilot's answer tells no error, as with too few persons.")
	case a.Pilot == 0 || s.Explains:
		return privacy.Cost{}, rule.Deny(rule.Target, refuse.Parameter,
			"Ask once with an epsilon, or allow a pilot of, say, a tenth of the usual cost: SET dp_pilot = 0.1 or the option pilot=0.1; EXPLAIN runs none.",
			"What %s costs for an error of %.4g cannot be told: its error depends on the data, and you have no earlier answer of this query.", a.Text, a.Target)
	}
	return privacy.Cost{}, &settings.PilotNeeded{Share: s.pilotShare()}
}

// unreached refuses a target that no cost reaches.
func (s *Divider) unreached(a *aggregate.Aggregate, format string, args ...any) error {
	return rule.Deny(rule.Target, refuse.Parameter, "Ask for a larger error, or state a cost with dp_epsilon.",
		"%s cannot have an error of %.4g. %s", a.Text, a.Target, fmt.Sprintf(format, args...))
}

// pilotShare is the largest share that an aggregate of the statement allows.
func (s *Divider) pilotShare() float64 {
	share := 0.0
	for _, d := range s.aggregations {
		for _, a := range d.Aggregates {
			share = max(share, a.Pilot)
		}
	}
	return share
}

// solveTargets solves for every aggregate of the statement that names an error, and adds what they
// cost to their accounts.
func (s *Divider) solveTargets(accounts map[string]*account) error {
	s.targetCosts = map[*aggregate.Aggregate]privacy.Cost{}
	for _, d := range s.aggregations {
		for _, a := range d.Aggregates {
			if a.Target == 0 {
				continue
			}
			cost, err := s.solve(d, a)
			if err != nil {
				return err
			}
			s.targetCosts[a] = cost
			for _, t := range d.Tables() {
				accounts[t.Policy.Account].targeted = accounts[t.Policy.Account].targeted.Add(cost)
			}
		}
	}
	return nil
}
