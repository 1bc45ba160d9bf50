package mcp

import (
	"context"

	"scrim/internal/sqltext"
)

// Nothing is what a tool without arguments is asked.
type Nothing struct{}

// Budgets are what the tool budget answers.
type Budgets struct {
	Budgets Records `json:"budgets" jsonschema:"a line for each table or entity and principal ('*': all together); questions_left is at the default loss"`
}

const budgets = `SELECT account_type, account, principal, epsilon, delta, rho, budget_window, window_end, spent_epsilon, spent_rho,
	remaining_epsilon, remaining_rho, remaining_pure_epsilon, questions_left FROM dp.budgets`

func (s *session) budget(ctx context.Context, c *call, _ Nothing) (Budgets, error) {
	list, err := c.records(ctx, budgets)
	return Budgets{list}, err
}

// Priced is what price is asked.
type Priced struct {
	SQL string `json:"sql" jsonschema:"one SELECT"`
}

// Price is what price answers.
type Price struct {
	Lines Records `json:"lines" jsonschema:"item budget: the loss of this query, what remains before and after it, how many such queries fit, questions_left at the default loss; item answer: its expected error and the persons that it needs; item keys: when a key is shown"`
}

func (s *session) price(ctx context.Context, c *call, in Priced) (Price, error) {
	query, err := single(in.SQL)
	if err != nil {
		return Price{}, err
	}
	lines, err := c.priced(ctx, query)
	return Price{lines}, err
}

func (c *call) priced(ctx context.Context, query string) (Records, error) {
	return c.records(ctx, "CALL dp_price("+sqltext.Text(query)+")")
}
