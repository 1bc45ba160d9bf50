package accounting

import (
	"context"
	"fmt"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// Reserve charges a statement to every account of the request: to the budget of all principals, and
// to the principal's own or default budget. All of them or none. When it returns without an error
// the charge is durable, and it is never given back.
//
// Refusals change nothing: *NoBudgetError, *ExhaustedError, ErrInvalid for a request that makes no
// sense, and ErrUnavailable. When ctx ends while the charge is being written, Reserve returns ctx's
// error and the charge stands, with outcome Cancelled or TimedOut. When writing fails, whether it
// stands is known only once the ledger has been opened again.
func (l *Ledger) Reserve(ctx context.Context, req Request) (Receipt, error) {
	if err := req.check(); err != nil {
		return Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return Receipt{}, fmt.Errorf("accounting: %w", err)
	}
	r := &record{
		kind: chargeRecord, principal: req.Principal, weighed: make(chan struct{}),
		statement: budget.Clip(req.Statement), digest: budget.Clip(req.Digest), mechanisms: budget.Clip(req.Mechanisms),
		roles: roleHolders(req.Roles), charges: merge(req.Charges),
	}
	receipt, b, err := l.book(r)
	if err != nil {
		return Receipt{}, err
	}
	if err := l.wait(ctx, b); err != nil {
		switch ctx.Err() {
		case context.Canceled:
			l.Finish(receipt, Cancelled)
		case context.DeadlineExceeded:
			l.Finish(receipt, TimedOut)
		}
		return Receipt{}, err
	}
	return receipt, nil
}

// book puts a charge through the filter and queues its record.
func (l *Ledger) book(r *record) (Receipt, *batch, error) {
	id, b, err := l.admit(r)
	if err != nil {
		return Receipt{}, nil, err
	}
	r.weigh()
	return Receipt{ID: id, At: r.at}, b, l.at("booked")
}

func (l *Ledger) admit(r *record) (uint64, *batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil {
		return 0, nil, l.fault
	}
	l.stamp(r)
	for i := range r.charges {
		if err := l.state.admit(&r.charges[i], r); err != nil {
			return 0, nil, err
		}
	}
	return l.append(r)
}

// admit is the filter: it tests one charge against the budgets on its account, and notes in c what
// it would leave. It changes no spending.
func (s *state) admit(c *booked, r *record) error {
	all := s.budgets[holder{c.account, c.entity, budget.All}]
	if all == nil && !c.entity {
		return &NoBudgetError{Account: c.account, Table: c.table}
	}
	c.left, c.tested = nil, nil
	if err := s.test(c, r, all, budget.All, budget.All); err != nil {
		return err
	}
	for _, who := range r.roles {
		if err := s.test(c, r, s.budgets[holder{c.account, c.entity, who}], who, who); err != nil {
			return err
		}
	}
	return s.test(c, r, s.own(c.account, c.entity, r.principal), r.principal, Own)
}

// test tests a charge against one budget, if there is one, which caps what who spends.
func (s *state) test(c *booked, r *record, b *budget.Budget, who, scope string) error {
	if b == nil {
		return nil
	}
	before := s.spentIn(b, holder{c.account, c.entity, who}, r.day)
	after := before
	after.Plus(c.amount())
	if !b.Fits(&after) {
		return exhausted(b, c, r, &before)
	}
	c.left = append(c.left, Left{Scope: scope})
	c.tested = append(c.tested, tested{*b, after})
	return nil
}

// tested is a budget that a charge fits, with all that is then spent.
type tested struct {
	budget budget.Budget
	after  privacy.Amount
}

// weigh fills in what the charges left. It takes as long as all else that is done for a charge, so
// nobody waits for it but the committer.
func (r *record) weigh() {
	for i := range r.charges {
		c := &r.charges[i]
		for j := range c.tested {
			t := &c.tested[j]
			c.left[j].Epsilon = t.budget.Remaining(&t.after)
			if t.budget.Rho > 0 {
				c.left[j].Rho = t.budget.Rho - t.after.Rho
			}
		}
		c.tested = nil
	}
	close(r.weighed)
}

// Finish records how a charged statement ended. It gives nothing back, does not wait, and does not
// fail: an outcome that cannot be written leaves the charge Unfinished. A receipt that no Reserve
// returned is ignored.
func (l *Ledger) Finish(receipt Receipt, o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil || receipt.ID == 0 || receipt.ID > l.state.lastID {
		return
	}
	l.next.outcomes = append(l.next.outcomes, outcomeOf{receipt.ID, o})
	l.later()
}

// merge adds the charges on one account and puts them into exact form, in the order of their first
// mention.
func merge(charges []Charge) []booked {
	var m []booked
	for _, c := range charges {
		i := slices.IndexFunc(m, func(b booked) bool { return b.account == c.Account && b.entity == c.Entity })
		if i < 0 {
			m = append(m, booked{account: c.Account, entity: c.Entity, table: budget.Clip(c.Table), loss: privacy.TallyOf(c.Loss), events: eventsOf(&c)})
			continue
		}
		m[i].loss = m[i].loss.Add(privacy.TallyOf(c.Loss))
		m[i].events = slices.Concat(m[i].events, eventsOf(&c))
	}
	for i := range m {
		m[i].amount() // makes the curve, while no lock is held
	}
	return m
}

// eventsOf returns what a charge was made for: as it says, or all that its loss says, where it
// names no events or some that are less than the loss. The filter counts what they diverge by.
func eventsOf(c *Charge) []privacy.Event {
	if len(c.Events) == 0 || !cover(c.Events, c.Loss) {
		return privacy.EventsOf(c.Loss)
	}
	return slices.Clone(c.Events)
}

// cover reports whether events are all of a loss, but for the rounding of its parts: its ε where it
// is pure, else its ρ.
func cover(events []privacy.Event, l privacy.Loss) bool {
	var sum privacy.Loss
	for _, e := range events {
		sum = sum.Add(e.Loss())
	}
	if l.Pure > 0 {
		return sum.IsPure() && enough(uint64(sum.Pure), uint64(l.Pure), len(events))
	}
	return enough(uint64(sum.Rho), uint64(l.Rho), len(events))
}

// enough reports whether a sum of n parts is want, but for a millionth of it and some units for
// each part.
func enough(sum, want uint64, n int) bool {
	room := want>>20 + 16*uint64(n)
	return sum >= want-min(want, room)
}

// roleHolders returns for whom a charge counts by these roles, each once.
func roleHolders(roles []string) []string {
	var list []string
	for _, r := range unique(roles) {
		list = append(list, budget.RolePrefix+r)
	}
	return list
}

// unique returns the names in order, each once.
func unique(names []string) []string {
	s := slices.Clone(names)
	slices.Sort(s)
	return slices.Compact(s)
}

// exhausted tells what a charge would cost that does not fit, and what fits.
func exhausted(b *budget.Budget, c *booked, r *record, before *privacy.Amount) error {
	e := &ExhaustedError{
		Account: c.account, Entity: c.entity, Table: c.table, Scope: b.Principal, Principal: r.principal,
		Limit: b.Epsilon, LimitRho: b.Rho, Delta: b.Delta, Window: b.Window, WindowEnds: b.Window.End(r.day),
		RequestedRho: c.loss.Rho,
	}
	// Between two orders of the grid the curve of what is not Gaussian noise may count a little
	// more than α·ρ.
	e.RemainingRho = min(b.RemainingRho(before, c.loss), c.loss.Rho-min(c.loss.Rho, 1))
	if b.Rho > 0 {
		e.NoSlack = before.Rho.Add(c.loss.Rho) <= b.Rho
		return e
	}
	ideal := *before
	ideal.Plus(&privacy.Amount{Tally: privacy.Tally{Rho: c.loss.Rho}, Curve: c.amount().Curve})
	ideal.Event, ideal.TV = privacy.Slack{}, privacy.Slack{}
	e.NoSlack = b.Delta > 0 && b.Fits(&ideal)
	e.EventShare, e.TVShare = b.SlackShares()
	e.Requested, e.Remaining = b.Cost(c.loss.Loss()), b.RemainingFor(c.loss, before)
	e.NotPure = b.Delta == 0 && !c.loss.Loss().IsPure()
	e.SpentNotPure = b.Delta == 0 && !before.Loss().IsPure()
	return e
}
