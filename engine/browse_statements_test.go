package engine

// What real clients send when they connect and browse: drivers, shells, BI tools and administration
// tools. Every statement must be answered, to a DBA and to an analyst. The current database is
// shop, with tables people (protected), products, odd and auto, and a view cheap.

// connecting are the statements at the beginning of a session.
var connecting = []string{
	"select @@version_comment limit 1", "select DATABASE(), USER() limit 1", "SELECT DATABASE()", "SELECT VERSION()", "SELECT CONNECTION_ID()", "select connection_id()",
	"SET NAMES utf8mb4", "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SET NAMES utf8", "SET NAMES 'utf8mb4'", "SET CHARACTER SET utf8mb4",
	"SELECT @@transaction_isolation", "SELECT @@sql_mode", "SELECT @@lower_case_table_names", "ROLLBACK", "SELECT @@tx_isolation",
	"set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')", "SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@auto_increment_increment",
	"set @@SQL_SELECT_LIMIT=DEFAULT", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
	"SET SESSION TRANSACTION READ WRITE", "SELECT @@session.transaction_read_only", "select @@session.tx_read_only", "SELECT @@session.autocommit",
	`/* mysql-connector-java-8.0.26 (Revision: 9aae1e450989d62c06616c1dcda3e404ef84df70) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, ` +
		`@@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, ` +
		`@@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, ` +
		`@@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, ` +
		`@@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@query_cache_size AS query_cache_size, @@query_cache_type AS query_cache_type, ` +
		`@@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout`,
	"SET SESSION SQL_AUTO_IS_NULL=0", "SET session_track_schema= ON", "SET session_track_system_variables='autocommit,transaction_isolation'", "SET session_track_state_change=ON",
	"SELECT VERSION(), @@sql_mode, @@default_storage_engine, @@sql_auto_is_null, @@lower_case_table_names, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL",
	"SET session sql_mode='ANSI_QUOTES,NO_AUTO_VALUE_ON_ZERO'", "SET sql_mode='PIPES_AS_CONCAT'", "SET sql_mode=DEFAULT",
	"SET time_zone = '+00:00'", "SELECT FLOOR((UNIX_TIMESTAMP()) / 10)",
	"SELECT @@GLOBAL.time_zone AS global_tz, @@system_time_zone AS system_tz, time_format(   timediff(      now(), convert_tz(now(), @@GLOBAL.time_zone, '+00:00')   ),   '%H:%i' ) AS 'offset'",
	"SET SQL_BIG_SELECTS=1", "SET SQL_SAFE_UPDATES=1", "SET net_write_timeout=600", "SET wait_timeout=2147483", "SET group_concat_max_len=1000000", "SET character_set_results = NULL",
	"SET character_set_results = utf8mb4", "SET collation_connection = utf8mb4_unicode_ci", "SET @@session.max_execution_time = 10000", "SET max_execution_time=0",
	"SET foreign_key_checks=0", "SET unique_checks=0", "SET SQL_NOTES=0", "SET sql_quote_show_create=1", "SET profiling=0", "SET information_schema_stats_expiry=0",
	"SET optimizer_switch='derived_merge=off'", "SET innodb_lock_wait_timeout=50", "SET tx_isolation='READ-COMMITTED'", "SET default_storage_engine=InnoDB", "SET AUTOCOMMIT = ON",
	"SELECT @@session.time_zone, @@global.time_zone, @@time_zone, @@system_time_zone, @@version, @@version_comment, @@sql_select_limit, @@storage_engine",
	"SELECT @@character_set_server, @@character_set_database, @@character_set_connection, @@character_set_client, @@character_set_results, @@collation_database, @@collation_server",
	"SELECT @@wait_timeout, @@max_connections, @@sql_auto_is_null, @@sql_quote_show_create, @@have_profiling, @@disabled_storage_engines, @@have_ssl, @@identity, @@warning_count",
	"SELECT @@hostname, @@port, @@datadir, @@version_compile_os, @@version_compile_machine, @@server_id, @@read_only, @@innodb_version, @@performance_schema, @@event_scheduler",
}

// browsed are the SHOW statements and their like.
var browsed = []string{
	"show databases", "SHOW SCHEMAS", "SHOW DATABASES LIKE 'sh%'", "SHOW DATABASES WHERE `Database` = 'shop'", "show tables", "SHOW FULL TABLES", "SHOW TABLES IN shop",
	"SHOW TABLES FROM `shop` LIKE 'p%'", "SHOW FULL TABLES FROM `shop` WHERE Table_type = 'BASE TABLE'", "SHOW FULL TABLES FROM `shop` LIKE 'people'", "SHOW FULL TABLES WHERE table_type != 'VIEW'",
	"SHOW EXTENDED TABLES", "SHOW EXTENDED FULL TABLES", "SHOW OPEN TABLES", "SHOW OPEN TABLES FROM shop", "SHOW OPEN TABLES WHERE In_use > 0", "SHOW TABLES FROM information_schema",
	"SHOW TABLES FROM mysql", "SHOW TABLES FROM performance_schema", "SHOW TABLES FROM sys", "SHOW TABLE STATUS FROM information_schema",
	"SHOW COLUMNS FROM people", "SHOW COLUMNS FROM people FROM shop", "SHOW COLUMNS IN `people` IN `shop`", "SHOW FULL COLUMNS FROM `shop`.`products`",
	"SHOW FULL COLUMNS FROM `products` FROM `shop` LIKE '%'", "SHOW COLUMNS FROM products WHERE Field = 'id'", "SHOW FULL FIELDS FROM products", "SHOW EXTENDED COLUMNS FROM products",
	"SHOW COLUMNS FROM cheap", "DESCRIBE people", "DESC products title", "DESCRIBE products 't%'", "DESCRIBE `products` '%'", "DESC `shop`.`auto`", "EXPLAIN products", "describe cheap",
	"SHOW INDEX FROM products", "SHOW INDEXES FROM products FROM shop", "SHOW KEYS FROM products IN shop", "SHOW INDEX FROM people", "SHOW KEYS FROM products WHERE Non_unique = 0",
	"SHOW INDEX FROM `shop`.`products` WHERE Key_name = 'PRIMARY'", "SHOW EXTENDED INDEX FROM products", "SHOW CREATE TABLE people", "SHOW CREATE TABLE cheap", "SHOW CREATE VIEW cheap",
	"SHOW CREATE DATABASE shop", "SHOW CREATE SCHEMA `shop`", "SHOW CREATE DATABASE IF NOT EXISTS `shop`", "SHOW CREATE USER CURRENT_USER()", "SHOW CREATE USER CURRENT_USER",
	"SHOW CREATE PROCEDURE dp_protect", "SHOW TABLE STATUS", "SHOW TABLE STATUS FROM `shop` LIKE 'people'", "SHOW TABLE STATUS WHERE Name = 'people'",
	"SHOW TRIGGERS", "SHOW TRIGGERS FROM shop LIKE 'p%'", "SHOW TRIGGERS WHERE `Table` = 'people'", "SHOW EVENTS", "SHOW EVENTS FROM shop", "SHOW EVENTS WHERE Db = 'shop'",
	"SHOW PROCEDURE STATUS", "SHOW PROCEDURE STATUS WHERE Db = 'shop'", "SHOW PROCEDURE STATUS LIKE 'dp%'", "SHOW FUNCTION STATUS", "SHOW FUNCTION STATUS WHERE Db='shop'",
	"SHOW VARIABLES", "SHOW VARIABLES LIKE 'lower_case_%';", "SHOW VARIABLES WHERE Variable_name IN ('max_allowed_packet','system_time_zone')", "SHOW GLOBAL VARIABLES LIKE 'time_zone'",
	"SHOW SESSION VARIABLES WHERE Variable_name LIKE 'lower_case_table_names' OR Variable_name = 'port'", "SHOW LOCAL VARIABLES LIKE 'autocommit'", `SHOW VARIABLES LIKE 'aurora\_version'`,
	"SHOW STATUS", "SHOW GLOBAL STATUS", "SHOW SESSION STATUS LIKE 'Uptime'", "SHOW STATUS LIKE 'Ssl_cipher'", "SHOW STATUS WHERE Variable_name = 'Threads_connected'", "show /*!50002 GLOBAL */ status",
	"SHOW WARNINGS", "SHOW WARNINGS LIMIT 5", "SHOW COUNT(*) WARNINGS", "SHOW ERRORS", "SHOW ERRORS LIMIT 1", "SHOW ERRORS LIMIT 0, 1", "SHOW COUNT(*) ERRORS",
	"SHOW PROCESSLIST", "SHOW FULL PROCESSLIST", "SHOW GRANTS", "SHOW GRANTS FOR CURRENT_USER", "SHOW GRANTS FOR CURRENT_USER()", "SHOW PRIVILEGES",
	"SHOW COLLATION", "SHOW COLLATION LIKE 'utf8mb4%'", "SHOW COLLATION WHERE Charset = 'utf8mb4' AND `Default` = 'Yes'", "SHOW CHARACTER SET", "SHOW CHARSET LIKE 'utf8mb4'",
	"SHOW CHARACTER SET WHERE Charset = 'utf8mb4'", "SHOW ENGINES", "SHOW STORAGE ENGINES", "SHOW ENGINE INNODB STATUS", "SHOW ENGINE innodb MUTEX", "SHOW PLUGINS",
	"SHOW MASTER STATUS", "SHOW BINARY LOG STATUS", "SHOW MASTER LOGS", "SHOW BINARY LOGS", "SHOW BINLOG EVENTS", "SHOW SLAVE STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE HOSTS", "SHOW REPLICAS",
	"SHOW ALL SLAVES STATUS", "SHOW RELAYLOG EVENTS", "SHOW PROFILES", "SHOW PROFILE", "SHOW PROFILE FOR QUERY 1",
	"CHECK TABLE products", "CHECK TABLE people", "OPTIMIZE TABLE products", "REPAIR TABLE products",
	"/* ApplicationName=DBeaver 23.1 - Main */ SHOW FULL TABLES FROM `shop`", "(SELECT 1)",
}

// catalogued are the reads of the catalogues, with names in capitals and without.
var catalogued = []string{
	"SELECT * FROM information_schema.schemata", "SELECT schema_name FROM information_schema.schemata ORDER BY schema_name",
	"SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = BINARY 'shop'",
	"SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA LIKE 'shop' AND TABLE_NAME LIKE 'p%'",
	"SELECT table_name AS t FROM information_schema.tables WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = BINARY 'people'",
	"SELECT TABLE_SCHEMA AS TABLE_CAT, NULL AS TABLE_SCHEM, TABLE_NAME, IF(TABLE_TYPE='BASE TABLE' OR TABLE_TYPE='SYSTEM VERSIONED', 'TABLE', TABLE_TYPE) as TABLE_TYPE, TABLE_COMMENT AS REMARKS FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA='shop'",
	"SELECT IFNULL(TABLE_TYPE,''), COALESCE(TABLE_TYPE,'x'), CONCAT(TABLE_TYPE), UPPER(TABLE_TYPE), TABLE_TYPE = 'VIEW', LEFT(TABLE_TYPE,4), CAST(TABLE_TYPE AS CHAR), NULLIF(TABLE_TYPE,'VIEW') FROM information_schema.tables",
	"SELECT TABLE_TYPE, COUNT(*) FROM information_schema.tables WHERE table_schema='shop' GROUP BY TABLE_TYPE ORDER BY TABLE_TYPE",
	"select column_name as Field, column_type as Type, is_nullable as `Null`, column_key as `Key`, column_default as `Default`, extra as Extra from information_schema.columns where table_schema = (select schema()) and table_name = 'products'",
	"SELECT IF(COLUMN_KEY='PRI',1,0), CASE EXTRA WHEN 'auto_increment' THEN 'YES' ELSE 'NO' END, CASE WHEN COLUMN_KEY='PRI' THEN COLUMN_KEY ELSE '' END FROM information_schema.columns WHERE table_schema='shop'",
	"SELECT c.COLUMN_NAME, t.TABLE_TYPE FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) WHERE t.table_schema = 'shop'",
	"SELECT kcu.COLUMN_NAME FROM information_schema.TABLE_CONSTRAINTS tc LEFT JOIN information_schema.KEY_COLUMN_USAGE kcu ON kcu.CONSTRAINT_NAME = tc.CONSTRAINT_NAME AND kcu.TABLE_NAME = tc.TABLE_NAME WHERE tc.TABLE_SCHEMA = 'shop'",
	"SELECT User, Host FROM mysql.user", "SELECT mysql.user.User FROM mysql.user", "SELECT u.host FROM mysql.`user` u WHERE u.user = 'ann'", "SELECT name, description, example FROM mysql.help_topic",
	"SELECT * FROM performance_schema.global_variables WHERE VARIABLE_NAME='version'", "SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Threads_connected'",
	"SELECT CHARSET('a'), COLLATION('a'), FOUND_ROWS(), ROW_COUNT(), LAST_INSERT_ID()", "SELECT 1 FROM DUAL", "EXPLAIN SELECT * FROM products", "EXPLAIN SELECT AVG(amount) FROM people",
}

// catalogueTables are read whole.
var catalogueTables = []string{
	"information_schema.tables", "information_schema.columns", "information_schema.statistics", "information_schema.user_privileges", "information_schema.schema_privileges",
	"information_schema.table_privileges", "information_schema.column_privileges", "information_schema.key_column_usage", "information_schema.table_constraints",
	"information_schema.referential_constraints", "information_schema.routines", "information_schema.parameters", "information_schema.partitions", "information_schema.files",
	"information_schema.check_constraints", "information_schema.views", "information_schema.view_table_usage", "information_schema.triggers", "information_schema.events",
	"information_schema.collations", "information_schema.character_sets", "information_schema.collation_character_set_applicability", "information_schema.plugins",
	"information_schema.engines", "information_schema.processlist", "information_schema.keywords", "information_schema.column_statistics", "information_schema.profiling",
	"information_schema.optimizer_trace", "information_schema.role_table_grants", "information_schema.applicable_roles", "information_schema.enabled_roles",
	"information_schema.innodb_tables", "information_schema.innodb_tablestats", "information_schema.innodb_metrics", "information_schema.innodb_trx",
	"information_schema.user_attributes", "information_schema.tables_extensions", "information_schema.columns_extensions",
	"mysql.user", "mysql.db", "mysql.tables_priv", "mysql.columns_priv", "mysql.procs_priv", "mysql.proxies_priv", "mysql.role_edges", "mysql.default_roles", "mysql.global_grants",
	"mysql.help_topic", "mysql.help_category", "mysql.time_zone_name", "mysql.func", "mysql.plugin", "mysql.servers", "mysql.slow_log", "mysql.general_log",
	"performance_schema.global_status", "performance_schema.session_status", "performance_schema.global_variables", "performance_schema.session_variables",
	"performance_schema.processlist", "performance_schema.session_account_connect_attrs", "performance_schema.events_statements_summary_by_digest", "sys.version",
	"dp.policies", "dp.budgets", "dp.functions",
}
