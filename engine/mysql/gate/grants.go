package gate

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/session"
	"scrim/internal/sqltext"
)

// checkTables closes the ways around the grants that go-mysql-server leaves open: the grant tables
// are changed by account statements only and read by DBAs only, and who changes rows by a condition
// on them, or by what is there already, may read them.
func checkTables(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, n sql.Node) error {
	top, changes := n, changesRows(n)
	var err error
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if err != nil {
			return false
		}
		switch n := n.(type) {
		case *plan.ResolvedTable:
			if err = checkGrantTable(by, n, changes); err == nil {
				err = checkInbox(top, n)
			}
		case *plan.InsertInto:
			err = checkInsert(ctx, grants, by, n)
		case *plan.Update:
			err = mayReadAll(ctx, grants, by, n)
		case *plan.DeleteFrom:
			err = mayReadAll(ctx, grants, by, n)
		}
		return err == nil
	})
	return err
}

// changesRows reports whether a statement writes.
func changesRows(n sql.Node) bool {
	switch n.(type) {
	case *plan.InsertInto, *plan.Update, *plan.DeleteFrom, *plan.Truncate:
		return true
	}
	return false
}

// checkGrantTable refuses access to the tables of the database mysql.
func checkGrantTable(by auth.Caller, t *plan.ResolvedTable, changes bool) error {
	if t.SqlDatabase == nil || !strings.EqualFold(t.SqlDatabase.Name(), "mysql") {
		return nil
	}
	if changes {
		return unsupported("The tables of the database mysql are not changed by hand.", "Use CREATE USER, DROP USER, GRANT and REVOKE.")
	}
	if !by.DBA {
		return denied("SELECT", by, t.Name())
	}
	return nil
}

// checkInsert asks for what an INSERT does beside inserting: ON DUPLICATE KEY UPDATE changes rows
// that are there, and RETURNING, which would show them, is refused.
func checkInsert(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, n *plan.InsertInto) error {
	if len(n.Returning) > 0 {
		return unsupported("INSERT … RETURNING is not supported.", "Leave RETURNING out; LAST_INSERT_ID() gives a key that the server made.")
	}
	if by.DBA || !n.OnDupExprs.HasUpdates() {
		return nil
	}
	if err := mayDo(ctx, grants, by, "UPDATE", n.Destination, sql.PrivilegeType_Update); err != nil {
		return err
	}
	return mayReadAll(ctx, grants, by, n.Destination)
}

// mayReadAll asks for the privilege SELECT on every table of a statement that changes rows that are
// there: how many it changed is an answer about them.
func mayReadAll(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, n sql.Node) error {
	if by.DBA {
		return nil
	}
	return mayDo(ctx, grants, by, "SELECT", n, sql.PrivilegeType_Select)
}

// mayDo asks for a privilege on every table below n.
func mayDo(ctx *sql.Context, grants *mysql_db.MySQLDb, by auth.Caller, name string, n sql.Node, p sql.PrivilegeType) error {
	var err error
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		t, ok := n.(*plan.ResolvedTable)
		if !ok || t.SqlDatabase == nil || err != nil {
			return err == nil
		}
		subject := sql.PrivilegeCheckSubject{Database: t.SqlDatabase.Name(), Table: t.Name()}
		if !grants.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(subject, p)) {
			err = denied(name, by, t.Name())
		}
		return true
	})
	return err
}

func denied(command string, by auth.Caller, table string) error {
	return mysql.NewSQLError(1142, "42000", "%s command denied to user '%s'@'%s' for table '%s'", command, by.User, by.Host, table)
}

// CurrentRole is the function CURRENT_ROLE(): the roles that the account has been granted, which
// are all active, as MySQL writes them.
func CurrentRole(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) > 0 {
		return nil, sql.ErrInvalidArgumentNumber.New("current_role", 0, len(args))
	}
	roles := session.Roles(ctx)
	for i, r := range roles {
		roles[i] = sqltext.Name(r) + "@`%`"
	}
	if len(roles) == 0 {
		roles = []string{"NONE"}
	}
	return expression.NewLiteral(strings.Join(roles, ","), types.LongText), nil
}
