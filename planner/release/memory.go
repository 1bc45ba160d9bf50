package release

import (
	"strconv"

	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// MaxPersons is the greatest of the declared bounds on the persons of the tables; 0 where none is
// declared.
func MaxPersons(tables []rel.Protected) int64 {
	n := int64(0)
	for _, t := range tables {
		n = max(n, t.Policy.Defaults.MaxPersons)
	}
	return n
}

// AllFits refuses a release whose public sizes together pass the memory of a query.
func (s *Builder) AllFits(r *plan.Release) error {
	if size := float64(r.Memory()); !within(size, s.Memory) {
		return tooLarge("The groups, coordinates and columns of the query take %.0f MiB; a query may take %d MiB.", plan.MiB(size), s.Memory>>20)
	}
	return nil
}

// Fits refuses an aggregate of arrays so long that what holds a few of them does not fit.
func (s *Builder) Fits(a *aggregate.Aggregate) error {
	if a.Vector == nil {
		return nil
	}
	return s.chunkFits(a)
}

// chunkFits refuses arrays so long that the store's vectors of them pass the memory of a query, or
// that one passes what the store may take at all: it then fails on any row.
func (s *Builder) chunkFits(a *aggregate.Aggregate) error {
	if a.Vector.Form != plan.Arrays {
		return nil
	}
	one := float64(a.Vector.Dim) * plan.ChunkRows * 8
	if limit := s.Memory; !within(plan.ChunkVectors*one, limit) {
		return tooLarge("Reading the vectors of %s takes %.0f MiB, as they have %d coordinates; a query may take %d MiB.", a.Text, plan.MiB(plan.ChunkVectors*one), a.Vector.Dim, limit>>20)
	}
	if limit := s.StoreMemory; !within(one, limit) {
		return rule.Deny(rule.Memory, refuse.Option, "Ask for fewer coordinates, or have an operator raise --memory-limit.",
			"The store needs %.0f MiB for the vectors of %s, as they have %d coordinates; it may take %d MiB.", plan.MiB(one), a.Text, a.Vector.Dim, limit>>20)
	}
	return nil
}

// AnswerFits refuses vectors in so many public groups that the answer alone passes the memory of a
// query.
func (s *Builder) AnswerFits(d *Aggregation) error {
	numbers, laws := 0, 0
	for _, a := range d.Aggregates {
		if a.Vector != nil {
			numbers += a.Vector.Dim
		}
		if f := a.Call.Function; a.Vector != nil && f != nil && f.BarNumbers != nil {
			laws += f.BarNumbers(a.Vector.Dim)
		}
		if a.GroupVector {
			numbers += len(a.Parts)
		}
	}
	if size := answerSize(d.Groups, numbers+laws); !within(size, s.Memory) {
		return tooLarge("The answer has %d numbers in each of %d groups, which take %.0f MiB; a query may take %d MiB.", numbers, max(1, d.Groups), plan.MiB(size), s.Memory>>20)
	}
	return nil
}

// vectorSize is about what one vector over all groups takes, with its sums and its answer: a number
// of one group takes what one of an answer does.
func vectorSize(groups, width int) float64 {
	return float64(max(1, groups)) * float64(width) * (2*plan.AnswerBytes + plan.SumBytes)
}

// answerSize is about what an answer of vectors takes. groups is 0 where their number is private:
// one is expected.
func answerSize(groups, numbers int) float64 {
	return float64(max(1, groups)) * float64(numbers) * plan.AnswerBytes
}

// within compares with a limit, 0 where none is known.
func within(size float64, limit int64) bool { return limit <= 0 || size <= float64(limit) }

func tooLarge(format string, args ...any) error {
	return rule.Deny(rule.Memory, refuse.Option, "Ask for fewer coordinates, or have an operator raise --query-memory.", format, args...)
}

// tooWideToBound says how the groups of a person need not be bounded, where that can be.
func (s *Builder) tooWideToBound(d *Aggregation, a *aggregate.Aggregate) error {
	remedy := "Ask for fewer coordinates, or have an operator raise --memory-limit."
	if d.Public && d.Groups <= int(params.MaxGroups.Max) {
		remedy = "Set dp_max_groups_contributed = " + strconv.Itoa(d.Groups) + ", so that persons are kept in all groups, ask for fewer coordinates, or have an operator raise --memory-limit."
	}
	return rule.Deny(rule.Memory, refuse.Option, remedy,
		"To keep a person in at most %d groups, the store orders the vectors of %s, which have %d coordinates; with its memory limit of %d MiB it can order %d.",
		d.MaxGroups, a.Text, a.Vector.Dim, s.StoreMemory>>20, s.MostOf(rel.OrderedBytes))
}
