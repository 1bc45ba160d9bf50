package planner

import (
	"math"

	"scrim/functions"
	"scrim/internal/refuse"
)

// What a release takes of the memory of a query, in bytes, from public facts. What there is of each person lies in memory of another kind,
// which goes on on disk: no public fact tells how much it is, and to stop when it is too much would tell it.
const (
	// AnswerBytes is about what a number of a vector of the answer takes: itself and its standard error, encoded to be kept,
	// and as the text of a row.
	AnswerBytes = 64
	// numberBytes is about what a number that is no vector's takes: its estimate with the law of its error, and the same texts.
	numberBytes = 512
	// sumBytes is about what a coordinate takes while persons are added up: 128-bit sums, norms' terms and what is released of it, on each of up to
	// four threads.
	sumBytes = 256
	// chunkRows is the number of rows of the store's vectors. An array's numbers are there for all of them, however
	// many rows a table has.
	chunkRows = 2048
	// chunkVectors is about how many such vectors a scan with an array holds at a time: measured with two threads, from 1 to 3 MiB a
	// row of them.
	chunkVectors = 4
)

// Memory is about what a release takes at most, in bytes, whatever its rows are: by groups, coordinates and columns. Where keys are selected it
// is that of one group; the others follow from how many keys are released.
func (r *Release) Memory() int64 {
	groups, total := int64(max(1, r.Groups)), int64(0)
	for _, a := range r.Aggregates {
		switch {
		case a.Groups != nil:
			total += groups * int64(a.Groups.Width()) * (2*AnswerBytes + sumBytes)
		case a.Vector != nil:
			total += groups*int64(a.Vector.Dim)*AnswerBytes + int64(a.Vector.Dim)*sumBytes
		default:
			total += groups * numberBytes
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
		most = max(most, columns*chunkRows*8*chunkVectors)
	}
	return total + most
}

// disk is about what the numbers of persons take beyond the memory that they are kept in, where their number has a public bound, and 0 where
// it has none: each number of a person in each group, once and in an estimator's copy.
func (r *Release) disk() float64 {
	numbers := 0
	for _, a := range r.Aggregates {
		if a.Vector != nil {
			numbers += a.Vector.Dim
		}
		numbers += 1 + len(a.Columns)
	}
	return 16 * float64(r.maxPersons) * float64(numbers) * float64(max(1, r.perUnit))
}

// maxPersons is the greatest of the declared bounds on the persons of the tables; 0 where none is declared.
func maxPersons(tables []protected) int64 {
	n := int64(0)
	for _, t := range tables {
		n = max(n, t.policy.Defaults.MaxPersons)
	}
	return n
}

// allFits refuses a release whose public sizes together pass the memory of a query.
func (s *statement) allFits(r *Release) error {
	if size := float64(r.Memory()); !within(size, s.p.config.Memory) {
		return tooLarge("The groups, coordinates and columns of the query take %.0f MiB; a query may take %d MiB.", mib(size), s.p.config.Memory>>20)
	}
	return nil
}

// fits refuses an aggregate of arrays so long that what holds a few of them does not fit.
func (s *statement) fits(a *aggregate) error {
	if a.vector == nil {
		return nil
	}
	return s.chunkFits(a)
}

// chunkFits refuses arrays so long that the store's vectors of them pass the memory of a query, or that one passes what
// the store may take at all: it then fails on any row.
func (s *statement) chunkFits(a *aggregate) error {
	if a.vector.form != Arrays {
		return nil
	}
	one := float64(a.vector.dim) * chunkRows * 8
	if limit := s.p.config.Memory; !within(chunkVectors*one, limit) {
		return tooLarge("Reading the vectors of %s takes %.0f MiB, as they have %d coordinates; a query may take %d MiB.", a.text, mib(chunkVectors*one), a.vector.dim, limit>>20)
	}
	if limit := s.p.config.StoreMemory; !within(one, limit) {
		return deny(RuleMemory, refuse.Option, "Ask for fewer coordinates, or have an operator raise --memory-limit.",
			"The store needs %.0f MiB for the vectors of %s, as they have %d coordinates; it may take %d MiB.", mib(one), a.text, a.vector.dim, limit>>20)
	}
	return nil
}

// answerFits refuses vectors in so many public groups that the answer alone passes the memory of a query.
func (s *statement) answerFits(d *draft) error {
	numbers, laws := 0, 0
	for _, a := range d.aggregates {
		if a.vector != nil {
			numbers += a.vector.dim
		}
		if f := a.call.Function; a.vector != nil && f != nil && f.Measure == functions.Variance {
			laws += a.vector.dim * 3 / 2 // the moments that error bars are made from
		}
		if a.all {
			numbers += len(a.parts)
		}
	}
	if size := answerSize(d.groups, numbers+laws); !within(size, s.p.config.Memory) {
		return tooLarge("The answer has %d numbers in each of %d groups, which take %.0f MiB; a query may take %d MiB.", numbers, max(1, d.groups), mib(size), s.p.config.Memory>>20)
	}
	return nil
}

// vectorSize is about what one vector over all groups takes, with its sums and its answer: a number of one group takes what one of an
// answer does.
func vectorSize(groups, width int) float64 {
	return float64(max(1, groups)) * float64(width) * (2*AnswerBytes + sumBytes)
}

// answerSize is about what an answer of vectors takes. groups is 0 where their number is private: one is expected.
func answerSize(groups, numbers int) float64 {
	return float64(max(1, groups)) * float64(numbers) * AnswerBytes
}

// within compares with a limit, 0 where none is known.
func within(size float64, limit int64) bool { return limit <= 0 || size <= float64(limit) }

// mib is a number of bytes in MiB, rounded up.
func mib(bytes float64) float64 { return math.Ceil(bytes / (1 << 20)) }

func tooLarge(format string, args ...any) error {
	return deny(RuleMemory, refuse.Option, "Ask for fewer coordinates, or have an operator raise --query-memory.", format, args...)
}
