package dialect

import "scrim/internal/refuse"

// refused are the statements of MySQL that this server has no use for, by how they begin.
var refused = []Form{
	no("HANDLER <rest>", "HANDLER reads rows past the planner.", "Use SELECT."),
	no("XA <rest>", "Distributed transactions are not supported.", "Use BEGIN and COMMIT."),
	no("HELP <rest>", "The server holds no help texts.", "See docs/reference.md, or SELECT * FROM dp.functions."),
	no("INSTALL <rest>", "The server has no plugins.", "Nothing needs to be installed."),
	no("UNINSTALL <rest>", "The server has no plugins.", "Nothing needs to be installed."),
	no("RESET <rest>", "The server has no binary log.", "Copy the data directory with CALL dp_backup."),
	no("PURGE <rest>", "The server has no binary log.", "Copy the data directory with CALL dp_backup."),
	no("CHANGE <rest>", "Replication is not supported.", "Copy the data directory with CALL dp_backup."),
	no("CACHE <rest>", "The server has no caches of indexes.", "Nothing needs to be done: the store keeps its own."),
	no("CLONE <rest>", "CLONE is not supported.", "Copy the data directory with CALL dp_backup."),
	no("IMPORT <rest>", "IMPORT TABLE is not supported.", "Use scrim import while the server is stopped."),
	no("SHUTDOWN", "The server is not stopped in SQL.", "Send it SIGTERM."),
	no("RESTART", "The server is not started in SQL.", "Send it SIGTERM, and start it again."),
	no("LOCK INSTANCE <rest>", "LOCK INSTANCE is not supported.", "CALL dp_backup needs no lock."),
	no("UNLOCK INSTANCE", "LOCK INSTANCE is not supported.", "CALL dp_backup needs no lock."),
	no("CHECKSUM <rest>", "A checksum of a table would tell exactly what is in it.", "Compare aggregates."),
}

// no is a form that is refused.
func no(pattern, cause, remedy string) Form {
	return Form{Pattern: pattern, Refusal: refuse.New(refuse.Unsupported, "%s", cause).With("%s", remedy)}
}
