package collect

import (
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
)

// deriveHier plans LDP_HIER: everybody reports their node of one level of a tree of fan-out 4.
func (g *Design) deriveHier(f factors) error {
	d := &g.Declaration
	need := treeMin(f, d.Levels)
	if d.Expected < need {
		return few("a tree of %d levels takes %d reports", d.Levels, need)
	}
	g.addRound(spread(treeCells(d, f, d.Levels, need), d.Expected), need)
	return nil
}

// treeCells returns the cells of a tree of h levels: four-ary and larger k-ary response while its
// variance is the smaller, which is where 4^level <= 3e^ε+2, and unary encoding beyond. Declared as
// zCDP, every level is unary encoding, whose loss is ε²/4 and not ε²/2. A level must bring half of
// its even share of need.
func treeCells(d *Declaration, f factors, h int, need uint64) []Cell {
	flip := exact.FlipUnary(d.Epsilon)
	cells := make([]Cell, h)
	for i := range cells {
		nodes := geometry.Leaves(i + 1)
		cells[i] = Cell{Randomiser: OUE, Domain: nodes, Keep: flip, Level: i + 1, Min: half(need, h)}
		if d.Option != "zcdp" && float64(nodes) <= float64(3*f.e)+2 {
			cells[i].Randomiser, cells[i].Keep = KRR, exact.KeepKary(d.Epsilon, nodes)
		}
	}
	return cells
}

// half returns half of each of parts' even share of need, rounded up.
func half(need uint64, parts int) uint64 {
	d := 2 * uint64(parts)
	return (need + d - 1) / d
}

// deriveHaar plans LDP_HAAR: everybody reports one level's block and side, by one bit of a Hadamard
// transform.
func (g *Design) deriveHaar(f factors) error {
	d := &g.Declaration
	need := haarMin(f, d.Levels)
	if d.Expected < need {
		return few("%d levels take %d reports", d.Levels, need)
	}
	keep := exact.KeepBinary(d.Epsilon)
	cells := make([]Cell, d.Levels)
	for i := range cells {
		cells[i] = Cell{Randomiser: HRR, Domain: 1 << (d.Levels - i - 1), Keep: keep, Level: i + 1, Min: half(need, d.Levels)}
	}
	g.addRound(spread(cells, d.Expected), need)
	return nil
}
