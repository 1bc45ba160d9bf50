package plan

import (
	"fmt"
	"strings"

	"scrim/accounting"
	"scrim/accounting/budget"
)

// forecastText is what one budget says to a statement, on one line.
func forecastText(f accounting.Forecast) string {
	var b strings.Builder
	b.WriteString(forecastAccount(f))
	if f.Missing {
		return b.String() + "  none: every query is refused"
	}
	fmt.Fprintf(&b, " of %s", f.Holder)
	if f.Budget.Epsilon == 0 && f.Budget.Rho == 0 {
		// Another's budget, which the asker does not see into.
		return b.String() + map[bool]string{true: "  fits", false: "  refuses"}[f.Fits]
	}
	if f.Budget.Rho > 0 {
		fmt.Fprintf(&b, "  rho=%s", number6(f.Budget.Rho.Float()))
	} else {
		fmt.Fprintf(&b, "  epsilon=%s", number6(float64(f.Budget.Epsilon)))
	}
	fmt.Fprintf(&b, " delta=%s window=%s", number6(float64(f.Budget.Delta)), f.Budget.Window)
	cost, remaining, after := number6(float64(f.Cost)), number6(float64(f.Remaining)), number6(float64(f.After))
	if f.Budget.Rho > 0 {
		cost, remaining, after = number6(f.CostRho.Float()), number6(f.RemainingRho.Float()), number6(f.AfterRho.Float())
	}
	fmt.Fprintf(&b, "  this=%s  remaining=%s", cost, remaining)
	if !f.Fits {
		return b.String() + "  refuses"
	}
	fmt.Fprintf(&b, "  after=%s  queries=%d", after, f.Queries)
	if f.Queries == budget.MaxForecast {
		b.WriteString(" or more")
	}
	return b.String()
}

// forecastAccount names the account as the cost lines do.
func forecastAccount(f accounting.Forecast) string {
	if f.Entity {
		return "entity " + f.Account
	}
	return f.Table
}
