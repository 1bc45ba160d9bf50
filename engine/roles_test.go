package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// company is a server with a protected, a public and an undeclared table, one account for each
// role, and bob, who has none. All passwords are "pw-" and the name.
func company(t *testing.T, dir string) (*instance, *client) {
	t.Helper()
	i := start(t, dir)
	root := i.root()
	root.exec("CREATE DATABASE d",
		"CREATE TABLE d.p (id INT, x INT)", "INSERT INTO d.p VALUES (1,10),(2,20),(3,30)",
		"CALL dp_protect('d.p','id','person')", "CALL dp_set_budget('d.p','*',100,1e-6,'never')",
		"CREATE TABLE d.pub (k INT PRIMARY KEY, v INT)", "INSERT INTO d.pub VALUES (1,1),(2,2)", "CALL dp_public('d.pub')",
		"CREATE TABLE d.un (k INT, v INT)", "INSERT INTO d.un VALUES (1,1)")
	for user, role := range map[string]string{"ann": "analyst", "imp": "importer", "aud": "auditor", "boss": "dba", "bob": ""} {
		root.exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'pw-" + user + "'")
		if role != "" {
			root.exec("GRANT " + role + " TO '" + user + "'@'%'")
		}
	}
	return i, root
}

func (i *instance) as(user string) *client {
	i.t.Helper()
	return i.client(user, "pw-"+user)
}

// grants returns the lines of SHOW GRANTS.
func grants(c *client, of string) []string {
	c.t.Helper()
	return flatten(c.query("SHOW GRANTS" + of))
}

func TestRolesAreThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i, root := company(t, dir)
	root.exec("CREATE ROLE team", "GRANT SELECT ON D.pub TO team", "GRANT team TO bob WITH ADMIN OPTION",
		"REVOKE INSERT ON *.* FROM importer", "GRANT INSERT ON d.p TO importer")
	for range 2 {
		root = i.root()
		for of, want := range map[string][]string{
			" FOR dba":      {"GRANT ALL PRIVILEGES ON *.* TO `dba`@`%` WITH GRANT OPTION"},
			" FOR analyst":  {"GRANT SELECT ON *.* TO `analyst`@`%`"},
			" FOR auditor":  {"GRANT USAGE ON *.* TO `auditor`@`%`"},
			" FOR importer": {"GRANT USAGE ON *.* TO `importer`@`%`", "GRANT INSERT ON `d`.`p` TO `importer`@`%`"},
			" FOR bob": {"GRANT USAGE ON *.* TO `bob`@`%`", "GRANT SELECT ON `dp`.* TO `bob`@`%`",
				"GRANT `team`@`%` TO `bob`@`%` WITH ADMIN OPTION"},
			" FOR bob USING team": {"GRANT USAGE ON *.* TO `bob`@`%`", "GRANT SELECT ON `D`.`pub` TO `bob`@`%`",
				"GRANT SELECT ON `dp`.* TO `bob`@`%`", "GRANT `team`@`%` TO `bob`@`%` WITH ADMIN OPTION"},
		} {
			if got := grants(root, of); !slices.Equal(got, want) {
				t.Errorf("SHOW GRANTS%s: got %q, want %q", of, got, want)
			}
		}
		if got := i.as("bob").value("SELECT COUNT(*) FROM d.pub"); got != "2" {
			t.Errorf("bob reads %s rows by the role team, want 2", got)
		}
		i.as("bob").exec("GRANT team TO ann")
		i.as("bob").refused(1644, "45014", "REVOKE team FROM ann")
		root.exec("REVOKE team FROM ann")
		i.end()
		i = start(t, dir)
	}
}

// TestNobodyLeavesARoleThatIsSpent: who may grant a role on cannot take it off, from themselves or
// from others, and its budget goes on to cap them.
func TestNobodyLeavesARoleThatIsSpent(t *testing.T) {
	i, root := company(t, "")
	root.exec("CREATE ROLE team", "GRANT team TO ann WITH ADMIN OPTION", "GRANT team TO boss", "CALL dp_set_budget('d.p', 'role:team', 0.01, 1e-6, 'never')")
	ann := i.as("ann")
	const query = "SELECT COUNT(*) FROM d.p WHERE x > 15"
	ann.refused(1644, "45013", query)
	for _, s := range []string{"REVOKE team FROM ann", "REVOKE team FROM 'ann'@'%'", "REVOKE team FROM ann, boss", "REVOKE team FROM boss"} {
		ann.refused(1644, "45014", s)
	}
	ann.refused(1644, "45013", query)
	root.exec("REVOKE team FROM ann")
	ann.query(query)
}

func TestWhatRolesMayDo(t *testing.T) {
	i, _ := company(t, "")
	ann, imp, aud, boss, bob := i.as("ann"), i.as("imp"), i.as("aud"), i.as("boss"), i.as("bob")

	ann.query("SELECT COUNT(*) FROM d.p")
	ann.query("SELECT * FROM d.pub")
	ann.refused(1644, "45001", "SELECT * FROM d.un")
	ann.refused(1142, "", "INSERT INTO d.pub VALUES (9,9)")

	imp.exec("INSERT INTO d.p VALUES (4,40)", "INSERT INTO d.un VALUES (4,40)", "INSERT INTO d.pub VALUES (4,40)")
	for _, q := range []string{
		"SELECT * FROM d.pub", "SELECT COUNT(*) FROM d.p", "TABLE d.pub", "WITH q AS (SELECT * FROM d.pub) SELECT * FROM q",
		"INSERT INTO d.un SELECT * FROM d.pub", "INSERT INTO d.un SELECT id, x FROM d.p", "INSERT INTO d.un VALUES ((SELECT COUNT(*) FROM d.p), 1)",
		"INSERT INTO d.un VALUES ((SELECT MAX(v) FROM d.pub), 1)", "CREATE TABLE d.z AS SELECT * FROM d.pub", "CREATE VIEW d.z AS SELECT * FROM d.pub",
		"REPLACE INTO d.pub VALUES (1,1)", "UPDATE d.pub SET v = v", "DELETE FROM d.pub WHERE v > 100", "EXPLAIN SELECT * FROM d.pub",
		"INSERT INTO d.pub VALUES (1,1) ON DUPLICATE KEY UPDATE v = v", "UPDATE mysql.user SET Host = '%'",
	} {
		imp.refused(1142, "42000", q)
	}
	imp.refused(1644, "45017", "INSERT INTO d.pub VALUES (77,1) RETURNING *")
	boss.exec("CREATE TABLE d.keyed (id INT PRIMARY KEY)", "CALL dp_protect('d.keyed', 'id', 'person')")
	for _, q := range []string{"INSERT INTO d.keyed VALUES (1)", "INSERT IGNORE INTO d.keyed VALUES (1)"} {
		if e := imp.refused(1644, "45002", q); !strings.Contains(e.Message, "without a PRIMARY or UNIQUE key") {
			t.Errorf("%s: %s", q, e.Message)
		}
	}

	aud.refused(1044, "", "SELECT COUNT(*) FROM d.p")
	aud.refused(1044, "", "SELECT * FROM d.pub")
	aud.refused(1644, "45014", "CALL dp_public('d.p')")
	aud.refused(1644, "45014", "SET dp_raw = ON")
	if got := aud.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE principal = 'ann@%' AND entry = 'charge'"); got != "1" {
		t.Errorf("the auditor sees %s charges of ann, want 1", got)
	}
	if got := aud.query("SELECT state FROM dp.policies WHERE table_name = 'd.p'"); len(got) != 1 || got[0][0] != "protected" {
		t.Errorf("the auditor sees the policies %v", got)
	}
	grants(aud, " FOR ann")

	if got := ann.value("SELECT CURRENT_ROLE()"); got != "`analyst`@`%`" {
		t.Errorf("CURRENT_ROLE(): got %q", got)
	}
	if got := bob.value("SELECT CURRENT_ROLE()"); got != "NONE" {
		t.Errorf("CURRENT_ROLE(): got %q", got)
	}
	ann.exec("SET ROLE ALL", "set role default")
	for _, q := range []string{"SET ROLE analyst", "SET DEFAULT ROLE analyst TO ann", " set role none"} {
		if e := ann.refused(1644, "45017", q); !strings.Contains(e.Message, "All roles that an account has been granted are active") {
			t.Errorf("%s: %s", q, e.Message)
		}
	}

	boss.exec("CREATE DATABASE e", "SET dp_raw = ON", "CREATE USER carl IDENTIFIED BY 'x'", "GRANT analyst TO carl")
	boss.query("SELECT * FROM d.p")

	bob.refused(1044, "", "SELECT COUNT(*) FROM d.p")
	bob.refused(1644, "45014", "SHOW GRANTS FOR ann")
	ann.refused(1644, "45014", "SHOW GRANTS FOR root")
	if got := grants(ann, ""); !slices.Contains(got, "GRANT SELECT ON *.* TO `ann`@`%`") || !slices.Contains(got, "GRANT `analyst`@`%` TO `ann`@`%`") {
		t.Errorf("ann's grants: %q, want those of her role, too", got)
	}
}

// TestGrantedPrivilegesDoNotClimb: nobody gets more than a DBA gave them.
func TestGrantedPrivilegesDoNotClimb(t *testing.T) {
	i, root := company(t, "")
	root.exec("GRANT INSERT, UPDATE, DELETE, CREATE USER ON *.* TO bob", "GRANT INSERT ON d.pub TO aud WITH GRANT OPTION", "CREATE ROLE team",
		"GRANT team TO ann WITH ADMIN OPTION")
	for user, statements := range map[string][]string{
		"ann": {"GRANT dba TO ann", "GRANT auditor TO ann", "GRANT SELECT ON d.* TO bob", "GRANT SUPER ON *.* TO ann",
			"CREATE USER x IDENTIFIED BY 'y'", "CREATE ROLE r", "DROP ROLE team", "DROP USER bob", "ALTER USER root IDENTIFIED BY 'x'",
			"REVOKE dba FROM boss", "FLUSH PRIVILEGES", "CREATE VIEW d.w AS SELECT 1", "DELETE FROM mysql.user", "INSERT INTO mysql.role_edges SELECT * FROM mysql.role_edges",
			"GRANT SELECT ON *.* TO team"},
		"bob": {"GRANT SUPER ON *.* TO bob", "GRANT SELECT ON *.* TO bob", "GRANT dba TO bob", "REVOKE ALL ON *.* FROM root",
			"UPDATE d.pub SET v = 1", "DELETE FROM d.pub WHERE k = 1", "INSERT INTO d.pub VALUES (1,1) ON DUPLICATE KEY UPDATE v = v"},
		"aud": {"GRANT SELECT ON d.pub TO aud", "GRANT INSERT ON d.* TO aud", "GRANT dba TO aud"},
		"imp": {"GRANT importer TO bob", "GRANT SELECT ON d.pub TO imp", "GRANT INSERT ON d.pub TO bob"},
	} {
		c := i.as(user)
		for _, s := range statements {
			c.refused(1142, "42000", s)
		}
	}
	for user, statements := range map[string][]string{
		"bob": {"CREATE USER q IDENTIFIED BY 'q'", "ALTER USER root IDENTIFIED BY 'q'", "ALTER USER 'ann'@'%' IDENTIFIED BY 'q'", "DROP USER root"},
		"aud": {"GRANT INSERT ON d.pub TO importer"},
	} {
		c := i.as(user)
		for _, s := range statements {
			c.refused(1644, "45014", s)
		}
	}
	for _, s := range []string{
		"INSERT INTO mysql.user (host, user) VALUES ('%', 'eve')", "INSERT INTO mysql.role_edges VALUES ('%', 'dba', '%', 'bob', 'Y')",
		"REPLACE INTO mysql.role_edges VALUES ('%', 'dba', '%', 'bob', 'Y')", "DELETE FROM mysql.user", "UPDATE mysql.user SET user = 'x'", "TRUNCATE mysql.user",
		"GRANT SELECT ON d.* TO dba", "REVOKE SUPER ON *.* FROM dba", "DROP ROLE dba", "DROP ROLE IF EXISTS auditor",
		"GRANT dba TO analyst", "GRANT team TO importer", "GRANT ann TO bob", "CREATE ROLE 'dba'@'localhost'", "ALTER USER analyst IDENTIFIED BY 'x'", "DROP USER analyst",
		"CREATE USER w IDENTIFIED BY 'x' DEFAULT ROLE analyst", "GRANT SELECT (v) ON d.pub TO bob", "RENAME USER ann TO carl",
	} {
		root.refused(1644, "45017", s)
	}
	root.refused(1396, "", "GRANT dba TO 'bob'@'10.0.0.1'")
	root.refused(1396, "", "DROP USER 'bob'@'10.0.0.1'")
	if _, err := i.dial("analyst", ""); err == nil {
		t.Error("somebody logged in as a role")
	}
	i.as("aud").exec("GRANT INSERT ON d.pub TO bob")
	i.as("ann").exec("GRANT team TO bob", "ALTER USER ann IDENTIFIED BY 'pw-ann'")
}

// TestADBAIsLeft: the last account that is a DBA stays one.
func TestADBAIsLeft(t *testing.T) {
	i, root := company(t, "")
	boss := i.as("boss")
	root.exec("REVOKE SUPER ON *.* FROM root")
	for _, s := range []string{"DROP USER boss", "REVOKE dba FROM boss", "REVOKE analyst, dba FROM boss, ann", "DROP USER ann, boss"} {
		boss.refused(1644, "45011", s)
	}
	boss.exec("GRANT dba TO ann", "REVOKE dba FROM boss")
	ann := i.as("ann")
	ann.refused(1644, "45011", "DROP USER ann")
	ann.exec("GRANT SUPER ON *.* TO root", "DROP USER boss")
	root = i.root()
	root.exec("REVOKE dba FROM ann")
	root.refused(1644, "45011", "REVOKE ALL ON *.* FROM root")
	if got := fmt.Sprint(root.query("SELECT account, roles, is_dba FROM dp.accounts WHERE account_type = 'account' AND is_dba = 'yes' OR account = 'ann@%'")); got != "[[ann@% analyst no] [root@% NULL yes]]" {
		t.Errorf("dp.accounts: %s", got)
	}
	if got := fmt.Sprint(i.as("ann").query("SELECT account, is_dba FROM dp.accounts")); got != "[[ann@% no]]" {
		t.Errorf("ann sees the accounts %s", got)
	}
}

// TestTheGrantsOfOthersAreNotShown: an account with SELECT on everything still sees its own only.
func TestTheGrantsOfOthersAreNotShown(t *testing.T) {
	i, root := company(t, "")
	ann := i.as("ann")
	root.exec("CREATE VIEW d.who AS SELECT user, host FROM mysql.user", "CREATE VIEW d.privileges AS SELECT * FROM information_schema.user_privileges")
	ann.refused(1142, "", "SELECT * FROM d.who")
	for _, q := range []string{"SELECT grantee FROM information_schema.user_privileges", "SELECT grantee FROM information_schema.schema_privileges",
		"SELECT user FROM information_schema.user_attributes", "SELECT a.grantee FROM information_schema.user_privileges a",
		"SELECT grantee FROM (SELECT * FROM information_schema.user_privileges) x", "SELECT grantee FROM d.privileges",
		"SELECT user FROM mysql.user", "SELECT CONCAT(from_user, to_user) FROM mysql.role_edges", "SELECT MAX(`user`) FROM mysql.db",
		"SELECT (SELECT MAX(grantee) FROM information_schema.user_privileges)"} {
		for _, r := range ann.query(q) {
			if !strings.Contains(r[0], "ann") && r[0] != "NULL" {
				t.Errorf("%s: ann sees %v", q, r)
			}
		}
	}
	if got := len(i.as("boss").query("SELECT DISTINCT user FROM information_schema.user_attributes")); got < 6 {
		t.Errorf("a DBA sees %d accounts", got)
	}
}

// TestRevokedAtTheNextStatement: an open session loses what its account loses.
func TestRevokedAtTheNextStatement(t *testing.T) {
	i, root := company(t, "")
	ann, boss, bob := i.as("ann"), i.as("boss"), i.as("bob")
	ann.query("SELECT * FROM d.pub")
	boss.exec("SET dp_raw = ON")
	boss.query("SELECT * FROM d.p")

	root.exec("REVOKE dba FROM boss")
	boss.refused(1044, "", "SELECT * FROM d.p")
	boss.refused(1644, "45014", "CALL dp_public('d.p')")
	root.exec("GRANT analyst TO boss")
	boss.refused(1644, "45002", "SELECT * FROM d.p")

	root.exec("REVOKE analyst FROM ann")
	ann.refused(1044, "", "SELECT * FROM d.pub")
	root.exec("GRANT analyst TO ann")
	ann.query("SELECT * FROM d.pub")

	root.exec("CREATE ROLE team", "GRANT SELECT ON d.pub TO team", "GRANT team TO bob")
	bob.query("SELECT * FROM d.pub")
	root.exec("REVOKE SELECT ON d.pub FROM team")
	bob.refused(1044, "", "SELECT * FROM d.pub")
	root.exec("GRANT SELECT ON d.pub TO team")
	bob.query("SELECT * FROM d.pub")
	root.exec("DROP ROLE team")
	bob.refused(1044, "", "SELECT * FROM d.pub")
	root.exec("CREATE ROLE team", "GRANT SELECT ON d.pub TO team")
	bob.refused(1044, "", "SELECT * FROM d.pub") // no member of the next role of the name

	// The account of a session that is open goes, and another one fits its name and host.
	root.exec("CREATE USER 'ann'@'127.0.0.1' IDENTIFIED BY 'pw-ann'", "DROP USER 'ann'@'%'")
	ann.over()
	var e *mysql.MySQLError
	if _, err := i.dial("boss", "wrong"); !errors.As(err, &e) || e.Number != 1045 {
		t.Errorf("got %v, want error 1045", err)
	}
}

// TestGrantsWhileOthersAsk: rights change while they are looked up.
func TestGrantsWhileOthersAsk(t *testing.T) {
	i, root := company(t, "")
	var asking sync.WaitGroup
	done := make(chan struct{})
	for _, who := range []string{"ann", "aud", "boss", "ann"} {
		c := i.as(who)
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, q := range []string{"SHOW GRANTS", "SELECT * FROM dp.accounts", "SELECT CURRENT_ROLE()"} {
					if _, err := c.try(q); err != nil {
						t.Errorf("%s: %v", q, err)
						return
					}
				}
				_, _ = c.try("SELECT * FROM d.pub") // allowed or not
			}
		})
	}
	for n := range 30 {
		root.exec("GRANT analyst TO bob", fmt.Sprintf("GRANT SELECT ON d.t%d TO analyst", n), "REVOKE analyst FROM ann", "GRANT analyst TO ann", "REVOKE analyst FROM bob",
			fmt.Sprintf("CREATE USER u%d IDENTIFIED BY 'x'", n))
	}
	close(done)
	asking.Wait()
	if got := len(root.query("SELECT * FROM dp.accounts WHERE account LIKE 'u%'")); got != 30 {
		t.Errorf("%d accounts were made, want 30", got)
	}
}

// TestViewsGiveNoRights: a view runs with the rights of who reads it, whatever its definition says.
func TestViewsGiveNoRights(t *testing.T) {
	i, root := company(t, "")
	root.exec("CREATE SQL SECURITY DEFINER VIEW d.v AS SELECT * FROM d.pub", "CREATE VIEW d.n AS SELECT COUNT(*) AS n FROM d.p", "CREATE VIEW d.rows_of_p AS SELECT * FROM d.p",
		"GRANT SELECT ON d.v TO bob", "GRANT SELECT ON d.n TO bob", "GRANT SELECT ON d.v TO imp")
	bob, imp, ann := i.as("bob"), i.as("imp"), i.as("ann")
	bob.refused(1142, "", "SELECT * FROM d.v")
	bob.refused(1142, "", "SELECT * FROM d.n")
	imp.refused(1142, "", "SELECT * FROM d.v")
	imp.refused(1142, "", "INSERT INTO d.un SELECT * FROM d.v")
	ann.query("SELECT * FROM d.n")
	ann.refused(1644, "45002", "SELECT * FROM d.rows_of_p")
	if got := root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge' AND principal = 'ann@%'"); got != "1" {
		t.Errorf("the view's query was charged to ann %s times, want once", got)
	}
}

// TestTheDocumentsStatementsRun: what the page about privileges and the DBA's guide in short tell a
// DBA to type.
func TestTheDocumentsStatementsRun(t *testing.T) {
	_, root := company(t, "")
	root.exec("CREATE DATABASE shop", "CREATE TABLE shop.orders (customer_id INT, amount INT)", "CALL dp_protect('shop.orders', 'customer_id', 'customer')",
		"CALL dp_set_budget('shop.orders', '*', 8, 1e-6, 'month')", "CALL dp_set_budget('shop.orders', 'ann@%', 4, 1e-6, 'month')", "DROP USER ann", "USE shop")
	run := 0
	for file, section := range map[string]string{"../docs/decisions/privileges.md": "## Roles", "../docs/dba.md": "## Budgets in short"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(b), section)
		_, text, _ = strings.Cut(text, "sql\n")
		text, _, _ = strings.Cut(text, "```")
		for _, l := range strings.Split(text, "\n") {
			l, _, _ = strings.Cut(l, " --")
			l = strings.TrimSuffix(strings.TrimSpace(l), ";")
			if l == "" {
				continue
			}
			if run++; strings.HasPrefix(l, "SELECT") || strings.HasPrefix(l, "SHOW") {
				root.query(l)
			} else if strings.Contains(l, "'ann@%'") {
				root.exec("CREATE USER IF NOT EXISTS ann IDENTIFIED BY 'x'", l)
			} else if strings.HasPrefix(l, "CREATE USER") {
				root.exec("DROP USER IF EXISTS ann", l)
			} else {
				root.exec(l)
			}
		}
	}
	if run < 15 {
		t.Errorf("%d statements found", run)
	}
}
