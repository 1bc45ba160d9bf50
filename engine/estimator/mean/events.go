package mean

import (
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// Events implements estimator.Itemised.
func (e persons) Events() []privacy.Event { return estimator.StepEvents(e) }

// Events implements estimator.Itemised.
func (s sum) Events() []privacy.Event { return estimator.StepEvents(s) }

// NoiseAlone implements estimator.NoiseAlone: both histograms and the sum have noise.
func (sum) NoiseAlone() bool { return true }

// Events implements estimator.Itemised. Which steps there are follows from the number of persons
// (NewRowMean), so they are those that cost the most at every order: fewest, and none by choice.
//
// Gaussian: a choice at ρ, and Gaussian steps at ρ together, have at most the divergence α·ρ that
// one Gaussian step has. Pure: with f(ε) the divergence of randomised response, which is the worst
// of all that are (ε, 0)-DP, f(ε)/ε grows with ε: its derivative has the sign of h((β+½)ε) − h(ε/2)
// with h(x) = x·tanh x − ln cosh x, whose derivative is x/cosh²x. So f(a + b) >= f(a) + f(b).
func (e rowMean) Events() []privacy.Event { return estimator.StepEvents(fewest{e}) }

// fewest has the fewest steps that a mean over rows may come to.
type fewest struct{ rowMean }

// Steps implements estimator.Estimator.
func (e fewest) Steps() []estimator.Step {
	return append(e.n.Steps(), e.coarse.Step(""), e.whole.clip.Step(""), e.whole.noise.Step(estimator.Step{Queries: 2}))
}
