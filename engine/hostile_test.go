package engine

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/mysql/statement/cutoff"
	"scrim/test/testenv"
)

// hostile are statements of an account that may read one small public table, each of which would
// take gigabytes or minutes. The first ten are answered, with NULL for a text that is too long; the
// others are refused, or end by their time. The last four run in the store.
var hostile = []string{
	"SELECT LENGTH(REPEAT(REPEAT('a', 1000000), 100000000))",
	"SELECT LENGTH(SPACE(2000000000))",
	"SELECT LENGTH(LPAD('a', 2000000000, 'ab')), LENGTH(RPAD('a', 2000000000, 'ab'))",
	"SELECT LENGTH(REPLACE(REPEAT('a', 60000), 'a', REPEAT('b', 60000)))",
	"SELECT LENGTH(CONCAT(REPEAT('a', 60000000), REPEAT('b', 60000000)))",
	"SELECT LENGTH(CONCAT_WS(REPEAT(',', 60000000), 'a', 'b', 'c'))",
	"SELECT LENGTH(INSERT(REPEAT('a', 60000000), 2, 1, REPEAT('b', 60000000)))",
	"SELECT LENGTH(HEX(REPEAT('a', 60000000)))",
	"SELECT LENGTH(TO_BASE64(REPEAT('a', 60000000)))",
	"SELECT LENGTH(EXPORT_SET(0, REPEAT('a', 2000000), REPEAT('b', 2000000)))",

	"SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 60000), 'a', REPEAT('b', 60000)))",
	"SELECT REPEAT('a', 60000000), REPEAT('b', 60000000), REPEAT('c', 60000000), REPEAT('d', 60000000), REPEAT('e', 60000000)",
	"SELECT FIND_IN_SET('x', REPEAT(',', 60000000))",
	"SELECT JSON_LENGTH(CONCAT('[', REPEAT('1,', 30000000), '1]'))",
	"SELECT LENGTH(GROUP_CONCAT(REPEAT(a.n, 1000))) FROM h.t a, h.t b, h.t c",
	"SELECT JSON_LENGTH(JSON_ARRAYAGG(a.n)) FROM h.t a, h.t b, h.t c",
	"SELECT JSON_LENGTH(JSON_OBJECTAGG(CONCAT(a.n, '-', b.n, '-', c.n), a.n)) FROM h.t a, h.t b, h.t c",
	"SELECT a.n + b.n, MAX(REPEAT(c.n, 1000000)) FROM h.t a, h.t b, h.t c GROUP BY a.n, b.n",
	"WITH RECURSIVE r(n, s) AS (SELECT 1, CAST('a' AS CHAR(64000000)) UNION ALL SELECT n + 1, CONCAT(s, s, s, s) FROM r WHERE n < 500) SELECT MAX(LENGTH(s)) FROM r",
	"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM r, h.t WHERE r.n < 500) SELECT COUNT(*) FROM r",
	"SELECT MAX(k) FROM (SELECT ROW_NUMBER() OVER (ORDER BY a.n * b.n) k FROM h.t a, h.t b, h.t c) d",
	"SELECT MAX(k) FROM (SELECT SUM(a.n) OVER (ORDER BY a.n * b.n) k FROM h.t a, h.t b, h.t c) d",
	"SELECT MAX(LENGTH(k)) FROM (SELECT JSON_ARRAYAGG(a.n) OVER (ORDER BY a.n, b.n) k FROM h.t a, h.t b) d",
	"SELECT CONCAT(a.n, b.n, c.n) s FROM h.t a, h.t b, h.t c ORDER BY SOUNDEX(s), s",
	"SELECT DISTINCT SOUNDEX(CONCAT(a.n, 'x', b.n)), a.n, b.n, c.n FROM h.t a, h.t b, h.t c WHERE SOUNDEX(a.n) <> 'x' ORDER BY 1",
	"SELECT 7 NOT IN (SELECT a.n * b.n * 0 + c.n * 10 + 1 FROM h.t a, h.t b, h.t c WHERE SOUNDEX(a.n) <> 'x')",
	"SELECT STRCMP(REPEAT('a', 60000000) COLLATE utf8mb4_0900_ai_ci, REPEAT('A', 60000000)), INSTR(REPEAT('a', 60000000) COLLATE utf8mb4_0900_ai_ci, 'b')",
	"SELECT MAX(REPEAT('a', 60000000) COLLATE utf8mb4_0900_ai_ci) = 'b' FROM h.t WHERE SOUNDEX(n) <> 'x'",
	"SELECT n FROM h.t WHERE SOUNDEX(n) <> 'x' ORDER BY CONCAT(n, REPEAT('a', 1000000)) COLLATE utf8mb4_0900_ai_ci",
	"SELECT a.n INTO @x FROM h.t a, h.t b, h.t c WHERE SOUNDEX(a.n) <> 'x'",

	"SELECT COUNT(*) FROM h.t a, h.t b, h.t c, h.t d WHERE a.n * b.n + c.n * d.n = 7",
	"SELECT a.n * b.n * c.n x, COUNT(*) FROM h.t a, h.t b, h.t c GROUP BY x ORDER BY 2",
	"SELECT a.n * b.n * c.n x FROM h.t a, h.t b, h.t c ORDER BY x DESC",
	"SELECT a.n, b.n, c.n FROM h.t a, h.t b, h.t c",
}

// hostileServer serves the table, and an account that may read it. Texts may have 64 MiB.
func hostileServer(t *testing.T) (i *instance, root *client) {
	i = start(t, "", hostileConfig)
	root = i.root()
	hostileTable(root)
	return i, root
}

func hostileTable(root *client) {
	root.exec("CREATE DATABASE h", "CREATE TABLE h.t (n INT)", "CALL dp_public('h.t')", "INSERT INTO h.t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT n FROM r")
}

// tooLong is how many of the first hostile statements make a text that is too long.
const tooLong = 10

// TestTextsBeyondThePacketAreNull: as in MySQL, with its warning.
func TestTextsBeyondThePacketAreNull(t *testing.T) {
	i, root := hostileServer(t)
	c := i.analyst(root, "mallory", "h")
	for _, q := range hostile[:tooLong] {
		for _, v := range c.query(q)[0] {
			if v != "NULL" {
				t.Errorf("%s: got a text of %s bytes, want NULL", q, v)
			}
		}
		if w := c.query("SHOW WARNINGS"); len(w) == 0 || w[0][1] != "1301" {
			t.Errorf("%s: got warnings %v, want 1301", q, w)
		}
	}
	if got := c.value("SELECT LENGTH(REPEAT('a', 60000000))"); got != "60000000" {
		t.Errorf("a text below max_allowed_packet: got length %s", got)
	}
}

// endlessValues compute one value each, for minutes or hours, which neither a limit nor KILL ends:
// all are refused. %s is a number.
var endlessValues = []string{
	"SELECT CAST(CONCAT('1', REPEAT('0', 2000000)) AS DECIMAL) + 0", "SELECT CAST(%s AS DECIMAL)", "SELECT CAST(%s AS DECIMAL(20, 5))", "SELECT CAST(REPEAT('1', 3000000) AS SIGNED)",
	"SELECT %s = 1.5", "SELECT 1.5 < %s", "SELECT %s <=> 1.5", "SELECT %s IN (1.5, 2.5)", "SELECT 1.5 IN (%s, 'a')", "SELECT 1.5 NOT BETWEEN 1 AND %s",
	"SELECT (%s, 1) = (1.5, 1)", "SELECT 1 FROM h.t WHERE %s IN (SELECT n + 0.5 FROM h.t)", "SELECT COUNT(*) FROM h.t WHERE SOUNDEX(n) <> 'x' AND %s > n + 0.5",
	"SELECT (SELECT COUNT(*) FROM h.t WHERE SOUNDEX(n) <> 'x' AND CAST(%s AS DECIMAL) = 1)", "SELECT -(%s)", "SELECT ROUND(%s)", "SELECT TRUNCATE(%s, 1)",
	"SELECT CASE %s WHEN 1.5 THEN 1 END", "SELECT CASE 1.5 WHEN %s THEN 1 END", "SELECT NULLIF(%s, 1.5)",
	"SELECT COUNT(*) FROM h.t WHERE SOUNDEX(n) <> 'x' GROUP BY ROUND(CONCAT(n, 'e3000000'))",
	"SELECT SUM(n) s FROM h.t WHERE SOUNDEX(n) <> 'x' HAVING %s > s + 0.5", "DO CAST(%s AS DECIMAL)",
	"SET @x = CAST(%s AS DECIMAL)", "CALL dp_price(CAST(%s AS DECIMAL))", "SELECT CAST(JSON_EXTRACT(CONCAT('[\"', %s, '\"]'), '$[0]') AS DECIMAL)",
	"SELECT DATE(REPEAT('1', 3000000))", "SELECT YEAR(REPEAT('1-', 1000000))", "SELECT TIMEDIFF(REPEAT('1:', 1000000), '1:1')", "SELECT REPEAT('1-', 1000000) + INTERVAL 1 DAY",
	"SELECT DATE_FORMAT(REPEAT('1-', 1000000), '%%Y')", "SELECT CAST(REPEAT('1-', 1000000) AS DATETIME)", "SELECT CURRENT_DATE IN (REPEAT('1-', 1000000), 'x')",
	"SELECT REPEAT('a', 3000000) RLIKE CONCAT(REPEAT('(a*)', 1000), 'b')", "SELECT REGEXP_LIKE(REPEAT('a', 3000000), '(a{1,30}){1,30}b')",
	"SELECT REPEAT('a', 3000000) LIKE CONCAT('%%', REPEAT('a', 1500000), 'b')", "SELECT INSTR(REPEAT('a', 3000000), CONCAT(REPEAT('a', 1500000), 'b'))",
	"SELECT JSON_CONTAINS(CONCAT('[', REPEAT('1,', 100000), '2]'), CONCAT('[', REPEAT('2,', 100000), '2]'))",
	"SELECT JSON_OVERLAPS(CONCAT('[', REPEAT('1,', 100000), '1]'), CONCAT('[', REPEAT('2,', 100000), '2]'))",
	"SELECT ST_INTERSECTS(ST_GEOMFROMTEXT(CONCAT('LINESTRING(0 0', REPEAT(',1 1,0 2', 20000), ')')), ST_GEOMFROMTEXT(CONCAT('LINESTRING(9 9', REPEAT(',8 8,9 7', 20000), ')')))",
	"SELECT ST_GEOMFROMTEXT(CONCAT(REPEAT('GEOMETRYCOLLECTION(', 9000), 'POINT(1 1)', REPEAT(')', 9000)))",
}

// TestEndlessValuesAreRefused: that they end at all is what it takes.
func TestEndlessValuesAreRefused(t *testing.T) {
	i, root := hostileServer(t)
	c := i.analyst(root, "mallory", "h")
	for _, q := range endlessValues {
		numbers := []string{"'1e3000000'", "'-1E-3000000'", "'0x1p3000000'", "REPEAT('1', 3000000)"}
		if !strings.Contains(strings.ReplaceAll(q, "%%", ""), "%s") {
			numbers = numbers[:1]
		}
		for _, n := range numbers {
			text := strings.ReplaceAll(strings.ReplaceAll(q, "%s", n), "%%", "%")
			c.refused(1644, "45017", text)
		}
	}
	c.refused(1367, "", "SELECT "+strings.Repeat("1", 2_000_000)+" + 0")
	c.refused(1367, "", "SELECT 1."+strings.Repeat("1", 2_000_000)+" + 0")
	if got := c.value("SELECT a FROM JSON_TABLE('[\"1e3000000\"]', '$[*]' COLUMNS (a DECIMAL(10, 2) PATH '$')) x"); got != "NULL" {
		t.Errorf("JSON_TABLE: got %s, want NULL ON ERROR", got)
	}
	// Texts that are not read as numbers, and such numbers as there are.
	for q, want := range map[string]string{
		"SELECT '5e1234' = CONCAT('5e', n) FROM h.t WHERE n = 1": "0", "SELECT LENGTH(CASE n WHEN 1 THEN REPEAT('1', 200) END) FROM h.t WHERE n = 1": "200",
		"SELECT UPPER('5e1234')": "5E1234", "SELECT '5e1234x' = 1.5": "0", "SELECT CAST('12.5' AS DECIMAL(5, 2)) = '12.50'": "1",
		"SELECT REPEAT('1', 200) LIKE '1%'": "1", "SELECT 'a!%' LIKE 'a!!!%' ESCAPE '!'": "1", "SELECT n RLIKE '^7$' FROM h.t WHERE n = 7": "1",
		"SELECT CAST(CONCAT('0.', REPEAT('1', 100)) AS DECIMAL(20, 10))": "0.1111111111", "SELECT '2026-11-28 10:00:00.123456' = TIMESTAMP'2026-11-28 10:00:00.123456'": "1",
	} {
		if got := c.value(q); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

// TestKilledStatementsGiveTheirSeatsBack: an account of one seat is served again once its statement
// was killed, or has ended by its limit.
func TestKilledStatementsGiveTheirSeatsBack(t *testing.T) {
	i, root := hostileServer(t)
	root.exec("CREATE USER mallory IDENTIFIED BY 'pw' WITH MAX_USER_CONNECTIONS 1", "GRANT SELECT ON h.* TO mallory")
	for _, end := range []string{"KILL", "limit"} {
		var c *client
		for began := time.Now(); c == nil; time.Sleep(10 * time.Millisecond) {
			var err error
			if c, err = i.dial("mallory", "pw"); err != nil && time.Since(began) > time.Minute {
				t.Fatalf("before %s: %v", end, err)
			}
		}
		id := c.value("SELECT CONNECTION_ID()")
		if end == "limit" {
			c.exec("SET max_execution_time = 50")
		}
		ended := make(chan error, 1)
		go func() {
			ended <- c.skim("SELECT COUNT(*) FROM h.t a, h.t b, h.t c WHERE a.n RLIKE CONCAT(b.n, c.n, 'x')")
		}()
		if end == "KILL" {
			for len(root.query("SELECT 1 FROM information_schema.processlist WHERE id = "+id+" AND info LIKE '%RLIKE%'")) == 0 {
				time.Sleep(time.Millisecond)
			}
			root.exec("KILL " + id)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: the statement was answered", end)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the statement goes on", end)
		}
		if end == "limit" && c.value("SELECT 7") != "7" {
			t.Error("the connection of a statement that has ended by its limit does not answer")
		}
	}
}

// TestUserVariablesAreBounded: what a session keeps counts, and is given back.
func TestUserVariablesAreBounded(t *testing.T) {
	i, root := hostileServer(t)
	c := i.analyst(root, "mallory", "h")
	fill := func() (n int, err error) {
		for ; n < 20 && err == nil; n++ {
			_, err = c.try("SET @v" + strconv.Itoa(n) + " = REPEAT('a', 60000000)")
		}
		return n, err
	}
	n, err := fill()
	if e := new(mysql.MySQLError); !errors.As(err, &e) || e.Number != 3170 {
		t.Fatalf("after %d variables of 60 MB: got %v, want error 3170", n, err)
	}
	for v := range n {
		c.exec("SET @v" + strconv.Itoa(v) + " = NULL")
	}
	if again, _ := fill(); again != n {
		t.Errorf("after they were NULL: %d variables, %d before", again, n)
	}
}

// TestGroupsAreBounded: what aggregates keep of the rows of a group counts, whether it is one value
// or all of them.
func TestGroupsAreBounded(t *testing.T) {
	i, root := hostileServer(t)
	c := i.analyst(root, "mallory", "h")
	c.exec("SET sql_mode = ''", "SET group_concat_max_len = 100000000", "SET max_execution_time = 20000")
	for _, kept := range []string{"MAX(REPEAT(b.n, 1000000))", "MIN(REPEAT(b.n, 1000000))", "ANY_VALUE(REPEAT(b.n, 1000000))",
		"LENGTH(MAX(REPEAT(b.n, 1000000)))", "JSON_ARRAYAGG(REPEAT(b.n, 1000))", "JSON_OBJECTAGG(CONCAT(b.n, '-', a.n), REPEAT(b.n, 1000))",
		"GROUP_CONCAT(REPEAT(b.n, 1000))", "COUNT(DISTINCT REPEAT(b.n, 5000))"} {
		err := c.skim("SELECT a.n + 1, " + kept + " FROM h.t a, h.t b WHERE SOUNDEX(b.n) <> 'x' GROUP BY a.n")
		if e := new(mysql.MySQLError); !errors.As(err, &e) || e.Number != 3170 {
			t.Errorf("%s: got %v, want error 3170", kept, err)
		}
	}
}

// long are statements that compute for minutes in the SQL engine itself: in a sort, a window, a
// loop of conditions, and in texts.
var long = []string{
	"SELECT MAX(k) FROM (SELECT ROW_NUMBER() OVER (ORDER BY a.n + b.n) k FROM h.t a, h.t b) d WHERE SOUNDEX(k) <> 'x'",
	"SELECT SUM(k) FROM (SELECT SUM(a.n) OVER (ORDER BY a.n + b.n ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) k FROM h.t a, h.t b) d",
	"SELECT a.n FROM h.t a, h.t b ORDER BY SOUNDEX(a.n), SOUNDEX(b.n)",
	"SELECT COUNT(*) FROM h.t a, h.t b, h.t c WHERE SOUNDEX(a.n + b.n + c.n) = 'x'",
	"SELECT " + strings.TrimSuffix(strings.Repeat("LENGTH(REVERSE(REPEAT('a', 30000000))), ", 200), ", "),
}

// TestLongStatementsEnd: by their limit, and by KILL, which leaves the connection as it was.
func TestLongStatementsEnd(t *testing.T) {
	i, root := hostileServer(t)
	c := i.analyst(root, "mallory", "h")
	id := c.value("SELECT CONNECTION_ID()")
	most := 2 * time.Second * time.Duration(runtime.GOMAXPROCS(0)) // of processors, two seconds on all
	for _, q := range long {
		c.exec("SET max_execution_time = 300")
		began := testenv.Processor(t)
		c.refused(3024, "", q)
		if used := testenv.Processor(t) - began; used > most {
			t.Errorf("%.80s: used %v of processors with a limit of 0.3 s", q, used)
		}
		c.exec("SET max_execution_time = 0")
		killed := make(chan error, 1)
		go func() {
			begun := "SELECT 1 FROM information_schema.processlist WHERE info IS NOT NULL AND id = " + id
			rows, err := root.try(begun)
			for ; err == nil && len(rows) == 0; rows, err = root.try(begun) {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(300 * time.Millisecond)
			_, ended := root.try("KILL QUERY " + id)
			killed <- errors.Join(err, ended)
		}()
		began = testenv.Processor(t)
		c.refused(1317, "70100", q)
		if used := testenv.Processor(t) - began; used > most {
			t.Errorf("%.80s: used %v of processors, killed after 0.3 s", q, used)
		}
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
	}
}

// What is to end gives up by itself. On a busy machine that may take more than a second. A server
// in a process of its own is as it is shipped.
func init() {
	if os.Getenv(servedDirectory) == "" {
		cutoff.CloseAfter = time.Minute
	}
}

// TestManyRowsOfValues: planning takes time by their number, not by its square.
func TestManyRowsOfValues(t *testing.T) {
	i, root := hostileServer(t)
	c := i.analyst(root, "mallory", "h")
	began := testenv.Processor(t)
	rows := c.query("VALUES ROW(1, 'a')" + strings.Repeat(", ROW(2, 'b')", 50_000))
	if used := testenv.Processor(t) - began; len(rows) != 50_001 || used > 10*time.Second {
		t.Errorf("%d rows for %v of processors", len(rows), used)
	}
}

// TestServerEndsBesideLongStatements: they do not keep the process.
func TestServerEndsBesideLongStatements(t *testing.T) {
	i, root := hostileServer(t)
	var running sync.WaitGroup
	for n, q := range long {
		c := i.analyst(root, "mallory"+strconv.Itoa(n), "h")
		running.Go(func() { _, _ = c.try(q) })
	}
	testenv.Until(t, time.Minute, "the statements", func() bool {
		return root.value("SELECT COUNT(*) FROM information_schema.processlist WHERE user LIKE 'mallory%' AND info IS NOT NULL") == strconv.Itoa(len(long))
	})
	began := testenv.Processor(t)
	i.end()
	if used := testenv.Processor(t) - began; used > 4*time.Second*time.Duration(runtime.GOMAXPROCS(0)) {
		t.Errorf("the server used %v of processors before it had ended", used)
	}
	running.Wait()
}

// ends are the errors by which a hostile statement may end: the memory's, the store's, and that of
// its time.
var ends = []uint16{3170, 1041, 3024}

// TestHostileStatementsAreBounded: eight accounts run hostile statements; each ends soon, the
// server's memory stays bounded, and four honest clients are answered almost as soon as without
// them. With SCRIM_HOSTILE=3m it goes on for so long. How soon an answer comes is measured by what
// the server computes meanwhile, so that other work on the machine does not count.
func TestHostileStatementsAreBounded(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("SCRIM_HOSTILE"))
	if err != nil {
		d = 5 * time.Second
	}
	server, at := beginServer(t)
	root := at.root()
	hostileTable(root)
	h := honestClients(at, root)
	quiet := h.ask(server.pid, max(d/10, 3*time.Second))
	crowd := begin(t, "TestHostileCrowd", attackedServer, at.address+" "+strconv.Itoa(server.pid))
	beside := h.ask(server.pid, d)
	crowd.end()
	most := server.mostMiB()
	t.Logf("the server took %d MiB at most", most)
	if most > 1536 {
		t.Errorf("the server took %d MiB, want at most 1536", most)
	}
	for k, q := range honest {
		before, after := median(quiet[k]), median(beside[k])
		t.Logf("%s: %v of processors at the median of %d without hostile statements, %v of %d with them: %.1f times as long", q, before, len(quiet[k]), after, len(beside[k]),
			float64(after)/float64(before))
		if all := time.Duration(runtime.NumCPU()); after > all*100*time.Millisecond || after > all*5*before {
			t.Errorf("%s: the server computes for %v at the median before it answers, want at most 100 ms on all processors and 5 times %v", q, after, before)
		}
	}
}

// honest are short statements: of the SQL engine alone, of the store, and of both.
var honest = []string{"SELECT 1", "SELECT COUNT(*) FROM h.t WHERE n < 100", "SELECT UPPER('a'), n FROM h.t WHERE n = 7"}

// honestOnes are clients that ask the honest statements in turn, with a pause after each answer.
type honestOnes []*client

func honestClients(at endpoint, root *client) (h honestOnes) {
	for n := range 4 {
		h = append(h, at.analyst(root, "honest"+strconv.Itoa(n), "h"))
	}
	return h
}

// ask asks for as long as d, and returns how long a server computed between each statement and its
// answer.
func (h honestOnes) ask(server int, d time.Duration) [][]time.Duration {
	took := make([][]time.Duration, len(honest))
	var mu sync.Mutex
	var all sync.WaitGroup
	until := time.Now().Add(d)
	for n := range h {
		all.Go(func() {
			for asked := n; time.Now().Before(until); asked++ {
				k := asked % len(honest)
				began := testenv.ProcessorOf(h[n].t, server)
				h[n].query(honest[k])
				d := testenv.ProcessorOf(h[n].t, server) - began
				mu.Lock()
				took[k] = append(took[k], d)
				mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return took
}

// attack runs a hostile statement on a server under a time limit. It reports whether the server
// closed the connection, as it does where a busy machine computes a value for too long.
func attack(c *client, server int, q string, limit time.Duration) (closed bool) {
	began, at := testenv.ProcessorOf(c.t, server), time.Now()
	err := c.skim(q)
	if used := testenv.ProcessorOf(c.t, server) - began; used > (limit+3*time.Second)*time.Duration(runtime.NumCPU()) {
		c.t.Errorf("%.80s: ended after %v of processors with a limit of %v", q, used, limit)
	}
	e := new(mysql.MySQLError)
	switch {
	case err == nil && slices.Contains(hostile[:tooLong], q), errors.As(err, &e) && slices.Contains(ends, e.Number):
	case errors.Is(err, mysql.ErrInvalidConn) && time.Since(at) > limit: // not before
		return true
	default:
		c.t.Errorf("%.80s: got %v, want one of the errors %v", q, err, ends)
	}
	return false
}

// skim runs a query and reads its rows, without looking at them.
func (c *client) skim(query string) error {
	rows, err := c.conn.QueryContext(context.Background(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
