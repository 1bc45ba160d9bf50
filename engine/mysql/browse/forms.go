package browse

import (
	"fmt"
	"slices"
	"strings"

	"scrim/engine/mysql/dialect"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Forms are the statements that are answered here. The parser tries them in this order.
func Forms() []dialect.Form {
	return slices.Concat(listForms(), tableForms(), serverForms(), emptyForms(), flushForms())
}

// made is a form that an answer of this package answers; in the order of its arguments, take says
// which arguments of the pattern they are, 0 for none.
func made(pattern, like, kind string, take ...int) dialect.Form {
	return dialect.Form{Pattern: pattern, Like: like, Make: func(args []*string) string {
		picked := make([]*string, len(take))
		for i, n := range take {
			if n > 0 {
				picked[i] = args[n-1]
			}
		}
		return from(kind, picked...)
	}}
}

// constant is a form whose answer takes arguments that are not in the pattern, before those that
// are.
func constant(pattern, kind string, fixed ...string) dialect.Form {
	return dialect.Form{Pattern: pattern, Make: func([]*string) string {
		args := lists.Make(len(fixed), func(i int) *string { return &fixed[i] })
		return from(kind, args...)
	}}
}

// listForms are the lists of databases and tables.
func listForms() []dialect.Form {
	var list []dialect.Form
	list = append(list,
		made("SHOW {DATABASES|SCHEMAS} LIKE <text>", "", "databases", 1), made("SHOW {DATABASES|SCHEMAS} <filter>", "", "databases", 0))
	for _, k := range [][2]string{{"SHOW [EXTENDED] TABLES", "tables"}, {"SHOW [EXTENDED] FULL TABLES", "full tables"}} {
		list = append(list, made(k[0]+" {FROM|IN} <name> LIKE <text>", "", k[1], 1, 2), made(k[0]+" {FROM|IN} <name> <filter>", "", k[1], 1, 0),
			made(k[0]+" LIKE <text>", "", k[1], 0, 1), made(k[0]+" <filter>", "", k[1], 0, 0))
	}
	list = append(list, made("SHOW TABLE STATUS {FROM|IN} <name> <filter>", "Name", "table status", 1), made("SHOW TABLE STATUS <filter>", "Name", "table status", 0))
	for _, n := range nothing {
		list = append(list, in("SHOW "+n.what+" {FROM|IN} <name> <filter>", n.like, n.columns), in("SHOW "+n.what+" <filter>", n.like, n.columns))
	}
	return list
}

// nothing is what databases have none of.
var nothing = []struct{ what, like, columns string }{
	{"OPEN TABLES", "Table", "Database,Table,In_use,Name_locked"},
	{"[FULL] TRIGGERS", "Table", "Trigger,Event,Table,Statement,Timing,Created,sql_mode,Definer,character_set_client,collation_connection,Database Collation"},
	{"EVENTS", "Name", "Db,Name,Definer,Time zone,Type,Execute at,Interval value,Interval field,Starts,Ends,Status,Originator," +
		"character_set_client,collation_connection,Database Collation"},
}

// in is an empty list, of a database if the pattern names one.
func in(pattern, like, columns string) dialect.Form {
	return dialect.Form{Pattern: pattern, Like: like, Make: func(args []*string) string {
		var database *string
		if len(args) > 0 {
			database = args[0]
		}
		return from("nothing in", database, &columns)
	}}
}

// tableForms are about one table. A <table> is two arguments: its database, if it is named, and its
// name.
func tableForms() []dialect.Form {
	var list []dialect.Form
	for _, k := range []struct{ head, like, kind string }{
		{"SHOW [EXTENDED] {COLUMNS|FIELDS}", "Field", "columns"}, {"SHOW [EXTENDED] FULL {COLUMNS|FIELDS}", "Field", "full columns"},
		{"SHOW [EXTENDED] {INDEX|INDEXES|KEYS}", "Key_name", "index"},
	} {
		list = append(list, made(k.head+" {FROM|IN} <table> {FROM|IN} <name> <filter>", k.like, k.kind, 3, 2), made(k.head+" {FROM|IN} <table> <filter>", k.like, k.kind, 1, 2))
	}
	for _, w := range []string{"DESCRIBE", "DESC", "EXPLAIN"} {
		list = append(list, made(w+" <table>", "", "columns", 1, 2), column(w+" <table> <text>"), column(w+" <table> <name>"))
	}
	return append(list,
		made("SHOW CREATE TABLE <table>", "", "create table", 1, 2), made("SHOW CREATE VIEW <table>", "", "create view", 1, 2),
		made("SHOW CREATE USER <account>", "", "create user", 1, 2), made("SHOW CREATE PROCEDURE <table>", "", "create routine", 1, 2),
		absent("SHOW CREATE FUNCTION <table>", 1305, "42000", "FUNCTION %s does not exist"), absent("SHOW CREATE TRIGGER <table>", 1360, "HY000", "Trigger %s does not exist"),
		absent("SHOW CREATE EVENT <table>", 1539, "HY000", "Unknown event '%s'"))
}

// statements are what EXPLAIN and DESCRIBE explain: no table has these names.
var statements = []string{"SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "WITH", "TABLE", "VALUES", "ANALYZE", "FORMAT", "EXTENDED", "PARTITIONS", "PLAN", "FOR"}

// column is DESCRIBE table column, where the column may be a pattern.
func column(pattern string) dialect.Form {
	return dialect.Form{Pattern: pattern, Make: func(args []*string) string {
		if args[0] == nil && slices.Contains(statements, strings.ToUpper(of(args[1]))) {
			return ""
		}
		return "SELECT * FROM (" + from("columns", args[0], args[1]) + ") AS answer WHERE `Field` LIKE " + sqltext.Text(of(args[2]))
	}}
}

// absent answers for what there is none of.
func absent(pattern string, errno int, state, text string) dialect.Form {
	return dialect.Form{Pattern: pattern, Make: func(args []*string) string {
		number, message := fmt.Sprint(errno), fmt.Sprintf(text, of(args[1]))
		return from("absent", &number, &state, &message)
	}}
}

// query is a form that a table of information_schema or performance_schema answers.
func query(pattern, like, text string) dialect.Form {
	return dialect.Form{Pattern: pattern, Like: like, Query: text}
}

// serverForms are about the server.
func serverForms() []dialect.Form {
	const pair = "SELECT VARIABLE_NAME AS `Variable_name`, VARIABLE_VALUE AS `Value` FROM performance_schema."
	const routine = "SELECT ROUTINE_SCHEMA AS `Db`, ROUTINE_NAME AS `Name`, ROUTINE_TYPE AS `Type`, DEFINER AS `Definer`, LAST_ALTERED AS `Modified`, CREATED AS `Created`, " +
		"SECURITY_TYPE AS `Security_type`, ROUTINE_COMMENT AS `Comment`, CHARACTER_SET_CLIENT AS `character_set_client`, COLLATION_CONNECTION AS `collation_connection`, " +
		"DATABASE_COLLATION AS `Database Collation` FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = "
	return []dialect.Form{
		query("SHOW GLOBAL STATUS <filter>", "Variable_name", pair+"global_status"), query("SHOW [SESSION|LOCAL] STATUS <filter>", "Variable_name", pair+"session_status"),
		query("SHOW GLOBAL VARIABLES <filter>", "Variable_name", pair+"global_variables"), query("SHOW [SESSION|LOCAL] VARIABLES <filter>", "Variable_name", pair+"session_variables"),
		query("SHOW COLLATION <filter>", "Collation", "SELECT COLLATION_NAME AS `Collation`, CHARACTER_SET_NAME AS `Charset`, ID AS `Id`, IS_DEFAULT AS `Default`, IS_COMPILED AS `Compiled`, "+
			"SORTLEN AS `Sortlen`, PAD_ATTRIBUTE AS `Pad_attribute` FROM information_schema.COLLATIONS"),
		query("SHOW [STORAGE] ENGINES", "", "SELECT ENGINE AS `Engine`, SUPPORT AS `Support`, COMMENT AS `Comment`, TRANSACTIONS AS `Transactions`, XA, SAVEPOINTS AS `Savepoints` "+
			"FROM information_schema.ENGINES"),
		query("SHOW PLUGINS", "", "SELECT PLUGIN_NAME AS `Name`, PLUGIN_STATUS AS `Status`, PLUGIN_TYPE AS `Type`, PLUGIN_LIBRARY AS `Library`, PLUGIN_LICENSE AS `License` "+
			"FROM information_schema.PLUGINS"),
		query("SHOW PROCEDURE STATUS <filter>", "Name", routine+"'PROCEDURE'"), query("SHOW FUNCTION STATUS <filter>", "Name", routine+"'FUNCTION'"),
		query("SHOW FULL PROCESSLIST", "", processes+"INFO AS `Info` FROM information_schema.PROCESSLIST"),
		query("SHOW PROCESSLIST", "", processes+"LEFT(INFO, 100) AS `Info` FROM information_schema.PROCESSLIST"),
		query("SHOW ENGINE <name> STATUS", "", "SELECT '"+engineName+"' AS `Type`, '' AS `Name`, 'The store has no such engine; SHOW STATUS tells what is counted.' AS `Status`"),
		constant("SHOW ERRORS", "errors"), limited("SHOW ERRORS LIMIT <number>"), limited("SHOW ERRORS LIMIT <number> , <number>"),
		constant("SHOW COUNT ( * ) WARNINGS", "count", "WARNINGS"), constant("SHOW COUNT ( * ) ERRORS", "count", "ERRORS"),
	}
}

const processes = "SELECT ID AS `Id`, USER AS `User`, HOST AS `Host`, DB AS `db`, COMMAND AS `Command`, TIME AS `Time`, STATE AS `State`, "

// limited is SHOW ERRORS with a LIMIT.
func limited(pattern string) dialect.Form {
	return dialect.Form{Pattern: pattern, Make: func(args []*string) string {
		return from("errors") + " LIMIT " + strings.Join(lists.Map(args, of), ", ")
	}}
}

// emptyForms are about what the server does not have: replication, profiles, mutexes.
func emptyForms() []dialect.Form {
	list := func(pattern, columns string) dialect.Form {
		return dialect.Form{Pattern: pattern, Query: dialect.Empty(strings.Split(columns, ",")...)}
	}
	const status = "File,Position,Binlog_Do_DB,Binlog_Ignore_DB,Executed_Gtid_Set"
	const events = "Log_name,Pos,Event_type,Server_id,End_log_pos,Info"
	return []dialect.Form{
		list("SHOW MASTER STATUS", status), list("SHOW BINARY LOG STATUS", status), list("SHOW {BINARY|MASTER} LOGS", "Log_name,File_size,Encrypted"),
		list("SHOW BINLOG EVENTS <rest>", events), list("SHOW RELAYLOG EVENTS <rest>", events),
		list("SHOW SLAVE STATUS <rest>", "Slave_IO_State,Master_Host,Master_User,Master_Port,Slave_IO_Running,Slave_SQL_Running,Seconds_Behind_Master,Channel_Name"),
		list("SHOW ALL SLAVES STATUS", "Connection_name,Slave_SQL_State,Slave_IO_State,Master_Host,Slave_IO_Running,Slave_SQL_Running,Seconds_Behind_Master"),
		list("SHOW REPLICA STATUS <rest>", "Replica_IO_State,Source_Host,Source_User,Source_Port,Replica_IO_Running,Replica_SQL_Running,Seconds_Behind_Source,Channel_Name"),
		list("SHOW SLAVE HOSTS", "Server_id,Host,Port,Master_id,Slave_UUID"), list("SHOW REPLICAS", "Server_Id,Host,Port,Source_Id,Replica_UUID"),
		list("SHOW PROFILES", "Query_ID,Duration,Query"), list("SHOW PROFILE <rest>", "Status,Duration"),
		list("SHOW ENGINE <name> {MUTEX|LOGS}", "Type,Name,Status"),
	}
}

// flushForms answer FLUSH of what is never stale as the one that MySQL's clients may send at any
// time, which asks for the same privilege.
func flushForms() []dialect.Form {
	const flushed = "FLUSH PRIVILEGES"
	return []dialect.Form{
		{Pattern: "FLUSH [LOCAL|NO_WRITE_TO_BINLOG] {TABLES|TABLE} WITH READ LOCK", Refusal: refuse.New(refuse.Unsupported, "FLUSH TABLES WITH READ LOCK is not supported.").
			With("Read in one transaction, or CALL dp_backup.")},
		query("FLUSH [LOCAL|NO_WRITE_TO_BINLOG] [BINARY|ENGINE|ERROR|GENERAL|SLOW|RELAY] {LOGS|STATUS|HOSTS|TABLES|TABLE|USER_RESOURCES|OPTIMIZER_COSTS}", "", flushed),
		query("FLUSH [LOCAL|NO_WRITE_TO_BINLOG] QUERY CACHE", "", flushed),
	}
}
