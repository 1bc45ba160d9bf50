package client

import (
	"fmt"
)

// BudgetQuery asks for the budgets that an account may see, and what is left of them.
const BudgetQuery = "SELECT account_type, account, principal, " +
	"epsilon, rho, delta, budget_window, spent_epsilon, remaining_epsilon, remaining_rho, questions_left FROM dp.budgets"

// LastCostNumber asks which private statement of the connection was the last that cost something.
const LastCostNumber = "SELECT COALESCE(MAX(number), 0) FROM dp.last_cost"

// CostQuery asks what the connection's last private statement cost, if it came after that number:
// nothing where none did. CostLine words each row; CostNumber is its number.
func CostQuery(after int64) string {
	return fmt.Sprintf(`SELECT c.id, c.entry, c.account_type, c.account, c.epsilon, c.delta, c.pure_epsilon, c.rho, c.remaining_epsilon, c.remaining_rho,
		(SELECT MIN(b.questions_left) FROM dp.budgets b WHERE b.account = c.account AND b.account_type = c.account_type) AS questions_left, c.replay_of, c.number
		FROM dp.last_cost c WHERE c.number > %d ORDER BY c.id, c.account_type DESC`, after)
}

// The columns of CostQuery.
const (
	costID = iota
	costEntry
	_
	costAccount
	costEpsilon
	costDelta
	costPure
	costRho
	costRemaining
	costRemainingRho
	costQuestions
	costReplayOf
	costNumber
)

// CostNumber is the number of the statement that a row of CostQuery is about.
func CostNumber(row []any) int64 { return int64(Number(row[costNumber])) }

// CostLine words a row of CostQuery: the loss, what is left, and for how many questions that is
// enough.
func CostLine(row []any) string {
	if Cell(row[costEntry]) == "replay" {
		return fmt.Sprintf("Cost: nothing; a stored answer, that of entry %s of the ledger.", Cell(row[costReplayOf]))
	}
	line := fmt.Sprintf("Cost: %s of %s", Loss(row[costEpsilon], row[costRho], row[costPure], row[costDelta]), Printable(Cell(row[costAccount]), ""))
	if left := Remaining(row[costRemaining], row[costRemainingRho]); left != "" {
		line += "; " + left
	}
	if row[costQuestions] != nil {
		line += fmt.Sprintf("; %s at the default loss left", Counted(int(Number(row[costQuestions])), "question"))
	}
	return fmt.Sprintf("%s (ledger %s).", line, Cell(row[costID]))
}

// Counted writes a number of things.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Loss words a charge in the unit that the account is kept in.
func Loss(epsilon, rho, pure, delta any) string {
	switch {
	case epsilon != nil:
		text := fmt.Sprintf("epsilon %.3g", Number(epsilon))
		if d := Number(delta); d > 0 {
			text += fmt.Sprintf(", delta %.3g", d)
		}
		return text
	case pure != nil:
		return fmt.Sprintf("pure epsilon %.3g", Number(pure))
	}
	return fmt.Sprintf("rho %.3g", Number(rho))
}

// Remaining words what is left of a budget, "" where the account has none that it may see.
func Remaining(epsilon, rho any) string {
	switch {
	case epsilon != nil:
		return fmt.Sprintf("epsilon %.3g left", Number(epsilon))
	case rho != nil:
		return fmt.Sprintf("rho %.3g left", Number(rho))
	}
	return ""
}
