package wire

import (
	"fmt"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// seat is what an open connection takes of the listener's limits: a place among those that log in,
// and then one among those that have, which is also its account's.
type seat struct {
	entering bool   // it has not logged in yet
	from     string // the address that this counts for
	since    time.Time
	loggedIn bool
	account  string
}

// spareLogins are connections beyond MaxConnections that may begin to log in: who holds the place
// for administrators is known only then, and those who are refused must not keep an administrator
// out.
const spareLogins = 32

// makeRoom closes a connection that has not logged in yet, for another one: of the address that has
// most of them the oldest. Whoever opens connections and says nothing loses their own; who logs in
// needs its place only for as long as that takes. It reports false where there is none. l.mu is
// held.
func (l *Listener) makeRoom() bool {
	var oldest *Conn
	var of *seat
	for c, s := range l.conns {
		if s.entering && (of == nil || l.logins[s.from] > l.logins[of.from] || l.logins[s.from] == l.logins[of.from] && s.since.Before(of.since)) {
			oldest, of = c, s
		}
	}
	if of == nil {
		return false
	}
	l.entered(of)
	delete(l.conns, oldest)
	_ = oldest.raw.Close() // not in TLS, whose end waits for the client
	return true
}

// entered notes that a connection is not one any more that has not logged in yet. l.mu is held.
func (l *Listener) entered(s *seat) {
	if !s.entering {
		return
	}
	s.entering = false
	if l.logins[s.from]--; l.logins[s.from] == 0 {
		delete(l.logins, s.from)
	}
}

// seat gives a client that has shown its password a place, or tells MySQL's error. An administrator
// may take one more than there are, and any number of its account's.
func (l *Listener) seat(c *Conn, login *Login) error {
	err := l.take(c, login, false)
	if err != nil && login.Administrator != nil && login.Administrator() {
		return l.take(c, login, true)
	}
	return err
}

func (l *Listener) take(c *Conn, login *Login, administrator bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.conns[c]
	if s == nil {
		return errLogin // closed meanwhile
	}
	l.leave(s)
	limit := l.cfg.MaxConnections
	if administrator {
		limit++
	}
	switch {
	case l.loggedIn >= limit:
		return mysql.NewSQLError(errTooMany, "08004", "Too many connections")
	case !administrator && login.OwnConnections > 0 && l.accounts[login.Account] >= login.OwnConnections:
		return mysql.NewSQLError(errUserLimit, "42000", "%s",
			fmt.Sprintf("User '%s' has exceeded the 'max_user_connections' resource (current value: %d)", login.User, login.OwnConnections))
	case !administrator && login.OwnConnections == 0 && login.MaxConnections > 0 && l.accounts[login.Account] >= login.MaxConnections:
		return mysql.NewSQLError(errTooManyOfUser, "42000", "%s",
			fmt.Sprintf("User %s already has more than 'max_user_connections' active connections", login.User))
	}
	l.entered(s)
	s.loggedIn, s.account = true, login.Account
	l.loggedIn++
	l.accounts[s.account]++
	return nil
}

// leave gives back what a connection holds as one that is logged in. l.mu is held.
func (l *Listener) leave(s *seat) {
	if !s.loggedIn {
		return
	}
	l.loggedIn--
	if l.accounts[s.account]--; l.accounts[s.account] == 0 {
		delete(l.accounts, s.account)
	}
	s.loggedIn, s.account = false, ""
}

// release forgets a closed connection.
func (l *Listener) release(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.conns[c]; s != nil {
		l.entered(s)
		l.leave(s)
		delete(l.conns, c)
	}
}
