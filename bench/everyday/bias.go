package everyday

import "math"

// off gathers the errors of one group over the runs.
type off struct {
	runs, bounded     int     // that had an answer, and both ends of its interval
	error, square     float64 // sums of the errors and of their squares
	deviation, widths float64 // of what DP_STDERR says, and of half widths at 95 %
	exact             float64
}

// add adds one answer.
func (o *off) add(a answer, exact float64) {
	o.exact = exact
	e := a.value - exact
	o.runs++
	o.error, o.square = o.error+e, o.square+e*e
	if a.deviation > 0 {
		o.deviation += a.deviation
	}
	if w := a.high[usual] - a.low[usual]; !math.IsNaN(w) && !math.IsInf(w, 0) {
		o.bounded, o.widths = o.bounded+1, o.widths+w/2
	}
}

// bias returns the square of the mean error, less what so few runs have of it by chance, in units
// of the square of DP_STDERR. ok is false where there are less than two runs, or no DP_STDERR.
func (o *off) bias() (square float64, ok bool) {
	n := float64(o.runs)
	deviation := o.deviation / n
	if o.runs < 2 || !(deviation > 0) {
		return 0, false
	}
	mean := o.error / n
	chance := max(0, o.square/n-mean*mean) / (n - 1)
	return (mean*mean - chance) / (deviation * deviation), true
}

// sharpness is half the width of the interval over the error, or over least where that is more.
func (o *off) sharpness(least float64) float64 {
	return o.widths / float64(o.bounded) / max(least, math.Sqrt(o.square/float64(o.runs)))
}

// finishBias writes what the groups of a cell, and all of them together, are off by.
//
//	Bias        root of the mean square over groups of |mean − exact| / DP_STDERR, without what chance has in it
//	TotalBias   mean error of the sum over groups, over the exact one, with its standard error
//	Sharpness   median over groups of half width / error, an error of a count being 1 at least
func (s *scores) finishBias() {
	c, squares, n := s.cell, 0.0, 0
	c.Bias, c.TotalBias, c.TotalDoubt = math.NaN(), math.NaN(), math.NaN()
	least := 0.0
	if s.of() <= personCount {
		least = 1
	}
	var sharp []float64
	for i := range s.groups {
		o := &s.groups[i]
		if b, ok := o.bias(); ok {
			squares, n = squares+b, n+1
		}
		if x := o.sharpness(least); o.bounded > 0 && !math.IsNaN(x) {
			sharp = append(sharp, x)
		}
	}
	if n > 0 {
		c.Bias = math.Sqrt(max(0, squares) / float64(n))
	}
	c.Sharpness = middle(sharp)
	if t := &s.together; t.runs > 1 && t.exact > 0 {
		n := float64(t.runs)
		mean := t.error / n
		c.TotalBias = mean / t.exact
		c.TotalDoubt = math.Sqrt(max(0, t.square/n-mean*mean)/(n-1)) / t.exact
	}
}

// Aims of bias and sharpness, for cells of m ≥ 100. Where the best clip takes at most clippedMost
// of the answers: Bias at most biasMiddle in the median cell and biasMost in 95 % of cells; the
// total over groups off by totalMost at most, beyond twice what chance has in it. Everywhere:
// sharpness at most sharpMost in every cell, and in the median cell as its class says.
const (
	biasMiddle, biasMost = 0.25, 0.5
	totalMost            = 0.02
	clippedMost          = 0.01
	sharpMost            = 8
)

// totalOff says whether the total over groups is off by more than its aim, beyond chance.
func (c *Cell) totalOff() bool {
	return math.Abs(c.TotalBias) > totalMost+2*c.TotalDoubt
}
