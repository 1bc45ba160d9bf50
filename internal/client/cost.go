package client

import (
	"fmt"

	"scrim/internal/sqltext"
)

// BudgetQuery asks for the budgets that an account may see, and what is left of them.
const BudgetQuery = "SELECT account_type, account, principal, " +
	"epsilon, rho, delta, budget_window, spent_epsilon, remaining_epsilon, remaining_rho, questions_left FROM dp.budgets"

// LastEntryQuery asks for the last entry of the ledger; in this form only that is read.
const LastEntryQuery = "SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1"

// CostQuery asks what was charged to an account after an entry of the ledger; CostLine words each
// of its rows.
func CostQuery(after int64, account string) string {
	return fmt.Sprintf(`SELECT l.id, l.entry, l.account, l.epsilon, l.rho, l.delta, l.pure_epsilon, l.remaining_epsilon, l.remaining_rho, l.replay_of,
		(SELECT MIN(b.questions_left) FROM dp.budgets b WHERE b.account = l.account AND b.account_type = l.account_type) AS questions
		FROM dp.ledger l WHERE l.id > %d AND l.principal = %s AND l.entry IN ('charge', 'replay') ORDER BY l.id, l.account_type DESC`, after, sqltext.Text(account))
}

// CostLine words a row of CostQuery: the loss, what is left, and for how many questions that is
// enough.
func CostLine(row []any) string {
	if Cell(row[1]) == "replay" {
		return fmt.Sprintf("Cost: nothing; a stored answer, that of entry %s of the ledger.", Cell(row[9]))
	}
	line := fmt.Sprintf("Cost: %s of %s", Loss(row[3], row[4], row[6], row[5]), Printable(Cell(row[2]), ""))
	if left := Remaining(row[7], row[8]); left != "" {
		line += "; " + left
	}
	if row[10] != nil {
		line += fmt.Sprintf("; %s at the default loss left", Counted(int(Number(row[10])), "question"))
	}
	return fmt.Sprintf("%s (ledger %s).", line, Cell(row[0]))
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
