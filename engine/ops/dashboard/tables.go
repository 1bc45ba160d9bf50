package dashboard

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/observe/watch"
	"scrim/internal/lists"
)

// tableRow is a table in the list of tables.
type tableRow struct {
	catalog.Table
	Link string
	Line *Line // its total budget; nil where there is none
}

type tablesPage struct {
	Protected []tableRow
	Public    []catalog.Table
	Entities  []accounting.EntityStatus
	// Undeclared are the names of the first tables that nobody has declared, with what they may
	// be; MoreUndeclared is how many there are beyond these.
	Undeclared     []undeclaredTable
	MoreUndeclared int
}

// maxUndeclared bounds the undeclared tables that are listed.
const maxUndeclared = 50

// undeclaredTable is one with the statements that would declare it.
type undeclaredTable struct {
	Name string
	SQL  []string
}

func (d *Dashboard) tables(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	p := tablesPage{Entities: f.status.Entities}
	for _, t := range f.tables {
		switch t.State {
		case catalog.Public:
			p.Public = append(p.Public, t)
		case catalog.Protected:
			row := tableRow{Table: t, Link: "/tables/" + segment(t.Account)}
			if b := f.total(t.Account, false); b != nil {
				l, err := f.line(*b)
				if err != nil {
					return "", nil, err
				}
				row.Line = &l
			}
			p.Protected = append(p.Protected, row)
		}
	}
	undeclared, err := d.undeclared(r.Context())
	if err != nil {
		return "", nil, err
	}
	if more := len(undeclared) - maxUndeclared; more > 0 {
		undeclared, p.MoreUndeclared = undeclared[:maxUndeclared], more
	}
	for _, name := range undeclared {
		p.Undeclared = append(p.Undeclared, undeclaredTable{name, suggestPolicies(name)})
	}
	return "tables.html", p, nil
}

// undeclared are the stored tables that nobody has declared, as dp.policies has them: they are
// refused to analysts.
func (d *Dashboard) undeclared(ctx context.Context) ([]string, error) {
	stored, err := d.o.Tables(ctx)
	declared := map[string]bool{}
	for _, t := range d.o.Catalog().All() {
		declared[t.Name] = t.State != catalog.Undeclared
	}
	stored = slices.DeleteFunc(slices.Clone(stored), func(name string) bool { return declared[name] })
	slices.Sort(stored)
	return stored, err
}

// budgetsPage is the data of the page of a table or an entity.
type budgetsPage struct {
	Title      string
	Tables     []catalog.Table
	Entity     *accounting.EntityStatus // of an entity; of a table the one it belongs to
	IsEntity   bool
	Total      *Line
	Persons    *Line  // of an entity by period, what one person loses over all periods; nil: no budget
	Period     string // the length of the entity's periods; "" where its unit is the whole person
	CapPersons string // the statement that would set one
	Outlook    *Outlook
	Default    *Line // the budget of each principal without one of their own
	Others     []Line
	More       int
	Spenders   []Spender
	Charges    []Charged
	Refusals   []Unanswered
	Ledger     string // the link to its entries
	SQL        string // what would change its total budget, or set one
}

func (d *Dashboard) table(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	account := r.PathValue("account")
	p := budgetsPage{Title: f.name(account), Ledger: "/ledger?account=" + url.QueryEscape(account)}
	p.Tables = append(p.Tables, lists.Filter(f.tables, func(t catalog.Table) bool { return t.Account == account })...)
	for i := range f.status.Entities {
		if e := &f.status.Entities[i]; slices.Contains(e.Tables, account) {
			p.Entity, p.Period = e, d.o.Catalog().PeriodsOf(e.Entity)
		}
	}
	if err := f.fill(&p, account, false); err != nil {
		return "", nil, err
	}
	if len(p.Tables) == 0 && p.Total == nil && len(p.Charges) == 0 {
		return "", nil, errNotFound
	}
	names := f.names[account]
	p.Refusals = d.unanswered(latest, func(e *watch.Event) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(e.Tables, name) || namesTable(e, name) })
	})
	return "budgets.html", p, nil
}

func (d *Dashboard) entity(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	name := r.PathValue("entity")
	if entity, ok := budget.OfPersons(name); ok {
		name = entity
	}
	p := budgetsPage{Title: "entity " + name, IsEntity: true, Ledger: "/ledger?account=" + url.QueryEscape(name)}
	for i := range f.status.Entities {
		if e := &f.status.Entities[i]; e.Entity == name {
			p.Entity = e
		}
	}
	p.Tables = append(p.Tables, lists.Filter(f.tables, func(t catalog.Table) bool { return t.Of(name) && t.State == catalog.Protected })...)
	if err := f.fill(&p, name, true); err != nil {
		return "", nil, err
	}
	if p.Entity == nil && p.Total == nil {
		return "", nil, errNotFound
	}
	p.Period, p.CapPersons = d.o.Catalog().PeriodsOf(name), suggestCap(name)
	if b := f.total(budget.OverPeriods(name), true); b != nil {
		l, err := f.line(*b)
		if err != nil {
			return "", nil, err
		}
		l.Link, p.Persons = "", &l
	}
	return "budgets.html", p, nil
}

// fill adds what is known of an account.
func (f *facts) fill(p *budgetsPage, account string, entity bool) (err error) {
	mine := func(b *accounting.BudgetStatus) bool { return b.Account == account && b.Entity == entity }
	if b := f.total(account, entity); b != nil {
		l, err := f.line(*b)
		if err != nil {
			return err
		}
		l.Link = ""
		p.Total, p.SQL = &l, suggestChange(b)
	} else if !entity && len(f.names[account]) > 0 {
		p.SQL = suggestBudget(f.names[account][0])
	}
	p.Others, p.More, err = f.lines(cards, func(b *accounting.BudgetStatus) bool {
		return mine(b) && b.Holder != budget.All && b.Holder != budget.Default
	})
	if err != nil {
		return err
	}
	for i := range p.Others {
		p.Others[i].Title, p.Others[i].Link = p.Others[i].Whose, ""
		if h := p.Others[i].Budget.Holder; isAccount(h) {
			p.Others[i].Link = "/analysts/" + segment(h)
		}
	}
	for i := range f.status.Budgets {
		if b := &f.status.Budgets[i]; mine(b) && b.Holder == budget.Default {
			l, err := f.line(*b)
			if err != nil {
				return err
			}
			p.Default = &l
		}
	}
	if p.Spenders, err = f.spenders(latest, "", mine); err != nil {
		return err
	}
	p.Charges, err = f.entries(accounting.Filter{
		Account: account, Kinds: []accounting.EntryKind{accounting.ChargeEntry, accounting.ReplayEntry}, Descending: true, Limit: latest,
	})
	if p.Total != nil && err == nil {
		p.Outlook, err = f.outlook(p.Total.Budget)
	}
	return err
}

// Outlook says how many more charges like the latest ones fit into a budget.
type Outlook struct {
	Charges int     // how many of the latest were looked at
	Typical float64 // the middle one, in the unit of the budget
	Unit    watch.Unit
	Left    float64 // how many such charges fit
}

// outlook looks at the last charges on a budget's account; nil where there are none.
func (f *facts) outlook(b accounting.BudgetStatus) (*Outlook, error) {
	list, err := f.d.o.Ledger.Entries(f.ctx, accounting.Filter{
		Account: b.Account, Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Descending: true, Limit: 25,
	})
	var losses []privacy.Loss
	for _, e := range list {
		for _, c := range e.Charges {
			if c.Account == b.Account && c.Entity == b.Entity && c.Loss.Rho > 0 {
				losses = append(losses, c.Loss)
			}
		}
	}
	if err != nil || len(losses) == 0 {
		return nil, err
	}
	slices.SortFunc(losses, func(a, b privacy.Loss) int { return cmp.Compare(a.Rho, b.Rho) })
	middle := losses[len(losses)/2]
	o := &Outlook{Charges: len(losses), Typical: measureOf(b, middle), Unit: watch.MeasureOf(b.Budget).Unit}
	o.Left = math.Floor(b.RemainingRho.Float() / middle.Rho.Float())
	if middle.Pure > 0 { // pure charges one by one count no more than one of their sum
		o.Left = max(o.Left, math.Floor(b.RemainingPure.Float()/middle.Pure.Float()))
	}
	return o, nil
}
