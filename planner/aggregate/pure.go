package aggregate

import (
	"errors"

	"scrim/engine/estimator"
	"scrim/internal/refuse"
	"scrim/planner/rule"
)

// notPure refuses an aggregate that has no pure mechanism.
func (s *Binder) notPure(a *Aggregate) error {
	what, remedy := a.Call.NotPure()
	return rule.Deny(rule.Pure, refuse.Aggregate, remedy, "%s has no pure mechanism, and %s is on the pure account (delta 0).", what, s.params.PureTable)
}

// Unbuilt says why an aggregate has no estimator: the error of its constructor.
func (s *Binder) Unbuilt(a *Aggregate, err error) error {
	if s.params.IsPure() && errors.Is(err, estimator.ErrNotPure) {
		return s.notPure(a)
	}
	return rule.By(rule.Option, err)
}
