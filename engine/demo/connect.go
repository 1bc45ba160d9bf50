package demo

import (
	"context"
	"fmt"
	"io"
	"net"
)

// walk takes the whole tour, with the budget before and after it.
func (g *guide) walk(ctx context.Context) error {
	if err := g.budget(ctx, "The analyst's budget before:"); err != nil {
		return err
	}
	for _, s := range tour {
		if err := g.visit(ctx, s); err != nil {
			return fmt.Errorf("demo: %s: %w", s.sql, err)
		}
	}
	return g.budget(ctx, "The analyst's budget after:")
}

// printConnect says how to go on by hand.
func printConnect(out io.Writer, addr, analystPassword, rootPassword string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = addr, "3307"
	}
	fmt.Fprintf(out, `
Connect with any MySQL client:
  mysql --comments -h %[1]s -P %[2]s -u %[3]s -p%[4]s demo
  mysql --comments -h %[1]s -P %[2]s -u root -p%[5]s demo
Serving until Ctrl-C.
`, host, port, analyst, analystPassword, rootPassword)
}

// printPages says where the pages for browsers are; the passwords follow.
func printPages(out io.Writer, addr string) {
	fmt.Fprintf(out, "\nIn a browser:\n  http://%[1]s/console   as %[2]s, to ask\n  http://%[1]s/          as root, the dashboard\n", addr, analyst)
}
