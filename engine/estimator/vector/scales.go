package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
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
