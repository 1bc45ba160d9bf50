package admin

import (
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
)

// bound is what bounds the loss of one person of an entity over all its tables: what is stated in
// epsilon and what is stated in rho compose, and neither is turned into the other.
type bound struct {
	epsilon accounting.Epsilon
	rho     accounting.Rho
	delta   accounting.Delta
	window  accounting.Window // "" where the windows differ
	capped  bool              // by the entity's own budget
}

// boundOf takes the sum of the '*' budgets on the entity's tables, or the entity's own budget where it
// is tighter or cannot be compared.
func boundOf(e accounting.EntityStatus, all []accounting.BudgetStatus) bound {
	var sum bound
	open := 0
	for _, b := range all {
		if b.Holder != accounting.All || b.Entity || !slices.Contains(e.Tables, b.Account) {
			continue
		}
		if open++; open == 1 {
			sum.window = b.Window
		} else if sum.window != b.Window {
			sum.window = ""
		}
		sum.epsilon = accounting.Epsilon(addUp(float64(sum.epsilon), float64(b.Epsilon)))
		sum.rho = sum.rho.Add(b.Rho)
		sum.delta = accounting.Delta(min(1, addUp(float64(sum.delta), float64(b.Delta))))
	}
	for _, b := range all {
		if b.Holder != accounting.All || !b.Entity || b.Account != e.Entity {
			continue
		}
		tighter := b.Rho == 0 && sum.rho == 0 && b.Epsilon <= sum.epsilon || b.Rho > 0 && sum.epsilon == 0 && b.Rho <= sum.rho
		mixed := b.Rho > 0 && sum.epsilon > 0 || b.Rho == 0 && sum.rho > 0
		if open == 0 || tighter || mixed {
			return bound{b.Epsilon, b.Rho, b.Delta, b.Window, true}
		}
	}
	return sum
}

// addUp adds two numbers of at least 0, rounded up where rounding is needed.
func addUp(a, b float64) float64 {
	if a == 0 || b == 0 {
		return a + b
	}
	s := a + b
	if s-a < b || s-b < a {
		return math.Nextafter(s, math.Inf(1))
	}
	return s
}

// entityRow shows an entity's bound, and everything that was ever spent on its tables.
func entityRow(e accounting.EntityStatus, all []accounting.BudgetStatus) sql.Row {
	b := boundOf(e, all)
	remark := "sum of the '*' budgets of " + strings.Join(e.Tables, ", ")
	if b.capped {
		remark = "capped by the budget of the entity; tables: " + strings.Join(e.Tables, ", ")
	}
	if len(e.Closed) > 0 {
		remark += "; without a '*' budget, so closed: " + strings.Join(e.Closed, ", ")
	}
	if b.window == "" && len(e.Closed) < len(e.Tables) {
		remark += "; the windows differ"
	}
	if b.epsilon > 0 && b.rho > 0 {
		remark += "; what is stated in epsilon comes on top of what is stated in rho"
	}
	epsilon, conversion := best(e.Spent, e.SpentCurve, b.delta)
	row := sql.Row{
		"entity sum", e.Entity, nil, accounting.All,
		nil, rhoLimit(b.rho), float64(b.delta), orNull(string(b.window)),
		e.Spent.Rho.Float(), slack(e.Spent), pure(e.Spent), epsilon, conversion,
		nil, nil, nil, nil, nil, nil, nil, remark,
	}
	if b.epsilon > 0 || b.rho == 0 {
		row[4] = float64(b.epsilon)
	}
	return row
}
