package admin

import (
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/internal/lists"
)

// budgets makes dp.budgets. A DBA and an auditor see every budget with its spending, and for each
// entity the bound on one person over all its tables. An analyst sees one line for each account on
// which they have a budget of their own or the default one.
func (a *Admin) budgets(ctx *sql.Context) ([]sql.Row, error) {
	who := a.o.Principal(ctx)
	if who == "" {
		return nil, nil
	}
	policies := a.o.Catalog.Snapshot()
	st, err := a.o.Ledger.Status(entities(policies))
	if err != nil {
		return nil, err
	}
	scheduled, err := a.scheduledCharges(ctx)
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	if !a.seesAll(ctx) {
		for _, b := range visible(st.Budgets, who) {
			out = append(out, a.budgetRow(&st, b, scheduled))
		}
		return out, nil
	}
	out = append(out, lists.Map(st.Budgets, func(b accounting.BudgetStatus) sql.Row { return a.budgetRow(&st, b, scheduled) })...)
	for _, e := range st.Entities {
		every := policies.PeriodsOf(e.Entity)
		out = append(out, entityRow(e, every))
		if every != "" {
			out = append(out, personRow(e, every))
		}
	}
	return out, nil
}

// visible picks what an analyst may see: the budgets whose spending is theirs alone. On an account
// with a default budget from which they have not spent, the default's line stands for them.
func visible(all []accounting.BudgetStatus, who string) []accounting.BudgetStatus {
	own := map[account]bool{}
	for _, b := range all {
		if b.Holder == who {
			own[account{b.Account, b.Entity}] = true
		}
	}
	var out []accounting.BudgetStatus
	for _, b := range all {
		if b.Holder == budget.Default && !own[account{b.Account, b.Entity}] {
			b.Holder = who
		}
		if b.Holder == who {
			b.SetBy, b.Reason = "", ""
			out = append(out, b)
		}
	}
	return out
}

// account names a table's or an entity's account.
type account struct {
	name   string
	entity bool
}

// budgetRow shows a budget. What is spent is shown as the least of several valid ε; what remains is
// what the next charge is granted, and as a number of statements at the default loss.
func (a *Admin) budgetRow(st *accounting.Status, b accounting.BudgetStatus, scheduled []scheduledCharge) sql.Row {
	row := sql.Row{
		accountType(b.Account, b.Entity), b.Account, b.Principal, b.Holder,
		epsilonLimit(b.Epsilon, b.Rho), orNull(b.Rho.Float()), float64(b.Delta), string(b.Window),
		b.Spent.Rho.Float(), slack(b.Spent), pure(b.Spent), nil, nil,
		nil, b.RemainingRho.Float(),
		instant(b.WindowStart), instant(b.WindowEnd), orNull(b.SetBy), instant(b.SetAt), orNull(b.Reason), nil,
		nil, orNull(b.Order), nil, b.Kind(), nil, nil,
	}
	row[25], row[26] = scheduledOn(b, scheduled)
	row[11], row[12] = best(b.Spent, b.SpentCurve, b.Delta)
	if b.Rho == 0 {
		row[13], row[21] = finite(float64(b.Remaining)), b.RemainingPure.Float()
	}
	if a.o.DefaultLoss != nil {
		if n, ok := st.Questions(&b, a.o.DefaultLoss); ok {
			row[23] = int64(n)
		}
	}
	return row
}

func epsilonLimit(e privacy.Epsilon, r privacy.Rho) any {
	if r > 0 {
		return nil
	}
	return float64(e)
}

// best shows a loss as the least ε of several conversions that all hold, at a δ, and which one gave
// it; nothing where no ε does.
func best(l privacy.Loss, c privacy.Curve, delta privacy.Delta) (epsilon, conversion any) {
	e, by := privacy.BestEpsilon(l, c, delta)
	if epsilon = finite(float64(e)); epsilon != nil {
		conversion = string(by)
	}
	return epsilon, conversion
}

// accountType says whose loss an account is of: of the persons of a table, or of an entity, by
// period where the entity has periods; or of its persons over all periods.
func accountType(account string, entity bool) string {
	_, persons := budget.OfPersons(account)
	switch {
	case entity && persons:
		return "person"
	case entity:
		return "entity"
	}
	return "table"
}

// slack shows both kinds of δ of a loss as one number; the conversion to ε treats them apart.
func slack(l privacy.Loss) float64 { return l.DeltaEvent + l.DeltaTV }

// pure shows the pure ε of a loss, NULL where it has none.
func pure(l privacy.Loss) any {
	if !l.IsPure() {
		return nil
	}
	return l.Pure.Float()
}

// finite returns nil, SQL NULL, for NaN and infinities, which MySQL cannot show.
func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}

func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// periodsColumns are the columns of dp.periods.
var periodsColumns = []column{
	text("account_type"), text("account"), text("budget"), text("principal"),
	text("first_day"), text("last_day"), count("periods"), real("spent_rho"), real("spent_epsilon"), real("remaining_epsilon"), real("remaining_rho"),
}

// periods makes dp.periods: where each budget stands on each block, of those on which something was
// charged to some periods only, in stretches of days with one spending; and where those over all
// periods stand, with neither day. Who sees a line of
// dp.budgets sees its blocks.
func (a *Admin) periods(ctx *sql.Context) ([]sql.Row, error) {
	who := a.o.Principal(ctx)
	if who == "" {
		return nil, nil
	}
	st, err := a.o.Ledger.Status(nil)
	if err != nil {
		return nil, err
	}
	list := st.Budgets
	if !a.seesAll(ctx) {
		list = visible(list, who)
	}
	every := a.periodOf()
	var out []sql.Row
	for i := range list {
		b := &list[i]
		if accountType(b.Account, b.Entity) == "person" {
			all := accounting.BlocksStatus{Span: (*days.Span)(nil).All(), Spent: b.Spent, SpentEpsilon: b.SpentEpsilon, Remaining: b.Remaining, RemainingRho: b.RemainingRho}
			out = append(out, periodRow(b, &all, ""))
		}
		for j := range b.Blocks {
			out = append(out, periodRow(b, &b.Blocks[j], every[account{b.Account, b.Entity}]))
		}
	}
	return out, nil
}

// periodOf returns the length of the periods of each account that has some.
func (a *Admin) periodOf() map[account]string {
	policies := a.o.Catalog.Snapshot()
	every := map[account]string{}
	for _, t := range policies.All() {
		every[account{t.Account, false}] = policies.PeriodsOf(t.Entity)
		every[account{t.Entity, true}] = policies.PeriodsOf(t.Entity)
	}
	return every
}

func periodRow(b *accounting.BudgetStatus, x *accounting.BlocksStatus, every string) sql.Row {
	first, last := x.Dates()
	var n any
	if first != "" && last != "" && every != "" {
		n = catalog.CountPeriods(every, x.First.Time(), x.Last.Time())
	}
	row := sql.Row{
		accountType(b.Account, b.Entity), b.Account, b.Principal, b.Holder, orNull(first), orNull(last), n,
		x.Spent.Rho.Float(), finite(float64(x.SpentEpsilon)), nil, x.RemainingRho.Float(),
	}
	if b.Rho == 0 {
		row[9] = finite(float64(x.Remaining))
	}
	return row
}

// entityRow shows an entity's bound, for one period where its units are of one, and everything that
// was ever spent on its tables.
func entityRow(e accounting.EntityStatus, every string) sql.Row {
	remark := "sum of the '*' budgets of " + strings.Join(e.Tables, ", ")
	if e.Capped {
		remark = "capped by the budget of the entity; tables: " + strings.Join(e.Tables, ", ")
	}
	if len(e.Closed) > 0 {
		remark += "; without a '*' budget, so closed: " + strings.Join(e.Closed, ", ")
	}
	if e.Window == "" && len(e.Closed) < len(e.Tables) {
		remark += "; the windows differ"
	}
	if every != "" {
		remark += "; for one person's rows of one " + every
	}
	epsilon, conversion := best(e.Spent, e.SpentCurve, e.Beside())
	return sql.Row{
		"entity sum", e.Entity, nil, budget.All,
		epsilonLimit(e.Epsilon, e.Rho), orNull(e.Rho.Float()), float64(e.Beside()), orNull(string(e.Window)),
		e.Spent.Rho.Float(), slack(e.Spent), pure(e.Spent), epsilon, conversion,
		nil, nil, nil, nil, nil, nil, nil, remark,
		nil, nil, nil, nil, nil, nil,
	}
}

// personRow shows what one person of an entity may have lost over all periods by everything that
// was ever asked.
func personRow(e accounting.EntityStatus, every string) sql.Row {
	remark := "what one person may have lost over all periods by everything ever asked: a statement on n periods of a " + every + " counts for n² times its rho, or n times its pure epsilon"
	if e.OfPersons.DeltaEvent >= 1 {
		remark += "; statements without a first and a last day, or with private keys over several periods, have no bound"
	}
	epsilon, conversion := best(e.OfPersons, e.OfPersonsCurve, e.Beside())
	return sql.Row{
		"person sum", budget.OverPeriods(e.Entity), nil, budget.All,
		nil, nil, float64(e.Beside()), nil,
		e.OfPersons.Rho.Float(), slack(e.OfPersons), pure(e.OfPersons), epsilon, conversion,
		nil, nil, nil, nil, nil, nil, nil, remark,
		nil, nil, nil, nil, nil, nil,
	}
}
