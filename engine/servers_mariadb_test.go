package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/test/testenv"
)

// shopServer starts a MariaDB server on a port of this machine, with an account that may read its
// database shop, and returns what declares it as a source.
func shopServer(t *testing.T, options ...string) (admin *client, server *os.Process, declared string) {
	t.Helper()
	port := testenv.Ports(t, 1)[0]
	admin, server = mariadbWith(t, append(options, "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port))...)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin.exec("CREATE DATABASE shop", "CREATE USER scrim@'127.0.0.1' IDENTIFIED BY 'sesame'", "GRANT SELECT ON shop.* TO scrim@'127.0.0.1'")
	return admin, server, fmt.Sprintf("shop=mysql://scrim@127.0.0.1:%d?password=file:%s", port, secret)
}

// withOrders makes 6,000 orders of 400 customers there.
func withOrders(admin *client) {
	admin.exec("SET GLOBAL sql_select_limit = 10, max_join_size = 10, max_statement_time = 0.001") // of no use to whoever reads all
	admin.exec("CREATE TABLE shop.orders (id INT PRIMARY KEY, customer_id INT, region VARCHAR(10), amount DECIMAL(10,2), weight DOUBLE, day DATE, spot POINT)")
	var rows []string
	for i := range 6000 {
		amount := "NULL"
		if i%11 != 0 {
			amount = fmt.Sprintf("%d.%02d", i*31%500/4, i*31%500%4*25)
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, '%s', %s, %d / 8, DATE_ADD('2025-04-01', INTERVAL %d DAY), NULL)", i, i*7919%400, []string{"north", "south", "east"}[i%3], amount, i%100, i/60))
	}
	for len(rows) > 0 {
		n := min(1000, len(rows))
		admin.exec("INSERT INTO shop.orders VALUES " + strings.Join(rows[:n], ","))
		rows = rows[n:]
	}
}

const attachFar = `CALL dp_attach('far.orders', 'mysql', '{"server": "shop", "database": "shop", "table": "orders"}')`

// shopOrders serves them as far.orders, without noise.
func shopOrders(t *testing.T) (i *instance, admin, dba *client, server *os.Process) {
	t.Helper()
	admin, server, declared := shopServer(t)
	withOrders(admin)
	i = startWith(t, "", silence, func(c *Config) { c.Sources = declared })
	dba = i.root()
	dba.exec("CREATE DATABASE far", "CREATE DATABASE shop", attachFar)
	return i, admin, dba, server
}

// farOrders is shopOrders with an analyst of the protected table.
func farOrders(t *testing.T) (i *instance, admin, dba, ann *client, server *os.Process) {
	t.Helper()
	i, admin, dba, server = shopOrders(t)
	dba.exec(protectOrders("far.orders")...)
	ann = i.analyst(dba, "ann", "far")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	return i, admin, dba, ann, server
}

// TestServerWithoutNoise asks of a table of MariaDB and of a table of the store with the same rows:
// without noise the answers are the same.
func TestServerWithoutNoise(t *testing.T) {
	i, _, dba, _ := shopOrders(t)
	ann := sameAsOwn(t, i, dba, "far.orders", append(slices.Clone(lakeQueries), randomQueries()...))
	if got := dba.value("SELECT CONCAT(kind, ' ', path, ' ', status) FROM dp.sources"); got != "mysql shop:shop.orders attached" {
		t.Errorf("dp.sources: %s", got)
	}
	if got := ann.explained("SELECT COUNT(*) FROM far.orders"); !strings.Contains(got, "source far.orders  mysql  one transaction of the server, copied for the statement  keys not enforced  partial results never") {
		t.Errorf("EXPLAIN: %s", got)
	}
	ann.refused(1644, "45002", "SELECT * FROM far.orders")
	dba.exec("CREATE TABLE shop.kept (id INT PRIMARY KEY, region VARCHAR(10))", "INSERT INTO shop.kept SELECT id, region FROM far.orders WHERE id < 500", "CREATE TABLE shop.also AS SELECT * FROM far.orders")
	if got := dba.value("SELECT CONCAT(COUNT(*), ' ', SUM(id)) FROM shop.kept") + " " + dba.value("SELECT COUNT(amount) FROM shop.also"); got != "500 124750 5454" {
		t.Errorf("copies that stay: %s", got)
	}
	ann.refused(1644, "45001", "SELECT COUNT(*) FROM shop.kept")
	for _, q := range []string{"INSERT INTO far.orders (id) VALUES (1)", "DELETE FROM far.orders", "TRUNCATE far.orders", "ALTER TABLE far.orders ADD x INT", "DROP TABLE far.orders"} {
		if _, err := dba.try(q); err == nil {
			t.Errorf("taken: %s", q)
		}
	}
	i.end()
	i = startWith(t, i.place.Dir, silence)
	if got := i.root().value("SELECT status FROM dp.sources"); !strings.Contains(got, "--source shop=") {
		t.Errorf("without the declaration: %s", got)
	}
	if _, err := i.root().try("SELECT COUNT(*) FROM far.orders"); err == nil {
		t.Error("read without a declaration")
	}
}

// TestServerIdentity: what is spent on a table of a server stays with its data.
func TestServerIdentity(t *testing.T) {
	_, admin, dba, ann, _ := farOrders(t)
	ann.query("SELECT COUNT(*) FROM far.orders")
	dba.exec("CALL dp_detach('far.orders')")
	for name, want := range map[string]string{"far.again": "Attach it as far.orders"} {
		if _, err := dba.try(strings.Replace(attachFar, "far.orders", name, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dba.exec(attachFar)
	if got := dba.value("SELECT COUNT(*) FROM dp.budgets WHERE account = 'far.orders' AND spent_rho > 0"); got == "0" {
		t.Error("the budget is fresh")
	}
	dba.exec(protectOrders("far.orders")...)
	admin.exec("ALTER TABLE shop.orders MODIFY amount DOUBLE")
	if _, err := ann.try("SELECT SUM(weight) FROM far.orders"); err == nil {
		t.Error("a column of another type is read")
	}
	if got := dba.value("SELECT status FROM dp.sources"); !strings.Contains(got, "does not have the columns") {
		t.Errorf("dp.sources: %s", got)
	}
	admin.exec("CREATE TABLE shop.old (a INT) ENGINE=MyISAM", "CREATE VIEW shop.v AS SELECT 1 AS a", "CREATE TABLE shop.shapes (p POINT)")
	for table, want := range map[string]string{"old": "MyISAM", "v": "view", "none": "no such table", "shapes": "No column", "ORDERS": "no such table"} {
		if _, err := dba.try(`CALL dp_attach('far.x', 'mysql', '{"server": "shop", "database": "shop", "table": "` + table + `"}')`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
	for _, o := range []string{`{"server": "other", "database": "shop", "table": "orders"}`, `{"server": "127.0.0.1", "database": "shop", "table": "orders"}`, `{"path": "/x"}`, `{"server": "shop"}`, `{"server": "shop", "database": "shop", "table": "orders", "password": "x"}`} {
		if _, err := dba.try("CALL dp_attach('far.x', 'mysql', '" + o + "')"); err == nil {
			t.Errorf("taken: %s", o)
		}
	}
}

// TestServerTypes: every type of MariaDB's columns is what the store's own column of that type is,
// or is left out.
func TestServerTypes(t *testing.T) {
	admin, _, declared := shopServer(t)
	const columns = `a TINYINT, b TINYINT UNSIGNED, c SMALLINT, d SMALLINT UNSIGNED, e MEDIUMINT, f MEDIUMINT UNSIGNED, g INT, h INT UNSIGNED, i BIGINT, j BIGINT UNSIGNED,
		k DECIMAL(4,1), l DECIMAL(9,2), m DECIMAL(18,4), n DECIMAL(38,10), o FLOAT, p DOUBLE, q DATE, r DATETIME(6), s TIMESTAMP(6) NULL, u VARCHAR(20), v CHAR(5), w TEXT, x ENUM('one','two'), y YEAR`
	rows := []string{
		"(-128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615, -999.9, 1234567.89, -99999999999999.9999, -1234567890123456789012345678.0123456789, 0.1, 0.1, '2024-02-29', '2025-01-02 03:04:05.678901', '2025-07-01 00:00:00.5', 'Ærø ☃', 'ab', 'x\\'y', 'two', 1999)",
		"(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -3.4e38, -1.7e308, '0001-01-01', '9999-12-31 23:59:59', '1970-01-02 00:00:00', '', '', '', 'one', 1901)",
		"(NULL" + strings.Repeat(", NULL", 23) + ")",
	}
	admin.exec("CREATE TABLE shop.t (id INT PRIMARY KEY, "+columns+", z BIT(3), aa GEOMETRY)", "SET sql_mode = ''")
	i := startWith(t, "", silence, func(c *Config) { c.Sources = declared })
	dba := i.root()
	dba.exec("CREATE DATABASE far", "CREATE TABLE far.own (id INT PRIMARY KEY, "+columns+")")
	for k, r := range rows {
		r = fmt.Sprintf("(%d, %s", k, r[1:])
		admin.exec("INSERT INTO shop.t VALUES " + strings.TrimSuffix(r, ")") + ", NULL, NULL)")
		dba.exec("INSERT INTO far.own VALUES " + r)
	}
	admin.exec("INSERT INTO shop.t (id, q, r) VALUES (3, '0000-00-00', '2025-00-10 00:00:00')")
	dba.exec("INSERT INTO far.own (id) VALUES (3)")
	left := fmt.Sprint(dba.query(`CALL dp_attach('far.t', 'mysql', '{"server": "shop", "database": "shop", "table": "t"}')`))
	if strings.Count(left, "left out") != 2 {
		t.Errorf("columns: %s", left)
	}
	dba.exec("CALL dp_public('far.t')", "CALL dp_public('far.own')")
	for c := 'a'; c <= 'y'; c++ {
		if c == 't' {
			continue
		}
		got, want := dba.query(fmt.Sprintf("SELECT id, %c FROM far.t ORDER BY id", c)), dba.query(fmt.Sprintf("SELECT id, %c FROM far.own ORDER BY id", c))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%c: got %v, want %v", c, got, want)
		}
	}
}

// TestServerSnapshot: amounts move between two tables while their sum is asked for, which is the
// same at every moment. With the binary log on, an answer of unchanged tables is a stored one.
func TestServerSnapshot(t *testing.T) {
	admin, _, declared := shopServer(t, "--log-bin=log", "--server-id=1")
	admin.exec("USE shop", "CREATE TABLE shop.a (p INT, v INT)", "CREATE TABLE shop.b (p INT, v INT)", "INSERT INTO shop.a SELECT seq, 10 FROM seq_1_to_500", "INSERT INTO shop.b SELECT * FROM shop.a")
	i := startWith(t, "", silence, func(c *Config) { c.Sources = declared })
	dba := i.root()
	dba.exec("CREATE DATABASE far")
	for _, name := range []string{"a", "b"} {
		dba.exec(`CALL dp_attach('far.`+name+`', 'mysql', '{"server": "shop", "database": "shop", "table": "`+name+`"}')`, "CALL dp_protect('far."+name+"', 'p', 'person')",
			"CALL dp_set_domain('far."+name+`', 'v', '{"min": 0, "max": 64}')`, "CALL dp_set_budget('far."+name+"', '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget('far."+name+"', 'default', 'rho=1000000', 1e-3, 'never')")
	}
	ann := i.analyst(dba, "ann", "far")
	ann.exec("SET dp_rho = 1000")
	const sum = "SELECT (SELECT SUM(v) FROM far.a) + (SELECT SUM(v) FROM far.b)"
	first := fmt.Sprint(ann.query(sum))
	spent := func() string { return dba.value("SELECT ROUND(SUM(spent_rho)) FROM dp.budgets WHERE principal = '*'") }
	once := spent()
	if again := fmt.Sprint(ann.query(sum)); again != first || first != "[[10000]]" || spent() != once {
		t.Errorf("answered %s and %s, spent %s and %s", first, again, once, spent())
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := 0; ctx.Err() == nil; k++ {
			d := 1 - 2*(k%2)
			admin.exec("START TRANSACTION", fmt.Sprintf("UPDATE shop.a SET v = v + %d", d), fmt.Sprintf("UPDATE shop.b SET v = v - %d", d), "COMMIT")
		}
	})
	for range 20 {
		if got := fmt.Sprint(ann.query(sum)); got != "[[10000]]" {
			t.Errorf("answered %s", got)
		}
	}
	stop()
	wg.Wait()
	if spent() == once {
		t.Error("nothing was charged after writes")
	}
}

// TestServerKilled ends the source at random moments of a query: the answer is whole, or an error
// after the charge, and never a part.
func TestServerKilled(t *testing.T) {
	i, admin, dba, ann, server := farOrders(t)
	r := rand.New(rand.NewPCG(1, 2))
	whole := fmt.Sprint(ann.query("SELECT SUM(weight) FROM far.orders"))
	for k := range 20 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(time.Duration(r.IntN(20000)) * time.Microsecond)
			for _, row := range admin.query("SELECT id FROM information_schema.processlist WHERE user = 'scrim'") {
				admin.try("KILL CONNECTION " + row[0])
			}
		}()
		rows, err := ann.try(fmt.Sprintf("SELECT SUM(weight) FROM far.orders WHERE id >= %d", -k))
		<-done
		if err == nil && fmt.Sprint(rows) != whole {
			t.Errorf("a part: %v of %s", rows, whole)
		}
		if err != nil && !strings.Contains(err.Error(), "45015") && !strings.Contains(err.Error(), "attached") {
			t.Errorf("%v", err)
		}
	}
	before := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE outcome IS NOT NULL")
	server.Kill()
	started := time.Now()
	if _, err := ann.try("SELECT SUM(weight) FROM far.orders WHERE id > 7"); err == nil || time.Since(started) > time.Minute {
		t.Errorf("without a server: %v after %v", err, time.Since(started))
	}
	i.warnings.LookAtSources(t.Context(), i.store)
	if got := strings.Join(i.warnings.Texts(), " "); !strings.Contains(got, "the attached table far.orders cannot be read") {
		t.Errorf("warnings: %s", got)
	}
	if after := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE outcome IS NOT NULL"); after != before {
		t.Error("charged while the source could not be reached")
	}
}
