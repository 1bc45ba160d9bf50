package engine

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/auth"
	"scrim/engine/browse"
	"scrim/engine/gate"
	"scrim/engine/session"
	"scrim/engine/store"
	"scrim/engine/tables"
	"scrim/engine/wire"
)

// browsing is what the catalogue that clients browse is made of.
func (s *Server) browsing(provider *tables.Provider) browse.Options {
	o := browse.Options{
		Tables:         provider,
		Public:         func(ref store.TableRef) bool { return s.catalog.Snapshot().Table(ref.String()).State == catalog.Public },
		DBA:            session.IsDBA,
		All:            func(ctx *sql.Context) bool { return session.IsDBA(ctx) || session.IsAuditor(ctx) },
		Roles:          session.Roles,
		ShowCreateUser: s.showCreateUser,
		Traffic:        s.traffic,
		TLS:            tlsOf,
	}
	for _, p := range admin.Procedures() {
		o.Routines = append(o.Routines, browse.Routine{Name: p.Name, Signature: p.Signature, Doc: p.Doc})
	}
	return o
}

// clientConn is the client's connection, nil where there is none.
func clientConn(ctx *sql.Context) *wire.Conn {
	own, ok := session.From(ctx)
	if !ok {
		return nil
	}
	c, _ := own.Conn.(*wire.Conn)
	return c
}

// traffic counts the bytes of the session's connection, or of all.
func (s *Server) traffic(ctx *sql.Context, all bool) (received, sent uint64) {
	if all {
		return s.sockets.Traffic()
	}
	if c := clientConn(ctx); c != nil {
		return c.Traffic()
	}
	return 0, 0
}

// tlsOf names the cipher and the version of TLS of the session's connection.
func tlsOf(ctx *sql.Context) (cipher, version string) {
	c := clientConn(ctx)
	if c == nil {
		return "", ""
	}
	version, cipher = c.TLS()
	return cipher, version
}

// tellLimits makes the variables that tell of the server's limits true. go-mysql-server would take them for limits of its own while it is
// assembled.
func tellLimits(c Config) error {
	return sql.SystemVariables.AssignValues(map[string]any{
		"max_allowed_packet": int64(c.MaxPacket), "max_connections": int64(c.MaxConnections),
		gate.MaxUserConnections: int64(c.MaxUserConnections),
	})
}

// showCreateUser writes the statement that makes an account, but for its password. A role is an
// account that nobody can log in to.
func (s *Server) showCreateUser(user, host string) (string, bool) {
	rd := s.analyzer.Catalog.MySQLDb.Reader()
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
	if n := auth.Connections(u); n > 0 {
		with = fmt.Sprintf(" WITH MAX_USER_CONNECTIONS %d", n)
	}
	return "CREATE USER " + u.UserHostToString("`") + " IDENTIFIED WITH '" + u.Plugin + "' REQUIRE NONE" + with + " PASSWORD EXPIRE" + expire + " ACCOUNT " + lock, true
}
