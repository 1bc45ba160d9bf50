package shell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"scrim/internal/client"
)

// warnings tells the warnings of the statement before; those of private answers say what would do.
func (s *Shell) warnings(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return // the answer stands without them; the next statement tells what is wrong
	}
	defer rows.Close()
	a, err := client.Read(rows)
	if err != nil {
		return
	}
	for _, row := range a.Rows {
		fmt.Fprintf(s.Err, "%s (%s): %s\n", client.Cell(row[0]), client.Cell(row[1]), client.Printable(client.Cell(row[2]), "\n"))
	}
}

// sinceNow has cost tell only what is charged from now on. Where the account may not read the
// ledger, cost says so.
func (s *Shell) sinceNow(ctx context.Context) {
	var last int64
	err := s.conn.QueryRowContext(ctx, client.LastEntryQuery).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		last = math.MaxInt64
	}
	s.ledger = max(s.ledger, last)
}

// cost tells what was charged to the account since the last time: for each table and entity the
// loss, what is left, and for how many questions that is enough. What another session of the
// account was charged meanwhile is told as well, since no entry of the ledger names a connection.
func (s *Shell) cost(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, client.CostQuery(s.ledger, s.account))
	if err != nil {
		fmt.Fprintf(s.Err, "What it cost is not known: %v\n", err)
		return
	}
	defer rows.Close()
	a, err := client.Read(rows)
	if err != nil {
		fmt.Fprintf(s.Err, "What it cost is not known: %v\n", err)
		return
	}
	for _, row := range a.Rows {
		s.ledger = max(s.ledger, int64(client.Number(row[0])))
		fmt.Fprintln(s.Err, client.CostLine(row))
	}
}
