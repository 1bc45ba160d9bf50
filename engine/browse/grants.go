package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// grantColumns are the tables of information_schema that list grants and accounts: how many columns
// tell whose a row is.
var grantColumns = map[string]int{
	"user_privileges": 1, "schema_privileges": 1, "table_privileges": 1, "column_privileges": 1, "user_attributes": 2,
}

// ownGrants reads a table that lists grants: an account's own rows, and to DBAs and auditors all.
func (s *Server) ownGrants(t *information_schema.InformationSchemaTable, keys int) func(*sql.Context) ([]sql.Row, error) {
	return func(ctx *sql.Context) ([]sql.Row, error) {
		list, err := s.translated(t)(ctx)
		if err != nil {
			return nil, err
		}
		inOrder(list)
		c := ctx.Session.Client()
		grantee := mysql_db.User{User: c.User, Host: c.Address}.UserHostToString("'")
		all := s.All(ctx)
		return slices.DeleteFunc(list, func(r sql.Row) bool {
			if database, ok := at(r, 2).(string); ok && keys == 1 && (open(database) || strings.HasSuffix(database, " ")) {
				return true // that everybody may read them is no grant
			}
			return !all && r[0] != grantee && (keys == 1 || r[0] != c.User || r[1] != c.Address)
		}), nil
	}
}

// inOrder sorts rows that come in no order, from the first column to the last.
func inOrder(list []sql.Row) {
	slices.SortStableFunc(list, func(a, b sql.Row) int { return cmp.Compare(fmt.Sprint(a...), fmt.Sprint(b...)) })
}

func at(r sql.Row, i int) any {
	if i < len(r) {
		return r[i]
	}
	return nil
}

// enabledRoles lists the roles of the account, all of which are active.
func (s *Server) enabledRoles(ctx *sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, r := range s.Roles(ctx) {
		list = append(list, sql.Row{r, "%", "YES", "NO"})
	}
	return list, nil
}

func (s *Server) applicableRoles(ctx *sql.Context) ([]sql.Row, error) {
	c := ctx.Session.Client()
	var list []sql.Row
	for _, r := range s.Roles(ctx) {
		list = append(list, sql.Row{c.User, c.Address, c.User, c.Address, r, "%", "NO", "YES", "NO"})
	}
	return list, nil
}

// processes lists the connections that the account may see; statements without their literals.
func (s *Server) processes(ctx *sql.Context) ([]sql.Row, error) {
	var list []sql.Row
	for _, p := range ctx.ProcessList.Processes() {
		var database, info any
		if p.Database != "" {
			database = p.Database
		}
		state := ""
		if p.Command == sql.ProcessCommandQuery {
			info, state = p.Query, "executing"
			for name, done := range p.Progress { // of what the server shows: see its process list
				state = fmt.Sprintf("%s: %d of %d", name, done.Done, done.Total)
			}
		}
		list = append(list, sql.Row{uint64(p.Connection), p.User, p.Host, database, string(p.Command), int32(p.Seconds()), state, info})
	}
	return list, nil
}
