package firstpass

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

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
