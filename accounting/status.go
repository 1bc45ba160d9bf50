package accounting

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/roundup"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/internal/lists"
)

// Status is where all budgets stand.
type Status struct {
	Budgets  []BudgetStatus
	Entities []EntityStatus
}

// BudgetStatus is a budget and the spending that it caps, in its current window.
type BudgetStatus struct {
	budget.Budget
	// Holder is whose spending this is: All for a budget of all principals, else the principal. A
	// default budget has one line for each principal who has spent on the account and has no budget
	// of their own, and one with Holder Default for everybody else, who has spent nothing.
	Holder     string
	Spent      privacy.Loss
	SpentCurve privacy.Curve // of the events that Spent was charged for: BestEpsilon takes both
	// of Spent at the budget's δ, the least of several conversions, see BestEpsilon; rounded up
	SpentEpsilon privacy.Epsilon
	// Remaining is what the next statement is granted, rounded down: the largest ε that fits of
	// Gaussian noise of the ρ that it converts to at the budget's δ; of a pure charge where δ = 0.
	// NaN for a budget in ρ.
	Remaining     privacy.Epsilon
	RemainingRho  privacy.Rho  // the largest ρ of Gaussian noise, without slack, that fits
	RemainingPure privacy.Pure // the largest ε of a pure charge that fits; 0 for a budget in ρ
	WindowStart   time.Time
	WindowEnd     time.Time // zero for Never
	// Blocks are where the budget stands on each block, where something was spent on some of them
	// only, in stretches of days that make up all; what is above is then of the one with the least
	// remaining, which is what a statement on every block is tested beside.
	Blocks []BlocksStatus

	spent privacy.Amount // of which Spent and SpentCurve are parts
}

// BlocksStatus is where a budget stands on each block of a stretch of days.
type BlocksStatus struct {
	days.Span
	Spent        privacy.Loss
	SpentEpsilon privacy.Epsilon
	Remaining    privacy.Epsilon
	RemainingRho privacy.Rho
}

// Status returns where every budget stands, and each entity's bound. entitiesOf gives the entity of
// each table account; tables that it does not name belong to none.
func (l *Ledger) Status(entitiesOf map[string][]string) (Status, error) {
	l.mu.Lock()
	if l.fault != nil {
		defer l.mu.Unlock()
		return Status{}, l.fault
	}
	today := max(l.state.LastDay, budget.DateOf(l.now()))
	positions := positionsOf(l.state, today)
	bounds := boundsOf(l.state, entitiesOf)
	l.mu.Unlock()
	// The conversions take some 50 µs a line, so no charge waits for them.
	st := Status{}
	st.Entities = append(st.Entities, lists.Map(bounds, func(b bound) EntityStatus { return b.status() })...)
	st.Budgets = append(st.Budgets, lists.Map(positions, func(p position) BudgetStatus { return p.status(today) })...)
	return st, nil
}

// position is a budget with the spending of one holder in its window.
type position struct {
	budget budget.Budget
	holder string
	over   []state.Stretch
}

// positionsOf returns every budget with everyone whom it caps, in the order of Status.
func positionsOf(s *state.State, today budget.Date) []position {
	var list []position
	add := func(b *budget.Budget, who string) {
		list = append(list, position{*b, who, s.Spent[state.Holder{Account: b.Account, Entity: b.Entity, Principal: who}].Over(nil, b.Window, today)})
	}
	for _, b := range s.Budgets {
		add(b, b.Principal)
	}
	for h := range s.Spent {
		b := s.Own(h.Account, h.Entity, h.Principal)
		if b != nil && b.Principal == budget.Default {
			add(b, h.Principal)
		}
	}
	slices.SortFunc(list, func(a, b position) int {
		if c := budget.Compare(a.budget, b.budget); c != 0 || a.holder == b.holder {
			return c
		}
		if a.holder == budget.Default {
			return -1
		}
		if b.holder == budget.Default {
			return 1
		}
		return cmp.Compare(a.holder, b.holder)
	})
	return list
}

func (p *position) status(today budget.Date) BudgetStatus {
	b, blocks := &p.budget, []BlocksStatus(nil)
	if len(p.over) > 1 {
		for i := range p.over {
			blocks = append(blocks, blocksStatus(b, &p.over[i]))
		}
	}
	spent := p.over[leastOf(blocks)].Spent
	loss := spent.Loss()
	epsilon, _ := privacy.BestEpsilon(loss, spent.Curve, b.Delta)
	st := BudgetStatus{
		Budget: *b, Holder: p.holder, Spent: loss, SpentCurve: spent.Curve, SpentEpsilon: epsilon,
		Remaining: b.Remaining(&spent), RemainingRho: b.RemainingRho(&spent, privacy.Tally{}), RemainingPure: b.RemainingPure(&spent),
		WindowEnd: b.Window.End(today), Blocks: blocks, spent: spent,
	}
	if b.Window != budget.Never {
		st.WindowStart = b.Window.Start(today).Time()
	}
	return st
}

func blocksStatus(b *budget.Budget, x *state.Stretch) BlocksStatus {
	epsilon, _ := privacy.BestEpsilon(x.Spent.Loss(), x.Spent.Curve, b.Delta)
	return BlocksStatus{
		Span: x.Span, Spent: x.Spent.Loss(), SpentEpsilon: epsilon,
		Remaining: b.Remaining(&x.Spent), RemainingRho: b.RemainingRho(&x.Spent, privacy.Tally{}),
	}
}

// leastOf returns the place of the stretch with the least remaining, 0 where there are none.
func leastOf(list []BlocksStatus) int {
	at := 0
	for i := range list {
		a, b := &list[i], &list[at]
		if a.Remaining < b.Remaining || !(b.Remaining < a.Remaining) && a.RemainingRho < b.RemainingRho {
			at = i
		}
	}
	return at
}

// Countable reports whether Count can tell how many entries a filter chooses: the index holds all
// that it asks for exactly.
func (f *Filter) Countable() bool {
	return f.Digest == "" && f.Since.IsZero() && f.Until.IsZero() && f.Limit == 0
}

// Count is how many entries a filter chooses, and how many lines these have together: one for each
// account that a charge or a replay is about, and one for each note and each change of a budget. It
// reads no entry. It refuses a filter that is not Countable.
func (l *Ledger) Count(ctx context.Context, f Filter) (entries, lines uint64, err error) {
	if !f.Countable() {
		return 0, 0, invalid.New("filter: entries of a digest or a time cannot be counted")
	}
	if err := l.searchable(ctx); err != nil {
		return 0, 0, err
	}
	l.reading.RLock()
	defer l.reading.RUnlock()
	entries, lines = l.index.Count(choose(l.index, &f).ids)
	return entries, lines, nil
}

// Charged reports whether anything was ever charged to an account, or to an entity of that name,
// also before the oldest entry.
func (l *Ledger) Charged(account string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil && l.fault != errReadOnly {
		return false, l.fault
	}
	for h := range l.state.Spent {
		if h.Account == account {
			return true, nil
		}
	}
	return false, nil
}

// Questions are how budgets are told to people: as numbers of statements at the loss that one has
// where nobody says what it may cost. They follow from the ledger alone, which is public to whoever
// sees the budget, so they cost nothing.

// DefaultLoss tells what a statement costs on an account where nobody says; pure on the pure
// account. It returns false where there is no such statement.
type DefaultLoss func(account string, entity, pure bool) (privacy.Loss, bool)

// Questions returns how many statements of the default loss the filter of a budget in the status
// admits, one after another, on top of what its holder has spent in the window; at most
// budget.MaxForecast. It returns false where there is no such statement.
func (s *Status) Questions(b *BudgetStatus, of DefaultLoss) (int, bool) {
	pure := b.IsPure()
	for i := range s.Budgets {
		total := &s.Budgets[i]
		pure = pure || total.Principal == budget.All && total.Account == b.Account && total.Entity == b.Entity && total.IsPure()
	}
	loss, ok := of(b.Account, b.Entity, pure)
	if !ok {
		return 0, false
	}
	return b.Holds(&b.spent, b.Typical(loss)), true
}

// Questions returns how many statements of the default loss fit before the charge that is forecast,
// as Status.Questions does. It returns false also where the budget is another's.
func (f *Forecast) Questions(of DefaultLoss) (int, bool) {
	if f.Missing || f.Budget.Window == "" {
		return 0, f.Missing
	}
	loss, ok := of(f.Account, f.Entity, f.pure || f.Budget.IsPure())
	if !ok {
		return 0, false
	}
	return f.Budget.Holds(&f.before, f.Budget.Typical(loss)), true
}

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
	// are then those at BoundDelta, and Slack is the sum of their own δ, which the bound in ρ has
	// beside it.
	Rho    privacy.Rho
	Slack  privacy.Delta
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
	epsilon, delta, slack, rho := 0.0, 0.0, 0.0, privacy.Rho(0)
	for i, b := range e.caps {
		eps, d := b.Promise()
		epsilon, delta = roundup.Add(epsilon, float64(eps)), roundup.Add(delta, float64(d))
		rho, slack = rho.Add(b.Rho), roundup.Add(slack, float64(b.Delta))
		if i > 0 && (b.Rho == 0) != (e.caps[0].Rho == 0) {
			rho = math.MaxUint64 // not all are in ρ
		}
	}
	e.Epsilon, e.Delta, e.Window = privacy.Epsilon(epsilon), privacy.Delta(math.Min(1, delta)), commonWindow(e.caps)
	if rho < math.MaxUint64 {
		e.Rho, e.Slack = rho, privacy.Delta(math.Min(1, slack))
	}
	if e.own == nil {
		return e.EntityStatus
	}
	eps, d := e.own.Promise()
	if less := e.own.Rho > 0 && e.own.Rho <= e.Rho; less || eps <= e.Epsilon || len(e.caps) == 0 {
		e.Epsilon, e.Delta, e.Rho, e.Window, e.Capped = eps, privacy.Delta(math.Min(1, float64(d))), e.own.Rho, e.own.Window, true
		e.Slack = e.own.Delta
	}
	return e.EntityStatus
}

// Beside is the δ that stands beside the bound as it is shown: in ρ where it can be, else in ε.
func (e EntityStatus) Beside() privacy.Delta {
	if e.Rho > 0 {
		return e.Slack
	}
	return e.Delta
}

// commonWindow returns the window that all budgets have; empty where they differ.
func commonWindow(list []budget.Budget) budget.Window {
	if slices.ContainsFunc(list, func(b budget.Budget) bool { return b.Window != list[0].Window }) {
		return ""
	}
	if len(list) == 0 {
		return ""
	}
	return list[0].Window
}
