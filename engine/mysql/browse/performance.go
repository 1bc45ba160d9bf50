package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/lists"
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
	return lists.Map(list, func(v Variable) sql.Row { return sql.Row{v.Name, shown(v.Value)} })
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
	return lists.Map(sorted(all), func(n string) Variable { return Variable{strings.ToLower(n), all[n]} })
}

// told are the counters of the whole server that every account may see: they follow from
// connections, and from no row. The others count statements and bytes, which at an importer are
// rows, or the size of what a DBA reads.
var told = map[string]bool{
	"uptime": true, "uptime_since_flush_status": true, "threads_connected": true, "threads_running": true, "connections": true, "max_used_connections": true,
	"aborted_connects": true,
}

// counted are the counters that the server keeps. All others of MySQL's have their initial value.
var counted = map[string]bool{
	"queries": true, "questions": true, "com_select": true, "com_insert": true, "com_update": true, "com_delete": true, "slow_queries": true,
}

// status lists the status variables by their names, each once. What is not told of all is the
// session's own.
func (s *Server) status(ctx *sql.Context, all bool) []Variable {
	server := sql.StatusVariables.NewGlobalMap()
	own := ctx.Session.GetAllStatusVariables(ctx)
	mayAll := s.All(ctx)
	values := map[string]any{}
	names := map[string]string{} // by what a client makes of them
	add := func(from map[string]sql.StatusVarValue, take func(lower string) bool) {
		for _, n := range sorted(from) {
			v, key := from[n], strings.ToLower(strings.ReplaceAll(n, ".", "_"))
			if known, ok := names[key]; ok && (known != n || !take(key)) {
				continue
			}
			names[key] = n
			values[key] = v.Value()
			if _, counter := values[key].(uint64); counter && !take(key) {
				values[key] = uint64(0)
			}
		}
	}
	add(server, func(k string) bool { return told[k] || counted[k] && all && mayAll })
	add(own, func(k string) bool { return !told[k] && counted[k] && !(all && mayAll) })
	s.extra(ctx, all && mayAll, names, values)
	list := make([]Variable, 0, len(names))
	for key, n := range names {
		list = append(list, Variable{n, values[key]})
	}
	slices.SortFunc(list, func(a, b Variable) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list
}

// extra adds what go-mysql-server does not count.
func (s *Server) extra(ctx *sql.Context, all bool, names map[string]string, values map[string]any) {
	set := func(name string, v any) {
		key := strings.ToLower(name)
		if _, ok := names[key]; !ok {
			names[key] = name
		}
		values[key] = v
	}
	if s.Traffic != nil {
		received, sent := s.Traffic(ctx, all)
		set("Bytes_received", received)
		set("Bytes_sent", sent)
	}
	// Clients divide by it.
	uptime := uint64(1 + time.Since(s.started)/time.Second)
	set("Uptime", uptime)
	set("Uptime_since_flush_status", uptime)
	// Statements that were prepared and those of the protocol count as both.
	set("Queries", max(number64(values["queries"]), number64(values["questions"]), 1))
	set("Questions", max(number64(values["questions"]), 1))
	set("Threads_created", number64(values["connections"]))
	cipher, version := s.tls(ctx)
	set("Ssl_cipher", cipher)
	set("Ssl_version", version)
}

func (s *Server) tls(ctx *sql.Context) (cipher, version string) {
	if s.TLS == nil {
		return "", ""
	}
	return s.TLS(ctx)
}

func number64(v any) uint64 {
	n, _ := v.(uint64)
	return n
}
