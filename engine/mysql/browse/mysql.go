package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/lists"
)

// fillMySQL makes the tables of the database mysql: the grants, an account's own rows, and to a DBA
// all, and without rows what this server keeps elsewhere or does not have.
func (s *Server) fillMySQL() {
	for _, n := range []string{"user", "db", "tables_priv", "procs_priv", "role_edges"} {
		if base, ok, err := s.catalog.MySQLDb.GetTableInsensitive(nil, n); ok && err == nil {
			s.mysql.tables[n] = s.grantTable(n, base)
		}
	}
	for n, list := range emptyMySQL {
		s.mysql.tables[n] = newTable(n, named(MySQLDatabase, n, strings.Fields(list)...), none)
	}
}

// emptyMySQL are tables that clients read and that have no rows here, with their columns.
var emptyMySQL = map[string]string{
	"columns_priv":         "Host Db User Table_name Column_name Timestamp Column_priv",
	"default_roles":        "HOST USER DEFAULT_ROLE_HOST DEFAULT_ROLE_USER",
	"event":                "db name body definer execute_at interval_value interval_field created modified last_executed starts ends status on_completion sql_mode comment",
	"func":                 "name ret dl type",
	"general_log":          "event_time user_host thread_id server_id command_type argument",
	"global_grants":        "USER HOST PRIV WITH_GRANT_OPTION",
	"help_category":        "help_category_id name parent_category_id url",
	"help_keyword":         "help_keyword_id name",
	"help_relation":        "help_topic_id help_keyword_id",
	"help_topic":           "help_topic_id name help_category_id description example url",
	"innodb_index_stats":   "database_name table_name index_name last_update stat_name stat_value sample_size stat_description",
	"innodb_table_stats":   "database_name table_name last_update n_rows clustered_index_size sum_of_other_index_sizes",
	"password_history":     "Host User Password_timestamp Password",
	"plugin":               "name dl",
	"proc":                 "db name type specific_name language sql_data_access is_deterministic security_type param_list returns body definer created modified sql_mode comment",
	"proxies_priv":         "Host User Proxied_host Proxied_user With_grant Grantor Timestamp",
	"servers":              "Server_name Host Db Username Password Port Socket Wrapper Owner",
	"slave_master_info":    "Number_of_lines Master_log_name Master_log_pos Host User_name User_password Port Connect_retry",
	"slow_log":             "start_time user_host query_time lock_time rows_sent rows_examined db last_insert_id insert_id server_id sql_text thread_id",
	"time_zone":            "Time_zone_id Use_leap_seconds",
	"time_zone_name":       "Name Time_zone_id",
	"time_zone_transition": "Time_zone_id Transition_time Transition_type_id",
}

// grantTable is a table of grants. The hash of an account's password is shown to nobody.
func (s *Server) grantTable(n string, base sql.Table) *table {
	t := newTable(n, nil, nil)
	var user, host, secret, other = -1, -1, -1, -1
	for i, c := range base.Schema(nil) {
		own := *c
		own.Nullable, own.Default, own.DatabaseSource = true, nil, MySQLDatabase
		if types.IsEnum(c.Type) || types.IsSet(c.Type) {
			own.Type = name
		}
		t.Columns = append(t.Columns, &own)
		switch strings.ToLower(c.Name) {
		case "user", "to_user":
			user = i
		case "host", "to_host":
			host = i
		case "authentication_string":
			secret = i
		case "from_user":
			other = i
		}
	}
	t.read = func(ctx *sql.Context) ([]sql.Row, error) {
		list, err := readAll(ctx, base)
		if err != nil {
			return nil, err
		}
		c, all := ctx.Session.Client(), s.DBA(ctx)
		list = slices.DeleteFunc(list, func(r sql.Row) bool {
			return !all && (user < 0 || host < 0 || r[user] != c.User || r[host] != c.Address) && (other < 0 || r[other] != c.User)
		})
		for i, r := range list {
			list[i] = readable(base.Schema(nil), r, secret)
		}
		inOrder(list)
		return list, nil
	}
	return t
}

// readAll reads a table of go-mysql-server.
func readAll(ctx *sql.Context, t sql.Table) ([]sql.Row, error) {
	parts, err := t.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	return sql.RowIterToRows(ctx, sql.NewTableRowIter(ctx, t, parts))
}

// readable is a row with words in the place of their numbers, and without a password's hash.
func readable(schema sql.Schema, from sql.Row, secret int) sql.Row {
	to := slices.Clone(from)
	for i, c := range schema {
		switch t := c.Type.(type) {
		case sql.EnumType:
			if n, ok := to[i].(uint16); ok {
				to[i], _ = t.At(int(n))
			}
		case sql.SetType:
			if n, ok := to[i].(uint64); ok {
				to[i], _ = t.BitsToString(n)
			}
		}
	}
	if secret >= 0 {
		to[secret] = ""
	}
	return to
}

// OwnRows turns the reads of the database mysql in a statement into reads of the tables that show
// an account its own rows. current is the session's database.
func OwnRows(s ast.Statement, current string) {
	switch n := s.(type) {
	case *ast.Explain:
		OwnRows(n.Statement, current)
	case ast.SelectStatement:
		ownRows(n, strings.EqualFold(current, mysqlName))
	}
}

func ownRows(s ast.SQLNode, current bool) {
	hide := func(n *ast.TableName, unqualified bool) bool {
		if n.DbQualifier.IsEmpty() && !unqualified || !n.DbQualifier.IsEmpty() && !strings.EqualFold(n.DbQualifier.String(), mysqlName) {
			return false
		}
		if n.Name.IsEmpty() {
			return false
		}
		n.DbQualifier = ast.NewTableIdent(MySQLDatabase)
		return true
	}
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.AliasedTableExpr:
			if t, ok := n.Expr.(ast.TableName); ok {
				bare := t.Name
				if hide(&t, current) {
					n.Expr = t
					n.Auth.AuthType = ast.AuthType_IGNORE
					if n.As.IsEmpty() {
						n.As = bare
					}
				}
			}
		case *ast.ColName:
			if !n.Qualifier.DbQualifier.IsEmpty() && strings.EqualFold(n.Qualifier.DbQualifier.String(), mysqlName) {
				n.Qualifier.DbQualifier = ast.NewTableIdent("")
			}
		case *ast.StarExpr:
			if strings.EqualFold(n.TableName.DbQualifier.String(), mysqlName) {
				n.TableName.DbQualifier = ast.NewTableIdent("")
			}
		case *ast.SetOp:
			if n.With != nil {
				ownRows(n.With, current)
			}
		}
		return true, nil
	}, s)
}

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
	return lists.Map(s.Roles(ctx), func(r string) sql.Row { return sql.Row{r, "%", "YES", "NO"} }), nil
}

func (s *Server) applicableRoles(ctx *sql.Context) ([]sql.Row, error) {
	c := ctx.Session.Client()
	return lists.Map(s.Roles(ctx), func(r string) sql.Row {
		return sql.Row{c.User, c.Address, c.User, c.Address, r, "%", "NO", "YES", "NO"}
	}), nil
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
