package exact

// BinaryResponse is randomised response on one bit: it tells the truth with probability p = K1/2^62.
//
// Privacy: of the two rows (p, 1−p) and (1−p, p) the ratios are at most p/(1−p) = K1/(2^62 − K1) <= e^ε. It is
// ε²/2-zCDP as any ε-DP law is [BS16, Proposition 1.4].
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

// P returns the probability of telling the truth.
func (b BinaryResponse) P() float64 { return float64(b.keep) / float64(one62) }

// Scale returns A = 1/(2p − 1), by which noise grows.
func (b BinaryResponse) Scale() float64 { return float64(one62) / float64(2*b.keep-one62) }

// Debias returns an unbiased estimate of the share of ones among contributors from that among their
// reports: (share − (1 − p))·A.
func (b BinaryResponse) Debias(share float64) float64 {
	return (share-0.5)*b.Scale() + 0.5
}

// Variance returns the variance of one debiased report whose bit is 1 with probability f: A²/4 − (f − 1/2)². With f = 0 or 1
// it is that of a given bit.
func (b BinaryResponse) Variance(f float64) float64 {
	a := b.Scale()
	return a*a/4 - (f-0.5)*(f-0.5)
}
