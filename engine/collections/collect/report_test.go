package collect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"scrim/internal/refuse"
)

// cellOf returns the parameters and a cell with a randomiser.
func cellOf(t testing.TB, sample string, round int, r Randomiser, domain uint64) (*Params, Cell) {
	t.Helper()
	p := sampleRound(t, sample, round)
	i := slices.IndexFunc(p.Cells, func(c Cell) bool { return c.Randomiser == r && c.Domain == domain })
	if i < 0 {
		t.Fatalf("%s %d has no cell with %s of %d", sample, round, r, domain)
	}
	return p, p.Cells[i]
}

// ones returns a payload of size bytes whose first n bits are 1.
func ones(size, n int) []byte {
	b := make([]byte, size)
	for i := range n {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return b
}

func int32s(xs ...int32) (b []byte) {
	for _, x := range xs {
		b = binary.BigEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func int64s(x int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(x)) }

// TestPayloads: the range of what each randomiser gives, at its ends.
func TestPayloads(t *testing.T) {
	seed := counting(1)[:16]
	gauss := sampleRound(t, "scm3 gauss", 3)
	limit := int32(gauss.DrawLimit(gauss.Cells[0]))
	zcdp := sampleRound(t, "scm3 zcdp", 3)
	narrow := int32(zcdp.DrawLimit(zcdp.Cells[0]))
	// ε = 2: 4096 + 60·4096/2 = 126976. At D=1024, ε=1: 1/2 + 1023·0.26894 = 275.6, ± 8·14.2.
	for _, c := range []struct {
		name, sample string
		round        int
		r            Randomiser
		domain       uint64
		good, wrong  [][]byte
	}{
		{"bit", "bit", 1, BitMean, 1 << 32, [][]byte{{0}, {1}}, [][]byte{{}, {2}, {0, 0}}},
		{"side", "kv2", 2, BRR, 2, [][]byte{{0}, {1}}, [][]byte{{255}}},
		{"residue", "kv2", 1, KRR, 4, [][]byte{{0, 0}, {0, 3}}, [][]byte{{0, 4}, {1, 0}, {3}}},
		{"small tree", "hier", 1, OUE, 16, [][]byte{ones(2, 0), ones(2, 16)}, [][]byte{ones(1, 8), ones(3, 0)}},
		{"large tree", "hier", 1, OUE, 1024, [][]byte{ones(128, 163), ones(128, 389)}, [][]byte{ones(128, 0), ones(128, 161), ones(128, 391), ones(128, 1024)}},
		{"wavelet", "haar", 1, HRR, 1 << 19, [][]byte{{7, 255, 255, 1}, {0, 0, 0, 0}}, [][]byte{{8, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 0}}},
		{"wavelet of one", "haar", 1, HRR, 1, [][]byte{{0, 0, 0, 1}}, [][]byte{{0, 0, 1, 1}}},
		{"laplace", "uv2 laplace", 2, DLAP, 4096, [][]byte{int64s(126976), int64s(-126976)}, [][]byte{int64s(126977), int64s(-126977), int64s(math.MinInt64), int64s(math.MaxInt64)}},
		{"sphere", "scm3", 3, Sphere, 8, [][]byte{append(slices.Clone(seed), 1)}, [][]byte{append(slices.Clone(seed), 2), seed}},
		{"gauss", "scm3 gauss", 3, DGAUSS, 8, [][]byte{int32s(0, 0, 0, limit, -limit, 0, 0, 0)}, [][]byte{int32s(0, 0, 0, 0, 0, 0, 0, limit+1), int32s(math.MinInt32, 0, 0, 0, 0, 0, 0, 0), int32s(0)}},
		{"narrow gauss", "scm3 zcdp", 3, DGAUSS, 8, [][]byte{int32s(narrow, 0, 0, 0, 0, 0, 0, 0)}, [][]byte{int32s(narrow+1, 0, 0, 0, 0, 0, 0, 0)}},
	} {
		p, cell := cellOf(t, c.sample, c.round, c.r, c.domain)
		for _, payload := range c.good {
			n, got, err := p.DecodeReport(p.EncodeReport(cell.Cell, payload))
			if err != nil || n != cell.Cell || !bytes.Equal(got, payload) {
				t.Errorf("%s %x: cell %d, %x, %v", c.name, payload, n, got, err)
			}
		}
		for _, payload := range c.wrong {
			if _, _, err := p.DecodeReport(p.EncodeReport(cell.Cell, payload)); !isMalformed(err) {
				t.Errorf("%s %x: got %v, want a refusal", c.name, payload, err)
			}
		}
	}
	if narrow >= limit {
		t.Errorf("limits %d for rho 1/4 and %d for less", narrow, limit)
	}
}

func isMalformed(err error) bool {
	var r *refuse.Error
	return errors.As(err, &r) && r.Code == refuse.MalformedReport
}

// TestUnaryPadding: bits beyond D must be 0.
func TestUnaryPadding(t *testing.T) {
	c := Cell{Randomiser: OUE, Domain: 4}
	p := &Params{Protocol: LDPHier}
	for payload, want := range map[byte]bool{0: true, 0xf0: true, 0x08: false, 0x01: false} {
		if err := p.CheckPayload(c, []byte{payload}); (err == nil) != want {
			t.Errorf("%08b: %v, want accepted: %v", payload, err, want)
		}
	}
}

// TestHeaders: a report is of one version, protocol, round, cell and set of parameters.
func TestHeaders(t *testing.T) {
	p := sampleRound(t, "kv2", 2)
	right := p.EncodeReport(0, []byte{1})
	print := p.Fingerprint()
	want := append([]byte{1, 2, 2, 0, 0, 0, 0, 0}, print[:8]...)
	if !bytes.Equal(right[:HeaderSize], want) {
		t.Errorf("header %x, want %x", right[:HeaderSize], want)
	}
	for i := range HeaderSize {
		for bit := range 8 {
			b := slices.Clone(right)
			b[i] ^= 1 << bit
			if _, _, err := p.DecodeReport(b); !isMalformed(err) {
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			}
		}
	}
	for n := range right {
		if _, _, err := p.DecodeReport(right[:n]); !isMalformed(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, _, err := p.DecodeReport(make([]byte, 8000)); !isMalformed(err) {
		t.Errorf("8000 zeros: %v", err)
	}
	if _, _, err := sampleRound(t, "kv2", 1).DecodeReport(right); !isMalformed(err) {
		t.Errorf("report of another round: %v", err)
	}
	sum := sampleRound(t, "sum", 1)
	if _, _, err := sum.DecodeReport(sum.EncodeReport(0, nil)); !isMalformed(err) {
		t.Errorf("local report of a shuffle protocol: %v", err)
	}
}

func FuzzDecodeReport(f *testing.F) {
	var rounds []*Params
	for _, s := range samples {
		g := declared(f, s.protocol, s.text)
		for round := 1; round <= g.Rounds(); round++ {
			p := roundOf(f, g, round)
			for _, c := range p.Cells[:min(2, len(p.Cells))] {
				f.Add(uint8(len(rounds)), p.EncodeReport(c.Cell, make([]byte, c.PayloadSize())))
			}
			rounds = append(rounds, p)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		p := rounds[int(i)%len(rounds)]
		cell, payload, err := p.DecodeReport(b)
		if err == nil && !bytes.Equal(p.EncodeReport(cell, payload), b) {
			t.Errorf("%x decodes to cell %d, %x, which is another report", b, cell, payload)
		}
	})
}

func BenchmarkDecodeReport(b *testing.B) {
	for _, c := range []struct {
		sample string
		round  int
		cell   uint32
	}{{"bit", 1, 0}, {"hier", 1, 4}, {"scm3 gauss", 3, 0}} {
		p := sampleRound(b, c.sample, c.round)
		payload := make([]byte, p.Cells[c.cell].PayloadSize())
		if p.Cells[c.cell].Randomiser == OUE {
			payload = ones(len(payload), 270)
		}
		report := p.EncodeReport(c.cell, payload)
		b.Run(c.sample, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := p.DecodeReport(report); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
