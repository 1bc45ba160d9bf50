package collect

import (
	"fmt"
	"math"
	"testing"

	"scrim/engine/collections/collect/geometry"
)

const someUUID = "0190a6f2-7b1c-7c3e-9d5a-2f4b6c8d0e1f"

// sample is a declaration that can be planned.
type sample struct {
	name     string
	protocol Protocol
	text     string
}

// samples has one declaration of every protocol and option, at a million contributors.
var samples = []sample{
	{"bit", LDPBit, `{"epsilon":"1.0","lo":0,"hi":600,"n_expected":1000000}`},
	{"kv2", LDPKV2, `{"epsilon":1,"lo":-500,"hi":500,"sigma":1,"n_expected":1000000}`},
	{"kv1", LDPKV1, `{"epsilon":0.5,"lo":0,"hi":1000,"sigma":1,"n_expected":1000000}`},
	{"uv2", LDPUV2, `{"epsilon":"1.0","lo":0,"hi":600,"sigma_min":2,"sigma_max":120,"n_expected":1000000,"null_default":30}`},
	{"uv2 laplace", LDPUV2, `{"epsilon":2,"lo":0,"hi":600,"sigma_min":2,"sigma_max":120,"n_expected":1000000,"option":"laplace"}`},
	{"uv1", LDPUV1, `{"epsilon":1,"lo":0,"hi":1000,"sigma_min":1,"sigma_max":32,"n_expected":1000000}`},
	{"hier", LDPHier, `{"epsilon":1,"lo":0,"hi":1,"n_expected":1000000,"strata":["south","north"]}`},
	{"hier zcdp", LDPHier, `{"epsilon":1,"lo":0,"hi":1,"levels":6,"n_expected":1000000,"option":"zcdp"}`},
	{"haar", LDPHaar, `{"epsilon":1,"lo":0,"hi":1,"levels":20,"n_expected":1000000}`},
	{"scm3", LDPSCM3, `{"epsilon":1,"dimension":7,"centre_norm":50,"sigma_min":0.1,"sigma_max":2,"n_expected":1000000}`},
	{"scm3 gauss", LDPSCM3, `{"epsilon":1,"dimension":8,"radius":56.5,"resolution":0.4,"n_expected":1000000,"option":"gauss","delta":1e-9}`},
	{"scm3 zcdp", LDPSCM3, `{"epsilon":1,"dimension":8,"radius":56.5,"resolution":0.4,"n_expected":1000000,"option":"zcdp","pays_epsilon":4.8023}`},
	{"sum", ShufSum, `{"epsilon":1,"delta":1e-9,"lo":0,"hi":1,"n_expected":1000000,"trust":"separate"}`},
	{"vec", ShufVec, `{"epsilon":1,"dimension":8,"radius":2,"n_expected":1000000,"trust":"same_operator"}`},
	{"nodes", ShufHier, `{"epsilon":1,"lo":0,"hi":1,"n_expected":1000000,"trust":"separate","retry_of":"survey.commute"}`},
	{"shuffled scm3", ShufSCM3, `{"epsilon":1,"dimension":8,"radius":56.5,"sigma_min":0.1,"n_expected":1000000,"trust":"separate"}`},
}

// declared parses and plans a declaration that must be right.
func declared(t testing.TB, p Protocol, text string) *Design {
	t.Helper()
	d, err := ParseDeclaration(p, []byte(text))
	if err != nil {
		t.Fatalf("%s %s: %v", p, text, err)
	}
	g, err := Plan("survey.commute", someUUID, p, d)
	if err != nil {
		t.Fatalf("%s %s: %v", p, text, err)
	}
	return g
}

// roundOf returns the parameters of a round, with likely results of those before.
func roundOf(t testing.TB, g *Design, round int) *Params {
	t.Helper()
	seal, signs := keysOf(g.Protocol)
	stratum := ""
	if s := g.Declaration.Strata; len(s) > 0 {
		stratum = s[0]
	}
	p, err := g.Params(round, stratum, publishedFor(g, round), seal, signs)
	if err != nil {
		t.Fatalf("%s round %d: %v", g.Protocol, round, err)
	}
	return p
}

// everyRound calls f with the parameters of every round of every sample.
func everyRound(t *testing.T, f func(t *testing.T, g *Design, p *Params)) {
	for _, s := range samples {
		g := declared(t, s.protocol, s.text)
		for round := 1; round <= g.Rounds(); round++ {
			t.Run(fmt.Sprintf("%s %d", s.name, round), func(t *testing.T) { f(t, g, roundOf(t, g, round)) })
		}
	}
}

// publishedFor returns what the rounds before might have published.
func publishedFor(g *Design, round int) (pub Published) {
	if round == 1 {
		return pub
	}
	switch v := g.Derived; g.Protocol {
	case LDPKV2:
		pub.Centre = []float64{250.75}
	case LDPUV2:
		pub.Centre, pub.Width = []float64{120.3}, 40.5
	default:
		pub.Centre = make([]float64, v.Padded)
		for i := range pub.Centre {
			pub.Centre[i] = v.Box * float64(i) / float64(2*v.Padded)
		}
		if round == 3 {
			pub.Clip = 4 * geometry.ShiftedBuckets(v.Box, v.BoxLevels, v.Ball, pub.Centre).First
		}
	}
	return pub
}

// keysOf returns a key and a seed for the protocols that have them.
func keysOf(p Protocol) (seal, signs []byte) {
	if info, _ := p.Info(); info.Model == Shuffle {
		seal = counting(1)
	}
	if p == LDPSCM3 || p == ShufSCM3 {
		signs = counting(65)
	}
	return seal, signs
}

func counting(from byte) []byte {
	b := make([]byte, 32)
	for i := range b {
		b[i] = from + byte(i)
	}
	return b
}

// near fails unless got is within a share of want.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s: got %.6g, want %.6g within %g %%", what, got, want, 100*share)
	}
}
