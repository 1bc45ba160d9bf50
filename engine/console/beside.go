package console

import (
	"context"
	"time"

	"scrim/internal/client"
	"scrim/internal/sqltext"
)

// beside asks on the connection that runs nothing. The browser's going away does not cut it: the
// driver would close the connection, and the session with it.
func beside(ctx context.Context, a *account, database string, query string) (table, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := within(ctx, a.side, database); err != nil {
		return table{}, err
	}
	return ask(ctx, a.side, query)
}

// names lists the columns that the account may name, what their tables are declared to be, and the
// words of the language.
func names(ctx context.Context, a *account, _ asked) (any, error) {
	columns, err := beside(ctx, a, "", `SELECT c.table_schema, c.table_name, c.column_name, c.column_type FROM information_schema.columns c
		WHERE c.table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys', 'dp', 'dp_in') ORDER BY c.table_schema, c.table_name, c.ordinal_position`)
	if err != nil {
		return nil, err
	}
	policies, err := beside(ctx, a, "", "SELECT table_name, state, entity FROM dp.policies")
	if err != nil {
		return nil, err
	}
	words, err := beside(ctx, a, "", "SELECT name, signature FROM dp.functions")
	return struct {
		Columns  table `json:"columns"`
		Policies table `json:"policies"`
		Words    table `json:"words"`
	}{columns, policies, words}, err
}

// budget tells the budgets that the account may see.
func budget(ctx context.Context, a *account, _ asked) (any, error) {
	return beside(ctx, a, "", client.BudgetQuery)
}

// history lists the account's own entries of the ledger, whoever else's it may read.
func history(ctx context.Context, a *account, _ asked) (any, error) {
	return beside(ctx, a, "", "SELECT id, charged_at, entry, statement, account, epsilon, rho, outcome, remark FROM dp.ledger "+
		"WHERE principal = "+sqltext.Text(a.name)+" AND entry IN ('charge', 'replay') AND (account_type = 'table' OR account_type IS NULL) ORDER BY id DESC LIMIT 50")
}

// price tells what a statement would cost. It charges nothing.
func price(ctx context.Context, a *account, q asked) (any, error) {
	statement, err := single(q.SQL)
	if err != nil {
		return nil, err
	}
	return beside(ctx, a, q.Database, priceQuery(statement))
}

func priceQuery(statement string) string { return "CALL dp_price(" + sqltext.Text(statement) + ")" }

// explain shows the plan. It charges nothing.
func explain(ctx context.Context, a *account, q asked) (any, error) {
	statement, err := single(q.SQL)
	if err != nil {
		return nil, err
	}
	return beside(ctx, a, q.Database, "EXPLAIN "+statement)
}
