package collect

import (
	"math"
	"time"

	"scrim/engine/collections/collect/geometry"
)

// Forecast is what a collection will be like, in closed form and without data: free of any budget.
type Forecast struct {
	Of string // what the standard errors are of
	// with n_expected reports, in the values' units; where it depends on what is not known, the
	// largest
	StdErr     float64
	StdErrLow  float64       // and the smallest: sigma is sigma_min, or the value is at an end
	Least      uint64        // the least n_expected that these parameters can be planned for
	Report     uint64        // bytes that a contributor sends at most, without the token
	Messages   uint64        // of a contributor, shuffle collections: sealed one by one
	DeviceTime time.Duration // to make the longest report, estimated for one core
}

// Forecast returns the forecast of a design. Errors are those of randomisation alone (of *_SCM3
// over the shuffler also of sampling): neither clipping nor dishonest reports are in them.
func (g *Design) Forecast() Forecast {
	f := Forecast{}
	f.Of, f.StdErr, f.StdErrLow = g.standardError()
	f.Least, _ = leastExpected(g.Protocol, g.Declaration)
	for round := range g.rounds {
		f.Report = max(f.Report, g.reportBytes(round))
		f.Messages = max(f.Messages, g.messages(round))
		f.DeviceTime = max(f.DeviceTime, g.deviceTime(round))
	}
	return f
}

// standardError returns what the forecast's errors are of, the largest and the smallest.
func (g *Design) standardError() (of string, high, low float64) {
	f := factorsOf(g.Declaration.Epsilon)
	switch g.Protocol {
	case LDPBit:
		high, low = g.bitError(f)
		return "mean", high, low
	case LDPKV2, LDPKV1:
		high = g.knownError(f)
		return "mean", high, high
	case LDPUV2, LDPUV1:
		high, low = g.unknownError(f)
		return "mean", high, low
	case LDPHier, LDPHaar:
		high, low = g.prefixError(f)
		return "share of contributors below a point", high, low
	case LDPSCM3:
		high, low = g.scales(func(sigma float64) float64 { return g.localVectorError(f, sigma) })
		return "mean, l2 norm of its error", high, low
	case ShufSum:
		high = g.sumError()
		return "mean", high, high
	case ShufVec:
		high = vectorError(g.rounds[0].batch, g.Declaration.Radius)
		return "every coordinate of the mean", high, high
	case ShufHier:
		high = nodesError(g.rounds[0].batch)
		return "share of contributors below a point", high, high
	}
	high, low = g.scales(g.shuffledVectorError)
	return "mean, l2 norm of its error", high, low
}

// bitError returns (hi-lo)·sqrt(A²/4 - (f-1/2)²)/sqrt(n), exact for people who all have fraction f
// of the range: the largest in the middle, the smallest at an end.
func (g *Design) bitError(f factors) (high, low float64) {
	d := &g.Declaration
	unit := (d.Hi - d.Lo) / math.Sqrt(float64(d.Expected))
	return unit * f.a / 2, unit * math.Sqrt(f.a*f.a-1) / 2
}

// knownError returns σ·A·sqrt(π/2)/sqrt(n2) of LDP_KV2, at a centre that was right, and
// σ·A/sqrt(0.2821·n2) of LDP_KV1, where 0.2821 = 1/(2·sqrt(π)) is the mean over the lattice's
// offsets of the Fisher information of a side.
func (g *Design) knownError(f factors) float64 {
	d := &g.Declaration
	if g.Protocol == LDPKV2 {
		return d.Sigma * f.a * math.Sqrt(math.Pi/2/float64(g.Derived.Groups[1]))
	}
	rest := uint64(0)
	for _, c := range g.rounds[0].cells {
		if c.Randomiser == BRR {
			rest += c.Quota
		}
	}
	return d.Sigma * f.a / math.Sqrt(float64(rest)/(2*math.SqrtPi))
}

// unknownError returns the error for sigma_max and for sigma_min. LDP_UV2: window half width w =
// σ(2+sqrt(ln 4n)) times A/sqrt(n2), or 2·sqrt(2)/(ε·sqrt(n2)) with Laplace noise. LDP_UV1:
// 0.85·σ·A4·sqrt(L/n); the 0.85 is measured.
func (g *Design) unknownError(f factors) (high, low float64) {
	d := &g.Declaration
	n := float64(d.Expected)
	unit := 0.85 * f.a4 * math.Sqrt(float64(g.Derived.Residues)/n)
	if g.Protocol == LDPUV2 {
		unit = f.a
		if d.Option == "laplace" {
			unit = 2 * math.Sqrt2 / d.Epsilon.Float()
		}
		unit *= windowFactor(d.Expected) / math.Sqrt(float64(g.Derived.Groups[1]))
	}
	return unit * d.SigmaMax, unit * d.SigmaMin
}

// prefixError returns that of a range from lo, as a share of all: of a consistent tree
// sqrt((0.52·h²·V1 + 0.25·h)/N), where 0.52 is measured; of LDP_HAAR at most A·K/(2·sqrt(N)),
// typically A·K/sqrt(12N).
func (g *Design) prefixError(f factors) (high, low float64) {
	n := float64(g.Declaration.Expected)
	k := float64(g.Declaration.Levels)
	if g.Protocol == LDPHaar {
		return f.a * k / (2 * math.Sqrt(n)), f.a * k / math.Sqrt(12*n)
	}
	e := treePrefix(f, g.Declaration.Levels, n)
	return e, e
}

// treePrefix returns the standard error of a prefix of a tree of h levels with n reports.
func treePrefix(f factors, h int, n float64) float64 {
	k := float64(h)
	return math.Sqrt((0.52*k*k*f.v1 + 0.25*k) / n)
}

// sumError returns the error of a shuffled mean: discrete Laplace noise for h honest contributors
// from N, and randomised rounding.
func (g *Design) sumError() float64 {
	d, b := &g.Declaration, g.rounds[0].batch
	n, grid := float64(b.Expected), float64(b.Grid)
	alpha := math.Exp(-d.Epsilon.Float() / grid)
	noise := 2 * n / float64(b.Honest) * alpha / ((1 - alpha) * (1 - alpha))
	return (d.Hi - d.Lo) / (n * grid) * math.Sqrt(noise+n/4)
}

// vectorError returns the error of a coordinate of a shuffled mean of vectors clipped to norm clip.
func vectorError(b *Batch, clip float64) float64 {
	n := float64(b.Expected)
	return clip / float64(b.Grid) * math.Sqrt(b.Mu*n/float64(b.Honest)+n/4) / n
}

// nodesError returns the error of a prefix of a shuffled tree: 0.72·sqrt(h·p(1-p)/N).
func nodesError(b *Batch) float64 {
	p := float64(b.Flip) / noiseUnit
	return treeError * math.Sqrt(float64(b.Levels)*p*(1-p)/float64(b.Expected))
}

// reportBytes returns the length of the longest report of a round, from 0. A bundle is the
// fingerprint, a count and the sealed messages, of 64 bytes each.
func (g *Design) reportBytes(round int) uint64 {
	if m := g.messages(round); m > 0 {
		return 32 + 4 + 64*m
	}
	most := 0
	for _, c := range g.rounds[round].cells {
		most = max(most, HeaderSize+c.PayloadSize())
	}
	return uint64(most)
}

// messages returns the messages of a bundle of a round, from 0.
func (g *Design) messages(round int) uint64 {
	r := g.rounds[round]
	return (&Params{Batch: r.batch, Cells: r.cells}).Messages()
}

// MaxDeviceTime is the longest that a report may take by the forecast: vectors of many coordinates
// from few contributors need that much noise of each.
const MaxDeviceTime = 10 * time.Second

// checkTime refuses reports that take too long.
func (g *Design) checkTime() error {
	for round := range g.rounds {
		if t := g.deviceTime(round); t > MaxDeviceTime {
			return few("a report takes a device some %v", t.Round(time.Second))
		}
	}
	return nil
}

// What parts of a report take, measured on one core of a server; a phone is a few times slower.
const (
	timeFixed    = 200 * time.Microsecond // planning again to verify
	timeMessage  = 170 * time.Microsecond // sealing
	timeNode     = 40 * time.Nanosecond   // a coin of 2^-32
	timePoisson  = 40 * time.Nanosecond   // a step; a draw takes two for a unit of its rate
	timeGeometry = 100 * time.Nanosecond  // a coordinate
	timeGaussian = 2 * time.Microsecond   // a discrete Gaussian
)

// deviceTime estimates the time for a report of a round, from 0.
func (g *Design) deviceTime(round int) time.Duration {
	r, c := g.rounds[round], g.rounds[round].cells[0]
	t := float64(timeFixed) + float64(timeGeometry)*float64(g.Derived.Padded) + float64(timeMessage)*float64(g.messages(round))
	switch {
	case r.batch == nil:
		if c.Randomiser == DGAUSS {
			t += float64(timeGaussian) * float64(c.Domain)
		}
	case r.batch.Levels > 0:
		t += float64(timeNode) * float64(geometry.Nodes(r.batch.Levels))
	case r.batch.Rate > 0:
		t += 2 * float64(timePoisson) * float64(c.Domain) * (1 + 2*float64(r.batch.Rate)/rateUnit)
	}
	return time.Duration(t)
}

// scales calls f with the largest and the smallest standard deviation of a coordinate that the
// declaration allows. With only a radius declared the largest is that of vectors all at the ball's
// edge; without sigma_min the smallest is a quarter of the resolution.
func (g *Design) scales(f func(sigma float64) float64) (high, low float64) {
	d := &g.Declaration
	most, least := d.SigmaMax, d.SigmaMin
	if most == 0 {
		most = g.Derived.Ball / math.Sqrt(float64(d.Dimension))
	}
	if least == 0 {
		least = d.Resolution / 4
	}
	return f(max(most, least)), f(min(most, least))
}

// localVectorError returns that of LDP_SCM3, the l2 norm, for Gaussian vectors: C·A/(c_d·sqrt(n3)),
// or C·sqrt(2d/(ρ·n3)) with DGAUSS. Both are C times ClipTarget.
func (g *Design) localVectorError(f factors, sigma float64) float64 {
	groups, v := g.Derived.Groups, &g.Derived
	trees := treePrefix(f, v.BoxLevels, float64(groups[0])/float64(v.Padded))
	norms := treePrefix(f, geometry.BucketLevels, float64(groups[1]))
	return g.clip(sigma, trees, norms) * v.ClipTarget
}

// shuffledVectorError returns that of SHUF_SCM3, the l2 norm: noise of round 3 and sampling of its
// group.
func (g *Design) shuffledVectorError(sigma float64) float64 {
	last := g.rounds[2].batch
	c := g.clip(sigma, nodesError(g.rounds[0].batch), nodesError(g.rounds[1].batch))
	noise := vectorError(last, c) * math.Sqrt(float64(g.Derived.Padded))
	return math.Hypot(noise, sigma*math.Sqrt(float64(g.Declaration.Dimension)/float64(last.Expected)))
}

// clip foretells C for Gaussian vectors of standard deviation sigma a coordinate, when a
// coordinate's tree has prefix error trees and the tree of norms has norms: the upper edge of the
// bucket of the 1 - max(κ, 2·norms) quantile of the norm about the centre. A median is off by
// sqrt(2π)·σ times its rank error, which was measured as 0.6 of the prefix error, or by the width
// of a leaf.
func (g *Design) clip(sigma, trees, norms float64) float64 {
	v := &g.Derived
	d := float64(g.Declaration.Dimension)
	width := 2 * v.Box / float64(geometry.Leaves(v.BoxLevels))
	centre := math.Hypot(math.Sqrt(2*math.Pi)*0.6*trees*sigma, width/math.Sqrt(12))
	beyond := min(0.9, max(v.ClipTarget, 2*norms))
	norm := math.Hypot(sigma, centre) * math.Sqrt(chiSquared(d, 1-beyond))
	b := geometry.NewBuckets(width*math.Sqrt(float64(v.Padded)), 2*v.Ball)
	return max(b.First, min(norm, 2*v.Ball)*b.Growth)
}

// chiSquared returns the q quantile of χ² with k degrees of freedom by Wilson and Hilferty's cube,
// good to a few percent in the upper half.
func chiSquared(k, q float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*q-1)
	root := 1 - 2/(9*k) + z*math.Sqrt(2/(9*k))
	return k * math.Pow(max(root, 0), 3)
}
