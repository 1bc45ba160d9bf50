package dashboard

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/observe/watch"
)

// analystRow is an account in the list of analysts.
type analystRow struct {
	Principal, Link string
	Spent           []Spender // the largest parts
}

// maxSpenders bounds the lines that the page of all analysts is made of.
const maxSpenders = 200

type analystsPage struct{ Rows []analystRow }

func (d *Dashboard) analysts(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	rows := map[string]*analystRow{}
	for _, p := range f.principals() {
		rows[p] = &analystRow{Principal: p, Link: "/analysts/" + segment(p)}
	}
	spent, err := f.spenders(maxSpenders, "", func(*accounting.BudgetStatus) bool { return true })
	if err != nil {
		return "", nil, err
	}
	for _, s := range spent {
		if rows[s.Principal] == nil { // an account that was dropped
			rows[s.Principal] = &analystRow{Principal: s.Principal, Link: s.Link}
		}
		rows[s.Principal].Spent = append(rows[s.Principal].Spent, s)
	}
	var p analystsPage
	for _, row := range rows {
		p.Rows = append(p.Rows, *row)
	}
	slices.SortFunc(p.Rows, func(a, b analystRow) int {
		return cmp.Or(cmp.Compare(most(b.Spent), most(a.Spent)), cmp.Compare(a.Principal, b.Principal))
	})
	return "analysts.html", p, nil
}

// most is the largest part of a budget that somebody spent.
func most(list []Spender) (part float64) {
	for _, s := range list {
		part = math.Max(part, s.Part)
	}
	return part
}

type analystPage struct {
	Principal string
	Lines     []Line
	More      int
	Spent     []Spender
	Charges   []Charged
	Refusals  []Unanswered
	Ledger    string
}

func (d *Dashboard) analyst(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	who := r.PathValue("principal")
	p := analystPage{Principal: who, Ledger: "/ledger?principal=" + url.QueryEscape(who)}
	var err error
	if p.Lines, p.More, err = f.lines(cards, func(b *accounting.BudgetStatus) bool { return b.Holder == who }); err != nil {
		return "", nil, err
	}
	if p.Spent, err = f.spenders(pageEntries, who, func(*accounting.BudgetStatus) bool { return true }); err != nil {
		return "", nil, err
	}
	p.Charges, err = f.entries(accounting.Filter{Principal: who, Descending: true, Limit: latest})
	p.Refusals = d.unanswered(latest, func(e *watch.Event) bool { return e.Principal == who })
	known := len(p.Lines) > 0 || len(p.Charges) > 0 || len(p.Refusals) > 0 || slices.Contains(f.principals(), who)
	if err == nil && (!known || !strings.Contains(who, "@")) {
		err = errNotFound
	}
	return "analyst.html", p, err
}

func segment(s string) string { return url.PathEscape(s) }

func measureOf(b accounting.BudgetStatus, l privacy.Loss) float64 {
	return watch.MeasureOf(b.Budget).Of(l)
}

func share(b *accounting.BudgetStatus) float64 {
	m := watch.MeasureOf(b.Budget)
	return m.Share(m.Spent(b))
}

// Spender is what one account of the server spent of the total budget of a table or an entity, in
// its window.
type Spender struct {
	Principal, Link string
	On, OnLink      string
	Amount          float64
	Unit            watch.Unit
	Part            float64 // of what all spent, in what adds up, from 0 to 1
	loss            privacy.Loss
}

// Where the ledger keeps no sum of each principal, the latest charges of a window are added up: so
// many on one account, and so many for one page.
const (
	maxCharges     = 2_000
	maxPageCharges = 20_000
)

// spenders returns who spent most of the total budgets that keep accepts, by their part of what all
// spent; of one principal only, unless who is "".
func (f *facts) spenders(limit int, who string, keep func(*accounting.BudgetStatus) bool) ([]Spender, error) {
	type found struct {
		*accounting.BudgetStatus
		Spender
	}
	var list []found
	sums, read := f.sums(), 0
	for i := range f.status.Budgets {
		b := &f.status.Budgets[i]
		if b.Holder != budget.All || b.Spent.Rho == 0 || !keep(b) {
			continue
		}
		losses, kept := sums[accountOf(b)]
		if !kept {
			var err error
			if losses, err = f.added(b, who, min(maxCharges, maxPageCharges-read), &read); err != nil {
				return nil, err
			}
		}
		for p, loss := range losses {
			if who == "" || p == who {
				list = append(list, found{b, f.spender(b, p, loss)})
			}
		}
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.On, b.On))
	})
	var out []Spender
	for _, s := range list[:min(limit, len(list))] {
		s.Amount = measureOf(*s.BudgetStatus, s.loss) // the costly part, so of few
		out = append(out, s.Spender)
	}
	return out, nil
}

// account names a table's or an entity's account.
type account struct {
	name   string
	entity bool
}

func accountOf(b *accounting.BudgetStatus) account { return account{b.Account, b.Entity} }

// sums are what each principal spent on the accounts for which the status tells it: those with a
// default budget whose window is that of the total one.
func (f *facts) sums() map[account]map[string]privacy.Loss {
	sums := map[account]map[string]privacy.Loss{}
	for i := range f.status.Budgets {
		b := &f.status.Budgets[i]
		if total := f.total(b.Account, b.Entity); b.Holder == budget.Default && total != nil && total.Window == b.Window {
			sums[accountOf(b)] = map[string]privacy.Loss{}
		}
	}
	for i := range f.status.Budgets {
		b := &f.status.Budgets[i]
		losses := sums[accountOf(b)]
		if losses == nil || !isAccount(b.Holder) {
			continue
		}
		if total := f.total(b.Account, b.Entity); b.Window != total.Window {
			delete(sums, accountOf(b)) // an own budget with another window
		} else if b.Spent.Rho > 0 {
			losses[b.Holder] = b.Spent
		}
	}
	return sums
}

// added adds up the latest charges in the window of a total budget by principal.
func (f *facts) added(b *accounting.BudgetStatus, who string, limit int, read *int) (map[string]privacy.Loss, error) {
	losses := map[string]privacy.Loss{}
	if limit <= 0 {
		return losses, nil
	}
	list, err := f.d.o.Ledger.Entries(f.ctx, accounting.Filter{
		Account: b.Account, Principal: who, Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Since: b.WindowStart, Descending: true, Limit: limit,
	})
	*read += len(list)
	for _, e := range list {
		for _, c := range e.Charges {
			if c.Account == b.Account && c.Entity == b.Entity && (c.Since == 0 || c.Since < b.Window.Start(e.Day)) {
				losses[e.Principal] = losses[e.Principal].Add(c.Loss)
			}
		}
	}
	return losses, err
}

// spender is what a principal spent in the window of a total budget, without its amount.
func (f *facts) spender(b *accounting.BudgetStatus, principal string, loss privacy.Loss) Spender {
	s := Spender{
		Principal: principal, Link: "/analysts/" + segment(principal), On: f.name(b.Account), OnLink: "/tables/" + segment(b.Account),
		Unit: watch.MeasureOf(b.Budget).Unit, Part: min(1, loss.Rho.Float()/b.Spent.Rho.Float()), loss: loss,
	}
	if b.Entity {
		s.On, s.OnLink = "entity "+b.Account, "/entities/"+segment(b.Account)
	}
	return s
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
	return holder != budget.All && holder != budget.Default && !hasRolePrefix(holder)
}

func hasRolePrefix(s string) bool {
	return len(s) > len(budget.RolePrefix) && s[:len(budget.RolePrefix)] == budget.RolePrefix
}
