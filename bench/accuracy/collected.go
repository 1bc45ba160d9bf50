package accuracy

import (
	"errors"
	"math"
	"slices"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
)

// collectedMethods are the protocols of collections, run in memory with the product's devices and
// decoders. Conditions.Rho is ε.
func collectedMethods() []MethodKind {
	const mean, tree = "decoder=ml|paper", "ask=range|quantile"
	const scales = "sigma-min=0.25, scales=32"
	return []MethodKind{
		{"ldp-bit", "", "one bit of a bounded number", simple(collect.LDPBit, askMean)},
		{"ldp-kv2", mean, "KVGausstimate [JKMW19] in two rounds, told the spread; paper: ESTMEAN in the place of likelihood", openKnown(collect.LDPKV2)},
		{"ldp-kv1", "", "the same in one round", openKnown(collect.LDPKV1)},
		{"ldp-uv2", mean + ", mode=bit|laplace, " + scales, "UVGausstimate [JKMW19] in two rounds, told that the spread is from sigma-min to scales times that", openUnknown(collect.LDPUV2)},
		{"ldp-uv1", scales, "the same in one round", openUnknown(collect.LDPUV1)},
		{"ldp-hier", "levels=5, " + tree, "tree of randomised counts [CKS19]: shares below 15 points, or ranks of 5 quantiles", openTree(collect.LDPHier, 5)},
		{"ldp-haar", "levels=10, " + tree, "Haar coefficients in one bit each [CKS19]", openTree(collect.LDPHaar, 10)},
		{"ldp-scm3", "option=sphere|gauss, sigma-min=0.1", "shifted clipped mean in three rounds [HLY21, section 5.1]; gauss: (ε, 1e-9) by way of zCDP, as in the paper", openRotated(collect.LDPSCM3)},
		{"shuf-sum", "", "the mean of a bounded number by shuffled shares", simple(collect.ShufSum, askMean)},
		{"shuf-vec", "devices=0|1", "the mean of vectors of bounded length by shuffled shares; devices=0 draws a batch's noise at once", openShuffledVector},
		{"shuf-hier", "levels=5, devices=0|1, " + tree, "shuffled noisy counts of a tree", openTree(collect.ShufHier, 5)},
		{"shuf-scm3", "sigma-min=0.1, devices=0|1", "shifted clipped mean by the shuffler, (ε, 1e-9) [HLY21, section 5.2]", openRotated(collect.ShufSCM3)},
	}
}

// shuffledDelta is δ of the shuffle model, and of the baselines and options that have one.
const shuffledDelta = 1e-9

// collected is a method that is a collection.
type collected struct {
	protocol collect.Protocol
	ask      question
	// decodes rounds as [JKMW19] prints it
	paper bool
	// a batch's noise is drawn at once, not by devices
	atOnce  bool
	declare func(s *dataset.Set, d *collect.Declaration) // the rest of the declaration
	// closed form of the error that ask has, NaN for none
	expected func(s *dataset.Set, g *collect.Design) (e float64)
}

// method plans the collection for a set. What cannot be planned is a problem of the setting.
func (c collected) method() Method {
	return Method{Target: c.ask.target,
		build: func(s *dataset.Set, at Conditions) (runner, error) {
			g, err := c.plan(s, at)
			if err != nil {
				return nil, err
			}
			return collecting{c, g, s}.run, nil
		},
		expected: func(s *dataset.Set, at Conditions) float64 {
			g, err := c.plan(s, at)
			if err != nil || c.expected == nil {
				return math.NaN()
			}
			return c.expected(s, g)
		}}
}

const benchUUID = "11111111-2222-4333-8444-555555555555"

func (c collected) plan(s *dataset.Set, at Conditions) (*collect.Design, error) {
	if s.Sparse {
		return nil, errDense
	}
	if c.ask.scalar && s.Dim != 1 {
		return nil, errors.New("works on one dimension only")
	}
	eps, err := exact.ParseEpsilon(number(at.Rho))
	if err != nil {
		return nil, err
	}
	d := collect.Declaration{Epsilon: eps, Expected: uint64(s.Persons)}
	if info, _ := c.protocol.Info(); info.Model == collect.Shuffle {
		d.Delta, d.Trust = shuffledDelta, "separate"
	}
	c.declare(s, &d)
	return collect.Plan("bench.accuracy", benchUUID, c.protocol, d)
}

// stdErr is the forecast of a protocol whose error does not depend on what is unknown.
func stdErr(_ *dataset.Set, g *collect.Design) float64 { return g.Forecast().StdErr }

// bounded declares the range of the set.
func bounded(s *dataset.Set, d *collect.Declaration) {
	d.Lo, d.Hi = float64(s.Grid.Lo)*s.Grid.Step, float64(s.Grid.Hi)*s.Grid.Step
}

// simple is a protocol that needs nothing but a range.
func simple(p collect.Protocol, ask question) func(*named.Name) Method {
	return func(*named.Name) Method {
		return collected{protocol: p, ask: ask, declare: bounded, expected: stdErr}.method()
	}
}

// openKnown declares that the mean is from 0 to the set's radius; four times as much for ESTMEAN,
// which finds means in a quarter of the range only.
func openKnown(p collect.Protocol) func(*named.Name) Method {
	return func(n *named.Name) Method {
		paper := p == collect.LDPKV2 && paperDecoder(n)
		declare := func(s *dataset.Set, d *collect.Declaration) { d.Hi, d.Sigma = span(s, paper), s.SigmaMin }
		return collected{protocol: p, ask: askMean, paper: paper, declare: declare, expected: unless(paper, stdErr)}.method()
	}
}

// unless leaves the closed form out for the paper's decoders: it is the product's own.
func unless(paper bool, f func(*dataset.Set, *collect.Design) float64) func(*dataset.Set, *collect.Design) float64 {
	if paper {
		return nil
	}
	return f
}

func paperDecoder(n *named.Name) bool { return n.Word("decoder", "ml", "ml", "paper") == "paper" }

func span(s *dataset.Set, paper bool) float64 {
	if paper {
		return 4 * s.Radius
	}
	return s.Radius
}

func openUnknown(p collect.Protocol) func(*named.Name) Method {
	return func(n *named.Name) Method {
		paper, mode := false, "bit"
		if p == collect.LDPUV2 {
			paper, mode = paperDecoder(n), n.Word("mode", "bit", "bit", "laplace")
		}
		least, scales := n.Float("sigma-min", 0.25, 1e-6, 1e6), n.Float("scales", 32, 1, 1e6)
		declare := func(s *dataset.Set, d *collect.Declaration) {
			d.Hi, d.SigmaMin, d.SigmaMax = span(s, paper), least, least*scales
			if mode == "laplace" {
				d.Option = mode
			}
		}
		// The error is in proportion to the spread.
		expected := func(s *dataset.Set, g *collect.Design) float64 { return g.Forecast().StdErrLow * s.SigmaMin / least }
		return collected{protocol: p, ask: askMean, paper: paper, declare: declare, expected: unless(paper, expected)}.method()
	}
}

// openTree has a closed form for shares below points. The one of LDP_HAAR is that of a typical
// point.
func openTree(p collect.Protocol, preset int) func(*named.Name) Method {
	return func(n *named.Name) Method {
		c := collected{protocol: p, ask: askRange}
		levels := n.Int("levels", preset, 1, 20)
		if p == collect.ShufHier {
			c.atOnce = n.Int("devices", 0, 0, 1) == 0
		}
		c.declare = func(s *dataset.Set, d *collect.Declaration) { bounded(s, d); d.Levels = levels }
		if n.Word("ask", "range", "range", "quantile") == "quantile" {
			c.ask = askQuantile
		} else {
			c.expected = func(_ *dataset.Set, g *collect.Design) float64 { return g.Forecast().StdErrLow }
		}
		return c.method()
	}
}

// openShuffledVector declares the radius that no vector in the range is beyond. The error is that
// of the whole vector.
func openShuffledVector(n *named.Name) Method {
	declare := func(s *dataset.Set, d *collect.Declaration) {
		bounded(s, d)
		largest := max(-d.Lo, d.Hi)
		d.Lo, d.Hi, d.Dimension, d.Radius = 0, 0, s.Dim, largest*math.Sqrt(float64(s.Dim))
	}
	expected := func(s *dataset.Set, g *collect.Design) float64 {
		return g.Forecast().StdErr * math.Sqrt(float64(s.Dim))
	}
	return collected{protocol: collect.ShufVec, ask: askVector, atOnce: n.Int("devices", 0, 0, 1) == 0, declare: declare, expected: expected}.method()
}

// openRotated declares the set's bound of the mean's norm, and spreads from sigma-min to the radius
// over √d, as in [HLY21, section 6.2]. The forecast is for the spread that the set has.
func openRotated(p collect.Protocol) func(*named.Name) Method {
	return func(n *named.Name) Method {
		c := collected{protocol: p, ask: askVector}
		least, gauss := n.Float("sigma-min", 0.1, 1e-6, 1e6), false
		if p == collect.LDPSCM3 {
			gauss = n.Word("option", "sphere", "sphere", "gauss") == "gauss"
		} else {
			c.atOnce = n.Int("devices", 0, 0, 1) == 0
		}
		c.declare = func(s *dataset.Set, d *collect.Declaration) {
			d.Dimension, d.Centre, d.SigmaMin, d.SigmaMax = s.Dim, s.Radius, least, s.Radius/math.Sqrt(float64(s.Dim))
			if gauss {
				d.Option, d.Delta = "gauss", shuffledDelta
			}
		}
		c.expected = ofSpread
		return c.method()
	}
}

// ofSpread plans the same ball and buckets again with the set's largest spread as the smallest one,
// which is what a forecast's lower end is for.
func ofSpread(s *dataset.Set, g *collect.Design) float64 {
	d := g.Declaration
	d.Radius, d.Centre, d.SigmaMax, d.SigmaMin = g.Derived.Ball, 0, 0, slices.Max(s.Sigma)
	h, err := collect.Plan(g.Collection, g.UUID, g.Protocol, d)
	if err != nil {
		return math.NaN()
	}
	return h.Forecast().StdErrLow
}
