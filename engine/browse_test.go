package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/estimator/noise"
	"scrim/engine/observe/version"
	"scrim/test/testenv"
)

// browsedShop is a server with a shop of every kind of column, its DBA, and an analyst.
func browsedShop(t *testing.T, source func() noise.Noiser) (i *instance, root, ann *client) {
	t.Helper()
	i = startWith(t, "", source)
	root = i.root()
	root.exec("CREATE DATABASE shop", "CREATE DATABASE hidden", "CREATE TABLE hidden.secret (id INT)",
		"CREATE TABLE shop.people (id BIGINT NOT NULL, name VARCHAR(40), dept VARCHAR(20), age INT, amount DECIMAL(10,2), joined DATE, v VECTOR(3)) COMMENT 'one row each'",
		"CREATE TABLE shop.products (id INT PRIMARY KEY, title VARCHAR(60) NOT NULL DEFAULT 'x', price DOUBLE COMMENT 'in €', made DATETIME(3), n INT UNSIGNED, UNIQUE KEY by_title (title))",
		"CREATE TABLE shop.auto (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, e ENUM('a','b'), j JSON, t TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, b BLOB)",
		"CREATE TABLE shop.odd (`a``b` INT, `c d` INT, UNIQUE KEY two (`a``b`, `c d`))",
		"CREATE VIEW shop.cheap AS SELECT id, price FROM shop.products WHERE price < 10",
		"CALL dp_protect('shop.people', 'id', 'person')", "CALL dp_public('shop.products')", "CALL dp_public('shop.auto')",
		"CREATE USER ann IDENTIFIED BY 'pw-ann'", "GRANT SELECT ON shop.* TO ann", "USE shop")
	ann = i.client("ann", "pw-ann")
	ann.exec("USE shop")
	return i, root, ann
}

// TestEveryStatementOfClientsIsAnswered sends what drivers and tools send when they connect and
// browse.
func TestEveryStatementOfClientsIsAnswered(t *testing.T) {
	_, root, ann := browsedShop(t, noise.Secure)
	for who, c := range map[string]*client{"a DBA": root, "an analyst": ann} {
		for _, list := range [][]string{connecting, browsed, catalogued} {
			for _, q := range list {
				if _, err := c.try(q); err != nil {
					t.Errorf("%s: %s: %v", who, q, err)
				}
			}
		}
		for _, n := range catalogueTables {
			if _, err := c.try("SELECT * FROM " + n); err != nil {
				t.Errorf("%s: %s: %v", who, n, err)
			}
			if _, err := c.try("SELECT COUNT(*) FROM " + strings.ToUpper(n)); err != nil {
				t.Errorf("%s: %s in capitals: %v", who, n, err)
			}
		}
	}
	// As prepared statements, too, which is all that some drivers send.
	for _, q := range browsed {
		st, err := ann.conn.PrepareContext(context.Background(), q)
		if err != nil {
			t.Errorf("prepare %s: %v", q, err)
			continue
		}
		if _, err := st.Exec(); err != nil {
			t.Errorf("execute %s: %v", q, err)
		}
		st.Close()
	}
}

// TestTheCatalogueIsTrue compares answers with the definitions.
func TestTheCatalogueIsTrue(t *testing.T) {
	_, root, ann := browsedShop(t, noise.Secure)
	for _, c := range []struct{ query, want string }{
		{"SHOW DATABASES", "[[dp] [information_schema] [performance_schema] [shop] [sys]]"},
		{"SHOW FULL TABLES", "[[auto BASE TABLE] [cheap VIEW] [odd BASE TABLE] [people BASE TABLE] [products BASE TABLE]]"},
		{"SHOW TABLES LIKE 'P%'", "[[people] [products]]"},
		{`SHOW TABLES LIKE 'p\_%'`, "[]"},
		{"DESCRIBE people v", "[[v vector(3) YES  NULL ]]"},
		{"SHOW FULL COLUMNS FROM products", "[[id int NULL NO PRI NULL  select ] [title varchar(60) utf8mb4_0900_ai_ci NO UNI x  select ] [price double NULL YES  NULL  select in €] " +
			"[made datetime(3) NULL YES  NULL  select ] [n int unsigned NULL YES  NULL  select ]]"},
		{"SHOW COLUMNS FROM auto", "[[id bigint NO PRI NULL auto_increment] [e enum('a','b') YES  NULL ] [j json YES  NULL ] [t timestamp YES  CURRENT_TIMESTAMP DEFAULT_GENERATED] [b blob YES  NULL ]]"},
		{"SHOW COLUMNS FROM odd", "[[a`b int YES MUL NULL ] [c d int YES  NULL ]]"},
		{"SHOW COLUMNS FROM cheap", "[[id int NO  NULL ] [price double YES  NULL ]]"},
		{"SELECT column_name FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'cheap'", "[[id] [price]]"},
		{"SHOW INDEX FROM odd WHERE Seq_in_index = 2", "[[odd 0 two 2 c d A NULL NULL NULL YES BTREE   YES NULL]]"},
		{"SELECT constraint_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_schema = 'shop' AND table_name = 'products'", "[[PRIMARY id 1] [by_title title 1]]"},
		{"SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_name = 'products'", "[[PRIMARY PRIMARY KEY] [by_title UNIQUE]]"},
		{"SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = 'shop'", "[[cheap SELECT id, price FROM shop.products WHERE price < 10]]"},
		{"SELECT numeric_precision, numeric_scale, data_type, column_type, privileges FROM information_schema.columns WHERE table_name = 'people' AND column_name = 'amount'", "[[10 2 decimal decimal(10,2) select]]"},
		{"SELECT character_maximum_length, character_octet_length, datetime_precision FROM information_schema.columns WHERE table_name = 'products' AND column_name IN ('title', 'made')",
			"[[60 240 NULL] [NULL NULL 3]]"},
		{"SELECT IF(STRCMP(TABLE_TYPE,'BASE TABLE')=0, 'TABLE', TABLE_TYPE), CASE WHEN TABLE_TYPE='BASE TABLE' THEN 'T' ELSE TABLE_TYPE END FROM information_schema.tables WHERE table_name IN ('cheap', 'people')",
			"[[VIEW VIEW] [TABLE T]]"},
		{"SELECT IF(TABLE_TYPE = 'VIEW', 'x', TABLE_TYPE) FROM information_schema.tables WHERE table_schema = 'information_schema' AND table_name = 'TABLES'", "[[SYSTEM VIEW]]"},
		{"SELECT grantee, table_schema, privilege_type FROM information_schema.schema_privileges", "[['ann'@'%' dp SELECT] ['ann'@'%' shop SELECT]]"},
		{"SELECT user FROM mysql.user", "[[ann]]"}, {"SELECT user, authentication_string FROM mysql.user", "[[ann ]]"},
		{"SELECT COUNT(*) > 10 FROM information_schema.routines WHERE routine_name LIKE 'dp\\_%'", "[[1]]"},
		{"SELECT parameter_name FROM information_schema.parameters WHERE specific_name = 'dp_protect'", "[[table] [unit_column] [entity] [json]]"},
		{"SHOW CREATE USER CURRENT_USER()", "[[CREATE USER `ann`@`%` IDENTIFIED WITH 'mysql_native_password' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK]]"},
		{"SHOW VARIABLES LIKE 'lower_case_table_names'", "[[lower_case_table_names 1]]"}, {"SELECT @@version", "[[" + version.Number + "]]"},
		{"SELECT @@max_allowed_packet, @@max_connections", "[[67108864 256]]"},
	} {
		if got := fmt.Sprint(ann.query(c.query)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
	if got := fmt.Sprint(root.query("SHOW FULL COLUMNS FROM people LIKE 'id'")); got != "[[id bigint NULL NO  NULL  select,insert,update,references ]]" {
		t.Errorf("a DBA's privileges: got %s", got)
	}
	// The number of rows: of public tables alone, also to a DBA who reads raw rows.
	root.exec("INSERT INTO products (id, title) VALUES (1, 'a'), (2, 'b')", "INSERT INTO people (id) VALUES (1), (2)", "SET dp_raw = ON", "INSERT INTO odd VALUES (1, 2)")
	for _, c := range []*client{root, ann} {
		if got := fmt.Sprint(c.query("SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = 'shop' AND table_name <> 'auto' ORDER BY 1")); got != "[[cheap NULL] [odd NULL] [people NULL] [products 2]]" {
			t.Errorf("numbers of rows: got %s", got)
		}
	}
	for _, n := range []string{"people", "products", "auto", "odd"} {
		text := root.query("SHOW CREATE TABLE shop." + n)[0][1]
		root.exec("CREATE DATABASE IF NOT EXISTS twin", "USE twin", text, "USE shop")
		if again := root.query("SHOW CREATE TABLE twin." + n)[0][1]; again != text {
			t.Errorf("SHOW CREATE TABLE of what it made: got %s\nwant %s", again, text)
		}
	}
}

// TestWhatIsHiddenIsNotThere: an account learns of no table that it may not see, and gets MySQL's
// errors.
func TestWhatIsHiddenIsNotThere(t *testing.T) {
	i, _, ann := browsedShop(t, noise.Secure)
	for _, q := range []string{"SHOW DATABASES", "SELECT * FROM information_schema.schemata", "SELECT table_schema, table_name FROM information_schema.tables",
		"SELECT * FROM information_schema.columns", "SELECT * FROM mysql.user", "SELECT * FROM mysql.db", "SELECT * FROM information_schema.user_privileges"} {
		if got := fmt.Sprint(ann.query(q)); strings.Contains(got, "hidden") || strings.Contains(got, "secret") || strings.Contains(got, "root") {
			t.Errorf("%s: got %s", q, got)
		}
	}
	ann.refused(1044, "42000", "SHOW TABLES FROM hidden")
	ann.refused(1044, "42000", "DESCRIBE hidden.secret")
	ann.refused(1044, "42000", "SHOW TABLE STATUS FROM hidden")
	// as in MySQL: whether it is there is not told
	ann.refused(1044, "42000", "SHOW TABLES FROM nowhere")
	ann.refused(1227, "42000", "SHOW CREATE USER root")
	ann.refused(1146, "42S02", "DESCRIBE nope")
	ann.refused(1146, "42S02", "SHOW INDEX FROM shop.nope")
	ann.refused(1347, "HY000", "SHOW CREATE VIEW products")
	nowhere := i.client("ann", "pw-ann")
	nowhere.refused(1046, "3D000", "SHOW TABLES")
	nowhere.refused(1046, "3D000", "DESCRIBE products")
	nowhere.refused(1046, "3D000", "SHOW TABLE STATUS")
}

// TestBareNamesOfTheCatalogue: once information_schema is the current database, its tables have
// bare names for everybody, and tell each account the same as by their whole names. Nobody but a
// DBA gets any other right by that.
func TestBareNamesOfTheCatalogue(t *testing.T) {
	i, root, ann := browsedShop(t, noise.Secure)
	root.exec("CREATE USER nobody IDENTIFIED BY 'pw-nobody'")
	for _, c := range []*client{ann, i.client("nobody", "pw-nobody")} {
		for _, n := range []string{"columns", "tables", "schemata", "user_privileges", "schema_privileges"} {
			q := "SELECT * FROM information_schema." + n
			whole := fmt.Sprint(c.query(q))
			c.exec("USE information_schema")
			if bare := fmt.Sprint(c.query("SELECT * FROM " + n)); bare != whole {
				t.Errorf("%s: by its bare name got %s\nwant %s", n, bare, whole)
			}
			if strings.Contains(whole, "secret") {
				t.Errorf("%s tells of a hidden table: %s", n, whole)
			}
		}
		for _, q := range []string{"CREATE TABLE t (a INT)", "DELETE FROM tables", "SELECT * FROM hidden.secret"} {
			if rows, err := c.try(q); err == nil {
				t.Errorf("%s: was answered with %v", q, rows)
			}
		}
	}
}

// TestStatusCountsOnce: names are unique, as exporters need them, and what clients divide by is no
// zero. An analyst's counters are those of the own connection: an importer's statements and the
// size of a DBA's results count rows.
func TestStatusCountsOnce(t *testing.T) {
	_, root, ann := browsedShop(t, noise.Secure)
	for who, c := range map[string]*client{"a DBA": root, "an analyst": ann} {
		for _, q := range []string{"SHOW GLOBAL STATUS", "SHOW STATUS"} {
			seen, values := map[string]bool{}, map[string]string{}
			for _, r := range c.query(q) {
				key := strings.ToLower(strings.ReplaceAll(r[0], ".", "_"))
				if seen[key] {
					t.Errorf("%s, %s: %s comes twice", who, q, r[0])
				}
				seen[key], values[r[0]] = true, r[1]
			}
			for _, n := range []string{"Uptime", "Queries", "Questions", "Threads_connected", "Connections", "Max_used_connections"} {
				if v, err := strconv.Atoi(values[n]); err != nil || v < 1 {
					t.Errorf("%s, %s: %s is %q", who, q, n, values[n])
				}
			}
		}
	}
	counters := func() []string {
		var list []string
		for _, r := range ann.query("SHOW GLOBAL STATUS") {
			if !slices.Contains([]string{"Uptime", "Uptime_since_flush_status", "Questions", "Queries", "Com_select", "Threads_running", "Bytes_sent", "Bytes_received"}, r[0]) {
				list = append(list, r[0]+"="+r[1])
			}
		}
		return list
	}
	questions := func() int { n, _ := strconv.Atoi(ann.query("SHOW GLOBAL STATUS LIKE 'Questions'")[0][1]); return n }
	before, asked := counters(), questions()
	for n := range 20 {
		root.exec(fmt.Sprintf("INSERT INTO shop.people (id) VALUES (%d)", n))
	}
	for _, c := range counters() {
		if !slices.Contains(before, c) {
			t.Errorf("an analyst's counters changed with another's rows: %s", c)
		}
	}
	if n := questions(); n > asked+4 {
		t.Errorf("an analyst's statements went from %d to %d while another wrote 20 rows", asked, n)
	}
}

// TestBoundsLeaveOutNothing: a query that is asked of one database or table gives what it gives
// when every row is looked at.
func TestBoundsLeaveOutNothing(t *testing.T) {
	_, root, _ := browsedShop(t, noise.Secure)
	root.exec("CREATE TABLE hidden.people (id INT PRIMARY KEY)", "CREATE TABLE hidden.`péople` (id INT)")
	for _, q := range []string{
		"SELECT * FROM information_schema.tables t WHERE %s = 'shop' ORDER BY table_name", "SELECT * FROM information_schema.columns t WHERE %s = 'SHOP' ORDER BY table_name, column_name",
		"SELECT * FROM information_schema.statistics t WHERE %s = DATABASE() AND t.seq_in_index = 1 ORDER BY table_name, index_name",
		"SELECT t.table_name, c.column_name FROM information_schema.tables t LEFT JOIN information_schema.columns c ON c.table_name = t.table_name AND c.table_schema = 'hidden' WHERE %s = 'shop' ORDER BY 1, 2",
		"SELECT c.table_name, t.table_name FROM information_schema.columns c LEFT JOIN information_schema.tables t ON t.table_name = c.table_name WHERE %s = 'shop' AND c.table_schema = 'shop' ORDER BY 1, 2",
		"SELECT table_name FROM information_schema.tables t WHERE %s = 'shop' UNION SELECT table_name FROM information_schema.tables WHERE table_schema = 'hidden' ORDER BY 1",
		"SELECT COUNT(*) FROM (SELECT * FROM information_schema.columns t WHERE %s = 'shop') x", "SELECT COUNT(*) FROM information_schema.tables t WHERE NOT %s = 'shop'",
		"SELECT COUNT(*) FROM information_schema.tables t WHERE %s = 'shop' OR table_schema = 'hidden'", "SELECT COUNT(*) FROM information_schema.tables t WHERE %s = 'nowhere'",
		"SELECT table_schema, table_name FROM information_schema.tables t WHERE t.table_name = 'people' AND %s = 'hidden' ORDER BY 1, 2",
	} {
		bounded, all := fmt.Sprint(root.query(fmt.Sprintf(q, "t.table_schema"))), fmt.Sprint(root.query(fmt.Sprintf(q, "IF(1 = 1, t.table_schema, NULL)")))
		if bounded != all {
			t.Errorf("%s\nbounded %s\n    all %s", q, bounded, all)
		}
	}
}

// TestStatusOfTheConnection: bytes are counted, and TLS is named where there is some.
func TestStatusOfTheConnection(t *testing.T) {
	i, _, ann := browsedShop(t, noise.Secure)
	bytes := func() int {
		n, _ := strconv.Atoi(ann.query("SHOW GLOBAL STATUS LIKE 'Bytes_sent'")[0][1])
		return n
	}
	before := bytes()
	i.root().query("SHOW VARIABLES") // another's
	if between := bytes(); between-before > 2000 {
		t.Errorf("an analyst is told of another's bytes: %d, then %d", before, between)
	}
	ann.query("SHOW VARIABLES")
	if after := bytes(); after-before < 10000 {
		t.Errorf("a result of %d bytes does not count", after-before)
	}
	secret := i.client("ann", "pw-ann", func(c *mysql.Config) { c.TLSConfig = "skip-verify" })
	if got := secret.query("SHOW STATUS LIKE 'Ssl_version'")[0][1]; got != "TLSv1.3" {
		t.Errorf("Ssl_version in TLS: got %q", got)
	}
	if got := secret.query("SHOW STATUS LIKE 'Ssl_cipher'")[0][1]; got == "" {
		t.Error("Ssl_cipher in TLS is empty")
	}
	if got := ann.query("SHOW STATUS LIKE 'Ssl_version'")[0][1]; got != "" {
		t.Errorf("Ssl_version in clear: got %q", got)
	}
}

// TestProcessListHasNoLiterals: what others ask is shown without what they ask for, to a DBA too.
func TestProcessListHasNoLiterals(t *testing.T) {
	i, root, _ := browsedShop(t, noise.Secure)
	other, done := i.root(), make(chan struct{})
	id := other.value("SELECT CONNECTION_ID()")
	go func() { defer close(done); _, _ = other.try("SELECT SLEEP(600), 'a secret', 4711") }()
	testenv.Until(t, time.Minute, "the statement among the processes", func() (found bool) {
		for _, q := range []string{"SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.processlist", "SELECT * FROM performance_schema.processlist"} {
			got := fmt.Sprint(root.query(q))
			found = found || strings.Contains(got, "SLEEP")
			if strings.Contains(got, "secret") || strings.Contains(got, "4711") {
				t.Errorf("%s: got %s", q, got)
			}
		}
		return found
	})
	root.exec("KILL QUERY " + id)
	<-done
}
