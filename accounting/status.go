package accounting

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Status is where all budgets stand.
type Status struct {
	Budgets  []BudgetStatus
	Entities []EntityStatus
}

// BudgetStatus is a budget and the spending that it caps, in its current window.
type BudgetStatus struct {
	Budget
	// Holder is whose spending this is: All for a budget of all principals, else the principal. A
	// default budget has one line for each principal who has spent on the account and has no budget
	// of their own, and one with Holder Default for everybody else, who has spent nothing.
	Holder       string
	Spent        Loss
	SpentCurve   Curve   // of the events that Spent was charged for: BestEpsilon takes both
	SpentEpsilon Epsilon // of Spent at the budget's δ, rounded up
	Remaining    Epsilon // limit minus SpentEpsilon, at least 0
	RemainingRho Rho     // the largest ρ without slack that fits
	WindowStart  time.Time
	WindowEnd    time.Time // zero for Never
}

// EntityStatus bounds the loss of one person of an entity over all its tables.
type EntityStatus struct {
	Entity string
	Tables []string // accounts
	// Epsilon and Delta bound what may be spent on one person in a window: the sum of the budgets of
	// all principals on the entity's tables (basic composition), or the entity's own budget when it
	// has one with a smaller ε.
	Epsilon Epsilon
	Delta   Delta
	Capped  bool // by the entity's own budget
	// Window is the window of the bound; empty when the tables' windows differ, and the bound is then
	// for a stretch of time that lies in one window of each.
	Window Window
	// Closed are the tables without a budget of all principals: they refuse every charge.
	Closed []string
	// Spent is everything ever spent on the tables, summed; SpentCurve the sum of the curves.
	Spent      Loss
	SpentCurve Curve
}

// Status returns where every budget stands, and each entity's bound. entityOf gives the entity of
// each table account; tables that it does not name belong to none.
func (l *Ledger) Status(entityOf map[string]string) (Status, error) {
	l.mu.Lock()
	if l.fault != nil {
		defer l.mu.Unlock()
		return Status{}, l.fault
	}
	today := max(l.state.lastDay, dayOf(l.now()))
	positions := l.state.positions(today)
	entities := l.state.entityStatus(entityOf)
	l.mu.Unlock()
	// The conversions take some 50 µs a line, so no charge waits for them.
	st := Status{Entities: entities}
	for _, p := range positions {
		st.Budgets = append(st.Budgets, p.status(today))
	}
	return st, nil
}

// position is a budget with the spending of one holder in its window.
type position struct {
	budget Budget
	holder string
	spent  amount
}

// positions returns every budget with everyone whom it caps, in the order of Status.
func (s *state) positions(today day) []position {
	var list []position
	add := func(b *Budget, who string) {
		list = append(list, position{*b, who, s.spent[holder{b.Account, b.Entity, who}].in(b.Window, today)})
	}
	for _, b := range s.budgets {
		add(b, b.Principal)
	}
	for h := range s.spent {
		b := s.own(h.account, h.entity, h.principal)
		if b != nil && b.Principal == Default {
			add(b, h.principal)
		}
	}
	slices.SortFunc(list, func(a, b position) int {
		if c := compareBudgets(a.budget, b.budget); c != 0 || a.holder == b.holder {
			return c
		}
		if a.holder == Default {
			return -1
		}
		if b.holder == Default {
			return 1
		}
		return cmp.Compare(a.holder, b.holder)
	})
	return list
}

func (p *position) status(today day) BudgetStatus {
	b, loss := &p.budget, p.spent.loss()
	st := BudgetStatus{
		Budget: *b, Holder: p.holder, Spent: loss, SpentCurve: p.spent.curve,
		SpentEpsilon: EpsilonOf(loss, b.Delta),
		Remaining:    b.remaining(p.spent.tally), RemainingRho: b.remainingRho(p.spent.tally, tally{}),
		WindowEnd: b.Window.end(today),
	}
	if b.Window != Never {
		st.WindowStart = b.Window.start(today).time()
	}
	return st
}

func (s *state) entityStatus(entityOf map[string]string) []EntityStatus {
	byName := map[string]*EntityStatus{}
	for account, name := range entityOf {
		if name == "" {
			continue
		}
		if byName[name] == nil {
			byName[name] = &EntityStatus{Entity: name}
		}
		byName[name].Tables = append(byName[name].Tables, account)
	}
	var list []EntityStatus
	for _, e := range byName {
		slices.Sort(e.Tables)
		s.bound(e)
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b EntityStatus) int { return cmp.Compare(a.Entity, b.Entity) })
	return list
}

// bound fills in the bound and the spending of an entity whose tables are set.
func (s *state) bound(e *EntityStatus) {
	var spent amount
	epsilon, delta, mixed := 0.0, 0.0, false
	for _, account := range e.Tables {
		if p := s.spent[holder{account, false, All}]; p != nil {
			spent = spent.add(p.ever)
		}
		b := s.budgets[holder{account, false, All}]
		if b == nil {
			e.Closed = append(e.Closed, account)
			continue
		}
		epsilon, delta = addUp(epsilon, float64(b.Epsilon)), addUp(delta, float64(b.Delta))
		mixed = mixed || e.Window != "" && e.Window != b.Window
		e.Window = b.Window
	}
	if mixed {
		e.Window = ""
	}
	e.Spent, e.SpentCurve = spent.loss(), spent.curve
	e.Epsilon, e.Delta = Epsilon(epsilon), Delta(math.Min(1, delta))
	if b := s.budgets[holder{e.Entity, true, All}]; b != nil && (b.Epsilon <= e.Epsilon || len(e.Closed) == len(e.Tables)) {
		e.Epsilon, e.Delta, e.Window, e.Capped = b.Epsilon, b.Delta, b.Window, true
	}
}
