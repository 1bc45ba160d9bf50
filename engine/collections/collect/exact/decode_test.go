package exact

import (
	"math"
	"math/big"
)

// What a decoder makes of reports, from the published integers: debiased shares and their
// variances. The decoders themselves are in engine/estimator.

// P returns the probability of telling the truth.
func (b BinaryResponse) P() float64 { return float64(b.keep) / float64(one62) }

// Scale returns A = 1/(2p − 1), by which noise grows.
func (b BinaryResponse) Scale() float64 { return float64(one62) / float64(2*b.keep-one62) }

// Debias returns an unbiased estimate of the share of ones among contributors from that among their
// reports: (share − (1 − p))·A.
func (b BinaryResponse) Debias(share float64) float64 { return (share-0.5)*b.Scale() + 0.5 }

// Variance returns the variance of one debiased report whose bit is 1 with probability f: A²/4 − (f
// − 1/2)². With f = 0 or 1 it is that of a given bit.
func (b BinaryResponse) Variance(f float64) float64 {
	a := b.Scale()
	return a*a/4 - (f-0.5)*(f-0.5)
}

// P returns the probability of telling the truth.
func (c KaryResponse) P() float64 { return float64(c.keep) / float64(one62) }

// Other returns o, the probability of each other value.
func (c KaryResponse) Other() float64 { return float64(one62-c.keep) / float64(one62) / float64(c.k-1) }

// Debias returns an unbiased estimate of a value's share among contributors from its share among
// their reports: (share − o)/(p − o).
func (c KaryResponse) Debias(share float64) float64 { return (share - c.Other()) / (c.P() - c.Other()) }

// Variance returns N times the variance of the debiased share of a value that a share f of N
// contributors have: (f·p(1−p) + (1−f)·o(1−o))/(p − o)².
func (c KaryResponse) Variance(f float64) float64 {
	p, o := c.P(), c.Other()
	return (f*p*(1-p) + (1-f)*o*(1-o)) / math.Pow(p-o, 2)
}

// Debias returns an unbiased estimate of the mean of s at value v among contributors, those at
// other values counting as 0, from the mean over reports of ±1·(−1)^|j∧v|: A·mean.
func (h Hadamard) Debias(mean float64) float64 { return h.bit.Scale() * mean }

// Variance returns the variance of one debiased report at a value where the mean is c, for a
// contributor drawn at random: A² − c².
func (h Hadamard) Variance(c float64) float64 { return h.bit.Scale()*h.bit.Scale() - c*c }

// Bit returns bit v < D of a report.
func (u UnaryEncoding) Bit(report []byte, v uint64) bool { return report[v/8]>>(7-v%8)&1 == 1 }

// Q returns the probability that a bit other than the value's is 1.
func (u UnaryEncoding) Q() float64 { return float64(u.flip) / float64(one62) }

// Debias returns an unbiased estimate of a value's share among contributors from the share of
// reports with its bit: (share − q)/(1/2 − q).
func (u UnaryEncoding) Debias(share float64) float64 { return (share - u.Q()) / u.gap() }

// gap returns 1/2 − q.
func (u UnaryEncoding) gap() float64 { return float64(one62/2-u.flip) / float64(one62) }

// Variance returns N times the variance of the debiased share of a value that a share f of N
// contributors have: (f/4 + (1−f)·q(1−q))/(1/2 − q)².
func (u UnaryEncoding) Variance(f float64) float64 {
	q, gap := u.Q(), u.gap()
	return (f/4 + (1-f)*q*(1-q)) / (gap * gap)
}

// Rat returns ε as a rational.
func (e Epsilon) Rat() *big.Rat { return big.NewRat(int64(e), epsilonUnit) }
