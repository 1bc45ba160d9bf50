package collect

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"scrim/internal/refuse"
)

// TestGroups: everybody is in exactly one round and cell (but for what does not divide into
// batches, which is nobody: round 3 takes the rest), cells are numbered in order, and a round's
// minimum can be reached.
func TestGroups(t *testing.T) {
	for _, s := range samples {
		g := declared(t, s.protocol, s.text)
		info, _ := s.protocol.Info()
		if g.Rounds() != info.Rounds || len(g.Derived.Groups) != info.Rounds {
			t.Errorf("%s: %d rounds, want %d", s.name, g.Rounds(), info.Rounds)
		}
		all := uint64(0)
		for round := 1; round <= g.Rounds(); round++ {
			cells, total := g.Cells(round), uint64(0)
			for i, c := range cells {
				if total += c.Quota; c.Cell != uint32(i) || c.Min == 0 || c.Min > c.Quota {
					t.Errorf("%s round %d: cell %d is %+v", s.name, round, i, c)
				}
			}
			if total != g.Derived.Groups[round-1] {
				t.Errorf("%s round %d: quotas add up to %d, want %d", s.name, round, total, g.Derived.Groups[round-1])
			}
			if p := roundOf(t, g, round); p.Min > total || p.Min != g.Min(round) || !slices.Equal(p.Cells, cells) {
				t.Errorf("%s round %d: n_min %d of %d, or other cells than Cells", s.name, round, p.Min, total)
			}
			all += total
		}
		if all != g.Declaration.Expected {
			t.Errorf("%s: groups add up to %d, want %d", s.name, all, g.Declaration.Expected)
		}
	}
}

// TestResidues: levels and their sizes where the mean is located, by the formulas worked out by
// hand.
func TestResidues(t *testing.T) {
	for _, c := range []struct {
		protocol Protocol
		text     string
		levels   int
		least    uint64
		groups   []uint64
	}{
		// R+12 = 1012 <= 2^10; 2·3.3279²·ln(180) = 115.02; 100000/90 = 1111.
		{LDPKV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma":1,"n_expected":100000}`, 9, 116, []uint64{9 * 1111, 100000 - 9*1111}},
		{LDPKV1, `{"epsilon":1,"lo":0,"hi":1000,"sigma":1,"n_expected":100000}`, 9, 116, []uint64{100000}},
		// R+12 = 32 = 2^5; 2·3.3279²·ln(80) = 97.06.
		{LDPKV2, `{"epsilon":1,"lo":10,"hi":30,"sigma":1,"n_expected":20000}`, 4, 98, []uint64{2000, 18000}},
		// R+12 = 12.5 <= 2^4; 2·7.166²·ln(60) = 420.5, more than 4000/30.
		{LDPKV2, `{"epsilon":0.5,"lo":0,"hi":1,"sigma":2,"n_expected":4000}`, 3, 421, []uint64{3 * 421, 4000 - 3*421}},
		// R+12G = 1384 <= 2^11; 4·3.3279²·ln(200) = 234.7.
		{LDPUV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":32,"n_expected":100000}`, 10, 235, []uint64{20000, 80000}},
		{LDPUV1, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":32,"n_expected":100000}`, 10, 235, []uint64{100000}},
		// The widest: R = 2^20.
		{LDPKV2, `{"epsilon":1,"lo":0,"hi":1048576,"sigma":1,"n_expected":100000}`, 20, 133, []uint64{10000, 90000}},
	} {
		v := declared(t, c.protocol, c.text).Derived
		if v.Residues != c.levels || v.LevelMin != c.least || !slices.Equal(v.Groups, c.groups) {
			t.Errorf("%s %s: L=%d k_min=%d groups=%v, want %d, %d, %v", c.protocol, c.text, v.Residues, v.LevelMin, v.Groups, c.levels, c.least, c.groups)
		}
	}
}

// TestTreeCells: k-ary response while 4^level <= 3e^ε+2, unary encoding beyond, and everywhere as
// zCDP.
func TestTreeCells(t *testing.T) {
	for _, c := range []struct {
		epsilon, option string
		kary            int
	}{{"1", "", 1}, {"2", "", 2}, {"4", "", 3}, {"0.5", "", 1}, {"8", "", 6}, {"8", `,"option":"zcdp"`, 0}} {
		g := declared(t, LDPHier, fmt.Sprintf(`{"epsilon":%s,"lo":0,"hi":1,"levels":6,"n_expected":1000000%s}`, c.epsilon, c.option))
		for i, cell := range g.Cells(1) {
			want := OUE
			if i < c.kary {
				want = KRR
			}
			if cell.Randomiser != want || cell.Domain != 1<<(2*(i+1)) || cell.Level != i+1 {
				t.Errorf("epsilon %s%s: level %d is %s of %d, want %s", c.epsilon, c.option, i+1, cell.Randomiser, cell.Domain, want)
			}
		}
	}
}

// TestKeepNumbers: the integers of the specification's test vectors reach the cells.
func TestKeepNumbers(t *testing.T) {
	for _, c := range []struct {
		epsilon      string
		k1, flip, k4 uint64
	}{
		{epsilon: "0.5", k1: 2870586994743255420, flip: 1741099023684132484, k4: 1635586302042690024},
		{epsilon: "1", k1: 3371412625719392690, flip: 1240273392707995214, k4: 2192242823720348389},
		{epsilon: "2", k1: 4061959569582298197, flip: 549726448845089707, k4: 3279990634021271176},
	} {
		bit := declared(t, LDPBit, `{"epsilon":`+c.epsilon+`,"lo":0,"hi":1,"n_expected":100000}`).Cells(1)
		tree := declared(t, LDPHier, `{"epsilon":`+c.epsilon+`,"lo":0,"hi":1,"n_expected":100000}`).Cells(1)
		if bit[0].Keep != c.k1 || tree[0].Keep != c.k4 || tree[4].Keep != c.flip {
			t.Errorf("epsilon %s: K1 %d K4 %d Q %d, want %d %d %d", c.epsilon, bit[0].Keep, tree[0].Keep, tree[4].Keep, c.k1, c.k4, c.flip)
		}
	}
}

// TestBatches: the margins and the worked sums of the shuffle model.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		n, honest, grid, tail uint64
		bits, shares          int
		error                 float64
	}{
		{100, 72, 64, 3840, 23, 17, 1.668e-2},
		{1000, 720, 128, 7680, 26, 12, 1.671e-3},
		{10_000, 7200, 512, 30720, 31, 10, 1.670e-4},
		{100_000, 72_000, 2048, 122880, 37, 9, 1.668e-5},
		{1_000_000, 720_000, 4096, 245760, 41, 8, 1.671e-6},
		{10_000_000, 7_200_000, 16384, 983040, 46, 7, 1.669e-7},
	} {
		g := declared(t, ShufSum, fmt.Sprintf(`{"epsilon":1,"lo":-2,"hi":3,"n_expected":%d,"trust":"separate"}`, c.n))
		b := *roundOf(t, g, 1).Batch
		want := Batch{Expected: c.n, Min: c.n - c.n/5, Honest: c.honest, Max: 2 * c.honest, Grid: c.grid, Tail: c.tail, Bits: c.bits, Shares: c.shares}
		if b != want {
			t.Errorf("n=%d: got %+v, want %+v", c.n, b, want)
		}
		near(t, fmt.Sprint("error at n=", c.n), g.Forecast().StdErr, 5*c.error, 0.001)
	}
}

// TestVectors: the worked grids and noise of vectors; 0.9 of δ is for noise, so variances are up to
// 1 % above those for all of it.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		dim            int
		grid, bound    uint64
		relative       float64
	}{
		{"1", "1e-9", 8, 182, 185, 5.7787}, {"1", "1e-6", 8, 182, 185, 4.5309}, {"0.5", "1e-9", 8, 182, 185, 11.2465}, {"2", "1e-9", 8, 182, 185, 2.9848},
		{"1", "1e-9", 1, 64, 65, 5.7787}, {"1", "1e-9", 128, 725, 737, 5.7787},
	} {
		g := declared(t, ShufVec, fmt.Sprintf(`{"epsilon":%s,"delta":%s,"dimension":%d,"radius":1,"n_expected":10000,"trust":"separate"}`, c.epsilon, c.delta, c.dim))
		b := roundOf(t, g, 1).Batch
		if b.Grid != c.grid || b.Bound != c.bound {
			t.Errorf("dimension %d: grid %d bound %d, want %d %d", c.dim, b.Grid, b.Bound, c.grid, c.bound)
		}
		near(t, "relative noise", relativeNoise(*b), c.relative, 0.01)
		near(t, "rate", float64(b.Rate)/rateUnit, b.Mu/float64(2*b.Honest), 1e-6)
		if float64(b.Rate)/rateUnit*2*float64(b.Honest) < b.Mu {
			t.Errorf("dimension %d: honest noise %g is below %g", c.dim, float64(b.Rate)/rateUnit*2*float64(b.Honest), b.Mu)
		}
		if least := 2*(b.Max*b.Bound+b.Tail) + 1; uint64(1)<<(b.Bits-8) < least || b.Tail != uint64(math.Ceil(16*math.Sqrt(2*b.Mu))) {
			t.Errorf("dimension %d: %d bits for %d sums, tail %d", c.dim, b.Bits, least, b.Tail)
		}
	}
}

// TestTreeNoise: noise messages at a node for the worked trees.
func TestTreeNoise(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		levels         int
		n              uint64
		noise          float64
	}{
		{"1", "1e-9", 5, 100_000, 339.3}, {"1", "1e-9", 5, 10_000, 355},
		{"1", "1e-6", 1, 10_000_000, 61.2}, {"1", "1e-6", 8, 10_000_000, 332}, {"0.5", "1e-9", 5, 10_000_000, 1275}, {"2", "1e-9", 3, 10_000_000, 62.8},
	} {
		g := declared(t, ShufHier, fmt.Sprintf(`{"epsilon":%s,"delta":%s,"lo":0,"hi":1,"levels":%d,"n_expected":%d,"trust":"separate"}`, c.epsilon, c.delta, c.levels, c.n))
		b := roundOf(t, g, 1).Batch
		near(t, fmt.Sprintf("epsilon %s, delta %s, %d levels", c.epsilon, c.delta, c.levels), float64(b.Flip)*float64(b.Honest)/noiseUnit, c.noise, 0.011)
	}
}

// TestRotated: the shifted clipped mean's numbers at the point that the papers plot, d=8, n=10^5,
// ε=1, R=20·sqrt(d).
func TestRotated(t *testing.T) {
	text := `{"epsilon":1,"dimension":8,"radius":56.568542494923804,"sigma_min":0.1,"n_expected":100000`
	v := declared(t, LDPSCM3, text+`}`).Derived
	if v.Padded != 8 || v.BoxLevels != 5 || !slices.Equal(v.Groups, []uint64{30000, 10000, 60000}) {
		t.Errorf("local: %+v", v)
	}
	near(t, "box", v.Box, v.Ball, 1e-12) // the tail bound is larger than the ball at d = 8
	near(t, "clip target", v.ClipTarget, 2.16395/(0.29103*math.Sqrt(60000)), 1e-4)

	v = declared(t, LDPSCM3, text+`,"option":"gauss","delta":1e-9}`).Derived
	l := math.Log(1e9)
	if got := v.Rho + 2*math.Sqrt(v.Rho*l); got > 1 || got < 1-1e-9 {
		t.Errorf("gauss: rho %g converts to epsilon %g, want 1 and not above", v.Rho, got)
	}
	sigma2 := float64(v.gaussVariance())
	if loss := 4 * float64(v.gaussBound()) / (2 * sigma2); loss > v.Rho || loss < v.Rho*(1-1e-9) {
		t.Errorf("gauss: variance %g loses %g, want %g and not above", sigma2, loss, v.Rho)
	}

	v = declared(t, ShufSCM3, text+`,"trust":"separate"}`).Derived
	if v.BoxLevels != 5 || !slices.Equal(v.Groups, []uint64{30000, 10000, 60000}) {
		t.Errorf("shuffle: %+v", v)
	}
	// A dimension is padded, but a ball from the mean's norm is that of the dimension declared.
	v = declared(t, LDPSCM3, `{"epsilon":2,"dimension":5,"centre_norm":10,"sigma_min":1,"sigma_max":3,"n_expected":1000000}`).Derived
	near(t, "ball", v.Ball, 10+6*math.Sqrt(5+math.Log(4e7)), 1e-12)
	if v.Padded != 8 {
		t.Errorf("dimension 5 is padded to %d, want 8", v.Padded)
	}
	// At 64 dimensions the box is smaller than the ball: sqrt(2 ln(4·64·10^7/0.1)/64) = 0.866.
	v = declared(t, LDPSCM3, `{"epsilon":2,"dimension":64,"radius":100,"sigma_min":1,"n_expected":10000000}`).Derived
	near(t, "box", v.Box, 100*math.Sqrt(2*math.Log(4*64e7/0.1)/64), 1e-12)
}

// TestIdempotent: planning a completed declaration again gives the same design, which is how a
// server finds its collections after a restart and a device verifies.
func TestIdempotent(t *testing.T) {
	for _, s := range samples {
		g := declared(t, s.protocol, s.text)
		again, err := Plan(g.Collection, g.UUID, g.Protocol, g.Declaration)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for round := 1; round <= g.Rounds(); round++ {
			if a, b := roundOf(t, g, round).Canonical(), roundOf(t, again, round).Canonical(); string(a) != string(b) {
				t.Errorf("%s round %d: planned again\n%s, want\n%s", s.name, round, b, a)
			}
		}
	}
}

// TestRefusals: what is wrong and what would do.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name     string
		protocol Protocol
		text     string
		want     string // part of the refusal
	}{
		{"epsilon missing", LDPBit, `{"lo":0,"hi":1,"n_expected":1000}`, "epsilon from 0.05 to 8"},
		{"n missing", LDPBit, `{"epsilon":1,"lo":0,"hi":1}`, "how many people"},
		{"n above the limit", LDPBit, `{"epsilon":1,"lo":0,"hi":1,"n_expected":1e10}`, "how many people"},
		{"no interval", LDPBit, `{"epsilon":1,"n_expected":1000}`, "lo below hi"},
		{"interval of nothing", LDPBit, `{"epsilon":1,"lo":2,"hi":2,"n_expected":1000}`, "lo below hi"},
		{"too wide", LDPBit, `{"epsilon":1,"lo":-1e101,"hi":2,"n_expected":1000}`, "finite"},
		{"null outside", LDPBit, `{"epsilon":1,"lo":0,"hi":2,"null_default":3,"n_expected":1000}`, "from lo to hi"},
		{"two nulls", LDPBit, `{"epsilon":1,"lo":0,"hi":2,"null_default":[1,1],"n_expected":1000}`, "one number"},
		{"too few", LDPBit, `{"epsilon":1,"lo":0,"hi":2,"n_expected":117}`, "n_expected of 118 or more"},
		{"sigma missing", LDPKV2, `{"epsilon":1,"lo":0,"hi":2,"n_expected":100000}`, "sigma as a positive number"},
		{"range too wide", LDPKV2, `{"epsilon":1,"lo":0,"hi":2e6,"sigma":1,"n_expected":100000}`, "1048576 sigma"},
		{"too few for levels", LDPKV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma":1,"n_expected":2000}`, "n_expected of 2088 or more"},
		{"scales equal", LDPUV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":1,"n_expected":100000}`, "sigma_min below sigma_max"},
		{"scales too wide", LDPUV1, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":1e6,"n_expected":100000}`, "12 sigma_max"},
		{"option unknown", LDPUV2, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":2,"n_expected":100000,"option":"gauss"}`, "laplace"},
		{"levels", LDPHier, `{"epsilon":1,"lo":0,"hi":1,"levels":7,"n_expected":100000}`, "from 1 to 6"},
		{"levels negative", LDPHaar, `{"epsilon":1,"lo":0,"hi":1,"levels":-1,"n_expected":100000}`, "whole number"},
		{"no bound", LDPSCM3, `{"epsilon":1,"dimension":8,"sigma_min":1,"n_expected":100000}`, "radius"},
		{"two bounds", LDPSCM3, `{"epsilon":1,"dimension":8,"sigma_min":1,"radius":3,"centre_norm":2,"n_expected":100000}`, "either radius"},
		{"no resolution", LDPSCM3, `{"epsilon":1,"dimension":8,"radius":3,"n_expected":100000}`, "resolution"},
		{"delta without gauss", LDPSCM3, `{"epsilon":1,"dimension":8,"radius":3,"sigma_min":0.1,"delta":1e-9,"n_expected":100000}`, "option 'gauss'"},
		{"gauss without delta", LDPSCM3, `{"epsilon":1,"dimension":8,"radius":3,"sigma_min":0.1,"option":"gauss","n_expected":100000}`, "delta from"},
		{"gauss does not fit", LDPSCM3, `{"epsilon":0.05,"dimension":1024,"radius":3,"sigma_min":0.1,"option":"gauss","delta":1e-15,"n_expected":1000000000}`, "larger epsilon"},
		{"too few for trees", LDPSCM3, `{"epsilon":1,"dimension":64,"radius":30,"sigma_min":0.1,"n_expected":50000}`, "n_expected of"},
		{"dimension", ShufVec, `{"epsilon":1,"dimension":5000,"radius":1,"n_expected":10000,"trust":"separate"}`, "from 1 to 4096"},
		{"too many messages", ShufVec, `{"epsilon":1,"dimension":4096,"radius":1,"n_expected":10000,"trust":"separate"}`, "fewer coordinates"},
		{"too long for a device", ShufVec, `{"epsilon":1,"dimension":1024,"radius":1,"n_expected":1000,"trust":"separate"}`, "n_expected of"},
		{"no order", ShufVec, `{"epsilon":0.05,"delta":1e-15,"dimension":8,"radius":1,"n_expected":100000,"trust":"separate"}`, "a larger epsilon or delta"},
		{"radius missing", ShufVec, `{"epsilon":1,"dimension":5,"n_expected":10000,"trust":"separate"}`, "radius as a positive"},
		{"null outside the ball", ShufVec, `{"epsilon":1,"dimension":4,"radius":1,"null_default":1,"n_expected":10000,"trust":"separate"}`, "norm at most 1"},
		{"null of another dimension", ShufVec, `{"epsilon":1,"dimension":4,"radius":1,"null_default":[0,0],"n_expected":10000,"trust":"separate"}`, "each of the 4"},
		{"trust missing", ShufSum, `{"epsilon":1,"lo":0,"hi":1,"n_expected":10000}`, "same_operator"},
		{"delta too large", ShufSum, `{"epsilon":1,"delta":1e-4,"lo":0,"hi":1,"n_expected":10000,"trust":"separate"}`, "1e-15 to 1e-5"},
		{"small batch", ShufSum, `{"epsilon":1,"lo":0,"hi":1,"n_expected":99,"trust":"separate"}`, "n_expected of 100 or more"},
		{"too much noise", ShufHier, `{"epsilon":1,"lo":0,"hi":1,"levels":8,"n_expected":10000,"trust":"separate"}`, "n_expected of"},
		{"retry of no name", ShufSum, `{"epsilon":1,"lo":0,"hi":1,"n_expected":10000,"trust":"separate","retry_of":"a b"}`, "letters"},
		{"stratum twice", LDPBit, `{"epsilon":1,"lo":0,"hi":1,"n_expected":10000,"strata":["a","A"]}`, "once"},
		{"stratum blank", LDPBit, `{"epsilon":1,"lo":0,"hi":1,"n_expected":10000,"strata":[" a"]}`, "printable"},
		{"stratum with a control character", LDPBit, `{"epsilon":1,"lo":0,"hi":1,"n_expected":10000,"strata":["a\u001b[2J"]}`, "printable"},
	} {
		d, err := ParseDeclaration(c.protocol, []byte(c.text))
		if err == nil {
			_, err = Plan("survey.commute", someUUID, c.protocol, d)
		}
		var r *refuse.Error
		if !errors.As(err, &r) || r.Code != refuse.CollectionParameter || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a refusal that says %q", c.name, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	d := Declaration{Epsilon: 10_000, Expected: 1000, Hi: 1}
	for name, want := range map[string]bool{
		"commute": true, "survey.commute": true, "Umfrage.Größe": true, "a-b.$_1": true,
		"": false, ".": false, "a.": false, ".a": false, "a.b.c": false, "a b": false, "a\x1b": false, "a`b": false, "\xff": false,
		strings.Repeat("x", 65): false,
	} {
		if _, err := Plan(name, someUUID, LDPBit, d); (err == nil) != want {
			t.Errorf("name %q: %v, want accepted: %v", name, err, want)
		}
	}
	for uuid, want := range map[string]bool{someUUID: true, "": false, strings.ToUpper(someUUID): false, someUUID[1:]: false, strings.Replace(someUUID, "-", "0", 1): false} {
		if _, err := Plan("commute", uuid, LDPBit, d); (err == nil) != want {
			t.Errorf("uuid %q: %v, want accepted: %v", uuid, err, want)
		}
	}
}

// TestLeast: what Forecast and refusals name is planned, and one less is not.
func TestLeast(t *testing.T) {
	for _, s := range samples {
		g := declared(t, s.protocol, s.text)
		d := g.Declaration
		d.Expected = g.Forecast().Least
		if _, err := Plan("x", someUUID, s.protocol, d); err != nil {
			t.Errorf("%s: %d is said to do: %v", s.name, d.Expected, err)
		}
		if d.Expected--; d.Expected == 0 {
			continue
		}
		if _, err := Plan("x", someUUID, s.protocol, d); err == nil {
			t.Errorf("%s: %d does already", s.name, d.Expected)
		}
	}
}
