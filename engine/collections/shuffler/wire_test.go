package shuffler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
)

// listening is a shuffler with a listener, a fake server behind it, and its log.
type listening struct {
	world
	server *Server
	log    *strings.Builder
}

func listen(t testing.TB) listening { return listenFor(t, declaredSum) }

func listenFor(t testing.TB, d collect.Declaration) listening {
	t.Helper()
	p, _ := paramsOf(t, "survey.commute", testUUID, collect.ShufSum, d, "")
	c := DefaultConfig()
	c.DataDir, c.Listen, c.OperatorPassword = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", "a secret"
	c.ContributeListen, c.ContributeOrigins = "127.0.0.1:0", "https://survey.example.org"
	var log strings.Builder
	c.Logger = zerolog.New(&log).Level(zerolog.WarnLevel)
	w := world{t: t, up: newFake(p), dir: c.DataDir, p: p}
	w = w.start(func(o *Options) { o.Logger = zerolog.New(&log) })
	server := &Server{Shuffler: w.Shuffler, config: c}
	must(t, server.open(context.Background()))
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-served })
	w.pin(p)
	return listening{w, server, &log}
}

// open opens a pool of connections.
func (l listening) open(user, password, options string) *sql.DB {
	l.t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s", user, password, l.server.Addr(), options))
	must(l.t, err)
	l.t.Cleanup(func() { db.Close() })
	return db
}

// wantState checks the number and the SQLSTATE of an error.
func wantState(t testing.TB, what string, err error, number uint16, state string) {
	t.Helper()
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != number || string(e.SQLState[:]) != state {
		t.Errorf("%s: got %v, want %d (%s)", what, err, number, state)
	}
}

func TestBundlesOverTheWire(t *testing.T) {
	l := listen(t)
	tokens := l.issue(10)
	i := 0
	for name, options := range map[string]string{
		"prepared": "", "text": "?interpolateParams=true", "with a database": "shuffler", "in TLS": "?tls=skip-verify", "with settings": "?charset=utf8mb4&autocommit=1&sql_mode=ANSI",
	} {
		db := l.open(Contributor, "", options)
		var fingerprint []byte
		print := l.p.Fingerprint()
		if err := db.QueryRow("SELECT fingerprint FROM pins WHERE fingerprint = ?", print[:]).Scan(&fingerprint); err != nil || [32]byte(fingerprint) != print {
			t.Errorf("%s: pinned %x, %v", name, fingerprint, err)
		}
		var id string
		if err := db.QueryRow("SELECT shuffler FROM pins WHERE fingerprint = ?", print[:]).Scan(&id); err != nil || len(id) != 32 || id == strings.Repeat("0", 32) {
			t.Errorf("%s: the shuffler is %q, %v", name, id, err)
		}
		if err := db.QueryRow("SELECT fingerprint FROM pins WHERE fingerprint = ?", make([]byte, 32)).Scan(&fingerprint); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("%s: an unpinned fingerprint: %v", name, err)
		}
		for range 2 {
			_, err := db.Exec("INSERT INTO inbox (token, bundle) VALUES (?, ?)", tokens[i].Secret[:], bundleOf(l.p, uint64(i)))
			must(t, err)
		}
		_, err := db.Exec("INSERT INTO inbox (bundle, token) VALUES (?, ?)", bundleOf(l.p, 99), tokens[i].Secret[:])
		wantState(t, name, err, refuse.MySQLErrno, "45D22")
		i++
	}
	db := l.open(Contributor, "", "")
	for _, form := range []string{"(X'%x', X'%x')", "(UNHEX('%x'), 0x%x)", "(_binary X'%x', UNHEX('%x'))"} {
		_, err := db.Exec(fmt.Sprintf("insert into `inbox` values "+form+";", tokens[i].Secret, bundleOf(l.p, uint64(i))))
		must(t, err)
		i++
	}
	equal(t, "reports", l.wait(1, Open).Reports, 8)
	_, err := db.Exec("INSERT INTO inbox VALUES (?, ?)", randomToken(), bundleOf(l.p, 1))
	wantState(t, "unknown token", err, refuse.MySQLErrno, "45D21")
	_, err = db.Exec("INSERT INTO inbox VALUES (?, ?)", tokens[9].Secret[:], make([]byte, 8192))
	wantState(t, "8 kB", err, refuse.MySQLErrno, "45D24")
	_, err = db.Exec("INSERT INTO inbox VALUES (?, NULL)", tokens[9].Secret[:])
	wantState(t, "NULL", err, mysqlBadNull, "23000")
}

const mysqlBadNull = 1048

// TestWhatConnectorsSend has statements that clients send of their own accord.
func TestWhatConnectorsSend(t *testing.T) {
	db := listen(t).open(Contributor, "", "")
	for _, text := range []string{
		"SET NAMES utf8mb4", "SET AUTOCOMMIT = 0", "SET character_set_results = NULL", "SET sql_mode='STRICT_TRANS_TABLES'", "START TRANSACTION", "COMMIT", "ROLLBACK",
		"USE anything", "select @@version_comment limit 1", "SELECT 1", "SELECT VERSION(), CONNECTION_ID(), USER(), DATABASE()", "SHOW WARNINGS", "SHOW VARIABLES",
		"/* mysql-connector-j-9.1.0 */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, " +
			"@@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, " +
			"@@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, " +
			"@@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, " +
			"@@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, " +
			"@@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
	} {
		rows, err := db.Query(text)
		if err != nil {
			t.Errorf("%.60s: %v", text, err)
			continue
		}
		for rows.Next() {
		}
		must(t, rows.Err())
		rows.Close()
	}
}

// TestOnlyTheInboxAndPins has statements that a shuffler refuses.
func TestOnlyTheInboxAndPins(t *testing.T) {
	l := listen(t)
	db := l.open(Contributor, "", "")
	for _, text := range []string{
		"DROP TABLE inbox", "DELETE FROM inbox", "SELECT token FROM pins", "SELECT * FROM inbox", "SELECT * FROM batches", "SELECT LOAD_FILE('/etc/passwd')", "SELECT SLEEP(1)",
		"CALL shuffle_close('commute', NULL, NULL, NULL, 1, 0)", "CALL shuffle_tokens('commute', 5, NULL, NULL)", "INSERT INTO pins VALUES (1, 2)",
		"REPLACE INTO inbox VALUES ('a', 'b')", "INSERT IGNORE INTO inbox VALUES ('a', 'b')", "INSERT INTO inbox SELECT * FROM pins", "nonsense", "",
		"SELECT 1 FROM pins JOIN pins", "INSERT INTO inbox VALUES ('a','b'), ('c','d')", "SELECT 1; SELECT 2", "INSERT INTO inbox VALUES ('a', 'b'); SELECT 1", "INSERT INTO inbox (a, b, c) VALUES (1, 2)", "SELECT fingerprint FROM pins WHERE fingerprint > ''",
	} {
		if rows, err := db.Query(text); err == nil {
			rows.Close()
			t.Errorf("%q is answered", text)
		}
	}
	for _, c := range [][2]string{{Contributor, "x"}, {Operator, ""}, {Operator, "wrong"}, {"root", ""}, {"", ""}, {"nobody", "x"}} {
		err := l.open(c[0], c[1], "").Ping()
		wantState(t, c[0], err, 1045, "28000")
		err = l.open(c[0], c[1], "?allowNativePasswords=true&tls=skip-verify").Ping()
		wantState(t, c[0]+" in TLS", err, 1045, "28000")
	}
	db = l.open(Operator, "a secret", "")
	var state string
	must(t, db.QueryRow("SELECT state FROM batches").Scan(&state))
	equal(t, "state", state, string(Open))
}

// TestTheLogTellsNothingOfContributors looks for tokens, addresses and times finer than batches in
// the log.
func TestTheLogTellsNothingOfContributors(t *testing.T) {
	l := listen(t)
	tokens := l.issue(80)
	db := l.open(Contributor, "", "")
	for i, tk := range tokens {
		_, err := db.Exec("INSERT INTO inbox VALUES (?, ?)", tk.Secret[:], bundleOf(l.p, uint64(i)))
		must(t, err)
	}
	_, err := db.Exec("INSERT INTO inbox VALUES (?, ?)", tokens[0].Secret[:], bundleOf(l.p, 999))
	wantState(t, "spent", err, refuse.MySQLErrno, "45D22")
	op := l.open(Operator, "a secret", "")
	rows, err := op.Query("CALL shuffle_close('commute', NULL, NULL, NULL, 0, 0)")
	must(t, err)
	must(t, rows.Close())
	l.wait(1, Acknowledged)
	l.gone()
	must(t, l.Close())
	text := l.log.String()
	if lines := strings.Count(text, "\n"); lines != 2 {
		t.Errorf("%d lines, want those of the batch's closing and release:\n%s", lines, text)
	}
	for _, word := range []string{"127.0.0.1", fmt.Sprintf("%x", tokens[0].Secret), "INSERT"} {
		if strings.Contains(text, word) {
			t.Errorf("the log has %q", word)
		}
	}
}

// BenchmarkAccept sends bundles of nine messages from 64 pooled connections, clients and shuffler
// in one process. An operation is one bundle, durable.
func BenchmarkAccept(b *testing.B) {
	d := declaredSum
	d.Expected, d.Delta = 100_000, 1e-9
	l := listenFor(b, d)
	db := l.open(Contributor, "", "")
	db.SetMaxOpenConns(64)
	db.SetMaxIdleConns(64)
	insert, err := db.Prepare("INSERT INTO inbox VALUES (?, ?)")
	must(b, err)
	defer insert.Close()
	tokens := l.issue(b.N)
	queue := make(chan int, b.N)
	for i := range tokens {
		queue <- i
	}
	close(queue)
	b.ResetTimer()
	start := time.Now()
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := range queue {
				if _, err := insert.Exec(tokens[i].Secret[:], bundleOf(l.p, uint64(i))); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "bundles/s")
}
