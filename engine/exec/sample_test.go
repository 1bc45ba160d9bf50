package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator/noise"
)

// TestReservoir: every value is chosen as often as every other, and every pair as every other,
// wherever they come; all are where there is room.
func TestReservoir(t *testing.T) {
	const values, slots, times = 12, 5, 20_000
	source := noise.New(rand.NewPCG(3, 4))
	var one [values]float64
	var two [values][values]float64
	for range times {
		r := &reservoir{noise: source, slots: slots, width: 1}
		for v := range values {
			if at, ok := r.place(); ok {
				r.kept[at] = append(r.room(at)[:0], float64(v))
			}
		}
		if len(r.kept) != slots {
			t.Fatalf("%d values are kept", len(r.kept))
		}
		for _, a := range r.kept {
			one[int(a[0])]++
			for _, b := range r.kept {
				two[int(a[0])][int(b[0])]++
			}
		}
	}
	check := func(what string, n, p float64) {
		// Of 78 counts none is 6.5 standard deviations off by chance: alpha 1e-9 together.
		if math.Abs(n-times*p) > 6.5*math.Sqrt(times*p*(1-p)) {
			t.Errorf("%s: chosen %v times of %d, want about %v", what, n, times, times*p)
		}
	}
	for a := range values {
		check("one", one[a], slots/float64(values))
		for b := range a {
			check("a pair", two[a][b], slots*(slots-1)/float64(values*(values-1)))
		}
	}
	few := &reservoir{noise: source, slots: slots, width: 1}
	for range slots - 1 {
		few.place()
	}
	if len(few.kept) != slots-1 {
		t.Errorf("%d of %d values are kept", len(few.kept), slots-1)
	}
}
