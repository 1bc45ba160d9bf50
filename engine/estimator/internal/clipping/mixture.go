package clipping

import (
	"math"
	"slices"
	"sync"
)

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
		prior += hiddenLengths - max(0, math.Log(p.more/(rare*p.persons)))
	}
	p.weight += prior + math.Log(above*math.Sqrt(2*math.Pi)/hiddenRange) + z*z/2
	return p
}

// mix adds mixtures of the best places, and returns the best of all, the best first.
func (s *side) mix(places []place) []place {
	if s.about {
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
