package person

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/firstpass"
)

// choiceSlack is the slack of one draw from the exponential mechanism under zCDP; a pure draw has
// none.
const choiceSlack = exponential.Slack

// law says what a loss buys: a loss is ρ and noise Gaussian, or, where pure, ε and Laplace noise.
//
// A clipped sum is one of vectors in an ℓ2 ball under zCDP. Pure noise for the ℓ2 norm would grow
// with d^(3/2), so vectors are clipped coordinate by coordinate there, and every coordinate has
// ε/d.
type law struct {
	pure     bool
	relation estimator.Relation
	dim      int
}

func (p Params) law() law { return law{p.Pure(), p.Relation, p.Dim} }

// factor is the most by which one person moves a sum of vectors (numbers) clipped to a radius, in
// radii.
func (l law) factor() float64 { return float64(l.relation.Factor()) }

// together is the number of coordinates that are clipped together.
func (l law) together() float64 {
	if l.pure {
		return 1
	}
	return float64(l.dim)
}

// unit is the standard deviation of the noise of every coordinate of a clipped sum, in radii, at a
// loss:
//
//	zCDP   s/√(2ρ)
//	pure   √2·s·d/ε
//
// with s = factor.
func (l law) unit(loss float64) float64 {
	if l.pure {
		return math.Sqrt2 * l.factor() * float64(l.dim) / loss
	}
	return l.factor() / math.Sqrt(2*loss)
}

// lossOf is the inverse of unit.
func (l law) lossOf(unit float64) float64 {
	if l.pure {
		return math.Sqrt2 * l.factor() * float64(l.dim) / unit
	}
	return l.factor() * l.factor() / (2 * unit * unit)
}

// histogram returns a noisy histogram at a loss: of persons, or of matched groups.
func (l law) histogram(o firstpass.Octaves, groups bool, loss float64) firstpass.Histogram {
	moved := firstpass.Delta2(l.relation, groups)
	if l.pure {
		return firstpass.NewPureHistogram(o, moved, loss)
	}
	return firstpass.NewHistogram(o, moved, loss)
}

// deviation is the Sigma of a histogram.
func (l law) deviation(groups bool, loss float64) float64 {
	moved := float64(firstpass.Delta2(l.relation, groups))
	if l.pure {
		return firstpass.PureSigma * moved / loss
	}
	return math.Sqrt(moved / (2 * loss))
}

// rate is the exponent of a choice of the fullest bucket in each of d coordinates, together at a
// loss; rateLoss its inverse.
func (l law) rate(loss float64) float64 {
	if l.pure {
		return loss / (float64(l.dim) * l.factor())
	}
	return math.Sqrt(8*loss/float64(l.dim)) / l.factor()
}

func (l law) rateLoss(rate float64) float64 {
	if l.pure {
		return rate * float64(l.dim) * l.factor()
	}
	return float64(l.dim) * (rate * l.factor()) * (rate * l.factor()) / 8
}

// fullest returns the choice of the fullest bucket of one coordinate, where all together have a
// loss.
func (l law) fullest(buckets uint64, loss float64) exponential.Fullest {
	share := loss / float64(l.dim) * (1 - 1e-12)
	if !l.pure {
		return exponential.NewFullest(buckets, share, l.relation)
	}
	f, err := exponential.NewPureFullest(buckets, share, l.relation)
	if err != nil {
		panic("person: " + err.Error()) // excluded by leastEpsilon and leastStage
	}
	return f
}

// step puts the loss of a step into its description.
func (l law) step(s estimator.Step, loss float64) estimator.Step {
	if l.pure {
		s.Epsilon = loss
	} else {
		s.Rho = loss
	}
	return s
}

// noisy returns the mechanism of the noise, for descriptions, and the norm of sensitivities.
func (l law) noisy() (m estimator.Mechanism, norm string) {
	if l.pure {
		return estimator.DiscreteLaplace, "l1"
	}
	return estimator.DiscreteGaussian, "l2"
}

// budget is what is left of a loss, in shares of the whole.
type budget struct{ loss, left float64 }

// take returns the loss of a share of the whole and reduces what is left. Each part is rounded down
// by one part in 10^12, far more than the error of the differences, so that the exact sum of all
// parts is at most the loss.
func (b *budget) take(share float64) float64 {
	share = min(share, b.left)
	b.left -= share
	return b.loss * share * (1 - 1e-12)
}

// rest takes what is left.
func (b *budget) rest() float64 { return b.take(b.left) }
