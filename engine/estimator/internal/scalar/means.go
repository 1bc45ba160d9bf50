package scalar

import "scrim/engine/estimator"

// Means turns the rows of one person into one number: the mean of the person's values, rounded
// once, half to even, to a public fraction 2^-Shift of a grid step, and clamped to the public
// range.
//
// The fraction, 2^-10 of a step, keeps the mean of small integers, such as a 0/1 column, from being
// rounded to a whole step; with one row a person it is 2^-1, so that the middle of an interval is a
// lattice point. Sums are at most 2^50 steps, so a mean is at most 2^60 units and a difference of
// two at most 2^61.
type Means struct {
	Shift  uint
	Lo, Hi int64 // public range in units of 2^-Shift steps
	Totals bool  // a person's number is the sum of the values, not their mean
	grid   estimator.Grid
}

// MeanBits is the largest Shift: the mean of several rows is rounded to 2^-10 of a step, so that
// one of small integers is not rounded to a whole step.
const MeanBits = 10

// NewMeans returns the person means of an argument.
func NewMeans(p estimator.Params) Means {
	lo, hi := Range(p)
	shift := uint(MeanBits)
	if p.MaxRows == 1 {
		shift = 1
	}
	return Means{Shift: shift, Lo: lo << shift, Hi: hi << shift, grid: p.Grid}
}

// VectorShift is the fraction 2^-shift of a step that the mean of a person's vectors is rounded to:
// none where a person has one row. A mean of small integers is so not rounded to a whole step.
func VectorShift(p estimator.Params) uint {
	if p.MaxRows == 1 {
		return 0
	}
	return MeanBits
}

// Of returns the mean (the total, with Totals) of rows >= 1 values with the given sum of steps,
// |sum| <= 2^50.
func (m Means) Of(rows, sum int64) int64 {
	sum = min(max(sum, -estimator.MaxUnits), estimator.MaxUnits) << m.Shift
	q, r := sum, int64(0)
	if rows > 1 && !m.Totals {
		q, r = sum/rows, sum%rows
		if r < 0 {
			q, r = q-1, r+rows
		}
		if rest := rows - r; r > rest || r == rest && q&1 == 1 {
			q++
		}
	}
	return min(max(q, m.Lo), m.Hi)
}

// Value turns a number in units of 2^-Shift steps into a value of the argument.
func (m Means) Value(x float64) float64 { return Scale(m.grid, x/float64(int64(1)<<m.Shift)) }

// Middle returns the middle of the range and the radius that reaches both of its ends.
func (m Means) Middle() (centre, radius int64) {
	centre = m.Lo + (m.Hi-m.Lo)/2
	return centre, max(m.Hi-centre, centre-m.Lo)
}

// All returns the means of the persons present, in the order of the input and in memory from space.
func (m Means) All(space estimator.Memory, rows, sums []int64) []int64 {
	out := estimator.Make[int64](space, len(rows))[:0]
	for i, r := range rows {
		if r > 0 {
			out = append(out, m.Of(r, sums[i]))
		}
	}
	return out
}

// Distances counts persons by the distance of their mean from centre.
func Distances(means []int64, centre int64) *Histogram {
	h := new(Histogram)
	for _, x := range means {
		d := x - centre
		h.Add(uint64(max(d, -d)))
	}
	return h
}
