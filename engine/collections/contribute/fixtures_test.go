package contribute

import (
	"bytes"
	"crypto/sha256"
	"path/filepath"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
)

const (
	someUUID  = "0190a6f2-7b1c-7c3e-9d5a-2f4b6c8d0e1f"
	otherUUID = "0190a6f2-7b1c-7c3e-9d5a-2f4b6c8d0e20"
)

// sample is a declaration that can be planned.
type sample struct {
	name     string
	protocol collect.Protocol
	text     string
}

var samples = []sample{
	{"bit", collect.LDPBit, `{"epsilon":1,"lo":0,"hi":600,"n_expected":20000}`},
	{"kv2", collect.LDPKV2, `{"epsilon":1,"lo":-500,"hi":500,"sigma":1,"n_expected":1000000}`},
	{"kv1", collect.LDPKV1, `{"epsilon":0.5,"lo":0,"hi":1000,"sigma":1,"n_expected":1000000}`},
	{"uv2", collect.LDPUV2, `{"epsilon":1,"lo":0,"hi":600,"sigma_min":2,"sigma_max":120,"n_expected":1000000,"null_default":30}`},
	{"uv2 laplace", collect.LDPUV2, `{"epsilon":2,"lo":0,"hi":600,"sigma_min":2,"sigma_max":120,"n_expected":1000000,"option":"laplace"}`},
	{"hier", collect.LDPHier, `{"epsilon":1,"lo":0,"hi":1,"n_expected":1000000,"strata":["north","south"]}`},
	{"haar", collect.LDPHaar, `{"epsilon":1,"lo":0,"hi":1,"levels":20,"n_expected":1000000}`},
	{"scm3", collect.LDPSCM3, `{"epsilon":1,"dimension":8,"radius":56.5,"resolution":0.4,"n_expected":1000000}`},
	{"scm3 zcdp", collect.LDPSCM3, `{"epsilon":1,"dimension":8,"radius":56.5,"resolution":0.4,"n_expected":1000000,"option":"zcdp","pays_epsilon":4.8023}`},
	{"sum", collect.ShufSum, `{"epsilon":1,"delta":1e-9,"lo":0,"hi":1,"n_expected":10000,"trust":"separate"}`},
	{"vec", collect.ShufVec, `{"epsilon":1,"dimension":2,"radius":2,"n_expected":100000,"trust":"same_operator"}`},
	{"nodes", collect.ShufHier, `{"epsilon":1,"lo":0,"hi":1,"levels":2,"n_expected":1000000,"trust":"separate"}`},
}

// sampleOf returns the sample of a name.
func sampleOf(t testing.TB, name string) sample {
	for _, s := range samples {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no sample %q", name)
	return sample{}
}

// planned plans a sample under a uuid.
func planned(t testing.TB, name, uuid string) *collect.Design {
	t.Helper()
	s := sampleOf(t, name)
	d, err := collect.ParseDeclaration(s.protocol, []byte(s.text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := collect.Plan("survey.commute", uuid, s.protocol, d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// roundOf returns the parameters of a round, with likely results of those before, and the key that
// opens its bundles.
func roundOf(t testing.TB, g *collect.Design, round int) (*Params, *seal.PrivateKey) {
	t.Helper()
	var key *seal.PrivateKey
	var public, signs []byte
	if info, _ := g.Protocol.Info(); info.Model == collect.Shuffle {
		var err error
		if key, err = seal.Generate(); err != nil {
			t.Fatal(err)
		}
		public = key.Public()
	}
	if g.Protocol == collect.LDPSCM3 {
		signs = bytes.Repeat([]byte{7}, 32)
	}
	stratum := ""
	if s := g.Declaration.Strata; len(s) > 0 {
		stratum = s[0]
	}
	p, err := g.Params(round, stratum, published(g, round), public, signs)
	if err != nil {
		t.Fatal(err)
	}
	return p, key
}

func published(g *collect.Design, round int) (pub collect.Published) {
	if round == 1 {
		return pub
	}
	switch g.Protocol {
	case collect.LDPKV2:
		pub.Centre = []float64{250.75}
	case collect.LDPUV2:
		pub.Centre, pub.Width = []float64{120.3}, 40.5
	default:
		pub.Centre = make([]float64, g.Derived.Padded)
		if round == 3 {
			pub.Clip = 4
		}
	}
	return pub
}

// first returns the parameters of a sample's first round.
func first(t testing.TB, name string) *Params {
	t.Helper()
	p, _ := roundOf(t, planned(t, name, someUUID), 1)
	return p
}

// tokenOf returns a token for a cell of a round; n tells tokens apart.
func tokenOf(p *Params, cell uint32, n byte) Token {
	t := Token{Round: p.Round, Cell: cell, Stratum: p.Stratum}
	sum := sha256.Sum256([]byte{n})
	copy(t.Secret[:], sum[:])
	return t
}

// someValue fits a collection.
func someValue(p *Params) Value {
	if d := p.Declaration.Dimension; d > 0 {
		return make(Value, d)
	}
	return Number(0.25)
}

// generous are caps that no test reaches.
func generous(t testing.TB) Caps { return caps(t, "1000", "0.1") }

func caps(t testing.TB, epsilon, delta string) Caps {
	t.Helper()
	e, err := ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDelta(delta)
	if err != nil {
		t.Fatal(err)
	}
	return Caps{e, d}
}

// walletAt opens a wallet that must open.
func walletAt(t testing.TB, path string) *Wallet {
	t.Helper()
	w, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// newWallet returns a wallet in a file of its own.
func newWallet(t testing.TB) *Wallet {
	t.Helper()
	return walletAt(t, filepath.Join(t.TempDir(), "wallet"))
}

// refusedWith fails unless err is a refusal of a code.
func refusedWith(t testing.TB, err error, code string) {
	t.Helper()
	if Code(err) != code {
		t.Errorf("got %v (%q), want %s", err, Code(err), code)
	}
}

// pinOf is a shuffler's word for parameters.
func pinOf(p *Params) Pin { return Pin{p.Fingerprint()} }
