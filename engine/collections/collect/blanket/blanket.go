package blanket

import (
	"errors"
	"fmt"
	"math"

	"scrim/engine/collections/collect/internal/strict"
)

// Limits of this package.
const (
	MinHonest = 64
	MaxHonest = 1 << 40
	MaxLevels = 32
	MinEps10k = 500     // ε = 0.05
	MaxEps10k = 80000   // ε = 8
	One       = 1 << 32 // P of probability 1
	MaxP      = One / 4 // p ≤ 1/4: beyond, reports are mostly noise
)

// ErrParameter is wrapped by every error of this package about a parameter out of range, ErrTooFew
// where no accepted noise will do: there are too few contributors for this ε, δ and tree.
var (
	ErrParameter = errors.New("blanket: parameter out of range")
	ErrTooFew    = errors.New("blanket: too few contributors")
)

// Noise returns the noise that every node of a tree of levels levels needs so that a batch with h
// honest contributors is (ε, delta)-indistinguishable: p as P in units of 2^-32, and V = h·p, the
// honest contributors' expected noise messages at a node. eps10k is ε in ten-thousandths. P is
// within 2^-10, relative, of the least that Delta accepts, and above it.
//
// The result is the same on every machine. Neighbours replace one value. Errors: ErrParameter for ε
// outside [0.05, 8], delta outside (0, 1), h outside [64, 2^40] or levels outside [1, 32];
// ErrTooFew if p would be above 1/4. Source: the package documentation.
func Noise(eps10k uint32, delta float64, h uint64, levels int) (v float64, p uint64, err error) {
	if err := check(eps10k, delta, h, levels); err != nil {
		return 0, 0, err
	}
	eps := float64(eps10k) / 1e4
	enough := func(p uint64) bool { return at(eps, float64(p)/One, h, levels) <= delta }
	// A count of zero is charged with (1−p)^h ≥ e^(−2hp), so less than hp = 2 never does for delta
	// ≤ 0.01; where it might, starting there costs accuracy only.
	low := min(max(2*One/h, 1), MaxP/2)
	high := 2 * low
	for !enough(high) {
		if high == MaxP {
			return 0, 0, fmt.Errorf("%w: %d honest contributors cannot hide one at epsilon %g, delta %g on %d levels", ErrTooFew, h, eps, delta, levels)
		}
		low, high = high, min(2*high, MaxP)
	}
	for high-low > high>>10 && high-low > 1 {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return Mean(h, high), high, nil
}

// Mean returns h·P/2^32, the V that belongs to P.
func Mean(h, p uint64) float64 { return float64(float64(h)*float64(p)) / One }

func check(eps10k uint32, delta float64, h uint64, levels int) error {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case !(delta > 0 && delta < 1):
		return fmt.Errorf("%w: want delta in (0, 1), have %g", ErrParameter, delta)
	case h < MinHonest || h > MaxHonest:
		return fmt.Errorf("%w: want 64 to 2^40 honest contributors, have %d", ErrParameter, h)
	case levels < 1 || levels > MaxLevels:
		return fmt.Errorf("%w: want 1 to %d levels, have %d", ErrParameter, MaxLevels, levels)
	}
	return nil
}

// Cap returns the constant number of messages of a report on a tree of nodes nodes and levels
// levels:
//
//	levels + ⌈λ + 12√λ + 40⌉,  λ = nodes·P/2^32
//
// The noise is beyond it with probability below 1e-31, for every λ; a contributor then draws all of
// it anew, which Delta charges for. nodes·P is below 2^53.
func Cap(nodes uint64, levels int, p uint64) uint64 {
	l := float64(nodes*p) / One
	return uint64(levels) + uint64(math.Ceil(l+float64(12*math.Sqrt(l))+40))
}

// redrawn bounds the probability that a contributor draws their noise anew.
const redrawn = 1e-31

// away is the δ that redrawn noise costs, for the at most 2h honest contributors of a batch.
func away(eps float64, h uint64) float64 {
	return float64((1 + strict.Exp(eps)) * float64(float64(2*h)*redrawn))
}

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
