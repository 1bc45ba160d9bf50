package auth

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/mysql_db/serial"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/session"
	"scrim/engine/mysql/virtual"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// showGrants is SHOW GRANTS. It lists what the account can do on this server: a privilege that
// moves nothing here is left out.
type showGrants struct {
	virtual.Leaf
	of    plan.UserName
	lines []string
}

var _ sql.ExecSourceRel = (*showGrants)(nil)

// ShowGrants returns the node that stands for SHOW GRANTS. An account sees its own grants, with
// those of its roles, which are all active; a DBA and an auditor see everybody's.
func ShowGrants(db *mysql_db.MySQLDb, by Caller, n *plan.ShowGrants) (sql.Node, error) {
	of := plan.UserName{Name: by.User, Host: by.Host}
	self := n.CurrentUser || n.For == nil
	if !self {
		of = *n.For
	}
	user, host := nameOf(of)
	if !by.DBA && !by.Auditor && (user != by.User || host != by.Host) {
		return nil, notDBA("SHOW GRANTS FOR another account")
	}
	using, err := rolesUsed(db, of, n.Using, self)
	if err != nil {
		return nil, err
	}
	lines, ok := Grants(db, user, host, using)
	if !ok {
		return nil, sql.ErrShowGrantsUserDoesNotExist.New(user, host)
	}
	return &showGrants{of: plan.UserName{Name: user, Host: host}, lines: lines}, nil
}

// rolesUsed returns the roles whose privileges SHOW GRANTS lists as the account's: all of its own
// for the account itself, else those that the statement names.
func rolesUsed(db *mysql_db.MySQLDb, of plan.UserName, using []plan.UserName, self bool) ([]string, error) {
	user, host := nameOf(of)
	granted := Roles(db, user, host)
	if self && len(using) == 0 {
		return granted, nil
	}
	var used []string
	for _, r := range using {
		name, at := nameOf(r)
		if at != anyHost || !slices.Contains(granted, name) {
			return nil, mysql.NewSQLError(3530, "HY000", "%s is not granted to %s", r.String("`"), of.String("`"))
		}
		used = append(used, name)
	}
	return used, nil
}

// Grants returns as GRANT statements what an account or role can do, the privileges of the given
// roles included; false if there is no such account.
func Grants(db *mysql_db.MySQLDb, user, host string, using []string) ([]string, bool) {
	rd := db.Reader()
	defer rd.Close()
	u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	if !ok {
		return nil, false
	}
	to := " TO " + u.UserHostToString("`")
	return append(privilegeLines(privilegesIn(rd, u, using), to), roleLines(rd, u, to)...), true
}

// privilegesIn returns what an account or role can do by itself and by some roles.
func privilegesIn(rd *mysql_db.Reader, u *mysql_db.User, using []string) mysql_db.PrivilegeSet {
	set := u.PrivilegeSet.Copy()
	for _, name := range using {
		if role, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: name, Host: anyHost}); ok {
			set.UnionWith(role.PrivilegeSet)
		}
	}
	if !u.IsRole {
		set.AddDatabase(session.DPDatabase, sql.PrivilegeType_Select)
	}
	return set
}

// privilegeLines lists the privileges of a set, without the ones that cannot be used.
func privilegeLines(set mysql_db.PrivilegeSet, to string) []string {
	if set.Has(sql.PrivilegeType_Super) {
		return []string{"GRANT ALL PRIVILEGES ON *.*" + to + " WITH GRANT OPTION"}
	}
	lines := []string{grantLine(set.Has, globalPrivileges, "*.*", to)}
	if lines[0] == "" {
		lines[0] = "GRANT USAGE ON *.*" + to
	}
	for _, d := range set.GetDatabases() {
		if strings.EqualFold(d.Name(), mysqlDatabase) {
			continue
		}
		name := sqltext.Name(d.Name())
		lines = append(lines, grantLine(d.Has, tablePrivileges, name+".*", to))
		for _, t := range d.GetTables() {
			lines = append(lines, grantLine(t.Has, tablePrivileges, name+"."+sqltext.Name(t.Name()), to))
		}
	}
	return slices.DeleteFunc(lines, func(s string) bool { return s == "" })
}

// The privileges that an account can use that is no DBA.
var (
	tablePrivileges  = []sql.PrivilegeType{sql.PrivilegeType_Select, sql.PrivilegeType_Insert, sql.PrivilegeType_Update, sql.PrivilegeType_Delete}
	globalPrivileges = append(slices.Clone(tablePrivileges), sql.PrivilegeType_ShowDB)
)

func grantLine(has func(...sql.PrivilegeType) bool, known []sql.PrivilegeType, on, to string) string {
	var held []string
	for _, p := range known {
		if has(p) {
			held = append(held, p.String())
		}
	}
	grantable := has(sql.PrivilegeType_GrantOption)
	if len(held) == 0 && !grantable {
		return ""
	}
	if len(held) == 0 {
		held = []string{"USAGE"}
	}
	line := "GRANT " + strings.Join(held, ", ") + " ON " + on + to
	if grantable {
		line += " WITH GRANT OPTION"
	}
	return line
}

// roleLines lists the roles that an account has been granted.
func roleLines(rd *mysql_db.Reader, u *mysql_db.User, to string) []string {
	var plain, admin []string
	for _, e := range rd.GetToUserRoleEdges(mysql_db.RoleEdgesToKey{ToHost: u.Host, ToUser: u.User}) {
		if role, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: e.FromUser, Host: e.FromHost}); !ok || !role.IsRole {
			continue
		}
		if e.WithAdminOption {
			admin = append(admin, e.FromString("`"))
		} else {
			plain = append(plain, e.FromString("`"))
		}
	}
	slices.Sort(plain)
	slices.Sort(admin)
	var lines []string
	if len(plain) > 0 {
		lines = append(lines, "GRANT "+strings.Join(plain, ",")+to)
	}
	if len(admin) > 0 {
		lines = append(lines, "GRANT "+strings.Join(admin, ",")+to+" WITH ADMIN OPTION")
	}
	return lines
}

// IsReadOnly implements sql.Node.
func (*showGrants) IsReadOnly() bool { return true }

// String implements sql.Node.
func (n *showGrants) String() string { return "SHOW GRANTS FOR " + n.of.String("`") }

// Schema implements sql.Node.
func (n *showGrants) Schema(*sql.Context) sql.Schema {
	return sql.Schema{{Name: "Grants for " + n.of.String(""), Type: types.LongText}}
}

// WithChildren implements sql.Node.
func (n *showGrants) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(n, children...)
}

// RowIter implements sql.ExecSourceRel.
func (n *showGrants) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(lists.Map(n.lines, func(l string) sql.Row { return sql.Row{l} })...), nil
}

// ShowCreateUser writes the statement that makes an account, but for its password. A role is an
// account that nobody can log in to.
func ShowCreateUser(db *mysql_db.MySQLDb, user, host string) (string, bool) {
	rd := db.Reader()
	defer rd.Close()
	u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	if !ok {
		return "", false
	}
	expire, lock := " DEFAULT", "UNLOCK"
	if u.Locked || u.IsRole {
		lock = "LOCK"
	}
	if u.IsRole {
		expire = ""
	}
	with := ""
	if n := Connections(u); n > 0 {
		with = fmt.Sprintf(" WITH MAX_USER_CONNECTIONS %d", n)
	}
	return "CREATE USER " + u.UserHostToString("`") + " IDENTIFIED WITH '" + u.Plugin + "' REQUIRE NONE" + with + " PASSWORD EXPIRE" + expire + " ACCOUNT " + lock, true
}

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
