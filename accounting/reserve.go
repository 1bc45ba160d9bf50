package accounting

import (
	"context"
	"fmt"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
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
	r := &record.Record{
		Kind: record.Charge, Principal: req.Principal, Weighed: make(chan struct{}),
		Statement: budget.Clip(req.Statement), Digest: budget.Clip(req.Digest), Mechanisms: budget.Clip(req.Mechanisms),
		Roles: roleHolders(req.Roles),
	}
	charges, rounded := l.drawn(req.Principal, r.Roles, req.Charges)
	r.Charges = merge(charges)
	receipt, err := l.grant(ctx, r)
	receipt.Rounded = rounded && err == nil
	return receipt, err
}

// grant books a charge, and waits until it is durable.
func (l *Ledger) grant(ctx context.Context, r *record.Record) (Receipt, error) {
	receipt, b, err := l.book(r)
	if err != nil || b == nil {
		return Receipt{}, err
	}
	if err := l.wait(ctx, b); err != nil {
		switch ctx.Err() {
		case context.Canceled:
			l.Finish(receipt, record.Cancelled)
		case context.DeadlineExceeded:
			l.Finish(receipt, record.TimedOut)
		}
		return Receipt{}, err
	}
	return receipt, nil
}

// book puts a charge through the filter and queues its record.
func (l *Ledger) book(r *record.Record) (Receipt, *batch, error) {
	id, b, err := l.admit(r)
	if err != nil || b == nil {
		return Receipt{}, nil, err
	}
	weigh(r)
	return Receipt{ID: id, At: r.At}, b, l.at("booked")
}

// drawn returns the charges as they are where Gaussian noise is drawn by the law that is best for
// their budgets, and whether that is rounded normal numbers: where one of the budgets is a Gaussian
// account, and the caller can draw them for all of the charges. The events say which law it is, so
// that the filter counts it right whatever the budgets are by the time it is asked.
func (l *Ledger) drawn(principal string, roles []string, charges []Charge) (as []Charge, rounded bool) {
	for _, c := range charges {
		if c.Rounded == nil {
			return charges, false
		}
	}
	l.mu.Lock()
	wanted := slices.ContainsFunc(charges, func(c Charge) bool {
		return slices.ContainsFunc(l.state.Caps(c.Account, c.Entity, principal, roles), func(b *budget.Budget) bool { return b.Gaussian })
	})
	l.mu.Unlock()
	if !wanted {
		return charges, false
	}
	as = slices.Clone(charges)
	for i := range as {
		as[i].Events = as[i].Rounded
	}
	return as, true
}

func (l *Ledger) admit(r *record.Record) (uint64, *batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil {
		return 0, nil, l.fault
	}
	l.stamp(r)
	if !slices.ContainsFunc(r.Charges, func(c record.Booked) bool { return c.Since == 0 || c.Since < r.Day }) {
		return 0, nil, nil
	}
	for i := range r.Charges {
		if err := admit(l.state, i, r); err != nil {
			return 0, nil, err
		}
	}
	return l.append(r)
}

// admit is the filter: it tests one charge of a record, beside those in front of it, against the
// budgets on its account, and notes in it what it would leave. It changes no spending.
func admit(s *state.State, i int, r *record.Record) error {
	c := &r.Charges[i]
	all := s.Budgets[state.Holder{Account: c.Account, Entity: c.Entity, Principal: budget.All}]
	if all == nil && !c.Entity {
		return &NoBudgetError{Account: c.Account, Table: c.Table}
	}
	c.Left, c.Tested = nil, nil
	if err := test(s, i, r, all, budget.All, budget.All); err != nil {
		return err
	}
	for _, who := range r.Roles {
		if err := test(s, i, r, s.Budgets[state.Holder{Account: c.Account, Entity: c.Entity, Principal: who}], who, who); err != nil {
			return err
		}
	}
	return test(s, i, r, s.Own(c.Account, c.Entity, r.Principal), r.Principal, record.Own)
}

// test tests a charge against one budget, which caps what who spends, where there is one and the
// charge counts in its window: it has to fit beside what is spent on each of its blocks.
func test(s *state.State, i int, r *record.Record, b *budget.Budget, who, scope string) error {
	c := &r.Charges[i]
	if b == nil || !budget.StartsOf(r.Day).Hold(r.Day, c.Since)[b.Window.Index()] {
		return nil
	}
	spent := s.Before(state.Holder{Account: c.Account, Entity: c.Entity, Principal: who}, r.Day, r.Charges[:i])
	over := spent.Over(c.Blocks, b.Window, r.Day)
	var full []state.Stretch
	after := make([]privacy.Amount, len(over))
	for j := range over {
		after[j] = over[j].Spent
		after[j].Plus(c.Amount())
		if !b.Fits(&after[j]) {
			full = append(full, over[j])
		}
	}
	if len(full) > 0 {
		return exhausted(b, c, r, full)
	}
	c.Left = append(c.Left, record.Left{Scope: scope})
	c.Tested = append(c.Tested, record.Tested{Budget: *b, After: after})
	return nil
}

// weigh fills in what the charges left. It takes as long as all else that is done for a charge, so
// nobody waits for it but the committer.
func weigh(r *record.Record) {
	for i := range r.Charges {
		c := &r.Charges[i]
		for j := range c.Tested {
			c.Left[j].Epsilon, c.Left[j].Rho = leastLeft(&c.Tested[j])
		}
		c.Tested = nil
	}
	close(r.Weighed)
}

// leastLeft returns what remains where least does, of the blocks that a charge was for.
func leastLeft(t *record.Tested) (privacy.Epsilon, privacy.Rho) {
	epsilon, rho := t.Budget.Remaining(&t.After[0]), privacy.Rho(0)
	if t.Budget.Rho > 0 {
		rho = t.Budget.Rho - t.After[0].Rho
	}
	for i := range t.After[1:] {
		after := &t.After[1+i]
		if epsilon = min(epsilon, t.Budget.Remaining(after)); t.Budget.Rho > 0 { // NaN then
			rho = min(rho, t.Budget.Rho-after.Rho)
		}
	}
	return epsilon, rho
}

// Finish records how a charged statement ended. It gives nothing back, does not wait, and does not
// fail: an outcome that cannot be written leaves the charge Unfinished. A receipt that no Reserve
// returned is ignored.
func (l *Ledger) Finish(receipt Receipt, o record.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil || receipt.ID == 0 || receipt.ID > l.state.LastID {
		return
	}
	l.next.outcomes = append(l.next.outcomes, record.OutcomeOf{Charge: receipt.ID, Outcome: o})
	l.later()
}

// Remark records what there is to say of the answer that a charge has paid for, as little as Finish
// does. The text holds released numbers and public facts only; an empty one is not recorded.
func (l *Ledger) Remark(receipt Receipt, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil || receipt.ID == 0 || receipt.ID > l.state.LastID || text == "" {
		return
	}
	l.next.remarks = append(l.next.remarks, &record.Record{Kind: record.Remark, Charge: receipt.ID,
		Digest: record.RemarkDigest(receipt.ID), Text: budget.Clip(text)})
	l.later()
}

// merge adds the charges on one account for the same blocks and puts them into exact form, in the
// order of their first mention.
func merge(charges []Charge) []record.Booked {
	var m []record.Booked
	for _, c := range charges {
		i := slices.IndexFunc(m, func(b record.Booked) bool {
			return b.Account == c.Account && b.Entity == c.Entity && b.Blocks.Same(c.Blocks)
		})
		if i < 0 {
			m = append(m, record.Booked{Account: c.Account, Entity: c.Entity, Blocks: c.Blocks.Whole(),
				Table: budget.Clip(c.Table), Loss: privacy.TallyOf(c.Loss), Events: eventsOf(&c)})
			continue
		}
		m[i].Loss = m[i].Loss.Add(privacy.TallyOf(c.Loss))
		m[i].Events = slices.Concat(m[i].Events, eventsOf(&c))
	}
	for i := range m {
		m[i].Amount() // makes the curve, while no lock is held
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
