package local

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
)

// residues is what the residue cells of KV and UV collections say: of each level j how often each
// residue of ⌊t/2^j⌋ modulo 4 was reported, after randomised response. A value t of the Gaussian
// N(mean, sd²) has residue a with probability
//
//	P_a = Σ_{m≡a mod 4} Φ(((m+1)2^j − mean)/sd) − Φ((m 2^j − mean)/sd)
//
// and is reported as a with probability o + (p−o)·P_a; the log-likelihood ℓ(mean, sd) is the sum
// over levels and residues of counts times the logarithm of that. Positions are in the collection's
// unit, from the low end of the mean's range.
//
// Source: the reports are those of [JKMW19] Algorithm 1; the estimate by likelihood is ours.
type residues struct {
	keep, other float64 // p and o
	levels      []residueLevel
	span        float64 // the mean lies in [0, span]
}

// residueLevel is one level's counts.
type residueLevel struct {
	width  float64 // 2^j
	counts [geometry.Residues]float64
}

// reach is how many standard deviations from the mean values are looked for: 9, beyond which 2e-19
// lie.
const reach = 9

// fine is the least width of a level's cells, in standard deviations, at which residues say
// anything: the place in four cells of width v is uniform but for Fourier coefficients of at most
// exp(−2π²sd²/(4v)²), 4e-14 at v = sd/5.
const fine = 0.2

// newResidues gathers the residue cells of a round.
func newResidues(p *collect.Params, t *Tally) residues {
	r := residues{span: p.Derived.Range}
	for _, c := range t.of(collect.KRR) {
		r.keep = probability(c.Keep)
		l := residueLevel{width: math.Ldexp(1, c.Level)}
		for a, n := range c.sum.(*values).counts {
			l.counts[a] = float64(n)
		}
		r.levels = append(r.levels, l)
	}
	r.other = (1 - r.keep) / (geometry.Residues - 1)
	return r
}

// probability returns a probability that is published as an integer over 2^62.
func probability(keep uint64) float64 { return math.Ldexp(float64(keep), -62) }

// reports returns how many reports of a level there are.
func (l residueLevel) reports() float64 {
	n := 0.0
	for _, c := range l.counts {
		n += c
	}
	return n
}

// score returns the level's part of ℓ where a residue has the given probabilities.
func (r residues) score(l residueLevel, shares [geometry.Residues]float64) float64 {
	sum := 0.0
	for a, c := range l.counts {
		sum += c * math.Log(r.other+(r.keep-r.other)*shares[a])
	}
	return sum
}

// at returns ℓ(mean, sd).
func (r residues) at(mean, sd float64) float64 {
	sum := 0.0
	for _, l := range r.levels {
		sum += r.score(l, residueShares(mean, sd, l.width))
	}
	return sum
}

// residueShares returns the probabilities of the residues of a level whose cells have a width.
func residueShares(mean, sd, width float64) (p [geometry.Residues]float64) {
	if width < fine*sd {
		return [geometry.Residues]float64{0.25, 0.25, 0.25, 0.25}
	}
	first := math.Floor((mean - reach*sd) / width)
	below, m := 0.0, int(int64(first)&3)
	for edge := (first + 1) * width; ; edge += width {
		upto := 1.0
		if edge < mean+reach*sd {
			upto = normal((edge - mean) / sd)
		}
		p[m] += upto - below
		if upto == 1 {
			return p
		}
		below, m = upto, (m+1)&3
	}
}

// normal is the standard normal distribution function Φ.
func normal(x float64) float64 { return math.Erfc(-x*math.Sqrt2/2) / 2 }

// density is the standard normal density φ.
func density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
