// Package days is stretches of days of the data, which charges are for where the unit of a table is
// one person's rows of one period. It knows nothing of losses.
package days

import (
	"math"
	"time"

	"scrim/accounting/internal/invalid"
)

// Day is a UTC day: the number of days since 1970-01-01.
type Day int32

const secondsPerDay = 24 * 60 * 60

// Time returns the beginning of the day.
func (d Day) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// Span is a stretch of days, both included, whose data a charge is for: whole periods, where the
// unit of a table is one person's rows of one period. The loss is kept for each block by itself,
// and a charge is for every block of its stretch. docs/proofs/periods.md has the argument.
type Span struct{ First, Last Day }

// The ends of a stretch that is open. No table has days beyond them.
const (
	Earliest Day = math.MinInt32
	Latest   Day = math.MaxInt32
)

// The days that have a date of four digits.
var (
	minDay = Of(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))
	maxDay = Of(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
)

// Of returns the day of a moment as it reads in UTC, also before 1970.
func Of(t time.Time) Day {
	s := t.Unix()
	d := s / secondsPerDay
	if s%secondsPerDay < 0 {
		d--
	}
	return Day(max(int64(Earliest)+1, min(d, int64(Latest)-1)))
}

// Check refuses a stretch without days, and one with an end that is neither open nor a date.
func (b *Span) Check() error {
	switch {
	case b == nil:
		return nil
	case b.First > b.Last:
		return invalid.New("days: the first day is after the last")
	case b.First != Earliest && (b.First < minDay || b.First > maxDay), b.Last != Latest && (b.Last < minDay || b.Last > maxDay):
		return invalid.New("days: want days of the years 1 to 9999, or open ends")
	}
	return nil
}

// Whole returns the stretch, or nil, which stands for every block, where it is open on both sides.
func (b *Span) Whole() *Span {
	if b == nil || b.First == Earliest && b.Last == Latest {
		return nil
	}
	return b
}

// All returns the stretch, for nil that of every block.
func (b *Span) All() Span {
	if b == nil {
		return Span{Earliest, Latest}
	}
	return *b
}

// Same reports whether two stretches are one.
func (b *Span) Same(c *Span) bool { return b.All() == c.All() }

// Meet returns the days of both stretches; false where there are none.
func (b Span) Meet(c Span) (Span, bool) {
	m := Span{max(b.First, c.First), min(b.Last, c.Last)}
	return m, m.First <= m.Last
}

// String says the stretch in words.
func (b Span) String() string {
	first, last := b.First.date(), b.Last.date()
	switch {
	case first == "" && last == "":
		return "every period"
	case first == "":
		return "until " + last
	case last == "":
		return "from " + first
	case first == last:
		return first
	}
	return first + " to " + last
}

// Dates returns both days as dates; an open end is "".
func (b Span) Dates() (first, last string) { return b.First.date(), b.Last.date() }

func (d Day) date() string {
	if d < minDay || d > maxDay {
		return ""
	}
	return d.Time().Format(time.DateOnly)
}
