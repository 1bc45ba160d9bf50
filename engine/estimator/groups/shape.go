package groups

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/stat"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Groups differ in size, and where they do, the same noise in all of them is more than need be.
// Coordinate j of an aggregate is weighed by
//
//	f_j = c/√m_j     m_j = max(profile_j, 2σ)
//
// so that its noise has a standard deviation in proportion to m_j^(1/4): PLAN [ALP24] for the ℓ2
// error, as from leastPlanned groups on (plan.go), but by a profile in place of a first sum, which
// would need a radius. The profile is the sum of the persons' vectors at length 1:
//
//	u_j = ⌊2^24·|x_j|/‖x‖⌋,  x the person's entries of one aggregate over all groups; the number of rows stands for a mean
//
// Sensitivity: no entry of u is negative, and ‖u‖ ≤ 2^24 whatever x is (profileUnit), so with A
// aggregates one person more or less moves the sum by √A·2^24, and one exchanged by √(2A)·2^24, as
// ‖u−u'‖² ≤ ‖u‖² + ‖u'‖². No histogram is needed first, and few persons tell: the sum of n of them
// is up to n long. Gaussian noise for that is ρ_p-zCDP [CKS20, Theorem 14], and what follows from
// the noisy sum is public.

// leastShaped is the number of groups from which on noise is shaped.
const leastShaped = 4

// profileShare is the share of the loss for the profile: 1 % of the error. Of 600 persons at ρ =
// 1/8 it tells the groups that have a twentieth of a vector's length.
const profileShare = 0.02

// profiled reports whether noise is shaped by a profile. It is not where the radius is public: then
// all persons have the same length.
func (r release) profiled() bool {
	return r.fixed == 0 && r.p.Groups >= leastShaped && r.p.Groups < leastPlanned
}

// profileMoved is the squared sensitivity of a profile, in vectors of length 1.
func (r release) profileMoved() int64 { return r.delta2 * int64(len(r.layout.parts)) }

// findProfile releases the profile: part k's in group g at g·parts + k, with the standard deviation
// of its noise.
func (r release) findProfile(n noise.Noiser, b *estimator.Block) (profile []float64, sigma float64) {
	sums := r.layout.profile(b)
	sigma2 := scalar.Sigma2(new(big.Int).Lsh(big.NewInt(r.profileMoved()), 2*block.ClipBits), 1, r.profile)
	profile = make([]float64, len(sums))
	for j, s := range sums {
		f, _ := new(big.Float).SetInt(n.Gaussian(s, sigma2)).Float64()
		profile[j] = math.Ldexp(f, -block.ClipBits)
	}
	return profile, math.Ldexp(scalar.Root(sigma2), -block.ClipBits)
}

// profileUnit is the length of a person's vector in a profile. The squares of entries are added up
// in doubles, whose sum is too small by (groups + 4)·2^-53 of itself at most, and a root, a
// quotient, a conversion and a product follow: together less than the (dim+16)·2^-50 that is taken
// off.
func profileUnit(dim int) float64 { return (1 << block.ClipBits) * (1 - float64(dim+16)*0x1p-50) }

// profile returns the sum of the persons' vectors at length 1, exactly.
func (l *layout) profile(b *estimator.Block) []*big.Int {
	parts := len(l.parts)
	less := block.NewExact(l.dim / l.width * parts)
	block.EachPerson(b, func() (func(int, block.Person), func()) {
		own, x, u := block.NewExact(l.dim/l.width*parts), make([]int64, l.width), make([]int64, parts)
		squares, scales := make([]float64, parts), make([]float64, parts)
		measure := func(_ int, x []int64) {
			for k := range l.parts {
				v := l.size(&l.parts[k], x)
				squares[k] += float64(v * v)
			}
		}
		add := func(g int, x []int64) {
			for k := range l.parts {
				u[k] = int64(float64(l.size(&l.parts[k], x) * scales[k]))
			}
			own.AddAt(g*parts, u)
		}
		return func(_ int, p block.Person) {
			clear(squares)
			l.groups(p, x, measure)
			for k, q := range squares {
				scales[k] = profileUnit(l.dim) / math.Sqrt(max(q, 1)) // what is not 0 is 1 at least
			}
			l.groups(p, x, add)
		}, func() { less.AddAll(own) }
	})
	sums := block.NewExact(l.dim / l.width * parts).Less(less)
	for _, s := range sums {
		s.Neg(s)
	}
	return sums
}

// size is how much one person has of a part in a group, within its public range.
func (l *layout) size(p *part, x []int64) float64 {
	switch x = x[p.first:]; p.Measure {
	case Persons:
		return float64(min(max(x[0], 0), 1))
	case Rows:
		return float64(l.rows(x[0]))
	case Sum:
		return math.Abs(float64(p.total.of(x[0])))
	case PersonMean:
		return float64(min(l.rows(x[1]), 1))
	}
	return float64(l.rows(x[1]))
}

// shape has a weight for each coordinate. By it, the variances of the noise add up to spare times
// as much for the same radius, and a vector is a longer-th as long.
type shape struct {
	weights       []float64
	spare, longer float64
}

// shapeOf returns the shape by a profile, with the greatest weight of each aggregate 1, or, of
// several aggregates, such that its noise adds up to the same.
//
// What a person loses counts by its length without the shape. A vector like the profile, whose
// squares are as m_j, is √(Σ m_j/Σ f_j·m_j) times as long without it.
func (r release) shapeOf(profile []float64, sigma float64) shape {
	l, parts := r.layout, len(r.layout.parts)
	s, mass, shaped := shape{weights: make([]float64, l.dim)}, 0.0, 0.0
	for k, p := range l.parts {
		m, c := sizes(profile[k:], parts, sigma), 1.0
		if parts > 1 {
			c = inverses(m) / float64(len(m))
		}
		for g, x := range m {
			f := c / math.Sqrt(x)
			mass, shaped = mass+x, shaped+x*f
			for i := range p.Measure.Columns() {
				s.weights[g*l.width+p.first+i] = f
				s.spare += 1 / (f * float64(l.dim))
			}
		}
	}
	s.longer = math.Sqrt(mass / shaped)
	return s
}

// inverses is Σ √m, the sum of the inverses of the weights 1/√m.
func inverses(m []float64) (sum float64) {
	for _, x := range m {
		sum += math.Sqrt(x)
	}
	return sum
}

// sizes returns the m of one part's groups, every step-th number of a profile, over the least of
// them; at most 2^60.
//
// Noise alone would make equal groups differ. So numbers are first brought nearer to their mean, by
// σ² over their variance: all the way where noise is all that there is to see, and hardly where
// groups differ by much more (the estimate of James and Stein).
func sizes(profile []float64, step int, sigma float64) []float64 {
	var m []float64
	for j := 0; j < len(profile); j += step {
		m = append(m, profile[j])
	}
	mean, variance := stat.MeanVariance(m, nil)
	kept, least := max(0, 1-sigma*sigma/variance), math.Inf(1)
	for g, x := range m {
		m[g] = max(mean+kept*(x-mean), 2*sigma)
		least = min(least, m[g])
	}
	for g := range m {
		m[g] = min(m[g]/least, 0x1p60)
	}
	return m
}

// shapeLimit is how much longer, at most, norms are by a shape, in units of planScale: the root of
// a weight, 2^30 at most.
const shapeLimit = 1 << 15

// by returns the weights of coordinates by a shape. Norms are planScale times as long as the shape
// makes them, so that none is under 1.
func (s shape) by(weights []float64) []float64 {
	out := make([]float64, len(weights))
	for j, w := range weights {
		out[j] = min(max(w*s.weights[j]*(planScale*planScale), 0x1p-200), 0x1p200)
	}
	return out
}

// cost returns the cost of a radius by the shape, of the one without.
func (s shape) cost(c cost) cost {
	return cost{c.noise * s.spare / (planScale * planScale), c.alignment * s.longer / planScale}
}
