package auth

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/session"
	"scrim/internal/refuse"
)

func checkCreateRole(by Caller, n *plan.CreateRole) error {
	if !by.DBA {
		return notDBA("CREATE ROLE")
	}
	for _, r := range n.Roles {
		if name, host := nameOf(r); name == "" || host != anyHost {
			return refuse.New(refuse.Unsupported, "The role %s is bound to a host.", r.String("`")).With("Give the role's name alone.")
		}
	}
	return nil
}

func checkDropRole(by Caller, n *plan.DropRole) error {
	if !by.DBA {
		return notDBA("DROP ROLE")
	}
	for _, r := range n.Roles {
		if name, host := nameOf(r); IsOwnRole(name) && host == anyHost {
			return refuse.New(refuse.Unsupported, "The role %s belongs to the server.", name).
				With("REVOKE it from its members instead.")
		}
	}
	return nil
}

// checkGrantRole lets roles be granted to accounts only. go-mysql-server would take any account for
// a role, and would not follow a role that was granted to a role.
func checkGrantRole(db *mysql_db.MySQLDb, n *plan.GrantRole) error {
	for _, r := range n.Roles {
		if u := named(db, r); u == nil || !u.IsRole {
			return refuse.New(refuse.Unsupported, "%s is not a role.", r.String("`")).
				With("Name one of the roles dba, analyst, auditor, importer, collector and shuffler, or one that CREATE ROLE made.")
		}
	}
	for _, t := range n.TargetUsers {
		if u := named(db, t); u != nil && u.IsRole {
			return refuse.New(refuse.Unsupported, "%s is a role, and roles are granted to accounts.", t.String("`")).
				With("GRANT both roles to the account.")
		}
	}
	return exactly(db, "GRANT", n.TargetUsers)
}

// checkRevokeRole keeps members in their roles: a role's budget caps what its members spend, and
// who may grant the role on must not take it off, from themselves or each other, when its budget is
// used up.
func checkRevokeRole(db *mysql_db.MySQLDb, by Caller, n *plan.RevokeRole) error {
	if !by.DBA {
		return notDBA("REVOKE of a role")
	}
	return exactly(db, "REVOKE", n.TargetUsers)
}

func checkGrant(ctx *sql.Context, db *mysql_db.MySQLDb, by Caller, n *plan.Grant) error {
	if !by.DBA && !n.CheckAuth(ctx, strict{db}) {
		return sql.ErrPrivilegeCheckFailed.New(callerName(by))
	}
	if err := checkTargets(db, by, "GRANT", n.Users); err != nil {
		return err
	}
	for _, p := range n.Privileges {
		if len(p.Columns) > 0 {
			return refuse.New(refuse.Unsupported, "Privileges on single columns are not supported.").
				With("Grant the privilege on the table, or on a view of the columns.")
		}
	}
	warnOfNothing(ctx, n)
	return nil
}

func checkRevoke(ctx *sql.Context, db *mysql_db.MySQLDb, by Caller, n *plan.Revoke) error {
	if !by.DBA && !n.CheckAuth(ctx, strict{db}) {
		return sql.ErrPrivilegeCheckFailed.New(callerName(by))
	}
	return checkTargets(db, by, "REVOKE", n.Users)
}

func callerName(by Caller) string {
	return mysql_db.User{User: by.User, Host: by.Host}.UserHostToString("'")
}

// checkTargets keeps the role dba as it is, and the other roles to DBAs.
func checkTargets(db *mysql_db.MySQLDb, by Caller, statement string, list []plan.UserName) error {
	for _, t := range list {
		u := named(db, t)
		switch {
		case u == nil || !u.IsRole:
		case u.User == session.DBA:
			return refuse.New(refuse.Unsupported, "The privileges of the role dba are fixed: all of them.").
				With("Make a role of your own with CREATE ROLE.")
		case !by.DBA:
			return notDBA("A change of what a role may do")
		}
	}
	return exactly(db, statement, list)
}

// strict is the check of privileges without the shortcut that UPDATE on the database mysql stands
// for the right to grant everything: nobody updates those tables here.
type strict struct{ *mysql_db.MySQLDb }

// UserHasPrivileges implements sql.PrivilegedOperationChecker.
func (s strict) UserHasPrivileges(ctx *sql.Context, ops ...sql.PrivilegedOperation) bool {
	for _, o := range ops {
		if o.Database == mysqlDatabase {
			return false
		}
	}
	return s.MySQLDb.UserHasPrivileges(ctx, ops...)
}

// mysqlDatabase is the database of the grant tables.
const mysqlDatabase = "mysql"

// warnOfNothing warns of privileges that nobody but a DBA can use on this server, so that a script
// made for MySQL goes through and yet says what it did not do.
func warnOfNothing(ctx *sql.Context, n *plan.Grant) {
	for _, p := range n.Privileges {
		switch p.Type {
		case plan.PrivilegeType_All, plan.PrivilegeType_Usage, plan.PrivilegeType_Super, plan.PrivilegeType_GrantOption,
			plan.PrivilegeType_Select, plan.PrivilegeType_Insert, plan.PrivilegeType_Update, plan.PrivilegeType_Delete,
			plan.PrivilegeType_ShowDatabases:
		default:
			ctx.Warn(warningOfNothing, "This server gives no account the right to do anything by this privilege: SHOW GRANTS does not list it; tables, views and accounts are for DBAs")
			return
		}
	}
}

// warningOfNothing is MySQL's ER_ILLEGAL_PRIVILEGE_LEVEL.
const warningOfNothing = 3619
