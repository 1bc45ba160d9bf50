package local

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
	"scrim/test/stattest"
)

// cells are one of each randomiser whose reports are integers.
var cells = []collect.Cell{
	{Cell: 0, Randomiser: collect.BRR, Domain: 2},
	{Cell: 1, Randomiser: collect.BitMean, Domain: 1 << 32},
	{Cell: 2, Randomiser: collect.KRR, Domain: 5},
	{Cell: 3, Randomiser: collect.OUE, Domain: 16},
	{Cell: 4, Randomiser: collect.OUE, Domain: 67},
	{Cell: 5, Randomiser: collect.HRR, Domain: 8},
	{Cell: 6, Randomiser: collect.DLAP, Domain: 4096},
	{Cell: 7, Randomiser: collect.DGAUSS, Domain: 3},
}

// payload returns some payload of a cell.
func payload(r *rand.Rand, c collect.Cell) []byte {
	b := make([]byte, c.PayloadSize())
	switch c.Randomiser {
	case collect.BRR, collect.BitMean:
		b[0] = byte(r.IntN(2))
	case collect.KRR:
		binary.BigEndian.PutUint16(b, uint16(r.Uint64N(c.Domain)))
	case collect.HRR:
		binary.BigEndian.PutUint32(b, uint32(r.Uint64N(c.Domain))<<8|uint32(r.IntN(2)))
	case collect.DLAP:
		binary.BigEndian.PutUint64(b, uint64(r.Int64N(1<<20)-1<<19))
	case collect.OUE:
		for v := range c.Domain {
			b[v/8] |= byte(r.IntN(2)) << (7 - v%8)
		}
	default:
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}
	return b
}

// TestTallyCounts compares a tally with counting each value, bit, sign and coordinate by itself.
func TestTallyCounts(t *testing.T) {
	r := rand.New(stattest.Source(t, "tally"))
	p := &collect.Params{Cells: cells}
	tally := NewTally(p)
	want := map[string]int64{}
	for range 3000 {
		c := cells[r.IntN(len(cells))]
		b, times := payload(r, c), uint64(1)
		if r.IntN(20) == 0 {
			times = r.Uint64N(1000)
		}
		add(tally, c, b, times)
		want[fmt.Sprint(c.Cell, " reports")] += int64(times)
		for key, n := range parts(c, b) {
			want[fmt.Sprint(c.Cell, " ", key)] += n * int64(times)
		}
	}
	got := map[string]int64{}
	for _, c := range tally.parts {
		got[fmt.Sprint(c.Cell.Cell, " reports")] = int64(c.reports)
		for key, n := range contents(c.sum) {
			got[fmt.Sprint(c.Cell.Cell, " ", key)] = n
		}
	}
	for key := range want {
		if got[key] != want[key] {
			t.Errorf("%s: %d, want %d", key, got[key], want[key])
		}
	}
	for key, n := range got {
		if _, ok := want[key]; n != 0 && !ok {
			t.Errorf("%s: %d, want nothing", key, n)
		}
	}
}

// parts is what one report adds to.
func parts(c collect.Cell, b []byte) map[string]int64 {
	out := map[string]int64{}
	switch c.Randomiser {
	case collect.BRR, collect.BitMean:
		out[fmt.Sprint(b[0])] = 1
	case collect.KRR:
		out[fmt.Sprint(int(b[0])<<8|int(b[1]))] = 1
	case collect.OUE:
		for v := range c.Domain {
			if b[v/8]&(1<<(7-v%8)) != 0 {
				out[fmt.Sprint(v)] = 1
			}
		}
	case collect.HRR:
		out[fmt.Sprint(int(b[0])<<16|int(b[1])<<8|int(b[2]))] = 2*int64(b[3]) - 1
	case collect.DLAP:
		x := int64(binary.BigEndian.Uint64(b))
		out["sum"], out["squares"] = x, x*x
	case collect.DGAUSS:
		for j := range c.Domain {
			out[fmt.Sprint(j)] = int64(int32(binary.BigEndian.Uint32(b[4*j:])))
		}
	}
	return out
}

// contents is what an accumulator holds, under the same keys.
func contents(a accumulator) map[string]int64 {
	out := map[string]int64{}
	switch a := a.(type) {
	case *values:
		for v, n := range a.counts {
			out[fmt.Sprint(v)] = int64(n)
		}
	case *ones:
		a.flush()
		for v, n := range a.counts {
			out[fmt.Sprint(v)] = int64(n)
		}
	case *signs:
		for v, n := range a.sums {
			out[fmt.Sprint(v)] = n
		}
	case *moments:
		out["sum"], out["squares"] = a.sum, int64(a.squares)
	case *coordinates:
		for v, n := range a.sums {
			out[fmt.Sprint(v)] = n
		}
	}
	return out
}

// TestTallyInPieces: adding one by one, by chunks on all cores, by repetition and by merging gives
// the same.
func TestTallyInPieces(t *testing.T) {
	r := rand.New(stattest.Source(t, "pieces"))
	p := &collect.Params{Cells: cells}
	single, chunks, left, right := NewTally(p), NewTally(p), NewTally(p), NewTally(p)
	for _, c := range cells {
		var chunk []byte
		for i := range 40_000 {
			b := payload(r, c)
			chunk = append(chunk, b...)
			add(single, c, b, 1)
			add([]*Tally{left, right}[i%2], c, b, 1)
		}
		if err := chunks.AddAll(c.Cell, chunk); err != nil {
			t.Fatal(err)
		}
	}
	left.Merge(right)
	for i := range single.parts {
		want := contents(single.parts[i].sum)
		for name, other := range map[string]*Tally{"chunks": chunks, "merged": left} {
			if got := contents(other.parts[i].sum); !reflect.DeepEqual(got, want) || other.Received(uint32(i)) != 40_000 || other.Total() != single.Total() {
				t.Errorf("%s: cell %d has %d reports of %d, %v, want %v", name, i, other.Received(uint32(i)), other.Total(), got, want)
			}
		}
	}
}

// TestTallyRefuses what is no report of a cell, and stays as it was.
func TestTallyRefuses(t *testing.T) {
	r := rand.New(stattest.Source(t, "refuses"))
	p := &collect.Params{Cells: cells}
	tally := NewTally(p)
	for cell, bad := range map[uint32][][]byte{
		0: {{}, {2}, {0, 0}}, 1: {{3}}, 2: {{0, 5}, {5}, {1, 0}}, 3: {{1}, {1, 2, 3}}, 4: {make([]byte, 8), {9: 0}, {8: 1}, {8: 0x10}},
		5: {{0, 0, 8, 0}, {0, 0, 1, 2}, {1, 0, 0, 0}, {0, 0, 1}}, 6: {make([]byte, 7), {0: 1, 7: 0}}, 7: {make([]byte, 11)}, 8: {{0}},
	} {
		for _, b := range bad {
			checkMalformed(t, cell, b, tally.Add(cell, b, 1))
			// else it is several reports
			if size := sizeOf(cell); len(b) <= size || len(b)%size != 0 {
				if len(b) > 0 {
					checkMalformed(t, cell, b, tally.AddAll(cell, b))
				}
			}
		}
	}
	if err := tally.Add(0, []byte{1}, maxReports+1); err == nil {
		t.Error("more reports than fit were added")
	}
	fresh := NewTally(p)
	for i := range tally.parts {
		if !reflect.DeepEqual(contents(tally.parts[i].sum), contents(fresh.parts[i].sum)) || tally.Total() != 0 {
			t.Errorf("cell %d was changed", i)
		}
	}
	add(tally, cells[4], payload(r, cells[4]), 1)
	if tally.Received(4) != 1 || tally.Received(99) != 0 {
		t.Errorf("received %d, and %d of no cell", tally.Received(4), tally.Received(99))
	}
}

func sizeOf(cell uint32) int {
	if int(cell) < len(cells) {
		return cells[cell].PayloadSize()
	}
	return 1
}

func checkMalformed(t *testing.T, cell uint32, payload []byte, err error) {
	t.Helper()
	if e, ok := refuse.As(err); !ok || e.Code != refuse.MalformedReport {
		t.Errorf("cell %d, %v: %v", cell, payload, err)
	}
}

func TestTalliesOfOtherRoundsDoNotMerge(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("merged")
		}
	}()
	NewTally(&collect.Params{Cells: cells}).Merge(NewTally(&collect.Params{Cells: cells[:2]}))
}

// BenchmarkAdd adds a million reports of the sizes that protocols have: a payload and its
// multiplicity at a time where payloads are short, chunks where they are long.
func BenchmarkAdd(b *testing.B) {
	const reports = 1_000_000
	r := rand.New(stattest.Source(b, "bench"))
	for _, c := range []collect.Cell{
		{Randomiser: collect.BRR, Domain: 2}, {Randomiser: collect.KRR, Domain: 4}, {Randomiser: collect.HRR, Domain: 1 << 19},
		{Randomiser: collect.DLAP, Domain: 4096}, {Randomiser: collect.OUE, Domain: 64}, {Randomiser: collect.OUE, Domain: 4096},
	} {
		var chunk []byte
		for range 1000 {
			chunk = append(chunk, payload(r, c)...)
		}
		p := &collect.Params{Cells: []collect.Cell{c}}
		b.Run(fmt.Sprintf("one/%s/%d", c.Randomiser, c.Domain), func(b *testing.B) {
			for range b.N {
				t, size := NewTally(p), c.PayloadSize()
				for i := range reports {
					at := i % 1000 * size
					add(t, c, chunk[at:at+size], 1)
				}
			}
		})
		b.Run(fmt.Sprintf("chunks/%s/%d", c.Randomiser, c.Domain), func(b *testing.B) {
			var whole []byte
			for range 100 {
				whole = append(whole, chunk...)
			}
			b.ResetTimer()
			for range b.N {
				t := NewTally(p)
				for range 10 {
					if err := t.AddAll(0, whole); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
