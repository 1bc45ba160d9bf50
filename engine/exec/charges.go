package exec

import (
	"errors"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/internal/digest"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// Charges is what some releases of a statement cost: each protected table in full, each entity once
// a release, and each account once for each stretch of periods that releases are charged to; and
// what a person loses over all periods.
func (x *Executor) Charges(s *plan.Statement, open []*plan.Release) (list []accounting.Charge) {
	for _, c := range s.Tables {
		of := accounting.Charge{Account: c.Account, Table: c.Table}
		list = append(list, chargesOn(of, open, func(r *plan.Release) []string { return r.Tables })...)
	}
	for _, c := range s.Entities {
		of := accounting.Charge{Account: c.Account, Entity: true}
		list = append(list, chargesOn(of, open, func(r *plan.Release) []string { return r.Entities })...)
	}
	return x.Units.withPersons(list)
}

// request is the charge for the releases that are not replays.
func (e *execution) request(open []*plan.Release) accounting.Request {
	req := accounting.Request{Principal: e.principal, Roles: e.roles, Statement: e.text, Digest: e.digest, Charges: e.x.Charges(e.statement, open)}
	for _, r := range open {
		req.Mechanisms = joinMechanisms(req.Mechanisms, r)
	}
	return req
}

// chargesOn adds up what releases cost on one account, by periods, in the order of the releases.
func chargesOn(of accounting.Charge, open []*plan.Release, accounts func(r *plan.Release) []string) (list []accounting.Charge) {
	for _, r := range open {
		for _, name := range accounts(r) {
			if name != of.Account {
				continue
			}
			i := slices.IndexFunc(list, func(c accounting.Charge) bool { return c.Blocks.Same(r.Blocks) })
			if i < 0 {
				i, of.Blocks = len(list), r.Blocks
				list = append(list, of)
				list[i].Rounded = []privacy.Event{} // it can be drawn so, whatever it is
			}
			c := &list[i]
			c.Loss = c.Loss.Add(r.Loss)
			c.Events = append(c.Events, r.Events()...)
			c.Rounded = append(c.Rounded, r.RoundedEvents()...)
		}
	}
	return list
}

// joinMechanisms appends the texts of a release's aggregates, for the ledger: without their
// literals, like the statement.
func joinMechanisms(text string, r *plan.Release) string {
	for _, a := range r.Aggregates {
		if text != "" {
			text += "; "
		}
		text += digest.Redact(a.Text)
	}
	if r.Selection != nil {
		text += "; key selection"
	}
	return text
}

// Paid returns the charge in the ledger that paid for the answer of a statement of one release, of
// the session's principal, and the versions of the tables that it was made from: nil where it is
// not of the data of now, or not kept.
func (x *Executor) Paid(ctx *sql.Context, s *plan.Statement) (charge uint64, versions []string) {
	if len(s.Releases) != 1 {
		return 0, nil
	}
	e, r := &execution{x: x, statement: s, owner: x.Owner(ctx)}, s.Releases[0]
	versions, err := x.Store.Versions(ctx, r.Reads...)
	if err != nil {
		return 0, nil
	}
	keys, err := e.keys(r, versions, nil) // it uses no other
	if err != nil {
		return 0, nil
	}
	if f, ok := e.find(keys); ok {
		return f.about.Charge, versions
	}
	return 0, nil
}

// UnitsOf tells how many units of one person of an entity lie between two days, both included, of
// which the zero time is an open end; 0: there is no bound. ok is false for an entity whose unit is
// the whole person.
type UnitsOf func(entity string, first, last time.Time) (n int64, ok bool)

// withPersons adds, behind the charges on entities whose unit is one person's rows of one period,
// those on what a person loses over all periods: each charge for as many units as a person can have
// in its blocks.
func (units UnitsOf) withPersons(charges []accounting.Charge) []accounting.Charge {
	if units == nil {
		return charges
	}
	list := slices.Clone(charges)
	for _, c := range charges {
		of, ok := units.ofPerson(c)
		if !ok {
			continue
		}
		i := slices.IndexFunc(list, func(d accounting.Charge) bool { return d.Entity && d.Account == of.Account })
		if i < 0 {
			list = append(list, of)
		} else {
			list[i] = both(list[i], of)
		}
	}
	return list
}

// ofPerson is a charge on an entity as it counts over all periods; false where there are none.
func (units UnitsOf) ofPerson(c accounting.Charge) (accounting.Charge, bool) {
	if !c.Entity || c.Loss == (privacy.Loss{}) {
		return c, false
	}
	var first, last time.Time
	if on := c.Blocks.All(); on.First != days.Earliest {
		first = on.First.Time()
	}
	if on := c.Blocks.All(); on.Last != days.Latest {
		last = on.Last.Time()
	}
	n, ok := units(c.Account, first, last)
	c.Account, c.Blocks = budget.OverPeriods(c.Account), nil
	switch {
	case !ok || n == 1:
		return c, ok
	case n == 0:
		return lost(c, privacy.NoBound()), true
	}
	return lost(c, c.Loss.OfUnits(n)), true
}

// both is the charge of two on one account.
func both(a, b accounting.Charge) accounting.Charge {
	sum := a.Loss.Add(b.Loss)
	if sum.Check() != nil { // two without a bound have none
		return lost(a, privacy.NoBound())
	}
	a.Loss, a.Events = sum, slices.Concat(a.Events, b.Events)
	if a.Rounded != nil {
		a.Rounded = slices.Concat(a.Rounded, b.Rounded)
	}
	return a
}

// lost is a charge with another loss, of whose mechanisms nothing else is known.
func lost(c accounting.Charge, l privacy.Loss) accounting.Charge {
	c.Loss, c.Events = l, privacy.EventsOf(l)
	if c.Rounded != nil {
		c.Rounded = slices.Clone(c.Events)
	}
	return c
}

// Prepay makes the charge for a statement durable whose answer is released later, part by part, and
// reads nothing. Each part is released by Continue.
func (x *Executor) Prepay(ctx *sql.Context, s *plan.Statement) (accounting.Receipt, error) {
	begun, err := x.Begin(ctx, s)
	if err != nil {
		return accounting.Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return accounting.Receipt{}, notStarted(err)
	}
	return x.reserve(ctx, begun.(*execution).request(s.Releases))
}

// Prepaid ends what Prepay began: the statement may be continued, or err is why it may not. The
// charge stands.
func (x *Executor) Prepaid(receipt accounting.Receipt, err error) {
	x.Account.Finish(receipt, outcome(err))
}

// Continue releases a part of a statement that a charge of Prepay has paid for, and makes that
// again where it does not count in a window of now. release is handed a function that tells whether
// the tables are still defined as the plan took them, and has to call it when it has read
// them and before it keeps anything. It keeps all of the part or nothing. An error of it, and a
// panic, are told as one fixed text. It is for DBAs to call, who may read the rows: it runs beside
// other statements, and for want of memory it may fail as these do.
func (x *Executor) Continue(ctx *sql.Context, s *plan.Statement, charge uint64, release func(unchanged func() error) error) error {
	if err := x.Store.Room(); err != nil {
		return noRoom(err)
	}
	receipt, err := x.Account.Renew(ctx, charge)
	if errors.Is(err, accounting.ErrArchived) {
		return refuse.New(refuse.View, "The ledger's record of what was charged is in an archive, so that nobody can say in which windows it counts.").
			With("CALL dp_continual makes another series, for another charge.")
	} else if err != nil {
		return err
	}
	unchanged := func() error {
		for _, r := range s.Releases {
			if err := lists.Each(r.Defined, func(d plan.Definition) error { return x.Unchanged(ctx, d) }); err != nil {
				return err
			}
		}
		return nil
	}
	err = tried(func() error { return release(unchanged) })
	x.Prepaid(receipt, err)
	if err != nil {
		return &failure{refuse.New(refuse.Failed, "The release did not finish: nothing of it was kept or shown. It can be tried again, and is charged once in each window."), err}
	}
	return nil
}
