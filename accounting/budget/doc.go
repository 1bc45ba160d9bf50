// Package budget is what a budget is, its windows, and the privacy filter: the test that what was
// spent and a charge are put to. It holds no account: the ledger does.
//
// # Filter
//
// A charge is granted when, for every budget (ε, δ) that it touches, at the Rényi
// order α = 1+β that was chosen when the budget was made, and is recorded with it,
//
//	e^(β(Σd(α)−ε))·(1−1/α)^α/β <= 25δ/32,   Σδ_event <= 3δ/16,   (1+e^ε)·Σδ_tv <= δ/32
//
// where the sums run over the budget's window, the pending charge included, and Σd(α) is the lesser
// of α·Σρ and what the [privacy.Curve] of the events has. So Gaussian noise counts by its ρ, and
// what is pure by less, beside it. Order and shares of δ follow from the budget alone, so that
// these are caps on three sums that are fixed beforehand. For such caps, stopping before one is
// passed gives the guarantee at the caps although each loss is chosen after seeing the answers
// before it: Feldman and Zrnic, Individual Privacy Accounting via a Rényi Filter (2021);
// Whitehouse, Ramdas, Rogers and Wu, Fully Adaptive Composition in Differential Privacy (2023), for
// approximate zCDP. docs/proofs/filter.md has the argument in full, how the order is chosen, and
// how much of an exact composition it admits.
//
// A Gaussian account has one more test, of what all of it is as Gaussian differential privacy at
// the exact curve of Gaussian noise, and other shares of δ: filter.go.
//
// A budget without an order, one that was made before there were any, has caps on Σρ and on both δ
// instead:
//
//	δ_z(Σρ, ε) <= δ/2,   Σδ_event <= 5δ/16,   (1+e^ε)·Σδ_tv <= δ/8
//
// So has one where 1+e^ε makes even the slack of samplers large, which takes an ε above 30 or so.
// There are two such sets of caps then, for half of δ each: one at ε, for charges without δ_tv, and
// one for the others at the largest ε' that has room for it.
//
// A pure ε' of at most ε passes the test by itself. So a budget with δ = 0, the pure account,
// grants a charge if and only if every charge of its window and the pending one have a pure ε, and
// these add up to at most ε: exactly, in fixed point. Whatever the dialogue, the quotient of the
// two probabilities of what was seen is the product of those of its steps, at most e^ε.
//
// What is for some days of the data only (package days) enters the sums of these days alone, and
// each day has the budget by itself: docs/proofs/periods.md.
//
// Where δ > 0 a dialogue may pass by any of these tests, and is covered all the same: a transcript
// passes all along by the test that passes its last charge, since every test only gets harder as
// charges are added, and the δ of the tests add up to at most the budget's.
//
// A budget in ρ grants a charge when Σρ is at most its ρ and Σδ_event + Σδ_tv at most its δ: caps
// on the sums, as above.
//
// A budget [All] bounds what all principals together learn in a window; one of a role
// ([RolePrefix]) what its members together learn while they are members: a charge counts for the
// roles that the principal had when it was made. A [Default] or own budget bounds what one
// principal learns who shares with nobody. The bound is for one window, and for the time between
// two resets: what is learnt in several adds.
//
// What remains of a budget, wherever it is shown, is what the filter grants: the largest ε that a
// statement is charged as Gaussian noise for at the budget's δ, or the largest pure ε. What is
// spent is shown as the least ε that one of several valid conversions gives
// ([privacy.BestEpsilon]).
//
// # Sources
//
// Feldman, Zrnic, arXiv 2008.11193. Whitehouse, Ramdas, Rogers, Wu, arXiv 2203.05481.
package budget
