package estimator

import (
	"math"
	"slices"

	"scrim/accounting/privacy"
)

// Itemised is an Estimator that fixes the loss of every step before data are read. Others divide it
// by what they have released, so only the whole is known beforehand.
type Itemised interface {
	Estimator
	// Events lists what Release draws for one group and one person, most simply by StepEvents.
	Events() []privacy.Event
}

// Events returns what one release of e on one group draws: for the account, which composes the
// events of all statements. Together they are never less than what is drawn.
//
// Of an estimator that is not Itemised it is one event with the declared loss. Where all steps are
// discrete Gaussian noise that is no less exact: however ρ is divided among them, their Rényi
// divergences are multiples of their ρ, and add up to α·ρ.
func Events(e Estimator) []privacy.Event {
	if x, ok := e.(Itemised); ok {
		return x.Events()
	}
	return whole(e)
}

// NoiseAlone is an Estimator that can say that it draws nothing but Gaussian noise in a release
// that is not pure, whatever the data and on every course that it may take. Coins that do not
// depend on the data are no draws in this sense.
type NoiseAlone interface {
	Estimator
	NoiseAlone() bool
}

// RoundedEvents is Events where Gaussian noise is drawn by noise.Rounded: as rounded normal
// numbers, which are post-processing of the Gaussian mechanism.
//
// Events may be noise of a ρ in the place of choices of that ρ which an estimator draws on another
// course: at every Rényi order that is no less. As GDP it would be, since choices count a little
// more than their ρ. So only of an estimator that is NoiseAlone the events are Gaussian; of others
// noise, and a loss whose steps are all noise and choices, counts as choices do.
func RoundedEvents(e Estimator) []privacy.Event {
	events, steps := slices.Clone(Events(e)), e.Steps()
	noise := privacy.NoiseAndChoices
	if a, ok := e.(NoiseAlone); ok && a.NoiseAlone() {
		noise = privacy.Gaussian
	}
	shared := func(s Step) bool {
		return s.Epsilon == 0 && (s.Mechanism == DiscreteGaussian || s.Mechanism == Exponential)
	}
	for i := range events {
		switch x := &events[i]; {
		case x.Kind == privacy.DiscreteGaussian:
			x.Kind = noise
		case x.Kind == privacy.ZCDP && x.Epsilon == 0 && len(steps) > 0 && all(steps, shared):
			x.Kind = privacy.NoiseAndChoices
		}
	}
	return events
}

// whole is the declared loss as one event.
func whole(e Estimator) []privacy.Event {
	events := privacy.EventsOf(e.Loss())
	steps := e.Steps()
	switch {
	case len(events) == 0 || len(steps) == 0:
	case events[0].Epsilon == 0 && all(steps, gaussian):
		events[0].Kind = privacy.DiscreteGaussian
	case events[0].Epsilon > 0 && len(steps) == 1 && all(steps, laplace):
		events[0] = privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: events[0].Epsilon, Steps: 1, Count: 1}
	}
	return events
}

// StepEvents lists the steps of an estimator whose losses are fixed, by kind. Discrete Gaussian
// steps are one event, with what the others leave of ρ. The number of lattice steps by which
// Laplace noise hides a person may be released only on the way, so it is taken for 1, the worst.
//
// Choices: a step of n draws at ρ together is n ranges of ε = √(8ρ/n). It may stand for any
// division of ρ among at most n choices, among the parts of a recursion for instance: at every
// order the divergence of a choice is a sum over k of (α·ln(1+α²u) − β·ln(1+β²u) − ln(1+u))/β with
// u = (ε/2πk)², β = α−1, by the product formula of sinh. Its second derivative in u is negative,
// since t⁵/(1+t²u)² over t grows with t and so the value at α = β+1 is at least those at β and 1
// together. A concave function of ε² that is 0 at 0 sums to the most where a sum of ε² is divided
// evenly. In a pure release the ranges of a step's draws add up to ε at most, so one of ε covers
// them.
//
// Where a step is covered by the losses of others (scalar.Shares), who pays depends on the pair of
// neighbours: then the whole is one event.
func StepEvents(e Estimator) []privacy.Event {
	steps, loss := e.Steps(), e.Loss()
	if all(steps, gaussian) || !all(steps, itemised) {
		return whole(e)
	}
	var events []privacy.Event
	left, noisy := loss.Rho, privacy.Rho(0)
	for _, s := range steps {
		switch {
		case s.Epsilon > 0:
			events = append(events, pureEvent(s))
		case gaussian(s):
			noisy = noisy.Add(privacy.RhoOf(s.Rho))
		default:
			events = append(events, choices(s))
			left -= min(left, privacy.RhoOf(s.Rho))
		}
	}
	if noisy > 0 {
		events = append(events, privacy.Event{Kind: privacy.DiscreteGaussian, Rho: max(noisy, left), Count: 1})
	}
	return slackened(events, loss)
}

// pureEvent is a step of a pure release.
func pureEvent(s Step) privacy.Event {
	if laplace(s) {
		return privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: privacy.PureOf(s.Epsilon), Steps: 1, Count: 1}
	}
	return privacy.Event{Kind: privacy.Exponential, Epsilon: privacy.PureOf(s.Epsilon), Count: 1}
}

// choices is a step of draws from the exponential mechanism.
func choices(s Step) privacy.Event {
	n := max(1, s.Queries)
	eps := math.Sqrt(8*s.Rho/float64(n)) * (1 + 0x1p-50)
	return privacy.Event{Kind: privacy.Exponential, Epsilon: privacy.PureOf(eps), Count: uint32(n)}
}

// slackened puts the slack of a release on one of its events, choices first.
func slackened(events []privacy.Event, l privacy.Loss) []privacy.Event {
	at := 0
	for i, e := range events {
		if e.Kind == privacy.Exponential {
			at = i
			break
		}
	}
	n := float64(events[at].Count)
	events[at].DeltaEvent, events[at].DeltaTV = share(l.DeltaEvent, n), share(l.DeltaTV, n)
	return events
}

// share is a nth of x, rounded up.
func share(x, n float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x/n, 1)
}

func gaussian(s Step) bool { return s.Epsilon == 0 && s.Mechanism == DiscreteGaussian }
func laplace(s Step) bool  { return s.Epsilon > 0 && s.Mechanism == DiscreteLaplace }

// itemised reports whether a step has a loss of its own and a mechanism that is known here.
func itemised(s Step) bool {
	return s.Rho > 0 && (gaussian(s) || s.Mechanism == Exponential) || s.Epsilon > 0 && (laplace(s) || s.Mechanism == Exponential)
}

func all(steps []Step, is func(Step) bool) bool {
	for _, s := range steps {
		if !is(s) {
			return false
		}
	}
	return true
}
