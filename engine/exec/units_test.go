package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/store"
)

// TestUnits compares the numbers of units with a map's, over tables that grow, with units that are
// alike in many bits.
func TestUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var u units
	memory := spillArea(t)
	want := map[int64]int32{}
	for i := range 20_000 {
		unit := int64(r.IntN(5000)) << (8 * (i % 7))
		switch i {
		case 1:
			unit = math.MinInt64
		case 2:
			unit = math.MaxInt64
		case 3:
			unit = -1
		}
		n, ok := want[unit]
		if got := u.find(unit); ok && got != n || !ok && got != -1 {
			t.Fatalf("unit %d: got %d, want %d (%v)", unit, got, n, ok)
		}
		if !ok {
			n = int32(len(want))
			want[unit] = n
			if err := u.put(unit, n, memory); err != nil {
				t.Fatal(err)
			}
		}
	}
	for unit, n := range want {
		if got := u.find(unit); got != n {
			t.Errorf("unit %d: got %d, want %d", unit, got, n)
		}
	}
	if u.taken != len(want) || 4*u.taken > 3*len(u.slots) {
		t.Errorf("%d of %d places are taken by %d units", u.taken, len(u.slots), len(want))
	}
}

// TestNumbersOfUnits: units are numbered in their order in each group; NULL has no number.
func TestNumbersOfUnits(t *testing.T) {
	p := persons{memory: spillArea(t)}
	p.resize(3)
	rows := []struct {
		group int32
		unit  int64
		null  bool
		want  int32
	}{{2, 7, false, 0}, {2, 7, false, 0}, {0, 7, false, 0}, {2, -7, false, 1}, {2, 7, true, -1}, {2, 7, false, 0}, {0, 0, false, 1}, {0, 7, false, 0}}
	v := store.Vector{}
	var of []int32
	for _, r := range rows {
		v.Ints, v.Null, of = append(v.Ints, r.unit), append(v.Null, r.null), append(of, r.group)
	}
	for range 2 {
		got, err := p.number(&v, of)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if got[i] != r.want {
				t.Errorf("row %d: got %d, want %d", i, got[i], r.want)
			}
		}
	}
	if p.counts[0] != 2 || p.counts[1] != 0 || p.counts[2] != 2 {
		t.Errorf("got %v persons", p.counts)
	}
}
