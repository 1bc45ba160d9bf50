package plan

import (
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// Events returns what the release draws on one person, for the account: the key selection, and each
// aggregate as often as the person takes part. Its loss is r.Loss, but for the rounding of each
// event.
//
// A person is in up to perUnit groups, and the draws of one group come after those of another: the
// runs add up. Under replace-one the groups' estimators run under add-remove (as package release
// has it: neighbours.go), and an exchange is a removal and an addition. In each run, given what
// came before, the parameters are twice as large: noise hides a move of up to twice the length, and
// the logarithms of the quotients of two steps add up, so ε is doubled and ρ, which grows with the
// square, is four times as large ([BS16, Proposition 27] where nothing more is known). Gaussian
// noise that hides a shorter move has less ρ: Aggregate.Exchange. Where the person only leaves a
// group, and enters another, that is two runs as they are, which cost less than one of twice the
// parameters.
func (r *Release) Events() []privacy.Event {
	return r.events(privacy.DiscreteGaussian, estimator.Events)
}

// RoundedEvents is Events where Gaussian noise is drawn as rounded normal numbers.
func (r *Release) RoundedEvents() []privacy.Event {
	return r.events(privacy.Gaussian, estimator.RoundedEvents)
}

func (r *Release) events(noise privacy.EventKind, of func(estimator.Estimator) []privacy.Event) []privacy.Event {
	var out []privacy.Event
	if s := r.Selection; s != nil {
		l := s.Loss()
		out = append(out,
			privacy.Event{Kind: noise, Rho: l.Rho, Count: 1},
			privacy.Event{Kind: privacy.Threshold, DeltaEvent: l.DeltaEvent, Count: 1})
	}
	for i := range r.Aggregates {
		a := &r.Aggregates[i]
		for _, e := range of(a.Estimator) {
			if a.Groups == nil {
				e = r.InGroups(a, e)
			}
			out = privacy.AppendEvent(out, e)
		}
	}
	return out
}

// InGroups is an event of an aggregate in one group in all groups that a person may be in.
func (r *Release) InGroups(a *Aggregate, e privacy.Event) privacy.Event {
	switch {
	case a.Exchange <= estimator.ExchangeParts:
	case e.Kind == privacy.DiscreteGaussian || e.Kind == privacy.Gaussian:
		e.Rho = privacy.Loss{Rho: e.Rho}.Times(a.Exchange).Over(estimator.ExchangeParts).Rho
	default:
		e.Rho, e.Epsilon, e.Steps = 4*e.Rho, 2*e.Epsilon, 2*e.Steps
	}
	n := uint64(e.Count) * uint64(max(1, r.PerUnit))
	if n > math.MaxUint32 {
		return privacy.EventsOf(e.Loss().Times(max(1, r.PerUnit)))[0]
	}
	e.Count = uint32(n)
	return e
}
