package shell

import (
	"context"
	"fmt"

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

// cost tells what the statement was charged: for each table and entity the loss, what is left, and
// for how many questions that is enough.
func (s *Shell) cost(ctx context.Context) {
	rows, err := s.conn.QueryContext(ctx, client.CostQuery(s.told))
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
		s.told = client.CostNumber(row)
		fmt.Fprintln(s.Err, client.CostLine(row))
	}
}
