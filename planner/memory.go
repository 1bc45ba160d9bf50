package planner

import (
	"math"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/internal/refuse"
)

// What a release takes of the memory of a query, in bytes, as far as public facts tell it.
const (
	// AnswerBytes is about what a number of a vector of the answer takes: itself and its standard error, encoded to be kept,
	// and as the text of a row.
	AnswerBytes = 64
	// personBytes is what a coordinate of a person takes in a dense block, and in the estimators' one copy of it.
	personBytes = 16
	// chunkRows is the number of rows of the store's vectors. An array's numbers are there for all of them, however
	// many rows a table has.
	chunkRows = 2048
	// chunkVectors is about how many such vectors a scan with an array holds at a time: measured with two threads, from 1 to 3 MiB a
	// row of them.
	chunkVectors = 4
)

// fits refuses an aggregate whose vectors would not fit into the memory of a query, from public facts only: the
// number of persons is private, and to stop when it proves too large would show it. A table's public upper bound on
// its persons, max_persons, decides where there is one; without it, only what the estimator needs at least does, and
// beyond it the executor ends the query after the charge, as its documentation says.
func (s *statement) fits(d *draft, a *aggregate, e estimator.Estimator) error {
	limit := s.p.config.Memory
	if a.vector == nil || a.vector.form == Pairs {
		return nil
	}
	if err := s.chunkFits(a); err != nil {
		return err
	}
	persons, why := e.MinPersons(), "the least number of persons that the method needs"
	if n := maxPersons(d.relation.private); n > 0 {
		persons, why = n, "max_persons of the table"
	}
	if size := float64(persons) * float64(a.vector.dim) * personBytes; !within(size, limit) {
		return tooLarge("The vectors of %s take %.0f MiB for %d persons, %s; a query may take %d MiB.", a.text, mib(size), persons, why, limit>>20)
	}
	return nil
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
// answer does. The persons' vectors take as much as there are rows of (group, person), of which no public fact tells the number.
func vectorSize(groups, width int) float64 { return answerSize(groups, 2*width) }

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

// maxPersons is the greatest of the declared bounds on the persons of the tables; 0 where none is declared.
func maxPersons(tables []protected) int64 {
	n := int64(0)
	for _, t := range tables {
		n = max(n, t.policy.Defaults.MaxPersons)
	}
	return n
}
