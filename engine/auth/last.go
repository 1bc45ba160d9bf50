package auth

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/session"
	"scrim/internal/refuse"
)

// checkLast refuses a statement after which nobody could log in as a DBA: there is no way back.
func checkLast(db *mysql_db.MySQLDb, n sql.Node) error {
	var losers []plan.UserName
	switch n := n.(type) {
	case *plan.DropUser:
		losers = n.Users
	case *plan.RevokeRole:
		if slices.ContainsFunc(n.Roles, func(r plan.UserName) bool { return r.Name == session.DBA }) {
			losers = n.TargetUsers
		}
	case *plan.Revoke:
		if n.PrivilegeLevel.Database == "*" && slices.ContainsFunc(n.Privileges, func(p plan.Privilege) bool {
			return p.Type == plan.PrivilegeType_Super || p.Type == plan.PrivilegeType_All
		}) {
			losers = n.Users
		}
	}
	if len(losers) == 0 {
		return nil
	}
	lost := map[string]bool{}
	for _, l := range losers {
		user, host := nameOf(l)
		lost[user+"@"+host] = true
	}
	for _, a := range Accounts(db) {
		if a.DBA && !a.Role && !a.Locked && !lost[a.Name] {
			return nil
		}
	}
	return refuse.New(refuse.Policy, "No other account is a DBA, and nobody could make one afterwards.").
		With("GRANT dba TO another account first.")
}
