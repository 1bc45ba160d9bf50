package record

import "scrim/accounting/privacy"

// Outcome is how the execution of a charged statement ended. It never changes what is spent.
type Outcome uint8

// The outcomes. Unfinished stands for a charge whose end was not recorded: it is running, or the
// process died.
const (
	Unfinished Outcome = iota
	Answered
	Failed
	TimedOut
	Cancelled
)

// String returns the word that the ledger shows.
func (o Outcome) String() string {
	switch o {
	case Unfinished:
		return "unfinished"
	case Answered:
		return "answered"
	case Failed:
		return "failed"
	case TimedOut:
		return "timeout"
	case Cancelled:
		return "cancelled"
	}
	return "unknown"
}

// Own is the Scope of a Left for the principal's own budget, or the default one where there is
// none.
const Own = "own"

// Left is what a charge left of one budget.
type Left struct {
	Scope   string          // All, RolePrefix and a role's name, or Own
	Epsilon privacy.Epsilon // in ε at the budget's δ; NaN for a budget in ρ
	Rho     privacy.Rho     // of a budget in ρ
}
