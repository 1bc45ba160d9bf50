package accounting

import (
	"context"
	"math"
	"slices"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// Forecast says what one budget would say to a charge that is not made.
type Forecast struct {
	Account string
	Entity  bool
	Table   string // schema.table; "" for an entity
	// Missing says that a table has no budget of all principals, so that every charge is refused;
	// Budget is then zero.
	Missing bool
	Budget  budget.Budget
	Holder  string // whose spending the budget caps: All, RolePrefix and a role, or the principal

	// of the charge by itself: its pure ε, or that at the budget's δ; NaN for a budget in ρ
	Cost    privacy.Epsilon
	CostRho privacy.Rho
	// what a statement of the kind of the charge is granted before it, and after it; NaN for a
	// budget in ρ
	Remaining privacy.Epsilon
	After     privacy.Epsilon
	// the largest ρ of Gaussian noise that fits before the charge, and after it
	RemainingRho privacy.Rho
	AfterRho     privacy.Rho
	Fits         bool
	Rounded      bool // as in Receipt
	// how many such charges in a row fit in the current window, at most MaxForecast
	Queries int

	before privacy.Amount // what is spent
	pure   bool           // the charge is
}

// Forecast tells what the budgets on the accounts of the charges would say to them, in the order of
// the charges: that of all principals, those of the roles, then the principal's own or the default
// one. It changes nothing. Another's charge may come first.
func (l *Ledger) Forecast(principal string, roles []string, charges []Charge) ([]Forecast, error) {
	req := Request{Principal: principal, Charges: charges, Roles: roles}
	if err := req.check(); err != nil {
		return nil, err
	}
	charges, rounded := l.drawn(principal, roleHolders(roles), charges)
	type pending struct {
		Forecast
		before, loss privacy.Amount
	}
	var list []pending
	l.mu.Lock()
	if l.fault != nil {
		defer l.mu.Unlock()
		return nil, l.fault
	}
	today := max(l.state.LastDay, budget.DateOf(l.now()))
	booked := merge(charges)
	for i := range booked {
		c := &booked[i]
		known := false
		add := func(b *budget.Budget, who string) {
			if b == nil {
				return
			}
			known = true
			f := Forecast{Account: c.Account, Entity: c.Entity, Table: c.Table, Budget: *b, Holder: who}
			spent := l.state.Before(state.Holder{Account: c.Account, Entity: c.Entity, Principal: who}, today, booked[:i])
			over := spent.Over(c.Blocks, b.Window, today)
			list = append(list, pending{f, hardest(b, over, c.Amount()), *c.Amount()})
		}
		add(l.state.Budgets[state.Holder{Account: c.Account, Entity: c.Entity, Principal: budget.All}], budget.All)
		if !known && !c.Entity {
			list = append(list, pending{Forecast: Forecast{Account: c.Account, Table: c.Table, Missing: true}, loss: *c.Amount()})
			continue
		}
		for _, role := range unique(roles) {
			add(l.state.Budgets[state.Holder{Account: c.Account, Entity: c.Entity, Principal: budget.RolePrefix + role}], budget.RolePrefix+role)
		}
		add(l.state.Own(c.Account, c.Entity, principal), principal)
	}
	l.mu.Unlock()
	// The conversions are slow, so no charge waits for them.
	out := make([]Forecast, len(list))
	for i := range list {
		out[i] = list[i].Forecast
		out[i].Rounded = rounded
		out[i].weigh(&list[i].before, &list[i].loss)
	}
	return out, nil
}

// hardest returns what is spent on a block that a charge does not fit, if there is one, else on the
// heaviest.
func hardest(b *budget.Budget, over []state.Stretch, a *privacy.Amount) privacy.Amount {
	for i := range over {
		after := over[i].Spent
		after.Plus(a)
		if !b.Fits(&after) {
			return over[i].Spent
		}
	}
	return over[state.Heaviest(over)].Spent
}

// weigh fills in what the charge costs, and what it leaves.
func (f *Forecast) weigh(before, loss *privacy.Amount) {
	f.CostRho, f.before, f.pure = loss.Rho, *before, loss.Pure > 0
	if f.Missing {
		f.Cost = privacy.Epsilon(math.NaN())
		return
	}
	b := &f.Budget
	after := *before
	after.Plus(loss)
	f.Cost = privacy.Epsilon(math.NaN())
	if b.Rho == 0 {
		f.Cost = b.Cost(loss.Loss())
	}
	f.Fits = b.Fits(&after)
	f.Remaining, f.RemainingRho = b.RemainingFor(loss.Tally, before), b.RemainingRho(before, privacy.Tally{})
	f.After, f.AfterRho = b.RemainingFor(loss.Tally, &after), b.RemainingRho(&after, privacy.Tally{})
	f.Queries = b.Holds(before, loss)
}

// DaySpent is what one holder spent on one UTC day.
type DaySpent struct {
	Day   time.Time
	Spent privacy.Loss
}

// Burndown returns what a holder (All, RolePrefix and a role's name, or an account) spent on an
// account on each of the UTC days from the one of from to that of to, both included, days without
// spending left out. Resets do not show: it is what was spent. Of one principal it reads the
// records; the others' sums are kept by day.
func (l *Ledger) Burndown(account string, entity bool, principal string, from, to time.Time) []DaySpent {
	h, first, last := state.Holder{Account: account, Entity: entity, Principal: principal}, budget.DateOf(from), budget.DateOf(to)
	days := l.spentByDay(h)
	if !h.ManyPay() {
		days = l.paidByDay(h, first)
	}
	var list []DaySpent
	for _, d := range days {
		if d.Day >= first && d.Day <= last {
			list = append(list, DaySpent{d.Day.Time(), d.Spent.Loss()})
		}
	}
	return list
}

func (l *Ledger) spentByDay(h state.Holder) []state.DaySpent {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.state.Spent[h]; p != nil {
		return slices.Clone(p.Days)
	}
	return nil
}

// paidByDay adds up the charges of a principal. They are few where many principals are, and one
// principal's chart is looked at seldom.
func (l *Ledger) paidByDay(h state.Holder, first budget.Date) []state.DaySpent {
	var days []state.DaySpent
	f := Filter{Principal: h.Principal, Account: h.Account, Kinds: []EntryKind{ChargeEntry}}
	if l.searchable(context.Background()) != nil {
		return nil
	}
	l.reading.RLock()
	f.AfterID = l.index.Before(first)
	l.reading.RUnlock()
	err := l.candidates(context.Background(), &f, readChunk, func(ids []uint32) (bool, error) {
		return true, l.records(ids, func(_ uint64, r *record.Record) {
			for i := range r.Charges {
				if c := &r.Charges[i]; c.Account == h.Account && c.Entity == h.Entity && c.Since == 0 {
					days = state.AddDay(days, r.Day, &c.Loss)
				}
			}
		})
	})
	if err != nil {
		return nil
	}
	return days
}
