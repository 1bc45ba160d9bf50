package gate

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/inbox"
)

// MaySubmit asks for the privilege to INSERT into a table of dp_in.
func MaySubmit(ctx *sql.Context, grants *mysql_db.MySQLDb, table string) error {
	subject := sql.PrivilegeCheckSubject{Database: inbox.Name, Table: table}
	if grants.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(subject, sql.PrivilegeType_Insert)) {
		return nil
	}
	return denied("INSERT", CallerOf(ctx), table)
}

// checkInbox refuses statements about a table of dp_in that neither insert into it nor show what it
// is.
func checkInbox(n sql.Node, t *plan.ResolvedTable) error {
	if _, ok := sql.GetUnderlyingTable(t.Table).(*inbox.Table); !ok {
		return nil
	}
	switch n.(type) {
	case *plan.InsertInto, // as a source, its rows are refused when they are read
		*plan.ShowColumns, *plan.ShowCreateTable, *plan.ShowIndexes, *plan.DescribeQuery, *plan.ShowTables:
		return nil
	}
	return inbox.InsertOnly()
}
