package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestReportsAreReadOnly: the table of a collection is read like a public one by who may, and
// changed by nobody.
func TestReportsAreReadOnly(t *testing.T) {
	o := startCollection(t, 20)
	for range 5 {
		token, r := o.next()
		o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	}
	ann := o.analyst(o.root, "ann", "survey")
	for _, c := range []*client{ann, o.root} {
		rows := c.query("SELECT round, cell, stratum, day, report FROM survey.commute")
		if len(rows) != 5 || rows[0][0] != "1" || rows[0][2] != "" || len(rows[0][4]) != 17 {
			t.Errorf("the reports are %q", rows)
		}
		if got := c.value("SELECT COUNT(*) FROM survey.commute WHERE cell = 0"); got != "5" {
			t.Errorf("%s reports of cell 0", got)
		}
		if got := fmt.Sprint(c.query("DESCRIBE survey.commute")); !strings.Contains(got, "report varbinary") || !strings.Contains(got, "cell int unsigned") {
			t.Errorf("DESCRIBE: %s", got)
		}
		c.query("SHOW CREATE TABLE survey.commute")
		c.query("SHOW TABLE STATUS FROM survey")
	}
	o.root.exec("SET dp_raw = ON")
	for _, q := range []string{
		"INSERT INTO survey.commute VALUES (1, 0, '', '2026-01-01', 'x')", "REPLACE INTO survey.commute VALUES (1, 0, '', '2026-01-01', 'x')",
		"INSERT INTO survey.commute SELECT * FROM survey.commute", "UPDATE survey.commute SET day = '2026-01-01'", "DELETE FROM survey.commute", "TRUNCATE TABLE survey.commute",
		"DROP TABLE survey.commute", "DROP TABLE IF EXISTS survey.commute", "ALTER TABLE survey.commute ADD COLUMN who TEXT", "ALTER TABLE survey.commute DROP COLUMN day",
		"ALTER TABLE survey.commute MODIFY COLUMN day TEXT", "ALTER TABLE survey.commute RENAME COLUMN day TO d", "ALTER TABLE survey.commute ADD UNIQUE KEY k (report)",
		"ALTER TABLE survey.commute COMMENT = 'x'", "ALTER TABLE survey.commute ALTER COLUMN day SET DEFAULT '2026-01-01'", "CREATE UNIQUE INDEX i ON survey.commute (report)", "ALTER TABLE survey.commute ADD PRIMARY KEY (report)",
		"DROP DATABASE survey", "DROP SCHEMA survey",
	} {
		o.root.refused(1644, "45017", q)
	}
	o.root.exec("USE survey")
	o.root.refused(1644, "45017", "RENAME TABLE commute TO c")
	o.root.refused(1644, "45017", "ALTER TABLE commute RENAME TO c")
	o.root.exec("CREATE TABLE t (a INT)")
	o.root.refused(1644, "45017", "CREATE TABLE survey.commute (a INT)")
	o.root.refused(1050, "", "RENAME TABLE t TO commute")
	if _, err := o.root.try("CREATE VIEW survey.commute AS SELECT 1"); err == nil {
		t.Error("a view hides the collection")
	}
	o.root.refused(1644, "45011", "CALL dp_protect('survey.commute', 'row', 'person')")
	o.wants(5, "after all attempts")
	ann.refused(1142, "42000", "INSERT INTO dp_in.commute VALUES ('x', 'y')")
	o.con.refused(1227, "42000", "SELECT * FROM survey.commute")

	// What stays when it is dropped: a name that nobody has declared.
	o.root.exec("CALL dp_abort_collection('commute', 'a test')", "CALL dp_drop_collection('commute')", "CREATE TABLE survey.commute (a INT)")
	ann.refused(1644, "45001", "SELECT * FROM survey.commute")
	o.root.exec("DROP DATABASE survey")
}

// TestWhoCollects: the roles, and the account of contributors, which may insert and read what is
// public in dp.
func TestWhoCollects(t *testing.T) {
	o := startCollection(t, 10)
	account := func(role string) *client {
		o.root.exec("CREATE USER '"+role+"1' IDENTIFIED BY 'pw'", "GRANT "+role+" TO '"+role+"1'")
		return o.client(role+"1", "pw")
	}
	col, shuf := account("collector"), account("shuffler")
	const make2 = `CALL dp_create_collection('survey.second', 'LDP_BIT', '{"epsilon": 1, "lo": 0, "hi": 1, "n_expected": 1000}')`
	for _, c := range []*client{o.con, shuf, account("analyst"), account("auditor"), account("importer")} {
		for _, q := range []string{make2, "CALL dp_issue_tokens('commute', 1)", "CALL dp_open_collection('commute')", "CALL dp_preview_round('commute')", "CALL dp_next_round('commute')",
			"CALL dp_close_collection('commute')", "CALL dp_abort_collection('commute', 'x')", "CALL dp_drop_collection('commute')"} {
			c.refused(1227, "42000", q)
		}
	}
	o.con.refused(1227, "42000", "CALL dp_load_batch('commute', 1, NULL, 0, 1, 1, 1, 1, X'00')")
	shuf.refused(1644, "45D11", "CALL dp_load_batch('nowhere', 1, NULL, 0, 1, 1, 1, 1, X'00')")
	col.query(make2)
	col.query("CALL dp_issue_tokens('second', 3)")
	col.exec("CALL dp_open_collection('second')", "CALL dp_close_collection('second')", "CALL dp_abort_collection('second', 'a test')", "CALL dp_drop_collection('second')")
	col.refused(1044, "42000", "SELECT * FROM survey.commute")
	col.refused(1644, "45014", "CALL dp_set_budget('survey.commute', '*', 1, 1e-6, 'never')")
	if got := o.root.value("SELECT COUNT(*) FROM dp.ledger WHERE principal = 'collector1@%' AND statement LIKE '%each contributor pays epsilon=1, rho=0.5,%'"); got != "1" {
		t.Errorf("%s lines in the ledger tell what contributors pay", got)
	}

	for _, table := range []string{"collections", "collection_rounds", "collection_cells"} {
		if got := o.con.query("SELECT * FROM dp." + table); len(got) == 0 {
			t.Errorf("the contributor finds nothing in dp.%s", table)
		}
	}
	for table, want := range map[string]string{
		"SELECT declared FROM dp.collections": `[[{"epsilon":"2","hi":120,"lo":0,"n_expected":400,"null_default":[60]}]]`,
		"SELECT name, table_name, model, state, round, epsilon, n_expected, owner FROM dp.collections": "[[commute survey.commute LOCAL OPEN 1 2.0000 400 root@%]]",
		"SELECT collection, cell, randomizer, n_tokens, n_received FROM dp.collection_cells":           "[[commute 0 BITMEAN 10 0]]",
		"SELECT LENGTH(fingerprint), seal_key, closed_at FROM dp.collection_rounds":                    "[[32 NULL NULL]]",
		"SHOW GRANTS": "[[GRANT USAGE ON *.* TO `contributor`@`%`] [GRANT SELECT ON `dp`.* TO `contributor`@`%`] [GRANT INSERT ON `dp_in`.* TO `contributor`@`%`]]",
	} {
		if got := fmt.Sprint(o.con.query(table)); got != want {
			t.Errorf("%s: got %s, want %s", table, got, want)
		}
	}
	if got := fmt.Sprint(o.root.query("SELECT collection, round, n_issued, n_spent, n_free FROM dp.collection_tokens")); got != "[[commute 1 10 0 10]]" {
		t.Errorf("the tokens are %s", got)
	}
	o.root.exec("REVOKE INSERT ON dp_in.* FROM contributor")
	token, r := o.next()
	o.con.refused(1142, "42000", "INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	o.con.refused(1044, "42000", "INSERT INTO dp_in.commute SELECT ?, ?", token, r)
	o.root.exec("GRANT INSERT ON dp_in.commute TO contributor")
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	o.wants(1, "in the end")
}

// TestWrongTransitions: what does not follow a state is refused and named.
func TestWrongTransitions(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey")
	root.refused(1644, "45D11", "CALL dp_open_collection('commute')")
	root.refused(1644, "45D11", strings.Replace(commute, "survey.", "elsewhere.", 1))
	root.refused(1644, "45D10", strings.Replace(commute, `"epsilon": 2`, `"epsilon": 9`, 1))
	root.exec(commute)
	root.refused(1644, "45D11", commute)
	try := func(state string, refused []string) {
		t.Helper()
		if got := root.value("SELECT state FROM dp.collections"); got != state {
			t.Fatalf("the state is %s, want %s", got, state)
		}
		for _, call := range refused {
			e := root.refused(1644, "45D11", "CALL dp_"+call)
			if !strings.Contains(e.Message, state) && !strings.Contains(e.Message, "CALL dp_") {
				t.Errorf("%s: the message does not help: %s", call, e.Message)
			}
		}
	}
	try("DRAFT", []string{"preview_round('commute')", "next_round('commute')", "close_collection('commute')"})
	root.exec("CALL dp_open_collection('commute')")
	try("OPEN", []string{"open_collection('commute')", "drop_collection('commute')"})
	root.refused(1644, "45D11", "CALL dp_load_batch('commute', 1, NULL, 0, 1, 1, 1, 1, X'00')")
	root.exec("CALL dp_close_collection('commute')")
	try("BETWEEN", []string{"close_collection('commute')", "drop_collection('commute')"})
	root.refused(1644, "45D20", "CALL dp_next_round('commute')")
	root.refused(1644, "45011", "CALL dp_abort_collection('commute', '')")
	root.exec("CALL dp_abort_collection('commute', 'a test')")
	try("ABORTED", []string{"open_collection('commute')", "next_round('commute')", "close_collection('commute')", "abort_collection('commute', 'x')", "issue_tokens('commute', 1)"})
	if got := root.value("SELECT fail_reason FROM dp.collections"); got != "a test" {
		t.Errorf("the reason is %q", got)
	}
	root.exec("CALL dp_drop_collection('commute')")
	root.refused(1644, "45D11", "CALL dp_drop_collection('commute')")
}

// TestCollectionSurvives: a restart changes nothing of a collection, and an acknowledged report is
// not taken twice.
func TestCollectionSurvives(t *testing.T) {
	o := startCollection(t, 10)
	token, r := o.next()
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	before := fmt.Sprint(o.root.query("SELECT * FROM dp.collections"), o.root.query("SELECT * FROM dp.collection_rounds"), o.root.query("SELECT * FROM dp.collection_cells"))
	dir := o.cfg.DataDir
	o.end()
	i := start(t, dir)
	root := i.root()
	con := i.client("contributor", "pw", func(c *mysql.Config) { c.DBName = "dp_in" })
	if after := fmt.Sprint(root.query("SELECT * FROM dp.collections"), root.query("SELECT * FROM dp.collection_rounds"), root.query("SELECT * FROM dp.collection_cells")); after != before {
		t.Errorf("before: %s\nafter:  %s", before, after)
	}
	con.affected("INSERT INTO commute VALUES (?, ?)", token, r)
	r[len(r)-1] ^= 1
	con.refused(1644, "45D22", "INSERT INTO commute VALUES (?, ?)", token, r)
	fresh, sent := o.next()
	con.affected("INSERT INTO commute VALUES (?, ?)", fresh, sent)
	if got := root.value("SELECT COUNT(*) FROM survey.commute"); got != "2" {
		t.Errorf("%s reports are stored", got)
	}
}
