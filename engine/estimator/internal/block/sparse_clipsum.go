package block

import (
	"math/big"
	"math/bits"
	"sync"

	"scrim/engine/estimator"
)

// ClipSumIn is ClipSum on a sparse block whose values count unit each: Σ_i a_i·(unit·x_i − c) for
// every coordinate, in units of 2^-ClipBits/unit steps, with norms from NormsIn of the same unit
// and centre and the radius measured as they are. The bound of ClipSum holds as it stands: the
// contribution of a person is the integer vector unit·x − c times one dyadic factor.
//
// It is formed as unit·Σ_i a_i·x_i − c·Σ_i a_i. The first sum has only the entries and takes 128
// bits: 2^31 persons, 24 bits of the factor and 60 of a value make 2^115. Integers, so the order of
// persons does not matter.
func ClipSumIn(b *estimator.Block, unit int64, centre []int64, norms []float64, radius float64) []*big.Int {
	rs := runs(b)
	var mu sync.Mutex
	total := newSums(b.Dim)
	spread(len(rs), func(next func() (int, bool)) {
		own := newSums(b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			own.addRun(rs[k], norms, radius)
		}
		mu.Lock()
		defer mu.Unlock()
		total.addSums(own)
	})
	return total.minus(unit, centre)
}

// sums are the sums of one core: ones for entries of value 1, which cannot pass 2^55, and wide for
// the others.
type sums struct {
	ones    []int64
	lo      []uint64
	hi      []int64
	factors int64 // Σ a_i, at most 2^55
}

func newSums(dim int) *sums { return &sums{ones: make([]int64, dim)} }

// addRun adds the clipped persons of a run.
func (s *sums) addRun(r run, norms []float64, radius float64) {
	if r.chunk.Values != nil && s.lo == nil {
		s.lo, s.hi = make([]uint64, len(s.ones)), make([]int64, len(s.ones))
	}
	for i := r.from; i < r.to; i++ {
		a := factor(norms[r.at+i-r.from], radius)
		s.factors += a
		index, values := entries(r.chunk, i)
		if values == nil {
			for _, j := range index {
				s.ones[j] += a
			}
			continue
		}
		for e, j := range index {
			s.addProduct(int(j), values[e], a)
		}
	}
}

// addProduct adds v·a, a >= 0, to a wide sum, in two's complement 128 bits.
func (s *sums) addProduct(j int, v, a int64) {
	hi, lo := bits.Mul64(uint64(v), uint64(a))
	hi -= uint64(v>>63) & uint64(a)
	var carry uint64
	s.lo[j], carry = bits.Add64(s.lo[j], lo, 0)
	s.hi[j] += int64(hi + carry)
}

// addSums adds another core's sums.
func (s *sums) addSums(o *sums) {
	s.factors += o.factors
	for j, v := range o.ones {
		s.ones[j] += v
	}
	if o.lo == nil {
		return
	}
	if s.lo == nil {
		s.lo, s.hi = o.lo, o.hi
		return
	}
	for j := range o.lo {
		var carry uint64
		s.lo[j], carry = bits.Add64(s.lo[j], o.lo[j], 0)
		s.hi[j] += o.hi[j] + int64(carry)
	}
}

// minus returns unit times the sums, less the factors times the centre.
func (s *sums) minus(unit int64, centre []int64) []*big.Int {
	out := make([]*big.Int, len(s.ones))
	u, all, c := big.NewInt(unit), big.NewInt(s.factors), new(big.Int)
	for j := range out {
		out[j] = big.NewInt(s.ones[j])
		if s.lo != nil {
			wide := big.NewInt(s.hi[j])
			wide.Lsh(wide, 64)
			out[j].Add(out[j], wide.Add(wide, c.SetUint64(s.lo[j])))
		}
		out[j].Mul(out[j], u)
		if centre != nil {
			out[j].Sub(out[j], c.Mul(all, c.SetInt64(centre[j])))
		}
	}
	return out
}
