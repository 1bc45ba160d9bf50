package vector

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// core is a mean once the number of persons is released: what follows may depend on that number.
// A core is built with the loss that it may spend and is immutable.
type core interface {
	// needs is the number of persons under which the core is not used.
	needs() int64
	// steps describes the noisy steps; their losses add up to the core's.
	steps() []estimator.Step
	// release answers a group of count >= needs() persons, a released number.
	release(n noise.Noiser, g group, count float64) estimator.Estimate
}

// group is one group on its way through a core: a vector a person, in units of 2^-shift grid steps.
type group struct {
	*estimator.Block
	shift  uint
	totals *block.Totals // of dense vectors, nil where they are not known
}

// persons is the number of persons: released at loss rho with sensitivity 1, which holds for one
// person more or less and for one exchanged that comes into or goes out of the group; or known,
// where Params.Sized says so.
type persons struct {
	scalar.Persons
	known bool
	share float64 // of the loss of the steps after it, by which these cover it; 0: it has its own
}

// newPersons returns the number of persons of a group at loss rho, which is 0 where it is known.
func newPersons(p Params, rho float64) persons {
	if p.Sized {
		return persons{known: true}
	}
	return persons{Persons: scalar.NewPersons(rho)}
}

// counted returns the number of persons of a mean, and what is left of p.Rho for the steps after
// it.
//
// Under replace-one that is all of p.Rho: the number is covered by these steps
// (scalar.CoveredPersons). A person who comes or goes costs each of them a quarter or a half of
// what an exchange does, but for matched pairs and for the search of a radius by its tails
// (sensitivity 1 for both), which have 0.14 and 0.25 of the loss at most, and all together 0.70 at
// most; with a radius about the public middle 0.63. The number has 0.06, and 0.25 there. Scales
// from matched pairs may have more: then the number has a loss of its own. So do the columns of a
// core that have numbers of persons of their own: see apart.
func (p Params) counted() (c persons, rho float64) {
	share := p.countShare()
	if p.Relation == estimator.ReplaceOne && !p.Sized && p.Scale != Pairs {
		c, share = persons{Persons: scalar.CoveredPersons(p.Rho, 1-share), share: share}, 0
	}
	left := newBudget(p.Rho)
	if own := left.take(share); c.share == 0 {
		c = newPersons(p, own)
	}
	return c, left.rest()
}

// apart is what is left of the loss of the steps after the number for steps that cover numbers of
// persons of their own: a person who comes or goes costs these all of it.
func (c persons) apart(rho float64) float64 { return rho * (1 - c.share) }

// release returns a number of at least 1.
func (c persons) release(n noise.Noiser, in estimator.Input) float64 {
	if c.known {
		return float64(max(1, in.Persons))
	}
	return c.Release(n, in.Vectors.Persons())
}

// whole returns the input of an estimator: with a block, and with as many persons as are public.
func (p Params) whole(in estimator.Input) estimator.Input {
	in = sized.Vectors(p.Params, p.Dim, p.Sparse, in)
	if in.Vectors == nil {
		in.Vectors = &estimator.Block{Dim: p.Dim, Sparse: p.Sparse}
	}
	return in
}

// enough is the number of persons that makes the noise at most a fifth of it.
func (c persons) enough() int64 {
	if c.known {
		return 0
	}
	return c.Enough()
}

// sigma is the standard deviation of the noise, 0 when the number is known.
func (c persons) sigma() float64 {
	if c.known {
		return 0
	}
	return c.Sigma()
}

// told adds what the noise of a released number does to an answer about a centre from which the
// mean is moved, in values, by a vector of the given length.
func (c persons) told(e estimator.Estimate, count, moved float64) estimator.Estimate {
	if g := c.sigma() / count; g > 0 {
		e.Error.Under, e.Error.Shift = []float64{g}, g*moved
	}
	return e
}

// steps describes the release: nothing when the number is known.
func (c persons) steps() []estimator.Step {
	if c.known {
		return nil
	}
	return []estimator.Step{c.Step()}
}

// budget is what is left of a loss, in shares of the whole.
type budget struct{ rho, left float64 }

func newBudget(rho float64) *budget { return &budget{rho, 1} }

// take returns the loss of a share of the whole and reduces what is left. Each part is rounded down
// by one part in 10^12, far more than the error of the differences, so that the exact sum of all
// parts is at most rho.
func (b *budget) take(share float64) float64 {
	share = min(share, b.left)
	b.left -= share
	return b.rho * share * (1 - 1e-12)
}

// rest takes what is left.
func (b *budget) rest() float64 { return b.take(b.left) }

// addNoise releases sums of clipped vectors (block.ClipSum) at loss rho: to coordinate j it adds
// N_Z(0, σ_j²) with
//
//	σ_j² = ⌈factor2·C²·2^(2·ClipBits) / (2ρ·w_j)⌉
//
// exact but for the rounding up. One person moves the sums by a vector Δ with Σ_j w_j·Δ_j² ≤
// factor2·C²·2^(2·ClipBits), so Σ_j Δ_j²/(2σ_j²) ≤ ρ [CKS20, Theorem 14]. weights nil means 1. Sums
// and standard deviations come back in the units of the block's values. C = 0 leaves a variance of
// 1.
func addNoise(n noise.Noiser, sums []*big.Int, weights []float64, radius float64, factor2 int64, rho float64) (noisy, sigma []float64) {
	v := newVariances(radius, factor2, rho)
	noisy, sigma = make([]float64, len(sums)), make([]float64, len(sums))
	var same *big.Int
	if weights == nil {
		same = v.of(1)
	}
	for j, s := range sums {
		sigma2 := same
		if sigma2 == nil {
			sigma2 = v.of(weights[j])
		}
		noisy[j] = math.Ldexp(scalar.Float(n.Gaussian(s, sigma2)), -block.ClipBits)
		sigma[j] = math.Ldexp(scalar.Root(sigma2), -block.ClipBits)
	}
	return noisy, sigma
}

// variances computes the variances of one noisy sum: num/den is the variance of weight 1, before
// rounding.
type variances struct{ num, den *big.Int }

// newVariances panics on a radius that is not finite: radii are released numbers within public
// ends.
func newVariances(radius float64, factor2 int64, rho float64) variances {
	c, r := new(big.Rat).SetFloat64(radius), new(big.Rat).SetFloat64(rho)
	c.Mul(c, c).Quo(c, r)
	num := new(big.Int).Mul(c.Num(), big.NewInt(factor2))
	return variances{num.Lsh(num, 2*block.ClipBits-1), c.Denom()}
}

// of returns ⌈num/(den·w)⌉, at least 1, for a finite w > 0.
func (v variances) of(w float64) *big.Int {
	frac, exp := math.Frexp(w)
	num := new(big.Int).Set(v.num)
	// w = that integer · 2^(exp−53)
	den := new(big.Int).Mul(v.den, big.NewInt(int64(math.Ldexp(frac, 53))))
	if exp -= 53; exp >= 0 {
		den.Lsh(den, uint(exp))
	} else {
		num.Lsh(num, uint(-exp))
	}
	q, m := num.QuoRem(num, den, new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if q.Sign() == 0 {
		q.SetInt64(1)
	}
	return q
}

// estimate turns a mean in units of the group into an answer, with the standard deviation of its
// noise. The answer is brought into the public range of the values, which can only bring it nearer
// to the truth.
func (p Params) estimate(g group, mean, sigma []float64) estimator.Estimate {
	lo, hi := scalar.Range(p.Params)
	e := estimator.Estimate{Values: make([]float64, len(mean)), StdErr: make([]float64, len(mean))}
	for j, m := range mean {
		steps := min(max(math.Ldexp(m, -int(g.shift)), float64(lo)), float64(hi))
		e.Values[j] = scalar.Finite(scalar.Scale(p.Grid, steps))
		e.StdErr[j] = min(scalar.Scale(p.Grid, math.Ldexp(sigma[j], -int(g.shift))), math.MaxFloat64)
	}
	e.Error = &estimator.Error{Form: estimator.Quotient}
	return e
}
