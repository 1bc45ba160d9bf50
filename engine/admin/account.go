package admin

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
)

// budgets makes dp.budgets. A DBA sees every budget with its spending, and for each entity the bound
// on one person over all its tables. An analyst sees one line for each account on which they have a
// budget of their own or the default one.
func (a *Admin) budgets(ctx *sql.Context) ([]sql.Row, error) {
	who, dba := a.o.Principal(ctx), a.o.IsDBA(ctx)
	if who == "" {
		return nil, nil
	}
	st, err := a.o.Ledger.Status(entities(a.o.Catalog.Snapshot()))
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	if !dba {
		for _, b := range visible(st.Budgets, who) {
			out = append(out, budgetRow(b))
		}
		return out, nil
	}
	for _, b := range st.Budgets {
		out = append(out, budgetRow(b))
	}
	for _, e := range st.Entities {
		out = append(out, entityRow(e))
	}
	return out, nil
}

// visible picks what an analyst may see: the budgets whose spending is theirs alone. On an account
// with a default budget from which they have not spent, the default's line stands for them.
func visible(all []accounting.BudgetStatus, who string) []accounting.BudgetStatus {
	type account struct {
		name   string
		entity bool
	}
	own := map[account]bool{}
	for _, b := range all {
		if b.Holder == who {
			own[account{b.Account, b.Entity}] = true
		}
	}
	var out []accounting.BudgetStatus
	for _, b := range all {
		if b.Holder == accounting.Default && !own[account{b.Account, b.Entity}] {
			b.Holder = who
		}
		if b.Holder == who {
			b.SetBy = ""
			out = append(out, b)
		}
	}
	return out
}

func budgetRow(b accounting.BudgetStatus) sql.Row {
	return sql.Row{
		accountType(b.Entity), b.Account, b.Principal, b.Holder,
		float64(b.Epsilon), float64(b.Delta), string(b.Window),
		b.Spent.Rho.Float(), slack(b.Spent), pure(b.Spent), finite(float64(b.SpentEpsilon)),
		finite(float64(b.Remaining)), b.RemainingRho.Float(),
		instant(b.WindowStart), instant(b.WindowEnd), orNull(b.SetBy), nil,
	}
}

// entityRow shows what bounds the loss of one person of an entity.
func entityRow(e accounting.EntityStatus) sql.Row {
	remark := "sum of the '*' budgets of " + strings.Join(e.Tables, ", ")
	if e.Capped {
		remark = "capped by the budget of the entity; tables: " + strings.Join(e.Tables, ", ")
	}
	if len(e.Closed) > 0 {
		remark += "; without a '*' budget, so closed: " + strings.Join(e.Closed, ", ")
	}
	if e.Window == "" {
		remark += "; the windows differ"
	}
	return sql.Row{
		"entity sum", e.Entity, nil, accounting.All,
		float64(e.Epsilon), float64(e.Delta), orNull(string(e.Window)),
		e.Spent.Rho.Float(), slack(e.Spent), pure(e.Spent), finite(float64(accounting.EpsilonOf(e.Spent, e.Delta))),
		nil, nil, nil, nil, nil, remark,
	}
}

// ledgerPage is how many entries are read from the ledger at a time.
const ledgerPage = 1000

// ledger makes dp.ledger: one line for each account that a statement was charged to, and one for each
// note and each change of a budget. An analyst sees their own. The cost in ε is that of the charge by
// itself, at the δ that the account's budget has now; charges add up in ρ, not in ε.
func (a *Admin) ledger(ctx *sql.Context) func() ([]sql.Row, error) {
	who, dba := a.o.Principal(ctx), a.o.IsDBA(ctx)
	f := accounting.Filter{Limit: ledgerPage}
	if !dba {
		f.Principal = who
	}
	price := prices(a.o.Ledger.Budgets())
	return func() ([]sql.Row, error) {
		if who == "" {
			return nil, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list, err := a.o.Ledger.Entries(ctx, f)
		if err != nil {
			return nil, err
		}
		var out []sql.Row
		for _, e := range list {
			f.AfterID = e.ID
			out = append(out, ledgerRows(e, dba, price)...)
		}
		return out, nil
	}
}

// prices returns a function that gives the ε of a charge at the δ of its account's budget of all
// principals; nil where there is none.
func prices(budgets []accounting.Budget) func(accounting.Charge) any {
	type account struct {
		name   string
		entity bool
	}
	type offer struct {
		loss  accounting.Loss
		delta accounting.Delta
	}
	deltas, known := map[account]accounting.Delta{}, map[offer]any{}
	for _, b := range budgets {
		if b.Principal == accounting.All {
			deltas[account{b.Account, b.Entity}] = b.Delta
		}
	}
	return func(c accounting.Charge) any {
		delta, ok := deltas[account{c.Account, c.Entity}]
		if !ok {
			return nil
		}
		o := offer{c.Loss, delta}
		if _, ok := known[o]; !ok {
			known[o] = finite(float64(accounting.EpsilonOf(c.Loss, delta)))
		}
		return known[o]
	}
}

func ledgerRows(e accounting.Entry, dba bool, price func(accounting.Charge) any) []sql.Row {
	line := func(columns ...any) sql.Row {
		return append(sql.Row{int64(e.ID), instant(e.At), e.Principal, string(e.Kind)}, columns...)
	}
	b := e.Budget
	switch e.Kind {
	case accounting.ChargeEntry:
		var out []sql.Row
		for _, c := range e.Charges {
			var total any
			if dba {
				total = finite(float64(c.RemainingAll()))
			}
			out = append(out, line(e.Statement, orNull(e.Mechanisms), accountType(c.Entity), c.Account, orNull(c.Table),
				c.Loss.Rho.Float(), slack(c.Loss), pure(c.Loss), price(c.Charge), finite(float64(c.RemainingOwn())), total, e.Outcome.String()))
		}
		return out
	case accounting.NoteEntry:
		return []sql.Row{line(e.Text, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, e.NoteKind)}
	case accounting.SetBudgetEntry:
		what := fmt.Sprintf("budget of %s: epsilon %v, delta %v, window %s", b.Principal, float64(b.Epsilon), float64(b.Delta), b.Window)
		return []sql.Row{line(what, nil, accountType(b.Entity), b.Account, nil, nil, nil, nil, nil, nil, nil, nil)}
	}
	return []sql.Row{line("budget of "+b.Principal+" removed", nil, accountType(b.Entity), b.Account, nil, nil, nil, nil, nil, nil, nil, nil)}
}

func accountType(entity bool) string {
	if entity {
		return "entity"
	}
	return "table"
}

// slack shows both kinds of δ of a loss as one number; the conversion to ε treats them apart.
func slack(l accounting.Loss) float64 { return l.DeltaEvent + l.DeltaTV }

// pure shows the pure ε of a loss, NULL where it has none.
func pure(l accounting.Loss) any {
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
