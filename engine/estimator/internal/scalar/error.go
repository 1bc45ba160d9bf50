package scalar

import "scrim/engine/estimator"

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
