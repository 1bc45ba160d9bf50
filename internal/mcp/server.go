package mcp

import (
	"database/sql/driver"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say whom a server of tools asks, and what an answer may be at most.
type Options struct {
	Connector driver.Connector // of the account, with Timeout as the statements' own limit
	Version   string
	Rows      int           // of an answer
	Bytes     int           // of an answer's values
	Timeout   time.Duration // of a statement
}

const instructions = `This server answers SQL (MySQL's dialect) with differential privacy. Start with describe, which lists tables,
functions and budgets; name a table to see its columns and public keys. Ask for aggregates (COUNT, SUM, AVG, DP_QUANTILE ...);
rows of protected tables are never shown. Every new question on a protected table is charged to a budget that does not come
back within its window: call price first, and group by a column rather than ask once for each of its values. The same
statement again is answered from store for nothing. Values carry noise: report them with their interval.`

// New returns a server with a connection of its own, for one session.
func New(o Options) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "scrim", Title: "Scrim", Version: o.Version}, &sdk.ServerOptions{Instructions: instructions})
	c := &session{Options: o}
	sdk.AddTool(s, tool("describe", "Tables with units and states, DP functions and budgets; with a table, its columns and public keys. Free."), serve(c, c.describe))
	sdk.AddTool(s, tool("price", "What a SELECT would cost for each budget, how many such questions fit, and its expected errors. Runs nothing; free."), serve(c, c.price))
	sdk.AddTool(s, tool("query", "Run one statement that only reads. A new question on a protected table is charged; the answer tells cost, ledger entry, what is left, warnings, and 95 % intervals."), serve(c, c.query))
	sdk.AddTool(s, tool("budget", "Budgets of this account: limits, what is spent and left, and for how many questions at the default loss. Free."), serve(c, c.budget))
	return s
}

// tool describes a tool. None changes data; query spends.
func tool(name, description string) *sdk.Tool {
	closed := false
	return &sdk.Tool{Name: name, Description: description, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: name != "query", DestructiveHint: &closed, OpenWorldHint: &closed}}
}
