// Package tree makes histograms, ranges, quantiles and means of noisy counts on dyadic structures,
// for collections of the local and of the shuffle model.
//
//	Level   one level: unbiased values and the law of their noise     KRR, OUE, HRR, Binomial, Missing
//	Hier    a tree of four children a node, made consistent            NewHier
//	Haar    signed halves of blocks, transformed from Hadamard bits    NewHaar
//
// Positions are fractions of the public domain: 0 is its lower end, 1 its upper end. Shares are
// fractions of the contributors.
//
// Everything here is post-processing of reports that are private already, so floats may be used,
// any number of questions may be asked and none costs anything.
//
// # Standard errors
//
// An estimate is a sum of the levels' values with weights that depend on public numbers alone. Its
// variance is exact for those weights, with the estimated shares in the place of the true ones. In
// the local model it covers the randomisation, and that contributors and their levels are a random
// sample of a large population; in the shuffle model, where every contributor reports on every
// level, the noise of the batch. It covers neither reports that break the protocol nor what a level
// without reports would have told: the children of its nodes get equal parts.
package tree
