package device

import (
	"encoding/binary"
	"math"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// payloads draws the payloads of one value's reports.
func payloads(t *testing.T, p *collect.Params, cell uint32, v collect.Value, times int) [][]byte {
	t.Helper()
	r := exact.New(stattest.Source(t, "payloads"))
	all := make([][]byte, times)
	on := New(p)
	for i := range all {
		b, err := on.Report(r, cell, v)
		if err != nil {
			t.Fatal(err)
		}
		if _, all[i], err = p.DecodeReport(b); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestCodes checks codes against values worked out by hand.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		protocol collect.Protocol
		round    int
		cell     uint32
		v        float64
		want     uint64
	}{
		{collect.LDPBit, 1, 0, 4, 1 << 31},
		{collect.LDPBit, 1, 0, 10, 1 << 32},
		{collect.LDPBit, 1, 0, -2, 0},
		{collect.LDPKV2, 1, 0, 17, 2},            // t = 6
		{collect.LDPKV2, 1, 1, 17, 3},            // floor(6/2)
		{collect.LDPKV2, 1, 0, 4, 3},             // t = -1/2
		{collect.LDPKV2, 2, 0, 12.5, 1},          // t = 3.75, the centre
		{collect.LDPKV2, 2, 0, 12.4, 0},          //
		{collect.LDPUV2, 2, 0, 13.5, 1 << 31},    // the window's middle
		{collect.LDPUV2, 2, 0, 4.5, 0},           // its lower end
		{collect.LDPUV2, 2, 0, 1e9, 1 << 32},     //
		{collect.LDPHier, 1, 2, 37.5, 37},        // leaves of width 1
		{collect.LDPHier, 1, 0, 37.5, 2},         //
		{collect.LDPHaar, 1, 0, 37.5, 2*4 + 1},   // leaf 9 of 16: block 4, right half
		{collect.LDPHaar, 1, 3, 37.5, 2*0 + 1},   // right half of all
		{collect.LDPHaar, 1, 2, 37.5, 2 * 1},     // block 1 of 8 leaves, left half
		{collect.LDPKV1, 1, 0, 17, 2},            //
		{collect.LDPUV1, 1, 2, 5 + 13.0, 13 / 4}, //
	} {
		p := roundOf(t, c.protocol, "", c.round)
		if got := New(p).code(p.Cells[c.cell], collect.Value{c.v}); got != c.want {
			t.Errorf("%s round %d cell %d: code of %v is %d, want %d", c.protocol, c.round, c.cell, c.v, got, c.want)
		}
	}
}

// TestUnaryReportsNameTheNode checks which bit is fair and which are noise.
func TestUnaryReportsNameTheNode(t *testing.T) {
	p := roundOf(t, collect.LDPHier, "zcdp", 1)
	const times = 5000
	ones := make([][]float64, p.Cells[1].Domain)
	for _, b := range payloads(t, p, 1, collect.Value{37.5}, times) {
		for i := range ones {
			ones[i] = append(ones[i], float64(b[i/8]>>(7-i%8)&1))
		}
	}
	q := float64(p.Cells[1].Keep) / (1 << 62)
	for i, sample := range ones {
		want := q
		if i == 9 {
			want = 0.5
			stattest.Reject(t, stattest.Mean("the node's bit against noise", sample, q, 0.5))
		}
		stattest.Accept(t, stattest.Mean("a bit", sample, want, math.Sqrt(want*(1-want))))
	}
}

// TestLaplaceReports checks the scale of LDP_UV2's option.
func TestLaplaceReports(t *testing.T) {
	p := roundOf(t, collect.LDPUV2, "laplace", 2)
	var sample []float64
	for _, b := range payloads(t, p, 0, collect.Value{13.5}, 10000) {
		sample = append(sample, float64(int64(binary.BigEndian.Uint64(b)))-2048)
	}
	alpha := math.Exp(-1.0 / 4096)
	variance := 2 * alpha / ((1 - alpha) * (1 - alpha))
	stattest.Accept(t, stattest.Mean("laplace", sample, 0, math.Sqrt(variance)))
	stattest.Accept(t, stattest.Variance("laplace", sample, variance, 6))
	stattest.Reject(t, stattest.Variance("laplace of a larger epsilon", sample, variance/1.5, 6))
}

// TestGaussReports checks the scale and the mean of LDP_SCM3's round 3 with Gaussian noise.
func TestGaussReports(t *testing.T) {
	for _, option := range []string{"gauss", "zcdp"} {
		p := roundOf(t, collect.LDPSCM3, option, 3)
		v := collect.Value{1, 2, -3}
		y := New(p).shifted(v)
		geometry.Clip(y, p.Published.Clip)
		scale := 65536 * 2 / p.Published.Clip // four coordinates
		var sample []float64
		for _, b := range payloads(t, p, 0, v, 5000) {
			for j := range y {
				sample = append(sample, float64(int32(binary.BigEndian.Uint32(b[4*j:])))-y[j]*scale)
			}
		}
		variance := float64(p.GaussVariance())
		if want := 2 * 65536 * 65536 * 4 / p.Derived.Rho; math.Abs(variance/want-1) > 1e-9 {
			t.Errorf("variance %v for rho %v", variance, p.Derived.Rho)
		}
		stattest.Accept(t, stattest.Mean(option, sample, 0, math.Sqrt(variance)))
		stattest.Accept(t, stattest.Variance(option, sample, variance, 3))
		stattest.Reject(t, stattest.Variance(option+" with half the noise", sample, variance/2, 3))
	}
}

// TestGaussVectorsStayWithinTheirBound checks what the sensitivity rests on, for vectors at and
// beyond Clip.
func TestGaussVectorsStayWithinTheirBound(t *testing.T) {
	r := stattest.Source(t, "balls")
	for d := 1; d <= 64; d *= 2 {
		square := uint64(65536 * 65536 * d)
		for range 200 {
			y := make([]float64, d)
			for j := range y {
				y[j] = float64(int64(r.Uint64())) * 1e-18
			}
			// in one half of the cases within
			clip := geometry.Norm(y) * (0.5 + float64(r.Uint64()>>11)/(1<<53))
			want := 65536 * math.Sqrt(float64(d)) * min(1, geometry.Norm(y)/clip)
			sum := uint64(0)
			for _, z := range gaussGrid(y, clip, square) {
				sum += uint64(z * z)
			}
			if sum > square || math.Sqrt(float64(sum)) < want-math.Sqrt(float64(d))-1 {
				t.Errorf("d=%d: the squares sum to %d of %d, want a length of about %v", d, sum, square, want)
			}
		}
	}
}

func TestNoisyStaysWithinItsLimit(t *testing.T) {
	for _, c := range [][3]int64{{5, 3, 8}, {5, 4, 8}, {-5, -4, -8}, {5, math.MaxInt64, 8}, {-5, math.MinInt64, -8}, {5, -13, -8}, {5, -6, -1}} {
		if got := noisy(c[0], c[1], 8); got != c[2] {
			t.Errorf("%d + %d within 8 is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
