package mysqlerr

import (
	"fmt"
	"strings"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/internal/refuse"
)

// exhausted words the refusal of a charge: everything in it is known to the client beforehand, or
// is the client's own spending. What is left of a budget that is shared with others tells what they
// spent, and is not told.
func exhausted(e *accounting.ExhaustedError) *refuse.Error {
	role, ofRole := strings.CutPrefix(e.Scope, budget.RolePrefix)
	whose, shared := "your budget", true
	switch {
	case e.Scope == budget.All:
		whose = "the budget of all principals together"
	case ofRole:
		whose = "the budget of the role " + role
	default:
		shared = false
	}
	name := named(e.Table, e.Account)
	if e.Entity {
		name = "entity " + e.Account
	}
	on := whose + " on " + name
	switch {
	case e.NotPure:
		return refuse.New(refuse.BudgetExhausted, "%s has delta 0, and the query was planned with mechanisms that have no pure epsilon.", capital(on)).
			With("Ask again: a budget has changed since the query was planned, and it will be planned with pure mechanisms.")
	case e.SpentNotPure:
		return refuse.New(refuse.BudgetExhausted, "%s has delta 0, and its window holds spending without a pure epsilon.", capital(on)).
			With("Wait for the next window, if it has an end, or have a DBA set a budget with delta > 0, or one with a shorter window.")
	case e.NoSlack && e.LimitRho == 0:
		return refuse.New(refuse.BudgetExhausted, "The query's delta does not fit into what is left of the share for it in the delta %.3g of %s: %.3g for selected keys and %.3g for methods that may fail, as most is for rho.", float64(e.Delta), on, float64(e.EventShare), float64(e.TVShare)).
			With("Ask with a smaller dp_delta, or without group keys that are selected privately, or have a DBA set a budget with a larger delta.")
	case e.NoSlack:
		return refuse.New(refuse.BudgetExhausted, "The query's delta does not fit into the delta %.3g of %s.", float64(e.Delta), on).
			With("Ask without group keys that are selected privately, or have a DBA set a budget with a larger delta.")
	}
	cost, left := amounts(e)
	if shared {
		return refuse.New(refuse.BudgetExhausted, "The query would cost %s of %s, and less remains until %s.", cost, on, until(e.WindowEnds)).
			With("Ask with a smaller dp_epsilon%s, or have a DBA raise the budget.", waiting(e))
	}
	return remedied(refuse.New(refuse.BudgetExhausted, "The query would cost %s of %s, of which %s remains until %s.", cost, on, left, until(e.WindowEnds)), e)
}

// amounts words what a charge costs, and what is left, in the terms of its budget.
func amounts(e *accounting.ExhaustedError) (cost, left string) {
	switch {
	case e.LimitRho > 0:
		return fmt.Sprintf("rho %.4g", e.RequestedRho.Float()), fmt.Sprintf("rho %.4g", e.RemainingRho.Float())
	case e.Delta == 0:
		return fmt.Sprintf("the pure epsilon %.6g", float64(e.Requested)), fmt.Sprintf("%.6g", float64(e.Remaining))
	}
	return fmt.Sprintf("epsilon %.4g (rho %.4g)", float64(e.Requested), e.RequestedRho.Float()),
		fmt.Sprintf("epsilon %.4g (rho %.4g)", float64(e.Remaining), e.RemainingRho.Float())
}

func waiting(e *accounting.ExhaustedError) string {
	if e.WindowEnds.IsZero() {
		return ""
	}
	return ", wait for the next window"
}

// remedied says what to do where nothing remains.
func remedied(r *refuse.Error, e *accounting.ExhaustedError) *refuse.Error {
	switch {
	case e.Remaining > 0 || e.RemainingRho > 0:
		return r
	case e.WindowEnds.IsZero():
		return r.With("A DBA may raise the budget with CALL dp_alter_budget.")
	}
	return r.With("Wait for the next window, or have a DBA raise the budget with CALL dp_alter_budget.")
}
