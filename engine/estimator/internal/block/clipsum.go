package block

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator"
)

// ClipBits is the resolution of a clip factor: sums of clipped vectors are integers in units of
// 2^-ClipBits.
const ClipBits = 24

// ClipSum returns Σ_i a_i·(x_i − c) for every coordinate, exactly, in units of 2^-ClipBits steps,
// where
//
//	a_i = 2^24                              if norms[i] ≤ radius
//	      ⌊2^24·(radius/norms[i])·(1−2^-40)⌋ otherwise, 0 where the norm is not finite
//
// With norms from Norms, which are never under the true ones, a_i/2^24·‖x_i − c‖_w ≤ radius
// exactly: the factor is one dyadic number a person, rounded down, and no coordinate is rounded. So
// one person more or less moves the sum by a vector of weighted norm at most radius·2^24, and one
// person exchanged by at most twice that.
//
// It is formed as Σ a_i·x_i − c·Σ a_i in integers of 128 bits, which have room for 2^31 persons
// with any entries within ±2^62; so neither the order of persons nor the number of cores matters.
func ClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	if b.Sparse {
		return ClipSumIn(b, 1, centre, norms, radius)
	}
	return clipSum(b, centre, norms, radius, nil)
}

// clipSum makes the sum from that of the block where it is known already.
func clipSum(b *estimator.Block, centre []int64, norms []float64, radius float64, known *sums) []*big.Int {
	rs := runs(b)
	var mu sync.Mutex
	total := newDenseSums(b.Dim)
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			x := rs[k].rows(b.Dim)
			summed := known != nil || own.addPlain(x, plain, summable)
			own.addClipped(x, norms[rs[k].at:], radius, summed)
		}
		mu.Lock()
		defer mu.Unlock()
		total.addSums(own)
	})
	if known != nil {
		total.addSums(known)
	}
	return total.minus(1, centre)
}

// factor returns the clip factor of a person in units of 2^-ClipBits. The three roundings of the
// quotient are less than the 2^-40 that it is shortened by.
func factor(norm, radius float64) int64 {
	switch {
	case !(norm <= math.MaxFloat64) || !(radius > 0):
		return 0
	case norm <= radius:
		return 1 << ClipBits
	}
	return int64((1 << ClipBits) * (radius / norm) * (1 - 0x1p-40))
}

func newDenseSums(dim int) *sums {
	s := newSums(dim)
	s.lo, s.hi = make([]uint64, dim), make([]int64, dim)
	return s
}

// addPlain adds the vectors of a run as they are, in 64 bits, and reports whether it did: not those
// with entries outside w. plain is room for one vector.
func (s *sums) addPlain(x, plain []int64, w within) bool {
	if !sumRun(plain, x, w) {
		return false
	}
	for j, v := range plain {
		s.addProduct(j, v, 1<<ClipBits)
	}
	return true
}

// addClipped adds the clipped vectors of a run; or, as few are clipped, corrects for those where
// all are added as they are.
func (s *sums) addClipped(x []int64, norms []float64, radius float64, summed bool) {
	dim := len(s.ones)
	for i := 0; len(x) > 0; i, x = i+1, x[dim:] {
		a := factor(norms[i], radius)
		s.factors += a
		switch {
		case !summed:
			for j, v := range x[:dim] {
				s.addProduct(j, v, a)
			}
		case a < 1<<ClipBits:
			for j, v := range x[:dim] {
				s.addProduct(j, -v, 1<<ClipBits-a)
			}
		}
	}
}

// sumBits bounds the entries of a run that is added up in 64 bits: within ±2^52, of which
// runPersons make at most 2^62.
const sumBits = 52

// within is a range of 2^bits integers from the least on, which a sum checks by the way.
type within struct {
	least int64
	bits  uint
}

// summable is the widest range that is added up in 64 bits.
var summable = within{-1 << sumBits, sumBits + 1}

// sumRun sets sum to the sum of the vectors in x, and reports whether all entries are within w,
// part of summable; only then it is right.
func sumRun(sum, x []int64, w within) bool {
	clear(sum)
	dim, seen := len(sum), uint64(0)
	for ; len(x) >= 4*dim; x = x[4*dim:] {
		seen |= sumFour(sum, x[:dim], x[dim:2*dim], x[2*dim:3*dim], x[3*dim:4*dim], w.least)
	}
	for ; len(x) > 0; x = x[dim:] {
		for j, v := range x[:dim] {
			seen |= uint64(v - w.least)
			sum[j] += v
		}
	}
	return seen>>w.bits == 0
}

// sumFour adds four vectors to sum. In the result bits from k on are 0 if all entries are in
// [least, least + 2^k).
func sumFour(sum, x, y, z, w []int64, least int64) uint64 {
	sum, y, z, w = sum[:len(x)], y[:len(x)], z[:len(x)], w[:len(x)]
	seen := uint64(0)
	for j, a := range x {
		b, c, d := y[j], z[j], w[j]
		seen |= uint64(a-least) | uint64(b-least) | uint64(c-least) | uint64(d-least)
		sum[j] += a + b + c + d
	}
	return seen
}

// Factor2 is the square of the factor by which one person moves a sum of vectors of weighted norm
// at most C, in units of C:
//
//	add-remove    1: one vector comes or goes
//	replace-one   4: one vector is exchanged for another; 2 if no coordinate of any vector is negative:
//	              ‖a−b‖² = ‖a‖² + ‖b‖² − 2⟨a,b⟩ ≤ 2C²
//
// One that comes or goes under replace-one, because it starts or stops to match, moves the sum by C
// at most.
func Factor2(r estimator.Relation, nonNegative bool) int64 {
	switch {
	case r != estimator.ReplaceOne:
		return 1
	case nonNegative:
		return 2
	}
	return 4
}

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

// Totals are the exact sums of a block's coordinates, for a ClipSum that need not read the block
// again but for the persons that it clips. nil stands for sums that are not known. They are no
// released numbers.
type Totals struct{ sums *sums }

// Measure is Norms, with the Totals from the same reading of the block. They are nil for a sparse
// block, and where entries are outside ±2^52.
func Measure(b *estimator.Block, centre []int64, weights []float64) ([]float64, *Totals) {
	if b.Sparse {
		return Norms(b, centre, weights), nil
	}
	m, t := newMeasure(b, centre, weights), &Totals{newDenseSums(b.Dim)}
	norms, rs := estimator.Make[float64](b.Memory, int(b.Persons())), runs(b)
	var large atomic.Bool
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			m.run(norms, rs[k])
			if !own.addPlain(rs[k].rows(b.Dim), plain, summable) {
				large.Store(true)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		t.sums.addSums(own)
	})
	if large.Load() {
		return norms, nil
	}
	return norms, t
}

// Total returns the Totals of a dense block, in one reading, and whether all its entries are from
// lo to hi. The Totals are nil where entries are outside that, or ±2^52.
func Total(b *estimator.Block, lo, hi int64) (t *Totals, inRange bool) {
	t = &Totals{newDenseSums(b.Dim)}
	rs, w := runs(b), inside(lo, hi)
	var large, beyond atomic.Bool
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own, plain := newDenseSums(b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			x := rs[k].rows(b.Dim)
			if len(x) == 0 || own.addPlain(x, plain, w) {
				continue
			}
			switch least, most := slices.Min(x), slices.Max(x); {
			case least < lo || most > hi:
				beyond.Store(true)
			case !own.addPlain(x, plain, summable):
				large.Store(true)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		t.sums.addSums(own)
	})
	if large.Load() || beyond.Load() {
		t = nil
	}
	return t, !beyond.Load()
}

// inside returns a range of a power of two of integers that is within lo to hi and summable; one
// that no entry is in if there is none.
func inside(lo, hi int64) within {
	lo, hi = max(lo, summable.least), min(hi, -summable.least-1)
	if hi < lo {
		return within{least: math.MinInt64}
	}
	return within{lo, uint(bits.Len64(uint64(hi-lo+1)) - 1)}
}

// ClipSum is the function ClipSum, for the block that the totals are of.
func (t *Totals) ClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	if t == nil {
		return ClipSum(b, centre, norms, radius)
	}
	return clipSum(b, centre, norms, radius, t.sums)
}
