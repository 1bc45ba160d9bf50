package exec

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/internal/digest"
	"scrim/planner/plan"
)

// request is the charge for the releases that are not replays.
func (e *execution) request(open []*plan.Release) accounting.Request {
	req := accounting.Request{Principal: e.principal, Roles: e.roles, Statement: e.text, Digest: e.digest, Charges: e.x.Charges(e.statement, open)}
	for _, r := range open {
		req.Mechanisms = joinMechanisms(req.Mechanisms, r)
	}
	return req
}

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
