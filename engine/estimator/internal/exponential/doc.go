// Package exponential draws from the exponential mechanism on finite public sets: quantiles of one
// number a person ([S11]; many at once [KSS22]) and the fullest of many buckets.
//
// A choice is made among categories of equally good points, each with a number of points M and an
// integer distance k >= 0 from the best score: a point has the weight ω^k with ω = e^{-rate}.
// Scores are compared as integers, weights are fixed-point numbers of 192 bits, sums of weights are
// exact, and a category is found by an exactly uniform integer, so no float decides anything.
//
// Claim: if the scores of every two neighbours differ by an amount that lies, over all points, in
// an interval of length R (of integer distances), the mechanism with weights exactly ω^k is
// rate·R-bounded-range and costs (rate·R)²/8 in zCDP [CR21, Lemma 3.2]. Of NewFullest, what is
// drawn is within Slack of that law in total variation:
//
//   - a power ω^k is off by less than 2^13 units of 2^-192 (powers.at);
//   - there are at most 2^62 points (every constructor's range), so the weights are off by less
//     than 2^-117 together;
//   - some point has distance 0, so the sum of weights is at least 1 (up to that error), and two
//     laws are no further apart than the sum of the weights' differences over the larger sum.
//
// Quantiles, and NewPureFullest, have weights that are ε-DP and ε-bounded-range without any slack:
// see quantile.go.
//
// Everything is a map of the sorted data and of random words from noise.Noiser. How long it takes
// depends on the data only as sorting does.
package exponential
