package accounting

import (
	"errors"
	"fmt"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// The sentinels that callers tell apart with errors.Is. The text of ErrNoBudget and ErrExhausted
// and of the types that carry them is public: it speaks of accounts and budgets only. The others
// are for operators: they may name the file.
var (
	// ErrNoBudget says that a table account has no budget for all principals ('*').
	ErrNoBudget = errors.New("accounting: no budget")
	// ErrExhausted says that a charge does not fit into what remains of a budget.
	ErrExhausted = errors.New("accounting: budget exhausted")
	// ErrInvalid says that an argument has a value that no account accepts.
	ErrInvalid = invalid.Err
	// ErrUnavailable says that nothing can be made durable: a write failed earlier, or the ledger
	// is closed. It lasts until the ledger is opened again.
	ErrUnavailable = errors.New("accounting: ledger unavailable")
	// ErrInDoubt says, with ErrUnavailable, that writing a record failed in its commit: whether it
	// is kept shows when the ledger is opened again.
	ErrInDoubt = errors.New("accounting: the record is in doubt")
	// ErrMissing says that the ledger's file does not exist and must not be created.
	ErrMissing = errors.New("accounting: ledger file missing")
	// ErrForeign says that the ledger belongs to another data directory.
	ErrForeign = errors.New("accounting: ledger of another data directory")
	// ErrVersion says that the ledger was written in a format that this program does not know, or
	// has a record that it does not know, by a newer program: the key's hash of it is right.
	ErrVersion = errors.New("accounting: unknown ledger format")
	// ErrDamaged says that the ledger's file is not what was written.
	ErrDamaged = errors.New("accounting: ledger file damaged")
	// ErrKey says that the ledger's key is missing, is not the one that the ledger was made with,
	// or may be read by others.
	ErrKey = errors.New("accounting: ledger key")
	// ErrOlder says that the ledger is not as far as it is known to have been: an older copy was
	// put back, or its mark is gone.
	ErrOlder = errors.New("accounting: older copy of the ledger")
	// ErrArchived says that the record of a charge is in an archive.
	ErrArchived = errors.New("accounting: charge archived")
	// ErrLocked says that another process has the ledger open.
	ErrLocked = errors.New("accounting: ledger in use by another process")
)

// NoBudgetError is ErrNoBudget with the account that has none.
type NoBudgetError struct {
	Account string // as charged
	Table   string // schema.table, as charged; may be empty
}

// Error implements error.
func (e *NoBudgetError) Error() string {
	return fmt.Sprintf("accounting: %s has no budget for all principals ('*')", nameOf(e.Account, e.Table))
}

// Is makes errors.Is(err, ErrNoBudget) true.
func (e *NoBudgetError) Is(target error) bool { return target == ErrNoBudget }

// ExhaustedError is ErrExhausted with the public facts of the first budget that a charge does not
// fit.
type ExhaustedError struct {
	Account string
	Entity  bool
	Table   string // schema.table, as charged; empty for an entity
	// whose budget refused: "*", "default", RolePrefix and a role's name, or the principal's own
	// name
	Scope     string
	Principal string          // who asked
	Limit     privacy.Epsilon // 0 for a budget in ρ
	LimitRho  privacy.Rho     // 0 for a budget in ε; in ρ, Requested and Remaining are not set
	Delta     privacy.Delta
	Window    budget.Window
	// WindowEnds is when the window's spending starts anew; zero for Never.
	WindowEnds time.Time
	// Requested and RequestedRho are the charge by itself, ε at the budget's δ: +Inf when its slack
	// alone is more than that δ.
	Requested    privacy.Epsilon
	RequestedRho privacy.Rho
	// Remaining is the largest ε that a statement of the request's kind is granted, see
	// BudgetStatus, and RemainingRho the largest ρ that still fits beside the request's own slack,
	// rounded down. Both are zero when nothing does.
	Remaining    privacy.Epsilon
	RemainingRho privacy.Rho
	// NotPure and SpentNotPure are the reasons besides too large an ε for which a budget with δ = 0
	// refuses: the charge has no pure ε, or something that the window holds has none.
	NotPure, SpentNotPure bool
	// NoSlack tells that the ρ would fit, and the δ of the charge beside what is spent of it does
	// not.
	NoSlack bool
	// Blocks are those of the charge for which it does not fit; none: it is for every block, and so
	// is all that is spent.
	Blocks []days.Span
	// Asked is what the charge is for; nil: every block.
	Asked *days.Span
	// NoBound says that the charge promises nothing to those whom the budget is for.
	NoBound bool
	// Renews says that the charge is one of Renew.
	Renews bool
	// EventShare and TVShare are the parts of Delta that the window has for both kinds of slack.
	EventShare, TVShare privacy.Delta
}

// Error implements error.
func (e *ExhaustedError) Error() string {
	switch {
	case e.LimitRho > 0:
		return fmt.Sprintf("accounting: %s: budget %q (rho %.6g, delta %.3g, window %s): want rho %.6g, have rho %.6g",
			nameOf(e.Account, e.Table), e.Scope, e.LimitRho.Float(), float64(e.Delta), e.Window, e.RequestedRho.Float(), e.RemainingRho.Float())
	case e.NoSlack:
		return fmt.Sprintf("accounting: %s: budget %q (epsilon %.6g, delta %.3g, window %s): its share of delta for slack is used up: want a charge with less delta",
			nameOf(e.Account, e.Table), e.Scope, float64(e.Limit), float64(e.Delta), e.Window)
	case e.NotPure:
		return fmt.Sprintf("accounting: %s: budget %q (epsilon %.6g, delta 0, window %s): want a charge with a pure epsilon, have rho %.6g",
			nameOf(e.Account, e.Table), e.Scope, float64(e.Limit), e.Window, e.RequestedRho.Float())
	case e.SpentNotPure:
		return fmt.Sprintf("accounting: %s: budget %q (epsilon %.6g, delta 0, window %s): want only charges with a pure epsilon in the window, have others",
			nameOf(e.Account, e.Table), e.Scope, float64(e.Limit), e.Window)
	}
	return fmt.Sprintf("accounting: %s: budget %q (epsilon %.6g, delta %.3g, window %s): want epsilon %.6g (rho %.6g), have epsilon %.6g (rho %.6g)",
		nameOf(e.Account, e.Table), e.Scope, float64(e.Limit), float64(e.Delta), e.Window,
		float64(e.Requested), e.RequestedRho.Float(), float64(e.Remaining), e.RemainingRho.Float())
}

// Is makes errors.Is(err, ErrExhausted) true.
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

func nameOf(account, table string) string {
	if table != "" {
		return table
	}
	return account
}

// newer reports whether an error is of a record, or of sums, that do not decode. Both are decoded
// only where their keyed hash is right: they are what was written, by a program that knows more.
func newer(err error) bool {
	return errors.Is(err, record.ErrRecord) || errors.Is(err, state.ErrState)
}
