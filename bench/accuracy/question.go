package accuracy

import (
	"math"
	"slices"

	"scrim/bench/dataset"
	"scrim/engine/collections/local"
)

// Stated is what an answer says of its own error.
type Stated struct {
	StdErr    float64      // of the ℓ2 error
	Intervals [][2]float64 // one a coordinate, at 95 %; nil for none
}

// covers returns the share of intervals that hold the values, NaN where there are none.
func (s Stated) covers(values []float64) float64 {
	if len(s.Intervals) == 0 || len(values) != len(s.Intervals) {
		return math.NaN()
	}
	held := 0
	for i, v := range values {
		if s.Intervals[i][0] <= v && v <= s.Intervals[i][1] {
			held++
		}
	}
	return float64(held) / float64(len(values))
}

// question is what a collection's estimate is asked for.
type question struct {
	target Target
	scalar bool // of one dimension only
	ask    func(s *dataset.Set, e local.Estimate, x dataset.Sample) (Answer, error)
}

// The questions.
var (
	askMean     = question{Mean, true, meanAnswer}
	askVector   = question{Mean, false, vectorAnswer}
	askRange    = question{Shares, true, sharesAnswer}
	askQuantile = question{Ranks, true, ranksAnswer}
)

// answer asks the question. What the estimate has no answer for is refused.
func (q question) answer(s *dataset.Set, e local.Estimate, x dataset.Sample) Answer {
	a, err := q.ask(s, e, x)
	return Answer{Values: a.Values, Stated: a.Stated, Refused: err != nil}
}

func meanAnswer(_ *dataset.Set, e local.Estimate, _ dataset.Sample) (Answer, error) {
	v, stderr, err := e.Mean()
	if err != nil {
		return Answer{}, err
	}
	lo, hi, err := e.Interval(0.95)
	return Answer{Values: []float64{v}, Stated: Stated{stderr, [][2]float64{{lo, hi}}}}, err
}

func vectorAnswer(_ *dataset.Set, e local.Estimate, _ dataset.Sample) (Answer, error) {
	v, stderr, err := e.Vector()
	return Answer{Values: v, Stated: Stated{StdErr: stderr}}, err
}

// marks are how many points shares are asked below: at multiples of the golden section, so that
// trees have no node that ends at one.
const marks = 15

// mark returns point i of a set's range.
func mark(s *dataset.Set, i int) float64 {
	lo, hi := float64(s.Grid.Lo)*s.Grid.Step, float64(s.Grid.Hi)*s.Grid.Step
	_, at := math.Modf(float64(i+1) * (math.Sqrt(5) - 1) / 2)
	return lo + (hi-lo)*at
}

// sharesAnswer has the shares below the marks. All are divided by √marks, so that the ℓ2 error is
// the root mean square.
func sharesAnswer(s *dataset.Set, e local.Estimate, _ dataset.Sample) (Answer, error) {
	var a Answer
	root, square := math.Sqrt(marks), 0.0
	for i := range marks {
		v, stderr, err := e.Range(math.Inf(-1), mark(s, i))
		if err != nil {
			return Answer{}, err
		}
		square += stderr * stderr / marks
		a.Values = append(a.Values, v/root)
		a.Stated.Intervals = append(a.Stated.Intervals, [2]float64{(v - 1.96*stderr) / root, (v + 1.96*stderr) / root})
	}
	a.Stated.StdErr = math.Sqrt(square)
	return a, nil
}

// asked are the quantiles that a collection is asked for.
var asked = []float64{0.1, 0.25, 0.5, 0.75, 0.9}

// ranksAnswer has the ranks in the sample that the estimated quantiles have, divided by √5
// likewise.
func ranksAnswer(s *dataset.Set, e local.Estimate, x dataset.Sample) (Answer, error) {
	var a Answer
	for _, q := range asked {
		at, err := e.Quantile(q)
		if err != nil {
			return Answer{}, err
		}
		a.Values = append(a.Values, shareBelow(s, x, at)/math.Sqrt(float64(len(asked))))
	}
	return a, nil
}

// shares are the sample's own, as sharesAnswer has them.
func shares(s *dataset.Set, x dataset.Sample) (out []float64) {
	for i := range marks {
		out = append(out, shareBelow(s, x, mark(s, i))/math.Sqrt(marks))
	}
	return out
}

func ranks() []float64 {
	out := slices.Clone(asked)
	for i := range out {
		out[i] /= math.Sqrt(float64(len(asked)))
	}
	return out
}

// shareBelow returns the share of a sample of one dimension below a point.
func shareBelow(s *dataset.Set, x dataset.Sample, at float64) float64 {
	n := 0
	for _, ch := range x.Block.Chunks {
		for _, v := range ch.Dense {
			if float64(v)*s.Grid.Step < at {
				n++
			}
		}
	}
	return float64(n) / float64(x.Block.Persons())
}
