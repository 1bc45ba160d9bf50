package collect

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestForecast: the errors that the specification works out or has measured.
func TestForecast(t *testing.T) {
	rotated := func(d int, rest string) string {
		return fmt.Sprintf(`{"epsilon":1,"dimension":%d,"sigma_min":0.1,"centre_norm":%g,"sigma_max":1,%s}`, d, 15*math.Sqrt(float64(d)), rest)
	}
	for _, c := range []struct {
		protocol  Protocol
		text      string
		high, low float64 // 0: not compared
		share     float64
	}{
		{LDPBit, `{"epsilon":1,"lo":0,"hi":1,"n_expected":100000}`, 0.003422, 0.003034, 0.001},
		{LDPKV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma":3,"n_expected":100000}`, 3 * 0.00908, 3 * 0.00908, 0.01},
		{LDPKV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma":1,"n_expected":1000000}`, 0.00287, 0, 0.01},
		{LDPKV1, `{"epsilon":1,"lo":0,"hi":1000,"sigma":1,"n_expected":100000}`, 0.0136, 0, 0.01},
		{LDPUV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":32,"n_expected":100000}`, 32 * 0.043, 0.043, 0.02},
		{LDPUV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":32,"n_expected":100000,"option":"laplace"}`, 32 * 0.056, 0.056, 0.02},
		{LDPUV1, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":32,"n_expected":100000}`, 32 * 0.0285, 0.0285, 0.02},
		{LDPHier, `{"epsilon":1,"lo":0,"hi":1,"levels":5,"n_expected":20000}`, 0.72 * 5 * math.Sqrt(3.6827/20000), 0, 0.03},
		{LDPHaar, `{"epsilon":1,"lo":0,"hi":1,"levels":10,"n_expected":20000}`, 0.0765, 0.0459 * 0.962, 0.01},
		{LDPSCM3, rotated(2, `"n_expected":100000`), 0.037, 0, 0.2},
		{LDPSCM3, rotated(8, `"n_expected":100000`), 0.133, 0, 0.2},
		{LDPSCM3, rotated(32, `"n_expected":100000`), 0.523, 0, 0.2},
		{LDPSCM3, rotated(8, `"n_expected":1000000`), 0.045, 0, 0.2},
		{LDPSCM3, rotated(8, `"n_expected":100000,"option":"gauss","delta":1e-9`), 0.545, 0, 0.2},
		{ShufVec, `{"epsilon":1,"dimension":8,"radius":3,"n_expected":100000,"trust":"separate"}`, 2 * 3 * 5.8 / 1e5 * math.Sqrt(1e5/72000.), 0, 0.03},
		{ShufHier, `{"epsilon":1,"lo":0,"hi":1,"n_expected":1000000,"trust":"separate"}`, 35e-6, 0, 0.02},
		{ShufSCM3, rotated(8, `"n_expected":100000,"trust":"separate"`), 0.0124, 0, 0.2},
		{ShufSCM3, rotated(8, `"n_expected":1000000,"trust":"separate"`), 0.0033, 0, 0.2},
		{ShufSCM3, rotated(32, `"n_expected":1000000,"trust":"separate"`), 0.0082, 0, 0.2},
	} {
		f := declared(t, c.protocol, c.text).Forecast()
		name := fmt.Sprintf("%s %s", c.protocol, c.text)
		near(t, name, f.StdErr, c.high, c.share)
		if c.low != 0 {
			near(t, name+" low", f.StdErrLow, c.low, c.share)
		}
		if f.Of == "" || f.StdErrLow > f.StdErr {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestForecastSizes: what a contributor sends.
func TestForecastSizes(t *testing.T) {
	for name, want := range map[string]uint64{
		"bit": 17, "kv2": 18, "uv2": 18, "uv2 laplace": 24, "uv1": 18, "hier": 144, "hier zcdp": 528, "haar": 20, "scm3": 144, "scm3 gauss": 144,
		"sum": 32 + 4 + 8*64, "vec": 32 + 4 + 8*8*64,
	} {
		p := sampleRound(t, name, 1)
		g, err := Plan(p.Collection, p.UUID, p.Protocol, p.Declaration)
		if err != nil {
			t.Fatal(err)
		}
		if f := g.Forecast(); f.Report != want || f.DeviceTime <= 0 || f.DeviceTime > 100*time.Millisecond {
			t.Errorf("%s: %d bytes in %v, want %d", name, f.Report, f.DeviceTime, want)
		}
	}
}

// TestCost: what a contributor pays, and in which round.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		sample string
		want   Loss
		rounds []Loss
	}{
		{"bit", Loss{10_000, 0, 0.5}, nil},
		{"kv1", Loss{5_000, 0, 0.125}, nil},
		{"uv2 laplace", Loss{20_000, 0, 2}, nil},
		{"hier", Loss{10_000, 0, 0.5}, nil},
		{"hier zcdp", Loss{10_000, 0, 0.25}, nil},
		{"scm3", Loss{10_000, 0, 0.5}, []Loss{{10_000, 0, 0.5}, {10_000, 0, 0.5}, {10_000, 0, 0.5}}},
		{"scm3 gauss", Loss{10_000, 1e-9, 0.5}, []Loss{{10_000, 0, 0.5}, {10_000, 0, 0.5}, {10_000, 1e-9, 0.011781160}}},
		// 1/4 + 2·sqrt(ln(10^9)/4) = 4.80228.
		{"scm3 zcdp", Loss{48_023, 1e-9, 0.25}, []Loss{{10_000, 0, 0.25}, {10_000, 0, 0.25}, {48_023, 1e-9, 0.25}}},
		{"sum", Loss{10_000, 1e-9, math.Inf(1)}, nil},
		{"shuffled scm3", Loss{10_000, 1e-9, math.Inf(1)}, nil},
	} {
		p := sampleRound(t, c.sample, 1)
		g, err := Plan(p.Collection, p.UUID, p.Protocol, p.Declaration)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Cost(); !sameLoss(got, c.want) {
			t.Errorf("%s: %+v, want %+v and at most 1e-9 more", c.sample, got, c.want)
		}
		for i, want := range c.rounds {
			if got := sampleRound(t, c.sample, i+1).Cost(); !sameLoss(got, want) {
				t.Errorf("%s round %d: %+v, want %+v", c.sample, i+1, got, want)
			}
		}
	}
}

// sameLoss tells whether a loss is the wanted one, its ρ rounded up.
func sameLoss(got, want Loss) bool {
	return got.Epsilon == want.Epsilon && got.Delta == want.Delta &&
		(got.Rho == want.Rho || got.Rho > want.Rho && got.Rho < want.Rho*(1+1e-6))
}
