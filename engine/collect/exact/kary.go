package exact

// KaryResponse is randomised response on one of k values: it tells the truth with probability p =
// Kk/2^62, and each other value with probability o = (1 − p)/(k − 1).
//
// Privacy: every output has probability p or o under each value, and p/o = Kk·(k−1)/(2^62 − Kk) <=
// e^ε. It is ε²/2-zCDP as any ε-DP law is [BS16, Proposition 1.4].
type KaryResponse struct{ k, keep uint64 }

// NewKaryResponse returns the randomiser of k values, 2 <= k <= MaxKary.
func NewKaryResponse(eps Epsilon, k uint64) (KaryResponse, error) {
	if err := checkKary(eps, k); err != nil {
		return KaryResponse{}, err
	}
	return KaryResponse{k, KeepKary(eps, k)}, nil
}

// Randomize returns the report of value v in [0, k); a larger v counts as k−1.
func (c KaryResponse) Randomize(r *Rand, v uint64) uint64 {
	v = min(v, c.k-1)
	truth, other := r.Bernoulli62(c.keep), r.Uniform(c.k-1)
	switch {
	case truth:
		return v
	case other >= v:
		return other + 1
	}
	return other
}

// Keep returns Kk.
func (c KaryResponse) Keep() uint64 { return c.keep }
