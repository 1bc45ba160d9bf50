package clipping

import (
	"reflect"
	"testing"
)

// TestKeptFitsAreThoseOfTheirCounts: a fit that is kept is the one that is made anew, of each of
// some counts that differ in one thing; it is made once.
func TestKeptFitsAreThoseOfTheirCounts(t *testing.T) {
	k := &keeper{last: make([]keptSide, 16)}
	counts := []float64{40, 300, 900, 1200, 700, 300, 60, 12, 5, 0, -3, 1, 2, 0, -1}
	for range 2 {
		for i, c := range []Counts{
			{}, {real: true}, {about: true, real: true}, {squares: true, real: true}, {tail: laplaceTail}, {sigma: 12}, {sigma: 5000}, {groups: 100_000, sigma: 200},
		} {
			c.sigma, c.tail = max(c.sigma, 10), max(c.tail, 1)
			own := append([]float64{}, counts...)
			kept, ok := k.side(own, c)
			own[3]++
			if _, found := k.side(own, c); found != ok {
				t.Errorf("case %d: one person more is found %v", i, found)
			}
			own[3]--
			again, _ := k.side(own, c)
			fresh, found := fitSide(own, c)
			if ok != found || !reflect.DeepEqual(kept, fresh) || !reflect.DeepEqual(again, fresh) {
				t.Errorf("case %d: %v of %v", i, ok, found)
			}
			if len(kept.fits) > 0 && &kept.fits[0] != &again.fits[0] {
				t.Errorf("case %d was fitted twice", i)
			}
		}
	}
	if k.next != 0 { // 8 cases, each with its counts and with one person more, in both rounds the same
		t.Errorf("%d fits are kept", k.next)
	}
}
