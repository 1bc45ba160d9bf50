package blanket

import (
	"math"

	"scrim/engine/collect/internal/strict"
)

// rounding is what Delta adds for the errors of its own arithmetic, relative.
const rounding = 1 + 0x1p-20

// Delta returns a δ, rounded up, for which the counts of a batch are (eps, δ)-indistinguishable:
// noise of V = v expected messages from h honest contributors at every node of a tree of levels
// levels. It is 1, which is always true, where nothing better is known or an argument makes no
// sense (NaN, v outside (0, h/4], h outside [64, 2^40], levels outside [1, 32], eps outside [0,
// 64]). Neighbours replace one value. Source: the package documentation.
func Delta(eps, v float64, h uint64, levels int) float64 {
	ok := eps >= 0 && eps <= 64 && v > 0 && h >= MinHonest && h <= MaxHonest && levels >= 1 && levels <= MaxLevels
	if !ok || v > float64(h)/4 {
		return 1
	}
	return at(eps, v/float64(h), h, levels)
}

// at is Delta at probability p.
func at(eps, p float64, h uint64, levels int) float64 {
	w := windowOf(p, float64(h))
	n := float64(levels)
	sure := strict.Exp(float64(float64(h)*strict.Log1p(-p))) + strict.Exp(float64(float64(h)*strict.Log(p))) + float64(4*w.outside)
	best := 0.0 // the logarithm of the least bound so far
	w.moments(func(a, m1, m2 float64) bool {
		loss := float64(n * (max(strict.Log(m1), 0) + max(strict.Log(m2), 0)))
		f := loss - float64((a-1)*eps) - strict.Log(a) + float64((a-1)*strict.Log1p(-1/a))
		falls := f < best
		best = min(best, f)
		return falls
	})
	return min(1, float64((float64(n*sure)+away(eps, h)+strict.Exp(best))*rounding))
}

// window is Bin(h, p) near its mean. up and down have a value for every x in it: e^ℓ(x+1) and
// e^−ℓ(x), 0 where it does not exist, and weight has P[X = x] but for a factor.
type window struct {
	up, down, weight []float64
	total            float64 // of the weights
	outside          float64 // a bound of each tail
}

func windowOf(p, h float64) window {
	mean := float64(h * p)
	variance := float64(mean * (1 - p))
	t := float64(14*math.Sqrt(variance)) + 40
	from, to := max(math.Floor(mean-t), 0), min(math.Ceil(mean+t), h)
	size := int(to-from) + 1
	w := window{up: make([]float64, size), down: make([]float64, size), weight: make([]float64, size)}
	w.outside = strict.Exp(-float64(t*t) / float64(2*(variance+t/3)))
	for i := range size {
		x := from + float64(i)
		if x < h {
			w.up[i] = float64((x+1)*(1-p)) / float64((h-x)*p)
		}
		if x > 0 {
			w.down[i] = float64((h-x+1)*p) / float64(x*(1-p))
		}
	}
	// From the middle outwards, P[X = x] = P[X = x−1]·e^−ℓ(x).
	mid := int(math.Floor(mean) - from)
	w.weight[mid] = 1
	for i := mid + 1; i < size; i++ {
		w.weight[i] = float64(w.weight[i-1] * w.down[i])
	}
	for i := mid - 1; i >= 0; i-- {
		w.weight[i] = float64(w.weight[i+1] * w.up[i])
	}
	for _, x := range w.weight {
		w.total += x
	}
	return w
}

// moments calls f with the orders a of the set, M₁ and M₂, until f returns false:
//
//	a = 1.5, 2, … 10.5, 11, 12, … 59, 60, 65, … 255, 275, … 2055
//
// From order to order each term is multiplied by a power of what it grows by, so that no
// exponential is needed. A moment too large for a float64 is +Inf.
func (w window) moments(f func(a, m1, m2 float64) bool) {
	up, down := ladderOf(w.weight, w.up), ladderOf(w.weight, w.down)
	a := 1.0
	for i, until := range [...]float64{11, 60, 255, 2055} {
		for a < until {
			a += steps[i]
			if !f(a, up.climb(i)/w.total, down.climb(i)/w.total) {
				return
			}
		}
	}
}

// steps are the distances of orders; a ladder has the powers of its ratios that belong to them.
var steps = [...]float64{0.5, 1, 5, 20}

// ladder has terms and what they are multiplied by for each of the steps.
type ladder struct {
	term  []float64
	power [len(steps)][]float64
}

func ladderOf(weight, ratio []float64) ladder {
	l := ladder{term: append([]float64(nil), weight...)}
	for i := range l.power {
		l.power[i] = make([]float64, len(ratio))
	}
	for i, r := range ratio {
		square := float64(r * r)
		fifth := float64(float64(square*square) * r)
		square = float64(fifth * fifth)
		l.power[0][i], l.power[1][i], l.power[2][i], l.power[3][i] = math.Sqrt(r), r, fifth, float64(square*square)
	}
	return l
}

// climb multiplies the terms by their factors for a step and returns their sum.
func (l ladder) climb(step int) float64 {
	sum := 0.0
	by := l.power[step][:len(l.term)]
	for i, t := range l.term {
		t = float64(t * by[i])
		l.term[i] = t
		sum += t
	}
	return sum
}
