package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/test/testenv"
)

// eventuallyIn dials until it succeeds: a place is given back a moment after its client has gone.
func (i *instance) eventuallyIn(user, password string) *client {
	i.t.Helper()
	var c *client
	testenv.Succeeds(i.t, time.Minute, "a place", func() (err error) { c, err = i.dial(user, password); return err })
	return c
}

// errno is the number of an error of the server, 0 of another.
func errno(err error) uint16 {
	if e, ok := err.(*mysql.MySQLError); ok {
		return e.Number
	}
	return 0
}

// TestPlacesOfAnAccount: an account has a part of the connections only, others come in beside it,
// and when all are taken one more is an administrator's.
func TestPlacesOfAnAccount(t *testing.T) {
	i := start(t, "", func(c *Config) { c.MaxConnections = 8 })
	root := i.root()
	if got := root.value("SELECT @@global.max_user_connections"); got != "6" {
		t.Errorf("by default %s of 8 connections are one account's, want 6", got)
	}
	root.exec("SET GLOBAL max_user_connections = 3", "CREATE USER keeper IDENTIFIED BY 'pw-keeper'", "GRANT dba TO keeper",
		"CREATE USER bob IDENTIFIED BY 'pw-bob'")
	first := i.analyst(root, "ann", "")
	for range 2 {
		i.client("ann", "pw-ann")
	}
	_, err := i.dial("ann", "pw-ann")
	if want := "Error 1203 (42000): User ann already has more than 'max_user_connections' active connections"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for range 3 {
		i.client("bob", "pw-bob")
	}
	i.root() // the eighth
	if _, err := i.dial("bob", "pw-bob"); errno(err) != 1040 {
		t.Errorf("a ninth connection: got %v, want error 1040", err)
	}
	if _, err := i.dial("keeper", "wrong"); errno(err) != 1045 {
		t.Errorf("a ninth connection with a wrong password: got %v, want error 1045", err)
	}
	extra := i.eventuallyIn("keeper", "pw-keeper")
	if got := extra.value("SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
	if _, err := i.dial("root", rootPassword); errno(err) != 1040 {
		t.Errorf("a tenth connection: got %v, want error 1040", err)
	}
	root.exec("KILL "+first.value("SELECT CONNECTION_ID()"), "KILL "+extra.value("SELECT CONNECTION_ID()"))
	i.eventuallyIn("ann", "pw-ann")
	testenv.Until(t, time.Minute, "eight connections, after one took the place of another", func() bool {
		return root.value("SELECT COUNT(*) FROM information_schema.processlist") == "8"
	})
}

// TestPlaceOfAnotherUser: a connection that becomes another account's counts for that one.
func TestPlaceOfAnotherUser(t *testing.T) {
	i := start(t, "", func(c *Config) { c.MaxConnections, c.MaxUserConnections = 8, 1 })
	root := i.root()
	i.analyst(root, "ann", "")
	root.exec("CREATE USER bob IDENTIFIED BY 'pw-bob'")
	c := i.rawDial("bob", "pw-bob", 0)
	if got := c.changeUser("ann", "pw-ann", ""); got[0] != 0xff || got[1] != 1203&0xff || got[2] != 1203>>8 {
		t.Errorf("got %q, want error 1203", got)
	}
	i.eventuallyIn("bob", "pw-bob")
	root.exec("SET GLOBAL max_user_connections = 0")
	i.client("ann", "pw-ann")
	i.client("ann", "pw-ann")
}
