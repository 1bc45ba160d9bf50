package groups

import (
	"math"
	"math/big"

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
// greater, as it is of heavy tails, up to spreadMost times the quantile where that is not at the
// centre, as it is where most persons have one value. A row weighs as much as √(D/(farKappa·κ)) of
// κ, from one to weightMost.
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
	mean := s.mean(noisy[:top+1])
	if usual > 1 {
		mean = min(mean, spreadMost*usual)
	}
	kappa = min(max(kappa, mean), most)
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

// The block is read once for all that looks and the sum need, and prepared entries are kept
// nowhere: they are made as they are read. What is kept is the sum of the vectors as they are, and
// for each person the squares of each column, from which norms by any weights of columns come. The
// sum of clipped vectors is then the first sum less what clipping takes away, and only persons
// beyond the radius are read again.

// measured is what one reading of all persons tells.
type measured struct {
	*estimator.Block
	centres []centring
	whole   *block.Exact // Σ_i y_i
	squares []float64    // person i's Σ_g y² of column c at i·width + c
}

// vectors are persons' prepared entries with weights of the coordinates and the norms by them.
type vectors struct {
	measured
	weights, norms []float64
}

// reading makes the prepared entries of one person at a time, for one core.
type reading struct {
	*layout
	centres []centring
	x, y    []int64
	visit   func(at int, y []int64) // with the entries of a group and the first one's index
	each    func(g int, x []int64)  // group, made once
}

func (l *layout) reading(centres []centring, visit func(at int, y []int64)) *reading {
	r := &reading{layout: l, centres: centres, x: make([]int64, l.width), y: make([]int64, l.width), visit: visit}
	r.each = r.group
	return r
}

func (r *reading) person(p block.Person) { r.groups(p, r.x, r.each) }

func (r *reading) group(g int, x []int64) {
	r.prepare(r.y, x, r.centres)
	r.visit(g*r.width, r.y)
}

// measure reads a block with the centres of the parts that are means.
func (l *layout) measure(b *estimator.Block, centres []centring) measured {
	m := measured{b, centres, block.NewExact(l.dim), estimator.Make[float64](b.Memory, int(b.Persons())*l.width)}
	block.EachPerson(b, func() (func(int, block.Person), func()) {
		own, squares := block.NewExact(l.dim), []float64(nil)
		r := l.reading(centres, func(at int, y []int64) {
			for c, v := range y {
				squares[c] += float64(float64(v) * float64(v))
			}
			own.AddAt(at, y)
		})
		return func(i int, p block.Person) {
			squares = m.squares[i*l.width : (i+1)*l.width : (i+1)*l.width]
			r.person(p)
		}, func() { m.whole.AddAll(own) }
	})
	return m
}

// norms returns ‖y‖_w of each person for weights of the columns, rounded up; +Inf where it is not
// finite. It is a function of one person at a time.
//
// With half unit u = 2^-53 the square of an entry is off by at most 3u of itself (integers above
// 2^53 are rounded too), a column's sum by as many u as there are groups, and the products, their
// sum and the root by 2 + width more: together less than the (dim+16)·2^-50 = 8(dim+16)u that is
// added.
func (l *layout) norms(m estimator.Memory, squares, weights []float64) []float64 {
	out, slack := estimator.Make[float64](m, len(squares)/l.width), l.slack()
	for i := range out {
		q := 0.0
		for c, s := range squares[i*l.width : (i+1)*l.width] {
			q += float64(weights[c] * s)
		}
		out[i] = root(float64(q * slack))
	}
	return out
}

// normsBy is norms for weights of the coordinates: the block is read again. The error is that of
// norms, with the products inside the sum.
func (m measured) normsBy(l *layout, weights []float64) []float64 {
	out, slack := estimator.Make[float64](m.Memory, int(m.Persons())), l.slack()
	block.EachPerson(m.Block, func() (func(int, block.Person), func()) {
		q := 0.0
		r := l.reading(m.centres, func(at int, y []int64) {
			for c, v := range y {
				q += float64(weights[at+c] * float64(float64(v)*float64(v)))
			}
		})
		return func(i int, p block.Person) {
			q = 0
			r.person(p)
			out[i] = root(float64(q * slack))
		}, func() {}
	})
	return out
}

func (l *layout) slack() float64 { return 1 + float64(l.dim+16)*0x1p-50 }

// root is √q, +Inf for what is not a number.
func root(q float64) float64 {
	if q = math.Sqrt(q); q != q {
		return math.Inf(1)
	}
	return q
}

// clipSum returns Σ_i a_i·y_i for every coordinate, exactly, with the factors a_i of block.ClipSum,
// in units of 2^-ClipBits:
//
//	2^ClipBits·Σ_i y_i − Σ_i (2^ClipBits − a_i)·y_i
//
// where the second sum has only those who are shortened. The integers are those of block.ClipSum on
// the prepared entries, and so is the bound: a_i/2^ClipBits·‖y_i‖_w ≤ radius, as norms are never
// under the true ones.
func (v vectors) clipSum(l *layout, radius float64) []*big.Int {
	less := block.NewExact(l.dim)
	block.EachPerson(v.Block, func() (func(int, block.Person), func()) {
		own, short := block.NewExact(l.dim), int64(0)
		r := l.reading(v.centres, func(at int, y []int64) {
			for c, x := range y {
				own.AddTimes(at+c, x, short)
			}
		})
		return func(i int, p block.Person) {
			if short = block.Shortening(v.norms[i], radius); short > 0 {
				r.person(p)
			}
		}, func() { less.AddAll(own) }
	})
	return v.whole.Less(less)
}

// Of many persons, the centres and spreads of means, and the profile, are those of a secret sample:
// each is in it with a probability that follows from the released number of persons, by a coin of
// its own. firstpass.Coins has the argument why that costs nothing.
//
// Scales and radii are not sampled: they are about the few persons with the longest vectors, of
// whom a sample would miss most.

// leastLooked persons have medians and quartiles within half a percent of the ranks. A centre
// enters the error to second order only, and κ is a weight.
const leastLooked = 1 << 15

// lookedTimes is how many times more persons are looked at than the searches want: their noise is
// then less than the sample's.
const lookedTimes = 32

// enoughLooked is the number of persons that do for the searches of centres and spreads, and for a
// profile; 0 if there are none.
func (r release) enoughLooked() float64 {
	size := 0.0
	if r.profile > 0 && r.counting {
		size = leastLooked
	}
	for _, s := range r.searches {
		if s.Measure.mean() {
			size = max(size, leastLooked, lookedTimes*float64(max(s.centre.MinPersons(), seen(s.spread))))
		}
	}
	return size
}

// some returns the persons whose centres, spreads and profile are looked at, of whom there are
// count by the released number. Where that is all, no coin is thrown.
func (r release) some(n noise.Noiser, in *estimator.Block, count float64) *estimator.Block {
	sides := firstpass.Sides(r.looked, count)
	if sides == firstpass.CoinSides {
		return in
	}
	coins := firstpass.Toss(n, in.Memory, in.Persons())
	kept := coins.Keep(in.Memory, sides)
	estimator.Free(in.Memory, coins)
	defer estimator.Free(in.Memory, kept)
	return block.SampleIn(in, kept)
}
