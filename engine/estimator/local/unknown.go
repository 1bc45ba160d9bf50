package local

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
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
	sds := make([]float64, n+1)
	for i := range sds {
		sds[i] = min(math.Exp2(float64(i)/2), scales)
	}
	return sds
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
