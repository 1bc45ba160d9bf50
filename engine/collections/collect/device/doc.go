// Package device is what runs where nobody else looks: it turns one contributor's value into the
// report or the messages that leave the device. It draws all randomness of a protocol, once.
//
//	value -> clean -> code (package geometry, floats)  -> randomiser (package exact, integers) -> bytes
//
// # Guarantee
//
// Neighbours differ in the value of one contributor.
//
//   - Local model (Report): the bytes are ε-DP by themselves. The value enters one randomiser,
//     through its code, and every code in the domain has a row; so ratios between any two values,
//     NULL and NaN included, are those of the randomiser: at most e^ε. Which cell the report is of
//     comes from the token. Option gauss or zcdp: round 3 of LDP_SCM3 is ρ-zCDP, by an l2 bound
//     that is kept in integers.
//   - Shuffle model (Messages): a contributor moves the sum, or the counts, by what the batch's
//     noise is made for, in integers; brings a share of that noise; and splits sums into shares
//     that tell nothing one by one. The bag of the batch is (ε,δ)-DP while Batch.Honest
//     contributors do so and the shuffler does not collude with the server. One device's messages
//     alone, before the shuffle, are not private.
//
// A value never decides whether there is a report, how long it is, or how many messages it has:
// NULL, NaN and vectors that are not of the declared shape count as the public null_default,
// numbers beyond the range as its nearer end. Errors come from parameters only, or with a
// probability below 2^-60 from the noise. What randomisers need of the parameters is computed from
// ε here; integers of the server that differ are an error, so that a server cannot weaken a report.
//
// Callers run Params.Verify first, keep the bytes before they send them, and never call twice for
// one token: two reports of one value cost twice. The time that a call takes varies with the noise
// and slightly with the value, so an app sends at a time chosen beforehand.
package device
