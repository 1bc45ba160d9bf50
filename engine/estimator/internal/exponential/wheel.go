package exponential

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sort"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Slack bounds the total-variation distance of one draw from the exponential mechanism, for each
// input: the loss of a draw carries it as privacy.Loss.DeltaTV. The package comment shows 2^-116;
// the rest is margin.
const Slack = 0x1p-100

// maxPoints bounds the points of one choice.
const maxPoints = 1 << 62

// wide is a sum of weights in units of 2^-192, least significant word first: at most 2^62·2^192.
type wide [4]uint64

func (x *wide) less(y *wide) bool {
	for i := 3; i > 0; i-- {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return x[0] < y[0]
}

// wheel holds the categories of one choice, in the order in which they were added.
type wheel struct {
	parts  []category
	sum    wide
	last   fraction         // the weight in the last category
	memory estimator.Memory // of the parts: there are as many as distinct values
}

type category struct {
	first, points uint64 // neighbouring points, from the first
	end           wide   // weight of all categories up to this one
}

func (w *wheel) reset() { w.parts, w.sum = w.parts[:0], wide{} }

// done gives the memory of the parts back.
func (w *wheel) done() {
	estimator.Free(w.memory, w.parts)
	w.parts = nil
}

// add adds points neighbouring points from first on, each of the given weight.
func (w *wheel) add(first, points uint64, weight fraction) {
	if weight == (fraction{}) {
		return
	}
	var carry, c uint64
	for i, x := range weight {
		hi, lo := bits.Mul64(x, points)
		lo, c = bits.Add64(lo, carry, 0)
		hi += c
		w.sum[i], c = bits.Add64(w.sum[i], lo, 0)
		carry = hi + c // the product is below 2^256, so nothing is lost
	}
	w.sum[3] += carry
	if n := len(w.parts); n > 0 && weight == least && w.last == least && w.parts[n-1].first+w.parts[n-1].points == first {
		w.parts[n-1].points += points // the many far ones of a pure choice are one category
		w.parts[n-1].end = w.sum
		return
	}
	w.last = weight
	w.parts = append(estimator.Grow(w.memory, w.parts, 1), category{first, points, w.sum})
}

// draw returns a point: a category by its share of the weight, then a uniform point in it.
func (w *wheel) draw(n noise.Noiser) uint64 {
	u := below(n, &w.sum)
	i := sort.Search(len(w.parts), func(i int) bool { return u.less(&w.parts[i].end) })
	return w.parts[i].first + belowWord(n, w.parts[i].points)
}

// below returns a uniform number under bound > 0, by rejection.
func below(n noise.Noiser, bound *wide) wide {
	top := 3
	for top > 0 && bound[top] == 0 {
		top--
	}
	shift := bits.LeadingZeros64(bound[top])
	for {
		var u wide
		for i := top; i >= 0; i-- {
			u[i] = n.Uniform()
		}
		if u[top] >>= shift; u.less(bound) {
			return u
		}
	}
}

// belowWord returns a uniform number under bound > 0, by rejection.
func belowWord(n noise.Noiser, bound uint64) uint64 {
	if bound == 1 {
		return 0
	}
	u := below(n, &wide{bound})
	return u[0]
}

// faded is the product of rate and distance from which on all weights are alike: under a unit of
// 2^-192, so 0, or in a pure choice the least weight.
const faded = 134 // 192·ln 2 = 133.08…

// window is the part of a list of cells in which the weights of a choice differ.
type window struct {
	runs  []run
	below int64 // number of cells under the first run
	all   int64 // number of cells in the list
}

// near returns the window of a quantile, whatever the order of cells. In a choice, what is under
// the window counts as a gap under the first run, and what is over it as one over the last: each
// point there is at least faded/rate from the target and has the weight that the point has by
// itself.
//
// Cost: a few passes over the cells, and a sort of those in the window, whose ranks are within
// faded/rate of the target.
func (q *Quantile) near(m estimator.Memory, cells []uint32) window {
	w := window{all: int64(len(cells))}
	if len(cells) == 0 {
		return w
	}
	far := math.Min(math.Ceil(faded/(q.rate*float64(q.den)))+1, 1<<60) // in values
	target := q.target(w.all) / q.den
	first, last := min(max(0, target-int64(far)), w.all-1), min(w.all-1, target+int64(far)+1)
	lo, hi := nth(cells, first), nth(cells, last)
	inside := estimator.Make[uint32](m, int(last-first+1))[:0]
	for _, c := range cells {
		switch {
		case c < lo:
			w.below++
		case c <= hi:
			inside = append(estimator.Grow(m, inside, 1), c)
		}
	}
	slices.Sort(inside)
	w.runs = runs(m, nil, inside)
	estimator.Free(m, inside)
	return w
}

// nth returns the entry that would be at place k of the sorted list.
func nth(cells []uint32, k int64) uint32 {
	shift := bits.Len32(slices.Max(cells))
	prefix, known := uint32(0), uint32(0) // the digits found so far, and where they are
	for shift > 0 {
		width := min(shift, 11)
		shift -= width
		var counts [1 << 11]int64
		mask := uint32(1)<<width - 1
		for _, c := range cells {
			if c&known == prefix {
				counts[c>>shift&mask]++
			}
		}
		d := 0
		for ; counts[d] <= k; d++ {
			k -= counts[d]
		}
		prefix |= uint32(d) << shift
		known |= mask << shift
	}
	return prefix
}

// fraction is a number in [0, 1) in units of 2^-192, least significant word first.
type fraction [3]uint64

// most is the largest fraction; it stands for 1.
var most = fraction{math.MaxUint64, math.MaxUint64, math.MaxUint64}

// times returns x·y cut down to a unit.
func (x *fraction) times(y *fraction) fraction {
	var p [6]uint64
	for i, a := range x {
		carry := uint64(0)
		for j, b := range y {
			hi, lo := bits.Mul64(a, b)
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c // hi <= 2^64 − 2
			lo, c = bits.Add64(lo, carry, 0)
			p[i+j], carry = lo, hi+c
		}
		p[i+3] = carry
	}
	return fraction{p[3], p[4], p[5]}
}

// powers holds ω^k, ω = e^{-rate}, by the digits of k in base 256.
type powers struct {
	digits  [][]fraction // digits[l][j] = ω^(j·256^l), as far as it is not 0
	floored bool         // no power is under least
	uniform bool         // every power is that of 0
}

// least is the weight 2^-128 of a pure choice: no point has less.
var least = fraction{1: 1}

const (
	digitBits = 8
	workBits  = 320 // of big.Float: 128 more than a fraction
)

// newPowers returns the powers for a finite rate > 0.
//
// The first power of each digit is off by at most one unit (it is cut from 320 bits), and each
// further one, a product of two numbers below 1, by two units more than the one before: 512 at
// most.
func newPowers(rate float64) powers {
	var p powers
	exponent := new(big.Float).SetPrec(workBits).SetFloat64(rate)
	for len(p.digits)*digitBits < 64 {
		base := expNegative(exponent)
		row := []fraction{most}
		for w := base; w != (fraction{}) && len(row) < 1<<digitBits; w = w.times(&base) {
			row = append(row, w)
		}
		p.digits = append(p.digits, row)
		if len(row) == 1 {
			break // this digit and all above it give 0
		}
		exponent.SetMantExp(exponent, digitBits)
	}
	return p
}

// at returns the weight of distance k: ω^k, off by less than 8·513 < 2^13 units, and of a pure
// choice at least 2^-128.
func (p *powers) at(k uint64) fraction {
	w := p.of(k)
	if p.floored && w[1]|w[2] == 0 {
		return least
	}
	return w
}

// of returns ω^k.
func (p *powers) of(k uint64) fraction {
	w, first := most, true
	if p.uniform {
		return w
	}
	for l := 0; k > 0; l++ {
		j := k & (1<<digitBits - 1)
		if k >>= digitBits; j == 0 {
			continue
		}
		if l >= len(p.digits) || j >= uint64(len(p.digits[l])) {
			return fraction{}
		}
		if x := &p.digits[l][j]; first {
			w, first = *x, false
		} else {
			w = w.times(x)
		}
	}
	return w
}

// expNegative returns e^{-x} for x > 0, cut down to a unit.
//
// e^{-x} = (e^{-x/2^s})^{2^s} with x/2^s < 2^-8, and a Taylor series for the inner power: the term
// 40 is below 2^-470. Each squaring doubles the relative error, s <= 16 times, so 320 bits leave
// more than 290.
func expNegative(x *big.Float) fraction {
	if x.Cmp(big.NewFloat(134)) > 0 { // 192·ln 2 = 133.08…
		return fraction{}
	}
	s := max(x.MantExp(nil)+8, 0)
	y := new(big.Float).SetMantExp(x, -s)
	sum := big.NewFloat(1).SetPrec(workBits)
	term := big.NewFloat(1).SetPrec(workBits)
	for i := int64(1); i <= 40; i++ {
		term.Mul(term, y).Quo(term, new(big.Float).SetInt64(-i))
		sum.Add(sum, term)
	}
	for range s {
		sum.Mul(sum, sum)
	}
	units, _ := sum.SetMantExp(sum, 192).Int(nil)
	if units.BitLen() > 192 {
		return most
	}
	var w fraction
	for i := range w {
		w[i] = new(big.Int).And(new(big.Int).Rsh(units, uint(64*i)), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
	return w
}
