// Package blanket says how much noise the counts of a shuffled tree need.
//
// In a shuffled histogram every contributor sends one true message a level, naming the node that
// holds their value, and for every node of the tree, with probability p and independently, one
// message that means nothing. What arrives is a count at every node: the true one plus Bin(n, p).
// The noise of all contributors together is the blanket that hides each of them. The claim, for
// neighbours that replace one contributor's value:
//
//	the counts of one batch are (ε, Delta(ε, h·p, h, L))-indistinguishable if at least h contributors follow the protocol, on a tree of L levels.
//
// # The argument
//
// Replacing a value lowers at most one count a level by one and raises at most one. Let X ~ Bin(h,
// p) be the noise of h honest contributors at a node. What further contributors and dishonest ones
// add does not depend on it, so it is post-processing. All nodes are independent.
//
// The loss at one node. Where the count is higher by one in the database that is run, X + 1 = k is
// seen, and the other database gives k with X = k, so the loss is
//
//	ℓ(k) = ln(P[X = k−1]/P[X = k]) = ln(k(1−p)/((h−k+1)p)).
//
// Where it is lower by one, X = k is seen and the loss is −ℓ(k). X = h in the first case and X = 0
// in the second have no counterpart; they are charged in full: p^h + (1−p)^h a level. The whole
// loss T is a sum of at most 2L independent terms, L of each kind; which database is run does not
// matter, as exchanging the two exchanges the kinds.
//
// The tail of the loss. Apart from what is charged in full, δ(ε) ≤ E[(1 − e^(ε−T))₊]. For u > 0 and
// a > 1, 1 − 1/u ≤ c·u^(a−1) with c = (1/a)(1 − 1/a)^(a−1): the quotient (1 − 1/u)·u^(1−a) is
// largest at u = a/(a−1), where it is c. With u = e^(T−ε),
//
//	δ(ε) ≤ c·e^(−(a−1)ε)·(M₁M₂)^L,  M₁ = E[e^((a−1)ℓ(X+1)); X < h],  M₂ = E[e^(−(a−1)ℓ(X)); X > 0].
//
// Every a gives a valid bound. In a its logarithm is convex (moments are log-convex, and ln c =
// (a−1)ln(a−1) − a·ln a), so a fixed set of orders is gone through until it rises. Where upper
// nodes are shared fewer terms occur: M₁ and M₂ are taken as at least 1.
//
// What is summed. X is looked at within hp ± t, t = 14√(hp(1−p)) + 40. Being outside is charged in
// full, too, with Bernstein's exp(−t²/2(hp(1−p) + t/3)) for each of two tails of 2L nodes.
// Probabilities are relative to the sum over the window, which only makes M₁ and M₂ larger.
//
// Redrawn noise. A contributor whose noise does not fit the constant length of a report (Cap) draws
// all of it anew. Without that the noise of a contributor fits but for a probability below 1e-31:
// with λ expected messages, Bennett's exp(−λ((1+u)ln(1+u) − u)), u = 12/√λ + 40/λ, is below e^−72
// for every λ. At most 2h honest contributors are in a batch, so the real counts are within
// 2h·1e-31 in total variation of those above, and (1 + e^ε) times that is added to δ.
//
// # Digits
//
// Noise searches an integer P, p = P/2^32, and accounts for this p itself and no rounding of it.
// Its search is not assumed to be of a monotone function: what it returns has been evaluated. Every
// step has the same bits on every machine (package strict). The arithmetic is off by less than
// 1e-10, relative; Delta adds 2^-20.
//
// # Sources
//
// The blanket is by Balle, Bell, Gascón and Nissim (The Privacy Blanket of the Shuffle Model,
// CRYPTO 2019); noise messages at every bucket are from Ghazi, Golowich, Kumar, Pagh and Velingker
// (On the Power of Multiple Anonymous Messages, Eurocrypt 2021) and, as a binomial mechanism,
// Dwork, Kenthapadi, McSherry, Mironov and Naor (Our Data, Ourselves, Eurocrypt 2006). The bound on
// (1 − 1/u)₊ is that behind the conversion of Rényi divergences in [CKS20], Proposition 12.
package blanket
