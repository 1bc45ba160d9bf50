package clipping

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"scrim/engine/estimator"
)

// perOctave is the number of radii that are tried in an octave.
const perOctave = 4

// law is a law of totals on the scale of logarithms, as masses of octaves. It may be moved by whole
// octaves: bucket i holds totals in (2^(first+i−1), 2^(first+i)], in units of the place it is moved
// to.
type law struct {
	first int
	mass  []float64
	mean  []float64 // of a total within the bucket
	mean2 []float64 // of its square
	// excess is E(x−C)⁺ for x within bucket i and C = 2^(first+i−1+j/perOctave), at i·perOctave+j.
	excess []float64
}

// spikes are the shares of persons that a law may have besides in the smallest bucket, as with
// tables in which most have one row.
var spikes = []float64{0, 0.3, 0.6, 0.85, 0.96}

// laws is the library: log-normal, log-normal cut above, gamma and Pareto laws, each at two places
// in an octave.
var laws = sync.OnceValue(func() []law {
	var all []law
	for _, at := range []float64{0, 0.5} {
		for _, sigma := range []float64{0.15, 0.35, 0.5, 0.75, 1, 1.4, 2, 2.6} {
			s := sigma / math.Ln2
			density := func(y float64) float64 { return math.Exp(-(y - at) * (y - at) / (2 * s * s)) }
			all = append(all, newLaw(density, at-5*s, at+5*s))
			if sigma < 0.75 {
				continue
			}
			for _, z := range []float64{0.7, 1.5} {
				all = append(all, newLaw(density, at-5*s, math.Ceil(at+z*s)))
			}
		}
		for _, k := range []float64{0.4, 1, 2, 4} {
			density := func(y float64) float64 {
				x := math.Exp2(y - at)
				return math.Pow(x, k) * math.Exp(-x)
			}
			all = append(all, newLaw(density, at-6/min(k, 2), at+5))
		}
		for _, a := range []float64{1.2, 1.5, 2, 3} {
			density := func(y float64) float64 {
				if y < at {
					return 0
				}
				return math.Exp2(-a * (y - at))
			}
			all = append(all, newLaw(density, at, at+16))
		}
	}
	return all
})

// newLaw returns the law with a density in y = log2 of a total, which is 0 outside of (from, to).
func newLaw(density func(y float64) float64, from, to float64) law {
	const steps = 32 // an octave
	low, high := int(math.Floor(from)), int(math.Ceil(to))
	n := high - low
	l := law{low + 1, make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n*perOctave)}
	all := 0.0
	for i := range n {
		for j := range steps {
			y := float64(low+i) + (float64(j)+0.5)/steps
			w, x := density(y), math.Exp2(y)
			all += w
			l.mass[i] += w
			l.mean[i] += w * x
			l.mean2[i] += w * x * x
			for r := range perOctave {
				l.excess[i*perOctave+r] += w * max(0, x-math.Exp2(float64(low+i)+float64(r)/perOctave))
			}
		}
	}
	for i, w := range l.mass {
		if w > 0 {
			l.mean[i] /= w
			l.mean2[i] /= w
			for r := range perOctave {
				l.excess[i*perOctave+r] /= w
			}
		}
		l.mass[i] = w / all
	}
	return l
}

// maxBuckets is the number of octaves of totals up to 2^63, and of squares of such.
const maxBuckets = 128

// Octave returns the bucket of a total v ≥ 1: the k with 2^(k−1) < v ≤ 2^k.
func Octave(v uint64) int { return bits.Len64(v - 1) }

// octaveOfSquare returns the bucket of v², of 1 where v is 0.
func octaveOfSquare(v uint64) int {
	hi, lo := bits.Mul64(max(v, 1), max(v, 1))
	if lo--; lo == math.MaxUint64 { // it was 0
		hi--
	}
	if hi > 0 {
		return min(64+bits.Len64(hi), maxBuckets-1)
	}
	return bits.Len64(lo)
}

// Histogram counts persons by the octave of their total: of those above 0 in Up, of those below in
// Down. A person whose total is 0 is in no bucket. Its zero value is empty.
type Histogram struct{ Up, Down [maxBuckets]int64 }

// Add counts a person with total v.
func (h *Histogram) Add(v int64) {
	switch {
	case v > 0:
		h.Up[Octave(uint64(v))]++
	case v < 0:
		h.Down[Octave(uint64(-v))]++
	}
}

// AddSquare counts a person with total v².
func (h *Histogram) AddSquare(v uint64) { h.Up[octaveOfSquare(v)]++ }

// squareOctaves stands for wideOctaves: numbers are spread over half as many.
const squareOctaves = 8

// lawsOfSquares is the library with the wider laws that squares follow.
var lawsOfSquares = sync.OnceValue(func() []law {
	all := slices.Clone(laws())
	for _, at := range []float64{0, 0.5} {
		for _, sigma := range []float64{3.3, 4.2} {
			s := sigma / math.Ln2
			density := func(y float64) float64 { return math.Exp(-(y - at) * (y - at) / (2 * s * s)) }
			all = append(all, newLaw(density, at-5*s, at+4*s))
		}
		density := func(y float64) float64 {
			if y < at {
				return 0
			}
			return math.Exp2(-(y - at))
		}
		all = append(all, newLaw(density, at, at+16))
	}
	return all
})

// Squares is a radius that numbers are clipped to, and what that takes from the sum of their
// squares.
type Squares struct {
	Radius int64
	Cut    float64             // what is taken, by expectation
	Laws   []estimator.CutPart // of what is taken
	Risk   float64             // expected relative error of the sum with Cut added
}

// Squares returns the radius of the least expected error of the sum of squares, whose noise has a
// standard deviation of noise at radius 1. The counts are those of NewSquares. ok is false where
// nothing stands out. Where nothing does but who is at 0, others may hide in the noise, with any
// number: what is taken has no bound.
//
// A radius is a whole number. The laws of what is beyond it are those of the last radius that was
// tried below: they take no less.
func (c Counts) Squares(noise float64) (out Squares, ok bool) {
	s, ok := newSide(c.up, c)
	if !ok {
		return Squares{}, false
	}
	_, cuts := s.means(len(s.radii))
	best, at := math.Inf(1), 0
	for _, r := range s.radii {
		whole := math.Ceil(math.Sqrt(min(r, c.limit)))
		r = whole * whole
		below, found := slices.BinarySearch(s.radii, r)
		if !found {
			below--
		}
		if risk := s.risk(below, cuts[below], noise*r, 0); risk < best {
			best, at, out.Radius = risk, below, int64(whole)
		}
	}
	out.Cut, out.Laws = s.cutOf(at, 1)
	if s.gate == 0 || s.endless() {
		out.Laws = unseen()
	}
	out.Risk = math.Sqrt(best)
	return out, true
}

// Few persons whom the noise hides may decide a sum of squares, and no law bounds what they have.
// The counts deny such a tail where few octaves of it stand out beyond the fullest one, and little
// is in those that come next, for how much the fullest one stands out of the noise.
const (
	endlessFrom, endlessOctaves = 2.8, 1.45
	endlessWindow               = 16
	// Where the fullest octave is only twice or three times gateZ, hardly anything of a tail is
	// seen: the logarithms of these.
	fewPersons, somePersons = 1, 1.6
	// tailZ is where an octave between is one of the tail: values that are far apart have none.
	tailZ = 2
	// doubtZ is where a window far beyond the gate may be persons.
	doubtZ = 3.7
)

// endless reports whether the counts leave open how much few persons have.
func (s *side) endless() bool {
	full, sigma := fullest(s.counts), s.sigma*s.tail
	stands := math.Log2(s.counts[full] / (gateZ * sigma))
	next := s.counts[s.gate+1 : min(s.gate+1+endlessWindow, len(s.counts))]
	gap := 0.0
	for _, c := range s.counts[full+1 : max(s.gate, full)+1] {
		if c > tailZ*sigma {
			gap++
		}
	}
	z := max(0, sum(next)/(sigma*math.Sqrt(float64(max(1, len(next))))))
	return gap+z > endlessFrom+endlessOctaves*stands ||
		stands < fewPersons && gap+z > 1 || stands < somePersons && z > 1 ||
		points{gate: gateZ, far: doubtZ}.climb(s.counts, sigma, s.gate, besideGate) > s.gate
}

// TooWild reports whether the sum would say next to nothing.
func (s Squares) TooWild() bool { return s.Risk > mostRisk }

// Spread is the variance of a mixture of laws.
func Spread(parts []estimator.CutPart) float64 {
	mean, square := 0.0, 0.0
	for _, p := range parts {
		mean += p.Weight * p.Mean
		square += p.Weight * (p.Mean*p.Mean + p.StdDev*p.StdDev)
	}
	return max(0, square-mean*mean)
}

// Combined returns the laws of what the clips of two answers take from part·second +
// (1−part)·first. Each is of one value, or of nothing.
func Combined(first, second []estimator.Cut, part float64) []estimator.Cut {
	switch {
	case len(first) == 0 || part == 1:
		return times(second, part)
	case len(second) == 0 || part == 0:
		return times(first, 1-part)
	}
	a, b := first[0].Times(1-part), second[0].Times(part)
	return []estimator.Cut{{Added: a.Added + b.Added, Up: Both(a.Up, b.Up), Down: Both(a.Down, b.Down), Long: a.Long || b.Long}}
}

func times(cuts []estimator.Cut, f float64) []estimator.Cut {
	if len(cuts) == 0 {
		return nil
	}
	return []estimator.Cut{cuts[0].Times(f)}
}

// Expected is the share of what is left that vectors are expected to have lost.
func Expected(losses []Loss) float64 {
	sum := 0.0
	for _, l := range losses {
		sum += l.Weight * l.Near
	}
	return sum
}

// Totals are often of two kinds: most persons follow one law, and a few another that only begins
// where the first ends, as sums of a few values do whose largest decides, or as firms among
// persons. So the laws that explain the counts best are tried again with a second one beside, which
// has a number of persons of its own:
//
//	a tail   Pareto's law, from an octave of the bulk up to the gate on
//	a hump   narrow or wide, about the gate
//	hidden   of totals and lengths: Pareto's law from the gate on, or a hump beyond it, of persons
//	         whom the noise hides
//
// The last are for the interval alone, whatever the counts say: the expected answer does without
// them.
// A second law that the counts do not ask for has a small weight, as there are many that it could
// be.

// second is the second law of a mixture.
type second struct {
	law
	hump   bool
	hidden bool // may be there where the counts do not ask for it
}

const (
	// Logarithms of the weight of a second law at a place before any count is seen.
	tailWeight = -6
	humpWeight = -9
	// The same of a tail that noise may hide, of this exponent, from the gate or an octave above
	// it on. Its number of persons is as likely to be anything up to hiddenRange standard
	// deviations of the noise.
	hiddenWeight = -4.5
	hiddenTail   = 1.2
	// The same of a hump in one of the next octaves beyond the gate, where the counts ask for it a
	// little: at this number of standard deviations.
	hiddenHumpWeight = -5
	hiddenHumps      = 3
	hiddenHumpZ      = 1.2
	hiddenRange      = 4
	// Of lengths both are likelier by hiddenLengths, as their counts have less of the loss than
	// those of totals. But more of all persons than a share of rare are the less likely the larger
	// their share: noise may hide a tenth of few persons.
	hiddenLengths = 1.5
	rare          = 0.002
	// mixed is the number of laws that a second one is tried beside.
	mixed = 5
)

// prior is the logarithm of its weight at a place before any count is seen.
func (s *second) prior() float64 {
	if s.hump {
		return humpWeight
	}
	return tailWeight
}

// seconds is the library of second laws.
var seconds = sync.OnceValue(func() []second {
	var all []second
	for _, a := range []float64{hiddenTail, 1.5, 2.5} {
		density := func(y float64) float64 { return math.Exp2(-a * y) }
		all = append(all, second{newLaw(density, 0, 16), false, a == hiddenTail})
	}
	for _, h := range []struct {
		sigma, at float64
		hidden    bool
	}{{0.1, -0.5, false}, {0.3, -0.5, false}, {0.3, 0, false}, {0.9, 0, false}, {0.3, -0.5, true}, {0.3, 0, true}} {
		s := h.sigma / math.Ln2
		density := func(y float64) float64 { return math.Exp(-(y - h.at) * (y - h.at) / (2 * s * s)) }
		all = append(all, second{newLaw(density, h.at-4*s, h.at+4*s), true, h.hidden})
	}
	return all
})

// hide returns the place with a tail that the counts neither ask for nor deny: from octave on, of
// as many persons as a normal law about their estimate m, of standard deviation sigma, has above
// 0. Against nobody there it weighs what that law has above 0, over hiddenRange standard
// deviations.
func (s *side) hide(p place, tail *second, octave int, m, sigma float64) place {
	z := min(m/sigma, 3)
	above := math.Erfc(-z/math.Sqrt2) / 2
	mills := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / above
	p.second, p.at, p.hidden = tail, octave, true
	p.more, p.moreSigma = sigma*(z+mills), sigma*math.Sqrt(max(0, 1-z*mills-mills*mills))
	prior := float64(hiddenWeight)
	switch {
	case tail.hump && m < hiddenHumpZ*sigma:
		prior = hiddenHumpWeight - 2.5
	case tail.hump:
		prior = hiddenHumpWeight
	}
	if s.real {
		if !s.about {
			prior += hiddenLengths
		}
		prior -= max(0, math.Log(p.more/(rare*p.persons)))
	}
	p.weight += prior + math.Log(above*math.Sqrt(2*math.Pi)/hiddenRange) + z*z/2
	return p
}

// mix adds mixtures of the best places, and returns the best of all, the best first.
func (s *side) mix(places []place) []place {
	if s.about && s.gate-fullest(s.counts) < longTail-1 {
		return places // one of them follows the counts, whatever they are
	}
	bulk, more := make([]float64, s.wide+1), make([]float64, s.wide+1)
	out := slices.Clone(places)
	for _, p := range places[:min(mixed, len(places))] {
		s.shares(bulk, p)
		mode := fullest(bulk)
		for i := range seconds() {
			second := &seconds()[i]
			from, to := mode, s.top
			switch {
			case second.hump && (s.tail > 1 || second.hidden && s.squares):
				continue // the tails of Laplace noise look like humps
			case second.hump && second.hidden:
				from, to = s.gate+1, min(s.gate+hiddenHumps, s.wide)
			case second.hump:
				from = max(mode+1, s.top-4)
			}
			for octave := from; octave <= to; octave++ {
				_, inside := second.masses(more, octave)
				if inside < 0.2 {
					continue
				}
				for k := range more {
					more[k] /= inside
				}
				q := p
				q.second, q.at = second, octave
				m, sigma, ok := s.weighMixed(&q, bulk, more)
				switch {
				case ok && m > sigma && !second.hidden:
					out = append(out, q)
				case ok && second.hidden && octave >= s.gate && !s.squares:
					out = append(out, s.hide(p, second, octave, m, sigma))
				}
			}
		}
	}
	slices.SortFunc(out, heavier)
	for i, p := range out {
		if p.weight < out[0].weight+leastWeight || i == mostFits {
			return out[:i]
		}
	}
	return out
}

// shares writes the shares of a place's persons by bucket, without a second law.
func (s *side) shares(dst []float64, p place) {
	_, inside := s.laws[p.law].masses(dst, p.octave)
	for k := range dst {
		dst[k] *= (1 - p.spike) / inside
	}
	dst[0] += p.spike
}

// weighMixed finds the numbers of persons n and m of two laws, of shares bulk and more, and the
// weight of both together. Counts are normal as in weigh; m has the density 1/m, but for the part
// that is under its standard deviation. where m is under that, sigma, the counts do not ask for a
// second law. ok is false where the two laws cannot be told apart.
func (s *side) weighMixed(p *place, bulk, more []float64) (m, sigma float64, ok bool) {
	noise := s.sigma * s.sigma
	variance := func(a, b float64) float64 { return noise + a + b + misfit*misfit*(a*a+b*b) }
	n, det, aa := p.persons, 0.0, 0.0
	estimate := 0.0
	for range 2 {
		var ab, bb, ac, bc float64
		aa = 0
		for k, q := range bulk {
			t := more[k]
			if q == 0 && t == 0 {
				continue
			}
			v := variance(n*q, m*t)
			aa, ab, bb = aa+q*q/v, ab+q*t/v, bb+t*t/v
			ac, bc = ac+q*s.counts[k]/v, bc+t*s.counts[k]/v
		}
		if det = aa*bb - ab*ab; !(det > 1e-9*aa*bb) {
			return 0, 0, false
		}
		estimate = (bc*aa - ac*ab) / det
		n, m = max(1, (ac*bb-bc*ab)/det), max(0, estimate)
	}
	if sigma = math.Sqrt(aa / det); m <= sigma {
		return estimate, sigma, true
	}
	odd, logs, product := 0.0, 0.0, 1.0
	for k, q := range bulk {
		a, b := n*q, m*more[k]
		v := variance(a, b)
		d := s.counts[k] - a - b
		odd += surprise(d * d / v)
		if product *= v / noise; product > 1e200 {
			logs, product = logs+math.Log(product), 1
		}
	}
	p.persons, p.more, p.moreSigma = n, m, sigma
	p.weight = p.second.prior() - (odd+logs+math.Log(product))/2 - math.Log(det)/2 - math.Log(n) - math.Log(m)
	return m, sigma, true
}
