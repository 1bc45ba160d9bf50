package budget

import (
	"math"
	"time"
	"unicode/utf8"

	"scrim/accounting/internal/invalid"
	"scrim/accounting/privacy"
)

// The two words that a budget may carry in place of a principal's name.
const (
	All     = "*"       // the cap on all principals together
	Default = "default" // the cap on each principal who has no budget of their own
)

// RolePrefix begins the principal of a budget that caps all members of a role together.
const RolePrefix = "role:"

// Budget is a cap on the spending on one account: by everyone, by each, by the members of a role,
// or by one principal. It is stated as (ε, δ), as a pure ε (δ = 0), or in ρ.
type Budget struct {
	Account string
	Entity  bool // Account names an entity, not a table
	// All, Default, RolePrefix and a role's name, or a MySQL account (user@host)
	Principal string
	Epsilon   privacy.Epsilon // within (0, MaxEpsilon]; 0 for a budget in ρ
	// above 0 for a budget in ρ: charges fit whose ρ add up to at most this, and whose δ to at most
	// Delta
	Rho privacy.Rho
	// within [0, 1); 0: the pure account, where only charges with a pure ε fit; in ρ: only charges
	// without slack
	Delta  privacy.Delta
	Window Window
	// Order is the Rényi order of the filter's test, chosen by the ledger when the budget is made;
	// 0: none, see boxes.
	Order float64
	// Gaussian says that the account is a Gaussian one: besides the other tests, charges fit whose
	// μ² add up to what the exact curve of Gaussian noise allows. It wants an Order.
	Gaussian bool
	Reason   string // why it was set, for the record
	SetBy    string
	SetAt    time.Time
}

// Check refuses a budget that means nothing and says what would be right.
func (b Budget) Check() error {
	if err := CheckName("account", b.Account); err != nil {
		return err
	}
	if err := CheckName("principal", b.Principal); err != nil {
		return err
	}
	e, d := float64(b.Epsilon), float64(b.Delta)
	switch {
	case b.Principal == RolePrefix:
		return invalid.New("principal %q names no role", b.Principal)
	case b.Rho > privacy.MaxRho:
		return invalid.New("budget rho: want a number above 0 and at most %v, have %v", privacy.MaxRho.Float(), b.Rho.Float())
	case b.Rho > 0 && e != 0:
		return invalid.New("budget: want either an epsilon or a rho, have epsilon %v and rho %v", e, b.Rho.Float())
	case b.Rho > 0:
	case math.IsNaN(e):
		return invalid.New("budget epsilon is NaN: want a number above 0 and at most %v", float64(privacy.MaxEpsilon))
	case math.IsInf(e, 0):
		return invalid.New("budget epsilon is infinite: want a number above 0 and at most %v", float64(privacy.MaxEpsilon))
	case e <= 0 || b.Epsilon > privacy.MaxEpsilon:
		return invalid.New("budget epsilon: want a number above 0 and at most %v, have %v", float64(privacy.MaxEpsilon), e)
	}
	switch {
	case math.IsNaN(d):
		return invalid.New("budget delta is NaN: want a number of at least 0 and below 1, for example 1e-6")
	case d < 0 || d >= 1:
		return invalid.New("budget delta: want a number of at least 0 and below 1, for example 1e-6, have %v", d)
	}
	if b.Gaussian && (b.Rho > 0 || d == 0) {
		return invalid.New("a gaussian account wants an epsilon and a delta above 0, for example 1 and 1e-6")
	}
	if _, err := ParseWindow(string(b.Window)); err != nil {
		return err
	}
	if len(b.SetBy) > MaxName || !utf8.ValidString(b.SetBy) {
		return invalid.New("budget set by: want at most %d bytes of UTF-8", MaxName)
	}
	if len(b.Reason) > MaxStatement || !utf8.ValidString(b.Reason) {
		return invalid.New("budget reason: want at most %d bytes of UTF-8", MaxStatement)
	}
	return nil
}
