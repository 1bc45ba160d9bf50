package local

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/tree"
	"scrim/internal/refuse"
)

// Estimate answers from the reports of a collection's last round. What the protocol has no answer
// for is refused by the name of the function that has one.
type Estimate interface {
	// Mean returns the estimate of the mean and its standard error, in the values' unit.
	Mean() (value, stderr float64, err error)
	// SD returns the estimate of the values' standard deviation and its standard error.
	SD() (value, stderr float64, err error)
	// Vector returns the estimate of the mean vector, and the standard error of its l2 norm.
	Vector() (value []float64, stderr float64, err error)
	// Range returns the share of values in [a, b), from 0 to 1 up to the error.
	Range(a, b float64) (value, stderr float64, err error)
	// Quantile returns the value below which a share q of [0, 1] lies.
	Quantile(q float64) (value float64, err error)
	// Interval returns an interval for the mean that covers it with probability conf of (0, 1). The
	// value of Mean lies within.
	Interval(conf float64) (lo, hi float64, err error)
	// Info describes how the estimate came about.
	Info() Info
}

// Info describes a round and its estimate. All of it is public.
type Info struct {
	Protocol collect.Protocol `json:"protocol"`
	Round    int              `json:"round"`
	Stratum  string           `json:"stratum,omitempty"`
	Reports  uint64           `json:"reports"` // of this round
	Cells    []CellInfo       `json:"cells"`

	// KV, UV: posterior mass far from the centre, refused above 0.05
	Outside *float64 `json:"outside,omitempty"`
	FitP    *float64 `json:"fit_p,omitempty"` // KV, UV: p-value of the fit of a Gaussian
	// KV, UV: p-value of a Gaussian's skewness and kurtosis
	ShapeP *float64 `json:"shape_p,omitempty"`
	// SCM3: share of vectors that round 3 meant to clip
	Clip *float64 `json:"clip_target,omitempty"`
	// SHUF_SCM3: what clipping moves the mean by at most, as far as round 2 tells
	Cut *float64 `json:"clip_shift,omitempty"`

	Covers   string    `json:"stderr_covers,omitempty"` // what standard errors and intervals cover
	Omits    string    `json:"stderr_omits,omitempty"`  // and what they do not
	Warnings []Warning `json:"warnings"`
}

// CellInfo counts a cell's reports.
type CellInfo struct {
	Cell       uint32             `json:"cell"`
	Randomiser collect.Randomiser `json:"randomizer"`
	Received   uint64             `json:"received"`
	Quota      uint64             `json:"quota"`
	Min        uint64             `json:"min"`
}

// Warning says what makes an estimate doubtful that is given all the same.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// The codes of warnings.
const (
	CentreOff    = "W3" // the centre of round 1 may lie three standard deviations off or more
	PoorFit      = "W4" // the values do not look Gaussian
	CellHalfFull = "W5" // a cell has less than half of its quota
)

// What standard errors cover and omit.
const (
	coversBoth = "randomisation, and that contributors are a sample"
	// An interval of a Gaussian protocol is wider than its standard error says.
	coversGaussian = "randomisation, that contributors are a sample, and in intervals the skewness and the tails that the reports do not exclude"
	omitsKnown     = "a wrong sigma, dishonest reports, and who chose not to report"
	omitsBias      = "clipping, dishonest reports, and who chose not to report"
)

// Arrived describes what a tally holds, in any round and with any number of reports.
func Arrived(p *collect.Params, t *Tally) Info {
	info := Info{Protocol: p.Protocol, Round: p.Round, Stratum: p.Stratum, Reports: t.Total(), Warnings: []Warning{}}
	for _, c := range t.parts {
		info.Cells = append(info.Cells, CellInfo{c.Cell.Cell, c.Randomiser, c.reports, c.Quota, c.Min})
	}
	if text := halfFull(t); text != "" {
		info.warn(CellHalfFull, text)
	}
	return info
}

func (i *Info) warn(code, text string) { i.Warnings = append(i.Warnings, Warning{code, text}) }

// Only refuses every question. An estimate embeds it and answers the questions that it can.
type Only struct {
	family string // of functions: LDP
	info   Info
	ask    string // the functions that answer: "LDP_MEAN(report)"
}

// NewOnly returns what an estimate of a family of functions, LDP or SHUFFLE, embeds. ask names the
// functions that answer.
func NewOnly(family string, info Info, ask string) Only { return Only{family, info, ask} }

func only(info Info, ask string) Only { return NewOnly("LDP", info, ask) }

// Refuse refuses a function of the family.
func (o Only) Refuse(function string) error {
	return refuse.New(refuse.Aggregate, "%s_%s has no answer from a collection of %s.", o.family, function, o.info.Protocol).
		With("Ask %s.", o.ask)
}

// Mean implements Estimate, as the others do.
func (o Only) Mean() (float64, float64, error) { return 0, 0, o.Refuse("MEAN") }

// SD implements Estimate.
func (o Only) SD() (float64, float64, error) { return 0, 0, o.Refuse("SD") }

// Vector implements Estimate.
func (o Only) Vector() ([]float64, float64, error) { return nil, 0, o.Refuse("VECTOR_MEAN") }

// Quantile implements Estimate.
func (o Only) Quantile(float64) (float64, error) { return 0, o.Refuse("QUANTILE") }

// Interval implements Estimate.
func (o Only) Interval(float64) (lo, hi float64, err error) { return 0, 0, o.Refuse("LOW") }

// Range implements Estimate.
func (o Only) Range(float64, float64) (value, stderr float64, err error) {
	return 0, 0, o.Refuse("RANGE")
}

// Info implements Estimate.
func (o Only) Info() Info { return o.info }

// CheckLevel refuses a confidence level that is none.
func CheckLevel(conf float64) error {
	if !(conf > 0 && conf < 1) {
		return refuse.New(refuse.Option, "The confidence level has to lie between 0 and 1, not at %v.", conf)
	}
	return nil
}

// bounded is the estimate of a mean of values in [lo, hi] from one-bit means: lo + (hi−lo)·share.
// It answers LDP_BIT, and round 2 of LDP_UV2 over its window.
//
// Each report has variance A²/4 − (f − 1/2)² in widths of the range for a contributor at f, so the
// standard error is at most (hi−lo)·A/(2√n). It does not matter how values spread within the range.
type bounded struct {
	Only
	coin   coin
	lo, hi float64
}

func decodeBit(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	info.Covers, info.Omits = coversBoth, omitsBias
	return bounded{only(info, "LDP_MEAN(report)"), newCoin(&t.parts[0]), p.Declaration.Lo, p.Declaration.Hi}, nil
}

func (b bounded) Mean() (value, stderr float64, err error) {
	f, s := b.coin.share()
	return b.lo + (b.hi-b.lo)*f, (b.hi - b.lo) * s, nil
}

func (b bounded) Interval(conf float64) (lo, hi float64, err error) {
	if err := CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	lo, hi = b.coin.interval(conf)
	return b.lo + (b.hi-b.lo)*lo, b.lo + (b.hi-b.lo)*hi, nil
}

// coin is binary randomised response: of n reports, ones say 1; each tells the truth with
// probability keep.
type coin struct {
	ones, n float64
	keep    float64
}

func newCoin(c *part) coin {
	counts := c.sum.(*values).counts
	return coin{float64(counts[1]), float64(counts[0] + counts[1]), probability(c.Keep)}
}

// scale is A = 1/(2p−1), by which randomisation spreads.
func (c coin) scale() float64 { return 1 / (2*c.keep - 1) }

// debias returns the unbiased estimate of the share of ones before randomisation, given theirs
// after it.
func (c coin) debias(share float64) float64 { return (share-0.5)*c.scale() + 0.5 }

// share returns the estimate of the share of ones before randomisation, and its standard error for
// contributors who are a sample:
//
//	stderr = A·√(y(1−y)/n)
//
// y is the share of reported ones, kept within what randomisation leaves possible, [1−p, p]. For
// contributors who are all of interest it is an upper bound: y(1−y) is concave in each one's own
// chance of a one.
func (c coin) share() (value, stderr float64) {
	y := c.ones / c.n
	possible := min(max(y, 1-c.keep), c.keep)
	return c.debias(y), c.scale() * math.Sqrt(possible*(1-possible)/c.n)
}

// interval returns an interval for the share of ones before randomisation at a level: Wilson's for
// that of reported ones, which holds for few reports too, without the randomisation.
func (c coin) interval(conf float64) (lo, hi float64) {
	z := quantileOf(conf)
	centre := (c.ones + z*z/2) / (c.n + z*z)
	half := z / (c.n + z*z) * math.Sqrt(c.ones*(c.n-c.ones)/c.n+z*z/4)
	return c.debias(centre - half), c.debias(centre + half)
}

// quantileOf returns the standard normal z of which [−z, z] has probability conf.
func quantileOf(conf float64) float64 { return math.Sqrt2 * math.Erfinv(conf) }

// beta is the failure probability of claims without one of their own: what users expect of a range
// of 95 %.
const beta = 0.05

// Publish returns what the round that p describes makes public for the next one. It refuses
// TooFewReports if a cell has not its minimum, RoundInconclusive if the reports leave open where
// the next round has to look, and CollectionState for a last round.
//
// The description of the round is complete also when the round is refused.
func Publish(p *collect.Params, t *Tally) (collect.Published, Info, error) {
	info := Arrived(p, t)
	if lastRound(p) {
		return collect.Published{}, info, refuse.New(refuse.CollectionState, "Round %d of %s is its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return collect.Published{}, info, err
	}
	published, err := publish(p, t, &info)
	if err != nil {
		return collect.Published{}, info, err
	}
	return published, info, nil
}

func publish(p *collect.Params, t *Tally, info *Info) (collect.Published, error) {
	switch p.Protocol {
	case collect.LDPKV2:
		return publishKnown(p, t, info)
	case collect.LDPUV2:
		return publishUnknown(p, t, info)
	case collect.LDPSCM3:
		return publishSCM3(p, t)
	}
	return collect.Published{}, notLocal(p)
}

// Decode returns the estimate from the last round's reports. It refuses TooFewReports if a cell has
// not its minimum, RoundInconclusive if the reports of a single round determine nothing, and
// CollectionRounds for a round that is not the last.
//
// before are the rounds before the last one. LDP_KV2 and LDP_UV2 take from the first one whether
// the values look Gaussian; without it they cannot tell.
func Decode(p *collect.Params, t *Tally, before ...Before) (Estimate, error) {
	if info, ok := p.Protocol.Info(); !ok || info.Model != collect.Local {
		return nil, notLocal(p)
	}
	if !lastRound(p) {
		return nil, refuse.New(refuse.CollectionRounds, "Round %d of %s is not its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return nil, err
	}
	return decode(p, t, before, Arrived(p, t))
}

// Before is an earlier round, with its reports.
type Before = collect.Before[*Tally]

func decode(p *collect.Params, t *Tally, before []Before, info Info) (Estimate, error) {
	switch p.Protocol {
	case collect.LDPBit:
		return decodeBit(p, t, info)
	case collect.LDPKV2:
		return decodeKV2(p, t, before, info)
	case collect.LDPKV1:
		return decodeKV1(p, t, info)
	case collect.LDPUV2:
		return decodeUV2(p, t, before, info)
	case collect.LDPUV1:
		return decodeUV1(p, t, info)
	case collect.LDPHier, collect.LDPHaar:
		return decodeTree(p, t, info)
	case collect.LDPSCM3:
		return decodeSCM3(p, t, info)
	}
	return nil, notLocal(p)
}

func lastRound(p *collect.Params) bool {
	info, ok := p.Protocol.Info()
	return ok && p.Round == info.Rounds
}

func notLocal(p *collect.Params) error {
	return refuse.New(refuse.CollectionParameter, "%s is not a protocol of the local model.", p.Protocol)
}

// level returns what a cell's reports say of its level of a tree. The cell's randomiser is KRR, OUE
// or HRR.
func (t *Tally) level(c collect.Cell) tree.Level {
	switch part := t.part(c.Cell); sum := part.sum.(type) {
	case *values:
		return tree.KRR(sum.counts, c.Keep)
	case *ones:
		sum.flush()
		return tree.OUE(sum.counts, part.reports, c.Keep)
	case *signs:
		return tree.HRR(sum.sums, part.reports, c.Keep)
	}
	panic("local: no level of a tree: " + string(c.Randomiser))
}

// histogram is the estimate of LDP_HIER and LDP_HAAR.
type histogram struct {
	Only
	placed tree.Placed
}

// decodeTree makes the levels agree. Levels without reports are left out if their minimum is 0.
func decodeTree(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	levels := make([]tree.Level, len(t.parts))
	for _, c := range t.parts {
		levels[c.Level-1] = t.level(c.Cell)
	}
	info.Covers, info.Omits = coversBoth, "where in its leaf a value lies, dishonest reports, and who chose not to report"
	placed := tree.Placed{Lo: p.Declaration.Lo, Hi: p.Declaration.Hi}
	if p.Protocol == collect.LDPHaar {
		placed.Shares = tree.NewHaar(levels)
	} else {
		placed.Shares = tree.NewHier(levels)
	}
	return histogram{only(info, "LDP_RANGE(report, a, b), LDP_QUANTILE(report, q) or LDP_MEAN(report)"), placed}, nil
}

// Range implements Estimate.
func (h histogram) Range(a, b float64) (value, stderr float64, err error) {
	return h.placed.Range(a, b)
}

// Quantile implements Estimate.
func (h histogram) Quantile(q float64) (value float64, err error) { return h.placed.Quantile(q) }

// Mean implements Estimate.
func (h histogram) Mean() (value, stderr float64, err error) {
	value, stderr = h.placed.Mean()
	return value, stderr, nil
}

// Interval implements Estimate.
func (h histogram) Interval(conf float64) (lo, hi float64, err error) {
	value, stderr := h.placed.Mean()
	return located{Only: h.Only, mean: value, stderr: stderr}.Interval(conf)
}
