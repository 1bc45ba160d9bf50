package admin

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// verifyDoc documents the procedure that verifies the ledger.
var verifyDoc = Procedure{"dp_verify_ledger", "dp_verify_ledger()",
	"Reads and verifies all records of the ledger again while everybody goes on working, and says how many they are, how many more are in archives, " +
		"and the last record with its hash. Where it finds damage, nothing private is answered any more, and the server's log says what to do. For a DBA or an auditor.",
	"CALL dp_verify_ledger()"}

// verifyLedger makes the procedure for go-mysql-server.
func (a *Admin) verifyLedger() sql.ExternalStoredProcedureDetails {
	t := newTable(verifyDoc.Name, nil, count("records"), count("archived"), count("last_record"), text("last_hash"))
	return sql.ExternalStoredProcedureDetails{Name: verifyDoc.Name, Schema: t.Columns, Function: func(ctx *sql.Context) (sql.RowIter, error) {
		if a.o.Principal(ctx) == "" || !a.seesAll(ctx) {
			return nil, refuse.New(refuse.NotDBA, "%s may be called by a DBA or an auditor only.", verifyDoc.Name)
		}
		r, err := a.o.Ledger.Recheck(ctx)
		if err != nil {
			return nil, err
		}
		return sql.RowsToRowIter(sql.Row{int64(r.Records), int64(r.Archived), int64(r.End.Record), r.End.Hash}), nil
	}}
}
