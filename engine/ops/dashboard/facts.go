package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/internal/lists"
)

// facts are the budgets and the policies at one moment, for one page.
type facts struct {
	d      *Dashboard
	ctx    context.Context
	now    time.Time
	status accounting.Status
	tables []catalog.Table
	names  map[string][]string // of tables by account, sorted
	totals map[account]*accounting.BudgetStatus
}

// facts reads where the budgets stand and what the tables are declared to be.
func (d *Dashboard) facts(ctx context.Context) (*facts, error) {
	f := &facts{d: d, ctx: ctx, now: d.o.Now().UTC(), tables: d.o.Catalog().All(), names: Names(d.o.Catalog())}
	var err error
	f.status, err = d.o.Ledger.Status(Entities(d.o.Catalog()))
	f.totals = map[account]*accounting.BudgetStatus{}
	for i := range f.status.Budgets {
		if b := &f.status.Budgets[i]; b.Holder == budget.All {
			f.totals[accountOf(b)] = b
		}
	}
	return f, err
}

// Names returns the names that the tables of each account have, sorted.
func Names(s *catalog.Snapshot) map[string][]string {
	names := map[string][]string{}
	for _, t := range s.All() {
		if t.Account != "" {
			names[t.Account] = append(names[t.Account], t.Name)
		}
	}
	for _, list := range names {
		slices.Sort(list)
	}
	return names
}

// Entities returns the entities of each account that a protected table has.
func Entities(s *catalog.Snapshot) map[string][]string {
	of := map[string][]string{}
	for _, t := range s.All() {
		for _, o := range t.Owners() {
			if !slices.Contains(of[t.Account], o.Entity) {
				of[t.Account] = append(of[t.Account], o.Entity)
			}
		}
	}
	return of
}

// name shows an account by the tables that have it now.
func (f *facts) name(account string) string {
	if list := f.names[account]; len(list) > 0 {
		return strings.Join(list, ", ")
	}
	return account
}

// Line is a budget with its burn-down, as pages show it.
type Line struct {
	ID    string // of its part of the page
	Title string
	Link  string // to the page about it; "" on that page
	Whose string
	// Questions is how many statements at the default loss are left; nil where it is not known.
	Questions *int
	*Burn
}

// Chart draws the burn-down at the width of a card, Large at that of a page.
func (l Line) Chart() *Chart { return burnChart(l.Burn, false) }

// Large draws it at the width of a page.
func (l Line) Large() *Chart { return burnChart(l.Burn, true) }

// Periods says which period the line is of, where each has the budget by itself.
func (l Line) Periods() string {
	n := len(l.Budget.Blocks)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Each period has this budget by itself. This is the one with the least left, of %d stretches that have spent differently.", n)
}

// Stretch is what some periods, one after the other, have each spent of a budget.
type Stretch struct {
	Days              string
	Spent, Left, Part float64
}

// maxStretches bounds the stretches that a page shows, the last ones.
const maxStretches = 24

// Stretches are what each period has spent, where each has the budget by itself.
func (l Line) Stretches() (list []Stretch) {
	for _, x := range l.Budget.Blocks[max(0, len(l.Budget.Blocks)-maxStretches):] {
		spent := l.Measure.Spent(&accounting.BudgetStatus{Spent: x.Spent, SpentEpsilon: x.SpentEpsilon})
		list = append(list, Stretch{x.Span.String(), spent, max(0, l.Measure.Limit-spent), l.Measure.Share(spent)})
	}
	return list
}

// MoreStretches is how many come before these.
func (l Line) MoreStretches() int { return max(0, len(l.Budget.Blocks)-maxStretches) }

// line makes the burn-down of a line of the status.
func (f *facts) line(b accounting.BudgetStatus) (Line, error) {
	burn, err := f.burn(b)
	l := Line{ID: identifier(b), Title: f.name(b.Account), Link: "/tables/" + segment(b.Account), Whose: whose(b), Burn: burn}
	if b.Entity {
		name, persons := budget.OfPersons(b.Account)
		if !persons {
			name = b.Account
		}
		l.Title, l.Link = "entity "+b.Account, "/entities/"+segment(name)
	}
	if f.d.o.DefaultLoss != nil {
		if n, ok := f.status.Questions(&b, f.d.o.DefaultLoss); ok {
			l.Questions = &n
		}
	}
	return l, err
}

// identifier names a budget's part of a page: the same at each refresh.
func identifier(b accounting.BudgetStatus) string {
	kind := "t"
	if b.Entity {
		kind = "e"
	}
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}
	return "b-" + kind + "-" + strings.Map(clean, b.Account+"-"+b.Principal+"-"+b.Holder)
}

// whose words whom a budget caps.
func whose(b accounting.BudgetStatus) string {
	switch {
	case b.Holder == budget.All:
		return "all principals together"
	case b.Holder == budget.Default:
		return "each principal without a budget of their own"
	case strings.HasPrefix(b.Holder, budget.RolePrefix):
		return "the role " + strings.TrimPrefix(b.Holder, budget.RolePrefix) + ", all members together"
	case b.Principal == budget.Default:
		return b.Holder + ", by the default budget"
	}
	return b.Holder
}

// burn reads what the burn-down of a budget needs.
func (f *facts) burn(b accounting.BudgetStatus) (*Burn, error) {
	from := b.WindowStart
	if b.WindowEnd.IsZero() {
		from = f.now.Add(-lookBack)
	}
	var days []accounting.DaySpent
	if len(b.Blocks) == 0 { // a day's spending is of all periods together, which no budget is of
		days = f.d.o.Ledger.Burndown(b.Account, b.Entity, b.Holder, from, f.now)
	}
	resets, err := f.resets(b, from)
	if err != nil {
		return nil, err
	}
	var points []Point
	if b.Window == budget.Day {
		if points, err = f.today(b, resets); err != nil {
			return nil, err
		}
	}
	return burnOf(b, days, points, resets, f.now), nil
}

// maxResets bounds the resets that a chart shows: the last ones count.
const maxResets = 100

// resets are when a budget was reset since then, the earliest first.
func (f *facts) resets(b accounting.BudgetStatus, since time.Time) ([]time.Time, error) {
	list, err := f.d.o.Ledger.Entries(f.ctx, accounting.Filter{
		Account: b.Account, Kinds: []accounting.EntryKind{accounting.ResetBudgetEntry}, Since: since, Descending: true, Limit: maxResets,
	})
	var at []time.Time
	for _, e := range list {
		if e.Budget.Entity == b.Entity && (e.Budget.Principal == b.Principal || e.Budget.Principal == b.Holder) {
			at = append(at, e.At)
		}
	}
	slices.Reverse(at)
	return at, err
}

// maxToday bounds the charges that the chart of a day shows one by one.
const maxToday = 500

// today are the steps of a budget's day. Where they are too many, the first ones are left out: the
// line then begins at their sum.
func (f *facts) today(b accounting.BudgetStatus, resets []time.Time) ([]Point, error) {
	filter := accounting.Filter{
		Account: b.Account, Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Since: b.WindowStart, Limit: maxToday,
	}
	if len(resets) > 0 {
		filter.Since = resets[len(resets)-1]
	}
	role, ofRole := strings.CutPrefix(b.Holder, budget.RolePrefix)
	if b.Holder != budget.All && !ofRole {
		filter.Principal = b.Holder
	}
	list, err := f.d.o.Ledger.Entries(f.ctx, filter)
	if err != nil {
		return nil, err
	}
	points := []Point{{filter.Since, 0}}
	var sum privacy.Loss
	for _, e := range list {
		if ofRole && !slices.Contains(e.Roles, role) {
			continue
		}
		before := points[len(points)-1].Amount
		for _, c := range e.Charges {
			if c.Account == b.Account && c.Entity == b.Entity && c.Since < e.Day {
				sum = sum.Add(c.Loss)
			}
		}
		points = append(points, Point{e.At, before}, Point{e.At, measureOf(b, sum)})
	}
	return points, nil
}

// lines makes the burn-downs that keep accepts, the most pressing first, at most limit.
func (f *facts) lines(limit int, keep func(*accounting.BudgetStatus) bool) (list []Line, more int, err error) {
	var chosen []accounting.BudgetStatus
	for i := range f.status.Budgets {
		if b := &f.status.Budgets[i]; keep(b) {
			chosen = append(chosen, *b)
		}
	}
	slices.SortStableFunc(chosen, func(a, b accounting.BudgetStatus) int { return cmp.Compare(share(&b), share(&a)) })
	if len(chosen) > limit {
		chosen, more = chosen[:limit], len(chosen)-limit
	}
	for _, b := range chosen {
		l, err := f.line(b)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, l)
	}
	rank := map[Level]int{UsedUp: 0, Pressed: 1, Fine: 2, Unused: 3}
	slices.SortStableFunc(list, func(a, b Line) int { return cmp.Compare(rank[a.Level], rank[b.Level]) })
	return list, more, nil
}

// closed are the protected tables without a budget of all principals: they refuse every query.
func (f *facts) closed() []catalog.Table {
	return lists.Filter(f.tables, func(t catalog.Table) bool { return t.State == catalog.Protected && f.total(t.Account, false) == nil })
}

// total is the line of an account's budget of all principals, nil where there is none.
func (f *facts) total(name string, entity bool) *accounting.BudgetStatus {
	return f.totals[account{name, entity}]
}
