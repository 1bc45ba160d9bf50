package auth

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/accounting/budget"
	"scrim/engine/mysql/session"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Caller is the account that a statement comes from, its host as it is defined.
type Caller struct {
	User, Host   string
	DBA, Auditor bool
}

// CheckStatement refuses account statements that would weaken the log-in, let an account begin anew
// under another name (a budget belongs to the account's name), or give an account more than a DBA
// gave it. It comes after go-mysql-server's own checks and takes nothing from them.
func CheckStatement(ctx *sql.Context, db *mysql_db.MySQLDb, by Caller, n sql.Node) error {
	if err := checkKind(ctx, db, by, n); err != nil {
		return err
	}
	return checkLast(db, n)
}

func checkKind(ctx *sql.Context, db *mysql_db.MySQLDb, by Caller, n sql.Node) error {
	switch n := n.(type) {
	case *plan.CreateUser:
		if err := checkLimits(by, n); err != nil {
			return err
		}
		if n.Attribute == altered {
			return checkAlterUser(db, by, &plan.AlterUser{User: n.Users[0]}, n.Users[0].Auth1 == nil)
		}
		return checkCreateUser(by, n)
	case *plan.AlterUser:
		return checkAlterUser(db, by, n, false)
	case *plan.DropUser:
		return checkDropUser(db, by, n)
	case *plan.RenameUser:
		return refuse.New(refuse.Unsupported, "RENAME USER is not supported: budgets belong to the account's name.").
			With("Create an account of the new name and drop the old one.")
	case *plan.CreateRole:
		return checkCreateRole(by, n)
	case *plan.DropRole:
		return checkDropRole(by, n)
	case *plan.GrantRole:
		return checkGrantRole(db, n)
	case *plan.RevokeRole:
		return checkRevokeRole(db, by, n)
	case *plan.Grant:
		return checkGrant(ctx, db, by, n)
	case *plan.Revoke:
		return checkRevoke(ctx, db, by, n)
	case *plan.GrantProxy, *plan.RevokeProxy:
		return refuse.New(refuse.Unsupported, "Proxy accounts are not supported: budgets belong to the account that asks.").
			With("GRANT a role to the account instead.")
	}
	return nil
}

func notDBA(what string) error {
	return refuse.New(refuse.NotDBA, "%s is for a DBA only.", what)
}

func checkCreateUser(by Caller, n *plan.CreateUser) error {
	if !by.DBA {
		return notDBA("CREATE USER")
	}
	for i := range n.Users {
		if err := checkUser(&n.Users[i]); err != nil {
			return err
		}
	}
	if len(n.DefaultRoles) > 0 {
		return refuse.New(refuse.Unsupported, "DEFAULT ROLE is not supported: all roles that an account has been granted are active.").
			With("Leave it out, and GRANT the role to the account.")
	}
	return nil
}

// checkAlterUser lets an account change its own password, and a DBA everybody's. keeps says that
// the password stays as it is.
func checkAlterUser(db *mysql_db.MySQLDb, by Caller, n *plan.AlterUser, keeps bool) error {
	if !keeps {
		if err := checkUser(&n.User); err != nil {
			return err
		}
	}
	if err := exactly(db, "ALTER USER", []plan.UserName{n.User.UserName}); err != nil {
		return err
	}
	user, host := nameOf(n.User.UserName)
	if !by.DBA && (user != by.User || host != by.Host) {
		return notDBA("ALTER USER of another account")
	}
	return noRole(db, "ALTER USER", n.User.UserName)
}

func checkDropUser(db *mysql_db.MySQLDb, by Caller, n *plan.DropUser) error {
	if !by.DBA {
		return notDBA("DROP USER")
	}
	if err := lists.Each(n.Users, func(u plan.UserName) error { return noRole(db, "DROP USER", u) }); err != nil {
		return err
	}
	return exactly(db, "DROP USER", n.Users)
}

func checkUser(u *plan.AuthenticatedUser) error {
	if u.Name == "" {
		return refuse.New(refuse.Unsupported, "Anonymous accounts are not supported.").With("Give the account a name.")
	}
	if strings.HasPrefix(strings.ToLower(u.Name), budget.RolePrefix) {
		return refuse.New(refuse.Unsupported, "The name %q begins as the budgets of roles do.", u.Name).With("Give the account another name.")
	}
	if u.Auth1 == nil {
		return noPassword(u)
	}
	switch mysql.AuthMethodDescription(u.Auth1.Plugin()) {
	case mysql.MysqlNativePassword, mysql.CachingSha2Password:
	default:
		return refuse.New(refuse.Unsupported, "The authentication plugin %s is not supported.", u.Auth1.Plugin()).
			With("Use IDENTIFIED BY 'password', or IDENTIFIED WITH caching_sha2_password BY 'password' for logins in TLS.")
	}
	if s, err := u.Auth1.AuthString(); err != nil || s == "" {
		return noPassword(u)
	}
	return nil
}

func noPassword(u *plan.AuthenticatedUser) error {
	return refuse.New(refuse.Unsupported, "The account %s would have no password.", u.UserName.String("'")).
		With("Write IDENTIFIED BY 'password'.")
}

// nameOf returns the name and the host of an account as a statement gives them.
func nameOf(n plan.UserName) (user, host string) {
	if n.AnyHost {
		return n.Name, anyHost
	}
	return n.Name, n.Host
}

// named returns the account or role that a statement names, nil if there is none of that name and
// host.
func named(db *mysql_db.MySQLDb, n plan.UserName) *mysql_db.User {
	user, host := nameOf(n)
	return account(db, user, host)
}

// cannotUser is MySQL's ER_CANNOT_USER.
const cannotUser = 1396

// exactly refuses names for which go-mysql-server would take another account, one whose host is a
// pattern. Names that it does not find either it refuses itself.
func exactly(db *mysql_db.MySQLDb, statement string, list []plan.UserName) error {
	for _, n := range list {
		if named(db, n) != nil {
			continue
		}
		user, host := nameOf(n)
		rd := db.Reader()
		other := db.GetUser(rd, user, host, false)
		rd.Close()
		if other != nil {
			return mysql.NewSQLError(cannotUser, "HY000", "Operation %s failed for %s: there is an account %s",
				statement, n.String("'"), other.UserHostToString("'"))
		}
	}
	return nil
}

// noRole refuses a role where an account is meant.
func noRole(db *mysql_db.MySQLDb, statement string, n plan.UserName) error {
	if u := named(db, n); u != nil && u.IsRole {
		return refuse.New(refuse.Unsupported, "%s is a role, and %s is for accounts.", n.String("`"), statement).
			With("Roles are changed with GRANT and REVOKE, and dropped with DROP ROLE.")
	}
	return nil
}

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
	if slices.ContainsFunc(ops, func(o sql.PrivilegedOperation) bool { return o.Database == mysqlDatabase }) {
		return false
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
