package mcp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"scrim/internal/digest"
	"scrim/internal/sqltext"
)

// Cost is one entry of the ledger about a query. Losses are in the unit that the account is kept
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

// lastEntry is the number of the ledger's last entry that the account sees, 0 where it sees none.
func (c *call) lastEntry(ctx context.Context) (id int64, err error) {
	// in this form only the last entry is read
	err = c.conn.QueryRowContext(ctx, "SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, err
}

// costs are the account's entries about a query after entry last. Entries name no connection: what
// another session of the account asked at the same time with the same digest is among them.
func (c *call) costs(ctx context.Context, query string, last int64) ([]Cost, error) {
	out := []Cost{}
	rows, err := c.conn.QueryContext(ctx, fmt.Sprintf(`SELECT l.id, l.entry, l.account_type, l.account, l.epsilon, l.delta, l.pure_epsilon, l.rho, l.remaining_epsilon, l.remaining_rho,
		(SELECT MIN(b.questions_left) FROM dp.budgets b WHERE b.account = l.account AND b.account_type = l.account_type) AS questions, l.replay_of
		FROM dp.ledger l WHERE l.id > %d AND l.principal = %s AND l.digest = %s AND l.entry IN ('charge', 'replay') ORDER BY l.id, l.account_type DESC`,
		last, sqltext.Text(c.account), sqltext.Text(digest.Of(digest.Redact(query)))))
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var k Cost
		if err := rows.Scan(&k.LedgerID, &k.Entry, &k.AccountType, &k.Account, &k.Epsilon, &k.Delta, &k.PureEpsilon, &k.Rho,
			&k.RemainingEpsilon, &k.RemainingRho, &k.QuestionsLeft, &k.ReplayOf); err != nil {
			return out, err
		}
		out = append(out, k)
	}
	return out, rows.Err()
}

// stored is the cost of a private answer of which the ledger has nothing new: a stored answer that
// was used before. Which charge it is of is told where only one has the digest of the query.
func (c *call) stored(ctx context.Context, query string) ([]Cost, error) {
	k := Cost{Entry: "replay"}
	var charges int
	err := c.conn.QueryRowContext(ctx, "SELECT COUNT(DISTINCT ledger_id), MAX(ledger_id) FROM dp.replays WHERE digest = "+
		sqltext.Text(digest.Of(digest.Redact(query)))).Scan(&charges, &k.ReplayOf)
	if charges != 1 {
		k.ReplayOf = nil
	}
	return []Cost{k}, err
}
