package wire

import (
	"fmt"

	"github.com/dolthub/vitess/go/mysql"
)

// seat is what an open connection takes of the listener's limits: a place among those that log in, and
// then one among those that have, which is also its account's.
type seat struct {
	loggedIn bool
	account  string
}

// spareLogins are connections beyond MaxConnections that may begin to log in: who holds the place for
// administrators is known only then, and those who are refused must not keep an administrator out.
const spareLogins = 8

// room reports whether another connection may begin to log in. l.mu is held.
func (l *Listener) room() bool {
	return !l.closed && len(l.conns) < l.cfg.MaxConnections+spareLogins && len(l.conns)-l.loggedIn < l.cfg.MaxLogins
}

// seat gives a client that has shown its password a place, or tells MySQL's error. An administrator may
// take one more than there are, and any number of its account's.
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
	case !administrator && login.MaxConnections > 0 && l.accounts[login.Account] >= login.MaxConnections:
		return mysql.NewSQLError(errTooManyOfUser, "42000", "%s",
			fmt.Sprintf("User %s already has more than 'max_user_connections' active connections", login.User))
	}
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
	*s = seat{}
}

// release forgets a closed connection.
func (l *Listener) release(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.conns[c]; s != nil {
		l.leave(s)
		delete(l.conns, c)
	}
}
