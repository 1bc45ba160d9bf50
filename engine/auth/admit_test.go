package auth

import (
	"net"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"scrim/engine/wire"
)

// TestAdmitRoot: the password is root's alone, beside nothing that is stored, and of no use to a
// root that is locked.
func TestAdmitRoot(t *testing.T) {
	db := mysql_db.CreateEmptyMySQLDb()
	db.SetPersister(&mysql_db.NoopPersister{})
	ed := db.Editor()
	db.AddSuperUser(ed, Root, RootHost, "root-pw")
	db.AddSuperUser(ed, "ann", "%", "ann-pw")
	ed.Close()
	s := NewServer(db, nil, nil)
	account := func(name string) *mysql_db.User {
		u := s.account(&wire.Login{User: name, From: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}})
		return &u
	}
	if !Matches(account(Root), "root-pw") {
		t.Fatal("root's own password is not root's")
	}
	password, err := s.AdmitRoot()
	if err != nil {
		t.Fatal(err)
	}
	if !Matches(account(Root), password) || Matches(account(Root), "root-pw") {
		t.Error("root is not admitted by the new password, or by the old one, too")
	}
	if !Matches(account("ann"), "ann-pw") || Matches(account("ann"), password) || Matches(account("bob"), password) {
		t.Error("another account is admitted by root's password")
	}
	ed = db.Editor()
	u, _ := ed.GetUser(mysql_db.UserPrimaryKey{User: Root, Host: RootHost})
	if want := native("root-pw"); u.AuthString != want {
		t.Errorf("stored is %q, want %q as before", u.AuthString, want)
	}
	u.Locked = true
	ed.PutUser(u)
	ed.Close()
	if Matches(account(Root), password) {
		t.Error("a locked root is admitted")
	}
}
