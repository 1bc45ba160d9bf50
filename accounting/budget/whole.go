package budget

import (
	"scrim/accounting/internal/roundup"
	"scrim/accounting/privacy"
)

// Whole is a loss beside which nothing fits the budget. It is not pure, so that a pure budget takes
// nothing beside it either.
func (b *Budget) Whole() privacy.Loss {
	if b.Rho > 0 {
		return privacy.Loss{Rho: b.Rho, DeltaEvent: float64(b.Delta)}
	}
	return privacy.Loss{Rho: max(1, privacy.RhoFor(b.Epsilon, b.Delta)), DeltaEvent: float64(b.Delta)}
}

// BoundDelta is the δ at which a budget in ρ enters the bound of an entity in ε, beside its own δ
// for slack.
const BoundDelta privacy.Delta = 1e-6

// Promise returns the (ε, δ) that a budget keeps to. For one in ρ, with at most δ of slack: the
// ideal mechanisms are (ε, BoundDelta)-DP, and all slack may be of the kind that enters (1+e^ε)
// times.
func (b *Budget) Promise() (privacy.Epsilon, privacy.Delta) {
	if b.Rho == 0 {
		return b.Epsilon, b.Delta
	}
	eps := privacy.EpsilonOf(privacy.Loss{Rho: b.Rho}, BoundDelta)
	return eps, privacy.Delta(roundup.Add(float64(BoundDelta), roundup.Mul(roundup.Add(1, roundup.Exp(float64(eps))), float64(b.Delta))))
}

// The kinds of accounts, by what adds up in them.
const (
	ZCDPAccount     = "zcdp"     // ρ, beside other noise at a Rényi order
	PureAccount     = "pure"     // ε
	GaussianAccount = "gaussian" // μ², or else as in a zCDP account
)

// Kind returns which of the kinds of accounts the budget is.
func (b *Budget) Kind() string {
	switch {
	case b.Gaussian:
		return GaussianAccount
	case b.IsPure():
		return PureAccount
	}
	return ZCDPAccount
}

// IsPure reports whether only charges with a pure ε fit a budget. One in ρ with δ = 0 takes every
// charge without slack.
func (b *Budget) IsPure() bool { return b != nil && b.Rho == 0 && b.Delta == 0 }
