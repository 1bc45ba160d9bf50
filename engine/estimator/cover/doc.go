// Package cover estimates the mean of rows of many a person under pure differential privacy, in one
// and two dimensions, by the exponential mechanism over a cover of the possible means: Algorithms 5
// to 8 of [AKM25].
//
// A candidate mean p is compared with points q around it. Along the direction from p to q the
// persons' means, clipped to a distance P from p, are averaged; p loses where their average is
// beyond the middle of p and q. The score of p is the least number of persons that have to be
// exchanged for p to lose a comparison, so a good candidate has a high score and one far from the
// mean has score 0.
//
//	persons ──▶ mean of each, an integer in 2^-10 steps
//	        ──▶ mean.go     where the cover is too wide: a fullest bucket for every coordinate, ε_1 each   (Algorithm 8)
//	        ──▶ score.go    projections on 1 or 8 lines, sorted; the score of every position of a line      (Algorithm 5)
//	        ──▶ score.go    the score of a candidate, the least of its positions'; how many have which      (Algorithm 6)
//	        ──▶ score.go    one candidate, by the weights of the scores, ε_2                                (Algorithm 7)
//
// # Privacy
//
// Neighbours are two databases of the same public number n of persons that differ in the rows of
// one (replace-one). Under add-remove, and where a filter makes n private, the score has no
// meaning, and the constructors refuse.
//
// The score of a candidate is a Hamming distance: the least number of persons to exchange until
// some integer sum reaches a public bound. A distance to a set changes by at most 1 where one
// person is exchanged, and so do the least of several and a score that is cut at a public number.
// Sums are of integers, so no order of persons changes them; the floats in a projection are a map
// of one person's own rows. Candidates, directions, P and the bounds are public, or depend on the
// coarse step's answer alone. A score s has the integer weight W(s), with W(s) ≤ W(s+1) ≤
// e^{ε_2/2}·W(s) for every s (score.go). One person changes each weight by a factor of at most
// e^{ε_2/2}, their sum as well, and the probability of a candidate by e^{ε_2} at most. The draw is
// exact: δ = 0. The coarse step costs ε_1 for a coordinate, and ε = Dim·ε_1 + ε_2 in all [AKM25,
// Lemma 2.4]. All persons take part in both steps, where Algorithm 8 has two halves of the persons:
// which person is in which half would have to be secret and even, the halves would double the
// variance of the mean, and the coarse step needs a small part of ε only. A person who is missing
// in the input (against the promise of Params.Sized) counts with the middle of the public range,
// and persons beyond n are left out in an order that depends on their values alone, so that an
// exchange remains an exchange.
//
// # Accuracy
//
// It is claimed for independent rows whose k-th central moment is at most σ_k^k in every direction,
// and at least m rows a person. Then the answer is within α of the mean with probability 90 %. The
// constants of [AKM25] are hidden in its O-notation; those used here are derived in plan.go and
// were tested on samples. Nothing of it bears on privacy. The error of samples is a tenth of α,
// near that of a clipped mean with Laplace noise about a known centre; it has a bias of a few per
// cent of α where rows are skewed, as persons in the longer tail take fewer exchanges.
//
// Three things differ from the paper, and all reduce the error. The mean of all persons takes the
// place of a median of the means of subsamples: as the persons are clipped, Bernstein's inequality
// gives the high probability that the median is for, and to move the mean takes twice as many
// persons as to move half of the subsamples. So there is no least number of persons for subsamples
// either. The points q are at one distance from p, in two dimensions in 16 directions: a farther q
// of the same direction is never easier to lose to, and as clipping keeps order, a mean however far
// away makes p lose to a point of this circle, without the special cases of [AKM25, Lemma 5.4]. And
// where the whole public range has few enough candidates there is no coarse step.
package cover
