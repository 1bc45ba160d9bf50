package mix

// Batch is how many contributors a batch of a shuffled collection needs and may have.
type Batch struct {
	Expected uint64 // contributors planned for
	Min      uint64 // fewer than these: the batch is destroyed unseen
	// that follow the protocol and keep their secrets, whichever Min or more report; noise is sized
	// for them
	Honest uint64
	Max    uint64 // reached: the batch closes and another begins
}

// Margin returns the sizes of a batch with n expected contributors: a fifth of them may stay away,
// and a tenth of the least number may be dishonest.
//
//	Min = n − ⌊n/5⌋,  Honest = Min − ⌊Min/10⌋,  Max = 2·Honest
//
// All in integers: rounding 0.9·Min in floats may come out one too high, and then the noise is
// short. n is at most 2^62.
func Margin(n uint64) Batch {
	least := n - n/5
	honest := least - least/10
	return Batch{Expected: n, Min: least, Honest: honest, Max: 2 * honest}
}
