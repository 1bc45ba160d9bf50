package auth

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Root is the account that the first start makes; it is a DBA and may log in from anywhere.
const Root, RootHost = "root", anyHost

// anyHost is the host of an account or a role that is not bound to one.
const anyHost = "%"

// Load fills db from the persister's file and attaches the persister. When there is no file it makes
// the root account with the given password, or with a generated one when that is empty, and
// returns the generated one: it is shown once and kept nowhere.
func Load(ctx *sql.Context, db *mysql_db.MySQLDb, p *Persister, password string) (generated string, err error) {
	data, ok, err := p.Load()
	if err != nil {
		return "", fmt.Errorf("auth: the accounts cannot be read: %w", err)
	}
	db.SetPersister(p)
	db.SetEnabled(true)
	if ok {
		ed := db.Editor()
		defer ed.Close()
		if err := db.OverwriteUsersAndGrantData(ctx, ed, data); err != nil {
			return "", fmt.Errorf("auth: the accounts cannot be read: %w", err)
		}
		return "", nil
	}
	if password == "" {
		if password, err = newPassword(); err != nil {
			return "", err
		}
		generated = password
	}
	ed := db.Editor()
	defer ed.Close()
	db.AddSuperUser(ed, Root, RootHost, password)
	return generated, db.Persist(ctx, ed)
}

// newPassword returns 144 random bits as 24 letters, digits, '-' and '_'.
func newPassword() (string, error) {
	b := make([]byte, 18)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("auth: no randomness for a password: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// IsDBA reports whether the account behind ctx has SUPER.
func IsDBA(ctx *sql.Context, db *mysql_db.MySQLDb) bool {
	return db.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{}, sql.PrivilegeType_Super))
}

// Roles returns the names of the roles granted to the account user@host, its host as it is defined,
// sorted. A role is one that CREATE ROLE made, for all hosts; an account that was granted to another
// as if it were a role is none.
func Roles(db *mysql_db.MySQLDb, user, host string) []string {
	rd := db.Reader()
	defer rd.Close()
	var names []string
	for _, e := range rd.GetToUserRoleEdges(mysql_db.RoleEdgesToKey{ToHost: host, ToUser: user}) {
		role, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: e.FromUser, Host: e.FromHost})
		if ok && role.IsRole && role.Host == anyHost {
			names = append(names, role.User)
		}
	}
	slices.Sort(names)
	return names
}

// Audit returns the accounts in db that could be used without a password: there are none unless the
// file was changed by other means. The server refuses to start with one.
func Audit(db *mysql_db.MySQLDb) []string {
	var open []string
	rd := db.Reader()
	defer rd.Close()
	rd.VisitUsers(func(u *mysql_db.User) {
		if !u.IsRole && !u.Locked && (u.AuthString == "" || u.User == "") {
			open = append(open, u.User+"@"+u.Host)
		}
	})
	return open
}

// Exists reports whether there is an account of the name user@host, its host as it is defined.
func Exists(db *mysql_db.MySQLDb, name string) bool {
	at := strings.LastIndexByte(name, '@')
	if at < 0 {
		return false
	}
	rd := db.Reader()
	defer rd.Close()
	u, ok := rd.GetUser(mysql_db.UserPrimaryKey{User: name[:at], Host: name[at+1:]})
	return ok && !u.IsRole
}
