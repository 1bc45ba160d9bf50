package device

import (
	"bytes"
	"math"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/internal/refuse"
	"scrim/test/stattest"
)

// alike lists values that must have the same law as another, on any stream the same bytes.
func alike(p *collect.Params) (pairs [][2]collect.Value) {
	null := p.Null()
	for _, v := range []collect.Value{nil, {}, {nan}, {1, 2}, {1, 2, 3, 4, 5}} {
		pairs = append(pairs, [2]collect.Value{v, null})
	}
	if len(null) > 1 {
		far := collect.Value{1e308, 1e308, -1e308}
		r := p.Derived.Ball
		if p.Protocol == collect.ShufVec {
			r = p.Batch.Clip
		}
		r /= math.Sqrt(3)
		return append(pairs, [2]collect.Value{{1, nan, 2}, null}, [2]collect.Value{{1, inf, 2}, null}, [2]collect.Value{{7}, null},
			[2]collect.Value{far, {r, r, -r}})
	}
	d := &p.Declaration
	lo, hi := d.Lo, d.Hi
	switch p.Protocol {
	case collect.LDPKV1, collect.LDPKV2:
		lo, hi = lo-8*d.Sigma, hi+8*d.Sigma
	case collect.LDPUV1, collect.LDPUV2:
		lo, hi = lo-8*d.SigmaMax, hi+8*d.SigmaMax
	}
	return append(pairs, [2]collect.Value{{inf}, {hi}}, [2]collect.Value{{-inf}, {lo}}, [2]collect.Value{{hi + 100}, {hi}}, [2]collect.Value{{lo - 1e300}, {lo}})
}

func TestBadInputReportsAsDeclared(t *testing.T) {
	rounds(t, collect.Local, func(t *testing.T, p *collect.Params) {
		for _, c := range p.Cells {
			for _, pair := range alike(p) {
				for _, stream := range []string{"a", "b", "c"} {
					x, y := report(t, stream, p, c.Cell, pair[0]), report(t, stream, p, c.Cell, pair[1])
					if !bytes.Equal(x, y) {
						t.Fatalf("cell %d: %v reports %x, and %v reports %x", c.Cell, pair[0], x, pair[1], y)
					}
				}
			}
		}
	})
}

func TestBadInputSendsMessagesAsDeclared(t *testing.T) {
	rounds(t, collect.Shuffle, func(t *testing.T, p *collect.Params) {
		for _, c := range p.Cells {
			for _, pair := range alike(p) {
				x, y := messages(t, "a", p, c.Cell, pair[0]), messages(t, "a", p, c.Cell, pair[1])
				if len(x) != len(y) {
					t.Fatalf("%v has %d messages, %v %d", pair[0], len(x), pair[1], len(y))
				}
				for i := range x {
					if x[i] != y[i] {
						t.Fatalf("message %d of %v is %x, of %v %x", i, pair[0], x[i], pair[1], y[i])
					}
				}
			}
		}
	})
}

// TestReportsHaveOneLengthAndAreAccepted checks every cell's reports over many values: as long as
// each other, and within what the server takes.
func TestReportsHaveOneLengthAndAreAccepted(t *testing.T) {
	rounds(t, collect.Local, func(t *testing.T, p *collect.Params) {
		r := exact.New(stattest.Source(t, "reports"))
		for _, c := range p.Cells {
			length := 0
			for _, v := range valuesOf(p) {
				b, err := Report(r, p, c.Cell, v)
				if err != nil {
					t.Fatal(err)
				}
				if length == 0 {
					length = len(b)
				}
				if cell, _, err := p.DecodeReport(b); err != nil || cell != c.Cell || len(b) != length {
					t.Errorf("cell %d: %v reports %d bytes for cell %d, others %d: %v", c.Cell, v, len(b), cell, length, err)
				}
			}
		}
	})
}

func TestWrongCellAndModel(t *testing.T) {
	p := roundOf(t, collect.LDPBit, "", 1)
	_, err := Report(exact.Secure(), p, 1, nil)
	if r, ok := refuse.As(err); !ok || r.Code != refuse.ClosedToken {
		t.Errorf("a cell that is none: %v", err)
	}
	if _, err := Messages(exact.Secure(), p, 0, nil); err == nil {
		t.Error("messages of a local collection")
	}
	if _, err := Report(exact.Secure(), roundOf(t, collect.ShufSum, "", 1), 0, nil); err == nil {
		t.Error("a report of a shuffle collection")
	}
}
