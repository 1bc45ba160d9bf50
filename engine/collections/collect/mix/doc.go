// Package mix says how many shares a shuffled sum needs.
//
// In a shuffled sum every contributor adds their share of the noise to a number of Z_q, q = 2^bits,
// splits the result into m numbers that are uniform but for their sum, and sends each as a message
// of its own. Whoever opens the messages sees all of them in a random order. The claim is that this
// bag says no more than its sum does:
//
//	h ≥ 64 honest contributors, m ≥ 4. For any two vectors of h honest inputs with equal sums the bags differ by at
//	most η = √B in total variation, where with s = m−2 and φ(x) = e^x − 1 − x
//
//	B = q·h^−s·(1 + (h/2)·(2/(h−1))^s) + φ(q·(e/h)^s·(1 + (h/2)·(2e/h)^s))
//
// Neighbours replace one contributor's value; that somebody takes part, and how many do, is not
// hidden.
//
// # From equal sums to privacy
//
// Let the noisy sum of the honest inputs be (ε, δ₀)-indistinguishable for neighbours. A simulator
// that is given only this sum S can split the inputs S, 0, …, 0: by the claim its bag is within η
// of the real one, whatever the inputs. For neighbours D, D' and any event, then,
//
//	P[bag(D)] ≤ P[sim(S)] + η ≤ e^ε·P[sim(S')] + δ₀ + η ≤ e^ε·P[bag(D')] + δ₀ + (1 + e^ε)·η.
//
// The messages of dishonest contributors do not depend on honest shares, which are sealed, so the
// simulator adds them itself. d coordinates are split independently of each other; exchanging one
// after the other for its simulation costs η each: δ₀ + d·(1 + e^ε)·η. B falls as h grows (for s ≥
// 2 every part of it does), so that more honest contributors than h do no harm. Shares returns the
// least m for which d·(1 + e^ε)·1.01·η is at most the δ set aside for this; the 1.01 is far more
// than all rounding of this package.
//
// # The argument for B
//
// The rows of an h×m matrix are the contributors' shares.
//
//  1. From the worst inputs to average ones. Show, besides the bag, everybody's last share Zᵢ with
//     its owner. The other m' = m−1 shares of row i split
//
// xᵢ − Zᵢ, and as the Zᵢ are uniform, these are uniform inputs. Compare with a bag made of fresh
// uniform inputs of the same sum: that law knows x by its sum only. So two inputs of equal sum are
// at most 2·A apart, where A is the mean, over uniform inputs X, of the distance between the bag of
// X and the bag of fresh uniform inputs of X's sum.
//
//  2. From the bag to the row sums. If X is uniform then all hm' shares are. Reading it backwards:
//     the bag y is a uniform vector, and X is made of the row
//
// sums of a uniformly random arrangement of y. A is therefore the mean over y of the distance
// between the law of these row sums, y fixed, and the uniform law on the N = q^(h−1) vectors with
// the sum of y. By Cauchy and Schwarz a law with collision probability κ is within ½·√(N·κ − 1) of
// the uniform law on N points, and by Jensen's inequality the mean over y may be taken under the
// root.
//
//  3. Collisions are flows. Arrange y twice, independently. An element that stands in row a in one
//     arrangement and in row b in the other
//
// is an edge a → b of a multigraph on the rows, with m' edges out of and into each. The row sums
// agree in both arrangements exactly when y, as a weight of the edges, is a circulation: the
// weights into each row sum to those out of it. On a graph with h vertices and c components the
// conditions are h − c independent ones over any finite abelian group of order q, so a uniform y
// fulfils them with probability q^−(h−c). Hence N·κ = E[q^(c−1)], and 2A ≤ √(E[q^(c−1)] − 1).
//
//  4. Components are rare. At most one component has more than h/2 vertices, so c − 1 ≤ Y, the
//     number of those with at most h/2, and q^Y = Σₖ C(Y,k)(q−1)^k.
//
// Given disjoint sets of t₁ … tₖ rows, no edge leaves any of them with probability 1/M(hm'; t₁m' …
// tₖm'), M the multinomial coefficient (the rest is its last class). This is at most M(h; t₁ …
// tₖ)^−m': choosing the classes separately in each of m' copies of the rows gives some of the
// choices counted by the other. There are M(h; t₁ … tₖ) such ordered choices of sets.
//
// One set: E[Y] ≤ Σ C(h,t)^(1−m') over 1 ≤ t ≤ h/2. The term of t = 1 is h^−s; the others, fewer
// than h/2, have C(h,t) ≥ h(h−1)/2. This gives the first part of B.
//
// k ≥ 2 sets: E[C(Y,k)] ≤ Σ M(h; t₁ … tₖ)^−s / k!. With T = t₁ + … + tₖ, h!/(h−T)! ≥ (h/e)^T, for
// the logarithm of the left side less T·ln h is a sum of ln(1 − i/h), i < T, and at least h·∫
// ln(1−u) du from 0 to T/h, which is at least −T. So M is at least the product of (h/e)^tᵢ / tᵢ!,
// and E[C(Y,k)] ≤ a^k/k! with a = Σ (t!·(e/h)^t)^s over 1 ≤ t ≤ h/2. The sequence t!(e/h)^t is
// log-convex; for h ≥ 64 its value at t = h/2, about √(πh)·2^(−h/2), is less than the one at t = 2,
// so every term but the first is at most (2(e/h)²)^s, and a ≤ (e/h)^s·(1 + (h/2)(2e/h)^s). Summing
// (q−1)^k·a^k/k! over k ≥ 2 gives φ(q·a).
//
// The tests compare the claim with enumeration: exact distances for tiny (h, m, q), and E[q^(c−1)]
// in exact integers for h from 64 on.
//
// # Sources
//
// Splitting and mixing is by Ishai, Kushilevitz, Ostrovsky and Sahai (2006); its use here by Balle,
// Bell, Gascón and Nissim (Private Summation in the Multi-Message Shuffle Model, CCS 2020) and by
// Ghazi, Manurangsi, Pagh and Velingker (Private Aggregation from Fewer Anonymous Messages,
// Eurocrypt 2020); [HLY21] uses it as its Lemma 11. The constants are those of the argument above.
package mix
