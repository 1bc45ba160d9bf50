package person

import (
	"math"
	"math/big"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/partition"
)

// buckets cut an interval of integers into pieces of one width that start at multiples of it.
// Numbers outside count as the nearest end.
type buckets struct {
	lo, hi int64
	width  int64
	first  int64 // lo's piece, counted from that of 0
	count  uint64
}

// newBuckets covers [lo, hi] within ±2^61, width ≥ 1.
func newBuckets(lo, hi, width int64) buckets {
	b := buckets{lo: lo, hi: hi, width: width, first: floor(lo, width)}
	b.count = uint64(floor(hi, width)-b.first) + 1
	return b
}

// floor is ⌊x/width⌋.
func floor(x, width int64) int64 {
	q := x / width
	if x%width < 0 {
		q--
	}
	return q
}

// of returns the number of x's bucket.
func (b buckets) of(x int64) uint64 { return uint64(floor(min(max(x, b.lo), b.hi), b.width) - b.first) }

// middle returns the middle of a bucket, within the interval.
func (b buckets) middle(k uint64) int64 {
	return min(max((b.first+int64(k))*b.width+b.width/2, b.lo), b.hi)
}

// chooser picks a coordinate's bucket from all persons' buckets, in ascending order. Tests put
// forced choices in its place.
type chooser interface {
	choose(n noise.Noiser, m estimator.Memory, sorted []uint64) (bucket uint64, ok bool)
}

// coarse is CoarseEstimate [AKM25, appendix A.5]: RangeEstimator (Algorithm 1) on every coordinate.
// It returns for each the middle of a bucket that nearly as many persons are in as in any.
//
// RangeEstimator's histogram has one bucket a person. [AKM25] Lemma 2.8 adds noise to every bucket,
// which is ε-DP but endless work where the range is wide, or to the full ones only, which needs δ.
// The exponential mechanism on the counts (exponential.Fullest) has the same error,
// ln(buckets/β)/ε, and takes all empty buckets between two full ones as one category: 2^61 buckets
// cost as much as n. So a range is always finite here: without Radius it is the public range of the
// grid, at most 2^61 units, whose logarithm of 43 is what it costs in persons. The stability
// histogram of the paper is there for a declared δ (Params.Delta).
//
// Sensitivity of one coordinate: a person is in one bucket, so one more or less changes one count
// by 1, and one exchanged two counts: range 1 or 2. Every coordinate has a d-th of the loss. The
// paper has r' = r/√d on a coordinate, too; 2r' is then its error, and 2r the vector's.
type coarse struct {
	buckets
	pick chooser
}

// release returns the centre. persons is a block without Rows.
func (c coarse) release(n noise.Noiser, b *estimator.Block) []int64 {
	centre := make([]int64, b.Dim)
	columns := make([][]uint64, min(b.Dim, 2*runtime.GOMAXPROCS(0)))
	for from := 0; from < b.Dim; from += len(columns) {
		columns = columns[:min(len(columns), b.Dim-from)]
		c.fill(columns, b, from)
		for k, sorted := range columns {
			centre[from+k] = min(max(0, c.lo), c.hi)
			if bucket, ok := c.pick.choose(n, b.Memory, sorted); ok {
				centre[from+k] = c.middle(bucket)
			}
		}
	}
	return centre
}

// fill sets columns to the sorted buckets of the coordinates from from on, a coordinate a
// goroutine.
func (c coarse) fill(columns [][]uint64, b *estimator.Block, from int) {
	var all fork.Group
	for k := range columns {
		all.Go(func() {
			out := columns[k][:0]
			if out == nil {
				out = estimator.Make[uint64](b.Memory, int(b.Persons()))[:0]
			}
			for i := range b.Chunks {
				for x := b.Chunks[i].Dense; len(x) > 0; x = x[b.Dim:] {
					out = append(out, c.of(x[from+k]))
				}
			}
			slices.Sort(out)
			columns[k] = out
		})
	}
	all.Wait()
}

// fullest chooses by the exponential mechanism.
type fullest struct{ exponential.Fullest }

func newFullest(l law, buckets uint64, loss float64) chooser {
	return fullest{l.fullest(buckets, loss)}
}

func (f fullest) choose(n noise.Noiser, m estimator.Memory, sorted []uint64) (uint64, bool) {
	return f.Choose(n, m, sorted), true
}

// newCoarse returns the coarse estimate for a shape at a loss, of the public range cut to ±(R + 2r)
// where R is declared.
func (m mean) newCoarse(s shape, loss float64) coarse {
	width := integer(s.width())
	if m.p.Delta > 0 {
		return coarse{newBuckets(-farEnd, farEnd, width), newStability(m.p, loss)}
	}
	b := m.rangeBuckets(width)
	return coarse{b, m.pick(m.law, b.count, loss)}
}

// rangeBuckets are the buckets of the range that the mean is in.
func (m mean) rangeBuckets(width int64) buckets {
	lo, hi := m.lo, m.hi
	if m.p.Radius > 0 {
		r := integer(min(m.units(m.p.Radius), 0x1p60)) + 2*min(width, 1<<59)
		if a, b := max(lo, -r), min(hi, r); a <= b {
			lo, hi = a, b
		}
	}
	return newBuckets(lo, hi, width)
}

// farEnd is beyond any person's mean in units.
const farEnd = 1 << 61

// integer rounds a length up to a whole number of units, from 1 to 2^61.
func integer(x float64) int64 { return int64(math.Ceil(min(max(x, 1), farEnd))) }

// coarseNeed is the loss of a coarse estimate that is off by no more than 2r in all coordinates but
// for a probability of 5 %, with count persons: the fullest bucket stands out by standOut·count,
// and the choice is within ln(buckets·d/0.05)/rate of the fullest. A stability histogram has its
// threshold in place of that.
func (m mean) coarseNeed(count, buckets float64) float64 {
	if m.p.Delta > 0 {
		z := math.Sqrt(2*math.Log(float64(m.p.Dim)/min(m.p.Delta, 0.05))) + 2
		sigma := max(standOut*count-1, 1e-9) / z
		return float64(m.p.Dim) * m.law.factor() / (2 * sigma * sigma)
	}
	return m.law.rateLoss(m.rateNeed(buckets) / count)
}

// rateNeed is the number of persons times the rate of a choice that are enough.
func (m mean) rateNeed(buckets float64) float64 {
	return math.Log(buckets*float64(m.p.Dim)/0.05) / standOut
}

// laplaceScale returns moved/loss as an exact fraction.
func laplaceScale(moved *big.Int, loss float64) *big.Rat {
	t := new(big.Rat).SetInt(moved)
	return t.Quo(t, new(big.Rat).SetFloat64(loss))
}

// units turns a value into units.
func (m mean) units(v float64) float64 {
	return min(math.Ldexp(v/scalar.Scale(m.p.Grid, 1), int(m.shift)), 0x1p200)
}

// stability is the (ε, δ) histogram of [AKM25] Lemma 2.8 in its zCDP form, for ranges without
// bounds: noise is added to the counts of the buckets that somebody is in, those under a threshold
// are dropped, and the fullest of the others is taken. If none is left there is no answer, and the
// middle of the public range stands for it.
//
//	σ² = ⌈s/(2ρ')⌉, s = 1 under add-remove and 2 under replace-one, ρ' = ρ/d;  keep b ⇔ c_b + N_Z(0, σ²) ≥ threshold
//
// Loss: that of partition.Selection with one key a person, whose threshold is used: counts of
// buckets that both neighbours have cost ρ', one that only one of them has holds one person and
// passes with probability δ' = δ/d at most. That is δ'-approximate ρ'-zCDP of [BS16] Definition
// 8.1, also where the noisy counts of the kept buckets are shown, as the argument does not look at
// what is done with them. d coordinates add up to ρ and δ. How many draws are made depends on data,
// which that definition allows; they come in the order of buckets, not in that of persons.
type stability struct {
	sigma2    noise.Variance
	threshold int64
}

func newStability(p Params, loss float64) stability {
	rho := loss / float64(p.Dim) * (1 - 1e-12)
	moved := p.Relation.Factor()
	s := stability{sigma2: scalar.SmallSigma2(1, moved, rho), threshold: 1 << 62}
	selection, err := partition.New(partition.Params{Rho: rho, Delta: p.Delta / float64(p.Dim) * (1 - 1e-12), MaxGroups: 1, Relation: p.Relation})
	if err == nil { // else no number of persons passes
		s.threshold = selection.Threshold()
	}
	return s
}

func (s stability) choose(n noise.Noiser, _ estimator.Memory, sorted []uint64) (bucket uint64, ok bool) {
	best := s.threshold - 1
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if c := n.GaussianInt(int64(j-i), s.sigma2); c > best {
			best, bucket, ok = c, sorted[i], true
		}
		i = j
	}
	return bucket, ok
}

// What is not declared is looked at: how many rows persons have, and how far their means are apart.

// rowsPer is the number of buckets an octave of numbers of rows: m enters radii by a root of it.
const rowsPer = 4

// per is the number of buckets an octave, half of that for pure histograms: Laplace noise in many
// buckets hides a bulk sooner.
func (l law) per(buckets int) int {
	if l.pure {
		return buckets / 2
	}
	return buckets
}

// bulk is the number of buckets that hold most of the data.
func (l law) bulk() float64 { return float64(l.per(firstpass.BulkBuckets)) }

// rowsQuantile is the quantile of the persons' numbers of rows that stands for m: most persons have
// as many or more, so that their means vary no more than the radii allow for; with a lower one a
// few persons with a row each would decide the noise of all.
const rowsQuantile = 0.2

// learnsRows, learnsSpread report whether m and τ are looked at.
func (p Params) learnsRows() bool   { return p.Rows == 0 }
func (p Params) learnsSpread() bool { return p.Sigma == 0 }

// mostRows is a public number that no m passes.
func (p Params) mostRows() float64 {
	if p.MaxRows > 0 {
		return min(float64(p.MaxRows), maxRows)
	}
	return maxRows
}

// rows releases m: what is declared, or the quantile from a noisy histogram of numbers of rows, one
// number a person: one who comes or goes changes one count by 1, one who is exchanged two.
func (m mean) rows(n noise.Noiser, b *estimator.Block, count float64, left *budget) float64 {
	if !m.p.learnsRows() {
		return m.p.Rows
	}
	h := m.law.histogram(m.rowOctaves(), false, left.take(m.rowsShare(count)))
	return min(max(1, math.Floor(h.Quantile(h.Release(n, rowsOf(b)), count, rowsQuantile))), m.p.mostRows())
}

func (m mean) rowOctaves() firstpass.Octaves {
	return firstpass.NewOctaves(m.law.per(rowsPer), m.p.mostRows())
}

// rowsOf lists the persons' numbers of rows.
func rowsOf(b *estimator.Block) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))[:0]
	for i := range b.Chunks {
		ch := &b.Chunks[i]
		for k := range ch.Persons {
			r := int64(1)
			if ch.Rows != nil {
				r = ch.Rows[k]
			}
			out = append(out, float64(r))
		}
	}
	return out
}

// spread releases τ: the declared σ₂/√m, or what the distances of secretly matched persons show.
// These are as those of two rows of standard deviation √2·τ a coordinate, so σ₂ = τ·√m then.
//
// τ is the largest of several quantiles of the distances, each over what it is for normal means
// with τ = 1 in all directions: √2 times a quantile of the χ law with d degrees of freedom. For
// normal means all are the same; where tails are heavy, or most persons agree and a few do not, the
// highest one is larger, as σ₂ is. In unequal directions it is the root of the mean of their
// squares.
//
// The paper takes all rows for independent and alike, so that the means' spread falls as 1/√m.
// Where persons differ it does not: what is looked at is the spread as it is.
//
// Sensitivity: firstpass.Match. One group at most is exchanged, dropped or added in either
// relation, so a histogram with one bucket a group moves by √2 in ℓ2, and by 2 in ℓ1.
func (m mean) spread(n noise.Noiser, b *estimator.Block, count, rows float64, left *budget) float64 {
	if !m.p.learnsSpread() {
		return max(m.units(m.p.Sigma)/math.Sqrt(rows), leastTau)
	}
	h := m.law.histogram(m.distanceOctaves(), true, left.take(m.spreadShare(count)))
	noisy := h.Release(n, firstpass.Distances(b, firstpass.Match(n, b.Memory, int(b.Persons()), 2, firstpass.MostPairs)))
	chi, pairs, tau := distuv.ChiSquared{K: float64(m.p.Dim)}, firstpass.PairsOf(count), leastTau
	see := func(q, distance float64) { tau = max(tau, distance/math.Sqrt(2*chi.Quantile(q))) }
	see(0.5, h.Quantile(noisy, pairs, 0.5))
	see(0.75, h.Quantile(noisy, pairs, 0.75))
	if _, ok := h.Top(noisy); ok {
		see(1-farPairs, h.Radius(noisy, farPairs*pairs))
	}
	return min(tau, farEnd)
}

// farPairs is the share of the pairs beyond the highest quantile, which is read from the top
// (firstpass.Histogram.Radius), since the tail does not stand out bucket by bucket: a few persons
// in a hundred who are unlike the others show.
const farPairs = 0.02

// leastTau is the least spread, in units: means are integers.
const leastTau = 0.25

func (m mean) distanceOctaves() firstpass.Octaves {
	return firstpass.NewOctaves(m.law.per(firstpass.NormsPer(m.p.Dim)), firstpass.Farthest(m.lo, m.hi, m.p.Dim))
}

// rowsShare, spreadShare are the shares of the loss for the looks with count persons, 0 where there
// is none.
func (m mean) rowsShare(count float64) float64 {
	if !m.p.learnsRows() {
		return 0
	}
	return m.lookShare(count, false)
}

func (m mean) spreadShare(count float64) float64 {
	if !m.p.learnsSpread() {
		return 0
	}
	return max(m.lookShare(firstpass.PairsOf(count)/finer, true), leastSpread)
}

// finer: the noise of the histogram of distances is a third of what makes its bulk clear, so that a
// tail of a few pairs in a hundred is seen.
const finer = 3

// leastSpread is the least share for the spread: with many persons, one in two hundred who is
// unlike the others is seen.
const leastSpread = 0.01

// lookShare is the share for a histogram of count numbers of which the fullest bucket has, say, a
// tenth: that bucket should be ten deviations, with at most mostLook of the loss.
func (m mean) lookShare(count float64, groups bool) float64 {
	moved := firstpass.Delta2(m.law.relation, groups)
	if m.law.pure {
		return min(max(100*firstpass.PureSigma*float64(moved)/(m.core*count), leastLook), mostLook)
	}
	return firstpass.Share(m.core, count, moved, m.p.Dim)
}

// Shares of a look under pure ε: ε falls with 1/n where ρ falls with 1/n².
const (
	leastLook = 0.01
	mostLook  = 0.2
)

// seen reports whether 70 % of count numbers stand out in a histogram of a share of the loss.
func (m mean) seen(count, share float64, groups bool) bool {
	return share == 0 || 0.7*count >= firstpass.BulkZ*math.Sqrt(m.law.bulk())*m.law.deviation(groups, share*m.core)
}
