// Package cube releases many marginals of one table of counts at once: the numeric core of views.
//
// A cube has dimensions of public sizes n_1 … n_d. The marginal of a Set of them counts persons by
// their values in it. The residual of a set B is what its marginal has beyond those of its subsets,
//
//	r_B = (⊗ over i in B of C_i)·M_B x        C_i = I − 11ᵀ/n_i
//
// with M_B x the marginal. Every marginal is a sum of residuals spread evenly,
//
//	(M_A x)[a] = Σ over B ⊆ A of r_B[a] · Π over i in A without B of 1/n_i
//
// so each residual is measured once, however many marginals need it, and answers add up in all
// directions. What one person loses, and the variance of every cell and sum of cells, have closed
// forms; allocate.go has the noise that makes the least of the weighted variances.
//
//	New(params)      sets, allocation, size: public facts alone; refuses what is too large
//	Tally, Tables    exact integers by cell, from persons one at a time or from a store
//	Release          integer residuals, scaled by Π n_i, plus discrete Gaussian noise: an Answer
//	Answer           marginals and sums with standard errors
//	NonNegative      the nearest answer of which no cell is under 0: post-processing
//
// Invariants: data reach an Answer only as integers through noise.Noiser. The variances of the
// noise, and the number of draws, follow from Params. Source: [XHZK23] for residuals and their
// allocation, [MFXKMS24] for non-negative ones; docs/proofs/cubes.md has the argument.
package cube
