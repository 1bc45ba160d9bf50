package mysqlerr

import (
	"fmt"
	"strings"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
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
	cost, left := amounts(e)
	if e.Renews {
		return refuse.New(refuse.BudgetExhausted, "A series costs %s of %s on %s once in each window in which days are released, and %s remains until %s: nothing is released now.", cost, whose, name, left, until(e.WindowEnds)).
			With("The days come later, at no other cost, by CALL dp_continue or at the next due time: wait until the window ends, or raise the budget with CALL dp_alter_budget. CALL dp_drop_continual drops the series.")
	}
	if whole, persons := budget.OfPersons(e.Account); e.Entity && persons {
		return overPeriods(e, whose, whole, shared)
	}
	on := whose + " on " + name
	switch {
	case !shared:
		on += blocks(e.Blocks)
	case e.Asked != nil: // which of them lack room tells what others spent
		on += blocks([]days.Span{*e.Asked})
	}
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
	if shared {
		return refuse.New(refuse.BudgetExhausted, "The query would cost %s of %s, and less remains until %s.", cost, on, until(e.WindowEnds)).
			With("Ask with a smaller dp_epsilon%s, or have a DBA raise the budget.", waiting(e))
	}
	return remedied(refuse.New(refuse.BudgetExhausted, "The query would cost %s of %s, of which %s remains until %s.", cost, on, left, until(e.WindowEnds)), e)
}

// overPeriods words the refusal of a budget on what a person loses over all periods.
func overPeriods(e *accounting.ExhaustedError, whose, entity string, shared bool) *refuse.Error {
	on := capital(whose) + " caps what one person of entity " + entity + " loses over all periods"
	fewer := "Ask about fewer periods at a time: a statement on n of them counts for n² times its rho. Or ask with a smaller dp_epsilon%s, or have a DBA raise the budget of 'entity:" + budget.OverPeriods(entity) + "'."
	switch cost, left := amounts(e); {
	case e.NoBound:
		return refuse.New(refuse.BudgetExhausted, "%s, and the query has no bound on that.", on).
			With("Say a first and a last day, as in WHERE placed >= '2025-06-01' AND placed < '2025-07-01'; group by declared keys there, or ask about one period at a time.")
	case e.NotPure:
		return refuse.New(refuse.BudgetExhausted, "%s, with delta 0, and the query was planned with mechanisms that have no pure epsilon.", on).
			With("Ask again: a budget has changed since the query was planned, and it will be planned with pure mechanisms.")
	case e.SpentNotPure, e.NoSlack:
		return refuse.New(refuse.BudgetExhausted, "%s, and the delta of the query, or of what its window holds, does not fit into its delta %.3g.", on, float64(e.Delta)).
			With("Wait for the next window, if it has an end, or have a DBA set a budget with a larger delta.")
	case shared:
		return refuse.New(refuse.BudgetExhausted, "%s, the query would cost %s of it, and less remains until %s.", on, cost, until(e.WindowEnds)).With(fewer, waiting(e))
	default:
		return refuse.New(refuse.BudgetExhausted, "%s, the query would cost %s of it, and %s remains until %s.", on, cost, left, until(e.WindowEnds)).With(fewer, waiting(e))
	}
}

// namedBlocks is how many stretches of periods the refusal of one's own budget names.
const namedBlocks = 4

// blocks words the periods on which a charge does not fit: they follow from charges alone.
func blocks(list []days.Span) string {
	var words []string
	for i, on := range list {
		if i == namedBlocks {
			words = append(words, fmt.Sprintf("%d more stretches", len(list)-i))
			break
		}
		words = append(words, on.String())
	}
	if len(words) == 0 {
		return ""
	}
	return " for the periods " + strings.Join(words, ", ")
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
