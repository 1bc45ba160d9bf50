package shuffler

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// try logs in once.
func (l listening) try(user, password string) error {
	l.t.Helper()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.Logger = user, password, "tcp", l.server.Addr().String(), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	must(l.t, err)
	var conn driver.Conn
	if conn, err = connector.Connect(context.Background()); err == nil {
		err = conn.Close()
	}
	return err
}

// TestGuessesAreSlowedDown: wrong passwords of the operator make the next attempt wait, and then
// refuse it without a look, the right password as well; contributors without a password, and an
// address that has shown the password before, go on.
func TestGuessesAreSlowedDown(t *testing.T) {
	for !slowedDown(t) {
		t.Log("the machine is busy: the wait of the guesses was over before the right password came")
	}
}

// slowedDown is false if the right password came too late to be refused.
func slowedDown(t *testing.T) bool {
	t.Helper()
	l := listen(t)
	start := time.Now()
	limited := 0
	var looked time.Time // the last guess, or a little before
	for n := 0; limited == 0; n++ {
		last := time.Now()
		err := l.try(Operator, "a guess")
		wantState(t, "a wrong password", err, mysqlDenied, "28000")
		if strings.Contains(err.Error(), "too many failed logins from this address; try again in") {
			limited = n
		} else {
			looked = last
		}
		if n > 20 {
			t.Fatal("guesses are not refused")
		}
	}
	if waited := time.Since(start); limited < 3 || waited < time.Second {
		t.Errorf("%d guesses were looked at within %v", limited, waited)
	}
	if err := l.try(Operator, "a secret"); err == nil || !strings.Contains(err.Error(), "too many failed logins") {
		// an attempt that has to wait less than three seconds more is not refused, and four at
		// least are the wait of the first that is
		if err == nil && time.Since(looked) > time.Second {
			return false
		}
		t.Errorf("the right password after many wrong ones: %v", err)
	}
	if err := l.try(Contributor, ""); err != nil {
		t.Errorf("a contributor at the same address: %v", err)
	}
	if text := l.log.String(); strings.Count(text, "refused without a look") != 1 || strings.Contains(text, "127.0.0.1") {
		t.Errorf("the log holds\n%s", text)
	}
	return true
}

// TestWhoIsInIsNotSlowedDown: an operator who has shown the password does not wait for another's
// guesses at other names.
func TestWhoIsInIsNotSlowedDown(t *testing.T) {
	l := listen(t)
	must(t, l.try(Operator, "a secret"))
	for range 25 {
		if err := l.try("somebody", "a guess"); err == nil {
			t.Fatal("a name without an account is let in")
		} else if strings.Contains(err.Error(), "too many") {
			break
		}
	}
	if err := l.try(Operator, "a secret"); err != nil {
		t.Error(err)
	}
	var e *mysql.MySQLError
	if err := l.try(Contributor, "a guess"); !errors.As(err, &e) {
		t.Errorf("a contributor with a password that there is not: %v", err)
	}
}

// mysqlDenied is MySQL's ER_ACCESS_DENIED_ERROR.
const mysqlDenied = 1045
