// Package skellam says how much noise a shuffled sum of vectors needs.
//
// Every contributor rounds a vector to integers, adds to each coordinate the difference of two
// Poisson variables with mean l/2^20, and sends shares of the result (package mix). The honest
// contributors' noise together is the difference of two Poisson variables with mean at least μ/2
// each: Skellam noise of variance at least μ. More of it is the same and independent noise on top,
// so post-processing. Neighbours replace one contributor's vector; the sum then moves by an integer
// vector of ℓ2 norm at most Δ₂ and ℓ1 norm at most Δ₁ (GridOf). The chain of numbers:
//
//	GridOf    ε, δ, n, dimension → steps of the grid, Δ₂, Δ₁
//	Split     δ → what the noise may cost, and what the mixing may
//	Variance  ε, δ of the noise, Δ₂, Δ₁ → least μ, and the order α that shows it
//	Verify    checks at this α, without the theorem that Variance used, that it holds
//	Rate      μ, h → l, the noise share of one contributor;  Bits: the ring of the sums
//
// # From the divergence to ε and δ
//
// If the Rényi divergence of order α between neighbours' outputs is at most R, then they are (ε,
// δ)-indistinguishable for ε = R + ln(1 − 1/α) − ln(δα)/(α−1) ([CKS20], Proposition 12 and after
// it). Any order will do; Variance takes the one of 2 … 512 with the least μ. For each order the
// condition on 1/μ is a quadratic or a linear inequality, solved in closed form; the whole number
// above is then put into the condition itself.
//
// # The bound on the divergence
//
// Agarwal, Kairouz and Liu bound the divergence of order α of Skellam noise under an integer shift
// by
//
//	α·Δ₂²/(2μ) + min( ((2α−1)·Δ₂² + 6Δ₁)/(4μ²), 3Δ₁/(2μ) ),
//
// the divergence of Gaussian noise of the same variance and a little more. The claim is needed for
// one order, one μ and shifts up to Δ₂ only, and that is checked, so that nobody has to trust the
// formula or its copy here. Coordinates are independent, so divergences add up. If every scalar
// shift t ≤ Δ₂ has at most α·t²/(2μ) + min(((2α−1)t² + 6t)/(4μ²), 3t/(2μ)), then a vector with
// shifts t₁, t₂, … has at most the sum of these, and a sum of minima is at most the minimum of the
// sums: with Σtⱼ² ≤ Δ₂² and Σtⱼ ≤ Δ₁ this is the bound above.
//
// # The check
//
// X ~ Skellam of variance μ has P[X = k] = e^−μ·I_|k|(μ). With the loss L(k) = ln(P[X = k−Δ]/P[X =
// k]) the divergence of shift Δ is ln E[e^(αL(X))]/(α−1), the same in both directions as the law is
// symmetric. Exact and bound differ by one part in μ, 10^−9 and less, so the sum must not cancel:
//
//	E[e^(αL)] − 1 = E[rest(αL) − α·rest(L)],  rest(x) = e^x − 1 − x,
//
// as E[e^L] = 1; the terms are not negative and each is computed to nearly full precision, as is L
// itself: it is a sum of ln(I_i/I_{i+1}), and these come from the backward recurrence of 1 −
// I_{i+1}/I_i (see fill in verify.go). P[X = k] but for a factor is e to the sum of the same steps.
//
// Up to variance 4096 every integer is summed. Beyond, every σ/3-th is: the terms are a smooth
// function of k with the width σ of a normal density, and a sum of such a function over a lattice
// of stride s, times s, is its sum over all integers but for about e^(−2π²σ²/s²), e^−177 here. This
// is not taken for granted: the even and the odd samples are sums over lattices of twice the
// stride, where the same error would be e^−44, and they have to agree; if they do not, or if the
// outermost samples hold anything, the answer is ErrUnresolved and not yes. The tests compare with
// sums over all integers, and with arithmetic of 300 bits. What is left is rounding, 10^−14 where
// it was measured; Verify allows for 10^−13, which is less than the margin of one part in μ up to
// the largest variance that it accepts.
//
// So the guarantee stands on the theorem, and on a computation that would have to fail in the same
// direction.
//
// # Digits
//
// Every number here has the same bits on every machine (package strict), and every rounding goes to
// more noise.
//
// # Sources
//
// N. Agarwal, P. Kairouz, Z. Liu. The Skellam Mechanism for Differentially Private Federated
//
//	Learning. NeurIPS 2021. D. E. Amos. Computation of Modified Bessel Functions and
//
// Their Ratios. Mathematics of Computation 28, 1974. The check and its arithmetic are ours.
package skellam
