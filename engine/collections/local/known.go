package local

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/refuse"
)

// near is how far from the centre the mean may lie, in standard deviations, for a round to have
// found it.
const near = 2

// locateKnown returns the likeliest mean on a grid of quarters for a known standard deviation of 1,
// and the posterior mass farther than near from it.
func (r residues) locateKnown() (at point, outside float64) {
	g := r.newGrid([]float64{1})
	at = g.best()
	return at, g.outside(at.score, at.mean, near)
}

// publishKnown is the end of round 1 of LDP_KV2: the centre, a whole number of quarters of a
// standard deviation.
func publishKnown(p *collect.Params, t *Tally, info *Info) (collect.Published, error) {
	at, outside := newResidues(p, t).locateKnown()
	info.Outside = &outside
	return collect.Published{Centre: []float64{at.mean}}, conclusive(p, outside)
}

// conclusive refuses a round that leaves more than beta of the posterior mass elsewhere.
func conclusive(p *collect.Params, outside float64) error {
	if outside <= beta {
		return nil
	}
	return refuse.New(refuse.RoundInconclusive,
		"The reports of round %d of %s leave %.2g of the probability to means farther than two standard deviations from the likeliest one; at most %v is allowed.",
		p.Round, p.Collection, outside, beta)
}

// farthest bounds |S|, the debiased difference of above and below: a centre three standard
// deviations off has 0.9973. Within two standard errors of it the estimate carries a warning.
const farthest = 0.9973

// centred is the estimate of LDP_KV2's round 2: of contributors a share f lies at or above the
// centre t1, so for Gaussian values
//
//	mean = lo + sigma·(t1 + τ),  τ = √2·erfinv(S),  S = 2f − 1
//	stderr = sigma·A·√(1 − S²/A²)/(2 φ(τ) √n)
//
// Source: [JKMW19] Algorithm 1.
type centred struct {
	Only
	coin             coin
	lo, hi           float64
	sigma, centre, s float64
	law              *law // nil: round 1 is not there
	poor             bool // values do not look Gaussian
}

func decodeKV2(p *collect.Params, t *Tally, before []Before, info Info) (Estimate, error) {
	info.Covers, info.Omits = coversGaussian, omitsKnown
	d := p.Declaration
	c := centred{Only: only(info, "LDP_MEAN(report)"), coin: newCoin(t.of(collect.BRR)[0]), lo: d.Lo, hi: d.Hi, sigma: d.Sigma, centre: p.Published.Centre[0]}
	f, stderr := c.coin.share()
	c.s = min(max(2*f-1, -farthest), farthest)
	if math.Abs(2*f-1)+2*(2*stderr) >= farthest {
		c.info.warn(CentreOff, "Round 1's centre may lie three standard deviations or more from the mean: sigma may be wrong, or contributors of the two rounds differ.")
	}
	if len(before) > 0 {
		r := newResidues(before[0].Params, before[0].Tally)
		likeliest := golden(func(x float64) float64 { return r.at(x, 1) }, c.centre-0.25, c.centre+0.25)
		l := lawOf(r.readings(likeliest, 1), 1)
		c.law = &l
		c.poor = l.poor(&c.info, "there is no standard error, and the interval is the one that holds for any law of at most that sigma.")
	}
	return c, nil
}

func (c centred) Mean() (value, stderr float64, err error) {
	tau, a := math.Sqrt2*math.Erfinv(c.s), c.coin.scale()
	stderr = c.sigma * a * math.Sqrt(1-c.s*c.s/(a*a)) / (2 * density(tau) * math.Sqrt(c.coin.n))
	if c.poor {
		stderr = math.NaN()
	}
	return c.lo + c.sigma*(c.centre+tau), stderr, nil
}

// Interval maps the interval of the share, and adds what the law's departure from the Gaussian may
// move. An end that the reports leave open is the declared one of the mean.
func (c centred) Interval(conf float64) (lo, hi float64, err error) {
	if err := CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	value, _, _ := c.Mean()
	lo, hi = c.coin.interval(conf)
	if c.poor {
		lo, hi = c.anyLaw(lo, hi)
	} else {
		shift := c.shift(conf)
		lo, hi = c.position(2*lo-1)-shift, c.position(2*hi-1)+shift
	}
	return min(max(c.lo, lo), value), max(min(c.hi, hi), value), nil
}

// anyLaw returns between which means a law of standard deviation sigma, or less, has a share of its
// values above the centre:
//
//	centre − sigma·√((1−f)/f) ≤ mean ≤ centre + sigma·√(f/(1−f))
//
// by Cantelli's inequality, for the ends of an interval of f.
func (c centred) anyLaw(least, most float64) (lo, hi float64) {
	least, most = max(least, 0), min(most, 1)
	return c.lo + c.sigma*(c.centre-math.Sqrt((1-least)/least)), c.lo + c.sigma*(c.centre+math.Sqrt(most/(1-most)))
}

// shift is what γ and κ may move the estimate by: at z standard deviations from the mean a share of
// F(z) is taken for one of Φ(z).
func (c centred) shift(conf float64) float64 {
	if c.law == nil {
		return 0
	}
	z := -math.Sqrt2 * math.Erfinv(c.s)
	return c.sigma * c.law.shift([2]float64{(z*z - 1) / 6, (z*z*z - 3*z) / 24}, quantileOf(conf))
}

// position returns the mean for a difference s, infinite where there is none.
func (c centred) position(s float64) float64 {
	return c.lo + c.sigma*(c.centre+math.Sqrt2*math.Erfinv(min(max(s, -1), 1)))
}

// located is a mean, and maybe a standard deviation, estimated by likelihood with normal errors.
// Where the values do not look Gaussian the standard error is NaN, and so is the interval.
type located struct {
	Only
	mean, stderr float64
	unit         float64 // of the law
	law          *law    // nil: none is assumed
}

// likeliest returns the estimate of the likeliest Gaussian, with what the reports say of its law.
func likeliest(ask Only, l law, mean, stderr, unit float64) located {
	if l.poor(&ask.info, "there is no standard error and no interval.") {
		stderr = math.NaN()
	}
	return located{ask, mean, stderr, unit, &l}
}

func (l located) Mean() (value, stderr float64, err error) { return l.mean, l.stderr, nil }

func (l located) Interval(conf float64) (lo, hi float64, err error) {
	if err := CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	z := quantileOf(conf)
	half := z * l.stderr
	if l.law != nil {
		half += l.unit * l.law.shift(l.law.pull, z)
	}
	return l.mean - half, l.mean + half, nil
}

// window and windowStep are where and how closely LDP_KV1 looks around the centre that residues
// give, before it narrows the best place down to precision.
const (
	window     = 3
	windowStep = 0.05
	precision  = 1e-6
)

// decodeKV1 maximises the likelihood of residues and sides together around the centre that residues
// give. The standard error is that of the Fisher information.
func decodeKV1(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	r, s := newResidues(p, t), newSides(t)
	at, outside := r.locateKnown()
	info.Outside = &outside
	if err := conclusive(p, outside); err != nil {
		return nil, err
	}
	both := func(t float64) float64 { return r.at(t, 1) + s.at(t) }
	best := at.mean - window
	for i, top := 0, math.Inf(-1); i <= 2*window/windowStep; i++ {
		x := at.mean - window + float64(i)*windowStep
		if y := both(x); y > top {
			best, top = x, y
		}
	}
	best = golden(both, best-windowStep, best+windowStep)
	stderr := 1 / math.Sqrt(r.information(best, 1).mean+s.information(best))
	info.Covers, info.Omits = coversGaussian, omitsKnown
	d, l := p.Declaration, lawOf(append(r.readings(best, 1), s.readings(best)...), 1)
	return likeliest(only(info, "LDP_MEAN(report)"), l, d.Lo+d.Sigma*best, d.Sigma*stderr, d.Sigma), nil
}

// golden returns where f is largest in [lo, hi], to precision, if it has one peak there.
func golden(f func(float64) float64, lo, hi float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > precision {
		if fa > fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// sides are the cells of LDP_KV1 that report on which side of the nearest point of the lattice
// {o+8b} a value lies, by binary response; positions are in standard deviations. A value of N(t, 1)
// is above with probability
//
//	q_o(t) = Σ_{m even} Φ(o+4(m+1)−t) − Φ(o+4m−t)
//
// and its report is 1 with probability y_o = (1−p) + (2p−1)·q_o.
//
// Source: [JKMW19] section 3.2, with four offsets whose reports are all used.
type sides []side

type side struct {
	coin
	offset float64
}

func newSides(t *Tally) (s sides) {
	for _, c := range t.of(collect.BRR) {
		s = append(s, side{newCoin(c), float64(c.Offset)})
	}
	return s
}

// at returns the log-likelihood of the mean t.
func (s sides) at(t float64) float64 {
	sum := 0.0
	for _, c := range s {
		y, _ := c.reported(t)
		sum += c.ones*math.Log(y) + (c.n-c.ones)*math.Log(1-y)
	}
	return sum
}

// information returns the Fisher information about the mean at t: Σ n·y′²/(y(1−y)).
func (s sides) information(t float64) float64 {
	sum := 0.0
	for _, c := range s {
		y, slope := c.reported(t)
		sum += c.n * slope * slope / (y * (1 - y))
	}
	return sum
}

// reported returns the probability y of a 1, and its derivative by t.
func (c side) reported(t float64) (y, slope float64) {
	above, gain := 0.0, 2*c.keep-1
	for _, e := range c.edges(t) {
		above += e.sign * normal(e.z)
		slope -= e.sign * density(e.z)
	}
	return 1 - c.keep + gain*above, gain * slope
}

// edge is where being above ends, or begins, with sign −1, in standard deviations from the mean.
type edge struct{ z, sign float64 }

// edges lists those that matter to a mean t.
func (c side) edges(t float64) (all []edge) {
	m := math.Floor((t - reach - c.offset) / geometry.Lattice)
	for ; c.offset+geometry.Lattice*m < t+reach; m++ {
		if math.Mod(m, 2) == 0 {
			at := c.offset + geometry.Lattice*m - t
			all = append(all, edge{at, -1}, edge{at + geometry.Lattice, 1})
		}
	}
	return all
}
