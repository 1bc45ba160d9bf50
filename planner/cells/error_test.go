package cells

import (
	"testing"

	"scrim/planner/plan"
)

// TestErrorsOfViewsHaveTheClips: of two views the one of the smaller noise has the larger error
// where its clip may take more.
func TestErrorsOfViewsHaveTheClips(t *testing.T) {
	tight, wide := Measure{Wide: 0.4}, Measure{Wide: 0.02}
	a := Sum{ViewSum: plan.ViewSum{StdErr: 10}, Cut: tight.doubt() * 1000}
	b := Sum{ViewSum: plan.ViewSum{StdErr: 20}, Cut: wide.doubt() * 1000}
	if a.Error() <= b.Error() || b.Error() <= b.StdErr {
		t.Errorf("errors %v and %v", a.Error(), b.Error())
	}
}
