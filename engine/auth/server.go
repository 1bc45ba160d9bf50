package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/wire"
)

// DefaultPlugin is how accounts log in that were made without IDENTIFIED WITH.
const DefaultPlugin = wire.NativePassword

// Server decides on logins: by mysql_native_password and by caching_sha2_password, each in TLS and in
// clear.
type Server struct {
	db     *mysql_db.MySQLDb
	key    *Key
	failed func(user string, from net.Addr)
	seen   seen
	decoy  [32]byte
}

// NewServer decides by the accounts in db. key decrypts the passwords that come in clear connections.
// failed, if not nil, is told about refused logins.
func NewServer(db *mysql_db.MySQLDb, key *Key, failed func(user string, from net.Addr)) *Server {
	s := &Server{db: db, key: key, failed: failed}
	_, _ = rand.Read(s.decoy[:]) // never fails
	return s
}

// errDenied is every reason for a refusal: the client is not told which.
var errDenied = errors.New("auth: access denied")

// Login is a wire.LoginFunc. All refusals are the same to the client, whether there is such an account
// or not, and take the same messages and about the same time: for a name without an account the
// exchange is that of some account's plugin, always the same one for a name, and ends in the check of
// a password that nobody has.
func (s *Server) Login(l *wire.Login) (mysql.Getter, error) {
	u := s.account(l)
	err := s.check(l, u)
	if err != nil || u.User == "" {
		if s.failed != nil {
			s.failed(l.User, l.From)
		}
		given := "YES"
		if !hasResponse(l) {
			given = "NO"
		}
		return nil, mysql.NewSQLError(mysql.ERAccessDeniedError, mysql.SSAccessDeniedError,
			"Access denied for user '%s'@'%s' (using password: %s)", l.User, hostOf(l.From), given)
	}
	return sql.MysqlConnectionUser{User: u.User, Host: u.Host}, nil
}

// hasResponse reports whether the client has answered with something: no account has an empty password.
func hasResponse(l *wire.Login) bool {
	return len(l.Response) > 1 || len(l.Response) == 1 && l.Response[0] != 0
}

// account is what a check needs of the account that the client would log in to. Where it cannot log in
// that way, User is empty and the password one that nobody has.
func (s *Server) account(l *wire.Login) mysql_db.User {
	rd := s.db.Reader()
	defer rd.Close()
	u := s.db.GetUser(rd, l.User, hostOf(l.From), false)
	if u != nil && u.User != "" && u.AuthString != "" && !u.IsRole && !u.Locked && (u.SslType == "" || u.SslType == "ANY" && l.Secure) {
		return mysql_db.User{User: u.User, Host: u.Host, Plugin: u.Plugin, AuthString: u.AuthString}
	}
	if u != nil && u.Plugin != "" && !u.IsRole {
		return nobody(u.Plugin)
	}
	return nobody(s.decoyPlugin(rd, l.User))
}

// decoyPlugin chooses the plugin of an account by the name, with a key: names without an account are
// spread over the plugins as the accounts are.
func (s *Server) decoyPlugin(rd *mysql_db.Reader, name string) string {
	var plugins []string
	rd.VisitUsers(func(u *mysql_db.User) {
		if !u.IsRole && u.AuthString != "" {
			plugins = append(plugins, u.Plugin)
		}
	})
	if len(plugins) == 0 {
		return DefaultPlugin
	}
	native := 0
	for _, p := range plugins {
		if p != wire.CachingSHA2 {
			native++
		}
	}
	mac := hmac.New(sha256.New, s.decoy[:])
	mac.Write([]byte(name))
	if binary.LittleEndian.Uint64(mac.Sum(nil))%uint64(len(plugins)) < uint64(native) {
		return wire.NativePassword
	}
	return wire.CachingSHA2
}

// nobody is an account without a name, whose password nobody has.
func nobody(plugin string) mysql_db.User {
	if plugin == wire.CachingSHA2 {
		return mysql_db.User{Plugin: plugin, AuthString: "$A$005$nobody-has-such-salt" + "0123456789012345678901234567890123456789012"}
	}
	return mysql_db.User{Plugin: wire.NativePassword, AuthString: "*0000000000000000000000000000000000000000"}
}

// check goes through the exchange of the account's plugin.
func (s *Server) check(l *wire.Login, u mysql_db.User) error {
	plugin := u.Plugin
	if plugin != wire.CachingSHA2 && plugin != wire.NativePassword {
		return errDenied
	}
	// Some clients name the plugin in their first packet and wait to be asked, as all do that change
	// the user with the server's own client library.
	if l.Plugin != plugin || len(l.Response) == 0 && !l.Switched() {
		if err := l.Switch(plugin); err != nil {
			return err
		}
	}
	if !hasResponse(l) {
		return errDenied
	}
	if plugin == wire.CachingSHA2 {
		return s.checkSHA2(l, u)
	}
	return checkNative(l, u)
}

func hostOf(a net.Addr) string {
	if a.Network() == "unix" {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}
