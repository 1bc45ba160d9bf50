package admin

import (
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/engine/store"
	"scrim/engine/views"
	"scrim/planner/plan"
)

// Schedules are the schedules of views and series; *views.Schedules are them.
type Schedules interface {
	Set(ctx *sql.Context, ref store.TableRef, e views.Every) error
	// Of returns a schedule, nil for none, and when it is due next; zero where it is not.
	Of(ref store.TableRef) (*views.Schedule, time.Time, error)
	// Life is that of the data directory, by which schedules are due.
	Life() string
	// Rests reports whether a schedule was set in another life of the data directory.
	Rests(*views.Schedule) bool
	// Statement is what a refresh would charge for now; nil for a series.
	Statement(ctx *sql.Context, ref store.TableRef) (*plan.Statement, error)
}

// scheduleColumns are those of a schedule in dp.views and dp.continual.
var scheduleColumns = []column{text("schedule"), text("scheduled_by"), moment("next_at"), moment("tried_at"), text("outcome")}

var scheduleProcedure = procedure{Procedure: Procedure{"dp_schedule", "dp_schedule(name, 'daily' | 'weekly' | 'monthly' | 'never')",
	"Has the server refresh a DP view, or release the days of a series, by itself, at 02:00 by UTC of each day, of Mondays, or of the first of the month; never ends that. A refresh is made and charged as dp_refresh_view does it for the account that calls this, within its budgets and rights as they are then; the days of a series cost what dp_continue says. Returns, for each budget that a refresh touches, what one costs, how many more the present window has room for, and how many are due in it.",
	"CALL dp_schedule('shop.sales', 'weekly')"},
	min: 2, max: 2, result: []column{text("table_name"), text("schedule"), moment("next_at"), text("budget_of"), text("principal"), text("budget_window"),
		real("cost_rho"), real("cost_epsilon"), count("refreshes_left"), count("refreshes_due"), text("remark")},
	run: ofView((*Admin).schedule)}

func (a *Admin) schedule(ctx *sql.Context, ref store.TableRef, more []string) ([]sql.Row, error) {
	e, err := views.ParseEvery(more[0])
	if err != nil {
		return nil, err
	}
	var forecasts []accounting.Forecast
	if e != "" {
		st, err := a.o.Schedules.Statement(ctx, ref)
		if err == nil && st != nil {
			forecasts, err = a.o.Forecast(ctx, st)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := a.o.Schedules.Set(ctx, ref, e); err != nil {
		return nil, err
	}
	_, next, err := a.o.Schedules.Of(ref)
	if err != nil {
		return nil, err
	}
	told := orNull(string(e))
	if e == "" {
		told = "never"
	}
	line := sql.Row{ref.String(), told, instant(next), nil, nil, nil, nil, nil, nil, nil, nil}
	var out []sql.Row
	for _, f := range forecasts {
		row := slices.Clone(line)
		row[3], row[4], row[5] = f.Table, orNull(f.Holder), orNull(string(f.Budget.Window))
		if f.Entity {
			row[3] = entityPrefix + f.Account
		}
		if f.Missing {
			row[10] = "no '*' budget: every refresh is refused"
			out = append(out, row)
			continue
		}
		row[6], row[7], row[8] = f.CostRho.Float(), finite(float64(f.Cost)), int64(f.Queries)
		if end := f.Budget.Window.End(budget.DateOf(time.Now())); !end.IsZero() {
			n := e.Times(time.Now(), end)
			if row[9] = int64(n); n > f.Queries {
				row[10] = "not all refreshes of this window fit: those that do not are not made, and the view stays as it is"
			}
		} else {
			row[10] = "the budget is never refilled: refreshes end when it is used up"
		}
		out = append(out, row)
	}
	if len(out) == 0 {
		out = []sql.Row{line}
	}
	return out, nil
}

// scheduleCells are the cells of scheduleColumns, for a schedule that is due next then, both of the
// record that is shown: one that is read for itself may be of after a refresh. Why something was
// not done may tell what others have spent, so it is for those who see all budgets.
func (a *Admin) scheduleCells(ctx *sql.Context, s *views.Schedule, next time.Time) sql.Row {
	row := make(sql.Row, len(scheduleColumns))
	if s == nil {
		row[0] = "never"
		return row
	}
	row[0], row[1], row[2], row[3] = string(s.Every), s.By, instant(next), instant(s.Tried)
	switch {
	case a.o.Schedules.Rests(s):
		row[4] = "rests: the data directory was copied, moved or restored since the schedule was set"
	case s.Tried.IsZero():
	case s.Problem == "":
		row[4] = "done"
	case a.seesAll(ctx):
		row[4] = "not done: " + s.Problem
	default:
		row[4] = "not done"
	}
	return row
}

// scheduledCharge is what the refreshes of one view charge an account, each; or a series once in a
// window.
type scheduledCharge struct {
	*views.Schedule
	charges []accounting.EntryCharge
	roles   []string    // whose budgets it counts for, too
	last    budget.Date // of a series: when it was charged last
}

// scheduledCharges lists what schedules charge, as the last release of each view was charged, and
// each series that goes on.
func (a *Admin) scheduledCharges(ctx *sql.Context) ([]scheduledCharge, error) {
	if a.o.Schedules == nil || a.o.Views == nil {
		return nil, nil
	}
	list, err := a.o.Views.List(ctx)
	if err != nil {
		return nil, err
	}
	roles := map[string][]string{}
	if a.o.Accounts != nil {
		for _, x := range a.o.Accounts() {
			roles[x.Name] = x.Roles
		}
	}
	var out []scheduledCharge
	for _, r := range list {
		if r.Schedule == nil || r.Charge == 0 || a.o.Schedules.Rests(r.Schedule) {
			continue
		}
		entries, err := a.o.Ledger.Entries(ctx, accounting.Filter{AfterID: r.Charge - 1, BeforeID: r.Charge + 1})
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			out = append(out, scheduledCharge{r.Schedule, e.Charges, roles[r.Schedule.By], 0})
		}
	}
	series, err := a.o.Totals.List(ctx)
	for _, r := range series {
		_, next, err := a.o.Schedules.Of(r.Ref())
		if e, ended := a.o.Ledger.Renewed(ctx, r.Charge); err == nil && ended == nil && !next.IsZero() {
			out = append(out, scheduledCharge{&views.Schedule{Every: r.Schedule.Every, By: e.Principal, Done: r.Schedule.Done}, e.Charges, e.Roles, e.Day})
		}
	}
	return out, err
}

// scheduledOn is how many refreshes are due of views that a budget caps before its window ends, and
// series that do not count in it yet, and their ρ in all; nothing for one that is never refilled.
func scheduledOn(b accounting.BudgetStatus, list []scheduledCharge) (refreshes, rho any) {
	if b.WindowEnd.IsZero() {
		return nil, nil
	}
	n, sum := 0, 0.0
	for _, s := range list {
		if b.Holder != budget.All && b.Holder != s.By && !slices.ContainsFunc(s.roles, func(role string) bool { return b.Holder == budget.RolePrefix+role }) {
			continue
		}
		for _, c := range s.charges {
			if c.Account == b.Account && c.Entity == b.Entity {
				due := s.Every.Times(s.Done, b.WindowEnd)
				if s.last >= budget.DateOf(b.WindowStart) {
					due = 0 // it counts already
				} else if s.last > 0 {
					due = min(due, 1)
				}
				n, sum = n+due, sum+float64(due)*c.Loss.Rho.Float()
			}
		}
	}
	return int64(n), sum
}
