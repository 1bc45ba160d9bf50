// Package person estimates the mean of rows where every person has many of them: the person-level
// estimators of [AKM25], which average the rows of a person and clip these means to what a moment
// bound on the rows lets them differ by.
//
// The estimand is the mean of persons' means: everyone weighs the same, however many rows they
// have.
//
//	persons' means x_i = T_i/m_i (block.Means)
//	 ├─ n̂     number of persons, noisy or public                                       mean.go
//	 ├─ m     rows of a person, declared, or a low quantile of what persons have        firstpass.go
//	 ├─ τ     spread of the means in one direction: declared σ₂/√m, or looked at        firstpass.go
//	 ├─ c₀    coarse estimate, coordinate by coordinate: Algorithm 1, appendix A.5      coarse.go
//	 ├─ c_t   clip and noise about c_{t−1}, in rounds: Algorithms 2 and 3               mean.go, radius.go
//	 ├─ C     last radius: that of Algorithm 4, or what a histogram of distances shows  radius.go
//	 └─ μ̂     clip and noise about the last centre: Algorithm 4                         mean.go
//
// Loss. Every step is a mechanism of its own loss for either neighbour relation, given the answers
// of the steps before it: its comment has the sensitivity. Losses add up, also where a step's
// parameters follow from earlier answers [BS16, Lemma 2.3]. n̂, m and τ look at all persons; so do
// the later steps, which share the rest of the loss (Loss), or each of them has a secret third of
// the persons and all of the rest (Persons; firstpass.Coins has the argument).
//
// The paper states (ε, δ) and splits both ε and δ over the steps. Here the account is ρ-zCDP: a
// budget of (ε, δ) buys the ρ that privacy.RhoFor gives, steps add up without slack, and Gaussian
// noise has σ = s·P/√(2ρ) where [AKM25] Lemma 2.7 has 2P·√(2 ln(2/δ))/ε, which holds for ε ≤ 1
// only. That is the same mechanism with less noise. With Params.Epsilon every step is pure: Laplace
// noise, exponential mechanism, and vectors coordinate by coordinate with ε/d each.
package person
