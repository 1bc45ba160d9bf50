package engine

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/auth"
	"scrim/engine/browse"
	"scrim/engine/session"
	"scrim/engine/store"
	"scrim/engine/wire"
)

// browsing is what the catalogue that clients browse is made of.
func (s *Server) browsing() browse.Options {
	o := browse.Options{
		Tables: s.tables,
		Public: func(ref store.TableRef) bool { return s.catalog.Snapshot().Table(ref.String()).State == catalog.Public },
		DBA:    session.IsDBA,
		All:    func(ctx *sql.Context) bool { return session.IsDBA(ctx) || session.IsAuditor(ctx) },
		Roles:  session.Roles,
		ShowCreateUser: func(user, host string) (string, bool) {
			return auth.ShowCreateUser(s.analyzer.Catalog.MySQLDb, user, host)
		},
		Traffic: s.traffic,
		TLS:     tlsOf,
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
