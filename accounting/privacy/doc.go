// Package privacy is what privacy costs: losses, the events that they are made of, how they add up,
// and what they come to as (ε, δ). It knows no budgets and no files.
//
// # Losses
//
// A [Loss] is (ρ, δ_event, δ_tv), stated for adding or removing one unit. A mechanism has it when
//
//   - δ_event: for each pair of neighbours there are events of probability at least 1−δ_event on
//     which the two output laws satisfy ρ-zCDP [BS16, Definition 8.1]; and
//   - δ_tv: what runs is within total-variation distance δ_tv, on each of the two databases, of a
//     mechanism with that property. This is the slack of samplers.
//
// Adaptive composition adds all three parts: [BS16, Lemma 8.2] for the first two; for the third the
// run is coupled with the ideal one, step by step, and the chances to differ add up.
//
// A release that is (ε, 0)-DP carries that ε beside its ρ, which is at most ε²/2 and at most ε, and
// has no slack. Pure ε add up as well; a sum with a part that has none has none.
//
// # Conversion
//
// A loss with a pure ε' is (ε, 0)-DP for every ε >= ε'. For the others and for smaller ε: the ideal
// mechanism is (ε, δ_z(ρ, ε)+δ_event)-DP: inside the events by [CKS20, Corollary 13], and what lies
// outside adds its probability [BS16, Lemma 8.8]. A mechanism within δ_tv of it, on both sides, has
// for every set S
//
//	P[S] <= P'[S] + δ_tv <= e^ε·Q'[S] + δ + δ_tv <= e^ε·(Q[S] + δ_tv) + δ + δ_tv
//
// so the total is δ_z(ρ, ε) + δ_event + (1+e^ε)·δ_tv. That is [DeltaOf]; [EpsilonOf] and [RhoFor]
// invert it. All three round so that the result is true: up, up and down.
//
// # Events
//
// A charge says what it was made for: its [Event]s, runs of mechanisms with their exact parameters.
// They tell more tightly what was spent: for each kind curve.go bounds the Rényi divergence
// of every order α of one run, for the worst pair of neighbours, whatever came before. Runs add up
// order by order: the α-th moment of the quotient of two laws is the mean, over what the first run
// gave, of that of the first times that of the second, which is at most its bound. So a [Curve] is
// a sum, kept in fixed point beside the loss: α·ρ of the events of which ρ is all there is to know
// (of Gaussian noise it is), for all α; and d(α) of the others on a grid of orders, with α = ∞,
// where it is the sum of their ε. All of it is rounded up.
//
// A curve also has the GDP of its events, in fixed point, as long as each has one (gaussian.go):
// the sum of the ρ of noise that was drawn as rounded normal numbers, and of choices and what is
// pure the sum and the largest of theirs. They come to the μ²/2 of all of it, however it was chosen
// from earlier answers, of which the ρ are nearly all.
//
// [BestEpsilon] is the least ε of five conversions. Each holds for what was run, so the least does.
//
//   - pure: the sum of ε, where there is no slack; P <= e^ε·Q holds for every outcome.
//
//   - zcdp: [EpsilonOf], of the sum of ρ.
//
//   - sum: where all events are pure inside their events of probability 1−δ_event, the sum of
//     their ε at δ = Σδ_event + (1+e^ε)·Σδ_tv. That is the paragraph above with δ_z = 0.
//
//   - renyi: at each order α, δ_z is e^((α−1)(αρ+d(α)−ε))·(1−1/α)^α/(α−1) [CKS20, Proposition 12],
//     the least over all α. Between two orders of the grid (α−1)·d(α) is at most its chord: for
//     one pair of laws it is ln Σ P^α·Q^(1−α), the logarithm of a sum of exponentials of α, which
//     is convex and 0 at α = 1; so is a sum over runs, and the largest over pairs. Above the grid
//     d(α) is at most d(∞). Slack enters as above: each order has a bound of its own inside the
//     same events.
//
//   - gaussian: the exact curve of the sum of μ², where all events have a μ [GaussianDelta]. Slack
//     enters as above.
//
// It tells what was spent, had the mechanisms and their parameters been fixed beforehand. Of a
// dialogue that lets earlier answers choose them the promise is the filter's, at the budget.
//
// # Sources
//
// [BS16] Bun, Steinke, arXiv 1605.02065. [DRS22] Dong, Roth, Su, arXiv 1905.02383. [CKS20]
// Canonne, Kamath, Steinke, arXiv 2004.00010. [CR21] Cesar, Rogers, arXiv 2004.07223. [KOV15]
// Kairouz, Oh, Viswanath, arXiv 1311.0776.
package privacy
