package browse

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// performanceName is the database of the counters. The counters of a storage engine's inside are
// not there.
const (
	performanceName = "performance_schema"
	sysName         = "sys"
)

// performance is performance_schema with the tables that can be told truthfully.
func (s *Server) performance() *database {
	pair := func(name string, read func(*sql.Context) ([]sql.Row, error)) *table {
		return newTable(name, columns(performanceName, name, "VARIABLE_NAME", sql.Type(long), "VARIABLE_VALUE", sql.Type(long)), read)
	}
	status := func(all bool) func(*sql.Context) ([]sql.Row, error) {
		return func(ctx *sql.Context) ([]sql.Row, error) { return pairs(s.status(ctx, all)), nil }
	}
	variables := func(global bool) func(*sql.Context) ([]sql.Row, error) {
		return func(ctx *sql.Context) ([]sql.Row, error) { return pairs(settings(ctx, global)), nil }
	}
	empty := func(name string, list ...string) *table {
		return newTable(name, named(performanceName, name, list...), none)
	}
	waits := "COUNT_%s SUM_TIMER_%s MIN_TIMER_%s AVG_TIMER_%s MAX_TIMER_%s"
	timed := func(head string, of ...string) []string {
		for _, o := range of {
			head += " " + strings.ReplaceAll(waits, "%s", o)
		}
		return strings.Fields(head)
	}
	attributes := []string{"PROCESSLIST_ID", "ATTR_NAME", "ATTR_VALUE", "ORDINAL_POSITION"}
	return newDatabase(performanceName,
		pair("global_status", status(true)), pair("session_status", status(false)),
		pair("global_variables", variables(true)), pair("session_variables", variables(false)),
		newTable("processlist", columns(performanceName, "processlist", "ID", natural, "USER", sql.Type(name), "HOST", sql.Type(long),
			"DB", sql.Type(name), "COMMAND", sql.Type(name), "TIME", number, "STATE", sql.Type(long), "INFO", text), s.processes),
		empty("session_connect_attrs", attributes...), empty("session_account_connect_attrs", attributes...),
		empty("setup_actors", "HOST", "USER", "ROLE", "ENABLED", "HISTORY"),
		empty("setup_consumers", "NAME", "ENABLED"),
		empty("setup_instruments", "NAME", "ENABLED", "TIMED", "PROPERTIES", "FLAGS", "VOLATILITY", "DOCUMENTATION"),
		empty("events_statements_summary_by_digest", strings.Fields("SCHEMA_NAME DIGEST DIGEST_TEXT COUNT_STAR SUM_TIMER_WAIT MIN_TIMER_WAIT AVG_TIMER_WAIT MAX_TIMER_WAIT "+
			"SUM_LOCK_TIME SUM_ERRORS SUM_WARNINGS SUM_ROWS_AFFECTED SUM_ROWS_SENT SUM_ROWS_EXAMINED SUM_CREATED_TMP_DISK_TABLES SUM_CREATED_TMP_TABLES "+
			"SUM_SELECT_FULL_JOIN SUM_SELECT_FULL_RANGE_JOIN SUM_SELECT_RANGE SUM_SELECT_RANGE_CHECK SUM_SELECT_SCAN SUM_SORT_MERGE_PASSES SUM_SORT_RANGE SUM_SORT_ROWS "+
			"SUM_SORT_SCAN SUM_NO_INDEX_USED SUM_NO_GOOD_INDEX_USED FIRST_SEEN LAST_SEEN QUERY_SAMPLE_TEXT QUERY_SAMPLE_SEEN QUERY_SAMPLE_TIMER_WAIT")...),
		empty("table_io_waits_summary_by_table", timed("OBJECT_TYPE OBJECT_SCHEMA OBJECT_NAME COUNT_STAR", "WAIT", "READ", "WRITE", "FETCH", "INSERT", "UPDATE", "DELETE")...),
		empty("table_io_waits_summary_by_index_usage", timed("OBJECT_TYPE OBJECT_SCHEMA OBJECT_NAME INDEX_NAME COUNT_STAR", "WAIT", "READ", "WRITE", "FETCH", "INSERT", "UPDATE", "DELETE")...),
		empty("table_lock_waits_summary_by_table", timed("OBJECT_TYPE OBJECT_SCHEMA OBJECT_NAME COUNT_STAR", "WAIT", "READ", "WRITE", "READ_NORMAL", "READ_WITH_SHARED_LOCKS",
			"READ_HIGH_PRIORITY", "READ_NO_INSERT", "READ_EXTERNAL", "WRITE_ALLOW_WRITE", "WRITE_CONCURRENT_INSERT", "WRITE_LOW_PRIORITY", "WRITE_NORMAL", "WRITE_EXTERNAL")...),
		empty("events_waits_summary_global_by_event_name", timed("EVENT_NAME COUNT_STAR", "WAIT")...),
		empty("file_summary_by_event_name", timed("EVENT_NAME COUNT_STAR", "WAIT", "READ", "WRITE", "MISC")...),
		empty("replication_group_members", "CHANNEL_NAME", "MEMBER_ID", "MEMBER_HOST", "MEMBER_PORT", "MEMBER_STATE", "MEMBER_ROLE", "MEMBER_VERSION"),
	)
}

// sys is sys with what the server knows of its versions.
func (s *Server) sys() *database {
	return newDatabase(sysName, newTable("version", named(sysName, "version", "sys_version", "mysql_version"), func(*sql.Context) ([]sql.Row, error) {
		_, version, _ := sql.SystemVariables.GetGlobal("version")
		return []sql.Row{{"2.1.2", fmt.Sprint(version)}}, nil
	}))
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
