package exponential

import (
	"math/bits"
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
