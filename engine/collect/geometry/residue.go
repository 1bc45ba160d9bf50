package geometry

import "math"

// Margin is how far beyond the range of the mean values are kept, in standard deviations: 8, so
// that the kept part of a Gaussian lacks less than 1e-15.
const Margin = 8

// Position returns t = (x-lo)/unit, kept within [-margin, span+margin]; span is the width of the
// range of the mean in units. margin is Margin where unit is the standard deviation, Margin·Scales
// where it is the least one.
func Position(x, lo, unit, span, margin float64) float64 {
	return inside((x-lo)/unit, -margin, span+margin)
}

// Residues is the number of residues of a level.
const Residues = 4

// Residue returns floor(t/2^level) mod 4, from 0 to 3 for negative t too: the cell of width 2^level
// that t lies in, known up to a multiple of four cells.
//
// Source: [JKMW19], round one of KVGausstimate.
func Residue(t float64, level int) uint64 {
	cell := math.Floor(math.Ldexp(inside(t, -maxPosition, maxPosition), -level))
	// two's complement: the residue of negative cells too
	return uint64(int64(cell)) & (Residues - 1)
}

// maxPosition keeps cells within an int64; positions are below 2^25.
const maxPosition = 1 << 52

// Lattice is the half period of the sides of one-round estimation, in standard deviations: the
// lattice has a point every 8, and its cells of width 4 lie in turn above a point and below the
// next.
const Lattice = 4

// Above tells on which side of the nearest point of the lattice {offset + 8b} the position lies:
// whether floor((t-offset)/4) is even. Offsets are 0 to 3; offset+4 is the other side of offset.
func Above(t float64, offset int) bool {
	return math.Mod(math.Floor((t-float64(offset))/Lattice), 2) == 0
}
