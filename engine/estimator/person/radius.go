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
