package mcp

import (
	"context"

	"scrim/internal/client"
)

// Cost is a charge for a query, or a stored answer. Losses are in the unit that the account is kept
// in.
type Cost struct {
	LedgerID         int64    `json:"ledger_id,omitempty"`
	Entry            string   `json:"entry" jsonschema:"charge, or replay: a stored answer, which costs nothing"`
	AccountType      string   `json:"account_type,omitempty"`
	Account          string   `json:"account,omitempty" jsonschema:"the table or entity"`
	Epsilon          *float64 `json:"epsilon,omitempty"`
	Delta            *float64 `json:"delta,omitempty"`
	PureEpsilon      *float64 `json:"pure_epsilon,omitempty"`
	Rho              *float64 `json:"rho,omitempty"`
	RemainingEpsilon *float64 `json:"remaining_epsilon,omitempty"`
	RemainingRho     *float64 `json:"remaining_rho,omitempty"`
	QuestionsLeft    *int64   `json:"questions_left,omitempty" jsonschema:"at the default loss"`
	ReplayOf         *int64   `json:"replay_of,omitempty" jsonschema:"the ledger entry of the charge whose answer this is"`
}

// spent is the number of the connection's last private statement that cost something.
func (c *call) spent(ctx context.Context) (number int64, err error) {
	return number, c.conn.QueryRowContext(ctx, client.LastCostNumber).Scan(&number)
}

// costs are what a private statement after that one cost.
func (c *call) costs(ctx context.Context, before int64) ([]Cost, error) {
	out := []Cost{}
	rows, err := c.conn.QueryContext(ctx, client.CostQuery(before))
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var k Cost
		var id *int64
		if err := rows.Scan(&id, &k.Entry, &k.AccountType, &k.Account, &k.Epsilon, &k.Delta, &k.PureEpsilon, &k.Rho,
			&k.RemainingEpsilon, &k.RemainingRho, &k.QuestionsLeft, &k.ReplayOf, new(int64)); err != nil {
			return out, err
		}
		if id != nil {
			k.LedgerID = *id
		}
		out = append(out, k)
	}
	return out, rows.Err()
}
