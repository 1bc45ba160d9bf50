// Package accounting keeps the privacy account: losses and their composition, conversions, budgets
// with windows, the privacy filter, and the durable ledger in which every charge is written before
// the first protected row is read. It imports nothing of ours.
//
// # Losses
//
// A [Loss] is (ρ, δ_event, δ_tv), stated for adding or removing one unit. A mechanism has it when
//
//   - δ_event: for each pair of neighbours there are events of probability at least 1−δ_event on which
//     the two output laws satisfy ρ-zCDP [BS16, Definition 8.1]; and
//   - δ_tv: what runs is within total-variation distance δ_tv, on each of the two databases, of a
//     mechanism with that property. This is the slack of samplers.
//
// Adaptive composition adds all three parts: [BS16, Lemma 8.2] for the first two; for the third the
// run is coupled with the ideal one, step by step, and the chances to differ add up.
//
// A release that is (ε, 0)-DP carries that ε beside its ρ, which is at most ε²/2 and at most ε, and has no slack. Pure ε add up as well; a sum
// with a part that has none has none.
//
// # Conversion
//
// A loss with a pure ε' is (ε, 0)-DP for every ε >= ε'. For the others and for smaller ε: the ideal mechanism is (ε, δ_z(ρ, ε)+δ_event)-DP: inside the events by [CKS20, Corollary 13], and
// what lies outside adds its probability [BS16, Lemma 8.8]. A mechanism within δ_tv of it, on both
// sides, has for every set S
//
//	P[S] <= P'[S] + δ_tv <= e^ε·Q'[S] + δ + δ_tv <= e^ε·(Q[S] + δ_tv) + δ + δ_tv
//
// so the total is δ_z(ρ, ε) + δ_event + (1+e^ε)·δ_tv. That is [DeltaOf]; [EpsilonOf] and [RhoFor]
// invert it. All three round so that the result is true: up, up and down.
//
// # Events
//
// A charge says what it was made for: its [Event]s, runs of mechanisms with their exact parameters. The filter below does not look at
// them. They tell more tightly what was spent: for each kind curve_kinds.go bounds the Rényi divergence of every order α of one run, for
// the worst pair of neighbours, whatever came before. Runs add up order by order: the α-th moment of the quotient of two laws is the mean, over what the first
// run gave, of that of the first times that of the second, which is at most its bound. So a [Curve] is a sum, kept in fixed point beside
// the loss: α·ρ of the events of which ρ is all there is to know (of Gaussian noise it is), for all α; and d(α) of the others on a grid of orders, with
// α = ∞, where it is the sum of their ε. All of it is rounded up.
//
// [BestEpsilon] is the least ε of four conversions. Each holds for what was run, so the least does.
//
//   - pure: the sum of ε, where there is no slack; P <= e^ε·Q holds for every outcome.
//   - zcdp: [EpsilonOf], of the sum of ρ.
//   - sum: where all events are pure inside their events of probability 1−δ_event, the sum of their ε at δ = Σδ_event + (1+e^ε)·Σδ_tv. That is
//     the paragraph above with δ_z = 0.
//   - renyi: at each order α, δ_z is e^((α−1)(αρ+d(α)−ε))·(1−1/α)^α/(α−1) [CKS20, Proposition 12], the least over all α. Between two
//     orders of the grid (α−1)·d(α) is at most its chord: for one pair of laws it is ln Σ P^α·Q^(1−α), the logarithm of a sum
//     of exponentials of α, which is convex and 0 at α = 1; so is a sum over runs, and the largest over pairs. Above the
//     grid d(α) is at most d(∞). Slack enters as above: each order has a bound of its own inside the same events.
//
// It tells what was spent, had the mechanisms and their parameters been fixed beforehand. Of a dialogue that lets earlier answers choose them the
// promise is the filter's, at the budget.
//
// # Filter
//
// [Ledger.Reserve] grants a charge when, for every budget (ε, δ) that it touches,
//
//	δ_z(Σρ, ε) + Σδ_event + (1+e^ε)·Σδ_tv <= δ
//
// where the sums run over the budget's window, the pending charge included. For caps on the three
// sums that are fixed beforehand, stopping before a cap is passed gives the guarantee at the caps
// although each loss is chosen after seeing the answers before it: Feldman and Zrnic, Individual
// Privacy Accounting via a Rényi Filter (2021), for zCDP; Whitehouse, Ramdas, Rogers and Wu, Fully
// Adaptive Composition in Differential Privacy (2023), for approximate zCDP. The test above fixes one
// curve instead of three caps. Where the slack Σδ_event+(1+e^ε)·Σδ_tv of a window comes out the same
// whatever the answers, the two are one. An analyst who lets earlier answers decide whether to spend ρ
// or slack always stays within the caps ρ <= RhoFor(ε, δ) and slack <= d, the largest slack that any
// course of the dialogue spends, and is covered for (ε, δ+d). As d <= δ that is (ε, 2δ) at worst.
//
// Where 1+e^ε makes even the slack of samplers large, which takes an ε of 40 or more, the test passes
// also when it does at a smaller ε'. That is sound because (ε', δ) is the stronger promise; the
// preceding paragraph is then about ε' in the place of ε.
//
// A pure ε' of at most ε passes the test by itself. So a budget with δ = 0, the pure account, grants a charge if and only if every
// charge of its window and the pending one have a pure ε, and these add up to at most ε: exactly, in fixed point. Whatever the
// dialogue, the quotient of the two probabilities of what was seen is the product of those of its steps, at most e^ε.
//
// Where δ > 0 a dialogue may pass by either test, and is covered all the same. Let A be the transcripts whose charges are all
// pure and add up to at most ε, and B those that pass by ρ. Both tests only get harder as charges are added, so a transcript passes
// all along by the test that passes its last charge, and those of B are transcripts of a dialogue that is filtered by ρ
// alone, with the same probability. For every set S
//
//	P[S] = P[S∩A] + P[S∩B∖A] <= e^ε·Q[S∩A] + e^ε·Q[S∩B∖A] + δ
//
// A budget [All] bounds what all principals together learn in a window. A [Default] or own budget
// bounds what one principal learns who shares with nobody. The bound is for one window: what is
// learnt in several adds.
//
// # File
//
// One bbolt file. All numbers are big-endian; strings are a uvarint length and UTF-8.
//
//	bucket        key                              value
//	meta          "format"                         "scrim ledger 2"
//	              "directory"                      Options.DirectoryID
//	              "head"                           last record u64, its hash [32], last day u32
//	records       number u64 from 1, no gaps       hash [32], payload
//	counters      entity u8, account 0,            ρ u64, ε u64, δ_event u128, δ_tv u128
//	              principal 0, day u32
//	answers       as given                         sequence u64, SHA-256 [32], n u32, n bytes told of it, value
//	answer-order  sequence u64                     key of the answer
//
//	payload of a record
//	┌──────┬────────────┬─────────┬───────────┬──────────────────────────────────────────┐
//	│ kind │ unix nanos │ UTC day │ principal │ by kind                                  │
//	│ u8   │ i64        │ u32     │ string    │                                          │
//	└──────┴────────────┴─────────┴───────────┴──────────────────────────────────────────┘
//	1 charge         statement, digest, mechanisms, n uvarint, n × {account, entity u8, table,
//	                 ρ u64, ε u64, δ_event u128, δ_tv u128, remaining of all f64, of own f64 (NaN: none)}
//	2 outcome        record of the charge u64, outcome u8
//	3 note           kind, text
//	4 set budget     account, entity u8, principal, ε f64, δ f64, window
//	5 remove budget  account, entity u8, principal
//
//	hash n = SHA-256(hash n−1 ‖ n u64 ‖ payload n);  hash 0 = the same of format and directory
//
// ρ and the pure ε (0: none) count units of 2^-40 and δ units of 2^-126, each charge rounded up, so
// sums are exact. Format 1 had no ε; it is refused. The records determine everything but the stored
// answers. Budgets are kept nowhere else. Counters and head are derived a second time at every
// opening and compared. A window's spending is a sum over days, which is why changing a limit or a
// window refills nothing. The day of a record is never before that of the record before it: a clock
// that is set back stays in the last day that had a record, and a clock set far ahead therefore
// keeps its windows closed until that day has come.
//
// # Disk
//
// Assumed: a write that was followed by a successful fsync (fdatasync) is read back as written; a
// write of one 512-byte sector happens wholly or not at all; flock and hard links work on the file
// system; nobody else writes the file. Not assumed: any order between writes without a sync between
// them, or anything about unsynced writes after a crash. The hashes find accidents. They do not stop
// an operator with access to the disk, who can compute them or put back an older copy of the file.
//
// What a crash leaves, by operation:
//
//   - Create writes the file under a temporary name, syncs it, links it to its name and syncs the
//     directory. Before the link there is no ledger, and a stray *.new-* file that nothing reads;
//     after it, a whole one.
//   - Reserve books the charge in memory, where it counts at once, and queues its record; the
//     committer writes all that is queued in one bbolt transaction: pages to unused places, sync, one
//     meta page, sync. Before the meta page is on disk the batch never happened: none of its charges
//     was acknowledged, so no row was read for them. After it the batch stands, acknowledged or not:
//     a crash in between spends without an answer, and never answers without spending.
//   - SetBudget, RemoveBudget and Note are records like charges: all or nothing.
//   - Finish and PutAnswer queue without waiting and may be lost for a crash within about
//     50 ms. The charge then shows as unfinished, or the answer is not replayed.
//   - A failed write or sync makes the ledger refuse everything with [ErrUnavailable] until it is
//     opened again: only reading the file back tells what reached the disk.
//
// Opening first verifies all pages of the file by itself (bbolt has no checksums on them), then the
// chain, then head and counters. A file with any damage that spending rests on is refused with
// [ErrDamaged]. So is one of whose two meta pages one is damaged: bbolt would go on with the other and
// forget the last batch.
//
// # Sources
//
// [BS16] Bun, Steinke, arXiv 1605.02065. [CKS20] Canonne, Kamath, Steinke, arXiv 2004.00010. Feldman,
// Zrnic, arXiv 2008.11193. Whitehouse et al., arXiv 2203.05481. [CR21] Cesar, Rogers, arXiv 2004.07223. [KOV15] Kairouz, Oh,
// Viswanath, arXiv 1311.0776.
package accounting
