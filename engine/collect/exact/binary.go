package exact

// BinaryResponse is randomised response on one bit: it tells the truth with probability p =
// K1/2^62.
//
// Privacy: of the two rows (p, 1−p) and (1−p, p) the ratios are at most p/(1−p) = K1/(2^62 − K1) <=
// e^ε. It is ε²/2-zCDP as any ε-DP law is [BS16, Proposition 1.4].
type BinaryResponse struct{ keep uint64 }

// NewBinaryResponse returns the randomiser of ε.
func NewBinaryResponse(eps Epsilon) (BinaryResponse, error) {
	if err := eps.Check(); err != nil {
		return BinaryResponse{}, err
	}
	return BinaryResponse{KeepBinary(eps)}, nil
}

// Randomize returns the report of a bit.
func (b BinaryResponse) Randomize(r *Rand, bit bool) bool { return r.Bernoulli62(b.keep) == bit }

// Keep returns K1.
func (b BinaryResponse) Keep() uint64 { return b.keep }
