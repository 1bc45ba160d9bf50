package auth

import (
	"cmp"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Account is an account or a role as it is shown.
type Account struct {
	Name   string // user@host; of a role its name alone
	Role   bool
	Roles  []string // granted to it
	DBA    bool
	Locked bool     // of an account: it cannot log in
	Grants []string // what it can do, the privileges of its roles included
}

// Accounts lists all accounts by name, and then the roles.
func Accounts(db *mysql_db.MySQLDb) []Account {
	rd := db.Reader()
	defer rd.Close()
	var list []Account
	rd.VisitUsers(func(u *mysql_db.User) { list = append(list, accountIn(rd, u)) })
	slices.SortFunc(list, func(a, b Account) int {
		switch {
		case a.Role == b.Role:
			return cmp.Compare(a.Name, b.Name)
		case b.Role:
			return -1
		}
		return 1
	})
	return list
}

func accountIn(rd *mysql_db.Reader, u *mysql_db.User) Account {
	a := Account{Name: u.User + "@" + u.Host, Role: u.IsRole, Locked: u.Locked, Roles: rolesIn(rd, u.User, u.Host)}
	if u.IsRole {
		a.Name, a.Locked = u.User, false
	}
	set := privilegesIn(rd, u, a.Roles)
	a.DBA = set.Has(sql.PrivilegeType_Super)
	a.Grants = privilegeLines(set, " TO "+u.UserHostToString("`"))
	return a
}
