package engine

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/ops/datadir"
)

// inBoth runs a test in clear and in TLS.
func inBoth(t *testing.T, f func(t *testing.T, change func(*mysql.Config))) {
	t.Run("in clear", func(t *testing.T) { f(t, func(*mysql.Config) {}) })
	t.Run("in TLS", func(t *testing.T) { f(t, func(c *mysql.Config) { c.TLSConfig = "skip-verify" }) })
}

// TestPrepareInSQL: a statement under a name goes through everything that another text goes
// through.
func TestPrepareInSQL(t *testing.T) {
	inBoth(t, func(t *testing.T, change func(*mysql.Config)) {
		i := startWith(t, "", seeded(t, "named", 1)) // an answer is compared
		root := i.root()
		people(t, root, 900)
		root.exec("CREATE TABLE d.pub (x INT, name VARCHAR(20))", "CALL dp_public('d.pub')", "INSERT INTO d.pub VALUES (1,'a'),(2,'it''s'),(3,NULL)")
		i.analyst(root, "ann", "d")
		ann := i.client("ann", "pw-ann", change)
		ann.exec("USE d", "SET dp_epsilon = 2", "SET @low = 2", "SET @name = 'it''s'", "SET @text = 'SELECT x FROM pub WHERE x >= ? AND name = ?'",
			"PREPARE p FROM @text")
		if got := ann.value("EXECUTE p USING @low, @name"); got != "2" {
			t.Errorf("a public query: got %s", got)
		}
		ann.exec("PREPARE P FROM 'SELECT COUNT(*) FROM people WHERE age < ? AND city <> ''secret-city'''", "SET @age = 45")
		if n := ann.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"); n != "0" {
			t.Errorf("PREPARE has charged: %s", n)
		}
		first := ann.value("EXECUTE p USING @age")
		near(t, "a private query", first, 450, 60)
		if again := ann.value("EXECUTE p USING @age"); again != first {
			t.Errorf("a replay: got %s, want %s", again, first)
		}
		ann.exec("SET @age = 30")
		near(t, "another value", ann.value("EXECUTE p USING @age"), 180, 60)
		if n := ann.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"); n != "2" {
			t.Errorf("got %s charges, want 2", n)
		}
		ann.exec("PREPARE raw FROM 'SELECT * FROM people WHERE id = ?'", "SET @id = 3")
		ann.refused(1644, "45002", "EXECUTE raw USING @id")
		ann.refused(1210, "", "EXECUTE raw")
		ann.refused(1243, "", "EXECUTE missing")
		ann.refused(1243, "", "DEALLOCATE PREPARE missing")
		ann.refused(1295, "", "PREPARE s FROM 'EXECUTE p'")
		ann.refused(1295, "", "PREPARE s FROM 'CREATE PROCEDURE p(i INT) SELECT 1'")
		ann.refused(1295, "", "PREPARE s FROM 'CREATE EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP DO SELECT 1'")
		ann.refused(1064, "42000", "PREPARE s FROM 'SELECT 1; SELECT 2'")
		ann.refused(1142, "", "PREPARE s FROM 'CREATE TABLE d.t (x INT)'")
		ann.exec("PREPARE `SELECT 1` FROM 'SELECT 2'", "PREPARE i FROM 'SELECT ?'", "DEALLOCATE PREPARE i")
		if got := ann.value("SELECT 1"); got != "1" {
			t.Errorf("a name took the place of a text: got %s", got)
		}
		ann.refused(1243, "", "EXECUTE i")
		i.end()
		records, text := audited(t, filepath.Join(i.cfg.DataDir, datadir.AuditDir))
		if strings.Contains(text, "secret") || strings.Contains(text, "it's") {
			t.Errorf("a literal is in the audit log")
		}
		found := 0
		for _, r := range records {
			if strings.HasPrefix(r.Statement, "SELECT COUNT(*) FROM people WHERE age < ?") {
				found++
			}
		}
		if found != 3 {
			t.Errorf("the audit log has the prepared text %d times, want 3: once an execution", found)
		}
	})
}

func TestStatementsOfOneText(t *testing.T) {
	inBoth(t, func(t *testing.T, change func(*mysql.Config)) {
		i := startWith(t, "", seeded(t, "several", 1))
		root := i.root()
		people(t, root, 300)
		i.analyst(root, "ann", "d")
		ann := i.client("ann", "pw-ann", change, func(c *mysql.Config) { c.MultiStatements = true })
		if _, err := ann.try("SELECT COUNT(*) FROM d.people; SELECT 1 ; SELECT COUNT(*) FROM d.people WHERE age > 30; -- that is all"); err != nil {
			t.Fatal(err)
		}
		_, _ = ann.try("SELECT 1; SELECT * FROM d.people; SELECT COUNT(*) FROM d.people WHERE age > 31")
		if n := ann.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"); n != "2" {
			t.Errorf("got %s charges, want 2: nothing runs behind an error", n)
		}
		i.client("ann", "pw-ann", change).refused(1064, "42000", "SELECT 1; SELECT 2")
		i.end()
		records, _ := audited(t, filepath.Join(i.cfg.DataDir, datadir.AuditDir))
		var statements []string
		for _, r := range records {
			if r.Principal == "ann@%" && strings.HasPrefix(r.Statement, "SELECT") {
				statements = append(statements, r.Statement)
			}
		}
		if len(statements) < 6 || statements[0] != "SELECT COUNT(*) FROM d.people" || statements[1] != "SELECT ?" {
			t.Errorf("the audit log has %q, want one record a statement", statements)
		}
	})
}

// gone checks that nothing of a session is left: a transaction, variables, named statements.
func gone(t *testing.T, what string, c *rawClient) {
	t.Helper()
	if got := c.value("SELECT CONCAT(COALESCE(@x, 'none'), @@max_execution_time)"); got != "\x05none0" {
		t.Errorf("%s: got %q, want no variables", what, got)
	}
	if got := c.value("EXECUTE s"); !strings.Contains(got, "Unknown prepared statement") {
		t.Errorf("%s: got %q, want no statement", what, got)
	}
	if got := c.value("SELECT COUNT(*) FROM d.pub"); got != "\x011" {
		t.Errorf("%s: got %q rows, want the transaction undone", what, got)
	}
}

func busy(c *rawClient) {
	for _, s := range []string{"USE d", "SET @x = 5", "SET max_execution_time = 77000", "PREPARE s FROM 'SELECT 1'", "BEGIN", "INSERT INTO d.pub VALUES (2)"} {
		c.exec(s)
	}
}

func TestSessionsBeginAnew(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.pub (x INT)", "CALL dp_public('d.pub')", "INSERT INTO d.pub VALUES (1)")
	i.analyst(root, "ann", "d")
	c := i.rawDial("root", rootPassword, 0)
	id := c.value("SELECT CONNECTION_ID()")

	busy(c)
	if got := c.command(0x1f, ""); got[0] != 0 || got[3]&2 == 0 {
		t.Fatalf("COM_RESET_CONNECTION: got %q, want OK with autocommit", got)
	}
	gone(t, "reset", c)
	if got := c.value("SELECT CONCAT(CURRENT_USER(), DATABASE())"); got != "\x07root@%d" {
		t.Errorf("reset: got %q, want the same user and database", got)
	}

	busy(c)
	if got := c.changeUser("ann", "pw-ann", ""); got[0] != 0 {
		t.Fatalf("COM_CHANGE_USER: got %q", got)
	}
	gone(t, "change of the user", c)
	if got := c.value("SELECT CONCAT(CURRENT_USER(), COALESCE(DATABASE(), '-'))"); got != "\x06ann@%-" {
		t.Errorf("change of the user: got %q", got)
	}
	if got := c.value("SELECT CONNECTION_ID()"); got != id {
		t.Errorf("change of the user: connection %q, want %q", got, id)
	}
	if got := c.command(0x03, "CREATE DATABASE e"); got[0] != 0xff {
		t.Errorf("the old account's rights are left: %q", got)
	}
	if got := root.query("SHOW PROCESSLIST"); !strings.Contains(fmt.Sprint(got), "ann") {
		t.Errorf("got processes %v, want ann's", got)
	}
	if got := c.changeUser("root", "wrong", ""); got[0] != 0xff {
		t.Errorf("a wrong password: got %q", got)
	}
	if _, err := c.conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open after a refused change of the user")
	}
	i.end()
	_, text := audited(t, filepath.Join(i.cfg.DataDir, datadir.AuditDir))
	if in, out := strings.Count(text, `"kind":"login"`), strings.Count(text, `"kind":"logout"`); in != 4 || out != 4 {
		t.Errorf("got %d logins and %d logouts in the audit log, want 4 each", in, out)
	}
}

func TestIdleConnections(t *testing.T) {
	i := start(t, "")
	const interactive = 1 << 10
	root := i.root()
	root.exec("SET GLOBAL interactive_timeout = 1234")
	c := i.rawDial("root", rootPassword, interactive)
	if got := c.value("SELECT @@wait_timeout"); got != "\x041234" {
		t.Errorf("an interactive client waits %q, want interactive_timeout", got)
	}
	start := time.Now()
	c.exec("SET wait_timeout = 1")
	if got := c.read(); !strings.Contains(string(got), "disconnected by the server because of inactivity") {
		t.Errorf("got %q, want error 4031", got)
	}
	if d := time.Since(start); d < time.Second {
		t.Errorf("closed after %v, want 1 s", d)
	}
	root.exec("SET GLOBAL interactive_timeout = DEFAULT")
	if got := i.rawDial("root", rootPassword, 0).value("SELECT @@net_write_timeout > 0"); got != "\x011" {
		t.Errorf("net_write_timeout: got %q", got)
	}
}

func TestBothWaysToLogIn(t *testing.T) {
	inBoth(t, func(t *testing.T, change func(*mysql.Config)) {
		i := start(t, "")
		root := i.root()
		for _, plugin := range []string{"mysql_native_password", "caching_sha2_password"} {
			name := plugin[:5]
			root.exec(fmt.Sprintf("CREATE USER '%s' IDENTIFIED WITH %s BY 'one'", name, plugin))
			for range 2 { // the second time from memory
				if got := i.client(name, "one", change).value("SELECT CURRENT_USER()"); got != name+"@%" {
					t.Errorf("%s: logged in as %s", plugin, got)
				}
			}
			root.exec(fmt.Sprintf("ALTER USER '%s' IDENTIFIED WITH %s BY 'two'", name, plugin))
			for _, wrong := range []string{"one", "", strings.Repeat("x", 200)} {
				if _, err := i.dial(name, wrong, change); err == nil || !strings.Contains(err.Error(), "Access denied for user '"+name+"'@'127.0.0.1' (using password: ") {
					t.Errorf("%s with a wrong password: %v", plugin, err)
				}
			}
			i.client(name, "two", change)
		}
		for _, name := range []string{"nobody1", "nobody2", "nobody3", "nobody4"} {
			if _, err := i.dial(name, "one", change); err == nil || !strings.Contains(err.Error(), "Error 1045 (28000): Access denied for user '"+name+"'@'127.0.0.1' (using password: YES)") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestOwnCertificate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i := start(t, dir)
	pem, err := os.ReadFile(filepath.Join(dir, datadir.CertificateFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate in the file")
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := mysql.RegisterTLSConfig("own", &tls.Config{RootCAs: roots, ServerName: name}); err != nil {
			t.Fatal(err)
		}
		i.client("root", rootPassword, func(c *mysql.Config) { c.TLSConfig = "own" })
	}
	if _, err := i.dial("root", rootPassword, func(c *mysql.Config) { c.TLSConfig = "true" }); err == nil {
		t.Error("a client that does not know the certificate trusts it")
	}
	if fi, err := os.Stat(filepath.Join(dir, datadir.CertificateKeyFile)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v, want mode 0600", fi.Mode(), err)
	}
	i.client("root", rootPassword, func(c *mysql.Config) { c.TLSConfig = "skip-verify" })
	i.end()
	i = start(t, dir, func(c *Config) { c.RequireTLS = true })
	if again, err := os.ReadFile(filepath.Join(dir, datadir.CertificateFile)); err != nil || string(again) != string(pem) {
		t.Error("the second start made another certificate")
	}
	if _, err := i.dial("root", rootPassword); err == nil {
		t.Error("a client in clear was let in")
	}
	i.client("root", rootPassword, func(c *mysql.Config) { c.TLSConfig = "skip-verify" })
	i.end()
	if err := os.WriteFile(filepath.Join(dir, datadir.CertificateKeyFile), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig(dir)
	cfg.Listen = "127.0.0.1:0"
	if s, err := Open(cfg); err == nil || !strings.Contains(err.Error(), "remove ") {
		t.Errorf("a damaged key: %v, %v", s, err)
	}
}
