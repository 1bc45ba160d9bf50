package shell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
)

// warnings tells the warnings of the statement before; those of private answers say what would do.
func (s *Shell) warnings(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return // the answer stands without them; the next statement tells what is wrong
	}
	defer rows.Close()
	a, err := read(rows)
	if err != nil {
		return
	}
	for _, row := range a.rows {
		fmt.Fprintf(s.Err, "%s (%s): %s\n", cell(row[0]), cell(row[1]), printable(cell(row[2]), "\n"))
	}
}

// sinceNow has cost tell only what is charged from now on. Where the account may not read the
// ledger, cost says so.
func (s *Shell) sinceNow(ctx context.Context) {
	var last int64
	// in this form only the last entry is read
	err := s.conn.QueryRowContext(ctx, "SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1").Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		last = math.MaxInt64
	}
	s.ledger = max(s.ledger, last)
}

// cost tells what was charged to the account since the last time: for each table and entity the
// loss, what is left, and for how many questions that is enough. What another session of the
// account was charged meanwhile is told as well, since no entry of the ledger names a connection.
func (s *Shell) cost(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, fmt.Sprintf(`SELECT l.id, l.entry, l.account, l.epsilon, l.rho, l.delta, l.pure_epsilon, l.remaining_epsilon, l.remaining_rho, l.replay_of,
		(SELECT MIN(b.questions_left) FROM dp.budgets b WHERE b.account = l.account AND b.account_type = l.account_type) AS questions
		FROM dp.ledger l WHERE l.id > %d AND l.principal = '%s' AND l.entry IN ('charge', 'replay') ORDER BY l.id, l.account_type DESC`, s.ledger, strings.ReplaceAll(s.account, "'", "''")))
	if err != nil {
		fmt.Fprintf(s.Err, "What it cost is not known: %v\n", err)
		return
	}
	defer rows.Close()
	a, err := read(rows)
	if err != nil {
		fmt.Fprintf(s.Err, "What it cost is not known: %v\n", err)
		return
	}
	for _, row := range a.rows {
		s.ledger = max(s.ledger, int64(number(row[0])))
		if cell(row[1]) == "replay" {
			fmt.Fprintf(s.Err, "Cost: nothing; a stored answer, that of entry %s of the ledger.\n", cell(row[9]))
			continue
		}
		line := fmt.Sprintf("Cost: %s of %s", loss(row[3], row[4], row[6], row[5]), printable(cell(row[2]), ""))
		if left := remaining(row[7], row[8]); left != "" {
			line += "; " + left
		}
		if row[10] != nil {
			line += fmt.Sprintf("; %s at the default loss left", counted(int(number(row[10])), "question"))
		}
		fmt.Fprintf(s.Err, "%s (ledger %s).\n", line, cell(row[0]))
	}
}

// loss words a charge in the unit that the account is kept in.
func loss(epsilon, rho, pure, delta any) string {
	switch {
	case epsilon != nil:
		text := fmt.Sprintf("epsilon %.3g", number(epsilon))
		if d := number(delta); d > 0 {
			text += fmt.Sprintf(", delta %.3g", d)
		}
		return text
	case pure != nil:
		return fmt.Sprintf("pure epsilon %.3g", number(pure))
	}
	return fmt.Sprintf("rho %.3g", number(rho))
}

// remaining words what is left of a budget, "" where the account has none that it may see.
func remaining(epsilon, rho any) string {
	switch {
	case epsilon != nil:
		return fmt.Sprintf("epsilon %.3g left", number(epsilon))
	case rho != nil:
		return fmt.Sprintf("rho %.3g left", number(rho))
	}
	return ""
}
