package groups

import (
	"math"

	"scrim/engine/estimator/noise"
)

// With many groups, a few of them have most of what there is. A first sum, at a tenth of the loss,
// tells which; the second, with the rest, weighs coordinate j by
//
//	w_j/√m_j     m_j = max(|first sum|, 2σ) by the first weights
//
// so that its noise has a standard deviation in proportion to m_j^(1/4): PLAN [ALP24] for the ℓ2
// error (p = 2, scales σ_j ∝ √m_j), as its first stage for sparse data. A person's norm counts what
// is common less, the radius is shorter, and groups that are rarely met get less noise. The answer
// is the mean of both sums by their precision, so that the first one's loss is not lost.
//
// What is computed from the first sum is public: the second is a sum of vectors clipped by released
// weights, and its loss adds up.

// leastPlanned is the number of groups from which on that is done: with fewer, the second histogram
// costs more than weights gain.
const leastPlanned = 256

// firstShare is the share of the loss of both sums that the first gets.
const firstShare = 0.1

// planScale makes norms by planned weights longer, as common coordinates make them shorter by 2^-15
// at most, so that none is under 1.
const planScale = 1 << 15

// plan releases both sums; radius is that of the first weights.
func (r release) plan(n noise.Noiser, v vectors, radius clip, limit float64) released {
	first := r.clipped(n, v, radius, r.first)
	w, c := r.shaped(first, v.weights)
	v = vectors{measured: v.measured, weights: w, norms: v.normsBy(&r.layout, w)}
	h := r.secondHistogram()
	second, ok := c.radius(h, releaseOf(n, h, v.Memory, v.norms), limit*planScale)
	if !ok { // no norm within the first radius passes that
		second = clip{radius: radius.radius * planScale, losses: radius.losses, known: radius.known}
	}
	return first.with(r.clipped(n, v, second, r.sum))
}

// shaped returns the weights by a first sum, and the cost of a radius by them. They are powers of
// √2, of which there are few.
//
// The error is still measured by the first weights: the noise is factor2·C²·Σ_j w_j/w'_j/(2ρ), and
// what a person loses is longer by the first weights than by the second by about √(Σ
// m_j/Σ(w'_j/w_j)·m_j).
func (r release) shaped(first released, weights []float64) ([]float64, cost) {
	out := make([]float64, len(weights))
	noise, mass, shapedMass := 0.0, 0.0, 0.0
	for j, w := range weights {
		floor := 2 * first.sigma[j]
		// all have the same noise by the weights
		size := math.Abs(first.sums[r.sizedBy(j)]) * math.Sqrt(weights[r.sizedBy(j)]/w)
		f := float64(planScale * planScale)
		if size > floor {
			f *= math.Exp2(-math.Floor(min(math.Log2(size/floor), 60)) / 2)
			mass += size * math.Sqrt(w)
			shapedMass += size * math.Sqrt(w) * f
		}
		out[j] = min(max(w*f, 0x1p-200), 0x1p200)
		noise += 1 / f
	}
	longer := 1 / float64(planScale)
	if mass > 0 {
		longer = math.Sqrt(mass / shapedMass)
	}
	return out, cost{float64(r.factor2) * noise / (2 * r.sum), alignment(r.layout.dim) * longer}
}

// sizedBy is the coordinate that tells how much there is at coordinate j: for the differences of a
// mean, which add up to little, that of its rows.
func (r release) sizedBy(j int) int {
	for _, p := range r.layout.parts {
		if p.Measure.mean() && p.first == j%r.layout.width {
			return j + 1
		}
	}
	return j
}

// with returns the mean of two released sums by their precision. What the clip of the first takes
// is taken to be its expectation, as it has little of the precision; nothing is known of either
// where nothing is of one.
func (s released) with(o released) released {
	out := released{sums: make([]float64, len(s.sums)), sigma: make([]float64, len(s.sums)), groups: s.groups, whole: s.whole && o.whole}
	share, lost := 0.0, lostOf(s.losses)
	for j := range s.sums {
		p, q := 1/(s.sigma[j]*s.sigma[j]), 1/(o.sigma[j]*o.sigma[j])
		out.sums[j], out.sigma[j] = (p*s.sums[j]+q*o.sums[j])/(p+q), 1/math.Sqrt(p+q)
		share += q / (p + q) / float64(len(s.sums))
	}
	if (s.losses != nil || s.whole) && o.losses != nil {
		for _, l := range o.losses {
			l.Near, l.Wide = share*l.Near+(1-share)*lost, share*l.Wide+(1-share)*lost
			out.losses = append(out.losses, l)
		}
	}
	return out
}
