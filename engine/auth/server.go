package auth

import (
	"fmt"
	"net"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
)

// Server is the login side of the protocol: mysql_native_password, and caching_sha2_password in TLS.
type Server struct {
	methods []mysql.AuthMethod
}

var _ mysql.AuthServer = (*Server)(nil)

// NewServer wraps db's login methods. secure reports whether a connection is in TLS, for
// connections whose TLS ends below the protocol implementation. failed, if not nil, is told about
// refused logins.
func NewServer(db *mysql_db.MySQLDb, secure func(net.Conn) bool, failed func(user string, from net.Addr)) *Server {
	s := &Server{}
	for _, m := range db.AuthMethods() {
		if n := m.Name(); n == mysql.MysqlNativePassword || n == mysql.CachingSha2Password {
			s.methods = append(s.methods, &method{AuthMethod: m, db: db, secure: secure, failed: failed})
		}
	}
	return s
}

// AuthMethods implements mysql.AuthServer.
func (s *Server) AuthMethods() []mysql.AuthMethod { return s.methods }

// DefaultAuthMethodDescription implements mysql.AuthServer.
func (s *Server) DefaultAuthMethodDescription() mysql.AuthMethodDescription {
	return mysql.MysqlNativePassword
}

// method guards one login method.
type method struct {
	mysql.AuthMethod
	db     *mysql_db.MySQLDb
	secure func(net.Conn) bool
	failed func(string, net.Addr)
}

// scrambleSize is the length of a mysql_native_password response.
const scrambleSize = 20

// HandleUser implements mysql.AuthMethod. It is the first call about a connection after its flags
// have been parsed, so the TLS that ended below is noted here.
func (m *method) HandleUser(c *mysql.Conn, user string) bool {
	if m.secure(c.Conn) {
		c.Capabilities |= mysql.CapabilityClientSSL
	}
	return m.AuthMethod.HandleUser(c, user)
}

// HandleAuthPluginData implements mysql.AuthMethod.
func (m *method) HandleAuthPluginData(c *mysql.Conn, user string, salt, response []byte, from net.Addr) (got mysql.Getter, err error) {
	given := "YES"
	if len(response) == 0 || len(response) == 1 && response[0] == 0 {
		given = "NO"
	}
	defer func() {
		if p := recover(); p != nil || err != nil {
			if m.failed != nil {
				m.failed(user, from)
			}
			got, err = nil, mysql.NewSQLError(mysql.ERAccessDeniedError, mysql.SSAccessDeniedError,
				"Access denied for user '%s'@'%s' (using password: %s)", user, hostOf(from), given)
		}
	}()
	if given == "NO" {
		return nil, fmt.Errorf("auth: no password")
	}
	if m.Name() == mysql.MysqlNativePassword && len(response) != scrambleSize {
		return nil, fmt.Errorf("auth: scramble of %d bytes", len(response))
	}
	if !m.hasPassword(user, from) {
		return nil, fmt.Errorf("auth: account without a password")
	}
	return m.AuthMethod.HandleAuthPluginData(c, user, salt, response, from)
}

// hasPassword reports whether the account that user would log in to has a name and a password.
func (m *method) hasPassword(user string, from net.Addr) bool {
	rd := m.db.Reader()
	defer rd.Close()
	u := m.db.GetUser(rd, user, hostOf(from), false)
	return u != nil && u.User != "" && u.AuthString != "" && !u.IsRole
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
