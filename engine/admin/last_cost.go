package admin

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/internal/spent"
)

// lastCostColumns are the number of the statement and the columns of dp.ledger.
var lastCostColumns = slices.Concat([]column{count("number")}, ledgerColumns)

// lastCost is what the last private statement of the session that asks was charged: the lines that
// its charges have in dp.ledger, and a line
// for each table that a stored answer is of. A line of a stored answer has no id: the ledger writes
// one entry for many uses.
func (a *Admin) lastCost(ctx *sql.Context) ([]sql.Row, error) {
	k, ok := ctx.Session.(spent.Keeper)
	if !ok {
		return nil, nil
	}
	last := k.Spent()
	lines := &ledgerLines{all: a.seesAll(ctx), price: prices(a.o.Ledger.Budgets())}
	var out []sql.Row
	for _, s := range last.Entries {
		found, err := a.spentOn(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			for _, row := range lines.of(e) {
				if s.Replay {
					row[0], row[1] = nil, nil
				}
				out = append(out, slices.Concat(sql.Row{last.Number}, row))
			}
		}
	}
	return out, nil
}

// spentOn are the ledger's entries of a charge or a stored answer: none where the ledger has been
// archived since.
func (a *Admin) spentOn(ctx *sql.Context, s spent.Entry) ([]accounting.Entry, error) {
	if s.Replay {
		return []accounting.Entry{{
			Kind: accounting.ReplayEntry, Principal: a.o.Principal(ctx), Statement: s.Statement, Digest: s.Digest,
			ReplayOf: s.Charge, Tables: s.Accounts,
		}}, nil
	}
	return a.o.Ledger.Entries(ctx, accounting.Filter{
		Kinds: []accounting.EntryKind{accounting.ChargeEntry}, AfterID: s.Charge - 1, BeforeID: s.Charge + 1, Limit: 1,
	})
}
