package dashboard

import (
	"context"
	"strings"
	"testing"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/catalog"
	"scrim/test/testenv/browser"
)

// datedSchema has dates in every column.
type datedSchema struct{ anySchema }

func (datedSchema) ColumnType(_, _ string) string { return "DATE" }

// byMonth adds a table by month, with a budget for each month of which some have spent, and one on
// what a person loses over all of them, where capped says so.
func (f *fixture) byMonth(capped bool) {
	f.t.Helper()
	ctx := context.Background()
	f.must(f.policies.ProtectPeriods(datedSchema{}, "bike.trips", "rider", "rider", catalog.Period{Every: "month", Of: "started"}))
	f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: "bike.trips", Principal: budget.All, Epsilon: 4, Delta: 1e-6, Window: budget.Never, SetBy: "root@%"}))
	f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: "rider", Entity: true, Principal: budget.All, Epsilon: 4, Delta: 1e-6, Window: budget.Never, SetBy: "root@%"}))
	if capped {
		f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: budget.OverPeriods("rider"), Entity: true, Principal: budget.All, Epsilon: 8, Delta: 1e-6, Window: budget.Never, SetBy: "root@%"}))
	}
	for month := range 9 {
		first := time.Date(2026, time.Month(1+month), 1, 0, 0, 0, 0, time.UTC)
		on := &days.Span{First: days.Of(first), Last: days.Of(first.AddDate(0, 1, 0)) - 1}
		loss := privacy.Loss{Rho: privacy.RhoOf(0.02 * float64(month+1))}
		receipt, err := f.ledger.Reserve(ctx, accounting.Request{Principal: "ann@%", Statement: "SELECT COUNT(*) FROM `bike`.`trips`", Charges: []accounting.Charge{
			{Account: "bike.trips", Table: "bike.trips", Blocks: on, Loss: loss}, {Account: "rider", Entity: true, Blocks: on, Loss: loss},
			{Account: budget.OverPeriods("rider"), Entity: true, Loss: loss},
		}})
		f.must(err)
		f.ledger.Finish(receipt, record.Answered)
	}
}

// TestPeriodsArePages: the pages of a table and an entity by period say which periods have spent
// how much, and what one person has lost over all of them.
func TestPeriodsArePages(t *testing.T) {
	f := newFixture(t, true)
	f.byMonth(true)
	page := f.pages()
	for path, wants := range map[string][]string{
		"/tables/bike.trips": {"By period", "until 2025-12-31", "2026-09-01 to 2026-09-30", "from 2026-10-01"},
		"/entities/rider":    {"By period", "2026-09-01 to 2026-09-30", "One person over all periods", "Bound on one person's rows of one month", "Ever spent on one person, over all periods", "of 8 spent", "n² times its ρ"},
		"/budgets":           {"entity rider over all periods", "/entities/rider\""},
	} {
		text := page(path)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
	if text := page("/entities/rider%20over%20all%20periods"); !strings.Contains(text, "Entity rider<") {
		t.Error("the account over all periods is not shown with its entity")
	}
	if text := page("/entities/customer"); strings.Contains(text, "By period") || strings.Contains(text, "over all periods") {
		t.Error("an entity of whole persons has periods")
	}
}

// TestUncappedPersonsArePages: where nothing caps what one person loses, the page of the entity has
// the statement that would.
func TestUncappedPersonsArePages(t *testing.T) {
	f := newFixture(t, true)
	f.byMonth(false)
	page := f.pages()
	if text := page("/entities/rider"); !strings.Contains(text, "CALL dp_set_budget(&#39;entity:rider over all periods&#39;, &#39;*&#39;, 20, 1e-6, &#39;never&#39;);") {
		t.Error("the page does not say how to cap it")
	}
	_, err := f.ledger.Reserve(context.Background(), accounting.Request{Principal: "ann@%", Charges: []accounting.Charge{
		{Account: "rider", Entity: true, Loss: privacy.Loss{Rho: 9}}, {Account: budget.OverPeriods("rider"), Entity: true, Loss: privacy.NoBound()}}})
	f.must(err)
	f.must(f.ledger.SetBudget(context.Background(), budget.Budget{Account: budget.OverPeriods("rider"), Entity: true, Principal: budget.All, Epsilon: 8, Delta: 1e-6, Window: budget.Never}))
	if text := page("/entities/rider"); !strings.Contains(text, "∞") || !strings.Contains(text, "no bound: see dp.budgets") || strings.Contains(text, "NaN") {
		t.Error("a person's loss without a bound is not shown as one")
	}
}

func TestBrowserPeriods(t *testing.T) {
	f := newFixture(t, true)
	f.byMonth(true)
	b := browser.Open(t, f.web.URL)
	b.Login("/login", "root", "right")
	for _, look := range looks {
		b.Look(look.width, 800, look.scheme)
		for name, path := range map[string]string{"periods-table": "/tables/bike.trips", "periods-entity": "/entities/rider"} {
			where := path + ", " + look.name
			b.Open(path)
			b.Shoot(name+"-"+look.name, true)
			b.Contrasts(where)
			b.Narrow(where, look.width)
			if look.name == "light" {
				b.Accessible(where, false)
			}
		}
	}
	b.Quiet()
}
