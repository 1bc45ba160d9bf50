package dashboard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/catalog"
	"scrim/internal/sqltext"
)

// Statements that pages show to be copied. What a DBA has to decide is in them as an example.

// suggestBudget gives a table its total budget.
func suggestBudget(table string) string {
	return fmt.Sprintf("CALL dp_set_budget(%s, '*', 8, 1e-6, 'month');", sqltext.Text(table))
}

// suggestCap caps what one person of an entity loses over all periods.
func suggestCap(entity string) string {
	return fmt.Sprintf("CALL dp_set_budget(%s, '*', 20, 1e-6, 'never');", sqltext.Text("entity:"+budget.OverPeriods(entity)))
}

// suggestChange changes a budget.
func suggestChange(b *accounting.BudgetStatus) string {
	on, limit := b.Account, fmt.Sprintf(`{"epsilon": %s}`, number(2*float64(b.Epsilon)))
	if b.Entity {
		on = "entity:" + on
	}
	if b.Rho > 0 {
		limit = fmt.Sprintf(`{"rho": %s}`, number(2*b.Rho.Float()))
	}
	return fmt.Sprintf("CALL dp_alter_budget(%s, %s, %s, 'the reason');", sqltext.Text(on), sqltext.Text(holder(b)), sqltext.Text(limit))
}

// holder is whose budget it is, as procedures name them.
func holder(b *accounting.BudgetStatus) string {
	if b.Principal == budget.Default {
		return budget.Default
	}
	return b.Holder
}

// suggestPolicies says what a table may be declared to be.
func suggestPolicies(table string) []string {
	t := sqltext.Text(table)
	return []string{
		fmt.Sprintf("CALL dp_protect(%s, 'unit_column', 'entity');", t), fmt.Sprintf("CALL dp_public(%s);", t),
	}
}

// suggestBackup makes a backup.
func suggestBackup(now time.Time) string {
	return fmt.Sprintf("CALL dp_backup(%s);", sqltext.Text(now.UTC().Format("2006-01-02-1504")))
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
