package collect

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"scrim/internal/refuse"
)

// TestCanonical: the bytes that fingerprints are of, once in full.
func TestCanonical(t *testing.T) {
	want := `{"version":1,"collection":"survey.commute","uuid":"0190a6f2-7b1c-7c3e-9d5a-2f4b6c8d0e1f","protocol":"LDP_BIT","round":1,` +
		`"declared":{"epsilon":"1","n_expected":1000000,"hi":600,"null_default":[300]},"derived":{"groups":[1000000]},"published":{},"n_min":118,` +
		`"cells":[{"cell":0,"randomizer":"BITMEAN","domain":4294967296,"keep_num":"3371412625719392690","quota":1000000,"min":118}]}`
	if got := string(sampleRound(t, "bit", 1).Canonical()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFingerprints pins the canonical bytes of every sample's last round: a change here makes every
// stored wallet and every running shuffler refuse collections that are open. Then give Version
// another number.
func TestFingerprints(t *testing.T) {
	for _, c := range []struct{ sample, want string }{
		{"bit", "55260d4385be3c74"},
		{"kv2", "922edf7d7439faf3"},
		{"kv1", "7dde8d013ca9ed00"},
		{"uv2", "15772b5382cc5988"},
		{"uv2 laplace", "1358164564432a73"},
		{"uv1", "f64b940172754a77"},
		{"hier", "33dc554e98afa665"},
		{"hier zcdp", "1e9eea42203c5e6c"},
		{"haar", "16fabc3b060f0a97"},
		{"scm3", "bb86ec90352b5a87"},
		{"scm3 gauss", "955a895ab2d7a904"},
		{"scm3 zcdp", "b01ae4caac547a15"},
		{"sum", "a96108f079149640"},
		{"vec", "05a4c361a27dcf62"},
		{"nodes", "e90b433d6804fcde"},
		{"shuffled scm3", "327b85333d124d65"},
	} {
		g := (*Design)(nil)
		for _, s := range samples {
			if s.name == c.sample {
				g = declared(t, s.protocol, s.text)
			}
		}
		got := roundOf(t, g, g.Rounds()).Fingerprint()
		if hex.EncodeToString(got[:8]) != c.want {
			t.Errorf("{%q, %q},", c.sample, hex.EncodeToString(got[:8]))
		}
	}
}

// TestParseRefuses: one set of parameters has one text.
func TestParseRefuses(t *testing.T) {
	right := string(sampleRound(t, "kv2", 2).Canonical())
	if _, err := Parse([]byte(right)); err != nil {
		t.Fatal(err)
	}
	change := func(from, to string) string {
		if !strings.Contains(right, from) {
			t.Fatalf("%s is not in %s", from, right)
		}
		return strings.Replace(right, from, to, 1)
	}
	for name, text := range map[string]string{
		"nothing":                  "",
		"null":                     "null",
		"an array":                 "[" + right + "]",
		"something after":          right + " ",
		"twice":                    right + right,
		"a line's end":             right + "\n",
		"a space":                  change(`"round":2`, `"round": 2`),
		"unknown field":            change(`"round":2`, `"round":2,"weaken":1`),
		"field twice":              change(`"round":2`, `"round":1,"round":2`),
		"field in capitals":        change(`"round":2`, `"Round":2`),
		"field in another order":   change(`"version":1,"collection":"survey.commute"`, `"collection":"survey.commute","version":1`),
		"absent field written":     change(`"round":2`, `"round":2,"stratum":""`),
		"null for absent":          change(`"round":2`, `"round":2,"batch":null`),
		"number with a fraction":   change(`"round":2`, `"round":2.0`),
		"exponent":                 change(`"hi":500`, `"hi":5e2`),
		"trailing zero":            change(`[250.75]`, `[250.750]`),
		"text for a number":        change(`"n_min":469`, `"n_min":"469"`),
		"number for a text":        change(`"keep_num":"3371412625719392690"`, `"keep_num":3371412625719392690`),
		"leading zero in a text":   change(`"keep_num":"3371412625719392690"`, `"keep_num":"03371412625719392690"`),
		"above 64 bits":            change(`"keep_num":"3371412625719392690"`, `"keep_num":"33714126257193926900"`),
		"negative":                 change(`"n_min":469`, `"n_min":-1`),
		"epsilon with a zero":      change(`"epsilon":"1"`, `"epsilon":"1.0"`),
		"epsilon as a number":      change(`"epsilon":"1"`, `"epsilon":1`),
		"escaped letter":           change(`"survey.commute"`, `"survey.\u0063ommute"`),
		"bytes that are not UTF-8": change(`"survey.commute"`, "\"survey.\xff\""),
		"beyond a float":           change(`[250.75]`, `[1e999]`),
		"far too long":             right + strings.Repeat(" ", MaxParams),
		"deep":                     strings.Repeat(`{"declared":`, 100_000),
	} {
		p, err := Parse([]byte(text))
		var r *refuse.Error
		if p != nil || !errors.As(err, &r) {
			t.Errorf("%s: got %v, %v", name, p, err)
		}
	}
}

// TestParseHostile: numbers that are read before anything is verified make Parse neither slow nor
// fail.
func TestParseHostile(t *testing.T) {
	for _, change := range []func(p *Params){
		func(p *Params) { p.Declaration.Dimension = math.MaxInt },
		func(p *Params) { p.Declaration.Dimension = math.MinInt },
		func(p *Params) { p.Declaration.Delta = -1 },
		func(p *Params) { p.Declaration.Delta = 1e300 },
		func(p *Params) { p.Declaration.Option = "" },
		func(p *Params) { p.Cells[0].Domain = math.MaxUint64 },
		func(p *Params) { p.Round = math.MinInt },
		func(p *Params) { p.Cells = nil },
	} {
		p := sampleRound(t, "scm3 gauss", 3).Clone()
		change(p)
		q, err := Parse(p.Canonical())
		if err != nil {
			t.Fatal(err)
		}
		if q.Verify() == nil {
			t.Errorf("%+v verifies", q)
		}
	}
}

// TestParamsSize: the largest collection's parameters can be read by a device.
func TestParamsSize(t *testing.T) {
	g := declared(t, LDPSCM3, `{"epsilon":1,"dimension":1024,"radius":1000,"sigma_min":0.001,"n_expected":1000000000}`)
	for round := 1; round <= 3; round++ {
		p := roundOf(t, g, round)
		b := p.Canonical()
		if round == 1 && len(p.Cells) != MaxRotated*MaxLeaves {
			t.Errorf("round 1 has %d cells", len(p.Cells))
		}
		q, err := Parse(b)
		if err != nil {
			t.Fatalf("round %d of %d bytes: %v", round, len(b), err)
		}
		if err := q.Verify(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range samples {
		g := declared(f, s.protocol, s.text)
		for round := 1; round <= g.Rounds(); round++ {
			f.Add(roundOf(f, g, round).Canonical())
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Canonical(), b) {
			t.Error("parsed parameters have other bytes")
		}
		if p.Verify() == nil {
			exercise(p)
		}
	})
}

// exercise calls what devices and servers call on verified parameters: none of it may panic.
func exercise(p *Params) {
	p.Null()
	p.Cost()
	for _, c := range p.Cells {
		b := p.EncodeReport(c.Cell, make([]byte, c.PayloadSize()))
		_, _, _ = p.DecodeReport(b)
		p.DrawLimit(c)
		_ = p.CheckMessageOf(c.Cell, NewMessage(p.Protocol, uint16(c.Coordinate), 0, 0))
	}
	p.Messages()
}
