package admin

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// backupDoc documents the procedure that copies the server's data directory.
var backupDoc = Procedure{"dp_backup", "dp_backup(name)",
	"Writes a verified backup of data, policies, accounts and ledger, as of one moment, while everybody goes on working, into a new directory of that name where the operator keeps backups. scrim restore puts it back. For a DBA.",
	"CALL dp_backup('monday')"}

// backup makes the procedure for go-mysql-server.
func (a *Admin) backup() sql.ExternalStoredProcedureDetails {
	t := newTable(backupDoc.Name, nil, text("path"), count("bytes"))
	return sql.ExternalStoredProcedureDetails{Name: backupDoc.Name, Schema: t.Columns, Function: func(ctx *sql.Context, name string) (sql.RowIter, error) {
		if a.o.Principal(ctx) == "" || !a.o.IsDBA(ctx) {
			return nil, refuse.New(refuse.NotDBA, "%s may be called by a DBA only.", backupDoc.Name)
		}
		if a.o.Backup == nil {
			return nil, refuse.New(refuse.Unsupported, "There is nothing to back up here.")
		}
		path, bytes, err := a.o.Backup(ctx, name)
		if err != nil {
			return nil, err
		}
		return sql.RowsToRowIter(sql.Row{path, bytes}), nil
	}}
}
