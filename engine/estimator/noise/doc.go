// Package noise draws exact discrete noise from a cryptographic source.
//
//	N_Z(0,σ²)   P[y] ∝ exp(−y²/2σ²)    Gaussian, GaussianInt   [CKS20] Algorithm 3, σ² a positive integer
//	Lap_Z(t)    P[y] ∝ exp(−|y|/t)     Laplace                 [CKS20] Algorithm 2, t a positive rational
//	round(N(0,s²))   s >= σ, nearly     Rounded                 [Kar16] Algorithm N, rounded exactly
//
// Adding N_Z(0,σ²) to an integer of sensitivity Δ costs Δ²/(2σ²) in zCDP, and independent
// coordinates add up to ‖Δ‖₂²/(2σ²) [CKS20, Theorem 14]; its variance is at most σ². No float
// decides anything: variances below 2^102 go through 128-bit integers, where floats only locate a
// rational that is then known to lie in an interval, and what the interval leaves open is decided
// by the rational itself; larger ones go through big integers (fast.go for both). Rounded normal
// noise costs the same, and is μ-GDP for μ = Δ/σ beside, which N_Z is not; rounded.go has why.
//
// Secure reads ChaCha8 under a key from the operating system and is the only source that a server
// builds. New takes any Bits: tests and the accuracy bench, which the server cannot reach, give it
// seeded ones. The time of a draw depends on what is drawn.
package noise
