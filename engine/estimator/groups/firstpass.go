package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// A mean's two columns count d² + (κm)² in the squared norm, so that the noise of the rows moves a
// mean that is κ from the centre as much as that of the differences does. For one mean of all rows
// half of that weight is best (mean.NewRowMean), where the centre is the mean's own; a group's mean
// differs from the centre of all, and a group of few rows is answered by its number of rows. κ >=
// 1, so a person with a row has a norm of at least 1.
//
// Of skewed values the differences' own radius D is many κ, set by few persons. With weight w² the
// noise of a mean that is r from the centre has a variance in proportion to (D² + w²)·(1 + r²/w²),
// which is least at w = √(r·D): with r a third of κ that is κ·√(D/3κ), where it is more than κ.

// spreadQuantile is the quantile of the persons' spreads that κ is; it is their mean where that is
// greater, as it is of heavy tails, up to spreadMost times the quantile. A row weighs as much as
// √(D/(farKappa·κ)) of κ, from one to weightMost.
const (
	spreadQuantile = 0.75
	spreadMost     = 4
	farKappa       = 3
	weightMost     = 4
)

// search holds the looks at one part: losses 0 where there is none.
type search struct {
	part
	centre scalar.Centred      // of a mean
	spread firstpass.Histogram // of a mean
	coarse scalar.Coarse       // both of them for fewer persons
	scale  firstpass.Histogram // of a part among others
}

// spreadPer is the number of buckets an octave of the spreads: κ is only a weight.
const spreadPer = 4

// Of fewer persons than the search for a centre needs, centre and κ are read off one histogram of
// the signed octaves of persons' means, which has the loss of both searches (scalar.Coarse). Which
// of both it is follows from the released number of persons.

// few reports whether so many persons are too few to search for a centre and for κ one after the
// other.
func (s search) few(count float64) bool { return count < float64(s.least()) }

// least is the number of persons from which on they are searched for.
func (s search) least() int64 {
	return max(s.centre.MinPersons(), int64(math.Ceil(firstpass.NearZ*s.spread.Sigma)))
}

// findCoarsely releases centre and κ by octaves; ok is false where no octave stands out. κ is the
// quantile of the distances of persons' means, or their mean where that is greater.
func (s search) findCoarsely(n noise.Noiser, l layout, b *estimator.Block) (c centring, ok bool) {
	rows, sums := l.totals(b, s.part)
	defer estimator.Free(b.Memory, rows)
	defer estimator.Free(b.Memory, sums)
	means := s.centre.All(b.Memory, rows, sums)
	defer estimator.Free(b.Memory, means)
	octaves, ok := s.coarse.Release(n, means)
	if !ok {
		return c, false
	}
	c.centre, _, _ = octaves.About()
	c = s.within(c.centre)
	c.kappa = max(octaves.Distance(c.centre, spreadQuantile), octaves.MeanDistance(c.centre))
	if s.declared() {
		c.kappa = min(c.kappa, s.reached().kappa)
	}
	c.weight = c.kappa
	return c, true
}

// within is the centring at a centre that is found.
func (s search) within(centre int64) centring {
	if !s.declared() {
		return centring{centre: centre}
	}
	return centring{centre: centre, reach: max(1, centre-s.means.Lo, s.means.Hi-centre)}
}

// reached returns the public centring of a mean with declared bounds, whose κ reaches both.
func (s search) reached() centring {
	centre, radius := s.means.Middle()
	radius = max(1, radius)
	return centring{centre: centre, reach: radius, kappa: float64(radius), weight: float64(radius)}
}

// findCentre releases the median of the persons' means, one number a person: its rows in all groups
// together.
//
// One person more or less moves the median's centred rank by 1, one exchanged by 2
// (scalar.Bisection).
func (s search) findCentre(n noise.Noiser, l layout, b *estimator.Block) centring {
	rows, sums := l.totals(b, s.part)
	defer estimator.Free(b.Memory, rows)
	defer estimator.Free(b.Memory, sums)
	c, _ := s.centre.Search(n, b.Memory, rows, sums)
	return s.within(c)
}

// totals returns the number of rows of each person in all groups together, and the sum of their
// values, within ±2^50.
func (l layout) totals(b *estimator.Block, p part) (rows, sums []int64) {
	rows, sums = estimator.Make[int64](b.Memory, int(b.Persons())), estimator.Make[int64](b.Memory, int(b.Persons()))
	within := func(x int64) int64 { return min(max(x, -estimator.MaxUnits), estimator.MaxUnits) }
	block.EachPerson(b, func() (func(int, block.Person), func()) {
		x := make([]int64, l.width)
		var count, sum int64
		visit := func(_ int, x []int64) {
			if m := l.rows(x[p.first+1]); m > 0 {
				count, sum = min(count+m, estimator.MaxUnits), within(sum+within(x[p.first]))
			}
		}
		return func(i int, p block.Person) {
			count, sum = 0, 0
			l.groups(p, x, visit)
			rows[i], sums[i] = count, sum
		}, func() {}
	})
	return rows, sums
}

// findSpread releases κ: a quantile, or the mean, of ‖differences‖/‖rows‖ over groups, one number a
// person, of persons with a row; and what the rows weigh, as a difference of them that counts as
// much.
func (s search) findSpread(n noise.Noiser, l layout, v measured, centre centring, count float64, c cost) (kappa, weight float64) {
	spreads := estimator.Make[float64](v.Memory, len(v.squares)/l.width)[:0]
	defer func() { estimator.Free(v.Memory, spreads) }()
	for q := v.squares; len(q) > 0; q = q[l.width:] {
		if m := q[s.first+1]; m > 0 {
			spreads = append(spreads, math.Sqrt(q[s.first]/m))
		}
	}
	noisy := s.spread.Release(n, spreads)
	usual := s.spread.QuantileAbout(noisy, max(count, 1), spreadQuantile, math.Abs(float64(centre.centre)))
	most, top, seen := math.Inf(1), 0, false
	if s.declared() {
		most = s.reached().kappa
	}
	kappa = min(max(1, usual), most)
	if top, seen = s.spread.Top(noisy); !seen {
		return kappa, kappa
	}
	kappa = min(max(kappa, min(s.mean(noisy[:top+1]), spreadMost*usual)), most)
	far, ok := c.radius(s.spread, noisy, s.spread.Edge(float64(s.spread.Buckets)))
	if !ok {
		return kappa, kappa
	}
	return kappa, min(kappa*min(max(1, math.Sqrt(far.radius/(farKappa*kappa))), weightMost), most)
}

// mean is that of the spreads by noisy counts.
func (s search) mean(noisy []float64) float64 {
	count, sum := 0.0, 0.0
	for i, c := range noisy {
		count, sum = count+c, sum+c*s.spread.Edge(float64(i)-0.5)
	}
	return sum / max(count, 1)
}

// findScale releases the radius that a part would have alone; ok is false if no norm stands out. A
// mean then has that of a row twice as far as its rows weigh: a scale is only a weight.
func (s search) findScale(n noise.Noiser, l layout, v measured, weights []float64, c cost, limit float64) (radius float64, ok bool) {
	own := make([]float64, l.width)
	copy(own[s.first:], weights[s.first:s.first+s.Measure.Columns()])
	norms := l.norms(v.Memory, v.squares, own)
	defer estimator.Free(v.Memory, norms)
	found, ok := c.radius(s.scale, releaseOf(n, s.scale, v.Memory, norms), limit)
	if !ok && s.Measure.mean() {
		return min(2*math.Sqrt(own[s.first+1]), limit), true
	}
	return found.radius, ok
}

// present are the norms that are not 0, of persons who have something to be clipped. They are told
// a millionth shorter, so that norms of 1, √2, 2, … as counts have, are at the upper ends of their
// buckets, and a radius there leaves them whole. They lie in memory from m.
func present(m estimator.Memory, norms []float64) []float64 {
	out := estimator.Make[float64](m, len(norms))[:0]
	for _, v := range norms {
		if v > 0 {
			out = append(out, v*(1-0x1p-20))
		}
	}
	return out
}

// releaseOf releases the histogram of the norms that are present; m is for them.
func releaseOf(n noise.Noiser, h firstpass.Histogram, m estimator.Memory, norms []float64) []float64 {
	told := present(m, norms)
	defer estimator.Free(m, told)
	return h.Release(n, told)
}

// spread repeats the columns' weights for all groups.
func (l layout) spread(columns []float64) []float64 {
	out := make([]float64, l.dim)
	for j := range out {
		out[j] = columns[j%l.width]
	}
	return out
}

// weights returns the columns' weights before scales, given those of the rows of means.
func (l layout) weights(rows []float64) []float64 {
	w := make([]float64, l.width)
	for k, p := range l.parts {
		w[p.first] = 1
		if p.Measure.mean() {
			w[p.first+1] = rows[k] * rows[k]
		}
	}
	return w
}

// farthest is a norm that no person's entries of a part pass, for persons in at most groups groups,
// or 2^64.
func (l layout) farthest(p part, groups float64) float64 {
	most := math.Inf(1)
	switch {
	case p.Measure == Persons:
		most = 1
	case p.Measure == Rows:
		most = float64(l.maxRows)
	case p.Measure == Sum:
		most = float64(p.total.farthest())
	case p.declared(): // a difference reaches twice as far as κ at most
		_, radius := p.means.Middle()
		most = math.Sqrt(5) * float64(max(1, radius))
		if p.Measure == RowMean {
			most *= float64(l.maxRows)
		}
	}
	return min(max(1, most)*math.Sqrt(max(1, groups)), 0x1p64) * (1 + 0x1p-20)
}
