package plan

import (
	"math"

	"scrim/engine/estimator"
)

// What a release takes of the memory of a query, in bytes, from public facts. What there is of each
// person lies in memory of another kind, which goes on on disk: no public fact tells how much it
// is, and to stop when it is too much would tell it.
const (
	// AnswerBytes is about what a number of a vector of the answer takes: itself and its standard
	// error, encoded to be kept, and as the text of a row.
	AnswerBytes = 64
	// NumberBytes is about what a number that is no vector's takes: its estimate with the law of
	// its error, and the same texts.
	NumberBytes = 512
	// SumBytes is about what a coordinate takes while persons are added up: 128-bit sums, norms'
	// terms and what is released of it, on each of up to four threads.
	SumBytes = 256
	// ChunkRows is the number of rows of the store's vectors. An array's numbers are there for all
	// of them, however many rows a table has.
	ChunkRows = 2048
	// ChunkVectors is about how many such vectors a scan with an array holds at a time: measured
	// with two threads, from 1 to 3 MiB a row of them.
	ChunkVectors = 4
)

// Memory is about what a release takes at most, in bytes, whatever its rows are: by groups,
// coordinates and columns. Where keys are selected it is that of one group; the others follow from
// how many keys are released.
func (r *Release) Memory() int64 {
	groups, total := int64(max(1, r.Groups)), int64(0)
	for _, a := range r.Aggregates {
		if x, ok := a.Estimator.(estimator.Large); ok {
			total += x.Memory()
		}
		switch {
		case a.Groups != nil:
			total += groups * int64(a.Groups.Width()) * (2*AnswerBytes + SumBytes)
		case a.Vector != nil:
			total += groups*int64(a.Vector.Dim)*AnswerBytes + int64(a.Vector.Dim)*SumBytes
		default:
			total += groups * NumberBytes
		}
	}
	most := int64(0) // scans run one after another
	for i, s := range r.Scans {
		columns := int64(len(s.Types))
		for _, a := range r.Aggregates {
			if a.Vector != nil && a.Scan == i && a.Vector.Form == Arrays {
				columns += int64(a.Vector.Dim)
			}
		}
		most = max(most, columns*ChunkRows*8*ChunkVectors)
	}
	return total + most
}

// disk is about what the numbers of persons take beyond the memory that they are kept in, where
// their number has a public bound, and 0 where it has none: each number of a person in each group,
// once and in an estimator's copy.
func (r *Release) disk() float64 {
	numbers := 0
	for _, a := range r.Aggregates {
		if a.Vector != nil {
			numbers += a.Vector.Dim
		}
		numbers += 1 + len(a.Columns)
	}
	return 16 * float64(r.MaxPersons) * float64(numbers) * float64(max(1, r.PerUnit))
}

// MiB is a number of bytes in MiB, rounded up.
func MiB(bytes float64) float64 { return math.Ceil(bytes / (1 << 20)) }
