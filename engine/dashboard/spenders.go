package dashboard

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"scrim/accounting"
	"scrim/engine/watch"
)

func segment(s string) string { return url.PathEscape(s) }

func measureOf(b accounting.BudgetStatus, l accounting.Loss) float64 {
	return watch.MeasureOf(b.Budget).Of(l)
}

func share(b *accounting.BudgetStatus) float64 {
	m := watch.MeasureOf(b.Budget)
	return m.Share(m.Of(b.Spent))
}

// Spender is what one account of the server spent of the total budget of a table or an entity, in its window.
type Spender struct {
	Principal, Link string
	On, OnLink      string
	Amount          float64
	Unit            watch.Unit
	Part            float64 // of what all spent, in what adds up, from 0 to 1
	loss            accounting.Loss
}

// maxLookups bounds the pairs of principals and budgets that are looked at for one page.
const maxLookups = 20_000

// spenders returns who spent most of the total budgets that keep accepts, by their part of what all spent.
func (f *facts) spenders(limit int, keep func(*accounting.BudgetStatus) bool) []Spender {
	var list []Spender
	lookups, principals := 0, f.principals()
	for i := range f.status.Budgets {
		b := &f.status.Budgets[i]
		if b.Holder != accounting.All || b.Spent.Rho == 0 || !keep(b) {
			continue
		}
		for _, p := range principals {
			if lookups++; lookups > maxLookups {
				break
			}
			if s, ok := f.spender(b, p); ok {
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Spender) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.On, b.On))
	})
	return list[:min(limit, len(list))]
}

// spender is what a principal spent in the window of a total budget.
func (f *facts) spender(b *accounting.BudgetStatus, principal string) (Spender, bool) {
	from := b.WindowStart
	if b.WindowEnd.IsZero() {
		from = f.now.Add(-lookBack)
	}
	var sum accounting.Loss
	for _, d := range f.d.o.Ledger.Burndown(b.Account, b.Entity, principal, from, f.now) {
		sum = sum.Add(d.Spent)
	}
	if sum.Rho == 0 {
		return Spender{}, false
	}
	m := watch.MeasureOf(b.Budget)
	s := Spender{
		Principal: principal, Link: "/analysts/" + segment(principal), On: f.name(b.Account), OnLink: "/tables/" + segment(b.Account),
		Amount: m.Of(sum), Unit: m.Unit, Part: min(1, sum.Rho.Float()/b.Spent.Rho.Float()), loss: sum,
	}
	if b.Entity {
		s.On, s.OnLink = "entity "+b.Account, "/entities/"+segment(b.Account)
	}
	return s, true
}

// principals are the accounts of the server, and those that have budgets or have spent under one.
func (f *facts) principals() []string {
	list := f.d.o.Accounts.Principals()
	for i := range f.status.Budgets {
		if h := f.status.Budgets[i].Holder; isAccount(h) {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// isAccount tells the holders that are accounts of the server.
func isAccount(holder string) bool {
	return holder != accounting.All && holder != accounting.Default && !hasRolePrefix(holder)
}

func hasRolePrefix(s string) bool {
	return len(s) > len(accounting.RolePrefix) && s[:len(accounting.RolePrefix)] == accounting.RolePrefix
}

// Charged is a line of the ledger as pages show it.
type Charged struct {
	ID              uint64
	At              time.Time
	Principal, Link string
	Kind            string
	Statement       string
	Mechanisms      string
	Costs           []Cost
	Outcome         string
	ReplayOf        uint64
}

// Cost is a charge on one account.
type Cost struct {
	On, Link string
	Amount   float64 // by itself, in the unit of the account's total budget
	Unit     watch.Unit
	Left     float64 // of the total budget after it, NaN where it is not known
}

// entries returns lines of the ledger for a page.
func (f *facts) entries(filter accounting.Filter) ([]Charged, error) {
	list, err := f.d.o.Ledger.Entries(f.ctx, filter)
	var out []Charged
	for _, e := range list {
		out = append(out, f.charged(e))
	}
	return out, err
}
