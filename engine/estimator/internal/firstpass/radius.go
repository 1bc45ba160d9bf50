package firstpass

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// RadiusPer is the number of radii an octave: norms in high dimension lie close together, and a
// radius 4 % too large is 4 % more noise.
const RadiusPer = 16

// RadiiPer is the number of radii an octave for norms of d coordinates: a quarter of their relative
// standard deviation 1/√(2d) about, so that most of the data are in some twelve buckets, also in
// one dimension.
func RadiiPer(dim int) int { return min(max(int(2*math.Sqrt(float64(dim))), 4), RadiusPer) }

// BulkBuckets is the number of buckets that hold most of the data.
const BulkBuckets = 12

// FarZ, NearZ: a window of empty buckets far above the data passes for a tail once in 10^9 (there
// may be ten thousand of them, and a radius far too large cannot be mended), one of the octave next
// to the data once in 3·10^5.
const (
	FarZ  = 6
	NearZ = 4.5
)

// Radius chooses a clipping radius from noisy counts of norms: the upper edge of the bucket above
// which about target persons are left.
//
// The top of the data is found first: the highest window of 1, 2, 4, … buckets whose count stands
// out from the noise. What is above counts as empty. From there counts are added up downwards until
// they pass target. So about max(target, 6σ) persons are shortened: the tail search of [HLY21]
// section 3.2 asks T adaptive tail counts of variance T/(2ρ) instead, and has to leave out z(T,
// β)·√(T/(2ρ)), twice that or more. The number of buckets does not matter: only those below the top
// add their noise to the tail.
func (h Histogram) Radius(noisy []float64, target float64) float64 {
	r, _ := h.EdgeOf(noisy, target)
	return h.Edge(float64(r))
}

// EdgeOf returns the bucket whose upper edge has about target persons beyond it, and the noisy
// number at or beyond it.
func (h Histogram) EdgeOf(noisy []float64, target float64) (bucket int, tail float64) {
	top, ok := h.Top(noisy)
	if !ok {
		return top, 0 // too few persons for any choice
	}
	for i := top; i > 0; i-- {
		if tail += noisy[i]; tail > target {
			return i, tail
		}
	}
	return 0, tail
}

// Extended is Radius where the noise hides the tail: if k > target persons had to be seen before
// they stood out, the radius is made longer, as for a tail that goes on like that from the quarter
// farthest out to there, of index α:
//
//	radius·(k/target)^(1/(2α))     at most three times
//
// The exponent of such a tail would be 1/α; half of it is a compromise with tails that end, whose
// radius should not be touched. In high dimension, where norms lie close together, α is large and
// nothing happens. For log-normal data in one dimension it halves the error.
func (h Histogram) Extended(noisy []float64, target, count float64) float64 {
	far, k := h.EdgeOf(noisy, target)
	near, quarter := h.EdgeOf(noisy, count/4)
	r := h.Edge(float64(far))
	if k <= target || quarter <= k || near >= far || target <= 0 {
		return r
	}
	alpha := math.Log(quarter/k) / math.Log(r/h.Edge(float64(near)))
	return min(r*min(math.Pow(k/target, 1/(2*alpha)), 3), max(r, h.Edge(float64(h.Buckets-1))))
}

// Top returns the highest bucket that is taken for occupied. ok is false if no window stands out;
// then it is the upper end of the one that comes nearest to that.
func (h Histogram) Top(noisy []float64) (top int, ok bool) {
	best, score := 0, math.Inf(-1)
	for i := len(noisy) - 1; i >= 0 && score < FarZ*h.Sigma; i-- {
		if w, z := h.window(noisy, i, 4*h.Per, FarZ); z > score {
			best, score = i+w-1, z
		}
	}
	if score < FarZ*h.Sigma {
		return best, false
	}
	for i := min(best+h.Per, len(noisy)-1); i > best; i-- {
		if w, z := h.window(noisy, i, h.Per/2, NearZ); z >= NearZ*h.Sigma {
			return i + w - 1, true
		}
	}
	return best, true
}

// window returns the narrowest width w = 1, 2, 4, … ≤ widest for which the buckets i to i+w−1 hold
// at least z standard deviations of their noise, and that number over √w; if none does, the width
// for which that is greatest.
func (h Histogram) window(noisy []float64, i, widest int, z float64) (width int, score float64) {
	sum, score := 0.0, math.Inf(-1)
	for j, w := i, 1; j < len(noisy) && w <= widest; j++ {
		sum += noisy[j]
		if j-i+1 < w {
			continue
		}
		if x := sum / math.Sqrt(float64(w)); x > score {
			width, score = w, x
		}
		if score >= z*h.Sigma {
			break
		}
		w *= 2
	}
	return width, score
}

// TailTarget is the number of persons beyond the radius that balances bias and noise of the mean of
// the data: with noise of norm f·C·√(d/(2ρ₃)) it is K* = f·√(d/(2ρ₃)) [HLY21, Theorem 2], where the
// derivative of Σ(‖y‖−C)₊, which is the number of persons beyond C, equals that of the noise. f = 2
// gives the paper's √(2d/ρ).
func TailTarget(dim int, factor2 int64, rho float64) float64 {
	return math.Sqrt(float64(factor2) * float64(dim) / (2 * rho))
}

// RadiusShare is the share of a loss rho that the histogram of norms gets: enough that a window of
// 5σ is no more than the target or one person in a hundred; from 1 % to 10 %.
func RadiusShare(rho, target, count float64, r estimator.Relation) float64 {
	k := max(target, count/100)
	return min(max(25*float64(Delta2(r, false))/(2*rho*k*k), 0.01), 0.1)
}

// Octaves are public buckets for numbers v >= 0: bucket 0 holds v < 1, bucket i the numbers from
// 2^((i−1)/per) up to 2^(i/per), the last one also those above.
type Octaves struct{ Per, Buckets int }

// NewOctaves covers numbers up to limit.
func NewOctaves(per int, limit float64) Octaves {
	o := Octaves{Per: per, Buckets: 1 << 14}
	o.Buckets = o.Bucket(limit) + 1
	return o
}

// Bucket returns the number of the bucket that holds v: a function of v alone, whatever the
// logarithm's rounding.
func (o Octaves) Bucket(v float64) int {
	if !(v >= 1) {
		return 0
	}
	x := math.Log2(v) * float64(o.Per)
	if !(x < float64(o.Buckets)) {
		return o.Buckets - 1
	}
	return min(1+int(x), o.Buckets-1)
}

// Edge returns the upper end of bucket i.
func (o Octaves) Edge(i float64) float64 { return math.Exp2(i / float64(o.Per)) }

// Histogram is a noisy histogram of one number a person, or one a group of a secret matching, over
// octaves.
//
// A person is in one bucket. One who comes or goes changes one count by 1, one who is exchanged
// two: the squared ℓ2 sensitivity is 1 or 2, and 2 for groups in either relation (Match). Every
// bucket gets N_Z(0, ⌈that/(2ρ)⌉).
type Histogram struct {
	Octaves
	Rho    float64
	Delta2 int64
	Sigma2 noise.Variance // of a bucket's noise
	Sigma  float64        // its root; of pure histograms see NewPureHistogram
	pure   *big.Rat       // scale of Laplace noise in its place
}

// Delta2 is the squared ℓ2 sensitivity of a histogram of persons, or of matched groups.
func Delta2(r estimator.Relation, groups bool) int64 {
	if groups || r == estimator.ReplaceOne {
		return 2
	}
	return 1
}

// NewHistogram returns the histogram over o with the squared sensitivity delta2 (Delta2) and the
// loss rho.
func NewHistogram(o Octaves, delta2 int64, rho float64) Histogram {
	v := scalar.SmallSigma2(1, delta2, rho)
	return Histogram{Octaves: o, Rho: rho, Delta2: delta2, Sigma2: v, Sigma: scalar.Root(v.Big())}
}

// NewPureHistogram is NewHistogram at ε = eps, δ = 0, a finite eps > 0. One person, or one group,
// changes delta2 counts by 1 each: that is also the ℓ1 sensitivity, and every bucket gets
// Lap_Z(delta2/ε), exactly.
//
// Sigma is then not the noise's standard deviation but twice that, 2.9 scales: an empty bucket
// passes BulkZ of them once in four million, as one with normal noise does, and FarZ once in
// 7·10^7.
func NewPureHistogram(o Octaves, delta2 int64, eps float64) Histogram {
	scale := new(big.Rat).SetInt64(delta2)
	scale.Quo(scale, new(big.Rat).SetFloat64(eps))
	return Histogram{Octaves: o, Delta2: delta2, Sigma: PureSigma * float64(delta2) / eps, pure: scale}
}

// PureSigma is Sigma of a pure histogram in scales of its noise.
const PureSigma = 2.9

// Release returns the noisy counts.
func (h Histogram) Release(n noise.Noiser, values []float64) []float64 {
	counts := make([]int64, h.Buckets)
	for _, v := range values {
		counts[h.Bucket(v)]++
	}
	return h.ReleaseCounts(n, counts)
}

// ReleaseCounts returns noisy counts, of which there is one a bucket.
func (h Histogram) ReleaseCounts(n noise.Noiser, counts []int64) []float64 {
	noisy := make([]float64, h.Buckets)
	for i, c := range counts {
		if h.pure == nil {
			noisy[i] = float64(n.GaussianInt(c, h.Sigma2))
		} else {
			noisy[i], _ = new(big.Float).SetInt(n.Laplace(big.NewInt(c), h.pure.Num(), h.pure.Denom())).Float64()
		}
	}
	return noisy
}

// Quantile reads a quantile of count numbers off noisy counts. Only the bulk is looked at: the
// buckets whose count stands out from the noise; the answer is interpolated within a bucket, in the
// logarithm. Where less than six in ten of the numbers stand out, neighbouring buckets are taken
// together, two, four and so on, up to an octave; where that does not do, the bulk is the fullest
// three octaves, which hold three quarters of the distances of normal numbers.
func (h Histogram) Quantile(noisy []float64, count, q float64) float64 {
	if v, ok := h.bulk(noisy, count, q); ok {
		return v
	}
	return h.within(noisy, fullest(noisy, 3*h.Per, func(int) float64 { return 0 }), q)
}

// QuantileAbout is Quantile of distances from a number of size about. Where the bulk does not stand
// out, it is the most likely three octaves by the noise and by what distances usually are: from a
// sixteenth of about to twice as much, and half as likely with each octave farther from that.
func (h Histogram) QuantileAbout(noisy []float64, count, q, about float64) float64 {
	if v, ok := h.bulk(noisy, count, q); ok {
		return v
	}
	variance := 3 * float64(h.Per) * h.Sigma * h.Sigma
	high := math.Log2(max(about, 1)) + 1
	return h.within(noisy, fullest(noisy, 3*h.Per, func(first int) float64 {
		end := float64(first)/float64(h.Per) + 3
		far := max(0, end-high, high-5-end)
		return -far * math.Ln2 * variance / max(count, 1)
	}), q)
}

// bulk returns the quantile of the counts that stand out, if they are most.
func (h Histogram) bulk(noisy []float64, count, q float64) (v float64, ok bool) {
	for width := 1; width <= h.Per; width *= 2 {
		at, share := placed(together(noisy, width), BulkZ*h.Sigma*math.Sqrt(float64(width)), q)
		if share >= 0.6*count {
			return h.Edge(max(0, float64(width)*(at-1))), true
		}
	}
	return 0, false
}

// within is the quantile of the counts of three octaves from bucket first.
func (h Histogram) within(noisy []float64, first int, q float64) float64 {
	at, _ := placed(noisy[first:min(first+3*h.Per, len(noisy))], 0, q)
	return h.Edge(max(0, float64(first)+at-1))
}

// fullest returns the beginning of the window of so many buckets that holds most, with what is
// added for where it begins.
func fullest(noisy []float64, width int, more func(first int) float64) int {
	sum, best, at := 0.0, math.Inf(-1), 0
	for i, c := range noisy {
		if sum += c; i >= width {
			sum -= noisy[i-width]
		}
		first := max(0, i-width+1)
		if s := sum + more(first); s > best {
			best, at = s, first
		}
	}
	return at
}

// Together adds up runs of width buckets: those that end at the buckets 0, width, 2·width, …
func (o Octaves) Together(noisy []float64, width int) []float64 { return together(noisy, width) }

func together(noisy []float64, width int) []float64 {
	sums := make([]float64, (len(noisy)+2*width-2)/width)
	for i, c := range noisy {
		sums[(i+width-1)/width] += c
	}
	return sums
}

// placed returns the place, in buckets, that has a share q of the counts under it, and their sum.
// Counts under z do not count: noise in many empty buckets between two that stand out, one of them
// by mistake, would.
func placed(counts []float64, z, q float64) (at, total float64) {
	kept := make([]float64, len(counts))
	for i, c := range counts {
		if c >= z {
			kept[i] = max(0, c)
			total += kept[i]
		}
	}
	want, i := q*total, 0
	for ; i < len(kept)-1 && want > kept[i]; i++ {
		want -= kept[i]
	}
	return float64(i) + min(1, want/max(1, kept[i])), total
}

// BulkZ: an empty bucket passes once in 3.5 million.
const BulkZ = 5

// Rounds is the number of halvings that leave one bucket.
func (o Octaves) Rounds() int { return max(1, int(math.Ceil(math.Log2(float64(o.Buckets))))) }

// NormsPer is the number of buckets per octave for norms of d coordinates. Norms of independent
// normal coordinates have a relative standard deviation of 1/√(2d): the buckets are two thirds of
// that, so that more can be told from their width.
func NormsPer(dim int) int { return min(max(4, int(1.5*math.Sqrt(float64(dim)))), 64) }

// Share is the share of a loss rho for a histogram of count numbers of which the fullest bucket
// has, say, a tenth: that bucket should be 10 standard deviations. From 0.2 % to 4 %, and more in
// low dimension, where the sum has little noise and the number of persons that the look needs is
// what counts.
func Share(rho, count float64, delta2 int64, dim int) float64 {
	s := max(1, count/100)
	return min(max(float64(delta2)/(2*rho*s*s), LeastShare), 0.04+0.1/float64(dim))
}

// LeastShare is the least share of a histogram.
const LeastShare = 0.002

// MostPairs bounds the matched pairs of a spread: more would not make it better.
const MostPairs = 1 << 14

// PairsOf is the number of matched pairs of count persons.
func PairsOf(count float64) float64 { return min(math.Floor(count/2), MostPairs) }

// Farthest is a number that no distance of two vectors within the range passes.
func Farthest(lo, hi int64, dim int) float64 {
	return float64(hi-lo+1) * math.Sqrt(float64(dim))
}

// Distances returns the distances of matched persons. It works on two pairs at a time, as each
// addition waits for the last.
func Distances(b *estimator.Block, pairs []int32) []float64 {
	r, out := NewReader(b), estimator.Make[float64](b.Memory, len(pairs)/2)
	for g := 0; g < len(out); g += 2 {
		h := min(g+1, len(out)-1)
		out[g], out[h] = r.twoDistances(pairs[2*g:2*g+2], pairs[2*h:2*h+2])
	}
	return out
}

// twoDistances returns the distances of two pairs.
func (r Reader) twoDistances(one, other []int32) (float64, float64) {
	x, y := r.Vector(int(one[0])), r.Vector(int(one[1]))
	z, w := r.Vector(int(other[0])), r.Vector(int(other[1]))
	y, z, w = y[:len(x)], z[:len(x)], w[:len(x)]
	p, q := 0.0, 0.0
	for j, v := range x {
		d, e := float64(v-y[j]), float64(z[j]-w[j])
		p += float64(d * d)
		q += float64(e * e)
	}
	return math.Sqrt(p), math.Sqrt(q)
}
