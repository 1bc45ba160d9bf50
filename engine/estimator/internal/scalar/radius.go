package scalar

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

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
