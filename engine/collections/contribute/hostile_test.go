package contribute

import (
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"testing"

	"scrim/engine/collections/collect"
)

const one62 = uint64(1) << 62

// weaker are parameters by which a server could learn more than it promised, or others than were
// advertised.
var weaker = []struct {
	name   string
	sample string
	change func(*Params)
}{
	{"keep 0", "bit", func(p *Params) { p.Cells[0].Keep = 0 }},
	{"keep 1 less", "bit", func(p *Params) { p.Cells[0].Keep-- }},
	{"keep 1 more", "bit", func(p *Params) { p.Cells[0].Keep++ }},
	{"keep all", "bit", func(p *Params) { p.Cells[0].Keep = one62 }},
	{"k-ary keep 0", "kv2", func(p *Params) { p.Cells[0].Keep = 0 }},
	{"k-ary keep 1 more", "kv2", func(p *Params) { p.Cells[0].Keep++ }},
	{"Q 2^62", "hier", func(p *Params) { p.Cells[len(p.Cells)-1].Keep = one62 }},
	{"Q 1 less", "hier", func(p *Params) { p.Cells[len(p.Cells)-1].Keep-- }},
	{"domain", "hier", func(p *Params) { p.Cells[0].Domain = 1 << 40 }},
	{"m 1 less", "sum", func(p *Params) { p.Batch.Shares-- }},
	{"m 1", "sum", func(p *Params) { p.Batch.Shares = 1 }},
	{"h 1 more", "sum", func(p *Params) { p.Batch.Honest++ }},
	{"n_min 1 less", "sum", func(p *Params) { p.Batch.Min-- }},
	{"n_max", "sum", func(p *Params) { p.Batch.Max = 1 << 60 }},
	{"grid", "sum", func(p *Params) { p.Batch.Grid *= 2 }},
	{"modulus", "sum", func(p *Params) { p.Batch.Bits = 62 }},
	{"l 0", "vec", func(p *Params) { p.Batch.Rate = 0 }},
	{"l 1 less", "vec", func(p *Params) { p.Batch.Rate-- }},
	{"mu", "vec", func(p *Params) { p.Batch.Mu = 1 }},
	{"P 0", "nodes", func(p *Params) { p.Batch.Flip = 0 }},
	{"P 1 less", "nodes", func(p *Params) { p.Batch.Flip-- }},
	{"cap", "nodes", func(p *Params) { p.Batch.Cap = 1 << 40 }},
	{"no batch", "nodes", func(p *Params) { p.Batch = nil }},
	{"epsilon", "sum", func(p *Params) { p.Declaration.Epsilon *= 2 }},
	{"epsilon out of range", "bit", func(p *Params) { p.Declaration.Epsilon = 1 << 31 }},
	{"delta", "sum", func(p *Params) { p.Declaration.Delta = 0.5 }},
	{"no key", "sum", func(p *Params) { p.SealKey = nil }},
	{"key of small order", "sum", func(p *Params) { p.SealKey = make([]byte, 32) }},
	{"NaN", "bit", func(p *Params) { p.Declaration.Hi = math.NaN() }},
	{"infinite", "bit", func(p *Params) { p.Declaration.Hi = math.Inf(1) }},
	{"no cells", "bit", func(p *Params) { p.Cells = nil }},
	{"many cells", "bit", func(p *Params) { p.Cells = make([]collect.Cell, 1<<20) }},
	{"round 0", "bit", func(p *Params) { p.Round = 0 }},
	{"protocol", "bit", func(p *Params) { p.Protocol = "LDP_RAW" }},
	{"version", "bit", func(p *Params) { p.Version = 2 }},
}

// TestWeakerParameters: nothing is made, kept or charged by any of them, whichever way they come
// in.
func TestWeakerParameters(t *testing.T) {
	w := newWallet(t)
	if err := w.SetCaps(generous(t)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range weaker {
		p := first(t, x.sample)
		q := p.Clone()
		x.change(q)
		report, err := w.Report(q, tokenOf(p, 0, 1), someValue(p))
		if report != nil || err == nil {
			t.Errorf("%s: report %x, %v", x.name, report, err)
		}
		var pin Pin
		if text, ok := canonical(q); ok {
			pin.fingerprint = sha256.Sum256(text)
		}
		bundle, err := w.Bundle(pin, q, tokenOf(p, 0, 1), someValue(p), TrustedOperator)
		if bundle != nil || err == nil {
			t.Errorf("%s: bundle of %d bytes, %v", x.name, len(bundle), err)
		}
		if text, ok := canonical(q); ok {
			print := sha256.Sum256(text)
			db := serving(t, text, print[:])
			if err := w.Contribute(t.Context(), db, db, "commute", tokenOf(p, 0, 1), someValue(p), TrustedOperator); err == nil {
				t.Errorf("%s: contributed", x.name)
			}
			if n := db.fake.sent(); n != 0 {
				t.Errorf("%s: %d statements carried something", x.name, n)
			}
		}
	}
	if after, err := os.ReadFile(w.Path()); err != nil || string(after) != string(before) {
		t.Errorf("the wallet changed, %v", err)
	}
}

// canonical returns the bytes of parameters that have any.
func canonical(p *Params) (b []byte, ok bool) {
	defer func() {
		if recover() != nil {
			b, ok = nil, false
		}
	}()
	return p.Canonical(), true
}

// TestCheckParams: the bytes must be those of the fingerprint, in the one form.
func TestCheckParams(t *testing.T) {
	p := first(t, "bit")
	text, print := p.Canonical(), p.Fingerprint()
	if q, err := CheckParams(text, print[:]); err != nil || q.Fingerprint() != print {
		t.Fatal(err)
	}
	spaced := append([]byte(" "), text...)
	sum := sha256.Sum256(spaced)
	for name, x := range map[string][2][]byte{
		"other print": {text, make([]byte, 32)}, "no print": {text, nil}, "short print": {text, print[:31]},
		"not canonical": {spaced, sum[:]}, "empty": {nil, nil}, "long": {make([]byte, collect.MaxParams+1), print[:]},
	} {
		if _, err := CheckParams(x[0], x[1]); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzCheckParams: no bytes make it panic, and what passes has their fingerprint.
func FuzzCheckParams(f *testing.F) {
	for _, s := range samples {
		f.Add(first(f, s.name).Canonical())
	}
	f.Add([]byte(`{"version":1,"cells":[{}],"batch":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		sum := sha256.Sum256(text)
		if p, err := CheckParams(text, sum[:]); err == nil && p.Fingerprint() != sum {
			t.Error("another fingerprint")
		}
	})
}

var errFake = errors.New("the connection broke")

var (
	nan      = math.NaN()
	infinite = math.Inf(1)
)
