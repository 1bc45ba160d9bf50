package gate

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/auth"
	"scrim/engine/session"
	"scrim/engine/wire"
)

// MaxUserConnections is the variable with the number of connections that one account may have.
const MaxUserConnections = "max_user_connections"

// Admitting adds to a login how many connections its account may have, by its own number or else by
// everybody's, and whether it is an administrator's.
func Admitting(login wire.LoginFunc, grants *mysql_db.MySQLDb, options *session.Options) wire.LoginFunc {
	return func(l *wire.Login) (mysql.Getter, error) {
		u, err := login(l)
		account, ok := u.(sql.MysqlConnectionUser)
		if err != nil || !ok {
			return u, err
		}
		l.Account, l.MaxConnections = account.User+"@"+account.Host, connectionsOfAccount()
		l.OwnConnections = int(auth.ConnectionsOf(grants, account.User, account.Host))
		l.Administrator = func() bool { return administrates(account, options) }
		return u, nil
	}
}

// connectionsOfAccount is the variable's value, 0 for any number.
func connectionsOfAccount() int {
	_, v, ok := sql.SystemVariables.GetGlobal(MaxUserConnections)
	if n, isInt := v.(int64); ok && isInt {
		return int(n)
	}
	return 0
}

// administrates reports whether an account is a DBA's.
func administrates(account sql.MysqlConnectionUser, options *session.Options) bool {
	return session.IsDBA(session.ContextOf(options, "login", account.User, account.Host))
}
