package local

import (
	"scrim/engine/collect"
	"scrim/engine/estimator/tree"
)

// level returns what a cell's reports say of its level of a tree. The cell's randomiser is KRR, OUE
// or HRR.
func (t *Tally) level(c collect.Cell) tree.Level {
	switch part := t.part(c.Cell); sum := part.sum.(type) {
	case *values:
		return tree.KRR(sum.counts, c.Keep)
	case *ones:
		sum.flush()
		return tree.OUE(sum.counts, part.reports, c.Keep)
	case *signs:
		return tree.HRR(sum.sums, part.reports, c.Keep)
	}
	panic("local: no level of a tree: " + string(c.Randomiser))
}

// sums returns the sums of a DGAUSS cell's coordinates.
func (t *Tally) sums(c collect.Cell) []int64 { return t.part(c.Cell).sum.(*coordinates).sums }
