package local

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
)

// locate returns the likeliest mean and standard deviation, that one between 1 and scales units,
// and the posterior mass farther than near standard deviations from that mean. The grid has two
// slices an octave of the standard deviation; its best point is refined.
func (r residues) locate(scales float64) (at point, outside float64) {
	g := r.newGrid(deviations(scales))
	top := g.best()
	at = r.refine(top, scales)
	return at, g.outside(top.score, at.mean, near*at.sd)
}

// deviations returns 1, √2, 2, … up to scales.
func deviations(scales float64) []float64 {
	n := int(math.Ceil(2 * math.Log2(scales)))
	return lists.Make(n+1, func(i int) float64 { return min(math.Exp2(float64(i)/2), scales) })
}

// firstStep is the first step of a refinement: a quarter of the standard deviation in the mean, and
// a fifth in the logarithm of the standard deviation.
const (
	firstMean = 0.25
	firstLog  = 0.2
)

// refine climbs from a point by ever shorter steps of the mean and of the logarithm of the standard
// deviation, within [0, span] and [1, scales].
func (r residues) refine(at point, scales float64) point {
	for size := 1.0; size*firstMean > precision; {
		next := at
		for _, step := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			mean := min(max(at.mean+step[0]*size*firstMean*at.sd, 0), r.span)
			sd := min(max(at.sd*math.Exp(step[1]*size*firstLog), 1), scales)
			if score := r.at(mean, sd); score > next.score {
				next = point{mean, sd, score}
			}
		}
		if next == at {
			size /= 2
		}
		at = next
	}
	return at
}

// halfWindow is how many standard deviations round 2 of LDP_UV2 reaches to either side: 2 + √(ln
// 4n) for n planned contributors [JKMW19].
func halfWindow(n uint64) float64 { return 2 + math.Sqrt(math.Log(4*float64(n))) }

// decimals is what published numbers are rounded to, in units of the least standard deviation.
const decimals = 1e4

// publishUnknown is the end of round 1 of LDP_UV2: the centre, and half the width of the interval
// in which values of round 2 are averaged.
func publishUnknown(p *collect.Params, t *Tally, info *Info) (collect.Published, error) {
	at, outside := newResidues(p, t).locate(p.Derived.Scales)
	info.Outside = &outside
	return windowOf(p, at.mean, at.sd), conclusive(p, outside)
}

func windowOf(p *collect.Params, mean, sd float64) collect.Published {
	return collect.Published{
		Centre: []float64{math.Round(mean*decimals) / decimals},
		Width:  math.Ceil(sd*halfWindow(p.Declaration.Expected)*decimals) / decimals,
	}
}

// windowed is the estimate of LDP_UV2's round 2: a mean over the window, and the standard deviation
// that round 1 found.
type windowed struct {
	Estimate
	info        Info
	sd, sdError float64
	cut         float64 // what clipping to the window may move, where values do not look Gaussian
}

func (w windowed) Info() Info { return w.info }

func (w windowed) SD() (value, stderr float64, err error) { return w.sd, w.sdError, nil }

// Interval adds what clipping may move.
func (w windowed) Interval(conf float64) (lo, hi float64, err error) {
	lo, hi, err = w.Estimate.Interval(conf)
	return lo - w.cut, hi + w.cut, err
}

// decodeUV2 averages the values within t1 ± w, those beyond counted as its ends.
func decodeUV2(p *collect.Params, t *Tally, before []Before, info Info) (Estimate, error) {
	info.Covers, info.Omits = coversBoth, omitsBias
	unit := p.Declaration.SigmaMin
	lo := p.Declaration.Lo + unit*(p.Published.Centre[0]-p.Published.Width)
	width := unit * 2 * p.Published.Width
	ask := only(info, "LDP_MEAN(report) or LDP_SD(report)")
	sd, sdError := roundOne(p)
	w := windowed{sd: unit * sd, sdError: unit * sdError}
	if c := t.parts[0]; c.Randomiser == collect.DLAP {
		mean, stderr := noisy(c, p.Declaration.Epsilon.Float())
		w.Estimate = located{Only: ask, mean: lo + width*mean, stderr: width * stderr}
	} else {
		w.Estimate = bounded{ask, newCoin(&t.parts[0]), lo, lo + width}
	}
	w.info = info
	if len(before) > 0 && unlike(p, before[0], &w.info) {
		w.sdError = math.NaN()
		w.cut = clipped(p.Declaration.SigmaMax, w.Estimate, lo, lo+width)
	}
	return w, nil
}

// unlike reports whether the values of round 1 of LDP_UV2 do not look Gaussian.
func unlike(p *collect.Params, b Before, info *Info) bool {
	r := newResidues(b.Params, b.Tally)
	sd, _ := roundOne(p)
	at := r.refine(point{p.Published.Centre[0], sd, r.at(p.Published.Centre[0], sd)}, p.Derived.Scales)
	return lawOf(r.readings(at.mean, at.sd), 2).poor(info,
		"the standard deviation is of the nearest Gaussian, and the interval is wider by what values beyond the window may add.")
}

// clipped bounds what counting values beyond [lo, hi] as its ends moves a mean by, for any law of
// standard deviation sd or less: beyond an end at distance d from the mean lie on average at most
//
//	(√(sd² + d²) − d)/2
//
// since max(x−d, 0) = (|x−d| + x − d)/2, and E|x−d| ≤ √E(x−d)².
func clipped(sd float64, e Estimate, lo, hi float64) float64 {
	mean, _, _ := e.Mean()
	d := max(min(mean-lo, hi-mean), 0)
	return (math.Hypot(sd, d) - d) / 2
}

// roundOne returns the standard deviation that round 1 of LDP_UV2 found, which the width tells, and
// its standard error if as many reported as planned.
func roundOne(p *collect.Params) (sd, stderr float64) {
	sd = p.Published.Width / halfWindow(p.Declaration.Expected)
	e := math.Exp(p.Declaration.Epsilon.Float())
	r := residues{keep: e / (e + 3), other: 1 / (e + 3)}
	each := float64(p.Derived.Groups[0]) / float64(p.Derived.Residues) / geometry.Residues
	for j := range p.Derived.Residues {
		r.levels = append(r.levels, residueLevel{math.Ldexp(1, j), [geometry.Residues]float64{each, each, each, each}})
	}
	if _, stderr, ok := r.information(p.Published.Centre[0], sd).errors(); ok {
		return sd, stderr
	}
	return sd, sd
}

// noisy returns the mean of reports i + DLAP(eps/M) over M, and its standard error from their own
// spread, which is taken for no less than the noise's: 2α/(1−α)² for α = exp(−eps/M).
func noisy(c part, eps float64) (mean, stderr float64) {
	m, n, steps := c.sum.(*moments), float64(c.reports), float64(c.Domain)
	mean = float64(m.sum) / n
	noise := 2 * math.Exp(-eps/steps) / math.Pow(math.Expm1(-eps/steps), 2)
	variance := max(noise, (m.squares-n*mean*mean)/max(n-1, 1))
	return mean / steps, math.Sqrt(variance/n) / steps
}

// shaped is the estimate of LDP_UV1: the likeliest Gaussian.
type shaped struct {
	located
	sd, sdError float64
}

func (s shaped) SD() (value, stderr float64, err error) { return s.sd, s.sdError, nil }

// decodeUV1 returns the likeliest mean and standard deviation. Standard errors are those of the
// inverse of the Fisher information.
func decodeUV1(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	r, unit := newResidues(p, t), p.Declaration.SigmaMin
	at, outside := r.locate(p.Derived.Scales)
	info.Outside = &outside
	mean, sd, ok := r.information(at.mean, at.sd).errors()
	if !ok {
		outside = 1
	}
	if err := conclusive(p, outside); err != nil {
		return nil, err
	}
	info.Covers, info.Omits = coversGaussian, "dishonest reports, and who chose not to report"
	l := likeliest(only(info, "LDP_MEAN(report) or LDP_SD(report)"), lawOf(r.readings(at.mean, at.sd), 2), p.Declaration.Lo+unit*at.mean, unit*mean, unit)
	if math.IsNaN(l.stderr) {
		sd = math.NaN()
	}
	return shaped{l, unit * at.sd, unit * sd}, nil
}

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
	return lists.Sum(r.levels, func(l residueLevel) float64 { return r.score(l, residueShares(mean, sd, l.width)) })
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

// information is the Fisher information of reports about the mean and the standard deviation.
type information struct{ mean, cross, sd float64 }

// information returns what the residue reports tell at a point:
//
//	I = Σ_j n_j Σ_a ∂π_a ∂π_aᵀ/π_a,   π_a = o + (p−o)·P_a
//
// n_j is the number of reports of level j. Reports are of contributors who are a sample.
func (r residues) information(mean, sd float64) (i information) {
	for _, l := range r.levels {
		n, shares := l.reports(), residueShares(mean, sd, l.width)
		by := residueMoves(mean, sd, l.width)
		for a, share := range shares {
			gain := r.keep - r.other
			w := n * gain * gain / (r.other + gain*share)
			i.mean += w * by[a][0] * by[a][0]
			i.cross += w * by[a][0] * by[a][1]
			i.sd += w * by[a][1] * by[a][1]
		}
	}
	return i
}

// errors returns the standard errors of the mean and the standard deviation when both are
// estimated, by the inverse of the information; ok is false if it has none, to working precision.
func (i information) errors() (mean, sd float64, ok bool) {
	det := i.mean*i.sd - i.cross*i.cross
	if !(det > 1e-9*i.mean*i.sd) {
		return 0, 0, false
	}
	return math.Sqrt(i.sd / det), math.Sqrt(i.mean / det), true
}
