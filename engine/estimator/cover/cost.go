package cover

import "math"

// maxSeconds bounds the time that a plan may take by its public facts: half of a minute, as the
// seconds are those of a quiet machine. Where usualSeconds and the time for reading the persons are
// enough for the error that is asked for, or for some error where none is, they are not passed.
const (
	maxSeconds   = 30
	usualSeconds = 2
)

// Nanoseconds of one core for the parts of a release, as BenchmarkParts measures them and about
// half as much again.
const (
	// a person's projection, and each comparison of the sort that follows: by log2 n + 1
	nsPerson = 8.0
	// a comparison of the two searches for the score of a position: by log2 n + 1
	nsPosition  = 12.0
	nsCandidate = 4.0  // the look-up of a candidate's position on one line
	nsWeight    = 40.0 // a word of a weight, in one of the two passes over them
)

// seconds is the time that a release takes at most on one core, whatever the data are. More cores
// share all but the weights.
func (p plan) seconds() float64 {
	lines := float64(len(p.directions))
	words := (weightBits+float64(p.top)*p.loss/2/math.Ln2)/64 + 1
	return p.reading() + 1e-9*(lines*float64(2*p.cells+1)*2*p.comparisons()*nsPosition+
		2*p.candidates()*(lines+1)*nsCandidate+
		2*float64(p.top)*words*nsWeight)
}

// reading is the part of it that no choice of candidates changes.
func (f facts) reading() float64 {
	directions, _ := shapes(f.dim)
	return 1e-9 * float64(len(directions)) * f.persons * f.comparisons() * nsPerson
}

// comparisons are those of a search among the persons.
func (f facts) comparisons() float64 { return math.Log2(f.persons) + 1 }

// limits are the seconds that a plan may take: those that it should, and those that it must not
// pass.
func (f facts) limits() []float64 {
	return []float64{min(usualSeconds+f.reading(), maxSeconds), maxSeconds}
}

// fits says whether a release takes at most limit seconds, and its numbers have room.
func (p plan) fits(limit float64) bool {
	return p.seconds() <= limit && p.cells <= maxCells && p.cells*ticks+p.reach < maxTicks
}
