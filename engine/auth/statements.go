package auth

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/refuse"
)

// CheckStatement refuses account statements that would weaken the log-in, or let an account begin
// anew under another name: a budget belongs to the account's name.
func CheckStatement(n sql.Node) error {
	switch n := n.(type) {
	case *plan.CreateUser:
		for i := range n.Users {
			if err := checkUser(&n.Users[i]); err != nil {
				return err
			}
		}
	case *plan.AlterUser:
		return checkUser(&n.User)
	case *plan.RenameUser:
		return refuse.New(refuse.Unsupported, "RENAME USER is not supported: budgets belong to the account's name.").
			With("Create an account of the new name and drop the old one.")
	}
	return nil
}

func checkUser(u *plan.AuthenticatedUser) error {
	if u.Name == "" {
		return refuse.New(refuse.Unsupported, "Anonymous accounts are not supported.").With("Give the account a name.")
	}
	if u.Auth1 == nil {
		return noPassword(u)
	}
	switch mysql.AuthMethodDescription(u.Auth1.Plugin()) {
	case mysql.MysqlNativePassword, mysql.CachingSha2Password:
	default:
		return refuse.New(refuse.Unsupported, "The authentication plugin %s is not supported.", u.Auth1.Plugin()).
			With("Use IDENTIFIED BY 'password', or IDENTIFIED WITH caching_sha2_password BY 'password' for logins in TLS.")
	}
	if s, err := u.Auth1.AuthString(); err != nil || s == "" {
		return noPassword(u)
	}
	return nil
}

func noPassword(u *plan.AuthenticatedUser) error {
	return refuse.New(refuse.Unsupported, "The account %s would have no password.", u.UserName.String("'")).
		With("Write IDENTIFIED BY 'password'.")
}
