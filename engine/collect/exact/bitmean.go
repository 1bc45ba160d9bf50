package exact

import "fmt"

// BitMean sends one bit of mean i/M through BinaryResponse: 1 with probability i/M, then
// randomised.
//
// Privacy: the law of each input is a mixture of the two rows of BinaryResponse, and so are all
// ratios at most e^ε.
type BitMean struct {
	BinaryResponse
	steps uint64
}

// NewBitMean returns the randomiser of fractions i/steps, steps >= 1.
func NewBitMean(eps Epsilon, steps uint64) (BitMean, error) {
	if steps == 0 {
		return BitMean{}, fmt.Errorf("exact: want a step at least")
	}
	b, err := NewBinaryResponse(eps)
	return BitMean{b, steps}, err
}

// Randomize returns the report of the fraction i/M; i > M counts as M.
func (b BitMean) Randomize(r *Rand, i uint64) bool {
	return b.BinaryResponse.Randomize(r, r.Uniform(b.steps) < i)
}
