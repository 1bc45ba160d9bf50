package device

import (
	"bytes"
	"math"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/test/stattest"
)

const uuid = "01234567-89ab-cdef-0123-456789abcdef"

var inf, nan = math.Inf(1), math.NaN()

// declarations are small collections of every protocol.
var declarations = map[collect.Protocol]collect.Declaration{
	collect.LDPBit:  {Epsilon: 10_000, Expected: 1000, Lo: -2, Hi: 10, NullDefault: []float64{3}},
	collect.LDPKV2:  {Epsilon: 10_000, Expected: 50_000, Lo: 5, Hi: 25, Sigma: 2, NullDefault: []float64{12}},
	collect.LDPKV1:  {Epsilon: 10_000, Expected: 50_000, Lo: 5, Hi: 25, Sigma: 2, NullDefault: []float64{12}},
	collect.LDPUV2:  {Epsilon: 10_000, Expected: 50_000, Lo: 5, Hi: 25, SigmaMin: 1, SigmaMax: 4, NullDefault: []float64{12}},
	collect.LDPUV1:  {Epsilon: 10_000, Expected: 50_000, Lo: 5, Hi: 25, SigmaMin: 1, SigmaMax: 4, NullDefault: []float64{12}},
	collect.LDPHier: {Epsilon: 10_000, Expected: 50_000, Lo: 0, Hi: 64, Levels: 3, NullDefault: []float64{17}},
	collect.LDPHaar: {Epsilon: 10_000, Expected: 50_000, Lo: 0, Hi: 64, Levels: 4, NullDefault: []float64{17}},
	collect.LDPSCM3: {Epsilon: 10_000, Expected: 200_000, Dimension: 3, Radius: 10, Resolution: 2, NullDefault: []float64{1, 2, -3}},

	collect.ShufSum:  {Epsilon: 10_000, Delta: 1e-9, Expected: 1000, Lo: -2, Hi: 10, NullDefault: []float64{3}, Trust: "separate"},
	collect.ShufVec:  {Epsilon: 10_000, Delta: 1e-9, Expected: 10_000, Dimension: 3, Radius: 10, NullDefault: []float64{1, 2, -3}, Trust: "separate"},
	collect.ShufHier: {Epsilon: 10_000, Delta: 1e-9, Expected: 10_000, Lo: 0, Hi: 64, Levels: 3, NullDefault: []float64{17}, Trust: "separate"},
	collect.ShufSCM3: {Epsilon: 10_000, Delta: 1e-9, Expected: 100_000, Dimension: 3, Radius: 10, Resolution: 2, NullDefault: []float64{1, 2, -3}, Trust: "separate"},
}

// published are numbers that earlier rounds may have given.
func published(p collect.Protocol, round int) collect.Published {
	switch {
	case round == 1:
		return collect.Published{}
	case p == collect.LDPKV2:
		return collect.Published{Centre: []float64{3.75}}
	case p == collect.LDPUV2:
		return collect.Published{Centre: []float64{8.5}, Width: 9}
	case round == 2:
		return collect.Published{Centre: []float64{1, -2, 0.5, 3}}
	}
	return collect.Published{Centre: []float64{1, -2, 0.5, 3}, Clip: 6}
}

// roundOf returns parameters of a round; option may be empty.
func roundOf(t testing.TB, p collect.Protocol, option string, round int) *collect.Params {
	t.Helper()
	return planned(t, p, declarations[p].Expected, option, round)
}

// planned is roundOf for n contributors.
func planned(t testing.TB, p collect.Protocol, n uint64, option string, round int) *collect.Params {
	t.Helper()
	d := declarations[p]
	d.Option, d.Expected = option, n
	if option == "gauss" {
		d.Delta = 1e-6
	}
	g, err := collect.Plan("survey.test", uuid, p, d)
	if err != nil {
		t.Fatal(err)
	}
	var key, signs []byte
	if info, _ := p.Info(); info.Model == collect.Shuffle {
		key = bytes.Repeat([]byte{9}, 32)
	}
	if p == collect.LDPSCM3 || p == collect.ShufSCM3 {
		signs = bytes.Repeat([]byte{7}, 32)
	}
	params, err := g.Params(round, "", published(p, round), key, signs)
	if err != nil {
		t.Fatal(err)
	}
	return params
}

// rounds calls f for every round of every protocol of a model, options included.
func rounds(t *testing.T, m collect.Model, f func(t *testing.T, p *collect.Params)) {
	for _, info := range collect.Protocols {
		if info.Model != m {
			continue
		}
		for _, option := range []string{"", "laplace", "zcdp", "gauss"} {
			if option != "" && !hasOption(info.Protocol, option) {
				continue
			}
			for round := 1; round <= info.Rounds; round++ {
				p := roundOf(t, info.Protocol, option, round)
				t.Run(string(info.Protocol)+option+string(rune('0'+round)), func(t *testing.T) { f(t, p) })
			}
		}
	}
}

func hasOption(p collect.Protocol, option string) bool {
	switch option {
	case "laplace":
		return p == collect.LDPUV2
	case "zcdp":
		return p == collect.LDPHier || p == collect.LDPSCM3
	}
	return p == collect.LDPSCM3
}

// report returns a report drawn from the stream of one name.
func report(t testing.TB, stream string, p *collect.Params, cell uint32, v collect.Value) []byte {
	t.Helper()
	b, err := Report(exact.New(stattest.Source(t, stream)), p, cell, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
