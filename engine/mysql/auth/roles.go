package auth

import (
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/mysql_db/serial"

	"scrim/engine/mysql/session"
)

// anyHost is the host of an account that is not bound to one. All roles have it.
const anyHost = "%"

// ownRoles are the roles that every server has, with the privileges that they get when they are
// made. Those of dba are fixed; a DBA may grant to the others and revoke from them.
var ownRoles = []struct {
	name       string
	privileges func() mysql_db.PrivilegeSet
}{
	{session.DBA, mysql_db.NewPrivilegeSetWithAllPrivileges},
	{session.Analyst, func() mysql_db.PrivilegeSet { return global(sql.PrivilegeType_Select) }},
	{session.Auditor, mysql_db.NewPrivilegeSet},
	{session.Importer, func() mysql_db.PrivilegeSet { return global(sql.PrivilegeType_Insert) }},
	{session.Collector, mysql_db.NewPrivilegeSet},
	{session.Shuffler, mysql_db.NewPrivilegeSet},
}

func global(p ...sql.PrivilegeType) mysql_db.PrivilegeSet {
	set := mysql_db.NewPrivilegeSet()
	set.AddGlobalStatic(p...)
	return set
}

// IsOwnRole reports whether name is one of the roles that every server has.
func IsOwnRole(name string) bool {
	for _, r := range ownRoles {
		if r.name == name {
			return true
		}
	}
	return false
}

// makeRoles makes the server's roles where they are missing, gives dba what it has to have, and
// persists. An account of an older data directory that has a role's name stays what it is.
func makeRoles(ctx *sql.Context, db *mysql_db.MySQLDb, ed *mysql_db.Editor) error {
	for _, r := range ownRoles {
		u, ok := ed.GetUser(mysql_db.UserPrimaryKey{User: r.name, Host: anyHost})
		switch {
		case !ok:
			ed.PutUser(&mysql_db.User{
				User: r.name, Host: anyHost, PrivilegeSet: r.privileges(),
				Plugin: "mysql_native_password", PasswordLastChanged: time.Now().UTC(), Locked: true, IsRole: true,
			})
		case u.IsRole && r.name == session.DBA:
			u.PrivilegeSet.UnionWith(r.privileges())
		}
	}
	return db.Persist(ctx, ed)
}

// repair restores what go-mysql-server writes, or should write, and does not read back: which
// accounts are roles, who may grant a role on, and grants on names with capital letters.
func repair(ed *mysql_db.Editor, data []byte) {
	ed.VisitUsers(func(u *mysql_db.User) {
		// No account is without a password, and only roles are locked and have none.
		u.IsRole = u.Locked && u.AuthString == ""
		u.PrivilegeSet = folded(u.PrivilegeSet)
	})
	repairEdges(ed, data)
}

// repairEdges restores who may grant a role on.
func repairEdges(ed *mysql_db.Editor, data []byte) {
	file := serial.GetRootAsMySQLDb(data, 0)
	admin := map[mysql_db.RoleEdge]bool{}
	for i := range file.RoleEdgesLength() {
		var e serial.RoleEdge
		if file.RoleEdges(&e, i) && e.WithAdminOption() {
			admin[mysql_db.RoleEdge{
				FromHost: string(e.FromHost()), FromUser: string(e.FromUser()),
				ToHost: string(e.ToHost()), ToUser: string(e.ToUser()),
			}] = true
		}
	}
	ed.VisitRoleEdges(func(e *mysql_db.RoleEdge) { e.WithAdminOption = admin[*e] })
}

// folded returns the same privileges with names found whatever their case.
func folded(p mysql_db.PrivilegeSet) mysql_db.PrivilegeSet {
	set := mysql_db.NewPrivilegeSet()
	set.AddGlobalStatic(p.ToSlice()...)
	for _, grantable := range []bool{true, false} {
		set.AddGlobalDynamic(grantable, p.ToSliceDynamic(grantable)...)
	}
	for _, d := range p.GetDatabases() {
		set.AddDatabase(d.Name(), d.ToSlice()...)
		for _, t := range d.GetTables() {
			set.AddTable(d.Name(), t.Name(), t.ToSlice()...)
			for _, c := range t.GetColumns() {
				set.AddColumn(d.Name(), t.Name(), c.Name(), c.ToSlice()...)
			}
		}
		for _, r := range d.GetRoutines() {
			set.AddRoutine(d.Name(), r.RoutineName(), r.RoutineType() == "PROCEDURE", r.ToSlice()...)
		}
	}
	return set
}

// Shadowed returns the server's roles that an account of an older data directory keeps from being
// there by having their name.
func Shadowed(db *mysql_db.MySQLDb) []string {
	var list []string
	for _, r := range ownRoles {
		if !IsRole(db, r.name) {
			list = append(list, r.name)
		}
	}
	return list
}

// IsRole reports whether there is a role of that name.
func IsRole(db *mysql_db.MySQLDb, name string) bool {
	u := account(db, name, anyHost)
	return u != nil && u.IsRole
}

// Roles returns the names of the roles granted to the account user@host, its host as it is defined,
// sorted. A role is one that CREATE ROLE made, for all hosts; an account that was granted to
// another as if it were a role is none.
func Roles(db *mysql_db.MySQLDb, user, host string) []string {
	rd := db.Reader()
	defer rd.Close()
	return rolesIn(rd, user, host)
}

func rolesIn(rd *mysql_db.Reader, user, host string) []string {
	var names []string
	for _, e := range rd.GetToUserRoleEdges(mysql_db.RoleEdgesToKey{ToHost: host, ToUser: user}) {
		role, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: e.FromUser, Host: e.FromHost})
		if ok && role.IsRole && role.Host == anyHost {
			names = append(names, role.User)
		}
	}
	slices.Sort(names)
	return names
}
