package local

import "math"

// coin is binary randomised response: of n reports, ones say 1; each tells the truth with
// probability keep.
type coin struct {
	ones, n float64
	keep    float64
}

func newCoin(c *part) coin {
	counts := c.sum.(*values).counts
	return coin{float64(counts[1]), float64(counts[0] + counts[1]), probability(c.Keep)}
}

// scale is A = 1/(2p−1), by which randomisation spreads.
func (c coin) scale() float64 { return 1 / (2*c.keep - 1) }

// debias returns the unbiased estimate of the share of ones before randomisation, given theirs
// after it.
func (c coin) debias(share float64) float64 { return (share-0.5)*c.scale() + 0.5 }

// share returns the estimate of the share of ones before randomisation, and its standard error for
// contributors who are a sample:
//
//	stderr = A·√(y(1−y)/n)
//
// y is the share of reported ones, kept within what randomisation leaves possible, [1−p, p]. For
// contributors who are all of interest it is an upper bound: y(1−y) is concave in each one's own
// chance of a one.
func (c coin) share() (value, stderr float64) {
	y := c.ones / c.n
	possible := min(max(y, 1-c.keep), c.keep)
	return c.debias(y), c.scale() * math.Sqrt(possible*(1-possible)/c.n)
}

// interval returns an interval for the share of ones before randomisation at a level: Wilson's for
// that of reported ones, which holds for few reports too, without the randomisation.
func (c coin) interval(conf float64) (lo, hi float64) {
	z := quantileOf(conf)
	centre := (c.ones + z*z/2) / (c.n + z*z)
	half := z / (c.n + z*z) * math.Sqrt(c.ones*(c.n-c.ones)/c.n+z*z/4)
	return c.debias(centre - half), c.debias(centre + half)
}

// quantileOf returns the standard normal z of which [−z, z] has probability conf.
func quantileOf(conf float64) float64 { return math.Sqrt2 * math.Erfinv(conf) }
