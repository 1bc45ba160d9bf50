package browse

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// performanceName is the database of the counters. The counters of a storage engine's inside are not there.
const (
	performanceName = "performance_schema"
	sysName         = "sys"
)

// performance is performance_schema with the tables that can be told truthfully.
func (s *Server) performance() *database {
	pair := func(name string, read func(*sql.Context) ([]sql.Row, error)) *table {
		return &table{database: performanceName, name: name, read: read,
			schema: columns(performanceName, name, "VARIABLE_NAME", sql.Type(long), "VARIABLE_VALUE", sql.Type(long))}
	}
	status := func(all bool) func(*sql.Context) ([]sql.Row, error) {
		return func(ctx *sql.Context) ([]sql.Row, error) { return pairs(s.status(ctx, all)), nil }
	}
	variables := func(global bool) func(*sql.Context) ([]sql.Row, error) {
		return func(ctx *sql.Context) ([]sql.Row, error) { return pairs(settings(ctx, global)), nil }
	}
	empty := func(name string, list ...string) *table {
		return &table{database: performanceName, name: name, schema: named(performanceName, name, list...), read: none}
	}
	attributes := []string{"PROCESSLIST_ID", "ATTR_NAME", "ATTR_VALUE", "ORDINAL_POSITION"}
	return newDatabase(performanceName,
		pair("global_status", status(true)), pair("session_status", status(false)),
		pair("global_variables", variables(true)), pair("session_variables", variables(false)),
		&table{database: performanceName, name: "processlist", read: s.processes, schema: columns(performanceName, "processlist",
			"ID", natural, "USER", sql.Type(name), "HOST", sql.Type(long), "DB", sql.Type(name), "COMMAND", sql.Type(name), "TIME", number,
			"STATE", sql.Type(long), "INFO", text)},
		empty("session_connect_attrs", attributes...), empty("session_account_connect_attrs", attributes...),
		empty("setup_actors", "HOST", "USER", "ROLE", "ENABLED", "HISTORY"),
		empty("setup_consumers", "NAME", "ENABLED"),
		empty("setup_instruments", "NAME", "ENABLED", "TIMED", "PROPERTIES", "FLAGS", "VOLATILITY", "DOCUMENTATION"),
		empty("replication_group_members", "CHANNEL_NAME", "MEMBER_ID", "MEMBER_HOST", "MEMBER_PORT", "MEMBER_STATE", "MEMBER_ROLE", "MEMBER_VERSION"),
	)
}

// sys is sys with what the server knows of its versions.
func (s *Server) sys() *database {
	return newDatabase(sysName, &table{database: sysName, name: "version", schema: named(sysName, "version", "sys_version", "mysql_version"),
		read: func(*sql.Context) ([]sql.Row, error) {
			_, version, _ := sql.SystemVariables.GetGlobal("version")
			return []sql.Row{{"2.1.2", fmt.Sprint(version)}}, nil
		}})
}

func pairs(list []Variable) []sql.Row {
	out := make([]sql.Row, len(list))
	for i, v := range list {
		out[i] = sql.Row{v.Name, shown(v.Value)}
	}
	return out
}

// shown is a value as SHOW VARIABLES and SHOW STATUS print it.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return onOff(v)
	case int8:
		if v == 0 || v == 1 {
			return onOff(v == 1)
		}
	}
	return fmt.Sprint(v)
}

func onOff(b bool) string {
	if b {
		return "ON"
	}
	return "OFF"
}

// settings lists the system variables, of the session or of the server.
func settings(ctx *sql.Context, global bool) []Variable {
	var all map[string]any
	if global {
		all = sql.SystemVariables.GetAllGlobalVariables()
	} else {
		all = ctx.GetAllSessionVariables()
	}
	list := make([]Variable, 0, len(all))
	for _, n := range sorted(all) {
		list = append(list, Variable{strings.ToLower(n), all[n]})
	}
	return list
}
