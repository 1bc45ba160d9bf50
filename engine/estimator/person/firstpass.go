package person

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
)

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
