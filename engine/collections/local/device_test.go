package local_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/local"
	"scrim/test/stattest"
)

// devices have every contributor of a round's quotas report by the device's code, over the wire
// format. Values are Gaussian; some contributors have none, and report the value for NULL.
func devices(t *testing.T, r *rand.Rand, p *collect.Params, mean, sd float64) *local.Tally {
	t.Helper()
	random, tally := exact.New(stattest.Source(t, string(p.Protocol)+"devices")), local.NewTally(p)
	for _, c := range p.Cells {
		for range c.Quota {
			report, err := device.Report(random, p, c.Cell, collect.Value{mean + sd*r.NormFloat64()})
			if err != nil {
				t.Fatal(err)
			}
			cell, payload, err := p.DecodeReport(report)
			if err != nil {
				t.Fatal(err)
			}
			if err := tally.Add(cell, payload, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tally
}

// TestFromDevices runs each protocol for scalars from values on devices to the estimate, once:
// means, ranges and quantiles lie within six standard errors, and those of values a little farther
// off do not.
func TestFromDevices(t *testing.T) {
	eps := exact.Epsilon(20_000)
	known := collect.Declaration{Epsilon: eps, Expected: 20_000, Lo: -100, Hi: 100, Sigma: 3}
	unknown := collect.Declaration{Epsilon: eps, Expected: 20_000, Lo: -100, Hi: 100, SigmaMin: 1, SigmaMax: 12}
	noisy, bounded := unknown, collect.Declaration{Epsilon: eps, Expected: 20_000, Lo: -10, Hi: 40}
	noisy.Option = "laplace"
	hier, haar := bounded, bounded
	hier.Levels, haar.Levels = 3, 7
	for _, c := range []struct {
		protocol collect.Protocol
		d        collect.Declaration
		off      float64 // so many standard deviations of the values are seen
	}{
		{collect.LDPBit, bounded, 1}, {collect.LDPKV2, known, 0.2}, {collect.LDPKV1, known, 0.3}, {collect.LDPUV2, unknown, 0.6},
		{collect.LDPUV2, noisy, 1}, {collect.LDPUV1, unknown, 0.4}, {collect.LDPHier, hier, 2}, {collect.LDPHaar, haar, 2},
	} {
		const mean, sd = 13.7, 3.0
		t.Run(string(c.protocol)+c.d.Option, func(t *testing.T) {
			e := estimateFromDevices(t, c.protocol, c.d, mean, sd)
			value, stderr, err := e.Mean()
			if err != nil || math.Abs(value-mean) > 6*stderr || math.Abs(value-mean-c.off*sd) < 6*stderr {
				t.Errorf("mean %v ± %v, want %v: %v", value, stderr, mean, err)
			}
			if value, stderr, err := e.SD(); err == nil && (math.Abs(value-sd) > 6*stderr || stderr > 1) {
				t.Errorf("sd %v ± %v, want %v", value, stderr, sd)
			}
			t.Logf("mean %.3f ± %.3f", value, stderr)
			if c.protocol == collect.LDPHier || c.protocol == collect.LDPHaar {
				checkShares(t, e, mean, sd)
			}
		})
	}
}

func estimateFromDevices(t *testing.T, protocol collect.Protocol, d collect.Declaration, mean, sd float64) local.Estimate {
	t.Helper()
	g, err := collect.Plan("shop.basket", "11111111-2222-4333-8444-555555555555", protocol, d)
	if err != nil {
		t.Fatal(err)
	}
	r, info := rand.New(stattest.Source(t, string(protocol))), collect.Published{}
	for round := 1; ; round++ {
		p, err := g.Params(round, "", info, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		tally := devices(t, r, p, mean, sd)
		if rounds, _ := protocol.Info(); round == rounds.Rounds {
			e, err := local.Decode(p, tally)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		if info, _, err = local.Publish(p, tally); err != nil {
			t.Fatal(err)
		}
	}
}

// checkShares compares ranges and quantiles with the normal law.
func checkShares(t *testing.T, e local.Estimate, mean, sd float64) {
	t.Helper()
	below := func(x float64) float64 { return math.Erfc((mean-x)/sd/math.Sqrt2) / 2 }
	for _, ends := range [][2]float64{{-10, mean}, {mean - sd, mean + sd}, {mean + sd, 40}, {math.Inf(-1), math.Inf(1)}, {-10, 40}, {5, 5}} {
		value, stderr, err := e.Range(ends[0], ends[1])
		want := below(min(ends[1], 1e6)) - below(max(ends[0], -1e6))
		// leaves are not cut where the density is even
		if err != nil || math.Abs(value-want) > 6*stderr+0.03 || stderr > 0.05 {
			t.Errorf("share of %v: %v ± %v, want %v: %v", ends, value, stderr, want, err)
		}
	}
	for q, want := range map[float64]float64{0.5: mean, 0.16: mean - sd, 0.84: mean + sd} {
		if got, err := e.Quantile(q); err != nil || math.Abs(got-want) > 1 {
			t.Errorf("quantile %v: %v, want %v: %v", q, got, want, err)
		}
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if got, err := e.Quantile(q); err == nil {
			t.Errorf("quantile %v: %v", q, got)
		}
	}
	for _, ends := range [][2]float64{{1, 0}, {math.NaN(), 1}, {0, math.NaN()}} {
		if value, _, err := e.Range(ends[0], ends[1]); err == nil {
			t.Errorf("share of %v: %v", ends, value)
		}
	}
}
