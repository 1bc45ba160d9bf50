package accounting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/internal/lists"
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
	if slices.ContainsFunc(charges, func(c Charge) bool { return c.Rounded == nil }) {
		return charges, false
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
	list = append(list, lists.Map(unique(roles), func(r string) string { return budget.RolePrefix + r })...)
	return list
}

// Request asks for the charges of one statement: all of them, or none.
type Request struct {
	Principal string // who pays: a MySQL account, user@host
	// the roles granted to them, without RolePrefix: what each spends on an account counts for
	// every one
	Roles []string
	// without its literals, which can be values of rows; the record keeps its first 16 KiB
	Statement  string
	Digest     string // of Statement
	Mechanisms string // what runs, for the record
	Charges    []Charge
}

// Charge is a loss on one account.
type Charge struct {
	Account string // a table's account (it outlives renaming), or an entity's name
	Entity  bool   // Account names an entity
	Table   string // schema.table for messages; empty for an entity
	// Blocks are whose loss it is, where the unit is one person's rows of one period; nil: every
	// block's.
	Blocks *days.Span
	Loss   privacy.Loss
	Events []privacy.Event // what Loss is the sum of, in the order of the mechanisms
	// Since is, of an entry that renews a charge, the ledger's day of that one: it counts in the
	// windows that began after. 0, and in a request: in all.
	Since budget.Date
	// Rounded are the same events where Gaussian noise is drawn as rounded normal numbers, which a
	// Gaussian account wants; nil: the caller cannot draw it so.
	Rounded []privacy.Event
}

// Receipt says that a charge is durable.
type Receipt struct {
	ID uint64    // of the charge's record
	At time.Time // when it was made
	// Rounded says that Charge.Rounded is what was charged: all Gaussian noise of the statement has
	// to be drawn as rounded normal numbers.
	Rounded bool
}

// check refuses a request that no account could book.
func (r *Request) check() error {
	if err := budget.CheckName("principal", r.Principal); err != nil {
		return err
	}
	if r.Principal == budget.All || r.Principal == budget.Default {
		return invalid.New("principal %q names a budget, not an account", r.Principal)
	}
	if strings.HasPrefix(r.Principal, budget.RolePrefix) {
		return invalid.New("principal %q names a role, not an account", r.Principal)
	}
	for _, role := range r.Roles {
		if err := budget.CheckName("role", budget.RolePrefix+role); err != nil || role == "" {
			return invalid.New("role %q is not a name", role)
		}
	}
	if len(r.Charges) == 0 {
		return invalid.New("no charges")
	}
	for _, c := range r.Charges {
		if err := budget.CheckName("account", c.Account); err != nil {
			return err
		}
		if err := c.Loss.Check(); err != nil {
			return err
		}
		if err := c.Blocks.Check(); err != nil {
			return err
		}
		if err := lists.Each(slices.Concat(c.Events, c.Rounded), privacy.Event.Check); err != nil {
			return err
		}
	}
	return nil
}

// renewal begins the digest of a renewal; behind it stands the record of the first charge.
const renewal = "renews "

// unique returns the names in order, each once.
func unique(names []string) []string {
	s := slices.Clone(names)
	slices.Sort(s)
	return slices.Compact(s)
}

// exhausted tells what a charge would cost that does not fit on some of its blocks, and what fits
// on the heaviest of them.
func exhausted(b *budget.Budget, c *record.Booked, r *record.Record, full []state.Stretch) error {
	before := &full[state.Heaviest(full)].Spent
	e := &ExhaustedError{
		Account: c.Account, Entity: c.Entity, Table: c.Table, Scope: b.Principal, Principal: r.Principal,
		Limit: b.Epsilon, LimitRho: b.Rho, Delta: b.Delta, Window: b.Window, WindowEnds: b.Window.End(r.Day),
		RequestedRho: c.Loss.Rho, Asked: c.Blocks, Renews: strings.HasPrefix(r.Digest, renewal), NoBound: c.Loss.Loss().DeltaEvent >= 1,
	}
	for i := range full {
		if on := full[i].Span; (&on).Whole() != nil {
			e.Blocks = append(e.Blocks, on)
		}
	}
	// Between two orders of the grid the curve of what is not Gaussian noise may count a little
	// more than α·ρ.
	e.RemainingRho = min(b.RemainingRho(before, c.Loss), c.Loss.Rho-min(c.Loss.Rho, 1))
	if b.Rho > 0 {
		e.NoSlack = before.Rho.Add(c.Loss.Rho) <= b.Rho
		return e
	}
	ideal := *before
	ideal.Plus(&privacy.Amount{Tally: privacy.Tally{Rho: c.Loss.Rho}, Curve: c.Amount().Curve})
	ideal.Event, ideal.TV = privacy.Slack{}, privacy.Slack{}
	e.NoSlack = b.Delta > 0 && b.Fits(&ideal)
	e.EventShare, e.TVShare = b.SlackShares()
	e.Requested, e.Remaining = b.Cost(c.Loss.Loss()), b.RemainingFor(c.Loss, before)
	e.NotPure = b.Delta == 0 && !c.Loss.Loss().IsPure()
	e.SpentNotPure = b.Delta == 0 && !before.Loss().IsPure()
	return e
}
