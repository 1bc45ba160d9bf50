package covariance

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
)

// Statistic is one number that is made of the moments of x, the first argument, and y, the second
// one.
type Statistic uint8

// Statistics. The line is that of x on y: x = Intercept + Slope·y.
const (
	Correlation Statistic = iota
	PopulationCovariance
	SampleCovariance
	Slope
	Intercept
	Determination // the square of the correlation
	Mean          // of x
	OtherMean     // of y
	statistics
)

// released are the noisy sums, in lattice units, with what they are multiples of.
type released struct {
	sums  [dim]float64
	sigma float64 // standard deviation of the noise of each sum
	unit  float64 // of the lattice, in units of a vector
	// what laws say of the lengths that the clip took
	losses []clipping.Loss
	// the centres and radiuses of the arguments, in their values' units
	centre, size [2]float64
}

// parts are a statistic as Offset + Num/Den.
type parts struct{ offset, num, den float64 }

// spreads are the central moments in units of the radiuses, and the means about the centres.
type spreads struct {
	mean, variance   [2]float64
	covariance, rows float64
}

// central returns the central moments of sums. An estimate of a variance from a noisy mean is low
// by the variance of the mean's noise, which is added.
func (r released) central(sums [dim]float64) spreads {
	total := sums[0] / rowsWeight
	s := spreads{rows: total * r.unit, mean: [2]float64{sums[1] / sumWeight / total, sums[2] / sumWeight / total}}
	off := r.sigma / sumWeight / total
	for j, at := range []int{3, 5} {
		s.variance[j] = sums[at]/total - s.mean[j]*s.mean[j] + off*off
	}
	s.covariance = sums[4]/math2/total - s.mean[0]*s.mean[1]
	return s
}

// of returns a statistic of sums.
func (r released) of(s Statistic, sums [dim]float64) parts {
	m, k := r.central(sums), r.size
	const tiny = 1e-300
	switch s {
	case Correlation, Determination:
		return parts{0, m.covariance, math.Sqrt(max(m.variance[0], tiny) * max(m.variance[1], tiny))}
	case PopulationCovariance:
		return parts{0, m.covariance * k[0] * k[1], 1}
	case SampleCovariance:
		n := max(2, m.rows)
		return parts{0, m.covariance * k[0] * k[1] * (n / (n - 1)), 1}
	case Slope:
		return parts{0, m.covariance * k[0] / k[1], m.variance[1]}
	case Intercept:
		slope := m.covariance * k[0] / k[1]
		return parts{r.centre[0], k[0]*m.mean[0]*m.variance[1] - slope*(r.centre[1]+k[1]*m.mean[1]), m.variance[1]}
	case Mean: // a quotient of two sums, whose numerator has no noise of the other in it
		return parts{r.centre[0], k[0] * sums[1] / sumWeight, sums[0] / rowsWeight}
	}
	return parts{r.centre[1], k[1] * sums[2] / sumWeight, sums[0] / rowsWeight}
}

// divides lists the arguments whose spread a statistic divides by.
func (s Statistic) divides() []int {
	switch s {
	case Correlation, Determination:
		return []int{0, 1}
	case Slope, Intercept:
		return []int{1}
	}
	return nil
}

// leastSpread is the least spread that is divided by, in standard deviations of its noise: so far
// from 0 the quotient is nearly a line.
const leastSpread = 4

// step is the part of its standard deviation by which a sum is moved to see how a statistic follows
// it.
const step = 1. / 64

// answer makes the statistics of released sums.
func (e moments) answer(r released, needed int64) estimator.Estimate {
	m := r.central(r.sums)
	var seen [2]bool
	for j := range seen {
		noise := 0.0
		for at := range r.sums {
			d := r.along(at, func(x [dim]float64) float64 { return r.central(x).variance[j] })
			noise += d * d
		}
		seen[j] = m.variance[j] > leastSpread*math.Sqrt(noise)
	}
	out := estimator.Estimate{Error: &estimator.Error{Form: estimator.Fraction}}
	any := false
	for _, s := range e.of {
		known := true
		for _, j := range s.divides() {
			known = known && seen[j]
		}
		v, f := r.fraction(s)
		if !known {
			v, out.Needed = math.NaN(), needed
		}
		any = any || known
		out.Values = append(out.Values, v)
		out.StdErr = append(out.StdErr, f.StdErr(known))
		out.Error.Fractions = append(out.Error.Fractions, f)
	}
	if !any {
		return scalar.TooFew(len(e.of), needed)
	}
	return out
}

// along is how far a function of the sums moves with one standard deviation of the noise of sum at.
func (r released) along(at int, f func([dim]float64) float64) float64 {
	up, down := r.sums, r.sums
	up[at] += step * r.sigma
	down[at] -= step * r.sigma
	return (f(up) - f(down)) / (2 * step)
}

// fraction returns the value of a statistic with its error. The noise of numerator and denominator
// is that of their linear parts, and of the numerator that of the product of the means' errors.
func (r released) fraction(s Statistic) (float64, estimator.FractionOf) {
	at := r.of(s, r.sums)
	f := estimator.FractionOf{Offset: at.offset, Num: at.num, Den: at.den, Low: math.Inf(-1), High: math.Inf(1)}
	for j := range r.sums {
		num := r.along(j, func(x [dim]float64) float64 { return r.of(s, x).num })
		den := r.along(j, func(x [dim]float64) float64 { return r.of(s, x).den })
		f.NumVar += num * num
		f.Both += num * den
		f.DenVar += den * den
	}
	off := r.sigma / r.sums[0] * rowsWeight / sumWeight
	second := off * off * off * off
	switch s {
	case Correlation:
		f.Low, f.High = -1, 1
	case Determination:
		f.Low, f.High, f.Square = 0, 1, true
	case PopulationCovariance, SampleCovariance:
		second *= r.size[0] * r.size[1] * r.size[0] * r.size[1]
	case Slope:
		second *= r.size[0] / r.size[1] * r.size[0] / r.size[1]
	default:
		second = 0
	}
	f.NumVar += second
	f.Cut = r.cut(s, at)
	return scalar.Finite(f.Value()), f
}

// taken are what rows that a clip takes may be made of, as sums of trace 1 in the order of the
// vectors' coordinates: of rows at the centre, of far-off ones in x, in y, in both, and in both on
// opposite sides. Any sums of rows are about such a mixture.
var taken = [][dim]float64{
	{1, 0, 0, 0, 0, 0}, {0.5, 0.5, 0, 0.5, 0, 0}, {0.5, 0, 0.5, 0, 0, 0.5}, {0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 1},
	{0, 0, 0, 0.5, math2 / 2, 0.5}, {0, 0, 0, 0.5, -math2 / 2, 0.5},
}

// alike is how far the rows that a clip takes differ from those that are left, over the farthest
// that they may.
const alike = 0.15

// cut returns the laws of what the clip may move a statistic by. The matrices that the vectors are
// have a trace of at least their length: the length that all of them have left is at most the trace
// of their sum, which is released.
func (r released) cut(s Statistic, at parts) estimator.Cut {
	trace, far := r.sums[0]+max(0, r.sums[3])+max(0, r.sums[5]), 0.0
	for _, mix := range taken {
		move := r.sums
		for j, part := range mix {
			move[j] += step * r.sigma * part
		}
		p := r.of(s, move)
		far = max(far, math.Abs((p.num-at.num)-(at.num/at.den)*(p.den-at.den))/math.Abs(at.den)*trace/(step*r.sigma))
	}
	law := make([]estimator.CutPart, len(r.losses))
	for k, l := range r.losses {
		law[k] = estimator.CutPart{Weight: l.Weight, StdDev: alike * far * math.Hypot(l.Wide, l.Spread) / (1 + l.Wide)}
	}
	return estimator.Cut{Up: law, Down: law}
}
