package device

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
)

var rewriteVectors = flag.Bool("vectors.rewrite", false, "write testdata/contribute/go.json anew")

// vectorFiles are the reports that libraries of other languages are tested with, and those that the
// TypeScript package wrote.
const (
	vectorsOfGo         = "../../../../testdata/contribute/go.json"
	vectorsOfTypeScript = "../../../../testdata/contribute/typescript.json"
)

// wireVector is a report with all that it follows from.
type wireVector struct {
	Params      string   `json:"params"`
	Fingerprint string   `json:"fingerprint"`
	Cell        uint32   `json:"cell"`
	Value       *float64 `json:"value"` // null for none
	Words       string   `json:"words"` // of randomness, 16 digits of hex each, in the order of drawing
	Report      string   `json:"report"`
}

// words is a source that was written down; past its end it panics, which fails the test.
type words struct {
	list []byte
	used int
}

func (w *words) Uint64() uint64 {
	x := binary.BigEndian.Uint64(w.list[w.used:])
	w.used += 8
	return x
}

// mixed is a stream of words for vectors (the finaliser of splitmix64 over a counter), which every
// language can write.
type mixed struct {
	at   uint64
	list []byte
}

func (m *mixed) Uint64() uint64 {
	m.at += 0x9e3779b97f4a7c15
	z := m.at
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	m.list = binary.BigEndian.AppendUint64(m.list, z)
	return z
}

// vectorDeclarations are of both protocols that the TypeScript package knows: ends of ε, numbers
// that are written in every form, bits of every length.
var vectorDeclarations = []struct {
	p    collect.Protocol
	text string
}{
	{collect.LDPBit, `{"epsilon": 1, "lo": 0, "hi": 600, "n_expected": 10000, "null_default": 30}`},
	{collect.LDPBit, `{"epsilon": 0.05, "lo": -1e-7, "hi": 1e21, "n_expected": 1000000}`},
	{collect.LDPBit, `{"epsilon": 8, "lo": -2.5, "hi": 2.5, "n_expected": 100, "strata": ["north", "süd & west"]}`},
	{collect.LDPHier, `{"epsilon": 1, "lo": 0, "hi": 120, "levels": 5, "n_expected": 10000}`},
	{collect.LDPHier, `{"epsilon": 3.1415, "lo": 0.1, "hi": 0.3, "levels": 6, "n_expected": 100001}`},
	{collect.LDPHier, `{"epsilon": 0.5, "lo": -3, "hi": 9, "levels": 2, "n_expected": 50000, "option": "zcdp"}`},
}

func makeVectors(t *testing.T) []wireVector {
	t.Helper()
	var out []wireVector
	source := &mixed{}
	for i, d := range vectorDeclarations {
		declaration, err := collect.ParseDeclaration(d.p, []byte(d.text))
		if err != nil {
			t.Fatal(err)
		}
		g, err := collect.Plan("survey.commute", fmt.Sprintf("00000000-0000-4000-8000-%012d", i), d.p, declaration)
		if err != nil {
			t.Fatal(err)
		}
		stratum := ""
		if s := g.Declaration.Strata; len(s) > 0 {
			stratum = s[len(s)-1]
		}
		p, err := g.Params(1, stratum, collect.Published{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		print := p.Fingerprint()
		lo, hi := g.Declaration.Lo, g.Declaration.Hi
		for _, c := range p.Cells {
			for _, v := range []collect.Value{{lo}, {hi}, {lo/3 + 2*hi/3}, {2 * hi}, nil} {
				source.list = nil
				sent, err := Report(exact.New(source), p, c.Cell, v)
				if err != nil {
					t.Fatal(err)
				}
				made := wireVector{string(p.Canonical()), hex.EncodeToString(print[:]), c.Cell, nil, hex.EncodeToString(source.list), hex.EncodeToString(sent)}
				if v != nil {
					made.Value = &v[0]
				}
				out = append(out, made)
			}
		}
	}
	return out
}

// TestVectorsStay: the published vectors are what this version makes.
func TestVectorsStay(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteString("[\n")
	for i, v := range makeVectors(t) {
		if i > 0 {
			b.WriteString(",")
		}
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("]\n")
	if *rewriteVectors {
		if err := os.WriteFile(vectorsOfGo, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(vectorsOfGo)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Error("testdata/contribute/go.json is not what is made now: a law or an encoding has changed")
	}
}

// TestVectorsOfTypeScript: what the TypeScript package made of words of its own is what is made of
// them here, to the byte, by the same number of words; and a server takes it.
func TestVectorsOfTypeScript(t *testing.T) {
	text, err := os.ReadFile(vectorsOfTypeScript)
	if err != nil {
		t.Fatal(err)
	}
	var list []wireVector
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		p, err := collect.Parse([]byte(v.Params))
		if err == nil {
			err = p.Verify()
		}
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		drawn, err := hex.DecodeString(v.Words)
		if err != nil {
			t.Fatal(err)
		}
		var value collect.Value
		if v.Value != nil {
			value = collect.Value{*v.Value}
		}
		source := &words{list: drawn}
		sent, err := Report(exact.New(source), p, v.Cell, value)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(sent); got != strings.ToLower(v.Report) || source.used != len(drawn) {
			t.Errorf("%d: TypeScript made %.60s of %d words, Go %.60s of %d", i, v.Report, len(drawn)/8, got, source.used/8)
		}
		if _, _, err := p.DecodeReport(sent); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if len(list) < 50 {
		t.Errorf("only %d vectors", len(list))
	}
}
