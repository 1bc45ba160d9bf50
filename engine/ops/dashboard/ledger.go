package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/engine/observe/watch"
	"scrim/internal/digest"
	"scrim/internal/lists"
	"scrim/internal/remark"
)

// ledgerPage is a page of the ledger.
type ledgerPage struct {
	Principal, Account, Kind string // the filter
	Kinds                    []string
	List                     []Charged
	Older                    string // the link to the page before; "" on the last
	Filtered                 bool
	Lacking                  bool // only charges whose answers were empty or NULL
}

// entryKinds are the kinds that the form offers.
var entryKinds = []accounting.EntryKind{
	accounting.ChargeEntry, accounting.ReplayEntry, accounting.NoteEntry,
	accounting.SetBudgetEntry, accounting.RemoveBudgetEntry, accounting.ResetBudgetEntry,
}

func (d *Dashboard) ledger(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	q := r.URL.Query()
	p := ledgerPage{Principal: q.Get("principal"), Account: q.Get("account"), Kind: q.Get("kind")}
	filter := accounting.Filter{Principal: p.Principal, Account: f.account(p.Account), Descending: true, Limit: pageEntries + 1}
	p.Kinds = append(p.Kinds, lists.Map(entryKinds, func(k accounting.EntryKind) string { return string(k) })...)
	if slices.Contains(p.Kinds, p.Kind) {
		filter.Kinds = []accounting.EntryKind{accounting.EntryKind(p.Kind)}
	}
	if n, err := strconv.ParseUint(q.Get("before"), 10, 64); err == nil {
		filter.BeforeID = n
	}
	p.Lacking = q.Get("lacking") != ""
	p.Filtered = p.Principal != "" || p.Account != "" || len(filter.Kinds) > 0 || p.Lacking
	if p.Lacking {
		list, before, err := f.lackingOf(filter, pageEntries)
		if p.List = list; before > 0 {
			p.Older = older(p, before)
		}
		return "ledger.html", p, err
	}
	var err error
	p.List, err = f.entries(filter)
	if len(p.List) > pageEntries {
		p.List = p.List[:pageEntries]
		p.Older = older(p, p.List[pageEntries-1].ID)
	}
	return "ledger.html", p, err
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
	Outcome, Remark string
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
	return lists.Map(list, f.charged), err
}

// account finds the account of a table's name; what is none is taken as an account.
func (f *facts) account(name string) string {
	for _, t := range f.tables {
		if t.Name == name && t.Account != "" {
			return t.Account
		}
	}
	return name
}

// older links to the entries before one.
func older(p ledgerPage, before uint64) string {
	q := url.Values{"before": {strconv.FormatUint(before, 10)}}
	for k, v := range map[string]string{"principal": p.Principal, "account": p.Account, "kind": p.Kind} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if p.Lacking {
		q.Set("lacking", "yes")
	}
	return "/ledger?" + q.Encode()
}

// charged makes the line of an entry. Statements are without their literals in the ledger; what an
// older one holds in full is shown without them, too.
func (f *facts) charged(e accounting.Entry) Charged {
	c := Charged{
		ID: e.ID, At: e.At, Principal: e.Principal, Link: "/analysts/" + segment(e.Principal), Kind: string(e.Kind),
		Mechanisms: e.Mechanisms, ReplayOf: e.ReplayOf,
	}
	switch e.Kind {
	case accounting.ChargeEntry:
		c.Statement, c.Outcome = clip(digest.Redact(e.Statement), keptStatement), e.Outcome.String()
		c.Remark = e.Remark
		for _, part := range e.Charges {
			// Every charge counts for its entity, too; that is of interest where the entity has a
			// budget.
			if !part.Entity || f.total(part.Account, true) != nil {
				c.Costs = append(c.Costs, f.cost(part))
			}
		}
	case accounting.ReplayEntry:
		c.Statement, c.Outcome = clip(digest.Redact(e.Statement), keptStatement), "replayed"
		for _, account := range e.Tables {
			c.Costs = append(c.Costs, Cost{On: f.name(account), Link: "/tables/" + segment(account)})
		}
	case accounting.NoteEntry:
		c.Statement, c.Outcome = clip(e.Text, keptStatement), e.NoteKind
	default:
		c.Statement = budgetChange(e)
		link, name := "/tables/"+segment(e.Budget.Account), f.name(e.Budget.Account)
		if e.Budget.Entity {
			link, name = "/entities/"+segment(e.Budget.Account), "entity "+e.Budget.Account
		}
		c.Costs = []Cost{{On: name, Link: link}}
	}
	return c
}

// budgetChange words a change of a budget.
func budgetChange(e accounting.Entry) string {
	b := e.Budget
	var s string
	switch e.Kind {
	case accounting.SetBudgetEntry:
		m := watch.MeasureOf(b)
		s = fmt.Sprintf("budget of %s: %s %s, δ %s, window %s", b.Principal, m.Unit, number(m.Limit), number(float64(b.Delta)), b.Window)
	case accounting.RemoveBudgetEntry:
		s = "budget of " + b.Principal + " removed"
	case accounting.ResetBudgetEntry:
		s = "budget of " + b.Principal + " reset: its spending begins anew"
	default:
		s = strings.ReplaceAll(string(e.Kind), "-", " ")
	}
	if b.Reason != "" {
		s += " (" + b.Reason + ")"
	}
	return s
}

// cost shows a charge in the unit of the account's total budget, in ρ where there is none.
func (f *facts) cost(part accounting.EntryCharge) Cost {
	c := Cost{On: f.name(part.Account), Link: "/tables/" + segment(part.Account), Unit: watch.Rho, Amount: part.Loss.Rho.Float()}
	if part.Entity {
		c.On, c.Link = "entity "+part.Account, "/entities/"+segment(part.Account)
	}
	if b := f.total(part.Account, part.Entity); b != nil {
		m := watch.MeasureOf(b.Budget)
		c.Unit, c.Amount = m.Unit, m.Of(part.Loss)
	}
	c.Left = float64(part.RemainingAll())
	for _, l := range part.Left {
		if l.Scope == budget.All && c.Unit == watch.Rho {
			c.Left = l.Rho.Float()
		}
	}
	return c
}

// Lacking counts the answers that were charged lately, and those of them that were empty or NULL.
type Lacking struct {
	Count, Of int
	More      bool // than were looked at
}

// maxLooked bounds the charges that are looked at for answers that were empty or NULL.
const maxLooked = 2_000

// lacks reports whether the answer that a charge paid for was empty or NULL. The remark in the
// ledger follows from released numbers.
func lacks(e *accounting.Entry) bool { return remark.Lacks(e.Remark) }

// lacking counts them since a moment.
func (f *facts) lacking(since time.Time) (l Lacking, err error) {
	list, err := f.d.o.Ledger.Entries(f.ctx, accounting.Filter{
		Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Since: since, Descending: true, Limit: maxLooked,
	})
	for i := range list {
		if lacks(&list[i]) {
			l.Count++
		}
	}
	l.Of, l.More = len(list), len(list) == maxLooked
	return l, err
}

// lackingOf returns the latest such entries of a filter, and the entry before which it stopped to
// look, 0 where there are no more.
func (f *facts) lackingOf(filter accounting.Filter, limit int) (out []Charged, before uint64, err error) {
	filter.Kinds, filter.Limit = []accounting.EntryKind{accounting.ChargeEntry}, maxLooked
	list, err := f.d.o.Ledger.Entries(f.ctx, filter)
	for i := range list {
		if !lacks(&list[i]) {
			continue
		}
		if len(out) == limit {
			return out, out[limit-1].ID, err
		}
		out = append(out, f.charged(list[i]))
	}
	if len(list) == maxLooked {
		before = list[len(list)-1].ID
	}
	return out, before, err
}
