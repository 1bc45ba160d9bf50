package accuracy

import (
	"math"
	"slices"
)

// Metric is a measure of error.
type Metric uint8

// Metrics. To the sample: against the mean of the drawn vectors instead of the distribution's.
const (
	L2           Metric = iota // ‖estimate − truth‖₂
	L2Sample                   // ‖estimate − sample mean‖₂
	HalfL1                     // ½‖estimate − truth‖₁
	HalfL1Sample               // ½‖estimate − sample mean‖₁
	Relative                   // mean over coordinates of |estimate − truth|/truth
	Groups                     // ‖estimate − exact totals‖₂ over all groups of a GROUP BY
	// mean over coordinates of estimate − sample mean, with its sign: over trials it averages to
	// the bias
	Bias
	metrics
)

// Key is the metric's name in JSON.
func (m Metric) Key() string {
	return [...]string{"l2", "l2_sample", "half_l1", "half_l1_sample", "relative", "groups", "bias"}[m]
}

// String is the metric's name in tables and on axes.
func (m Metric) String() string {
	return [...]string{"ℓ2 error", "ℓ2 error to the sample mean", "½ ℓ1 error", "½ ℓ1 error to the sample mean", "relative error", "ℓ2 error over all groups", "bias: mean of estimate − sample mean"}[m]
}

// Errors are the errors of one trial by metric, NaN where there is no truth.
type Errors [metrics]float64

// distances returns the errors of an estimate of the mean.
func distances(estimate, truth, sample []float64) Errors {
	var e Errors
	for m := range e {
		e[m] = math.NaN()
	}
	if len(truth) == len(estimate) {
		e[L2], e[HalfL1] = l2(estimate, truth), l1(estimate, truth)/2
		e[Relative] = relative(estimate, truth)
	}
	if len(sample) == len(estimate) {
		e[L2Sample], e[HalfL1Sample] = l2(estimate, sample), l1(estimate, sample)/2
		e[Bias] = mean(estimate) - mean(sample)
	}
	return e
}

func l2(x, y []float64) float64 {
	sum := 0.0
	for j := range x {
		sum += (x[j] - y[j]) * (x[j] - y[j])
	}
	return math.Sqrt(sum)
}

func l1(x, y []float64) float64 {
	sum := 0.0
	for j := range x {
		sum += math.Abs(x[j] - y[j])
	}
	return sum
}

// relative is NaN where a true value is 0.
func relative(x, truth []float64) float64 {
	sum := 0.0
	for j := range x {
		if truth[j] == 0 {
			return math.NaN()
		}
		sum += math.Abs(x[j]-truth[j]) / math.Abs(truth[j])
	}
	return sum / float64(len(x))
}

// of moves the errors of totals to the metric of their own.
func (e Errors) of(t Target) Errors {
	if t == Totals {
		e[Groups], e[L2Sample], e[HalfL1Sample], e[Bias] = e[L2Sample], math.NaN(), math.NaN(), math.NaN()
	}
	return e
}

// Summary is a statistic of the errors of several trials. All are NaN for no trials.
type Summary struct {
	Mean, Median, Trimmed float64 // Trimmed: without the lowest and the highest tenth
	StdErr                float64 // of the mean; NaN for fewer than two trials
	// standard error of the median, from the ranks half of √trials to either side
	MedianErr float64
}

// Summarise returns the statistics of x, which may hold NaN: they are left out.
func Summarise(x []float64) Summary {
	s := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(s)
	n := len(s)
	if n == 0 {
		return Summary{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	cut, root := n/10, math.Sqrt(float64(n))
	from, to := max((n-1)/2-int(root/2), 0), min(n/2+int(root/2), n-1)
	return Summary{
		Mean:    mean(s),
		Median:  (s[(n-1)/2] + s[n/2]) / 2,
		Trimmed: mean(s[cut : n-cut]),
		StdErr:  deviation(s) / math.Sqrt(float64(n)),
		// The number of trials under the true median has a standard deviation of √n/2.
		MedianErr: (s[to] - s[from]) / float64(max(to-from, 1)) * root / 2,
	}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// deviation is the sample standard deviation, NaN for fewer than two numbers.
func deviation(x []float64) float64 {
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
