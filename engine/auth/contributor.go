package auth

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/engine/session"
)

// Contributor reports whether the account user@host, its host as it is defined, is there to send
// reports and for nothing else: all that it and its roles have been granted is INSERT on the
// database inbox or on tables of it. One of the server's own roles makes it another account, and so
// does any other privilege, but SELECT on the database dp, which everybody has.
func Contributor(db *mysql_db.MySQLDb, inbox, user, host string) bool {
	rd := db.Reader()
	defer rd.Close()
	u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	if !ok || u.IsRole {
		return false
	}
	roles := rolesIn(rd, user, host)
	return !slices.ContainsFunc(roles, IsOwnRole) && insertsOnly(privilegesIn(rd, u, roles), inbox)
}

// insertsOnly reports whether a set has INSERT on a database or its tables, and nothing besides but
// SELECT on dp.
func insertsOnly(set mysql_db.PrivilegeSet, inbox string) bool {
	if !only(set.ToSlice()) || len(set.ToSliceDynamic(true))+len(set.ToSliceDynamic(false)) > 0 {
		return false
	}
	inserts := false
	for _, d := range set.GetDatabases() {
		may := sql.PrivilegeType_Select
		if own := strings.EqualFold(d.Name(), inbox); own {
			may = sql.PrivilegeType_Insert
			inserts = inserts || hasInsert(d)
		} else if !strings.EqualFold(d.Name(), session.DPDatabase) && d.HasPrivileges() {
			return false
		}
		if !only(d.ToSlice(), may) || len(d.GetRoutines()) > 0 || slices.ContainsFunc(d.GetTables(), func(t sql.PrivilegeSetTable) bool {
			return !only(t.ToSlice(), may) || len(t.GetColumns()) > 0
		}) {
			return false
		}
	}
	return inserts
}

func only(held []sql.PrivilegeType, may ...sql.PrivilegeType) bool {
	return !slices.ContainsFunc(held, func(p sql.PrivilegeType) bool { return !slices.Contains(may, p) })
}

func hasInsert(d sql.PrivilegeSetDatabase) bool {
	return d.Has(sql.PrivilegeType_Insert) || slices.ContainsFunc(d.GetTables(), func(t sql.PrivilegeSetTable) bool {
		return t.Has(sql.PrivilegeType_Insert)
	})
}
