package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// Account is an account or a role in dp.accounts.
type Account struct {
	Name   string // user@host; of a role its name
	Role   bool
	Roles  []string
	DBA    bool
	Grants []string
}

// accounts makes dp.accounts. A DBA and an auditor see everybody, others themselves.
func (a *Admin) accounts(ctx *sql.Context) ([]sql.Row, error) {
	who := a.o.Principal(ctx)
	if who == "" || a.o.Accounts == nil {
		return nil, nil
	}
	all := a.seesAll(ctx)
	var out []sql.Row
	for _, c := range a.o.Accounts() {
		if !all && (c.Role || c.Name != who) {
			continue
		}
		kind, dba := "account", "no"
		if c.Role {
			kind = "role"
		}
		if c.DBA {
			dba = "yes"
		}
		out = append(out, sql.Row{c.Name, kind, orNull(strings.Join(c.Roles, ", ")), dba, strings.Join(c.Grants, "; ")})
	}
	return out, nil
}
