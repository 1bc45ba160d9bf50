package monitor

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/session"
	"scrim/engine/ops/dashboard"
)

// Viewers are the server's own accounts as the dashboard asks for them: DBAs and auditors may look.
type Viewers struct {
	DB      *mysql_db.MySQLDb
	Session *session.Options
	Logins  *auth.Server
}

var _ dashboard.Accounts = Viewers{}

// Login implements dashboard.Accounts. The account is the one that the MySQL protocol would take
// for that address.
func (v Viewers) Login(user, password, address string, secure bool) (dashboard.Viewer, bool) {
	rd := v.DB.Reader()
	u := v.DB.GetUser(rd, user, address, false)
	rd.Close()
	nobody := v.Logins.Nobody(user) // so that all names take as long
	if u == nil || u.User == "" || !mayLogin(u, secure) {
		auth.Matches(nobody, password)
		return dashboard.Viewer{}, false
	}
	if !auth.Matches(u, password) {
		return dashboard.Viewer{}, false
	}
	return v.viewer(u)
}

// Valid implements dashboard.Accounts: the account exists, may log in, has the same password and
// still may look.
func (v Viewers) Valid(w dashboard.Viewer) bool {
	u := auth.Named(v.DB, w.Principal)
	if u == nil || !mayLogin(u, true) {
		return false
	}
	now, ok := v.viewer(u)
	return ok && now.Stamp == w.Stamp && now.Role == w.Role
}

// Principals implements dashboard.Accounts.
func (v Viewers) Principals() []string {
	var list []string
	rd := v.DB.Reader()
	defer rd.Close()
	rd.VisitUsers(func(u *mysql_db.User) {
		if !u.IsRole {
			list = append(list, u.User+"@"+u.Host)
		}
	})
	slices.Sort(list)
	return list
}

// mayLogin reports whether an account can be logged in to with a password over such a connection.
func mayLogin(u *mysql_db.User, secure bool) bool {
	if u.IsRole || u.Locked || u.AuthString == "" {
		return false
	}
	// the others want a certificate of the client
	return u.SslType == "" || u.SslType == "ANY" && secure
}

// viewer says as what an account may look, if it may.
func (v Viewers) viewer(u *mysql_db.User) (dashboard.Viewer, bool) {
	stamp := sha256.Sum256([]byte(u.Plugin + "\x00" + u.AuthString + u.Identity))
	w := dashboard.Viewer{Principal: u.User + "@" + u.Host, Stamp: hex.EncodeToString(stamp[:])}
	ctx := session.ContextOf(v.Session, "dashboard", u.User, u.Host)
	switch {
	case session.IsDBA(ctx):
		w.Role = "DBA"
	case session.IsAuditor(ctx):
		w.Role = "auditor"
	default:
		return dashboard.Viewer{}, false
	}
	now := auth.Named(v.DB, w.Principal) // the role may be that of an account made meanwhile
	return w, now != nil && now.Identity == u.Identity
}

// Loopback reports whether a host of a listening address can be reached from this machine only. A
// name other than localhost could lead anywhere.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
