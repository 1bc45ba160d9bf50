package estimator_test

import (
	"reflect"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// stepped is an estimator of given steps, each of which an event is made for.
type stepped struct {
	estimator.Estimator
	loss  privacy.Loss
	steps []estimator.Step
}

func (s stepped) Loss() privacy.Loss      { return s.loss }
func (s stepped) Steps() []estimator.Step { return s.steps }
func (s stepped) Events() []privacy.Event { return estimator.StepEvents(s) }

// unknowns are steps of mechanisms that the account has no law for.
var unknowns = []estimator.Step{
	{Name: "vote", Use: "permute-and-flip", Queries: 1},
	{Name: "vote", Use: "discrete-gaussian of another kind", Queries: 1},
	{Name: "vote", Mechanism: estimator.Public, Queries: 1},
	{Name: "vote", Mechanism: 200, Queries: 1},
}

func TestUnknownMechanismsAreGeneralEvents(t *testing.T) {
	for _, unknown := range unknowns {
		zcdp := stepped{loss: privacy.Loss{Rho: privacy.RhoOf(0.5)}}
		pure := stepped{loss: privacy.PureLoss(0.5)}
		for _, known := range [][]estimator.Step{nil, {{Name: "sum", Mechanism: estimator.DiscreteGaussian, Queries: 1}}} {
			for e, loss := range map[*stepped]func(*estimator.Step){
				&zcdp: func(s *estimator.Step) { s.Rho = 0.25 },
				&pure: func(s *estimator.Step) { s.Epsilon = 0.25 },
			} {
				e.steps = nil
				for _, s := range append(known, unknown) {
					loss(&s)
					e.steps = append(e.steps, s)
				}
				if got, want := e.Events(), privacy.EventsOf(e.loss); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: events %+v, want the whole loss, %+v", e.steps, got, want)
				}
				if got, want := estimator.Events(struct{ estimator.Estimator }{*e}), privacy.EventsOf(e.loss); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, not itemised: events %+v, want the whole loss, %+v", e.steps, got, want)
				}
			}
		}
	}
}

func TestKnownMechanismsKeepTheirLaw(t *testing.T) {
	zcdp, pure := privacy.Loss{Rho: privacy.RhoOf(0.5)}, privacy.PureLoss(0.5)
	for _, c := range []struct {
		loss privacy.Loss
		step estimator.Step
		want privacy.EventKind
	}{
		{zcdp, estimator.Step{Mechanism: estimator.DiscreteGaussian, Rho: 0.5}, privacy.DiscreteGaussian},
		{zcdp, estimator.Step{Mechanism: estimator.DiscreteGaussian, Use: "histogram", Rho: 0.5}, privacy.DiscreteGaussian},
		{zcdp, estimator.Step{Mechanism: estimator.Exponential, Rho: 0.5}, privacy.Exponential},
		{pure, estimator.Step{Mechanism: estimator.DiscreteLaplace, Epsilon: 0.5}, privacy.DiscreteLaplace},
		{pure, estimator.Step{Mechanism: estimator.Exponential, Epsilon: 0.5}, privacy.Exponential},
	} {
		e := stepped{loss: c.loss, steps: []estimator.Step{c.step}}
		if got := e.Events(); len(got) != 1 || got[0].Kind != c.want {
			t.Errorf("%s: events %+v, want one of kind %v", c.step.Drawn(), got, c.want)
		}
	}
}

// noisy is an estimator that says that it draws noise alone.
type noisy struct{ stepped }

func (noisy) NoiseAlone() bool { return true }

// TestRoundedEvents: with rounded noise the same losses have a μ, where all that they are made of
// is known; a loss of unknown mechanisms, or of none that are listed, has none.
func TestRoundedEvents(t *testing.T) {
	gaussian, choice := estimator.Step{Mechanism: estimator.DiscreteGaussian, Rho: 0.25}, estimator.Step{Mechanism: estimator.Exponential, Rho: 0.25}
	shared := estimator.Step{Mechanism: estimator.Exponential} // whose loss others cover
	loss := privacy.Loss{Rho: privacy.RhoOf(0.5), DeltaTV: 1e-12}
	for _, c := range []struct {
		name  string
		steps []estimator.Step
		want  []privacy.EventKind
	}{
		{"noise on this course", []estimator.Step{gaussian, gaussian}, []privacy.EventKind{privacy.NoiseAndChoices}},
		{"noise and a choice", []estimator.Step{gaussian, choice}, []privacy.EventKind{privacy.Exponential, privacy.NoiseAndChoices}},
		{"a shared loss", []estimator.Step{gaussian, shared}, []privacy.EventKind{privacy.NoiseAndChoices}},
		{"no steps", nil, []privacy.EventKind{privacy.ZCDP}},
		{"an unknown one", []estimator.Step{gaussian, unknowns[0]}, []privacy.EventKind{privacy.ZCDP}},
	} {
		e := stepped{loss: loss, steps: c.steps}
		before, got := estimator.Events(e), estimator.RoundedEvents(e)
		var kinds []privacy.EventKind
		for i, x := range got {
			kinds = append(kinds, x.Kind)
			if x.Kind = before[i].Kind; x != before[i] {
				t.Errorf("%s: %+v has become %+v", c.name, before[i], got[i])
			}
		}
		if !reflect.DeepEqual(kinds, c.want) {
			t.Errorf("%s: %v, want %v", c.name, kinds, c.want)
		}
	}
	alone := noisy{stepped{loss: loss, steps: []estimator.Step{gaussian, gaussian}}}
	if got := estimator.RoundedEvents(alone); len(got) != 1 || got[0].Kind != privacy.Gaussian {
		t.Errorf("noise alone: %+v", got)
	}
	pure := stepped{loss: privacy.PureLoss(0.5), steps: []estimator.Step{{Mechanism: estimator.DiscreteLaplace, Epsilon: 0.5}}}
	if got := estimator.RoundedEvents(pure); !reflect.DeepEqual(got, pure.Events()) {
		t.Errorf("a pure release: %+v", got)
	}
}

func TestOfNoMechanismAreWordsAlone(t *testing.T) {
	for step, want := range map[estimator.Step]string{
		{Mechanism: estimator.DiscreteGaussian, Use: "histogram"}: "discrete-gaussian histogram",
		{Mechanism: estimator.Exponential}:                        "exponential",
		{Use: "permute-and-flip"}:                                 "permute-and-flip",
		{Mechanism: 200}:                                          "",
	} {
		if got := step.Drawn(); got != want {
			t.Errorf("%+v is drawn as %q, want %q", step, got, want)
		}
	}
}
