package shuffle

import (
	"fmt"
	"math"
	"strings"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/local"
	"scrim/engine/collections/tree"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Estimate answers from the batches of a collection's last round. What the protocol has no answer
// for is refused by the name of the function that has one.
type Estimate interface {
	local.Estimate
	// Sum returns the estimate of the sum over the batches' contributors and its standard error, in
	// the values' unit.
	Sum() (value, stderr float64, err error)
}

// leftOut is the code of the warning that messages were left out.
const leftOut = "W6"

// What standard errors cover and omit.
const (
	coversNoise = "the devices' noise and rounding, for the contributors of the batches"
	// coversSample is of SHUF_SCM3, whose last round asks some of the people.
	coversSample = "the devices' noise and rounding, and that the contributors of the last round are a sample"
	omitsClip    = "clipping, dishonest contributors, and who chose not to report"
	omitsLeaf    = "where in its leaf a value lies, dishonest contributors, and who chose not to report"
	omitsSum     = "dishonest contributors, one of whom can make the sum anything, and who chose not to report"
)

// Arrived describes what a tally holds, in any round and with any number of batches.
func Arrived(p *collect.Params, t *Tally) local.Info {
	info := local.Info{Protocol: p.Protocol, Round: p.Round, Stratum: p.Stratum, Reports: t.Total(), Warnings: []local.Warning{}}
	for _, c := range p.Cells {
		info.Cells = append(info.Cells, local.CellInfo{Cell: c.Cell, Randomiser: c.Randomiser, Received: t.Received(c.Cell), Quota: c.Quota, Min: c.Min})
	}
	dropped := lists.Sum(t.batches, func(b *Batch) uint64 { return b.dropped })
	if dropped > 0 {
		info.Warnings = append(info.Warnings, local.Warning{Code: leftOut, Text: fmt.Sprintf("%d messages that no device makes were left out.", dropped)})
	}
	return info
}

// enough refuses a round in which a cell has not its minimum of contributors, and batches that
// cannot be.
func enough(p *collect.Params, t *Tally) error {
	var few []string
	for _, c := range p.Cells {
		if n := t.Received(c.Cell); n < max(c.Min, p.Batch.Min) {
			few = append(few, fmt.Sprintf("cell %d has %d of %d", c.Cell, n, max(c.Min, p.Batch.Min)))
		}
	}
	const shown = 8
	if more := len(few) - shown; more > 0 {
		few = append(few[:shown], fmt.Sprintf("and %d more", more))
	}
	if len(few) > 0 {
		return refuse.New(refuse.TooFewReports, "Round %d of %s needs more reports: %s.", p.Round, p.Collection, strings.Join(few, ", "))
	}
	return lists.Each(t.batches, (*Batch).Check)
}

// only refuses every question. An estimate embeds it and answers the questions that it can.
type only struct{ local.Only }

// refusing tells by ask which functions answer: "SHUFFLE_MEAN(msg)".
func refusing(info local.Info, ask string) only { return only{local.NewOnly("SHUFFLE", info, ask)} }

func (o only) Sum() (float64, float64, error) { return 0, 0, o.Refuse("SUM") }

// Publish returns what round 1 or 2 of SHUF_SCM3 makes public for the next one: the centre of the
// rotated vectors, and how long they are about it. It refuses TooFewReports if a cell has not its
// minimum, BatchWindow for a batch that cannot be, and CollectionState for a last round. The
// round's description is valid even if there is an error.
//
// Source: [HLY21] Section 5.2, with trees of noise messages for its range counting.
func Publish(p *collect.Params, t *Tally) (collect.Published, local.Info, error) {
	info := Arrived(p, t)
	if p.Round == p.Rounds() {
		return collect.Published{}, info, refuse.New(refuse.CollectionState, "Round %d of %s is its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return collect.Published{}, info, err
	}
	if p.Round == 2 {
		return collect.Published{Centre: p.Published.Centre, Clip: tree.Clip(p, t.hier(0))}, info, nil
	}
	return collect.Published{Centre: tree.Centre(p, lists.Map(p.Cells, func(c collect.Cell) *tree.Hier { return t.hier(c.Cell) }))}, info, nil
}

// hier makes the levels of a cell's tree agree, over all its batches.
func (t *Tally) hier(cell uint32) *tree.Hier {
	b := t.params.Batch
	n, counts := uint64(0), make([]uint64, geometry.Nodes(b.Levels))
	for _, batch := range t.of(cell) {
		n += batch.reports
		for i, c := range batch.counts {
			counts[i] += c
		}
	}
	levels := make([]tree.Level, b.Levels)
	for l := range levels {
		levels[l] = tree.Binomial(counts[geometry.Nodes(l):geometry.Nodes(l+1)], n, b.Flip)
	}
	return tree.NewHier(levels)
}

// Decode returns the estimate from the last round's batches. It refuses TooFewReports if a cell has
// not its minimum, BatchWindow for a batch that cannot be, and CollectionRounds for a round that is
// not the last.
//
// before are the rounds before the last one: SHUF_SCM3 takes from the second one how long vectors
// are. Without it the standard error is larger.
func Decode(p *collect.Params, t *Tally, before ...Before) (Estimate, error) {
	if p.Round != p.Rounds() {
		return nil, refuse.New(refuse.CollectionRounds, "Round %d of %s is not its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return nil, err
	}
	switch info := Arrived(p, t); p.Protocol {
	case collect.ShufSum:
		return decodeSum(p, t, info), nil
	case collect.ShufHier:
		return decodeHistogram(p, t, info), nil
	case collect.ShufVec, collect.ShufSCM3:
		return decodeVector(p, t, before, info), nil
	}
	return nil, refuse.New(refuse.CollectionParameter, "%s is not a protocol of the shuffle model.", p.Protocol)
}

// Before is an earlier round, with its batches.
type Before = collect.Before[*Tally]

// total is the estimate of SHUF_SUM.
type total struct {
	only
	n      float64 // contributors
	lo     float64
	mean   float64
	step   float64 // of the grid, in the values' unit
	shares shares  // the law of the sum's error, in steps
}

// decodeSum adds the batches of SHUF_SUM up:
//
//	sum = N·lo + (hi−lo)·Y/Δ     mean = sum/N
//
// where Y are the sums in steps together. Each device brings a share of shape 1/h of discrete
// Laplace noise, and rounds to the grid with a variance of at most 1/4.
//
// Source: [HLY21] Lemma 11, by split and mix [BBGN20].
func decodeSum(p *collect.Params, t *Tally, info local.Info) Estimate {
	d, b := &p.Declaration, p.Batch
	n, y := float64(t.Total()), lists.Sum(t.batches, func(batch *Batch) float64 { return float64(batch.sum(0)) })
	info.Covers, info.Omits = coversNoise, omitsSum
	step := (d.Hi - d.Lo) / float64(b.Grid)
	return total{
		only: refusing(info, "SHUFFLE_MEAN(msg) or SHUFFLE_SUM(msg)"),
		n:    n, lo: d.Lo, mean: d.Lo + step*y/n, step: step,
		shares: sharesOf(p, n),
	}
}

// sharesOf is the law of the error of the sum of n contributors' numbers.
func sharesOf(p *collect.Params, n float64) shares {
	b := p.Batch
	return shares{shape: n / float64(b.Honest), alpha: math.Exp(-p.Declaration.Epsilon.Float() / float64(b.Grid)), rounding: n / 4}
}

// Sum implements Estimate.
func (s total) Sum() (value, stderr float64, err error) {
	return s.n * s.mean, s.step * math.Sqrt(s.shares.variance()), nil
}

// Mean implements Estimate.
func (s total) Mean() (value, stderr float64, err error) {
	return s.mean, s.step * math.Sqrt(s.shares.variance()) / s.n, nil
}

// Interval implements Estimate. It is of the law of the noise, whose tails are longer than a normal
// one's.
func (s total) Interval(conf float64) (lo, hi float64, err error) {
	if err := local.CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	half := s.step * s.shares.point(conf) / s.n
	return s.mean - half, s.mean + half, nil
}

// histogram is the estimate of SHUF_HIER. One contributor moves its mean by at most Cap counts.
type histogram struct {
	only
	placed tree.Placed
	n      float64
}

// decodeHistogram makes the noisy counts agree. Messages of no node were left out.
func decodeHistogram(p *collect.Params, t *Tally, info local.Info) Estimate {
	info.Covers, info.Omits = coversNoise, omitsLeaf
	ask := "SHUFFLE_RANGE(msg, a, b), SHUFFLE_QUANTILE(msg, q), SHUFFLE_MEAN(msg) or SHUFFLE_SUM(msg)"
	placed := tree.Placed{Shares: t.hier(p.Cells[0].Cell), Lo: p.Declaration.Lo, Hi: p.Declaration.Hi}
	return histogram{refusing(info, ask), placed, float64(t.Total())}
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

// Sum implements Estimate.
func (h histogram) Sum() (value, stderr float64, err error) {
	value, stderr = h.placed.Mean()
	return h.n * value, h.n * stderr, nil
}

// Interval implements Estimate. The counts' noise is a sum of many, and so nearly normal.
func (h histogram) Interval(conf float64) (lo, hi float64, err error) {
	if err := local.CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	value, stderr := h.placed.Mean()
	half := math.Sqrt2 * math.Erfinv(conf) * stderr // within it is a normal number with probability conf
	return value - half, value + half, nil
}

// vector is the estimate of SHUF_VEC and SHUF_SCM3.
type vector struct {
	only
	mean   []float64
	stderr float64 // root of the expected squared length of the error
}

// Vector implements Estimate.
func (v vector) Vector() ([]float64, float64, error) {
	return append([]float64(nil), v.mean...), v.stderr, nil
}

// decodeVector adds the batches of vectors up:
//
//	mean_j = C/C_g·Y_j/N
//
// where Y_j are the sums in steps together. Each device brings Skellam noise of variance
// 2·Rate/2^20 a coordinate, and rounds to the grid with a variance of at most 1/4. The mean of
// SHUF_SCM3 is shifted and rotated back, and of its padded coordinates the declared ones have their
// share of the noise, which is alike in all directions.
//
// The mean of SHUF_SCM3 is one of people of whom round 3 asks some: to the noise's variance that of
// a sample is added, at most the mean squared length of the clipped vectors about the centre over
// N, which round 2 tells.
func decodeVector(p *collect.Params, t *Tally, before []Before, info local.Info) Estimate {
	b, n := p.Batch, float64(t.Total())
	step := b.Clip / float64(b.Grid) / n
	y := make([]float64, p.Cells[0].Domain)
	for _, batch := range t.batches {
		for j := range y {
			y[j] += step * float64(batch.sum(j))
		}
	}
	info.Covers, info.Omits = coversNoise, omitsClip
	each := n * (2*float64(b.Rate)/(1<<20) + 0.25)
	variance := step * step * each * float64(p.Declaration.Dimension)
	if p.Protocol == collect.ShufSCM3 {
		variance += sampled(p, y, n, before, &info)
		y = tree.Restore(p, y)
	}
	return vector{refusing(info, "SHUFFLE_VECTOR_MEAN(msg)"), y, math.Sqrt(variance)}
}

// sampled returns the variance that the mean y about the centre has because n contributors of round
// 3 are a sample, and tells what clipping may move. Without round 2 all vectors are taken to be as
// long as the clip.
func sampled(p *collect.Params, y []float64, n float64, before []Before, info *local.Info) float64 {
	clip, target := p.Batch.Clip, p.Derived.ClipTarget
	square := clip * clip
	for _, b := range before {
		if b.Params.Round == 2 {
			l := tree.LengthsOf(b.Params, b.Tally.hier(0), clip)
			square, info.Cut = l.Square, &l.Cut
		}
	}
	info.Clip, info.Covers = &target, coversSample
	return max(square-math.Pow(geometry.Norm(y), 2), 0) / n
}

// shares is the law of a shuffled sum's error in steps: of the difference of two negative binomial
// variables of the given shape and ratio alpha, plus rounding of the given variance, taken for
// normal. With shape 1 it is discrete Laplace.
type shares struct{ shape, alpha, rounding float64 }

// variance is 2·shape·α/(1−α)² + rounding.
func (s shares) variance() float64 {
	return 2*s.shape*s.alpha/((1-s.alpha)*(1-s.alpha)) + s.rounding
}

// characteristic is the law's characteristic function,
//
//	φ(t) = ((1−α)²/((1−α)² + 4α·sin²(t/2)))^shape·e^(−rounding·t²/2)
func (s shares) characteristic(t float64) float64 {
	sin := 2 * math.Sin(t/2) / (1 - s.alpha)
	return math.Exp(-s.shape*math.Log1p(s.alpha*sin*sin) - s.rounding*t*t/2)
}

// inversion gives probabilities of a law that is even, from its characteristic function on a grid:
//
//	P[|X| ≤ x] = (h/π)·(x + 2·Σ_{k≥1} φ(kh)·sin(khx)/kh)
//
// which is exact but for what lies beyond 2π/h − x, where nothing is left, and for the law's own
// steps, between which it interpolates.
type inversion struct {
	h     float64
	terms []float64 // 2φ(kh)/kh, from k = 1 on
}

// invert lays the grid out.
func (s shares) invert() inversion {
	scale := -1 / math.Log(s.alpha)
	v := inversion{h: math.Pi / (scale*(60+12*math.Sqrt(2*s.shape)) + 12*math.Sqrt(s.rounding))}
	for t := v.h; t < math.Pi; t = v.h * float64(len(v.terms)+1) {
		phi := s.characteristic(t)
		v.terms = append(v.terms, 2*phi/t)
		if phi < 1e-15 {
			break
		}
	}
	return v
}

// within returns the probability that the error is within ±x steps.
func (v inversion) within(x float64) float64 {
	sin, cos := math.Sincos(v.h * x)
	s, c, sum := 0.0, 1.0, x
	for _, term := range v.terms {
		s, c = s*cos+c*sin, c*cos-s*sin // of khx
		sum += term * s
	}
	return sum * v.h / math.Pi
}

// point returns the x that the error is within with probability conf.
func (s shares) point(conf float64) float64 {
	v, sd := s.invert(), math.Sqrt(s.variance())
	lo, hi := 0.0, sd
	for v.within(hi) < conf && hi < 100*sd {
		hi *= 2
	}
	for range 60 {
		if mid := lo + (hi-lo)/2; v.within(mid) < conf {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
