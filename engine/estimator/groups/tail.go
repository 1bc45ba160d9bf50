package groups

import (
	"math"

	"scrim/engine/estimator/internal/firstpass"
)

// tail is a tail of norms whose logarithms are normal: beyond from there are count of them, and
// they fall off as those of the normal law with mean mu and standard deviation sigma do. What few
// persons have, the noise of a histogram hides; what it does not hide, the upper half, says how the
// tail goes on. Numbers of rows, purchases and amounts of persons are often log-normal; a tail that
// is heavier gets a shorter radius than the best, by a few percent of the error where many persons
// are beyond the best radius, since only what noise hides is taken from here.
type tail struct{ from, count, mu, sigma float64 }

// tailOf fits the tail beyond 6σ of the counts, but no more than a quarter of all, and returns the
// bucket above that. The normal law is the one with the least sum of squared differences from the
// counts of all buckets from the median on, up to four octaves beyond the top: the noise is the
// same in all of them.
func tailOf(h firstpass.Histogram, noisy []float64, top int) (t tail, above int) {
	all := 0.0
	for _, c := range noisy[:top+1] {
		all += c
	}
	all = max(all, 4*firstpass.FarZ*h.Sigma)
	middle := placeOf(noisy, top, all/2)
	t.mu, t.sigma = fitted(h, noisy[:min(top+4*h.Per, len(noisy)-1)+1], all, middle)
	t.count = min(firstpass.FarZ*h.Sigma, all/4)
	at := placeOf(noisy, top, t.count)
	t.from = h.Edge(at)
	return t, int(math.Ceil(at))
}

// placeOf returns the place, in buckets, beyond which there are k by the counts up to the top.
func placeOf(noisy []float64, top int, k float64) float64 {
	for i := top; i > 0; i-- {
		if noisy[i] > k {
			return float64(i) - k/max(noisy[i], 1)
		}
		k -= noisy[i]
	}
	return 0
}

// fitted returns the normal law of least squares: standard deviations from 0.03 to 4 by eighths,
// means within two buckets of the middle.
func fitted(h firstpass.Histogram, noisy []float64, all, middle float64) (mu, sigma float64) {
	octave := math.Ln2 / float64(h.Per) // of a bucket, in logarithms
	from, least := int(middle), math.Inf(1)
	rest := squaresFrom(noisy)
	for s := 0.03; s < 4; s *= 1.125 {
		for shift := -2.0; shift <= 2; shift += 0.25 {
			m := (middle + shift) * octave
			sum, before, i := 0.0, upper((float64(from)*octave-m)/s), from+1
			for ; i < len(noisy) && all*before > 1e-3; i++ {
				beyond := upper((float64(i)*octave - m) / s)
				d := noisy[i] - all*(before-beyond)
				sum, before = sum+d*d, beyond
			}
			if sum += rest[min(i, len(noisy))]; sum < least {
				mu, sigma, least = m, s, sum
			}
		}
	}
	return mu, sigma
}

// squaresFrom returns the sums of the squares from each number on.
func squaresFrom(x []float64) []float64 {
	sums := make([]float64, len(x)+1)
	for i := len(x) - 1; i >= 0; i-- {
		sums[i] = sums[i+1] + x[i]*x[i]
	}
	return sums
}

// upper is the probability that a standard normal number is over z.
func upper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// share is the share of the law beyond e^x, kept from 0.
func (t tail) share(x float64) float64 { return max(upper((x-t.mu)/t.sigma), 1e-300) }

// beyond is the number of norms beyond v, at least from, and sum their sum: the partial expectation
// of a log-normal number.
func (t tail) beyond(v float64) float64 {
	return t.count * t.share(math.Log(v)) / t.share(math.Log(t.from))
}

func (t tail) sum(v float64) float64 {
	whole := t.share(math.Log(v) - t.sigma*t.sigma)
	// Rounding far out in the tail must not bring the sum under that of as many norms of size v.
	return max(t.count*math.Exp(t.mu+t.sigma*t.sigma/2)*whole/t.share(math.Log(t.from)), v*t.beyond(v))
}
