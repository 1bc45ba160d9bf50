package everyday

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// aim is what is wanted of the cells of a class of m; 0 says that nothing is.
type aim struct {
	name  string
	share float64 // of cells whose ratio is at most most
	most  float64
	worst float64 // ratio of any cell
	below float64 // coverage at a level may be this much below it
	null  float64 // share of values without an answer
	sharp float64 // sharpness of the median cell
}

var aims = [classes]aim{
	{name: "under 20"},
	{name: "20–50", share: 0.8, most: 2.5, worst: 3.5, below: 0.05},
	{name: "50–100", share: 0.8, most: 2, worst: 3.5, below: 0.02, null: 0.15},
	{name: "100–300", share: 0.9, most: 2, worst: 3, below: 0.02, null: 0.02, sharp: 4.5},
	{name: "300–1000", share: 0.9, most: 2, worst: 3, below: 0.02, null: 0.02, sharp: 3},
	{name: "above 1000", share: 1, most: 1.5, worst: 1.5, below: 0.02, null: 0.02, sharp: 3},
}

// Summary is what the cells of one class of m are together; cells out of reach are left out.
type Summary struct {
	aim
	Cells, Far int
	Ratios     []float64
	Within     int           // cells whose ratio is at most the aim's
	Coverage   [len4]float64 // sums over the cells that have intervals
	Short      [len4]int     // cells whose coverage is surely below the aim
	Judged     int           // cells with intervals
	Widths     []float64     // medians of cells
	// of cells with an answer: bias beside the standard error, and half widths beside the error;
	// Biases and Totals where hindsight clips less than clippedMost
	Biases, Sharp []float64
	Totals, Off   int // cells with a total over groups, and those whose total is off
	// of each cell, the share of values of groups of this m without an answer
	Missing []float64
	Wild    int             // answers
	Chance  float64         // of them, by noise alone
	Values  int             // of the cells
	Silent  int             // runs
	Unsaid  int             // runs with keys left out, and no warning
	Runs    int             // of statements' aggregates
	Worst   [len4 + 1]*Cell // by coverage, last by ratio
}

// Summaries returns a summary of each class of m.
func (r Report) Summaries() [classes]Summary {
	var out [classes]Summary
	for i := range out {
		out[i].aim = aims[i]
	}
	for _, c := range r.chosen() {
		if c.Problem != "" {
			continue
		}
		s := &out[classOf(c.M)]
		if c.Far {
			s.Far++
			continue
		}
		for i, t := range c.ByM {
			if t.Values > 0 {
				out[i].Missing = append(out[i].Missing, over(t.Missing, t.Values))
			}
		}
		s.add(c)
	}
	return out
}

func (s *Summary) add(c *Cell) {
	s.Cells++
	s.Wild, s.Chance, s.Values = s.Wild+c.Wild(), s.Chance+c.Chance, s.Values+c.Values
	s.Silent, s.Unsaid, s.Runs = s.Silent+c.Silent, s.Unsaid+c.SilentHidden, s.Runs+c.Runs
	if x := c.Ratio(); !math.IsNaN(x) {
		s.Ratios = append(s.Ratios, x)
		if x <= s.most {
			s.Within++
		}
		if w := s.Worst[len4]; w == nil || x > w.Ratio() {
			s.Worst[len4] = c
		}
	}
	if !math.IsNaN(c.Bias) && !(c.Clipped > clippedMost) {
		s.Biases = append(s.Biases, c.Bias)
	}
	if !math.IsNaN(c.Sharpness) {
		s.Sharp = append(s.Sharp, c.Sharpness)
	}
	if !math.IsNaN(c.TotalBias) && !(c.Clipped > clippedMost) {
		if s.Totals++; c.totalOff() {
			s.Off++
		}
	}
	if c.Intervals == 0 {
		return
	}
	s.Judged++
	for l := range levels {
		s.Coverage[l] += c.Coverage(l)
		if c.short(l, s.below) {
			s.Short[l]++
		}
		if w := s.Worst[l]; w == nil || c.Coverage(l) < w.Coverage(l) {
			s.Worst[l] = c
		}
	}
	if w := c.Width(); !math.IsNaN(w) {
		s.Widths = append(s.Widths, w)
	}
}

// alarm is the chance that a cell whose coverage is as wanted is called short.
const alarm = 0.01

// short says that a cell's coverage is surely more than below under its level: intervals as good as
// that would hold so seldom with probability 1 % at most.
func (c *Cell) short(level int, below float64) bool {
	if c.Intervals == 0 {
		return false
	}
	b := distuv.Binomial{N: float64(c.Intervals), P: levels[level] - below}
	return b.CDF(float64(c.Covered[level])) < alarm
}
