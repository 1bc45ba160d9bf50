// Package exact holds the randomness of people who trust nobody: the coins, the discrete laws and
// the randomisers that run on a contributor's own device.
//
// Every law here is that of its formula, not of a float near it. Coins have rational probabilities
// and are decided by integers; exp(−a/b) is decided by coins [CKS20]; nothing is truncated. What a
// randomiser keeps or flips is a published integer over 2^62, rounded to the side of more privacy,
// and decoders use that integer, so they are unbiased as well. Floats come only after a report.
//
//	Rand                 Uniform, Coin, Bernoulli, Bernoulli62, BernoulliExp       coins
//	                     Geometric, Laplace, Gaussian, Poisson, NegativeBinomial   noise
//	Epsilon              the parameter of a report: a decimal with four digits at most
//	KeepBinary, KeepKary, FlipUnary                                                its integers over 2^62
//	BinaryResponse       a bit                          K1/2^62 tells the truth
//	KaryResponse         one of k values                Kk/2^62 tells the truth
//	UnaryEncoding        one of D values, D bits        Q/2^62 raises a bit that is not the value's
//	Hadamard             a sign and one of D values     one bit of the transform by BinaryResponse
//	BitMean              a fraction i/M                 one bit of mean i/M by BinaryResponse
//
// # Privacy
//
// Neighbours differ in the value of one contributor. A report of each randomiser is ε-DP by itself:
// for all values v, w and outputs y, P[y|v] ≤ e^ε·P[y|w]. The argument stands beside each type and
// rests on one inequality about its integer; a device recomputes the integer from ε and accepts
// only equality.
//
// # Randomness
//
// Secure reads the operating system's generator through crypto/rand, a block at a time, and forgets
// every word that it gave out. New takes any source: tests and simulations give it seeded ones. A
// Rand is not safe for concurrent use.
//
// Each loop ends after a few steps. One that passes 2^40 panics: this has a probability of less
// than 2^-(2^38) and says that the source repeats itself, so it is treated as crypto/rand treats a
// failing system, by not going on. A draw that does not fit 64 bits is an error, ErrRange, and the
// report must not be sent then: wrapping or saturating it would change the law.
//
// The time of a draw depends on what is drawn and, a little, on the value. A device sends its
// report at a time chosen beforehand, not when the report is done.
package exact
