package scalar

import (
	"math"
	"math/big"
	"strings"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Noise hides an integer that one person moves by a known amount, or several integers together.
//
//	zCDP    N_Z(0, ⌈Δ₂²/(2ρ)⌉) on each, Δ₂ the ℓ2 sensitivity of all: ρ [CKS20, Theorem 14]
//	pure    Lap_Z(Δ₁/ε) on each, Δ₁ the ℓ1 sensitivity of all: ε, δ = 0
//
// Pure: P[y] is in proportion to e^{-|y|ε/Δ₁} at every integer y, so moving the integers by Δ₁ in
// all changes the probability of an answer by at most e^ε. The scale is an exact quotient of
// integers and the draw is exact, so nothing is added for either.
type Noise struct {
	loss     float64  // ρ, or ε
	sigma2   *big.Int // variance of Gaussian noise; nil: pure
	small    noise.Variance
	num, den *big.Int // scale of Laplace noise
}

// NewNoise returns the noise of p's kind at a share of its loss, for integers of squared ℓ2
// sensitivity l2 and ℓ1 sensitivity l1.
func NewNoise(p estimator.Params, l2 *big.Int, l1 int64, share float64) Noise {
	if p.Pure() {
		eps := new(big.Rat).SetFloat64(share) // finite: CheckPure
		num := new(big.Int).Mul(big.NewInt(max(l1, 1)), eps.Denom())
		return Noise{loss: share, num: num, den: new(big.Int).Set(eps.Num())}
	}
	x := Noise{loss: share, sigma2: Sigma2(l2, 1, share)}
	if x.sigma2.BitLen() <= 128 {
		x.small = ToVariance(x.sigma2)
	}
	return x
}

// Single returns the noise of one integer that moves by at most delta.
func Single(p estimator.Params, delta int64, share float64) Noise {
	return NewNoise(p, Square(delta), delta, share)
}

// Add returns v with noise, saturating at ±2^63.
func (x Noise) Add(n noise.Noiser, v int64) int64 {
	if x.sigma2 != nil {
		return n.GaussianInt(v, x.small)
	}
	return noise.Saturating(n.Laplace(big.NewInt(v), x.num, x.den))
}

// Of returns a sum with noise as a float64: the noise is added to the exact integer, rounding comes
// after it.
func (x Noise) Of(n noise.Noiser, s Sum) float64 { return x.Big(n, s.Big()) }

// Big is Of for a big integer.
func (x Noise) Big(n noise.Noiser, v *big.Int) float64 {
	if x.sigma2 != nil {
		return Float(n.Gaussian(v, x.sigma2))
	}
	return Float(n.Laplace(v, x.num, x.den))
}

// Sigma is the standard deviation of the noise: of Lap_Z(t) it is 1/(√2·sinh(1/(2t))).
func (x Noise) Sigma() float64 {
	switch {
	case x.sigma2 != nil:
		return Root(x.sigma2)
	case x.num == nil:
		return 0
	}
	return 1 / (math.Sqrt2 * math.Sinh(1/(2*x.scale())))
}

// scale is t of Lap_Z(t), for reporting and for choices on released numbers.
func (x Noise) scale() float64 {
	t, _ := new(big.Rat).SetFrac(x.num, x.den).Float64()
	return t
}

// Quantile is the y >= 0 that the noise is beyond on one side with probability at most alpha < 1/2.
func (x Noise) Quantile(alpha float64) float64 {
	if x.sigma2 != nil {
		return x.Sigma() * math.Sqrt2 * math.Erfcinv(2*alpha)
	}
	return x.scale() * math.Log(1/(2*alpha))
}

// Point is the number that a standard normal variable is beyond as rarely as the noise is at y or
// beyond, on y's side; 0 where that is not rare.
func (x Noise) Point(y int64) float64 {
	far, z := math.Abs(float64(y)), 0.0
	if x.sigma2 != nil {
		z = (far - 0.5) / x.Sigma() // the lattice
	} else {
		t := x.scale()
		tail := math.Exp(-far/t) / (1 + math.Exp(-1/t))
		z = math.Sqrt2 * math.Erfcinv(min(2*max(tail, 1e-300), 1))
	}
	return math.Copysign(max(z, 0), float64(y))
}

// Step completes a step with the noise's mechanism, norm and loss.
func (x Noise) Step(s estimator.Step) estimator.Step {
	s.Mechanism = estimator.DiscreteGaussian
	if x.sigma2 == nil {
		s.Mechanism, s.Sensitivity = estimator.DiscreteLaplace, strings.Replace(s.Sensitivity, "l2=", "l1=", 1)
		s.Epsilon = x.loss
	} else {
		s.Rho = x.loss
	}
	s.Queries = max(s.Queries, 1)
	return s
}

// LossOf is the loss of a release with the parameters p.
func LossOf(p estimator.Params) privacy.Loss {
	if p.Pure() {
		return privacy.PureLoss(p.Epsilon)
	}
	return Loss(p.Rho)
}

// Float is the number nearest to a whole one.
func Float(b *big.Int) float64 {
	f, _ := new(big.Float).SetInt(b).Float64()
	return f
}

// Law is that of the noise.
func (x Noise) Law() estimator.Law {
	if x.sigma2 != nil {
		return estimator.Gaussian
	}
	return estimator.Laplace
}

// Size is the size of the noise in the sense of its law: the standard deviation, or the scale.
func (x Noise) Size() float64 {
	if x.sigma2 != nil || x.num == nil {
		return x.Sigma()
	}
	return x.scale()
}

// Under is the size of the noise of a released number of persons over that number, 0 where it is
// public. Half a person is added, as the noise is a whole number.
func (p Persons) Under(count float64) float64 {
	if p.public {
		return 0
	}
	return (p.noise.Size() + 0.5) / count
}

// Hidden is the answer of one number that the noise was added to, on a lattice of the given step.
func Hidden(value float64, x Noise, step float64) estimator.Estimate {
	e := One(value, x.Sigma()*step)
	e.Error = &estimator.Error{Form: estimator.Quotient, Law: x.Law(), Noise: []float64{x.Size() * step}, Step: []float64{step}}
	return e
}

// Ratio is the answer Centre + S/n̂ of one value, with the sizes of the noise of S over n̂ and of
// n̂ over itself.
func Ratio(value, stdErr float64, x estimator.Error) estimator.Estimate {
	e := One(value, stdErr)
	x.Form = estimator.Quotient
	e.Error = &x
	return e
}
