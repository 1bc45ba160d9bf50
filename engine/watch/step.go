package watch

import "time"

// Step is a part of a statement, in offsets from its begin.
type Step struct {
	Name     string // public: it follows from the statement's plan
	From, To time.Duration
	Within   int // index of the step that it is a part of; -1: of the statement
}

// Decades are the upper ends of what is told of durations that follow from rows of persons: a
// decade each, so that a watcher learns no more of a statement than that.
var Decades = [...]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}

// Decade returns the ends of the decade that a duration is in; beyond the last one it is a whole
// minute.
func Decade(d time.Duration) (from, to time.Duration) {
	for _, to := range Decades {
		if d <= to {
			return from, to
		}
		from = to
	}
	from = (d - 1).Truncate(time.Minute)
	return from, from + time.Minute
}
