package exec

import (
	"slices"
	"testing"
)

// TestPairsOfNames: equal names have one number and others have others, in the order of arrival.
func TestPairsOfNames(t *testing.T) {
	p, err := pairsOf([][]int64{{7, 7, -3, 1 << 62, -3}, {0, 5, 0, 0, 9}}, false, spillArea(t))
	if err != nil {
		t.Fatal(err)
	}
	if p.Lefts != 3 || p.Rights != 3 || !slices.Equal(p.Left, []uint32{0, 0, 1, 2, 1}) || !slices.Equal(p.Right, []uint32{0, 1, 0, 0, 2}) {
		t.Errorf("%+v", p)
	}
	if none, err := pairsOf(make([][]int64, 2), false, spillArea(t)); err != nil || none.Lefts != 0 || none.Rights != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
