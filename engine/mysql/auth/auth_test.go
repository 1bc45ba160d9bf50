package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

func names(db *mysql_db.MySQLDb) map[string]string {
	m := map[string]string{}
	rd := db.Reader()
	defer rd.Close()
	rd.VisitUsers(func(u *mysql_db.User) {
		if !u.IsRole {
			m[u.User+"@"+u.Host] = u.AuthString
		}
	})
	return m
}

func TestAccountsSurvive(t *testing.T) {
	ctx, path := sql.NewEmptyContext(), filepath.Join(t.TempDir(), "users")
	first := mysql_db.CreateEmptyMySQLDb()
	generated, err := Load(ctx, first, NewPersister(path, "d1"), "")
	if err != nil || len(generated) != 24 {
		t.Fatalf("got password %q, %v, want 24 characters", generated, err)
	}
	ed := first.Editor()
	set := mysql_db.NewPrivilegeSet()
	set.AddDatabase("shop", sql.PrivilegeType_Select)
	ed.PutUser(&mysql_db.User{User: "ann", Host: "%", Plugin: "mysql_native_password", AuthString: "*AB", PrivilegeSet: set})
	if err := first.Persist(ctx, ed); err != nil {
		t.Fatal(err)
	}
	ed.Close()
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", fi.Mode(), err)
	}

	second := mysql_db.CreateEmptyMySQLDb()
	generated, err = Load(ctx, second, NewPersister(path, "d1"), "ignored")
	if err != nil || generated != "" {
		t.Fatalf("got %q, %v on the second start, want no password", generated, err)
	}
	want, got := names(first), names(second)
	if len(got) != 2 || got["root@%"] != want["root@%"] || got["ann@%"] != "*AB" {
		t.Errorf("got %v, want %v", got, want)
	}
	rd := second.Reader()
	defer rd.Close()
	if u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: "ann", Host: "%"}); !ok || !u.PrivilegeSet.Database("shop").Has(sql.PrivilegeType_Select) {
		t.Error("the grant was lost")
	}
}

// TestOlderAccountsGetTheRoles: a file that was written before there were roles, with an account of
// the name of one, a role of its own, and grants that go-mysql-server writes and does not read
// back.
func TestOlderAccountsGetTheRoles(t *testing.T) {
	ctx, path := sql.NewEmptyContext(), filepath.Join(t.TempDir(), "users")
	old, p := mysql_db.CreateEmptyMySQLDb(), NewPersister(path, "d1")
	old.SetPersister(p)
	ed := old.Editor()
	old.AddSuperUser(ed, Root, RootHost, "pw")
	shop := mysql_db.NewPrivilegeSet()
	shop.AddDatabase("Shop", sql.PrivilegeType_Select)
	for _, u := range []*mysql_db.User{
		{User: "auditor", Host: "%", Plugin: "mysql_native_password", AuthString: "*AB", PrivilegeSet: mysql_db.NewPrivilegeSet()},
		{User: "team", Host: "%", Locked: true, IsRole: true, PrivilegeSet: shop},
		{User: "dba", Host: "localhost", Plugin: "mysql_native_password", AuthString: "*AB", PrivilegeSet: mysql_db.NewPrivilegeSet()},
		{User: "ann", Host: "%", Plugin: "mysql_native_password", AuthString: "*AB", PrivilegeSet: mysql_db.NewPrivilegeSet()},
	} {
		ed.PutUser(u)
	}
	for role, admin := range map[string]bool{"team": true, "auditor": false} {
		ed.PutRoleEdge(&mysql_db.RoleEdge{FromUser: role, FromHost: "%", ToUser: "ann", ToHost: "%", WithAdminOption: admin})
	}
	if err := old.Persist(ctx, ed); err != nil {
		t.Fatal(err)
	}
	ed.Close()

	for range 2 {
		db := mysql_db.CreateEmptyMySQLDb()
		if _, err := Load(ctx, db, p, ""); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"dba": true, "analyst": true, "importer": true, "team": true, "auditor": false, "ann": false} {
			if got := IsRole(db, name); got != want {
				t.Errorf("%s is a role: %v, want %v", name, got, want)
			}
		}
		if got := Shadowed(db); len(got) != 1 || got[0] != "auditor" {
			t.Errorf("shadowed: %v", got)
		}
		if got := Roles(db, "ann", "%"); len(got) != 1 || got[0] != "team" {
			t.Errorf("ann has the roles %v: an account is none", got)
		}
		lines, _ := Grants(db, "ann", "%", []string{"team"})
		if got, want := strings.Join(lines, ";"), "GRANT USAGE ON *.* TO `ann`@`%`;GRANT SELECT ON `Shop`.* TO `ann`@`%`;"+
			"GRANT SELECT ON `dp`.* TO `ann`@`%`;GRANT `team`@`%` TO `ann`@`%` WITH ADMIN OPTION"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		rd := db.Reader()
		if u, _ := rd.GetUser(mysql_db.UserPrimaryKey{User: "team", Host: "%"}); !u.PrivilegeSet.Database("shop").Has(sql.PrivilegeType_Select) {
			t.Error("a grant on a name with a capital letter was lost")
		}
		rd.Close()
	}
}

func TestDamagedAccountsAreRefused(t *testing.T) {
	for name, data := range map[string]string{"empty": "", "noise": strings.Repeat("\xff\x00\x13", 50)} {
		path := filepath.Join(t.TempDir(), "users")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(sql.NewEmptyContext(), mysql_db.CreateEmptyMySQLDb(), NewPersister(path, "d1"), "pw"); err == nil {
			t.Errorf("%s file: got no error, want a refusal", name)
		}
	}
}

func TestForeignAndChangedAccountsAreRefused(t *testing.T) {
	ctx, path := sql.NewEmptyContext(), filepath.Join(t.TempDir(), "users")
	if _, err := Load(ctx, mysql_db.CreateEmptyMySQLDb(), NewPersister(path, "d1"), "pw"); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(ctx, mysql_db.CreateEmptyMySQLDb(), NewPersister(path, "d2"), "pw"); err == nil || !strings.Contains(err.Error(), "another data directory") {
		t.Errorf("got %v for the accounts of another directory", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-3] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(ctx, mysql_db.CreateEmptyMySQLDb(), NewPersister(path, "d1"), "pw"); err == nil {
		t.Error("a flipped bit was not noticed")
	}
}

func TestCheckStatement(t *testing.T) {
	user := func(name, password string) plan.AuthenticatedUser {
		u := plan.AuthenticatedUser{UserName: plan.UserName{Name: name, Host: "%"}}
		if password != "" {
			u.Auth1 = plan.NewDefaultAuthentication(password)
		}
		return u
	}
	other := user("ann", "x")
	other.Auth1 = plan.NewOtherAuthentication("x", "authentication_open", "")
	for _, c := range []struct {
		name string
		node sql.Node
		ok   bool
	}{
		{"with a password", &plan.CreateUser{Users: []plan.AuthenticatedUser{user("ann", "x")}}, true},
		{"without one", &plan.CreateUser{Users: []plan.AuthenticatedUser{user("ann", "")}}, false},
		{"the second without one", &plan.CreateUser{Users: []plan.AuthenticatedUser{user("ann", "x"), user("bob", "")}}, false},
		{"anonymous", &plan.CreateUser{Users: []plan.AuthenticatedUser{user("", "x")}}, false},
		{"foreign plugin", &plan.CreateUser{Users: []plan.AuthenticatedUser{other}}, false},
		{"new password", &plan.AlterUser{User: user("ann", "y")}, true},
		{"password taken away", &plan.AlterUser{User: user("ann", "")}, false},
		{"named as a role's budget", &plan.CreateUser{Users: []plan.AuthenticatedUser{user("Role:x", "x")}}, false},
		{"renamed", &plan.RenameUser{}, false},
		{"something else", plan.NothingImpl, true},
	} {
		if err := CheckStatement(sql.NewEmptyContext(), mysql_db.CreateEmptyMySQLDb(), Caller{User: "root", Host: "%", DBA: true}, c.node); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want ok %v", c.name, err, c.ok)
		}
	}
}

// TestPersisterRefuses: a file of a newer program is told as that, and only what is not what was
// written as damaged.
func TestPersisterRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	p := NewPersister(path, "one")
	if err := p.Persist(nil, []byte("grants")); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := p.Load(); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	for what, c := range map[string]struct{ text, want string }{
		"another format":   {strings.Replace(string(sound), "scrim-users 1", "scrim-users 2", 1), "made by a newer version of scrim (scrim-users 2"},
		"a much newer one": {"scrim-users 12 with more\nand other grants", "made by a newer version of scrim (scrim-users 12"},
		"no format":        {strings.Replace(string(sound), "scrim-users 1", "scrim-users 0", 1), "damaged"},
		"other grants":     {strings.Replace(string(sound), "grants", "Grants", 1), "damaged"},
		"nothing":          {"", "damaged"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Load(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
	}
}
