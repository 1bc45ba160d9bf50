package view

import "scrim/engine/estimator"

// Numbers is how many values an estimate has of each cell and measure.
const Numbers = 5

// Cell is what is released of one measure in one cell.
type Cell struct {
	// Fit adds up to all roll-ups, and is not under 0 where the measure cannot be; Raw is without
	// bias from that, with noise of the standard deviation StdErr.
	Fit, Raw, StdErr float64
	// Near is the share, of what is left, that the clip is expected to have taken, which Raw and
	// Fit have been enlarged by; Wide is how much more it may be. Clip is the length that vectors
	// were shortened to, in rows, or in steps of the grid of a sum; NaN where none was.
	Near, Wide, Clip float64
}

// put writes cell c of a measure at a place of an estimate.
func (r released) put(e estimator.Estimate, c, at int) {
	copy(e.Values[at:], []float64{r.fit[c], r.raw[c], r.near, r.wide, r.clip})
	for i := range 2 {
		e.StdErr[at+i] = r.stdErrs[c]
	}
}

// CellOf reads measure m of an estimate of one cell.
func CellOf(e estimator.Estimate, m int) Cell {
	x := e.Values[m*Numbers:]
	return Cell{Fit: x[0], Raw: x[1], StdErr: e.StdErr[m*Numbers], Near: x[2], Wide: x[3], Clip: x[4]}
}
