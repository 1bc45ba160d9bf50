package engine

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/auth"
	"scrim/engine/session"
	"scrim/engine/wire"
)

// maxUserConnections is the variable with the number of connections that one account may have.
const maxUserConnections = "max_user_connections"

// admitting adds to a login how many connections its account may have, by its own number or else by everybody's, and whether it is an
// administrator's.
func (s *Server) admitting(login wire.LoginFunc) wire.LoginFunc {
	options := s.sessionOptions()
	return func(l *wire.Login) (mysql.Getter, error) {
		u, err := login(l)
		account, ok := u.(sql.MysqlConnectionUser)
		if err != nil || !ok {
			return u, err
		}
		l.Account, l.MaxConnections = account.User+"@"+account.Host, connectionsOfAccount()
		l.OwnConnections = int(auth.ConnectionsOf(s.analyzer.Catalog.MySQLDb, account.User, account.Host))
		l.Administrator = func() bool { return administrates(account, options) }
		return u, nil
	}
}

// connectionsOfAccount is the variable's value, 0 for any number.
func connectionsOfAccount() int {
	_, v, ok := sql.SystemVariables.GetGlobal(maxUserConnections)
	if n, isInt := v.(int64); ok && isInt {
		return int(n)
	}
	return 0
}

// administrates reports whether an account is a DBA's.
func administrates(account sql.MysqlConnectionUser, options *session.Options) bool {
	base := sql.NewBaseSessionWithClientServer("login", sql.Client{User: account.User, Address: account.Host}, 0)
	return session.IsDBA(sql.NewContext(context.Background(), sql.WithSession(session.New(base, options))))
}
