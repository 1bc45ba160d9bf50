package flow

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// choice is the private choice of a cap: P(τ) ∝ τ^−p·e^{−rate·score(τ)}.
//
// A cap is too small where the score is large, that is where many persons have more; a score of 0
// says no more than that it is large enough, and of those the power of τ prefers the small ones. A
// steep power wastes little noise where the score falls steeply; where there are few persons it
// must be a flat one, or no score weighs against it. So p follows from a noisy number of persons.
type choice struct {
	least      exponential.Least
	candidates int
	caps       []int64
}

const (
	// flattest and steepest bound p. At 2 the expected square of a cap that is too large has no
	// end.
	flattest, steepest = 2, 12
	// A power takes up this part of what the scores of small caps say, for caps up to this part of
	// all octaves.
	powerShare, powerReach = 0.8, 0.75
)

// farAway is a distance at which every rate of a choice has the least weight.
const farAway = 1 << 56

// power returns p for a noisy number of persons, which is about the score of the smallest caps.
func (c choice) power(persons float64) float64 {
	far := powerReach * math.Log(float64(c.caps[c.candidates-1]))
	if far <= 0 {
		return steepest
	}
	return min(max(powerShare*c.least.Rate()*unit*persons/far, flattest), steepest)
}

// choose returns the number of a cap. The scores of small caps need no flow where their weight is
// the least that a choice has: a score only grows as a cap falls.
func (c choice) choose(n noise.Noiser, q *profile, power float64) int {
	public := make([]uint64, c.candidates) // what the power adds to scores
	for i := range public {
		public[i] = uint64(math.Round(power * math.Log(float64(c.caps[i])) / c.least.Rate()))
	}
	low := c.lowest(q, public)
	q.from(low)
	scores := make([]uint64, c.candidates)
	for i := c.candidates - 1; i >= 0; i-- {
		if i < low {
			scores[i] = scores[low] + farAway
			continue
		}
		scores[i] = uint64(q.score(i)) + public[i]
	}
	return c.least.Choose(n, scores)
}

// lowest returns the number of a cap such that all below have the least weight. It looks at the
// powers of two.
func (c choice) lowest(q *profile, public []uint64) int {
	var octaves []int
	for i := range q.caps {
		if q.caps[i]&(q.caps[i]-1) == 0 {
			octaves = append(octaves, i)
		}
	}
	q.fill(octaves)
	best := uint64(math.MaxUint64)
	for _, i := range octaves {
		if i < c.candidates {
			best = min(best, uint64(q.score(i))+public[i])
		}
	}
	for _, i := range slices.Backward(octaves) {
		if i >= c.candidates {
			continue
		}
		if s := uint64(q.score(i)); s > best && c.least.Floored(s-best) {
			return i
		}
	}
	return 0
}

// perOctave is the number of caps from a power of two to the next, from 8 on.
const perOctave = 8

// capsUpTo returns the caps that may be chosen, ascending, and the caps that these are compared
// with: 1, 2, … 15, and m·2^j with 8 <= m < 16, up to twice the power of two that limit is at most.
// They hold the double of every cap that may be chosen. The choice is among the first n.
func capsUpTo(limit int64) (caps []int64, n int) {
	top := int64(1) << bits.Len64(uint64(max(limit, 1)-1))
	for c := int64(1); c < 2*perOctave && c <= 2*top; c++ {
		caps = append(caps, c)
	}
	for c, step := int64(2*perOctave), int64(2); c <= 2*top; c += step {
		if caps = append(caps, c); c == step*2*perOctave {
			step *= 2
		}
	}
	n, _ = slices.BinarySearch(caps, top)
	return caps, n + 1
}

// double is the place of the double of cap number i.
func double(i int) int {
	if i < perOctave {
		return 2*i + 1
	}
	return i + perOctave
}

// sign is the part of signed weights that a flow is about.
type sign int64

const (
	positive sign = 1
	negative sign = -1
)

// curve is Q(τ)·parts by τ, for ascending τ:
//
//	Q(τ) = max Σ x    0 <= x <= weight for each pair, at most τ for all pairs of one person
type curve struct {
	net   *network
	fixed int64 // the cap of what is on the right, where it is not τ
}

// newCurve returns the curve of the weights of one sign.
func newCurve(s Shape, p *estimator.Pairs, of sign) curve {
	in, fixed := entries{lefts: p.Lefts, rights: p.Rights}, int64(0)
	weight := func(i int) int64 {
		w := int64(1)
		if p.Weights != nil {
			w = p.Weights[i]
		}
		return max(min(max(w, -estimator.MaxUnits), estimator.MaxUnits)*int64(of), 0)
	}
	in.each = func(edge func(left, right uint32, w int64)) {
		for i, u := range p.Left {
			if w := weight(i); w > 0 {
				edge(u, p.Right[i], w)
			}
		}
	}
	switch s {
	case Self:
		in.lefts = max(p.Lefts, p.Rights)
		in.rights = in.lefts
		in.loop = estimator.Make[int64](p.Memory, in.lefts)
		for i, u := range p.Left {
			if u == p.Right[i] {
				in.loop[u] = plus(in.loop[u], weight(i))
			}
		}
		in.each = func(edge func(left, right uint32, w int64)) {
			for i, u := range p.Left {
				if w := weight(i); w > 0 && u != p.Right[i] {
					edge(u, p.Right[i], w)
					edge(p.Right[i], u, w)
				}
			}
		}
	case Distinct:
		fixed = 1
		in.each = func(edge func(left, right uint32, w int64)) {
			for i, u := range p.Left {
				edge(u, p.Right[i], 1)
			}
		}
	case One:
		fixed, in.rights = saturated, 1
		in.each = func(edge func(left, right uint32, w int64)) {
			for i, u := range p.Left {
				if w := weight(i); w > 0 {
					edge(u, 0, w)
				}
			}
		}
	}
	return curve{newNetwork(p.Memory, in, fixed), fixed}
}

// at returns Q(limit)·parts. Limits ascend from one call to the next.
func (c curve) at(limit int64, stop func()) scalar.Sum { return c.net.at(limit, c.fixed, stop) }

// restart lets limits begin anew.
func (c curve) restart() { c.net.restart(c.fixed) }

func (c curve) done() { c.net.done() }

// tail is a noisy look at what is beyond a cap τ: (Q(2τ) − Q(τ))/τ, about the number of persons
// whom τ cuts. Q is concave, so that this bounds how fast Q grows from 2τ on, and, beyond any cap
// from τ on, what is missing:
//
//	Q(∞) − Q(τ′) ≤ (max(M, 2τ) − τ′)·(Q(2τ) − Q(τ))/τ    τ′ >= τ, M the most that one person has
type tail struct {
	cap     int64
	persons float64 // (Q(2τ) − Q(τ))/τ, with noise
	noise   scalar.Noise
	step    float64 // of the noise, in persons
}

// tailOctaves is how far beyond the cap, where no M is known, persons' weights are taken to go on,
// the persons beyond a cap falling at least as fast as the cap grows.
const tailOctaves = 5

// look draws the noise. moved is the sensitivity of Q(2τ) − Q(τ) in units of τ·parts.
func look(n noise.Noiser, p estimator.Params, share, moved float64, cap, parts int64, excess *big.Int) tail {
	hidden := scalar.Single(p, int64(math.Ceil(moved))*cap*parts, share)
	t := tail{cap: cap, noise: hidden, step: 1 / float64(cap*parts)}
	t.persons = hidden.Big(n, excess) * t.step
	return t
}

// sigma is the standard deviation of the noise, in persons.
func (t tail) sigma() float64 { return t.noise.Sigma() * t.step }

const (
	// A look that shows fewer persons than this many standard deviations of its noise changes
	// nothing. With more the cap grows by this power of their number over it: 1/α would bring them
	// down to it where the persons beyond a cap fall as its α-th power.
	clearTail, growth = 1, 0.7
)

// raised is the cap for what the look has shown.
func (t tail) raised() float64 {
	return float64(t.cap) * math.Pow(max(1, t.persons/(clearTail*t.sigma())), growth)
}

// risks are those at which the ends of what is beyond the cap are told.
var risks = [...]float64{1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.035, 0.02, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-7, 1e-9}

// beyond is the law of what a cap takes away, cap >= t.cap; most is M, or 0. Each end holds as
// surely as the noise of the look, which has the part of an interval's risk that estimator.CutOf
// gives.
func (t tail) beyond(cap, most int64) []estimator.CutPart {
	reach := float64(max(most, 2*t.cap) - cap)
	if most == 0 {
		reach = tailOctaves * float64(t.cap)
	}
	if reach <= 0 {
		return nil
	}
	ends := make([]float64, len(risks))
	for k, risk := range risks {
		ends[k] = reach * max(0, max(0, t.persons)+t.noise.Quantile(estimator.CutRisk(risk))*t.step)
	}
	return estimator.CutOf(risks[:], ends)
}

// most reports whether half of so many persons, or more, may be beyond the cap, as far as the look
// shows: then nothing says how far, and an answer has no upper end unless M is known. That half of
// them are is missed once in 40 times. Numbers of results of few persons are such answers, of whom
// the look sees nothing.
func (t tail) most(persons float64) bool { return t.persons+2*t.sigma() >= persons/2 }

// enough is the number of persons of whom most reports false where none is beyond the cap.
func (t tail) enough() float64 { return 4 * t.sigma() }

// seen is the most that a person may have for beyond to hold; most is M, or 0.
func (t tail) seen(most int64) int64 {
	if most > 0 {
		return most
	}
	return t.cap << tailOctaves
}

// missing is what the look shows to be missing at least, or nearly so: of what its persons have, as
// much as is between the cap and its double.
func (t tail) missing() float64 { return float64(t.cap) * max(0, t.persons-t.sigma()) }
