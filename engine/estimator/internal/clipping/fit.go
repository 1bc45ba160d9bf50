package clipping

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"sort"
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
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

// near is the last octave that the answer counts on: of lengths, squares and distances from a
// centre the next one.
func (c Counts) near(counts []float64, gate int) int {
	top := min(gate+nearOctaves, len(counts)-1)
	few := sum(counts[gate+1:top+1]) < nearZ*c.sigma*math.Sqrt(float64(top-gate))
	if few || c.real {
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
			}
			p := place{law: i, octave: octave, spike: spike}
			if !s.weigh(&p, masses, low, inside, noisy, best+leastWeight, scratch) {
				continue
			}
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

// FinerShare is the share of a loss that finer counts have where they are asked for. Where they are
// not the sum has it.
const FinerShare = 0.06

const (
	// eighths is the number of finer buckets of an octave.
	eighths = 8
	// mostOctaves is the number of octaves that are looked at, at most: from that of the chosen end
	// down to the fullest one, and one below the end at least. Noise may lift an end that far.
	mostOctaves = 6
	// leastFiner is the number of persons in the octave of the chosen end from which on finer
	// counts are asked for, in standard deviations of their noise. Of fewer the octave's own count
	// tells more: sixty persons in one octave may not be seen in any eighth of it.
	leastFiner = 40
	// gainFiner is the part of the error before that another end has to come to.
	gainFiner = 0.95
	// clearFiner is the number of standard deviations from which on what is seen beyond an end
	// counts, however unlike it is to a tail that falls.
	clearFiner = 1.5
)

// Finer releases a second histogram where many persons stand out: of those about the chosen end, by
// eighths of an octave. The octaves do not say where in them persons are, so that the end is mostly
// that of an octave, up to twice as far out as the largest total.
//
//	add-remove    one bucket changes by 1                    ℓ2 sensitivity 1
//	replace-one   one bucket loses 1, another gains 1        ℓ2 sensitivity √2
//
// Which octaves these are, and whether they are asked for at all, follows from the counts of
// octaves, which are released.
//
// Its zero value, and that of a pure loss, is never asked for: Laplace noise of so small a share
// would hide too many persons.
type Finer struct {
	noise scalar.Noise
	delta int64
}

// NewFiner returns the finer counts at a share of p's loss.
func NewFiner(p estimator.Params, share float64) Finer {
	if p.Pure() {
		return Finer{}
	}
	delta := p.Relation.Factor()
	return Finer{scalar.NewNoise(p, big.NewInt(delta), delta, share), delta}
}

// Ready reports whether finer counts may be asked for.
func (f Finer) Ready() bool { return f.delta > 0 }

// Step describes the finer counts.
func (f Finer) Step(name string) estimator.Step {
	return histogramStep(f.noise, f.delta, estimator.Step{Name: name, Queries: mostOctaves * eighths})
}

// Wanted reports whether finer counts are to be asked for: where values are on one side of 0 and
// persons are many about the end.
//
// They are not where the laws see persons beyond the end: what few have in a long tail is told
// better by a law.
func (f Finer) Wanted(c Choice, sigma float64) bool {
	if !f.Ready() || c.side == nil || Added(c.above+c.below, sigma*float64(c.Low+c.High)) != 0 {
		return false
	}
	_, high := c.octaves()
	return c.side.counts[high] > leastFiner*f.noise.Sigma()
}

// octaves are the first and the last octave that finer counts look at.
func (c Choice) octaves() (low, high int) {
	high = min(Octave(uint64(max(c.Low, c.High, 1))), len(c.side.counts)-1)
	low = min(fullest(c.side.counts), high-1)
	return max(low, high-mostOctaves+1, 0), high
}

// Release draws the noise and returns the choice with an end by the finer counts: that of the least
// sum of squares of the sum's noise and of what is beyond it. totals are those that the histogram
// was of; sigma is the noise of the sum where an end is 1.
func (f Finer) Release(n noise.Noiser, c Choice, totals iter.Seq[int64], sigma, step float64) Choice {
	edges := edgesOf(c.octaves())
	counts := make([]int64, len(edges))
	for t := range totals {
		if c.Low > 0 {
			t = -t
		}
		if k := sort.Search(len(edges), func(k int) bool { return edges[k] >= t }); k > 0 && k < len(edges) {
			counts[k]++
		}
	}
	noisy := make([]float64, len(edges)) // of those above the edge before and up to this one
	for k := 1; k < len(edges); k++ {
		noisy[k] = float64(f.noise.Add(n, counts[k]))
	}
	return c.at(edges, noisy, f.noise.Sigma(), sigma, step)
}

// edgesOf are the edges of the finer buckets of octaves, whole numbers that rise. The first is the
// lower end of all.
func edgesOf(low, high int) []int64 {
	var edges []int64
	for k := 0; k <= (high-low+1)*eighths; k++ {
		e := int64(math.Floor(math.Exp2(float64(low-1) + float64(k)/eighths)))
		if len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	return edges
}

// at is the choice by finer counts with noise of standard deviation doubt, of edges. What octaves
// above hold is told by the laws.
func (c Choice) at(edges []int64, noisy []float64, doubt, sigma, step float64) Choice {
	side, last := c.side, len(edges)-1
	persons, top := descending(noisy, doubt), float64(edges[last])
	whole := min(sort.SearchFloat64s(side.radii, top-0.5), len(side.radii)-1)
	above, parts := side.cutOf(whole, step)
	beyond := side.beyond(whole)
	end := c.Low + c.High // one of both is 0
	best, chosen := gainFiner*math.Hypot(sigma*float64(end), c.above+c.below), c
	for k := last; k > 0; k-- {
		if edges[k] >= end {
			continue
		}
		r := float64(edges[k])
		smooth, seen, variance := 0.0, 0.0, 0.0
		for j := k + 1; j <= last; j++ {
			d := (float64(edges[j])+float64(edges[j-1]+1))/2 - r
			smooth, seen, variance = smooth+persons[j]*d, seen+noisy[j]*d, variance+d*d
		}
		off := doubt * math.Sqrt(variance)
		if seen > clearFiner*off {
			smooth = max(smooth, seen)
		}
		cut := smooth + above + beyond*(top-r)
		if risk := math.Hypot(sigma*r, cut); risk < best {
			best = risk
			gained := []estimator.CutPart{{Weight: 1, Mean: (cut - above) * step, StdDev: off * step}}
			chosen = c.toward(edges[k], cut, Both(parts, gained))
		}
	}
	return chosen
}

// toward is the choice with another end.
func (c Choice) toward(end int64, cut float64, parts []estimator.CutPart) Choice {
	if c.Low > 0 {
		c.Low, c.Cut, c.below, c.Down = end, -cut, cut, parts
	} else {
		c.High, c.Cut, c.above, c.Up = end, cut, cut, parts
	}
	return c
}

// beyond is the number of persons whom the laws expect above radius number at.
func (s *side) beyond(at int) float64 {
	if at+1 >= len(s.radii) {
		return 0
	}
	persons := 0.0
	for _, f := range s.fits {
		persons += f.weight * (f.cut[at] - f.cut[at+1])
	}
	return persons / (s.radii[at+1] - s.radii[at])
}

// descending are counts without their noise as far as it makes them rise again above the fullest
// one: neighbours that rise are taken together, and what is together under a standard deviation of
// their noise, doubt of each, is none.
func descending(noisy []float64, doubt float64) []float64 {
	mode := fullest(noisy[1:]) + 1
	out := slices.Clone(noisy)
	type block struct{ sum, n float64 }
	var blocks []block
	for _, x := range noisy[mode:] {
		b := block{x, 1}
		for len(blocks) > 0 {
			before := blocks[len(blocks)-1]
			if before.sum*b.n >= b.sum*before.n {
				break
			}
			b = block{before.sum + b.sum, before.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	k := mode
	for _, b := range blocks {
		for range int(b.n) {
			if out[k] = b.sum / b.n; b.sum < doubt*math.Sqrt(b.n) {
				out[k] = 0
			}
			k++
		}
	}
	return out
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
	for _, is := range []bool{c.real, c.about, c.squares} {
		if key = append(key, 0); is {
			key[len(key)-1] = 1
		}
	}
	return string(key)
}

// Search releases the histogram of octaves.
//
//	add-remove    one bucket changes by 1                    ℓ2 sensitivity 1, ℓ1 sensitivity 1
//	replace-one   one bucket loses 1, another gains 1        ℓ2 sensitivity √2, ℓ1 sensitivity 2
//
// Which buckets there are is public: those up to Limit, on the sides that values may be on.
type Search struct {
	noise    scalar.Noise
	delta    int64
	limit    int64
	up, down bool
	squares  bool // of numbers up to limit
}

// NewSearch returns a search at a share of p's loss, for totals within [low, high], low ≤ 0 ≤ high.
// What is beyond counts as the end.
func NewSearch(p estimator.Params, share float64, low, high int64) Search {
	delta := p.Relation.Factor()
	return Search{
		noise: scalar.NewNoise(p, big.NewInt(delta), delta, share), delta: delta,
		limit: max(1, -low, high), up: high > 0, down: low < 0,
	}
}

// NewSquares returns a search for squares of numbers up to limit.
func NewSquares(p estimator.Params, share float64, limit int64) Search {
	s := NewSearch(p, share, 0, limit)
	s.squares, s.up = true, true
	return s
}

// buckets is the number of buckets on one side.
func (s Search) buckets() int {
	if s.squares {
		return octaveOfSquare(uint64(s.limit)) + 1
	}
	return Octave(uint64(s.limit)) + 1
}

// Step describes the search.
func (s Search) Step(name string) estimator.Step {
	sides := 0
	for _, has := range []bool{s.up, s.down} {
		if has {
			sides++
		}
	}
	return histogramStep(s.noise, s.delta, estimator.Step{Name: name, Queries: s.buckets() * max(1, sides)})
}

// histogramStep completes the step of a histogram of persons in which an exchange changes so many
// counts.
func histogramStep(hidden scalar.Noise, delta int64, step estimator.Step) estimator.Step {
	step.Use, step.Sensitivity = "histogram", "l2=1"
	if delta > 1 {
		step.Sensitivity = fmt.Sprintf("l2=sqrt(%d)", delta)
		if hidden.Law() == estimator.Laplace {
			step.Sensitivity = fmt.Sprintf("l1=%d", delta)
		}
	}
	return hidden.Step(step)
}

// Persons is the number of persons of one octave that stands out.
func (s Search) Persons() int64 { return int64(gateZ*s.noise.Sigma()) + 1 }

// Counts are the noisy counts: a release.
type Counts struct {
	up, down []float64 // by octave; nil where no value is on that side
	sigma    float64   // standard deviation of the noise of each
	tail     float64   // factor by which its tails ask for more than those of a normal law
	limit    float64
	real     bool // of numbers that are not whole
	about    bool // of distances from a centre
	squares  bool // of numbers
	apart    bool // the noise of the sum goes by the length of its interval
	groups   int  // with a search each
}

// Release draws the noise. groups is the number of groups that are searched in like this one,
// public or released.
func (s Search) Release(n noise.Noiser, h *Histogram, groups int) Counts {
	noisy := func(has bool, side *[maxBuckets]int64) []float64 {
		if !has {
			return nil
		}
		counts := make([]float64, s.buckets())
		for i, c := range side {
			counts[min(i, len(counts)-1)] += float64(c)
		}
		for i, c := range counts {
			counts[i] = float64(s.noise.Add(n, int64(c)))
		}
		return counts
	}
	tail := 1.0
	if s.noise.Law() == estimator.Laplace {
		tail = laplaceTail
	}
	limit := float64(s.limit)
	if s.squares {
		limit *= limit
	}
	return Counts{
		up: noisy(s.up, &h.Up), down: noisy(s.down, &h.Down), sigma: s.noise.Sigma(), tail: tail,
		limit: limit, real: s.squares, squares: s.squares, apart: s.delta > 1, groups: groups,
	}
}
