package admin

import (
	"strings"
	"unicode/utf8"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/internal/refuse"
)

// limit reads the limit of a budget: a number for an epsilon, or 'rho=R'.
func limit(text string) (privacy.Epsilon, privacy.Rho, error) {
	name, value, named := strings.Cut(text, "=")
	if !named {
		e, err := number("epsilon", text)
		return privacy.Epsilon(e), 0, err
	}
	if !strings.EqualFold(strings.TrimSpace(name), "rho") {
		return 0, 0, refuse.New(refuse.Policy, "%q is no limit.", cut(text)).With("Use a number for an epsilon, or 'rho=0.5'.")
	}
	f, err := number("rho", value)
	if err != nil {
		return 0, 0, err
	}
	r, err := rho(f)
	return 0, r, err
}

// rho rounds a limit in ρ down to what the ledger counts, so that it is never passed.
func rho(f float64) (privacy.Rho, error) {
	r := privacy.Rho(0)
	if f > 0 && f <= privacy.MaxRho.Float() {
		r = privacy.Rho(f / privacy.RhoUnit)
	}
	if r == 0 {
		return 0, refuse.New(refuse.Policy, "The rho %v is no limit.", f).
			With("Use a number above 0 and at most %v, for example 0.5.", privacy.MaxRho.Float())
	}
	return r, nil
}

func delta(text string) (privacy.Delta, error) {
	d, err := number("delta", text)
	return privacy.Delta(d), err
}

// window brings a window's name into its one spelling; what is none the ledger refuses.
func window(text string) budget.Window {
	return budget.Window(strings.ToLower(strings.TrimSpace(text)))
}

// maxReason bounds a reason in bytes.
const maxReason = 1000

// reason reads why something is done, "" when nothing is said.
func reason(text string) (string, error) {
	t := strings.TrimSpace(text)
	if len(t) > maxReason || !utf8.ValidString(t) {
		return "", refuse.New(refuse.Policy, "The reason is too long, or is no text.").With("Use at most %d bytes of UTF-8.", maxReason)
	}
	return t, nil
}

func wantsReason(cause, form string) error {
	return refuse.New(refuse.Policy, "%s", cause).With("Say why, for the record: CALL %s.", form)
}

// optional returns an argument that may be missing.
func optional(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// find returns a budget of a list, nil if it is not there.
func find(all []budget.Budget, account string, entity bool, principal string) *budget.Budget {
	for i, b := range all {
		if b.Account == account && b.Entity == entity && b.Principal == principal {
			return &all[i]
		}
	}
	return nil
}

// inPlace returns the budget that caps a principal now: their own, or the default one for an
// account without one. Nil: nothing caps them.
func inPlace(all []budget.Budget, b budget.Budget) *budget.Budget {
	if own := find(all, b.Account, b.Entity, b.Principal); own != nil {
		return own
	}
	if b.Principal == budget.All || b.Principal == budget.Default || strings.HasPrefix(b.Principal, budget.RolePrefix) {
		return nil
	}
	return find(all, b.Account, b.Entity, budget.Default)
}

// loosens reports whether a budget lets its principal spend more than the one that it replaces. A
// first budget replaces none, nor does an account's own, which takes the place of the default for
// it alone.
func loosens(all []budget.Budget, b budget.Budget) bool {
	before := find(all, b.Account, b.Entity, b.Principal)
	return before != nil && looser(*before, b)
}

// looser reports whether b allows anything that a does not. Limits of different kinds are taken to
// do so.
func looser(a, b budget.Budget) bool {
	if (a.Rho > 0) != (b.Rho > 0) {
		return true
	}
	return b.Epsilon > a.Epsilon || b.Rho > a.Rho || b.Delta > a.Delta || often(b.Window) > often(a.Window)
}

// often ranks windows by how often they begin anew.
func often(w budget.Window) int {
	switch w {
	case budget.Day:
		return 3
	case budget.Week:
		return 2
	case budget.Month:
		return 1
	}
	return 0
}

// loosensDropped reports whether somebody may spend more once a budget is gone: not when it is the
// one that keeps a table open, nor when the default budget that takes over is tighter.
func loosensDropped(all []budget.Budget, b budget.Budget) bool {
	if b.Principal == budget.All && !b.Entity {
		return false
	}
	rest := make([]budget.Budget, 0, len(all))
	for _, o := range all {
		if o.Account != b.Account || o.Entity != b.Entity || o.Principal != b.Principal {
			rest = append(rest, o)
		}
	}
	after := inPlace(rest, b)
	return after == nil || looser(b, *after)
}
