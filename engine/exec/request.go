package exec

import (
	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/internal/digest"
	"scrim/planner/plan"
)

// request is the charge for the releases that are not replays.
func (e *execution) request(open []*plan.Release) accounting.Request {
	req := accounting.Request{Principal: e.principal, Roles: e.roles, Statement: e.text, Digest: e.digest, Charges: Charges(e.statement, open)}
	for _, r := range open {
		req.Mechanisms = joinMechanisms(req.Mechanisms, r)
	}
	return req
}

// Charges is what some releases of a statement cost: each protected table in full, each entity once
// a release.
func Charges(s *plan.Statement, open []*plan.Release) (list []accounting.Charge) {
	tables, entities := map[string]accounting.Charge{}, map[string]accounting.Charge{}
	add := func(to map[string]accounting.Charge, name string, r *plan.Release) {
		c, ok := to[name]
		if !ok {
			c.Rounded = []privacy.Event{} // it can be drawn so, whatever it is
		}
		c.Loss = c.Loss.Add(r.Loss)
		c.Events = append(c.Events, r.Events()...)
		c.Rounded = append(c.Rounded, r.RoundedEvents()...)
		to[name] = c
	}
	for _, r := range open {
		for _, t := range r.Tables {
			add(tables, t, r)
		}
		for _, n := range r.Entities {
			add(entities, n, r)
		}
	}
	for _, c := range s.Tables {
		if x, ok := tables[c.Account]; ok {
			x.Account, x.Table = c.Account, c.Table
			list = append(list, x)
		}
	}
	for _, c := range s.Entities {
		if x, ok := entities[c.Account]; ok {
			x.Account, x.Entity = c.Account, true
			list = append(list, x)
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
