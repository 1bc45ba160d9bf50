package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/go-sql-driver/mysql"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/session"
)

// over checks that an open connection reads nothing any more: it has been closed, or is refused.
func (c *client) over() {
	c.t.Helper()
	for _, q := range []string{"SELECT 1", "SELECT * FROM d.people LIMIT 1", "SELECT * FROM dp.ledger", "SHOW GRANTS", "ALTER USER ex IDENTIFIED BY 'stolen'"} {
		if rows, err := c.try(q); err == nil {
			c.t.Errorf("a connection of a dropped account: %s: %v", q, rows)
		}
	}
}

// TestADroppedAccountIsOver: the next account of a name gets neither the connections nor the
// ledger's entries nor the stored answers of the one before, and no fresh budget.
func TestADroppedAccountIsOver(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	const (
		asked = "SELECT COUNT(*) FROM d.people WHERE age < 40"
		other = "SELECT COUNT(*) FROM d.people WHERE age < 30"
	)
	spent := func(c *client) string {
		return c.value("SELECT spent_rho FROM dp.budgets WHERE principal = 'ex@%' AND account = 'd.people'")
	}
	ex, idle, begun := i.analyst(root, "ex", "d"), i.client("ex", "pw-ex"), i.client("ex", "pw-ex")
	ex.exec("SET dp_epsilon = 1")
	answer := pays(ex, root, asked)
	free(ex, root, answer, asked)
	prepared, err := idle.conn.PrepareContext(t.Context(), "SELECT id FROM d.people LIMIT 1")
	if err != nil {
		t.Fatal(err)
	}
	begun.exec("START TRANSACTION", "PREPARE raw FROM 'SELECT id FROM d.people LIMIT 1'")
	before := spent(ex)
	root.exec("GRANT auditor TO ex")

	root.exec("DROP USER ex", "CREATE USER ex IDENTIFIED BY 'pw-ex'", "GRANT SELECT ON d.* TO ex")
	for _, c := range []*client{ex, idle, begun} {
		c.over()
	}
	if rows, err := prepared.QueryContext(t.Context()); err == nil {
		rows.Close()
		t.Error("a prepared statement of a dropped account is run")
	}
	if n := root.value("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'ex' AND command <> 'Sleep'"); n != "0" {
		t.Errorf("%s connections of the dropped account go on", n)
	}
	ex = i.client("ex", "pw-ex")
	ex.exec("SET dp_epsilon = 1")
	for _, table := range []string{"dp.ledger", "dp.replays", "dp.last_cost"} {
		if rows := ex.query("SELECT * FROM " + table + " WHERE id > 0"); len(rows) > 0 {
			t.Errorf("the next account sees in %s %v", table, rows)
		}
	}
	if got := ex.value("SELECT roles FROM dp.accounts"); got != "NULL" {
		t.Errorf("the next account has the roles %s", got)
	}
	if n := ex.value("SELECT COUNT(*) FROM dp.ledger"); n != "0" {
		t.Errorf("the next account counts %s entries", n)
	}
	if got := spent(ex); got != before {
		t.Errorf("the next account has spent %s, the one before %s", got, before)
	}
	own := pays(ex, root, asked)
	pays(ex, root, other)
	free(ex, root, own, asked)
	if got := ex.value("SELECT COUNT(DISTINCT statement) FROM dp.ledger WHERE entry = 'charge'") + ex.value("SELECT COUNT(*) > 0 FROM dp.replays"); got != "11" {
		t.Errorf("the next account does not see its own entries: %s", got)
	}
	if got := root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE principal = 'ex@%' AND entry = 'charge'"); got != "3" {
		t.Errorf("a DBA sees %s charges of both accounts, want 3", got)
	}

	// What does not make an account leaves it as it is, its connections too.
	root.exec("CREATE USER IF NOT EXISTS ex IDENTIFIED BY 'pw-2'", "ALTER USER ex IDENTIFIED BY 'pw-3'", "ALTER USER ex WITH MAX_USER_CONNECTIONS 5",
		"DROP USER IF EXISTS nobody", "CREATE ROLE ex2", "DROP ROLE ex2")
	for _, q := range []string{"CREATE OR REPLACE USER ex IDENTIFIED BY 'x'", "RENAME USER ex TO ey", "DROP USER ex@localhost", "CREATE USER ex IDENTIFIED BY 'x'"} {
		if _, err := root.try(q); err == nil {
			t.Errorf("done: %s", q)
		}
	}
	free(ex, root, own, asked)
	ex.exec("ALTER USER ex IDENTIFIED BY 'pw-4'")
	free(ex, root, own, asked)
	root.exec("CREATE USER hash IDENTIFIED WITH mysql_native_password AS '*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9'")
	if id := auth.Named(i.analyzer.Catalog.MySQLDb, "hash@%").Identity; !strings.HasPrefix(id, " ") {
		t.Errorf("a client has given the identity %q", id)
	}
	i.end()
	i = start(t, dir)
	root, ex = i.root(), i.client("ex", "pw-4")
	ex.exec("SET dp_epsilon = 1")
	free(ex, root, own, asked)
	if got := ex.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"); got != "2" {
		t.Errorf("after a restart the account sees %s charges, want 2", got)
	}

	// The first account of a server has none of what later ones have, and ends as they do.
	root.exec("CREATE USER boss IDENTIFIED BY 'pw-boss'", "GRANT dba TO boss")
	boss := i.client("boss", "pw-boss")
	boss.exec("DROP USER root", "CREATE USER root IDENTIFIED BY '"+rootPassword+"'", "GRANT dba TO root")
	root.over()
	// A DBA who drops themselves is answered, and is nobody then.
	boss.exec("DROP USER boss")
	boss.refused(1045, "28000", "CREATE USER boss IDENTIFIED BY 'x'")
	i.root().exec("CREATE USER boss IDENTIFIED BY 'x'")
	boss.refused(1045, "28000", "SELECT 1")
}

// TestNoConnectionOutlivesItsAccount: connections that ask in a loop while their account is
// dropped, made anew and made a DBA's read no row and change no account.
func TestNoConnectionOutlivesItsAccount(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 60)
	root.exec("CREATE USER ex IDENTIFIED BY 'pw-0'", "GRANT SELECT ON d.* TO ex")
	var (
		doors    sync.RWMutex
		password = "pw-0" // "" while the account is another one's: nobody fails to log in
		stop     atomic.Bool
		asked    atomic.Int64
		all      sync.WaitGroup
	)
	enter := func() *client {
		doors.RLock()
		defer doors.RUnlock()
		if password == "" {
			return nil
		}
		return i.client("ex", password)
	}
	for n := range 6 {
		queries := [][]string{
			{"SET dp_raw = ON", "SELECT id, age FROM d.people LIMIT 1"},
			{"CREATE USER mine IDENTIFIED BY 'mine'", "SELECT id FROM d.people LIMIT 1"},
			{"SELECT principal FROM dp.ledger WHERE principal <> 'ex@%'", "GRANT dba TO ex"},
		}[n%3]
		all.Go(func() {
			for !stop.Load() {
				c := enter()
				for c != nil && !stop.Load() {
					asked.Add(1)
					for _, q := range queries {
						rows, err := c.try(q)
						var refused *mysql.MySQLError
						switch {
						case err == nil && len(rows) == 0 && strings.Contains(q, "ledger"): // its own, of which there are none
						case err == nil:
							t.Errorf("a connection of an analyst, or of a dropped one: %s: %v", q, rows)
						case !errors.As(err, &refused): // it has ended
							c.conn.Close()
							c = nil
						}
						if c == nil {
							break
						}
					}
				}
			}
		})
	}
	for round := range 12 {
		for before := asked.Load(); asked.Load() < before+20 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		doors.Lock()
		password = ""
		doors.Unlock()
		root.exec("DROP USER ex", fmt.Sprintf("CREATE USER ex IDENTIFIED BY 'secret-%d'", round), "GRANT dba TO ex")
		owner := i.client("ex", fmt.Sprintf("secret-%d", round))
		owner.exec("SET dp_raw = ON")
		if got := owner.value("SELECT COUNT(*) FROM d.people"); got != "60" {
			t.Errorf("the new account reads %s rows", got)
		}
		doors.Lock()
		password = fmt.Sprintf("pw-%d", round+1)
		root.exec("DROP USER ex", "CREATE USER ex IDENTIFIED BY '"+password+"'", "GRANT SELECT ON d.* TO ex")
		doors.Unlock()
	}
	stop.Store(true)
	all.Wait()
	if auth.Named(i.analyzer.Catalog.MySQLDb, "mine@%") != nil {
		t.Error("an account was made")
	}
}

// TestANameWaitsForItsStatements: while a statement of a dropped account runs, no account of its
// name is made.
func TestANameWaitsForItsStatements(t *testing.T) {
	i := start(t, "")
	root, second := i.root(), i.root()
	root.exec("CREATE USER ex IDENTIFIED BY 'x'")
	grants := i.analyzer.Catalog.MySQLDb
	own := session.New(sql.NewBaseSessionWithClientServer("test", sql.Client{User: "ex", Address: "%"}, 0), i.sessions)
	own.Identity = auth.Named(grants, "ex@%").Identity
	if err := own.CommandBegin(); err != nil {
		t.Fatal(err)
	}
	root.exec("DROP USER ex")
	made := make(chan error, 1)
	go func() {
		_, err := second.conn.ExecContext(context.Background(), "CREATE USER ex IDENTIFIED BY 'y'")
		made <- err
	}()
	for root.value("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'CREATE USER%'") == "0" && len(made) == 0 {
		time.Sleep(time.Millisecond)
	}
	if len(made) > 0 || auth.Named(grants, "ex@%") != nil {
		t.Error("an account was made while a statement of the one before ran")
	}
	own.CommandEnd()
	if err := <-made; err != nil {
		t.Error(err)
	}
	if err := own.CommandBegin(); err == nil || !strings.Contains(err.Error(), "has been dropped") {
		t.Errorf("the session of the dropped account gets %v", err)
	}
	root.exec("DROP USER ex", "CREATE USER ex IDENTIFIED BY 'z'")
}

// TestSchedulesEndWithTheirAccount: the next account of the name has not set them.
func TestSchedulesEndWithTheirAccount(t *testing.T) {
	i, root, due := scheduledShop(t)
	remade := []string{"CREATE USER dan IDENTIFIED BY 'pw-dan'", "GRANT dba TO dan"}
	root.exec(remade...)
	i.client("dan", "pw-dan").exec("CALL dp_schedule('shop.sales', 'daily')")
	root.moreOrders(1)
	i.turn(t.Context(), due(1))
	if got := root.outcome(); got != "done" {
		t.Fatalf("outcome %s", got)
	}
	root.exec("DROP USER dan")
	root.exec(remade...)
	root.moreOrders(2)
	charges := root.viewCharges()
	i.turn(t.Context(), due(2))
	if got := root.outcome(); !strings.Contains(got, "was dropped or locked") || root.viewCharges() != charges {
		t.Errorf("outcome %s, charges %s to %s", got, charges, root.viewCharges())
	}
}

// TestBrowsersEndWithTheirAccount: the dashboard's cookie of a dropped DBA opens nothing for the
// next account of the name, even with the same password, and neither does the console's.
func TestBrowsersEndWithTheirAccount(t *testing.T) {
	i := start(t, "", withHTTP)
	root := i.root()
	remade := []string{"CREATE USER dora IDENTIFIED BY 'pw-dora'", "GRANT dba TO dora"}
	root.exec(remade...)
	w := i.web()
	w.login("dora", "pw-dora")
	if status, body := w.get("/"); status != 200 || !strings.Contains(body, "dora") {
		t.Fatalf("got %d before", status)
	}
	c := i.console("dora", "pw-dora")
	if status, body := c.callIn("dp", "run", "SELECT COUNT(*) AS n FROM budgets"); status != 200 || strings.Contains(body, "error") {
		t.Fatalf("the console answers %d: %s", status, body)
	}
	root.exec("DROP USER dora")
	root.exec(remade...)
	if _, body := c.callIn("dp", "run", "SELECT COUNT(*) AS n FROM budgets"); strings.Contains(body, `"rows"`) {
		t.Errorf("the console of a dropped account answers %s", body)
	}
	if status, _ := w.get("/"); status == 200 {
		t.Error("the cookie of a dropped account opens the dashboard")
	}
}
