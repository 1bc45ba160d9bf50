package firstpass_test

import (
	"slices"
	"testing"

	"scrim/engine/estimator/internal/firstpass"
	"scrim/test/firstpasstest"
	"scrim/test/stattest"
)

// words gives scripted secret bits.
type words struct {
	stattest.Zero
	left []uint64
}

func (w *words) Uniform() uint64 {
	x := w.left[0]
	w.left = w.left[1:]
	return x
}

// TestCoinsDecideByTheirSides: a coin keeps its person if its side is below, parts are disjoint and
// together everybody, and no draw is wasted.
func TestCoinsDecideByTheirSides(t *testing.T) {
	sides := []uint32{0, 5, 6, 1<<32 - 1, 1 << 31, 1431655765, 1431655766}
	w := &words{left: firstpasstest.Coins(sides)}
	c := firstpass.Toss(w, nil, int64(len(sides)))
	if !slices.Equal(c, firstpass.Coins(sides)) || len(w.left) != 0 {
		t.Fatalf("coins %v, %d words left", c, len(w.left))
	}
	if got := c.Keep(nil, 6); !slices.Equal(got, []bool{true, true, false, false, false, false, false}) {
		t.Errorf("kept %v", got)
	}
	if got := c.Keep(nil, firstpass.CoinSides); slices.Contains(got, false) {
		t.Errorf("all sides keep %v", got)
	}
	a, b, d := c.Part(nil, 0, 3), c.Part(nil, 1, 3), c.Part(nil, 2, 3)
	for i := range sides {
		if k := []bool{a[i], b[i], d[i]}; !(k[0] != k[1] != k[2]) || k[0] && k[1] {
			t.Errorf("coin %d is in the parts %v", i, k)
		}
	}
	if !a[5] || !b[6] || !d[3] {
		t.Errorf("parts %v, %v, %v", a, b, d)
	}
}

// TestCoinsAreFair: samples have the share that is asked for, and no other; sides are all where
// that is half or more, or nothing is asked for.
func TestCoinsAreFair(t *testing.T) {
	const persons = 90_000
	c := firstpass.Toss(stattest.Noiser(t, "coins"), nil, persons)
	count := func(in []bool) (k int64) {
		for _, x := range in {
			if x {
				k++
			}
		}
		return k
	}
	kept := count(c.Keep(nil, firstpass.Sides(persons/10, persons)))
	stattest.Accept(t, stattest.ChiSquare("kept", []int64{kept, persons - kept}, []float64{0.1, 0.9}))
	stattest.Reject(t, stattest.ChiSquare("kept", []int64{kept, persons - kept}, []float64{0.12, 0.88}))
	thirds := []int64{count(c.Part(nil, 0, 3)), count(c.Part(nil, 1, 3)), count(c.Part(nil, 2, 3))}
	stattest.Accept(t, stattest.ChiSquare("thirds", thirds, []float64{1. / 3, 1. / 3, 1. / 3}))
	for _, x := range [][2]float64{{0, 100}, {50, 100}, {200, 100}, {-1, 5}, {1, 0}} {
		if firstpass.Sides(x[0], x[1]) != firstpass.CoinSides {
			t.Errorf("%v of %v persons: not all", x[0], x[1])
		}
	}
	if s := firstpass.Sides(1, 1<<32); s != 1 {
		t.Errorf("%d sides for one of 2^32", s)
	}
}
