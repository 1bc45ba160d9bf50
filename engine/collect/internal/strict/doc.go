// Package strict has the exponential and the logarithm with the same bits on every machine.
//
// A contributor's device recomputes what a server publishes of a collection and refuses what
// differs, so both sides must get the same number from the same parameters. The functions of
// package math do not promise that: some processors have their own versions in assembly, and the
// compiler may fuse x*y + z into one rounding where the processor can. Here, and in the packages
// that count on it, only +, −, ·, / and math.Sqrt, Frexp, Ldexp and Floor occur, which IEEE 754
// fixes to the last bit, and every product of floats stands directly inside a conversion,
// float64(x*y), which the language forbids to fuse. (A quotient by a power of two may still be
// fused as a product with its inverse: it is exact, so nothing changes.) TestProductsAreRounded
// checks the source of all of these packages for it, and TestGoldenBits the results.
//
// Accuracy: a few units in the last place (TestAccuracy allows 2^-50, relative). The accountants
// leave a far wider margin on the private side, so that no privacy claim hangs on a last digit;
// equality of the digits is for the comparison only.
package strict
