// Package local reads what contributors of the local model reported: it gathers the reports of a
// round in a Tally, and estimates from it.
//
//	reports ── Tally.Add ──> Tally ── Publish ──> what the next round's devices get   (not the last round)
//	                           └───── Decode ───> Estimate: mean, vector, ranges, …   (the last round)
//
// A Tally holds what its randomiser's estimates need and no more: how often each value was reported
// (binary and k-ary response), how often each bit was set (unary encoding), a sum an index
// (Hadamard), sums and squares (Laplace), a sum of vectors (sphere, Gaussian). It does not grow
// with the reports.
//
// # Guarantee
//
// None of its own, and none is needed: every report is ε-DP by itself before it arrives, for the
// exchange of its contributor's value, and all of this is computed from reports and public
// parameters. That is also why counts of reports, refusals and warnings may be told to everybody.
//
// # Errors
//
// Standard errors and intervals cover the randomisation and, where Info.Covers says so, that
// contributors are a sample. They never cover what clipping moves, dishonest reports, or people who
// chose not to report.
//
// The likelihood estimates of LDP_KV1, LDP_KV2 and LDP_UV1 take values for Gaussian; privacy does
// not. For skewed values they tend to the median. The reports are asked whether values look
// Gaussian, and intervals are wider by the skewness and the tails that they do not exclude: see
// law. Where they do not, an estimate carries a warning, and has no standard error:
//
//	LDP_KV1, LDP_UV1   no interval
//	LDP_KV2            the interval that holds for any law of standard deviation sigma or less
//	LDP_UV2            the mean needs no Gaussian; its interval is wider by what clipping can move
package local
