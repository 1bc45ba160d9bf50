// Package errorbar makes error bars of released estimates: intervals at any level, and the ℓ2
// radius of vectors.
//
// An interval is about the exact answer on the data as they are, not about a population that the
// persons might be a sample of. With a probability of at least the level it covers the answer that
// the mechanism would give without noise: with the same clips and the same choices
// (estimator.Biased names what these leave out). It is post-processing of released numbers and
// public parameters (estimator.Error), so it costs nothing and any number of levels may be asked
// for.
//
//	Quotient   all r with |value − r| ≤ q(r), q(r) the point that |E − r·e|/n̂ passes with probability 1 − level: Fieller's interval [F54].
//	           Of a sum or a count, where nothing is under it, value ± q.
//	Variance   the linear part by its largest standard deviation among all plausible moments, the square of the first moment's error on
//	           top: three risks of a twentieth are taken off for what is plausible, and for n̂ in n̂/(n̂−1).
//	Fraction   all q for which Num − q·Den is within what its noise passes with probability 1 − level, by the linear part of the noise.
//	Quantile   the nearest values that noisy ranks on the way to the answer tell apart from it, each at risk (1 − level)/ranks.
//
// That an answer is given at all (its status is OK) is seen from a released number of persons, too:
// the statement is that the answer is given and not covered with probability 1 − level at most.
//
// Each value is covered at the level by itself; of k values together 1 − k·(1 − level) is sure.
package errorbar
