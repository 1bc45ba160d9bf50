package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/observe/version"
	"scrim/engine/ops/datadir"
	"scrim/engine/store"
	"scrim/test/testenv"
)

func TestIdentity(t *testing.T) {
	i := start(t, "")
	root := i.root()
	if got := root.value("SELECT VERSION()"); got != version.Number {
		t.Errorf("VERSION(): got %q, want %q", got, version.Number)
	}
	if got := root.value("SELECT @@version"); got != version.Number {
		t.Errorf("@@version: got %q, want %q", got, version.Number)
	}
	if got := root.value("SELECT @@version_comment LIMIT 1"); got != version.Comment {
		t.Errorf("@@version_comment: got %q, want %q", got, version.Comment)
	}
	c, err := net.Dial("tcp", i.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := make([]byte, 64)
	n, err := c.Read(b)
	if err != nil || !strings.Contains(string(b[:n]), "\n"+version.Number+"\x00") {
		t.Errorf("handshake: got %q, %v, want %q", b[:n], err, version.Number)
	}
	if got := root.value("SELECT CURRENT_USER()"); !strings.HasPrefix(got, "root@") {
		t.Errorf("CURRENT_USER(): got %q", got)
	}
}

func TestAccountsOverTheWire(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i := start(t, dir)
	root := i.root()
	denied := func(user, password string) {
		t.Helper()
		_, err := i.dial(user, password)
		var e *mysql.MySQLError
		if !errors.As(err, &e) || e.Number != 1045 || !strings.Contains(e.Message, "Access denied for user '"+user+"'@'") {
			t.Errorf("login of %q: got %v, want error 1045", user, err)
		}
	}
	denied("root", "wrong")
	denied("root", "")
	denied("nobody", "x")
	denied("", "")
	root.exec("CREATE DATABASE shop", "CREATE USER 'ann'@'%' IDENTIFIED BY 'one'", "GRANT SELECT ON shop.* TO 'ann'@'%'")
	root.refused(1644, "45017", "CREATE USER 'bob'@'%'")
	root.refused(1644, "45017", "CREATE USER ''@'%' IDENTIFIED BY 'x'")
	denied("bob", "")
	i.client("ann", "one")
	root.exec("ALTER USER 'ann'@'%' IDENTIFIED BY 'two'")
	denied("ann", "one")
	i.end()

	i = start(t, dir, func(c *Config) { c.RootPassword = "another" })
	if i.RootPassword() != "" {
		t.Error("the second start made a password")
	}
	denied("ann", "one")
	ann := i.client("ann", "two")
	grants := ann.query("SHOW GRANTS")
	if !strings.Contains(strings.Join(flatten(grants), ";"), "`shop`.*") {
		t.Errorf("got grants %v, want SELECT on shop.*", grants)
	}
	ann.refused(1142, "42000", "CREATE USER 'eve'@'%' IDENTIFIED BY 'x'")
	root = i.root()
	root.exec("GRANT SUPER ON *.* TO 'ann'@'%'")
	ann.exec("CREATE DATABASE anns")
	root.exec("REVOKE SUPER ON *.* FROM 'ann'@'%'")
	ann.refused(1142, "42000", "CREATE DATABASE anns2")
	root.exec("ALTER USER 'root'@'%' IDENTIFIED BY 'changed'")
	denied("root", rootPassword)
	i.client("root", "changed")
	root.exec("REVOKE SELECT ON shop.* FROM 'ann'@'%'", "DROP USER 'ann'@'%'")
	denied("ann", "two")
}

func flatten(rows [][]string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

func TestGeneratedRootPassword(t *testing.T) {
	i := start(t, "", func(c *Config) { c.RootPassword = "" })
	p := i.RootPassword()
	if len(p) != 24 {
		t.Fatalf("got password %q, want 24 characters", p)
	}
	i.client("root", p)
	if strings.Contains(i.log.String(), p) {
		t.Error("the password is in the log")
	}
}

func TestFirstStartThatWasCutShort(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i := start(t, dir, func(c *Config) { c.RootPassword = "" })
	lost := i.RootPassword()
	id, err := os.ReadFile(filepath.Join(dir, datadir.IDFile))
	if err != nil {
		t.Fatal(err)
	}
	i.end()
	// As it is when the process dies before the last step.
	if err := os.WriteFile(filepath.Join(dir, datadir.IDFile), []byte(strings.TrimSpace(string(id))+" "+datadir.Unfinished+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i = start(t, dir, func(c *Config) { c.RootPassword = "" })
	if p := i.RootPassword(); p == "" || p == lost {
		t.Fatalf("got password %q, want a new one", p)
	}
	i.client("root", i.RootPassword())
}

func TestDirectoriesAreGuarded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i := start(t, dir)
	if s, err := Open(i.cfg); !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("got %v, %v for a directory in use, want datadir.ErrInUse", s, err)
	}
	i.end()
	for _, f := range []string{datadir.LedgerFile, datadir.CatalogFile, datadir.UsersFile} {
		if err := os.Rename(filepath.Join(dir, f), filepath.Join(dir, "away")); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(i.cfg); err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("got %v, %v without %s, want a refusal in words", s, err, f)
		}
		if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	// A ledger of another directory is not taken.
	other := start(t, "")
	otherDir := other.cfg.DataDir
	other.end()
	b, err := os.ReadFile(filepath.Join(otherDir, datadir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.LedgerFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(i.cfg); err == nil || !strings.Contains(err.Error(), "another data directory") {
		t.Errorf("got %v, %v with a foreign ledger, want a refusal", s, err)
	}
}

func TestDoubleColumnsHaveNoFixedDecimals(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (x DOUBLE, f FLOAT, n DECIMAL(10,2))", "INSERT INTO d.t VALUES (51.006729, 0.5, 1.25)")
	for _, args := range [][]any{nil, {int64(0)}} {
		query := "SELECT x, f, n, x/3e0, 1.5e0 FROM d.t"
		if args != nil {
			query += " WHERE x > ?" // as a prepared statement
		}
		rows, err := root.conn.QueryContext(context.Background(), query, args...)
		if err != nil {
			t.Fatal(err)
		}
		cols, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		for n, c := range cols {
			_, scale, ok := c.DecimalSize()
			want := int64(math.MaxInt64) // the driver's word for 31
			if n == 2 {
				want = 2
			}
			if !ok || scale != want {
				t.Errorf("column %s: got scale %d, want %d", c.Name(), scale, want)
			}
		}
		rows.Close()
	}
	if got := root.value("SELECT x FROM d.t"); got != "51.006729" {
		t.Errorf("got %s, want 51.006729", got)
	}
}

func TestErrorNumbers(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL, s VARCHAR(3))", "INSERT INTO d.t VALUES (1, 1, 'a')")
	for _, c := range []struct {
		errno uint16
		state string
		query string
	}{
		{1064, "42000", "SELEC 1"},
		{1054, "42S22", "SELECT nope FROM d.t"},
		{1146, "42S02", "SELECT * FROM d.nope"},
		{1049, "42000", "USE nope"},
		{1049, "42000", "SELECT * FROM nope.t"},
		{1046, "3D000", "SELECT * FROM t"},
		{1305, "42000", "SELECT nope(1)"},
		{1062, "23000", "INSERT INTO d.t VALUES (1, 1, 'a')"},
		{1048, "23000", "INSERT INTO d.t VALUES (2, NULL, 'a')"},
		{1364, "HY000", "INSERT INTO d.t (id) VALUES (3)"},
		{1136, "21S01", "INSERT INTO d.t VALUES (3)"},
		{1050, "42S01", "CREATE TABLE d.t (x INT)"},
		{1007, "HY000", "CREATE DATABASE d"},
		{1193, "HY000", "SET @@nope = 1"},
		{1065, "42000", "/* nothing */"},
	} {
		root.refused(c.errno, c.state, c.query)
	}
}

func TestAnalystsAreConfined(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "INSERT INTO d.t VALUES (1)", "CALL dp_public('d.t')")
	ann := i.analyst(root, "ann", "d")
	root.exec("GRANT CREATE, ALTER, DROP, INSERT, FILE, EXECUTE ON *.* TO 'ann'@'%'")
	for _, q := range []string{"SET GLOBAL max_connections = 1", "SET @@GLOBAL.read_only = 1", "SET PERSIST max_connections = 1"} {
		ann.refused(1227, "42000", q)
	}
	for _, q := range []string{
		"SELECT LOAD_FILE('/etc/hostname')", "SELECT * FROM d.t INTO OUTFILE '/tmp/scrim-outfile'",
		"SELECT id FROM d.t INTO DUMPFILE '/tmp/scrim-dumpfile'", "LOAD DATA INFILE '/etc/hostname' INTO TABLE d.t",
		"CREATE TRIGGER d.tr BEFORE INSERT ON d.t FOR EACH ROW SET NEW.id = 1",
		"CREATE EVENT d.e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
		"CREATE PROCEDURE d.p() SELECT 1", "ANALYZE TABLE d.t",
	} {
		root.refused(1644, "45017", q)
		if _, err := ann.try(q); err == nil {
			t.Errorf("%s: an analyst was not refused", q)
		}
	}
	for _, q := range []string{"SELECT SLEEP(1)", "SELECT GET_LOCK('x', 1)", "SELECT RELEASE_ALL_LOCKS()", "SELECT id FROM d.t WHERE id = (SELECT SLEEP(1))",
		"CREATE TABLE d.u (id INT)", "DROP TABLE d.t", "ALTER TABLE d.t ADD COLUMN x INT", "SET dp_raw = ON", "CALL dp_public('d.t')"} {
		ann.refused(1644, "45014", q)
	}
	if got := ann.value("SELECT id FROM d.t"); got != "1" {
		t.Errorf("got %q from a public table, want 1", got)
	}
	for _, f := range []string{"/tmp/scrim-outfile", "/tmp/scrim-dumpfile"} {
		if _, err := os.Stat(f); err == nil {
			t.Errorf("%s was written", f)
			os.Remove(f)
		}
	}
}

// TestFunctionsAreRefusedWhenTheyAreNamed: wherever a text is bound, before anything of it is
// evaluated.
func TestFunctionsAreRefusedWhenTheyAreNamed(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT, n INT)", "INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)", "CALL dp_public('d.t')",
		"CREATE VIEW d.v AS SELECT id FROM d.t WHERE GET_LOCK('of a view', 0) = 1")
	ann := i.analyst(root, "ann", "d")
	root.exec("GRANT INSERT ON d.t TO 'ann'@'%'")
	ann.exec("USE d")
	for _, q := range []string{
		"SELECT 1 FROM t WHERE %s = 1", "SELECT 1 FROM t WHERE 1 IN (%s)", "SELECT 1 FROM t WHERE id BETWEEN 1 AND %s", "SELECT 1 FROM t a JOIN t b ON %s",
		"SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM t WHERE %s)", "SELECT (SELECT %s)", "WITH c AS (SELECT %s x) SELECT x FROM c", "SELECT 1 UNION SELECT %s",
		"SELECT SUM(%s) FROM t", "SELECT id FROM t GROUP BY id HAVING %s", "SELECT id FROM t ORDER BY %s", "SELECT ROW_NUMBER() OVER (ORDER BY %s) FROM t",
		"SHOW TABLES WHERE %s", "SHOW VARIABLES WHERE %s", "SHOW STATUS WHERE %s", "SHOW COLUMNS FROM t WHERE %s", "SHOW PROCESSLIST WHERE %s",
		"EXPLAIN SELECT 1 FROM t WHERE %s", "EXPLAIN ANALYZE SELECT 1 FROM t WHERE %s", "PREPARE s FROM 'SELECT 1 FROM t WHERE %s'",
		"CALL dp_price('SELECT 1 FROM t WHERE %s')", "CALL dp_price(%s)",
		"DO %s", "SET @x = %s", "SET @@session.max_execution_time = %s", "INSERT INTO t VALUES (%s, 1)", "INSERT INTO t SELECT 1, 1 FROM t WHERE %s",
		"SELECT CASE WHEN %s THEN 1 END", "SELECT id FROM t WHERE id RLIKE %s", "SELECT CAST(%s AS CHAR)",
	} {
		for _, f := range []string{"GET_LOCK(0x6c, 0)", "SLEEP(1000)", "LOAD_FILE(0x2f)", "d.gEt_LoCk(0x6c, 0)"} {
			text := strings.ReplaceAll(q, "%s", f)
			_, err := ann.try(text)
			var e *mysql.MySQLError
			if !errors.As(err, &e) || e.Number == 1105 || !strings.Contains(err.Error(), "The function ") && e.Number != 1064 && e.Number != 1142 {
				t.Errorf("%s: got %v, want that the function is refused", text, err)
			}
		}
	}
	ann.refused(1644, "45014", "SELECT * FROM d.v")
	if got := root.value("SELECT CONCAT(IS_FREE_LOCK('l'), IS_FREE_LOCK('of a view'))"); got != "11" {
		t.Errorf("a lock was taken: %s", got)
	}
	root.exec("EXPLAIN SELECT id FROM d.t WHERE GET_LOCK('l', 0) = 1", "CALL dp_price('SELECT id FROM d.t WHERE SLEEP(1000)')")
	if got := root.value("SELECT IS_FREE_LOCK('l')"); got != "1" {
		t.Error("EXPLAIN took a lock")
	}
	// What is not the same for all rows is not computed once for all of them.
	if got := ann.query("SELECT id FROM t WHERE (@i := COALESCE(@i, 0) + 1) <= 2"); len(got) != 2 {
		t.Errorf("@i := @i + 1 in WHERE: rows %v, want two", got)
	}
	if got := len(ann.query("SELECT a.id FROM t a, t b, t c, t d, t e WHERE RAND() < 0.5")); got < 40 || got > 203 { // 243 tosses: a false alarm in 10^25 runs
		t.Errorf("RAND() < 0.5 in WHERE: %d rows of 243", got)
	}
}

// TestTimeLimitOfCalls: a procedure that analyses or runs what it is given ends by the limit.
func TestTimeLimitOfCalls(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "INSERT INTO d.t VALUES (1)", "CALL dp_public('d.t')", "SET max_execution_time = 200")
	root.refused(3024, "", "CALL dp_price(SLEEP(1000))")
	root.refused(3024, "", "EXPLAIN ANALYZE SELECT id FROM d.t WHERE SLEEP(1000) = 1")
}

func TestProcessListAndKill(t *testing.T) {
	i := start(t, "")
	root := i.root()
	ann := i.analyst(root, "ann", "")
	bob := i.analyst(root, "bob", "")
	if got := ann.query("SHOW PROCESSLIST"); len(got) != 1 || got[0][1] != "ann" {
		t.Errorf("an analyst sees %v, want one own connection", got)
	}
	if got := ann.query("SELECT user FROM information_schema.processlist"); len(got) != 1 || got[0][0] != "ann" {
		t.Errorf("an analyst sees %v, want one own connection", got)
	}
	if got := root.query("SHOW PROCESSLIST"); len(got) != 3 {
		t.Errorf("a DBA sees %v, want three connections", got)
	}
	bobID := bob.value("SELECT CONNECTION_ID()")
	ann.refused(1094, "HY000", "KILL QUERY "+bobID)
	ann.refused(1094, "HY000", "KILL "+bobID)

	twin := i.client("ann", "pw-ann")
	ann.exec("KILL " + twin.value("SELECT CONNECTION_ID()"))
	testenv.Until(t, time.Minute, "the end of an analyst's own connection", func() bool { _, err := twin.try("SELECT 1"); return err != nil })

	other := i.root()
	id := other.value("SELECT CONNECTION_ID()")
	done := make(chan error, 1)
	go func() { _, err := other.try("SELECT SLEEP(600)"); done <- err }()
	root.sleeping("1")
	root.exec("KILL QUERY " + id)
	select {
	case err := <-done:
		var e *mysql.MySQLError
		if !errors.As(err, &e) || e.Number != 1317 {
			t.Errorf("got %v for a killed statement, want error 1317", err)
		}
	case <-time.After(time.Minute):
		t.Error("KILL QUERY did not end the statement")
	}
	if got := other.value("SELECT 1"); got != "1" {
		t.Error("KILL QUERY ended the connection")
	}
	root.exec("KILL " + bobID)
	testenv.Until(t, time.Minute, "the end of a killed connection", func() bool { _, err := bob.try("SELECT 1"); return err != nil })
}

// sleeping waits until n statements sleep.
func (c *client) sleeping(n string) {
	c.t.Helper()
	testenv.Until(c.t, time.Minute, n+" statements that sleep", func() bool {
		return c.value("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'") == n
	})
}

// alone waits until nobody else is connected.
func (c *client) alone() {
	c.t.Helper()
	testenv.Until(c.t, time.Minute, "the end of other connections", func() bool { return len(c.query("SHOW PROCESSLIST")) == 1 })
}

func TestTimeLimit(t *testing.T) {
	i := start(t, "")
	root := i.root()
	limited := func(c *client, errno uint16, least time.Duration, query string) {
		t.Helper()
		start := time.Now()
		c.refused(errno, "", query)
		if d := time.Since(start); d < least || d > time.Minute {
			t.Errorf("%s ended after %v, want about %v", query, d, least)
		}
	}
	limited(root, 3024, 50*time.Millisecond, "SELECT /*+ MAX_EXECUTION_TIME(50) */ SLEEP(600)")
	limited(root, 3024, 300*time.Millisecond, "SELECT /*+ SET_VAR(max_execution_time=300) */ SLEEP(600)")
	root.exec("SET max_execution_time = 100")
	limited(root, 3024, 100*time.Millisecond, "SELECT SLEEP(600)")
	if got := root.value("SELECT /*+ MAX_EXECUTION_TIME(0) */ SLEEP(0.3)"); got != "0" {
		t.Errorf("got %q with the hint that takes the limit off, want 0", got)
	}
	root.exec("DO SLEEP(0.3)", "SET max_execution_time = DEFAULT")
	if got := root.value("SELECT SLEEP(0.3)"); got != "0" {
		t.Errorf("got %q without a limit, want 0", got)
	}
}

// TestTimeLimitOnProtectedRows: the limit there is whole seconds, and the error the fixed one.
func TestTimeLimitOnProtectedRows(t *testing.T) {
	i := startWith(t, "", slow(1300*time.Millisecond))
	root := i.root()
	people(t, root, 300)
	ann := i.analyst(root, "ann", "d")
	start := time.Now()
	ann.refused(1644, "45015", "SELECT /*+ MAX_EXECUTION_TIME(200) */ COUNT(*) FROM d.people")
	if d := time.Since(start); d < 900*time.Millisecond {
		t.Errorf("the statement ended after %v, want a whole second", d)
	}
}

// TestStatementTime: whatever an account says or sets, its statements end when the time for them is
// over, those that write too, unless it looks after the server or fills tables.
func TestStatementTime(t *testing.T) {
	i := start(t, "", func(c *Config) { c.StatementTime = time.Second })
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.own (n BIGINT)", "CREATE USER 'fay'@'%' IDENTIFIED BY 'pw-fay'", "GRANT importer TO 'fay'@'%'", "GRANT SELECT ON d.* TO 'fay'@'%'")
	i.rows("d.open (n BIGINT)", "SELECT i FROM range(100000) r(i)")
	root.exec("CALL dp_public('d.open')", "CALL dp_public('d.own')")
	ann := i.analyst(root, "ann", "d")
	root.exec("GRANT INSERT, DELETE, UPDATE ON d.own TO 'ann'@'%'")
	const endless = "COUNT(*) FROM d.open a, d.open b, d.open c WHERE a.n + b.n * c.n > 7"
	ended := func(c *client, least time.Duration, q string) {
		t.Helper()
		began := time.Now()
		c.refused(3024, "HY000", q)
		if d := time.Since(began); d < least {
			t.Errorf("%s ended after %v, want %v", q, d, least)
		}
	}
	for _, q := range []string{
		"SELECT ", "SELECT /*+ MAX_EXECUTION_TIME(0) */ ", "SELECT /*+ SET_VAR(max_execution_time=3600000) */ ", "INSERT INTO d.own SELECT ", "SET @x = (SELECT ",
	} {
		ended(ann, time.Second, q+endless+strings.Repeat(")", strings.Count(q, "(SELECT ")))
	}
	ann.exec("SET max_execution_time = 0")
	ended(ann, time.Second, "SELECT "+endless)
	if got := root.value("SELECT COUNT(*) FROM d.own"); got != "0" {
		t.Errorf("%s rows of statements that were ended", got)
	}
	// of the others MySQL's own limit, if any
	fay := i.client("fay", "pw-fay")
	for _, c := range []*client{root, fay} {
		ended(c, 2*time.Second, "SELECT /*+ MAX_EXECUTION_TIME(2000) */ "+endless)
	}
	if got := root.value("SELECT /*+ MAX_EXECUTION_TIME(0) */ SLEEP(1.5)"); got != "0" {
		t.Errorf("a DBA: got %s", got)
	}
	longer := i.cfg
	longer.StatementTime = 3 * time.Second
	if err := i.Reload(longer, ""); err != nil {
		t.Fatal(err)
	}
	ended(ann, 3*time.Second, "SELECT "+endless)
}

// rows makes a table, schema.name and its columns between brackets, with what the store selects.
func (i *instance) rows(table, query string) {
	i.t.Helper()
	i.root().exec("CREATE TABLE " + table)
	session, err := i.store.Session(context.Background())
	if err != nil {
		i.t.Fatal(err)
	}
	defer session.Close()
	name, _, _ := strings.Cut(table, " ")
	schema, name, _ := strings.Cut(name, ".")
	if _, err := session.Write(context.Background(), []store.TableRef{{Schema: schema, Name: name}}, "INSERT INTO "+schema+"."+name+" "+query); err != nil {
		i.t.Fatal(err)
	}
}

// TestSpillingEnds: joins of a table with itself on a value that all rows have, whose pairs no disk
// holds, end with the time for statements: on protected rows with the fixed error and the charge,
// and what they have spilled is gone.
func TestSpillingEnds(t *testing.T) {
	i := start(t, "", func(c *Config) { c.StatementTime, c.MemoryLimit, c.PersonsMemory = 2*time.Second, "256MiB", 16 })
	root := i.root()
	root.exec("CREATE DATABASE d")
	for _, table := range []string{"d.protected", "d.open"} {
		i.rows(table+" (who BIGINT NOT NULL, k INT NOT NULL)", "SELECT i, 1 FROM range(300000) r(i)")
	}
	root.exec("CALL dp_protect('d.protected', 'who', 'person')", "CALL dp_set_budget('d.protected', '*', 100, 1e-6, 'never')", "CALL dp_public('d.open')")
	ann := i.analyst(root, "ann", "d")
	ann.refused(1644, "45015", "SELECT COUNT(*) FROM d.protected a JOIN d.protected b ON a.k = b.k")
	if got := root.value("SELECT MIN(spent_rho) > 0 FROM dp.budgets WHERE account = 'd.protected'"); got != "1" {
		t.Error("a statement that was ended cost nothing")
	}
	testenv.Until(t, time.Minute, "the end in the ledger", func() bool {
		return fmt.Sprint(root.query("SELECT DISTINCT outcome FROM dp.ledger WHERE statement LIKE '%JOIN%'")) == "[[timeout]]"
	})
	ann.refused(3024, "HY000", "SELECT a.who, b.who FROM d.open a JOIN d.open b ON a.k = b.k ORDER BY 2, 1")
	testenv.Until(t, time.Minute, "an empty directory for what is spilled", func() bool {
		left, err := os.ReadDir(filepath.Join(i.cfg.DataDir, datadir.SpillDir))
		if err != nil {
			t.Fatal(err)
		}
		return len(left) == 0
	})
}

func TestClientThatGoesAwayEndsItsStatement(t *testing.T) {
	i := start(t, "")
	root := i.root()
	gone := i.root()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		var v sql.NullInt64
		done <- gone.conn.QueryRowContext(ctx, "SELECT SLEEP(600)").Scan(&v)
	}()
	root.sleeping("1")
	cancel() // the driver closes the socket
	<-done
	root.alone()
}

func TestLimitsOfTheSocket(t *testing.T) {
	const limit = time.Second
	i := start(t, "", func(c *Config) { c.MaxConnections, c.AuthTimeout = 2, limit })
	var in []*client
	for range 3 { // the third has the place that is kept for those who look after the server
		testenv.Succeeds(t, time.Minute, "a login within its deadline", func() error {
			c, err := i.dial("root", rootPassword)
			in = append(in, c)
			return err
		})
	}
	a, b := in[0], in[1]
	testenv.Succeeds(t, time.Minute, "error 1040 for one connection too many", func() error {
		var e *mysql.MySQLError
		if _, err := i.dial("root", rootPassword); !errors.As(err, &e) || e.Number != 1040 {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	time.Sleep(limit + limit/5) // the login's deadline is no limit of the session
	if a.value("SELECT 1") != "1" || b.value("SELECT 1") != "1" {
		t.Error("a session ended with the login's deadline")
	}
}
