package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/auth/brake"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/wire"
)

// DefaultPlugin is how accounts log in that were made without IDENTIFIED WITH.
const DefaultPlugin = wire.NativePassword

// Server decides on logins: by mysql_native_password and by caching_sha2_password, each in TLS and
// in clear.
type Server struct {
	db       *mysql_db.MySQLDb
	key      *Key
	tried    func(Attempt)
	seen     seen
	decoy    [32]byte
	attempts *brake.Attempts
	admitted atomic.Pointer[string] // what stands for root's password, where AdmitRoot was called
}

// Attempt is what is told of an attempt to log in.
type Attempt struct {
	User   string
	From   net.Addr
	Result Result
	Waited time.Duration // until the password was looked at
	// Unlooked is how many attempts from the address were refused without a look since that was
	// told last; 0 where it was just now.
	Unlooked int
}

// Result is how an attempt to log in ended.
type Result string

// The results.
const (
	Accepted Result = "accepted"
	Refused  Result = "refused"
	// without a look at the password, because too many were wrong before
	Limited Result = "limited"
)

// NewServer decides by the accounts in db. key decrypts the passwords that come in clear
// connections. tried is told about every attempt to log in; nil for nobody.
func NewServer(db *mysql_db.MySQLDb, key *Key, tried func(Attempt)) *Server {
	if tried == nil {
		tried = func(Attempt) {}
	}
	s := &Server{db: db, key: key, tried: tried, attempts: brake.New()}
	_, _ = rand.Read(s.decoy[:]) // never fails
	return s
}

// errDenied is every reason for a refusal: the client is not told which.
var errDenied = errors.New("auth: access denied")

// Login is a wire.LoginFunc. All refusals are the same to the client, whether there is such an
// account or not, and take the same messages and about the same time: for a name without an account
// the exchange is that of some account's plugin, always the same one for a name, and ends in the
// check of a password that nobody has. Names without an account are slowed down as accounts are.
func (s *Server) Login(l *wire.Login) (mysql.Getter, error) {
	var u mysql_db.User
	o := s.attempts.Try(l.User, l.From, func() bool {
		u = s.account(l)
		return s.check(l, u) == nil && u.User != ""
	})
	if !o.Looked {
		s.tried(Attempt{User: l.User, From: l.From, Result: Limited, Unlooked: o.Unlooked})
		return nil, denied(l, fmt.Sprintf(": too many failed logins from this address; try again in %d seconds", int(math.Ceil(o.Waited.Seconds()))))
	}
	told := Attempt{User: l.User, From: l.From, Result: Refused, Waited: o.Waited}
	if !o.Shown {
		s.tried(told)
		return nil, denied(l, "")
	}
	told.Result = Accepted
	s.tried(told)
	return session.Account{MysqlConnectionUser: sql.MysqlConnectionUser{User: u.User, Host: u.Host}, Identity: u.Identity}, nil
}

// denied is the one error of all refusals.
func denied(l *wire.Login, more string) error {
	given := "YES"
	if !hasResponse(l) {
		given = "NO"
	}
	return mysql.NewSQLError(mysql.ERAccessDeniedError, mysql.SSAccessDeniedError,
		"Access denied for user '%s'@'%s' (using password: %s)%s", l.User, wire.HostOf(l.From), given, more)
}

// hasResponse reports whether the client has answered with something: no account has an empty
// password.
func hasResponse(l *wire.Login) bool {
	return len(l.Response) > 1 || len(l.Response) == 1 && l.Response[0] != 0
}

// account is what a check needs of the account that the client would log in to. Where it cannot log
// in that way, User is empty and the password one that nobody has. The work is the same for all
// names.
func (s *Server) account(l *wire.Login) mysql_db.User {
	rd := s.db.Reader()
	defer rd.Close()
	u, decoy := s.db.GetUser(rd, l.User, wire.HostOf(l.From), false), s.decoyPlugin(rd, l.User)
	if u != nil && u.User != "" && u.AuthString != "" && !u.IsRole && !u.Locked && (u.SslType == "" || u.SslType == "ANY" && l.Secure) {
		if stored := s.admitted.Load(); stored != nil && u.User == Root && u.Host == RootHost {
			return mysql_db.User{User: u.User, Host: u.Host, Identity: u.Identity, Plugin: wire.NativePassword, AuthString: *stored}
		}
		return mysql_db.User{User: u.User, Host: u.Host, Identity: u.Identity, Plugin: u.Plugin, AuthString: u.AuthString}
	}
	if u != nil && u.Plugin != "" && !u.IsRole {
		return nobody(u.Plugin)
	}
	return nobody(decoy)
}

// AdmitRoot puts a new password in the place of root's, in this process alone, and returns it. It
// is written nowhere.
func (s *Server) AdmitRoot() (password string, err error) {
	if password, err = newPassword(); err != nil {
		return "", err
	}
	stored := native(password)
	s.admitted.Store(&stored)
	return password, nil
}

// Nobody is what a check by Matches needs in the place of an account that there is not.
func (s *Server) Nobody(name string) *mysql_db.User {
	rd := s.db.Reader()
	defer rd.Close()
	u := nobody(s.decoyPlugin(rd, name))
	return &u
}

// decoyPlugin chooses the plugin of an account by the name, with a key: names without an account
// are spread over the plugins as the accounts are.
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
	// Some clients name the plugin in their first packet and wait to be asked, as all do that
	// change the user with the server's own client library.
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
