package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/engine/admin"
	"scrim/engine/browse"
	"scrim/engine/session"
	"scrim/engine/tables"
)

// browsing is what the catalogue that clients browse is made of.
func (s *Server) browsing(provider *tables.Provider) browse.Options {
	o := browse.Options{
		Tables:         provider,
		DBA:            session.IsDBA,
		All:            func(ctx *sql.Context) bool { return session.IsDBA(ctx) || session.IsAuditor(ctx) },
		Roles:          session.Roles,
		ShowCreateUser: s.showCreateUser,
	}
	for _, p := range admin.Procedures() {
		o.Routines = append(o.Routines, browse.Routine{Name: p.Name, Signature: p.Signature, Doc: p.Doc})
	}
	return o
}

// showCreateUser writes the statement that makes an account, but for its password.
func (s *Server) showCreateUser(user, host string) (string, bool) {
	rd := s.analyzer.Catalog.MySQLDb.Reader()
	defer rd.Close()
	u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: user, Host: host})
	if !ok || u.IsRole {
		return "", false
	}
	lock := "UNLOCK"
	if u.Locked {
		lock = "LOCK"
	}
	return "CREATE USER " + u.UserHostToString("`") + " IDENTIFIED WITH '" + u.Plugin + "' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT " + lock, true
}
