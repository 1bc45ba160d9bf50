package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

var consoleToken = regexp.MustCompile(`data-token="([^"]+)"`)

// console is a browser that is logged in to the console.
type console struct {
	*web
	token string
}

// consoleLogin fills in the form of the console and returns the status of the answer.
func (w *web) consoleLogin(user, password string) (status int, page string) {
	w.t.Helper()
	_, page = w.get("/console/login")
	m := formToken.FindStringSubmatch(page)
	if m == nil {
		w.t.Fatalf("no form in %s", page)
	}
	return w.read(w.client.PostForm(w.base+"/console/login", url.Values{"token": {m[1]}, "user": {user}, "password": {password}}))
}

func (i *instance) console(user, password string) *console {
	i.t.Helper()
	w := i.web()
	if status, page := w.consoleLogin(user, password); status != http.StatusSeeOther {
		i.t.Fatalf("%s: got %d %s", user, status, page)
	}
	_, page := w.get("/console")
	m := consoleToken.FindStringSubmatch(page)
	if m == nil {
		i.t.Fatalf("no token in %s", page)
	}
	return &console{w, m[1]}
}

// call calls one of the console's functions and returns its status and answer.
func (c *console) call(name, sql string) (int, string) {
	c.t.Helper()
	return c.callIn("shop", name, sql)
}

// callIn is call with a database of its own.
func (c *console) callIn(database, name, sql string) (int, string) {
	c.t.Helper()
	body, _ := json.Marshal(map[string]any{"sql": sql, "database": database, "intervals": true})
	r, _ := http.NewRequest("POST", c.base+"/console/api/"+name, bytes.NewReader(body))
	r.Header.Set("X-Scrim-Token", c.token)
	return c.read(c.client.Do(r))
}

func TestConsoleAsksAsAnyClient(t *testing.T) {
	i := start(t, "", withHTTP)
	root := i.root()
	shopOf(root)
	ann := i.analyst(root, "ann", "shop")
	i.analyst(root, "bob", "shop").query("SELECT COUNT(*) FROM shop.orders WHERE amount < 777003.5")
	root.exec("CREATE TABLE shop.places (name VARCHAR(20), n INT)", "INSERT INTO shop.places VALUES ('north', 1), ('south', 2)", "CALL dp_public('shop.places')",
		"CREATE TABLE shop.raw (a INT)", "CALL dp_set_budget('shop.orders', 'ann@%', 3, 1e-6, 'month')")
	c := i.console("ann", "pw-ann")

	status, text := c.call("run", "SELECT COUNT(*) AS n FROM orders WHERE amount > 777013.5;")
	if status != http.StatusOK || !strings.Contains(text, "Cost: epsilon") || !strings.Contains(text, "question") {
		t.Errorf("a private answer: %d %s", status, text)
	}
	if n := ann.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"); n != "1" {
		t.Errorf("the ledger has %s charges of ann's, want 1", n)
	}
	if _, text := c.call("run", "SELECT COUNT(*) AS n FROM orders WHERE amount > 777013.5"); !strings.Contains(text, "Cost: nothing; a stored answer, that of entry") {
		t.Errorf("a replay: %s", text)
	}
	for name, words := range map[string][]string{
		"budget": {"shop.orders", "ann@%"}, "history": {"SELECT COUNT", "amount \\u003e ?"}, "names": {"amount", "places", "protected", "DP_MEAN"},
	} {
		status, text := c.call(name, "")
		for _, word := range words {
			if status != http.StatusOK || !strings.Contains(text, word) {
				t.Errorf("%s: %d lacks %q: %s", name, status, word, text)
			}
		}
		if strings.Contains(text, "bob@") || strings.Contains(text, "amount < ") {
			t.Errorf("%s tells of another account: %s", name, text)
		}
	}
	for _, name := range []string{"price", "explain"} {
		if status, text := c.call(name, "SELECT SUM(amount) FROM orders"); status != http.StatusOK || !strings.Contains(text, "orders") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if n := ann.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"); n != "1" {
		t.Errorf("prices and plans were charged: %s", n)
	}
	if _, text := c.call("run", "SELECT name, n FROM places ORDER BY name"); !strings.Contains(text, `["north","1"]`) || strings.Contains(text, `"ends":[`) {
		t.Errorf("public rows: %s", text)
	}
	for query, want := range map[string]string{
		"SELECT amount FROM orders": "45002",
		"SELECT * FROM raw":         "",
		"SET dp_raw = ON":           "",
		"DROP TABLE orders":         "",
		"CALL dp_set_budget('shop.orders', '*', 99, 0, 'day')": "",
		"SELECT 1; SELECT 2": "one statement at a time",
		`\budget`:            "shell",
		"":                   "no statement",
	} {
		status, text := c.call("run", query)
		if !strings.Contains(text, `"message"`) || strings.Contains(text, `"table"`) || !strings.Contains(text, want) || strings.Contains(text, "777") {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if text := i.fullAudit(); !strings.Contains(text, `"kind":"login","connection"`) && !strings.Contains(text, "ann@%") || !strings.Contains(text, "DROP TABLE") {
		t.Error("the audit log lacks what the console asked")
	}
}

func TestConsoleKeepsItsSessions(t *testing.T) {
	i := start(t, "", withHTTP)
	root := i.root()
	shopOf(root)
	i.analyst(root, "ann", "shop")
	root.exec("CREATE USER 'far'@'10.1.2.3' IDENTIFIED BY 'pw-far'", "CREATE USER 'tls'@'%' IDENTIFIED BY 'pw-tls' REQUIRE SSL")
	for _, who := range [][2]string{{"ann", "wrong"}, {"nobody", "x"}, {"far", "pw-far"}, {"tls", "pw-tls"}, {"ann", ""}} {
		w := i.web()
		if status, page := w.consoleLogin(who[0], who[1]); status != http.StatusForbidden || !strings.Contains(page, "Access denied") {
			t.Errorf("%v: got %d %s", who, status, page)
		}
		if status, _ := w.get("/console"); status != http.StatusSeeOther {
			t.Errorf("%v: the console shows itself: %d", who, status)
		}
	}
	c := i.console("ann", "pw-ann")
	for _, path := range []string{"/", "/tables", "/ledger", "/analysts", "/server", "/refusals"} {
		if status, _ := c.get(path); status != http.StatusSeeOther {
			t.Errorf("an analyst of the console sees %s of the dashboard: %d", path, status)
		}
	}
	stranger := &console{i.web(), c.token}
	if status, text := stranger.call("run", "SELECT 1"); status != http.StatusUnauthorized {
		t.Errorf("without a session: %d %s", status, text)
	}
	forged := &console{c.web, "forged"}
	if status, text := forged.call("run", "SELECT 1"); status != http.StatusForbidden {
		t.Errorf("without the token: %d %s", status, text)
	}
	r, _ := http.NewRequest("POST", c.base+"/console/api/run", strings.NewReader(`{"sql": "SELECT 1"}`))
	r.Header.Set("X-Scrim-Token", c.token)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, _ := c.read(c.client.Do(r)); status != http.StatusForbidden {
		t.Errorf("another site's call: %d", status)
	}
	if status, _ := c.get("/console/api/run"); status == http.StatusOK {
		t.Error("a link runs a statement")
	}
	if status, text := c.call("run", strings.Repeat("x", 1<<20)); status != http.StatusBadRequest {
		t.Errorf("a call of more than 1 MiB: %d %.80s", status, text)
	}
	if n := root.value("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'ann'"); n != "3" { // two, and the test's own
		t.Errorf("the session has %s connections with the test's own", n)
	}
	_, page := c.get("/console")
	m := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(page)
	if status, _ := c.read(c.client.PostForm(c.base+"/console/logout", url.Values{"token": {m[1]}})); status != http.StatusSeeOther {
		t.Errorf("log-out: %d", status)
	}
	if status, _ := c.call("run", "SELECT 1"); status != http.StatusUnauthorized {
		t.Errorf("after the log-out: %d", status)
	}
	ended := i.console("ann", "pw-ann")
	root.exec("DROP USER 'ann'@'%'")
	if status, text := ended.call("run", "SELECT COUNT(*) FROM orders"); status == http.StatusOK && !strings.Contains(text, "message") {
		t.Errorf("a dropped account: %d %s", status, text)
	}
}

func TestConsoleBoundsAndEnds(t *testing.T) {
	i := start(t, "", withHTTP)
	root := i.root()
	shopOf(root)
	root.exec("CREATE TABLE shop.many (n INT)")
	for range 3 {
		root.exec("INSERT INTO shop.many VALUES (1)" + strings.Repeat(", (1)", 999))
	}
	c := i.console("root", rootPassword)
	var a struct {
		Table struct {
			Rows [][]any
			Cut  bool
		}
	}
	status, text := c.call("run", "SELECT n FROM many")
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK || len(a.Table.Rows) != 2000 || !a.Table.Cut {
		t.Errorf("of 3000 rows: %d, %d rows, cut %v, %v %.200s", status, len(a.Table.Rows), a.Table.Cut, err, text)
	}
	begun := time.Now()
	slow := &console{&web{t, &http.Client{Jar: c.client.Jar, Timeout: time.Second}, c.base}, c.token}
	body := fmt.Sprintf(`{"sql": "SELECT SLEEP(%d)"}`, 600)
	r, _ := http.NewRequest("POST", c.base+"/console/api/run", strings.NewReader(body))
	r.Header.Set("X-Scrim-Token", c.token)
	if answer, err := slow.client.Do(r); err == nil {
		t.Fatalf("SLEEP(600) was answered: %d", answer.StatusCode)
	}
	for {
		status, text := c.call("run", "SELECT 7 AS n")
		if status == http.StatusOK && strings.Contains(text, `"7"`) {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("what the browser has left still runs: %d %s", status, text)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// TestConsoleOverTLS: the console is served in TLS as the dashboard is, its cookies are for this
// host in TLS only, and its statements reach the server in TLS: an account that has to use it may.
func TestConsoleOverTLS(t *testing.T) {
	cert, key, roots := certificateFiles(t)
	i := start(t, "", func(c *Config) { c.HTTP, c.TLSCert, c.TLSKey, c.RequireTLS = "0.0.0.0:0", cert, key, true })
	root := i.client("root", rootPassword, func(c *mysql.Config) { c.TLSConfig = "skip-verify" })
	root.exec("CREATE USER 'ann'@'%' IDENTIFIED BY 'pw-ann' REQUIRE SSL")
	c := &console{i.webOverTLS(roots), ""}
	if status, page := c.consoleLogin("ann", "pw-ann"); status != http.StatusSeeOther {
		t.Fatalf("the log-in: %d %s", status, page)
	}
	target, _ := url.Parse(c.base)
	if cookies := c.client.Jar.Cookies(target); len(cookies) == 0 || !strings.HasPrefix(cookies[0].Name, "__Host-") {
		t.Errorf("the cookies are %v", cookies)
	}
	_, page := c.get("/console")
	m := consoleToken.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no token in %s", page)
	}
	c.token = m[1]
	if status, text := c.callIn("information_schema", "run", "SELECT 6 * 7 AS n"); status != http.StatusOK || !strings.Contains(text, `"42"`) {
		t.Errorf("a statement: %d %s", status, text)
	}
}
