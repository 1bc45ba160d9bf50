package admin

import (
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// budgets makes dp.budgets. A DBA and an auditor see every budget with its spending, and for each
// entity the bound on one person over all its tables. An analyst sees one line for each account on
// which they have a budget of their own or the default one.
func (a *Admin) budgets(ctx *sql.Context) ([]sql.Row, error) {
	who := a.o.Principal(ctx)
	if who == "" {
		return nil, nil
	}
	st, err := a.o.Ledger.Status(entities(a.o.Catalog.Snapshot()))
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	if !a.seesAll(ctx) {
		for _, b := range visible(st.Budgets, who) {
			out = append(out, a.budgetRow(&st, b))
		}
		return out, nil
	}
	for _, b := range st.Budgets {
		out = append(out, a.budgetRow(&st, b))
	}
	for _, e := range st.Entities {
		out = append(out, entityRow(e))
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
func (a *Admin) budgetRow(st *accounting.Status, b accounting.BudgetStatus) sql.Row {
	row := sql.Row{
		accountType(b.Entity), b.Account, b.Principal, b.Holder,
		epsilonLimit(b.Epsilon, b.Rho), rhoLimit(b.Rho), float64(b.Delta), string(b.Window),
		b.Spent.Rho.Float(), slack(b.Spent), pure(b.Spent), nil, nil,
		nil, b.RemainingRho.Float(),
		instant(b.WindowStart), instant(b.WindowEnd), orNull(b.SetBy), instant(b.SetAt), orNull(b.Reason), nil,
		nil, nil, nil, b.Kind(),
	}
	row[11], row[12] = spentEpsilon(b)
	if b.Rho == 0 {
		row[13], row[21] = finite(float64(b.Remaining)), b.RemainingPure.Float()
	}
	if b.Order > 0 {
		row[22] = b.Order
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

func rhoLimit(r privacy.Rho) any {
	if r == 0 {
		return nil
	}
	return r.Float()
}

// spentEpsilon shows a loss as the least ε of several conversions that all hold, at a budget's δ,
// and which one gave it; nothing where no ε does.
func spentEpsilon(b accounting.BudgetStatus) (epsilon, conversion any) {
	return best(b.Spent, b.SpentCurve, b.Delta)
}

func best(l privacy.Loss, c privacy.Curve, delta privacy.Delta) (epsilon, conversion any) {
	e, by := privacy.BestEpsilon(l, c, delta)
	if epsilon = finite(float64(e)); epsilon != nil {
		conversion = string(by)
	}
	return epsilon, conversion
}

func accountType(entity bool) string {
	if entity {
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
