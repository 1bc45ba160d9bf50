package scalar

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Radius chooses a clipping radius for one non-negative number a person, from a noisy histogram.
//
// The buckets are public: bucket 0 holds the number 0, bucket i the numbers in (Edge(i−1),
// Edge(i)], with edges 1, 2, 3, 4, 6, 8, 12, 16, … that grow by √2 on average. A person is in one
// bucket at most, so with N_Z(0,σ²) on every bucket
//
//	add-remove    one bucket changes by 1:               ℓ2 sensitivity 1,  σ² = ⌈1/(2ρ)⌉
//	replace-one   one bucket loses 1, another gains 1:   ℓ2 sensitivity √2, σ² = ⌈2/(2ρ)⌉
//
// and a person exchanged who is counted on one side only changes one bucket by 1, which costs ρ/2
// of that.
//
// Choice (post-processing): with z = 5, take the greatest i for which some window of w = 1, 2, 4, …
// buckets that begins at i holds at least zσ√w persons after noise. An empty range passes by
// mistake with probability 2.9e-7 a window, under 0.03 % over all of them; that is the dangerous
// side, since a radius far above the data multiplies the noise of the sum. From there the four
// buckets above are looked at again with z = 4, where a mistake (12 windows of 3.2e-5: at most 1 in
// 2600) costs a factor 4 (12 at the very most). The radius is the upper edge of the window found
// (of its first three quarters), and the next edge if the noisy counts fall through its first
// bucket: the tail goes on then. The numbers were chosen by the error of sums and means of census
// ages and log-normal incomes.
//
// The papers' tail search ([HLY21] Algorithm 1 on a geometric grid) asks T = 7 to 9 noisy tail
// counts in turn, each with variance T/(2ρ), and needs about z(T,0.01)·√(T/(2ρ)) = 3.6·2.8/√(2ρ)
// persons above the radius. The histogram needs 5/√(2ρ) in one bucket for the same loss, half of
// that, and its chance of overshooting is 1 in 3000 instead of 1 in 100. (Under replace-one a tail
// count costs as before and the histogram √2 times as much.)
//
// Pure: Lap_Z(Δ₁/ε) on every bucket, Δ₁ = 1 under add-remove and 2 under replace-one (1 for a
// person counted on one side only), and in place of zσ√w the sum of w such variables that is passed
// with the same probability, by Chernoff's bound: 14.4·t for one.
type Radius struct {
	delta   int64 // buckets that change by one
	buckets int
	noise   Noise
	far     limits
	near    limits
}

// limits are the counts from which windows of 1, 2, 4, … buckets stand out.
type limits [8]float64

// NewRadius returns a search at loss rho for numbers up to limit; larger ones count as limit.
func NewRadius(relation estimator.Relation, rho float64, limit int64) Radius {
	return RadiusOf(estimator.Params{Rho: rho, Relation: relation}, rho, limit)
}

// RadiusOf returns the search of p's kind at a share of its loss.
func RadiusOf(p estimator.Params, share float64, limit int64) Radius {
	delta := p.Relation.Factor()
	r := Radius{delta: delta, buckets: bucket(uint64(limit)) + 1, noise: NewNoise(p, big.NewInt(delta), delta, share)}
	for i := range r.far {
		r.far[i], r.near[i] = r.noise.stands(float64(int(1)<<i), windowZ), r.noise.stands(float64(int(1)<<i), nearbyZ)
	}
	return r
}

const (
	windowZ = 5
	nearby  = 4
	nearbyZ = 4
)

// stands is the sum of w noises that is passed with the probability with which a normal variable
// passes z of its σ, at most.
func (x Noise) stands(w, z float64) float64 {
	if x.sigma2 != nil {
		return z * x.Sigma() * math.Sqrt(w)
	}
	alpha := math.Erfc(z/math.Sqrt2) / 2
	if w == 1 {
		return x.Quantile(alpha)
	}
	// P[S >= y] <= e^{-sy/t}/(1−s²)^w for 0 < s < 1: the discrete law's is under that of the
	// continuous one.
	least := math.Inf(1)
	for i := 1; i < 1024; i++ {
		s := float64(i) / 1024
		least = min(least, (math.Log(1/alpha)-w*math.Log1p(-s*s))/s)
	}
	return x.scale() * least
}

// Persons is the number of persons in one bucket that the search sees with an even chance.
func (r Radius) Persons() int64 { return int64(math.Ceil(r.far[0])) }

// Step describes the search.
func (r Radius) Step(name string) estimator.Step {
	s := r.noise.Step(estimator.Step{Name: name, Use: "histogram", Sensitivity: "l2=1", Queries: r.buckets})
	switch {
	case r.delta > 1 && r.noise.sigma2 == nil:
		s.Sensitivity = fmt.Sprintf("l1=%d", r.delta)
	case r.delta > 1:
		s.Sensitivity = fmt.Sprintf("l2=sqrt(%d)", r.delta)
	}
	return s
}

// Histogram counts persons by bucket. Its zero value is empty.
type Histogram [128]int64

// Add counts a person with the number v.
func (h *Histogram) Add(v uint64) { h[bucket(v)]++ }

// Edge returns the upper end of bucket i.
func Edge(i int) int64 {
	switch {
	case i < 2:
		return int64(i)
	case i >= 125:
		return math.MaxInt64
	case i&1 == 0:
		return 1 << (i / 2)
	}
	return 3 << (i/2 - 1)
}

// bucket returns the number of the bucket that holds v.
func bucket(v uint64) int {
	if v < 3 {
		return int(v)
	}
	l := bits.Len64(v - 1)
	upper := 0 // added without a jump: which half of the octave a person is in cannot be foreseen
	if v > 3<<(l-2) {
		upper = 1
	}
	return min(2*l-1+upper, 127)
}

// Choose releases the histogram and returns the chosen radius, at least 1; ok is false if no window
// stands out from the noise, and then the radius is that of the window that comes nearest.
func (r Radius) Choose(n noise.Noiser, h *Histogram) (radius int64, ok bool) {
	for i := r.buckets; i < len(h); i++ { // numbers above the limit
		h[r.buckets-1] += h[i]
	}
	noisy := make([]float64, r.buckets)
	for i := range noisy {
		noisy[i] = float64(r.noise.Add(n, h[i]))
	}
	best, width, score := 0, 1, math.Inf(-1)
	for i := r.buckets - 1; i >= 0 && !ok; i-- {
		if w, z := window(noisy, i, r.buckets, &r.far); z > score {
			best, width, score = i, w, z
		}
		ok = score >= 1
	}
	for i := min(best+nearby, r.buckets-1); i > best; i-- {
		if w, z := window(noisy, i, 4, &r.near); z >= 1 {
			best, width = i, w
		}
	}
	if best > 1 {
		falling := noisy[best] < noisy[best-1]
		// a window stands out most when its upper half holds a good part of it
		best += width - 1 - width/4
		if falling {
			best++
		}
		best = min(best, r.buckets-1)
	}
	return max(1, Edge(best)), ok
}

// window returns the width w = 1, 2, 4, … <= widest of the window from bucket i whose count stands
// out most, and that count over the limit for it.
func window(noisy []float64, i, widest int, of *limits) (width int, score float64) {
	width, score = 1, math.Inf(-1)
	sum := 0.0
	for j, w, k := i, 1, 0; j < len(noisy) && w <= widest; j++ {
		sum += noisy[j]
		if j-i+1 != w {
			continue
		}
		if z := sum / of[k]; z > score {
			width, score = w, z
		}
		w *= 2
		k++
	}
	return width, score
}

// Coarse finds a centre and a radius for one number a person, of either sign, by one histogram of
// signed octaves: for fewer persons than the two searches of Centred need one after the other.
//
// The buckets are public: bucket 0 holds the numbers under 2^floor in absolute value, bucket ±k
// those of one sign from 2^(floor+k−1) up to under 2^(floor+k), as far as the public range goes. A
// person is in one bucket:
//
//	add-remove    one bucket changes by 1                    ℓ2 sensitivity 1, ℓ1 sensitivity 1
//	replace-one   one bucket loses 1, another gains 1        ℓ2 sensitivity √2, ℓ1 sensitivity 2
//
// Choice (post-processing): the window of 1 to 4 buckets that stands out most has to do so at
// bulkZ; from there, to both sides, each octave within reach that stands out as well, and those
// next to the last one that do at besideZ, are taken in. The centre is the mean of the octaves'
// means by their counts, the radius reaches the farther end. Numbers lie somewhere in an octave, so
// that the radius is up to some four times what a finer search finds; the noise of a mean is as
// much larger.
type Coarse struct {
	noise Noise
	delta int64
	floor uint
	lo    int64 // public range
	hi    int64
	first int // bucket of lo
}

const (
	bulkZ   = 4.5
	besideZ = 3
	// widest is the number of octaves of the widest window, reach by how many the largest numbers
	// may be beyond it, on either side of 0, and beside how many may be taken in at besideZ.
	widest = 4
	reach  = 8
	beside = 2
	// coarseFloor are the octaves under one grid step that are told apart.
	coarseFloor = 3
)

// NewCoarse returns the search at a share of p's loss for the numbers of m.
func NewCoarse(p estimator.Params, m Means, share float64) Coarse {
	delta := p.Relation.Factor()
	c := Coarse{noise: NewNoise(p, big.NewInt(delta), delta, share), delta: delta, lo: m.Lo, hi: m.Hi}
	if m.Shift > coarseFloor {
		c.floor = m.Shift - coarseFloor
	}
	c.first = c.bucket(c.lo)
	return c
}

// bucket returns the number of x's bucket, which does not fall as x grows.
func (c Coarse) bucket(x int64) int {
	if x < 0 {
		return -bits.Len64(uint64(-x) >> c.floor)
	}
	return bits.Len64(uint64(x) >> c.floor)
}

// ends returns the ends of bucket k.
func (c Coarse) ends(k int) (lo, hi float64) {
	if k == 0 {
		return 0, 0
	}
	lo = math.Exp2(float64(int(c.floor) + max(k, -k) - 1))
	hi = 2 * lo
	if k < 0 {
		lo, hi = -hi, -lo
	}
	return max(lo, float64(c.lo)), min(hi, float64(c.hi))
}

// Persons is the number of persons of two octaves next to each other that stand out with an even
// chance.
func (c Coarse) Persons() int64 { return int64(math.Ceil(c.noise.stands(2, bulkZ))) }

// LeastPersons is that of one octave, the fewest of whom anything is seen.
func (c Coarse) LeastPersons() int64 { return int64(math.Ceil(c.noise.stands(1, bulkZ))) }

// Step describes the search.
func (c Coarse) Step(name string) estimator.Step {
	s := estimator.Step{Name: name, Use: "histogram", Sensitivity: "l2=1", Queries: c.bucket(c.hi) - c.first + 1}
	if c.delta > 1 {
		s.Sensitivity = fmt.Sprintf("l2=sqrt(%d)", c.delta)
		if c.noise.Law() == estimator.Laplace {
			s.Sensitivity = fmt.Sprintf("l1=%d", c.delta)
		}
	}
	return c.noise.Step(s)
}

// Octaves are the noisy counts of a Coarse search, and those that stand out: a release.
type Octaves struct {
	search   Coarse
	counts   []float64
	from, to int // that are taken for occupied
}

// Release draws the noise. ok is false where nothing stands out from it.
func (c Coarse) Release(n noise.Noiser, numbers []int64) (o Octaves, ok bool) {
	exact := make([]int64, c.bucket(c.hi)-c.first+1)
	for _, x := range numbers {
		exact[c.bucket(min(max(x, c.lo), c.hi))-c.first]++
	}
	o = Octaves{search: c, counts: make([]float64, len(exact))}
	for i, k := range exact {
		o.counts[i] = float64(c.noise.Add(n, k))
	}
	return o, o.occupied()
}

// occupied finds the octaves that stand out, ok is false where none does.
func (o *Octaves) occupied() (ok bool) {
	best := 1.0
	for width := 1; width <= widest; width++ {
		limit := o.search.noise.stands(float64(width), bulkZ)
		for from := 0; from+width <= len(o.counts); from++ {
			if z := together(o.counts[from:from+width]) / limit; z > best {
				best, o.from, o.to, ok = z, from, from+width-1, true
			}
		}
	}
	if ok {
		o.to = o.climb(o.to, 1)
		o.from = o.climb(o.from, -1)
	}
	return ok
}

// climb returns the last octave that is taken in from one on, upwards or downwards.
func (o *Octaves) climb(at, step int) int {
	most := reach + max(o.size(o.from), o.size(o.to))
	for next := at; ; at = next {
		sum := 0.0
		for i := 1; ; i++ {
			k := at + i*step
			if k < 0 || k >= len(o.counts) || o.size(k) > most {
				break
			}
			if o.counts[k] > o.search.noise.stands(1, bulkZ) {
				next = k
			}
			if sum += o.counts[k]; i <= beside && sum > o.search.noise.stands(float64(i), besideZ) {
				next = max(next*step, k*step) * step
			}
		}
		if next == at {
			return at
		}
	}
}

// size is the number of an octave, whatever its sign.
func (o *Octaves) size(i int) int { return max(o.search.first+i, -o.search.first-i) }

// together is the sum of counts.
func together(counts []float64) (sum float64) {
	for _, v := range counts {
		sum += v
	}
	return sum
}

// middle is the mean of a number in an octave over its upper end, evenly on the scale of
// logarithms.
const middle = 0.5 / math.Ln2

// About returns the centre of the octaves that stand out and the radius to the farther end, at
// least 1. alike says that none stands out but that of 0.
func (o Octaves) About() (centre, radius int64, alike bool) {
	sum, persons := 0.0, 0.0
	for i := o.from; i <= o.to; i++ {
		if o.counts[i] < o.search.noise.Sigma() {
			continue // it says nothing, and those far out would weigh the most
		}
		lo, hi := o.search.ends(o.search.first + i)
		far, near := hi, lo
		if hi <= 0 {
			far, near = lo, hi
		}
		sum += o.counts[i] * max(middle*math.Abs(far), math.Abs(near)) * sign(far)
		persons += o.counts[i]
	}
	lo, hi := o.lower(), o.upper()
	c := math.Round(min(max(sum/max(persons, 1), lo), hi))
	return int64(c), int64(max(1, math.Ceil(max(hi-c, c-lo)))), o.from == o.to && o.search.first+o.from == 0
}

// Distance is how far a share q of the numbers of the octaves that stand out are from a centre at
// most, and MeanDistance how far they are on average: at least what tells 0 from the first octave.
// Numbers lie evenly in their octave on the scale of logarithms.
func (o Octaves) Distance(centre int64, q float64) float64 {
	type at struct{ distance, count float64 }
	var all []at
	total := 0.0
	o.each(centre, func(distance, count float64) {
		all, total = append(all, at{distance, count}), total+count
	})
	slices.SortFunc(all, func(a, b at) int { return cmp.Compare(a.distance, b.distance) })
	for _, a := range all {
		if q -= a.count / total; q <= 0 {
			return max(a.distance, o.finest())
		}
	}
	return o.finest()
}

// MeanDistance is described at Distance.
func (o Octaves) MeanDistance(centre int64) float64 {
	sum, total := 0.0, 0.0
	o.each(centre, func(distance, count float64) { sum, total = sum+distance*count, total+count })
	return max(sum/max(total, 1), o.finest())
}

// finest is what tells 0 from the first octave.
func (o Octaves) finest() float64 { return math.Exp2(float64(o.search.floor)) }

// each calls visit with distances from a centre and how many numbers are at them.
func (o Octaves) each(centre int64, visit func(distance, count float64)) {
	const parts = 8
	for i := o.from; i <= o.to; i++ {
		count := o.counts[i]
		if count < o.search.noise.Sigma() {
			continue // as in About
		}
		lo, hi := o.search.ends(o.search.first + i)
		if lo == 0 && hi == 0 {
			visit(math.Abs(float64(centre)), count)
			continue
		}
		for k := range parts {
			x := lo * math.Pow(hi/lo, (float64(k)+0.5)/parts)
			visit(math.Abs(x-float64(centre)), count/parts)
		}
	}
}

// OneSign reports whether all octaves that stand out are on one side of 0, or at it.
func (o Octaves) OneSign() bool {
	return o.search.first+o.from >= 0 || o.search.first+o.to <= 0
}

// lower and upper are the ends of what is taken for occupied. An outer octave that has fewer
// persons than the next one is taken to have them near that.
func (o Octaves) lower() float64 {
	lo, hi := o.search.ends(o.search.first + o.from)
	return hi - (hi-lo)*o.filled(o.from, o.from+1)
}

func (o Octaves) upper() float64 {
	lo, hi := o.search.ends(o.search.first + o.to)
	return lo + (hi-lo)*o.filled(o.to, o.to-1)
}

// filled is the part of an outer octave that its persons are taken to reach.
func (o Octaves) filled(outer, next int) float64 {
	if o.from == o.to || o.counts[outer] >= o.counts[next] {
		return 1
	}
	return max(leastFilled, o.counts[outer]/o.counts[next])
}

// leastFilled is the least part of an octave that is taken for filled.
const leastFilled = 0.25

func sign(x float64) float64 { return math.Copysign(1, x) }
