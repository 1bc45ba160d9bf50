// Package block holds the passes over a block of vectors that the vector estimators are made of:
// person means, weighted norms, exactly clipped sums, noisy bisection of all coordinates at once,
// rotation.
//
// Nothing here draws noise. Each function is either a map of one person at a time, or returns
// integers whose change by one person is bounded as its comment says: floats are used inside one
// person only, and sums across persons are exact integers, so neither the order of persons nor the
// number of cores matters.
package block
