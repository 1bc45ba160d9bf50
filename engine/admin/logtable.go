package admin

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
)

// logTable is dp.ledger with what has been taken from a statement's WHERE, ORDER BY and LIMIT. The
// statement keeps its WHERE: what is taken from it spares reading and decides nothing.
type logTable struct {
	*table
	a      *Admin
	filter accounting.Filter // its Limit: how many entries the first read asks for
	// whole: every condition of the statement is in the filter. from and to: some of them bound the
	// time, to the second, which is less than exactly.
	whole, from, to bool
}

var _ sql.Table = (*logTable)(nil)

func (a *Admin) ledgerTable() *table {
	return newPaged("ledger", func(ctx *sql.Context) func() ([]sql.Row, error) {
		return a.ledger(ctx, accounting.Filter{}, 0)
	}, ledgerColumns...)
}

// newLog returns the table as a statement finds it.
func newLog(a *Admin, t *table) *logTable { return &logTable{table: t, a: a, whole: true} }

// read makes the table read by its filter, and no more than most entries, where that is not 0.
func (t logTable) read(most int) *logTable {
	filter := t.filter
	t.table = newPaged("ledger", func(ctx *sql.Context) func() ([]sql.Row, error) {
		return t.a.ledger(ctx, filter, most)
	}, ledgerColumns...)
	return &t
}
