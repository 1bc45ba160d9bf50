package accounting

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/internal/roundup"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
)

// EntityStatus bounds the loss of one person of an entity over all its tables.
type EntityStatus struct {
	Entity string
	Tables []string // accounts
	// Epsilon and Delta bound what may be spent on one person in a window: the sum of the budgets
	// of all principals on the entity's tables (basic composition), or the entity's own budget when
	// it has one with a smaller ε.
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	// Rho is the same bound in ρ, where all of the budgets that make it are in ρ; else 0. Their ε
	// are then those at BoundDelta.
	Rho    privacy.Rho
	Capped bool // by the entity's own budget
	// Window is the window of the bound; empty when the tables' windows differ, and the bound is
	// then for a stretch of time that lies in one window of each.
	Window budget.Window
	// Closed are the tables without a budget of all principals: they refuse every charge.
	Closed []string
	// Spent is everything ever spent on the tables, summed; SpentCurve the sum of the curves.
	Spent      privacy.Loss
	SpentCurve privacy.Curve
	// OfPersons is what one person may have lost over all periods by everything ever asked, where
	// the unit is one person's rows of one period; else no loss.
	OfPersons      privacy.Loss
	OfPersonsCurve privacy.Curve
}

// bound is what an EntityStatus is made of.
type bound struct {
	EntityStatus
	caps []budget.Budget // of all principals, on the tables that have one
	own  *budget.Budget  // the entity's
}

// boundsOf returns those of the entities, in the order of their names.
func boundsOf(s *state.State, entitiesOf map[string][]string) []bound {
	tables := map[string][]string{}
	for _, account := range slices.Sorted(maps.Keys(entitiesOf)) {
		for _, name := range entitiesOf[account] {
			tables[name] = append(tables[name], account)
		}
	}
	var list []bound
	for name, accounts := range tables {
		list = append(list, boundOf(s, name, accounts))
	}
	slices.SortFunc(list, func(a, b bound) int { return cmp.Compare(a.Entity, b.Entity) })
	return list
}

func boundOf(s *state.State, entity string, tables []string) bound {
	e := bound{EntityStatus: EntityStatus{Entity: entity, Tables: tables}}
	var spent privacy.Amount
	for _, account := range tables {
		if p := s.Spent[state.Holder{Account: account, Entity: false, Principal: budget.All}]; p != nil {
			spent.Plus(&p.Ever)
		}
		if b := s.Budgets[state.Holder{Account: account, Entity: false, Principal: budget.All}]; b != nil {
			e.caps = append(e.caps, *b)
		} else {
			e.Closed = append(e.Closed, account)
		}
	}
	e.Spent, e.SpentCurve = spent.Loss(), spent.Curve
	if p := s.Spent[state.Holder{Account: budget.OverPeriods(entity), Entity: true, Principal: budget.All}]; p != nil {
		e.OfPersons, e.OfPersonsCurve = p.Ever.Loss(), p.Ever.Curve
	}
	if b := s.Budgets[state.Holder{Account: entity, Entity: true, Principal: budget.All}]; b != nil {
		own := *b
		e.own = &own
	}
	return e
}

// status adds the tables' budgets up, and takes the entity's own where that is less, or no table is
// open.
func (e *bound) status() EntityStatus {
	epsilon, delta, rho := 0.0, 0.0, privacy.Rho(0)
	for i, b := range e.caps {
		eps, d := b.Promise()
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
	eps, d := e.own.Promise()
	if less := e.own.Rho > 0 && e.own.Rho <= e.Rho; less || eps <= e.Epsilon || len(e.caps) == 0 {
		e.Epsilon, e.Delta, e.Rho, e.Window, e.Capped = eps, privacy.Delta(math.Min(1, float64(d))), e.own.Rho, e.own.Window, true
	}
	return e.EntityStatus
}

// commonWindow returns the window that all budgets have; empty where they differ.
func commonWindow(list []budget.Budget) budget.Window {
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
