package accounting

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"scrim/accounting/internal/roundup"
	"scrim/accounting/privacy"
)

// BoundDelta is the δ at which a budget in ρ enters the bound of an entity in ε, beside its own δ for slack.
const BoundDelta privacy.Delta = 1e-6

// EntityStatus bounds the loss of one person of an entity over all its tables.
type EntityStatus struct {
	Entity string
	Tables []string // accounts
	// Epsilon and Delta bound what may be spent on one person in a window: the sum of the budgets of
	// all principals on the entity's tables (basic composition), or the entity's own budget when it
	// has one with a smaller ε.
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	// Rho is the same bound in ρ, where all of the budgets that make it are in ρ; else 0. Their ε are then those at BoundDelta.
	Rho    privacy.Rho
	Capped bool // by the entity's own budget
	// Window is the window of the bound; empty when the tables' windows differ, and the bound is then
	// for a stretch of time that lies in one window of each.
	Window Window
	// Closed are the tables without a budget of all principals: they refuse every charge.
	Closed []string
	// Spent is everything ever spent on the tables, summed; SpentCurve the sum of the curves.
	Spent      privacy.Loss
	SpentCurve privacy.Curve
}

// bound is what an EntityStatus is made of.
type bound struct {
	EntityStatus
	caps []Budget // of all principals, on the tables that have one
	own  *Budget  // the entity's
}

// bounds returns those of the entities, in the order of their names.
func (s *state) bounds(entityOf map[string]string) []bound {
	tables := map[string][]string{}
	for _, account := range slices.Sorted(maps.Keys(entityOf)) {
		if name := entityOf[account]; name != "" {
			tables[name] = append(tables[name], account)
		}
	}
	var list []bound
	for name, accounts := range tables {
		list = append(list, s.bound(name, accounts))
	}
	slices.SortFunc(list, func(a, b bound) int { return cmp.Compare(a.Entity, b.Entity) })
	return list
}

func (s *state) bound(entity string, tables []string) bound {
	e := bound{EntityStatus: EntityStatus{Entity: entity, Tables: tables}}
	var spent privacy.Amount
	for _, account := range tables {
		if p := s.spent[holder{account, false, All}]; p != nil {
			spent.Plus(&p.ever)
		}
		if b := s.budgets[holder{account, false, All}]; b != nil {
			e.caps = append(e.caps, *b)
		} else {
			e.Closed = append(e.Closed, account)
		}
	}
	e.Spent, e.SpentCurve = spent.Loss(), spent.Curve
	if b := s.budgets[holder{entity, true, All}]; b != nil {
		own := *b
		e.own = &own
	}
	return e
}

// status adds the tables' budgets up, and takes the entity's own where that is less, or no table is open.
func (e *bound) status() EntityStatus {
	epsilon, delta, rho := 0.0, 0.0, privacy.Rho(0)
	for i, b := range e.caps {
		eps, d := b.promise()
		epsilon, delta = roundup.Add(epsilon, float64(eps)), roundup.Add(delta, float64(d))
		rho = rho.Add(b.Rho)
		if i > 0 && (b.Rho == 0) != (e.caps[0].Rho == 0) {
			rho = math.MaxUint64 // not all are in ρ
		}
	}
	e.Epsilon, e.Delta, e.Window = privacy.Epsilon(epsilon), privacy.Delta(math.Min(1, delta)), commonWindow(e.caps)
	if rho < math.MaxUint64 {
		e.Rho = rho
	}
	if e.own == nil {
		return e.EntityStatus
	}
	eps, d := e.own.promise()
	if less := e.own.Rho > 0 && e.own.Rho <= e.Rho; less || eps <= e.Epsilon || len(e.caps) == 0 {
		e.Epsilon, e.Delta, e.Rho, e.Window, e.Capped = eps, privacy.Delta(math.Min(1, float64(d))), e.own.Rho, e.own.Window, true
	}
	return e.EntityStatus
}

// promise returns the (ε, δ) that a budget keeps to. For one in ρ, with at most δ of slack: the ideal mechanisms are
// (ε, BoundDelta)-DP, and all slack may be of the kind that enters (1+e^ε) times.
func (b *Budget) promise() (privacy.Epsilon, privacy.Delta) {
	if b.Rho == 0 {
		return b.Epsilon, b.Delta
	}
	eps := privacy.EpsilonOf(privacy.Loss{Rho: b.Rho}, BoundDelta)
	return eps, privacy.Delta(roundup.Add(float64(BoundDelta), roundup.Mul(roundup.Add(1, roundup.Exp(float64(eps))), float64(b.Delta))))
}

// commonWindow returns the window that all budgets have; empty where they differ.
func commonWindow(list []Budget) Window {
	for _, b := range list {
		if b.Window != list[0].Window {
			return ""
		}
	}
	if len(list) == 0 {
		return ""
	}
	return list[0].Window
}
