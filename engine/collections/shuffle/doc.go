// Package shuffle reads the batches of the shuffle model: it gathers the opened messages of a round
// in a Tally, and estimates from it.
//
//	Tally ── Batch(cell, reports) ── AddAll(bag) ──> Publish ──> what the next round's devices get   (not the last round)
//	                                   └───────────> Decode ───> Estimate: sum, mean, ranges, …      (the last round)
//
// A batch is what the shuffler released at once: an unordered bag of messages, and how many
// contributors it came from. A round may have several, of different contributors; a tally holds
// them apart, because what makes a batch impossible can only be seen batch by batch.
//
//	SHUF_SUM, SHUF_VEC    sums of shares modulo 2^Bits, a coordinate
//	SHUF_HIER             counts of the nodes of a tree
//	SHUF_SCM3             trees in rounds 1 and 2, vectors in round 3
//
// # Guarantee
//
// None of its own. A bag is (ε,δ)-DP for the exchange of one contributor's value before it arrives,
// while the shuffler permutes and does not collude, and Batch.Honest contributors follow the
// protocol. All of this is computed from bags, numbers of contributors and public parameters, so
// estimates, refusals and warnings may be told to everybody.
//
// # Errors
//
// Standard errors and intervals cover the noise of the devices and their rounding: they are about
// the contributors of the batches, not about a population. They cover neither what clipping moves,
// nor dishonest contributors. Of a shuffled sum one contributor can make anything: shares are
// uniform, and the check of the window only catches the careless. Of a tree one contributor can add
// at most Cap counts.
package shuffle
