package person

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/noise"
)

// The radius P* of [AKM25] Algorithm 4 is for any law with the moments declared or learnt: it has
// tails that most laws do not have. So the last clip-and-noise first looks at how far persons are
// from its centre, and takes what is seen where that is shorter:
//
//	min(P*, the radius beyond which there are about target persons)     target = √d·u
//
// with u the noise in radii (law.unit). P* bounds what clipping takes from the mean by the moments.
// The shorter radius bounds it by the number of persons beyond, about target, or what the
// histogram's noise hides if that is more: a radius where so many persons are beyond it has the
// least sum of noise √d·u·C and loss Σ(‖x−c‖−C)₊ [HLY21, Theorem 2]. So neither takes away more
// than was bargained for with P*.
//
// Loss of the histogram: one number a person, its distance from the released centre, a function of
// this person alone. Buckets end at P*, which follows from released numbers; who is beyond is in
// the last one.
//
//	add-remove    a person comes or goes: one count moves by 1; l1 = l2 = 1
//	replace-one   a person is exchanged: two counts move by 1 at most; l2 = √2, l1 = 2. One who starts or stops to match: one count
//
// Gaussian noise for the l2 norm is ρ_h-zCDP [CKS20, Theorem 14], Laplace noise for the l1 norm
// ε_h-DP (firstpass.NewHistogram, firstpass.NewPureHistogram). The centre before and the sum after
// it have losses of their own: given the same answers, the sum is clipped to the same radius for
// both neighbours, so losses add up [BS16, Lemma 2.3]. The share is part of what the last stage
// has. With Split Persons both see the same third.

// Bounds of the histogram's share of the last stage, as those of firstpass.RadiusShare.
const (
	leastRadius = 0.01
	mostRadius  = 0.1
)

// mostHidden is the largest share of the persons that the histogram's noise may hide: with less in
// sight no radius is looked for. Laplace noise hides so many until persons are many; the radius is
// the paper's then.
const mostHidden = 0.1

// target is the number of persons beyond the radius, for noise of u radii in each coordinate.
func (m mean) target(unit, count float64) float64 {
	return min(unit*math.Sqrt(float64(m.p.Dim)), count/4)
}

// radiusShare is the share of a loss for the histogram: enough that its noise hides no more than
// target or one person in fifty, within its bounds; 0 where too many would be hidden all the same,
// and where the radius is not the last one of Full.
func (m mean) radiusShare(count, loss float64) float64 {
	if m.p.Stages != Full || count <= 0 {
		return 0
	}
	hidden := max(m.target(m.law.unit(loss), count), count/50)
	// for a deviation in proportion to 1/ε
	share := m.law.deviation(false, loss) * firstpass.BulkZ / hidden
	if !m.law.pure {
		share *= share
	}
	share = between(leastRadius, share, mostRadius)
	if firstpass.FarZ*m.law.deviation(false, share*loss) > mostHidden*count {
		return 0
	}
	return share
}

// lastRadius releases the radius of the last clip-and-noise about a centre: P*, or less.
func (m mean) lastRadius(n noise.Noiser, b batch, centre []int64, s shape, p clips) int64 {
	most := integer(m.paperRadius(s, b.count, p.last))
	if p.norms == 0 {
		return most
	}
	h := m.law.histogram(m.radiusOctaves(float64(most)), false, p.norms)
	noisy := h.Release(n, m.law.distances(b.Block, centre))
	return min(most, integer(h.Extended(noisy, m.target(m.law.unit(p.last), b.count), b.count)))
}

// radiusOctaves are the buckets of distances up to a radius.
func (m mean) radiusOctaves(most float64) firstpass.Octaves {
	return firstpass.NewOctaves(m.law.per(firstpass.RadiiPer(int(m.law.together()))), most)
}

// distances are those of the persons from a centre in the norm by which they are clipped: ℓ2, or,
// for coordinates clipped one by one, the largest difference.
func (l law) distances(b *estimator.Block, centre []int64) []float64 {
	if !l.pure {
		return block.Norms(b, centre, nil)
	}
	out, at := estimator.Make[float64](b.Memory, int(b.Persons())), 0
	var all fork.Group
	for i := range b.Chunks {
		to, x := out[at:at+b.Chunks[i].Persons], b.Chunks[i].Dense
		at += b.Chunks[i].Persons
		all.Go(func() {
			for k := range to {
				for j, v := range x[k*b.Dim : (k+1)*b.Dim] {
					to[k] = max(to[k], math.Abs(float64(v-centre[j])))
				}
			}
		})
	}
	all.Wait()
	return out
}

// shape is what is declared or learnt of the persons' means: nothing in it depends on data but
// through released numbers.
//
// Where rows are independent and alike, with k-th central moment σ_k^k and variance σ₂² at most in
// every direction, the mean of m rows has a standard deviation τ = σ₂/√m at most, and tails as in
// [AKM25] Corollaries 3.5 and 4.13: as a normal law's up to √(d·ln m/m), beyond that
// d^(k/2)·σ_k^k/(m^(k−1)·t^k), which is the chance that a single row is far. Radii are written with
//
//	γ = σ_k/σ₂,  so that  σ_k·√(d/m) = γτ√d  and  σ_k·d^a/m^(1−1/k) = γτ·d^a·m^(1/k−1/2)
//
// so m only says how much of the tail averaging has taken away. The hidden constants of the paper,
// which depend on k, are 1 here.
type shape struct {
	tau   float64 // in units
	gamma float64
	k, m  float64
	dim   float64 // of the ball: 1 where coordinates are clipped one by one
}

// base is σ_k·√(d/m): the length of a mean's distance from μ, about.
func (s shape) base() float64 { return s.gamma * s.tau * math.Sqrt(s.dim) }

// log is max(1, ln m).
func (s shape) log() float64 { return max(1, math.Log(s.m)) }

// tail is the radius where bias and noise of a clipped mean balance, for persons of m rows,
//
//	σ_k·d^(1/2−1/k)·(n̂/u)^(1/k)/m^(1−1/k)
//
// u is the noise in radii (law.unit): [AKM25] has n√d·ε/√(d·ln(1/δ)) there.
func (s shape) tail(m, count, unit float64) float64 {
	return s.gamma * s.tau * math.Pow(s.dim, 0.5-1/s.k) * math.Pow(count/unit, 1/s.k) * math.Pow(m, 1/s.k-0.5)
}

// threaded returns the radii of Threaded Clip-and-Noise [AKM25, Algorithm 3]:
//
//	P_t = σ_k·d^(1/2 + 1/(2k(k+1)^(t−1)))/m^(1−1/k)    for t < T
//	P_T = 2σ_k·√(d·max(1, ln m)/m)
//
// T − 1 is the number of t with P_t ≥ σ_k·√(d·max(1, ln m)/m), but at most ⌈log₂(1 + log₂ d)⌉: for
// small m that holds for every t, and after so many rounds d^(1/(2k(k+1)^(t−1))) is less than 2.
func (s shape) threaded() []float64 {
	scale, end := s.gamma*s.tau*math.Sqrt(s.dim), s.base()*math.Sqrt(s.log())
	most := int(math.Ceil(math.Log2(1 + math.Log2(s.dim))))
	var radii []float64
	for t := 1; t <= most; t++ {
		r := scale * math.Pow(s.dim, 1/(2*s.k*math.Pow(s.k+1, float64(t-1)))) * math.Pow(s.m, 1/s.k-0.5)
		if r < end {
			break
		}
		radii = append(radii, r)
	}
	return append(radii, 2*end)
}

// last is the radius of the last clip-and-noise [AKM25, Algorithm 4, P*],
//
//	max(σ_k·√(d/m), tail(m)),
//
// or larger, as long as the noise stays under a quarter of the error that the persons' sample
// itself has, τ√(d/n): that costs 3 % of the error at most, and spares persons who are not like the
// others, or have fewer rows. It need not be larger than twice the radius for m = 1, which suits
// any persons whose means have a k-th moment of γτ, whatever their rows are.
func (s shape) last(count, unit float64) float64 {
	least := max(s.base(), s.tail(s.m, count, unit))
	most := max(least, 2*s.tail(1, count, unit))
	return min(max(s.tau*math.Sqrt(count)/(4*unit), least), most)
}

// single is the radius about a coarse estimate: for d = 1 that of [AKM25] Lemma 3.12 and Theorem
// 3.14,
//
//	u + 2σ_k·√((k−1)·max(1, ln m)/m) + σ_k·(n̂/u')^(1/k)/m^(1−1/k)
//
// with u = 2r the error of the coarse estimate and u' the noise in radii. In more dimensions it is
// the larger one of P_T and tail(m), as Theorem 4.2 asks for: the errors of the coordinates, r/√12
// about, are together a third of P_T.
func (s shape) single(count, unit float64) float64 {
	if s.dim > 1 {
		return max(2*s.base()*math.Sqrt(s.log()), s.tail(s.m, count, unit))
	}
	return 2*s.width() + 2*s.base()*math.Sqrt((s.k-1)*s.log()) + s.tail(s.m, count, unit)
}

// width is the width r of the buckets of a coarse estimate: 3τ. Chebyshev's inequality leaves a
// ninth of the means farther than r from μ, so of the three buckets within 2r one is fuller than
// any that is farther away. [AKM25] Theorem 3.10 has 16^(1/k)·σ_k/√m at least, and uses 16/√m; its
// r is for a sixteenth.
func (s shape) width() float64 { return 3 * s.tau }

// standOut is how much fuller the fullest bucket is than a far one, as a share of the persons: for
// means with one mode no more than 4/81 are farther than 3τ (the inequality of Vysochanskij and
// Petunin), which leaves (77/81)/3 − 4/81.
const standOut = 65.0 / 243
