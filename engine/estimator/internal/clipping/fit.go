package clipping

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

const (
	// An octave above the gate a law may go on for the answer, nearOctaves of totals where the
	// counts of these are at least nearZ standard deviations together, wideOctaves for the
	// interval, lengthOctaves of lengths.
	nearOctaves   = 2
	nearZ         = 0.5
	wideOctaves   = 5
	lengthOctaves = 6
	// misfit is the relative deviation of a true law's mass of an octave from that of the library.
	misfit = 0.25
	// misplaced is the share of an octave's persons who may be elsewhere in it than the law says
	misplaced = 0.1
	// outlier is the squared deviation, in variances, from which on a count is taken not to follow
	// the law: it then weighs little against it, and the count itself is believed.
	outlier = 9
	// oneEach is the logarithm by which the law that all persons have one row is likelier than one
	// of the library: many tables are so.
	oneEach = 4
	// leastWeight is the logarithm of the weight, beside that of the best law, of laws left out.
	leastWeight = -10
	mostFits    = 160
)

// place is a law moved by octaves, with a spike: the place of a fit in the library.
type place struct {
	law, octave int
	spike       float64
	persons     float64 // most likely number
	weight      float64 // logarithm of its likelihood, number of persons integrated out
	second      *second // nil for one law alone
	at          int     // its octave
	more        float64 // its persons
	moreSigma   float64 // standard deviation of that number
	hidden      bool    // the answer does not count on them
}

func heavier(a, b place) int { return cmp.Compare(b.weight, a.weight) }

// side are the counts of one side and what is taken from them.
type side struct {
	counts  []float64
	empty   []float64 // surprise of each count up to wide, were its bucket empty
	sigma   float64
	tail    float64 // factor by which the noise's tails ask for more than those of a normal law
	real    bool    // totals are not whole numbers
	about   bool    // they are distances from a centre
	squares bool    // they are squares of distances
	points  points
	gate    int       // the last octave that stands out
	top     int       // the last octave that the answer counts on
	wide    int       // that the interval counts on
	radii   []float64 // that may be chosen, ascending
	fits    []fit
	laws    []law // that may fit
}

// fit is what one law says about the counts.
type fit struct {
	weight float64   // of all fits together 1
	hidden bool      // it is for the interval alone
	total  float64   // sum of the totals
	cut    []float64 // by radius: what is beyond it, up to top
	wide   []float64 // the same, up to wide
	// standard deviation of what is beyond it, up to wide, among persons drawn by the law
	spread []float64
	// how far what is beyond it may be off, as the law may misplace persons within the octave
	rough []float64
	doubt []float64 // how far cut may be off
}

// fitSide fits the library to counts; ok is false where nothing stands out.
func fitSide(counts []float64, c Counts) (s side, ok bool) {
	p := pointsOf(c.groups)
	if c.real {
		p.look = math.Inf(1) // two kinds of persons are looked for among totals
	}
	g := p.open(counts, c.sigma*c.tail, c.adjoining())
	if g < 0 {
		return side{}, false
	}
	last := len(counts) - 1
	s = side{
		counts: counts, laws: c.library(), sigma: c.sigma, tail: c.tail, real: c.real, about: c.about, squares: c.squares,
		points: p, gate: g, top: c.near(counts, g), wide: min(c.far(counts, g), last),
	}
	places := s.mix(s.places())
	for i := range s.top * perOctave {
		s.radii = append(s.radii, math.Exp2(float64(i)/perOctave))
	}
	s.radii = append(s.radii, math.Exp2(float64(s.top)))
	all := 0.0
	for _, p := range places {
		f := s.fit(p)
		f.weight = math.Exp(p.weight - places[0].weight)
		all += f.weight
		s.fits = append(s.fits, f)
	}
	for i := range s.fits {
		s.fits[i].weight /= all
	}
	return s, true
}

// near is the last octave that the answer counts on: of lengths and distances from a centre the
// next one.
func (c Counts) near(counts []float64, gate int) int {
	top := min(gate+nearOctaves, len(counts)-1)
	few := sum(counts[gate+1:top+1]) < nearZ*c.sigma*math.Sqrt(float64(top-gate))
	if few || c.real && !c.squares {
		top = min(gate+1, top)
	}
	return top
}

// places returns the laws that explain the counts best, the best first.
func (s *side) places() []place {
	var out []place
	library := s.laws
	noisy := 0.0 // of all buckets, as if they were empty
	for _, c := range s.counts[:s.wide+1] {
		s.empty = append(s.empty, surprise(c*c/(s.sigma*s.sigma)))
		noisy += s.empty[len(s.empty)-1]
	}
	masses, best := make([]float64, s.wide+1), math.Inf(-1)
	scratch := make([]float64, 2*(s.wide+1))
	bulk := fullest(s.counts[:s.top+1])
	// visit weighs a law in an octave, with every spike.
	visit := func(i, octave int, found func(place)) {
		low, inside := library[i].masses(masses, octave)
		if inside < 0.5 {
			return
		}
		for _, spike := range spikes {
			switch {
			case spike == 0 && (octave < bulk-7 || octave > bulk+6):
				continue
			case spike > 0 && s.counts[0] < 2*s.sigma:
				continue
			case spike > 0 && s.real && s.gate == 0:
				continue // of lengths that do not stand out, hidden laws tell
			}
			p, known := place{law: i, octave: octave, spike: spike}, 0.0
			if i == 0 && octave == -2 && spike == 0 && !s.real {
				known = oneEach // the narrowest law, all of it in the first bucket
			}
			if !s.weigh(&p, masses, low, inside, noisy, best+leastWeight-known, scratch) {
				continue
			}
			p.weight += known
			if best = max(best, p.weight); p.weight >= best+leastWeight {
				found(p)
			}
		}
	}
	// The sooner a law is found that explains the counts well, the more of the others are left out
	// early.
	for i := range library {
		visit(i, min(max(bulk-library[i].first-fullest(library[i].mass), -2), s.top), func(place) {})
	}
	for i := range library {
		for octave := -2; octave <= s.top; octave++ {
			visit(i, octave, func(p place) { out = append(out, p) })
		}
	}
	if s.about {
		p := s.free()
		if best = max(best, p.weight); p.weight >= best+leastWeight {
			out = append(out, p)
		}
	}
	out = slices.DeleteFunc(out, func(p place) bool { return p.weight < best+leastWeight })
	slices.SortFunc(out, heavier)
	return out[:min(len(out), mostFits)]
}

// masses writes the masses of a law moved by octaves, what is below 1 in bucket 0; low is the first
// other bucket that may have one, inside their sum.
func (l *law) masses(dst []float64, octave int) (low int, inside float64) {
	clear(dst)
	low = max(1, l.first+octave)
	for i, m := range l.mass {
		k := max(0, l.first+i+octave)
		if k >= len(dst) {
			break
		}
		dst[k] += m
		inside += m
	}
	return low, inside
}

// surprise is twice the negative logarithm of how likely a deviation is, which grows slowly beyond
// outlier.
func surprise(z2 float64) float64 {
	if z2 > outlier {
		return outlier + 2*math.Log(z2/outlier)
	}
	return z2
}

// weigh finds the number of persons and the weight of a law with these masses. ok is false where
// the weight is under least: then it need not be known. scratch is for two numbers a mass.
//
// A count is normal around n·p with the variance of its noise, of drawing n·p persons, and of the
// misfit; n is integrated out with density 1/n, by Laplace's approximation.
func (s *side) weigh(p *place, masses []float64, low int, inside, noisy, least float64, scratch []float64) (ok bool) {
	noise := s.sigma * s.sigma
	share := (1 - p.spike) / inside
	high := len(masses)
	for high > low && masses[high-1] == 0 {
		high--
	}
	// bucket 0 and those from low on
	shares, odds := scratch[:1], scratch[len(masses):]
	shares[0] = p.spike + masses[0]*share
	for _, m := range masses[min(low, high):high] {
		shares = append(shares, m*share)
	}
	counts, empty := s.counts[low-1:], s.empty[low-1:] // their first is that of bucket 0
	n, bend := 0.0, 0.0
	for range 3 {
		top, bottom := 0.0, 0.0
		for j, q := range shares {
			c := counts[j]
			if j == 0 {
				c = s.counts[0]
			}
			mu := n * q
			v := noise + mu + misfit*misfit*mu*mu
			top += c * q / v
			bottom += q * q / v
		}
		n, bend = max(1, top/bottom), bottom
	}
	// odds are the squared deviations; of surprise, the logarithms are first taken together
	rough, tails, product, logs := noisy, 1.0, 1.0, 0.0
	for j, q := range shares {
		c, e := counts[j], empty[j]
		if j == 0 {
			c, e = s.counts[0], s.empty[0]
		}
		mu := n * q
		v := noise + mu + misfit*misfit*mu*mu
		d := c - mu
		z2 := d * d / v
		odds[j] = z2
		if z2 > outlier {
			if tails *= z2 / outlier; tails > 1e100 {
				rough, tails = rough+2*math.Log(tails), 1
			}
			z2 = outlier
		}
		rough += z2 - e
		if product *= v / noise; product > 1e200 {
			logs, product = logs+math.Log(product), 1
		}
	}
	if -(rough+logs)/2-math.Log(tails*n*math.Sqrt(product)*math.Sqrt(bend)) < least-1e-6 {
		return false
	}
	odd := noisy
	for j, z2 := range odds[:len(shares)] {
		e := empty[j]
		if j == 0 {
			e = s.empty[0]
		}
		odd += surprise(z2) - e
	}
	p.persons = n
	p.weight = -(odd+logs+math.Log(product))/2 - math.Log(bend)/2 - math.Log(n)
	return true
}

// keep has the fits that a test keeps; nil in a server.
var keep *keeper

// KeepFits makes the process keep its last n fits of counts, and take one of them where all that a
// fit depends on is equal. It is for tests, whose neighbours are released with the same noisy
// counts, and is called before they run: a server never has the same counts twice.
func KeepFits(n int) { keep = &keeper{last: make([]keptSide, n)} }

type keeper struct {
	mu   sync.Mutex
	last []keptSide
	next int
}

type keptSide struct {
	key string
	side
	ok bool
}

// newSide fits the library to counts; ok is false where nothing stands out.
func newSide(counts []float64, c Counts) (s side, ok bool) {
	if keep == nil {
		return fitSide(counts, c)
	}
	return keep.side(counts, c)
}

func (k *keeper) side(counts []float64, c Counts) (s side, ok bool) {
	key := keyOf(counts, c)
	k.mu.Lock()
	at := slices.IndexFunc(k.last, func(s keptSide) bool { return s.key == key })
	if at >= 0 {
		s, ok = k.last[at].side, k.last[at].ok
	}
	k.mu.Unlock()
	if at >= 0 {
		return s, ok
	}
	s, ok = fitSide(slices.Clone(counts), c)
	k.mu.Lock()
	k.last[k.next] = keptSide{key, s, ok}
	k.next = (k.next + 1) % len(k.last)
	k.mu.Unlock()
	return s, ok
}

// keyOf holds all that a fit of counts depends on.
func keyOf(counts []float64, c Counts) string {
	var key []byte
	for _, x := range append([]float64{c.sigma, c.tail, float64(c.groups)}, counts...) {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
	}
	for _, is := range []bool{c.real, c.about, c.squares, c.long} {
		if key = append(key, 0); is {
			key[len(key)-1] = 1
		}
	}
	return string(key)
}
