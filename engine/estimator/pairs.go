package estimator

import "context"

// Pairs holds what belongs to two at once: persons of two entities, two persons of one, or a person
// and a value. Entry i says that Weights[i] belongs to Left[i] and Right[i] together. A pair may
// come more than once: its weights add up. The order of the entries, and the numbers by which
// persons go, mean nothing. Estimators write nothing in it.
type Pairs struct {
	// how many there are of each, together below 2^31: Left[i] < Lefts, Right[i] < Rights
	Lefts, Rights int
	Left, Right   []uint32 // of equal length
	Weights       []int64  // within ±MaxUnits; nil: 1 each
	Counts        []int64  // numbers of results, where Weights are sums that a mean is made of
	Memory        Memory   // for what is made of them; nil: the Go heap
	// Context ends work that takes long: a release panics with its error then, as where Memory has
	// no room. nil: nothing ends it.
	Context context.Context
}
