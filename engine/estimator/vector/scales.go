package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Scales of coordinates decide only how noise is shared between them, never the loss.

// normalMedian is the median of |Z| for a standard normal Z.
const normalMedian = 0.6744897501960817

// chiSquareMedian is the median of χ²_k/k: exact for k = 1, by Wilson and Hilferty's cube for more.
// (For k = 1 the cube gives 0.4705.)
func chiSquareMedian(k int) float64 {
	if k == 1 {
		return normalMedian * normalMedian
	}
	return math.Pow(1-2/(9*float64(k)), 3)
}

// scaleAxis has cells that grow by 1.4 on average, from the least scale that matters to twice the
// spread, the norm of all scales: (spread/4d) unless relative, since [ALP24] section 7 adds the
// mean of all scales, which is at least spread/d, to each. Half a cell is 20 % of a scale and costs
// 1 % of noise.
func (d dense) scaleAxis(spread float64) block.Axis {
	shift := 0
	if !d.p.Relative {
		shift = max(0, int(math.Floor(math.Log2(spread/(4*float64(d.p.Dim)))))-1)
	}
	return block.NewAxis(0, max(1, min(d.hi-d.lo, int64(min(2*spread, 0x1p62)))), shift, 1)
}

// scaleRounds are the rounds of a search on a scaleAxis of any spread, or a few more.
func (d dense) scaleRounds() int {
	octaves := math.Log2(8*float64(d.p.Dim)) + 2
	if d.p.Relative {
		octaves = math.Log2(float64(d.hi-d.lo) + 2)
	}
	return int(math.Ceil(math.Log2(2*octaves + 2)))
}

// scalesNeed is the share of the loss with which no search of a scale goes wrong for want of
// persons, and a quarter more of them.
func (d dense) scalesNeed(count float64) float64 {
	groups := count
	if d.p.Scale == Pairs {
		groups = max(1, math.Floor(count/float64(2*d.p.Pairs)))
	}
	return max(leastScales, d.scale.share(d.p.Dim, d.scaleRounds(), d.rho, groups/1.25))
}

// leastScales is the least share of the scales.
const leastScales = 0.01

// scaleShare is the share that the scales get: what they need, but they leave something for a
// centre.
func (d dense) scaleShare(count float64) float64 {
	return min(d.scalesNeed(count), mostPrepared-0.05)
}

// scales releases the scale of each coordinate, in units of the group, or takes the declared ones.
//
//	Direct   the median of |x_ij − c_j|, over 0.6745: of the normal law's spread
//	Pairs    [ALP24] Algorithm 2: persons are matched secretly in groups of 2k; y = √((1/k)·Σ (x−x')²/2) over the k pairs of a
//	         group; the median of y over the groups, over the root of χ²_k/k's median. A group's y is rounded to a whole unit
//
// What is under the first cell counts as half of it.
func (d dense) scales(n noise.Noiser, all lots, centre []int64, spread float64, left *budget) []float64 {
	if d.sigma != nil {
		return d.sigma
	}
	some := all.some(d.sizes.scales)
	b := some.Block
	axis, normal := d.scaleAxis(spread), normalMedian
	if d.p.Scale == Pairs {
		b, centre = paired(n, b, d.p.Pairs), nil
		normal = math.Sqrt(chiSquareMedian(d.p.Pairs))
	} else if centre == nil {
		centre = make([]int64, b.Dim)
	}
	floor := max(0.5, float64(axis.Value(1))/4)
	scales := make([]float64, b.Dim)
	for j, cell := range d.scale.cells(n, b, axis, centre, left.take(d.scaleShare(some.count))) {
		scales[j] = max(floor, float64(axis.Value(cell))) / normal
	}
	return scales
}

// paired returns a block with one vector a group of k secretly matched pairs: y_j = √((1/2k)·Σ (x_j
// − x'_j)²), rounded. A function of the group alone.
func paired(n noise.Noiser, b *estimator.Block, k int) *estimator.Block {
	persons := int(b.Persons())
	order := firstpass.Match(n, b.Memory, persons, 2*k, persons)
	groups, r := len(order)/(2*k), firstpass.NewReader(b)
	out := estimator.Make[int64](b.Memory, groups*b.Dim)
	sums := make([]float64, b.Dim)
	for g := range groups {
		clear(sums)
		for p := range k {
			x, y := r.Vector(int(order[2*(g*k+p)])), r.Vector(int(order[2*(g*k+p)+1]))
			for j, v := range x {
				diff := float64(v - y[j])
				sums[j] += float64(diff * diff)
			}
		}
		for j, q := range sums {
			out[g*b.Dim+j] = int64(math.Round(math.Sqrt(q / float64(2*k))))
		}
	}
	return &estimator.Block{Dim: b.Dim, Chunks: []estimator.Chunk{{Persons: groups, Dense: out}}, Memory: b.Memory}
}

// weights turns scales into the weights of the norm, w_j = s_j^−2 with s_j = σ̄_j^{2/(p+2)}, which
// minimises the p-norm of noise with standard deviations in proportion to s_j [ALP24, Lemma C.2];
// σ̄_j = σ_j + (1/d)Σσ [ALP24, section 7], or s_j = σ_j for relative errors. They are normalised so
// that the typical norm √Σ σ_j²·w_j, which is returned, is 2^20.
func (p Params) weights(scales []float64) []float64 {
	mean, exponent := 0.0, 2/(p.P+2)
	for _, s := range scales {
		mean += s / float64(len(scales))
	}
	if p.Relative {
		mean, exponent = 0, 1
	}
	w, typical := make([]float64, len(scales)), 0.0
	for j, s := range scales {
		w[j] = math.Pow((s+mean)/(scales[0]+mean), -2*exponent)
		typical += s * s * w[j]
	}
	for j := range w {
		w[j] = min(max(w[j]/typical*0x1p40, 0x1p-200), 0x1p200)
	}
	return w
}

// medians searches the medians of all coordinates of a block, of the values or of the distances
// from a centre. delta is the most by which one person moves the centred rank 2·#{x ≤ t} − #x of a
// coordinate:
//
//	add-remove       1: one value comes or goes
//	replace-one, or  2: one value is exchanged
//	matched groups
type medians struct {
	search Search
	delta  int64
}

func newMedians(p Params, groups bool) medians {
	m := medians{p.Search, p.Relation.Factor()}
	if groups {
		m.delta = 2
	}
	return m
}

// cells releases the cell of each coordinate's median at loss rho.
//
// Bisect ([HLY21] Algorithm 1 for every coordinate): each of T rounds asks every coordinate for
// 2·#{x ≤ mid} − n with noise σ² = ⌈T·d·delta²/(2ρ)⌉, so at most T·d answers of sensitivity delta;
// n enters only inside them. Exponential: the exponential mechanism at ρ/d a coordinate.
func (m medians) cells(n noise.Noiser, b *estimator.Block, axis block.Axis, centre []int64, rho float64) []uint32 {
	if m.search == Exponential {
		share := rho / float64(b.Dim) * (1 - 1e-12)
		return exponential.NewQuantile(1, 2, 1, share, m.relation()).Search(n, b, axis, centre)
	}
	sigma2 := scalar.SmallSigma2(m.delta, int64(b.Dim)*int64(max(1, axis.Rounds())), rho)
	persons := b.Persons()
	return block.Bisect(b, axis, centre, func(_ int, atMost int64) bool {
		return n.GaussianInt(2*atMost-persons, sigma2) < 0
	})
}

// relation is the one whose sensitivity is delta.
func (m medians) relation() estimator.Relation {
	if m.delta == 2 {
		return estimator.ReplaceOne
	}
	return estimator.AddRemove
}

// slack is the total-variation slack of one search of all coordinates.
func (m medians) slack(dim int) float64 {
	if m.search == Exponential {
		return float64(dim) * exponential.Slack
	}
	return 0
}

// rank is the standard deviation of the ranks at loss rho, in persons.
func (m medians) rank(dim, rounds int, rho float64) float64 {
	if m.search == Exponential { // density e^{−λ|rank|}, λ = √(2ρ/d)·2/delta
		return float64(m.delta) * math.Sqrt(float64(dim)/(4*rho))
	}
	return float64(m.delta) / 2 * math.Sqrt(float64(rounds)*float64(dim)/(2*rho))
}

// persons is the number of persons with which, at loss rho, no comparison with an empty part of an
// axis goes wrong in any of the coordinates, with probability 99 %: the margin there is half the
// persons.
func (m medians) persons(dim, rounds int, rho float64) float64 {
	all := float64(rounds) * float64(dim)
	if m.search == Exponential { // the gaps at most N·e^{−λ·n/2} times as heavy as the values
		lambda := 2 * math.Sqrt(2*rho/float64(dim)) / float64(m.delta)
		return 2 / lambda * (float64(rounds)*math.Ln2 + math.Log(float64(dim)/wrongTurn))
	}
	return 2 * m.rank(dim, rounds, rho) * math.Sqrt2 * math.Erfcinv(2*wrongTurn/all)
}

// wrongTurn bounds the probability that a search goes wrong for want of persons. The bound is a
// union over all comparisons; in fact a few in a thousand do where the number of persons is just
// enough.
const wrongTurn = 0.01

// share is the least share of a loss rho with which persons() is at most count.
func (m medians) share(dim, rounds int, rho, count float64) float64 {
	x := m.persons(dim, rounds, rho) / count // persons falls with the square root of the loss
	return x * x
}

// tails chooses a radius by noisy tail counts in turn: [HLY21] Algorithm 1, on geometric radii
// instead of all integers, since a radius need only be precise in proportion. Of the edges of the
// octaves it finds the first with at most K persons beyond it.
//
// Each of T = ⌈log2 buckets⌉ rounds asks #{i: v_i > edge} with N_Z(0, ⌈T/(2ρ)⌉): sensitivity 1
// under both relations. With K = max(target, z·σ), z = √(2 ln(T/0.01)), no round takes an empty
// tail for an occupied one, but for a probability of 1 %: one such turn would multiply the noise.
// Where K is more than the target, the radius is made longer by (K/target)^(1/3), at most twice, as
// for a tail of index 3.
//
// The histogram (firstpass.Histogram) needs about half as many persons beyond the radius for the
// same loss.
type tails struct {
	firstpass.Octaves
	sigma2 noise.Variance
	sigma  float64
}

func newTails(o firstpass.Octaves, rho float64) tails {
	v := scalar.SmallSigma2(1, int64(o.Rounds()), rho)
	return tails{o, v, scalar.Root(v.Big())}
}

// beyond is the number K of persons.
func (s tails) beyond(target float64) float64 {
	return max(target, math.Sqrt(2*math.Log(float64(s.Rounds())/0.01))*s.sigma)
}

// radius releases the radius for the norms.
func (s tails) radius(n noise.Noiser, norms []float64, target float64) float64 {
	above := make([]int64, s.Buckets) // persons in buckets above each
	for _, v := range norms {
		if i := s.Bucket(v); i > 0 {
			above[i-1]++
		}
	}
	for i := s.Buckets - 2; i >= 0; i-- {
		above[i] += above[i+1]
	}
	k, lo, hi := s.beyond(target), 0, s.Buckets-1
	for lo < hi {
		mid := (lo + hi) / 2
		if float64(n.GaussianInt(above[mid], s.sigma2)) >= k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return s.Edge(float64(lo)) * min(max(math.Cbrt(k/max(target, 0.5)), 1), 2)
}

// tailsShare is the share of a loss for tail counts: what makes K the target, from 2 to 25 %.
func tailsShare(dim int, factor2 int64) float64 {
	const rounds = 10 // 2^10 radii
	z2 := 2 * math.Log(rounds/0.01)
	return min(max(rounds*z2/(float64(factor2)*float64(dim)), 0.02), 0.25)
}

// A first look at the data, at a few thousandths of the loss, replaces declared bounds and spreads:
// how far the values reach and how far persons are apart. Everything here is in units of the group.

// Buckets per octave of the largest coordinates: they decide only how many rounds a search has.
const reachPer = 2

// spread is what the distances of persons tell.
type spread struct {
	norm float64 // the root mean square distance √(Σ_j σ_j²) of a person from the mean, in units
	// (Σσ_j²)²/(d·Σσ_j⁴): 1 for equal scales, less for unequal ones or coordinates that depend on
	// each other
	flat float64
}

// spread releases the spread, from a histogram of the distances of secretly matched persons, which
// are √2 times the norms of x − μ. For normal coordinates the logarithm of such a distance has
// variance Σσ_j⁴/(2(Σσ_j²)²) about, which gives flat.
func (d dense) spread(n noise.Noiser, b *estimator.Block, count float64, left *budget) spread {
	if d.sigma != nil {
		return spread{norm: norm(d.sigma)}
	}
	if d.statistical() {
		return spread{norm: d.units(d.p.SigmaMin) * math.Sqrt(float64(b.Dim))}
	}
	h := d.histogram(firstpass.NormsPer(b.Dim), firstpass.Farthest(d.lo, d.hi, b.Dim), 2, left.take(d.spreadShare(count)))
	noisy := h.Release(n, firstpass.Distances(b, firstpass.Match(n, b.Memory, int(b.Persons()), 2, d.mostPairs())))
	pairs := d.pairs(count)
	quarter, half, rest := h.Quantile(noisy, pairs, 0.25), h.Quantile(noisy, pairs, 0.5), h.Quantile(noisy, pairs, 0.75)
	iqr := math.Log(rest/quarter) / (2 * normalMedian)
	return spread{max(1, half/math.Sqrt2), 1 / max(2*iqr*iqr*float64(b.Dim), 1e-9)}
}

// pairs is the number of matched pairs of count persons.
func (d dense) pairs(count float64) float64 {
	return min(firstpass.PairsOf(count), float64(d.mostPairs()))
}

// mostPairs bounds the matched pairs: more than make the share of their histogram the least would
// only take time.
func (d dense) mostPairs() int {
	return int(min(firstpass.MostPairs, max(leastLooked, 100*math.Sqrt(1/(firstpass.LeastShare*d.rho)))))
}

// reach releases R such that most persons have all coordinates within ±R of the middle: then so are
// the medians. From a histogram of max_j |x_ij − middle|; a bucket is added, as values that lie
// close together may all be at the end of theirs.
func (d dense) reach(n noise.Noiser, some sample, left *budget) int64 {
	if d.statistical() {
		return int64(min(d.units(d.p.Radius), 0x1p61)) + 1
	}
	h := d.histogram(reachPer, firstpass.Farthest(d.lo, d.hi, 1), d.delta2(), left.take(d.lookShare(some.count)))
	r := h.Quantile(h.Release(n, largest(some.Block, d.middle)), some.count, 0.8) * math.Exp2(1.0/reachPer)
	return int64(min(r, 0x1p62)) + 1
}

// apart releases the median distance from the middle.
func (d dense) apart(n noise.Noiser, some sample, left *budget) float64 {
	h := d.histogram(firstpass.NormsPer(d.p.Dim), firstpass.Farthest(d.lo, d.hi, d.p.Dim), d.delta2(), left.take(d.lookShare(some.count)))
	return h.Quantile(h.Release(n, block.Norms(some.Block, same(d.middle, d.p.Dim), nil)), some.count, 0.5)
}

func (d dense) histogram(per int, limit float64, delta2 int64, rho float64) firstpass.Histogram {
	return firstpass.NewHistogram(firstpass.NewOctaves(per, limit), delta2, rho)
}

// delta2 is the squared sensitivity of a histogram of persons.
func (d dense) delta2() int64 { return firstpass.Delta2(d.p.Relation, false) }

// lookShare, spreadShare are the shares of the loss of a first histogram.
func (d dense) lookShare(count float64) float64 {
	return firstpass.Share(d.rho, count, d.delta2(), d.p.Dim)
}
func (d dense) spreadShare(count float64) float64 {
	return firstpass.Share(d.rho, d.pairs(count), 2, d.p.Dim)
}

// same returns a vector of one number, nil for 0.
func same(x int64, dim int) []int64 {
	if x == 0 {
		return nil
	}
	c := make([]int64, dim)
	for j := range c {
		c[j] = x
	}
	return c
}

func norm(x []float64) float64 {
	q := 0.0
	for _, v := range x {
		q += v * v
	}
	return math.Sqrt(q)
}

// middleOf is the public point that distances are measured from before there is a centre: 0 where
// the range holds it, otherwise the middle of declared bounds, or the end nearest to 0.
func middleOf(p Params, shift uint) int64 {
	lo, hi := scalar.Range(p.Params)
	switch {
	case lo <= 0 && hi >= 0:
		return 0
	case p.Bounded():
		return (lo + (hi-lo)/2) << shift
	}
	return min(max(0, lo), hi) << shift
}
