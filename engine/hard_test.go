package engine

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/estimator/noise"
	"scrim/engine/observe/version"
	"scrim/test/testenv"
)

func TestOtherWaysToRowsAreClosed(t *testing.T) {
	i := startWith(t, "", seeded(t, "closed", 1)) // an answer is compared
	root := i.root()
	people(t, root, 300)
	root.exec("CREATE VIEW d.ages AS SELECT id, age FROM d.people", "CREATE TABLE d.pub (x INT)", "CALL dp_public('d.pub')", "INSERT INTO d.pub VALUES (1),(2)")
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 1")
	ann.refused(1644, "45002", "SELECT * FROM ages")
	near(t, "a view", ann.value("SELECT COUNT(*) FROM ages"), 300, 100)
	ann.exec("PREPARE s FROM 'SELECT age FROM people'")
	ann.refused(1644, "45002", "EXECUTE s")
	ann.refused(1644, "", "SELECT age FROM people WHERE id = ?", 3)
	ann.refused(1644, "", "SELECT x FROM pub WHERE x = (SELECT age FROM people LIMIT 1)")
	ann.refused(1644, "", "SELECT x, (SELECT age FROM people WHERE id = x) FROM pub")
	ann.refused(1644, "", "SELECT x, (SELECT COUNT(*) FROM people WHERE id = x) FROM pub") // a person each
	ann.refused(1644, "", "SELECT x, (SELECT COUNT(*) FROM people WHERE age > x) FROM pub")
	ann.refused(1644, "", "SELECT x FROM pub WHERE EXISTS (SELECT 1 FROM people WHERE age = x)")
	ann.refused(1644, "", "SELECT * FROM pub JOIN people ON x = age")
	ann.refused(1644, "", "SELECT COUNT(*) OVER () FROM people")
	ann.refused(1644, "", "WITH c AS (SELECT age FROM people) SELECT * FROM c")
	ann.refused(1644, "", "TABLE people")
	ann.refused(1644, "", "SELECT JSON_ARRAYAGG(age) FROM people")
	ann.refused(1644, "", "SELECT COUNT(*) FROM people WHERE SLEEP(1) = 0")
	if got := ann.value("SELECT SUM(x) FROM pub"); got != "3" {
		t.Errorf("got %s from a public table, want 3", got)
	}
}

// slow is a source of noise that takes its time: a statement that has been charged stays in it.
func slow(pause time.Duration) func() noise.Noiser {
	return func() noise.Noiser {
		time.Sleep(pause)
		return noise.Secure()
	}
}

func TestInterruptedPrivateQueriesStayCharged(t *testing.T) {
	// The first statement stays in its noise for longer than its limit, the second until it was
	// killed.
	var second atomic.Bool
	inNoise, killed := make(chan struct{}), make(chan struct{})
	arrives := sync.OnceFunc(func() { close(inNoise) })
	i := startWith(t, "", func() noise.Noiser {
		if !second.Load() {
			time.Sleep(1200 * time.Millisecond)
		} else {
			arrives()
			<-killed
		}
		return noise.Secure()
	})
	release := sync.OnceFunc(func() { close(killed) })
	defer release()
	root := i.root()
	people(t, root, 300)
	ann, twin := i.analyst(root, "ann", "d"), i.client("ann", "pw-ann")
	const failed = "45015"

	ann.refused(1644, failed, "SELECT /*+ MAX_EXECUTION_TIME(5) */ COUNT(*) FROM d.people WHERE age > 21")

	id := ann.value("SELECT CONNECTION_ID()")
	done := make(chan error, 1)
	second.Store(true)
	go func() { _, err := ann.try("SELECT COUNT(*) FROM d.people WHERE age > 22"); done <- err }()
	select {
	case <-inNoise:
	case <-time.After(time.Minute):
		t.Fatal("the statement does not come to its noise")
	}
	twin.exec("KILL QUERY " + id)
	release()
	var e *mysql.MySQLError
	if err := <-done; !errors.As(err, &e) || string(e.SQLState[:]) != failed {
		t.Errorf("got %v for a killed private query, want the fixed error %s", err, failed)
	}
	outcomes := map[string]int{}
	// it is written a little later
	testenv.Until(t, time.Minute, "the outcome of the killed query", func() bool {
		clear(outcomes)
		for _, r := range twin.query("SELECT DISTINCT id, outcome FROM dp.ledger") {
			outcomes[r[1]]++
		}
		return outcomes["cancelled"] > 0
	})
	if outcomes["timeout"] != 1 || outcomes["cancelled"] != 1 {
		t.Errorf("got outcomes %v, want one timeout and one cancelled, both charged", outcomes)
	}
}

// TestConnectionsShareABudget: a budget of (2.154, 2e-6) takes ten charges of ρ = 0.01, and no
// eleventh.
func TestConnectionsShareABudget(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 300)
	root.exec("CREATE USER 'many'@'%' IDENTIFIED BY 'x'", "GRANT SELECT ON d.* TO 'many'@'%'",
		"CALL dp_set_budget('d.people', 'many@%', 2.154, 2e-6, 'never')")
	var answered atomic.Int64
	var wg sync.WaitGroup
	for n := range 64 {
		c := i.client("many", "x")
		wg.Go(func() {
			_, err := c.try(fmt.Sprintf("SELECT /*+ SET_VAR(dp_rho=0.01) */ COUNT(*) FROM d.people WHERE age <> %d", n))
			var e *mysql.MySQLError
			switch {
			case err == nil:
				answered.Add(1)
			case !errors.As(err, &e) || string(e.SQLState[:]) != "45013":
				t.Errorf("got %v, want an answer or the refusal 45013", err)
			}
		})
	}
	wg.Wait()
	if answered.Load() != 10 {
		t.Errorf("64 connections got %d answers from a budget for ten", answered.Load())
	}
}

func TestTLSByFiles(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "scrim"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i := start(t, "", func(c *Config) { c.TLSCert, c.TLSKey, c.RequireTLS = cert, keyFile, true })
	if c, err := i.dial("root", rootPassword); err == nil {
		t.Errorf("got a session in clear: %s", c.value("SELECT 1"))
	}
	tls := func(c *mysql.Config) { c.TLSConfig = "skip-verify" }
	root := i.client("root", rootPassword, tls)
	root.exec("CREATE USER 'sha'@'%' IDENTIFIED WITH caching_sha2_password BY 'pw'", "CREATE USER 'ssl'@'%' IDENTIFIED BY 'pw' REQUIRE SSL")
	if got := i.client("sha", "pw", tls).value("SELECT 1"); got != "1" {
		t.Errorf("caching_sha2_password in TLS: got %s", got)
	}
	if got := i.client("ssl", "pw", tls).value("SELECT 1"); got != "1" {
		t.Errorf("REQUIRE SSL in TLS: got %s", got)
	}
}

func TestMariaDBClient(t *testing.T) {
	tool := testenv.Program(t, "mariadb", "mysql")
	i := start(t, "")
	root := i.root()
	people(t, root, 3000)
	i.analyst(root, "ann", "d")
	host, port, err := net.SplitHostPort(i.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	run := func(query string) string {
		out, err := exec.Command(tool, "--no-defaults", "--comments", "-h", host, "-P", port, "--protocol=tcp", "-uann", "-ppw-ann", "-N", "-B", "d", "-e", query).CombinedOutput()
		if err != nil {
			return "error: " + string(out)
		}
		return string(out)
	}
	var n, cost float64
	if _, err := fmt.Sscan(run("SELECT /*+ SET_VAR(dp_epsilon=4) */ COUNT(*) FROM people"), &n); err != nil || n < 2900 || n > 3100 {
		t.Errorf("got %v, %v, want about 3000", n, err)
	}
	if _, err := fmt.Sscan(run("SELECT spent_epsilon FROM dp.budgets"), &cost); err != nil || cost < 2.5 || cost > 4.01 {
		t.Errorf("got a cost of %v, %v, want the hint's 4 at most, not the default 1", cost, err)
	}
	if got := run("SELECT AVG(h) FROM people"); len(got) < 5 || got[:2] != "1." && got[:2] != "2." {
		t.Errorf("got %q, want a number with decimals", got)
	}
	if got := run("SELECT * FROM people"); !strings.Contains(got, "ERROR 1644 (45002)") {
		t.Errorf("got %q, want the refusal", got)
	}
	if got := run(`\s`); !strings.Contains(got, "Uptime:") || !strings.Contains(got, version.Number) {
		t.Errorf("status: got %q", got)
	}
}

func TestNothingIsKeptOutsideTheStore(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 10)
	root.exec("SET dp_raw = ON")
	for _, q := range []string{
		"CREATE TABLE sys.twin AS SELECT * FROM d.people", "CREATE TABLE performance_schema.twin (x INT)",
		"CREATE TABLE dp.twin (x INT)", "CREATE TABLE information_schema.twin (x INT)", "CREATE TABLE mysql.twin (x INT)",
		"CREATE TEMPORARY TABLE d.twin (x INT)", "CREATE VIEW sys.twin AS SELECT * FROM d.people", "CREATE DATABASE sys", "DROP DATABASE dp",
	} {
		if rows, err := root.try(q); err == nil {
			t.Errorf("%s: got %v, want a refusal", q, rows)
		}
	}
	// What a DBA copies with raw access is undeclared.
	root.exec("CREATE TABLE d.twin AS SELECT * FROM d.people")
	i.analyst(root, "ann", "d").refused(1644, "45001", "SELECT * FROM d.twin")
	root.exec("SET dp_raw = DEFAULT", "SET dp_epsilon = 2", "SET dp_epsilon = DEFAULT")
	root.refused(1644, "45002", "SELECT * FROM d.people")
}
