// Package geometry maps a contributor's value to the integers that randomisers take, and back:
// clean numbers and vectors, fractions, residues, tree leaves, the public rotation, balls, norm
// buckets and the directions of seeds. Devices encode with it and decoders read with it, so that
// both mean the same place.
//
// # Guarantee
//
// None of its own, and none is needed. Everything here is a deterministic function of one
// contributor's value and of public parameters. A device applies it before the randomiser, whose
// guarantee holds for every pair of codes in its domain; a decoder applies it to what was released
// already. So floats may be used, and a rounding that differs between two machines moves an
// estimate by as much as the rounding and no privacy at all. What privacy does need is that every
// code lies in the randomiser's domain whatever the value was, and that nothing here fails or
// refuses on a value: every function is total, NaN and infinities included.
//
//   - Local model: the report's law depends on the value through its code alone.
//   - Shuffle model: what a contributor adds to a sum is bounded in integers (Shrink), after all
//     floats.
//
// Products are rounded before they are added (float64(a*b)+c), so that machines with fused
// multiply-add give the same results as those without.
package geometry
