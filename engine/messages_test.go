package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestMessagesOfTheStatementBefore: every statement but those that show the messages clears them,
// and those show them as often as they are asked.
func TestMessagesOfTheStatementBefore(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.t (a INT)", "PREPARE one FROM 'SELECT 1'", "PREPARE many FROM 'SHOW WARNINGS'")
	fail := func() { root.refused(1064, "42000", "SELEC") }
	shown := func() int { return len(root.query("SHOW WARNINGS")) }
	for _, statement := range []string{
		"SET @a = 1", "SET SESSION sql_mode = ''", "SET NAMES utf8mb4", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "PREPARE two FROM 'SELECT 2'",
		"EXECUTE one", "DEALLOCATE PREPARE two", "USE s", "BEGIN", "COMMIT", "START TRANSACTION", "ROLLBACK", "SELECT 1", "SELECT * FROM s.t", "DO 1",
		"INSERT INTO s.t VALUES (1)", "CREATE TABLE s.u (a INT)", "DROP TABLE s.u", "SHOW TABLES FROM s", "SHOW VARIABLES LIKE 'version'", "SHOW STATUS LIKE 'Uptime'",
		"EXPLAIN SELECT 1", "LOCK TABLES s.t READ", "UNLOCK TABLES", "FLUSH PRIVILEGES", "SET @b = @@version", "CALL dp_price('SELECT 1')",
	} {
		fail()
		if n := shown(); n != 2 {
			t.Fatalf("after an error: %d messages, want it and the statement's id", n)
		}
		if _, err := root.try(statement); err != nil {
			t.Logf("%s: %v", statement, err) // then its own error is what is shown
			if got := fmt.Sprint(root.query("SHOW WARNINGS")); strings.Contains(got, "SELEC'") {
				t.Errorf("after %s: %s", statement, got)
			}
			continue
		}
		if n := shown(); n != 0 {
			t.Errorf("after %s: %d messages, want none", statement, n)
		}
	}
	victim := i.root()
	id := victim.value("SELECT CONNECTION_ID()")
	fail()
	root.exec("KILL QUERY " + id)
	if n := shown(); n != 0 {
		t.Errorf("after KILL: %d messages", n)
	}
	fail()
	if got := fmt.Sprint(root.query("SHOW WARNINGS"), root.query("/* a */ SHOW WARNINGS LIMIT 1"), root.query("SHOW ERRORS"), root.query("SHOW ERRORS LIMIT 1"),
		root.value("SHOW COUNT(*) WARNINGS"), root.value("SHOW COUNT(*) ERRORS"), root.query("SHOW WARNINGS")); strings.Count(got, "Error 1064") != 5 || !strings.Contains(got, "]21[[") {
		t.Errorf("shown again and again: %s", got)
	}
	if n := len(root.query("EXECUTE many")); n != 2 {
		t.Errorf("shown by a prepared statement: %d messages, want 2", n)
	}
	fail()
	if got := root.query("SELECT @@warning_count, @@session.error_count, @@warning_count"); fmt.Sprint(got) != "[[2 1 2]]" {
		t.Errorf("the numbers after an error: %v", got)
	}
	if got := root.value("SELECT @@error_count"); got != "1" || shown() != 0 {
		t.Errorf("the number asked for again: %s, and %d messages; want 1 and none", got, shown())
	}
	fail()
	root.exec("SET @n = @@error_count")
	if got := root.value("SELECT @n"); got != "1" {
		t.Errorf("the number in SET: %s", got)
	}
	if got := root.value("SELECT @@error_count"); got != "0" {
		t.Errorf("the number after a statement without messages: %s", got)
	}
	root.query("SELECT 1/0")
	if got := fmt.Sprint(root.query("SHOW WARNINGS"), root.value("SELECT @@warning_count"), root.value("SELECT @@error_count")); got != "[[Warning 1365 Division by 0]]10" {
		t.Errorf("a warning: %s", got)
	}
}

// TestWarningsInPackets: the number in the packets that end a result is that of the statement.
func TestWarningsInPackets(t *testing.T) {
	i := start(t, "")
	c := i.rawDial("root", rootPassword, 0)
	for name, send := range map[string]func() []byte{
		"SET":         func() []byte { return c.command(0x03, "SET @a = 1") },
		"COM_INIT_DB": func() []byte { return c.command(0x02, "mysql") },
	} {
		c.command(0x03, "SELEC")
		ok := send()
		if warnings := int(ok[5]) | int(ok[6])<<8; ok[0] != 0 || warnings != 0 {
			t.Errorf("%s: got %q with %d warnings", name, ok, warnings)
		}
		if rows := c.command(0x03, "SHOW COUNT(*) WARNINGS"); rows[0] != 1 {
			t.Errorf("got %q", rows)
		} else {
			c.read()
			c.read()
			if row := c.read(); string(row) != "\x010" {
				t.Errorf("after %s: %q messages", name, row)
			}
			c.read()
		}
	}
}
