package engine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"scrim/engine/observe/version"
	"scrim/internal/release"
	"scrim/test/testenv"
)

// withHTTP gives a server a dashboard at a free port.
func withHTTP(c *Config) { c.HTTP = "127.0.0.1:0" }

// web is a browser of the test: it keeps cookies and follows no redirect.
type web struct {
	t      *testing.T
	client *http.Client
	base   string
}

func (i *instance) web() *web {
	jar, _ := cookiejar.New(nil)
	return &web{i.t, &http.Client{
		Jar: jar, Timeout: 2 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, "http://" + i.HTTPAddr().String()}
}

func (w *web) get(path string) (int, string) {
	w.t.Helper()
	r, err := w.client.Get(w.base + path)
	return w.read(r, err)
}

func (w *web) read(r *http.Response, err error) (int, string) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

var formToken = regexp.MustCompile(`name="token" value="([^"]+)"`)

// login fills in the form and returns the status.
func (w *web) login(user, password string) int {
	w.t.Helper()
	_, page := w.get("/login")
	m := formToken.FindStringSubmatch(page)
	if m == nil {
		w.t.Fatalf("no form in %s", page)
	}
	status, _ := w.read(w.client.PostForm(w.base+"/login", url.Values{"token": {m[1]}, "user": {user}, "password": {password}}))
	return status
}

// line returns the value of a metric.
func (w *web) line(name string) string {
	w.t.Helper()
	_, text := w.get("/metrics")
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "none"
}

// auditText is all that the audit log holds.
func (i *instance) auditText() string {
	i.t.Helper()
	files, err := filepath.Glob(filepath.Join(i.place.AuditPath(), "*"))
	if err != nil {
		i.t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			i.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// shopOf makes a protected table with a budget.
func shopOf(root *client) {
	root.exec("CREATE DATABASE shop", "USE shop", "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL, amount DOUBLE)")
	for i := range 40 {
		root.exec(fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, %d)", i, i/2, 777000+i))
	}
	root.exec("CALL dp_protect('shop.orders', 'customer_id', 'customer')", "CALL dp_set_budget('shop.orders', '*', 4, 1e-6, 'month')")
}

func TestDashboardOfAServer(t *testing.T) {
	i := start(t, "", withHTTP)
	root := i.root()
	shopOf(root)
	ann := i.analyst(root, "ann", "shop")
	root.exec("CREATE USER 'otto'@'%' IDENTIFIED BY 'pw-otto'", "GRANT auditor TO 'otto'@'%'")
	root.exec("CREATE USER 'sha'@'%' IDENTIFIED WITH caching_sha2_password BY 'pw-sha'", "GRANT dba TO 'sha'@'%'")
	ann.query("SELECT COUNT(*) FROM shop.orders WHERE amount > 777013.5")
	ann.query("SELECT COUNT(*) FROM shop.orders WHERE amount > 777013.5") // a replay
	ann.refused(1644, "45002", "SELECT amount FROM shop.orders WHERE amount > 777013.5")

	for _, c := range []struct {
		user, password string
		in             bool
	}{
		{"root", rootPassword, true}, {"otto", "pw-otto", true}, {"sha", "pw-sha", true},
		{"root", "wrong", false}, {"ann", "pw-ann", false}, {"nobody", "x", false}, {"sha", "", false}, {"auditor", "", false}, {"dba", "x", false},
	} {
		w := i.web()
		status := w.login(c.user, c.password)
		if page, _ := w.get("/"); (status == http.StatusSeeOther) != c.in || (page == http.StatusOK) != c.in {
			t.Errorf("%s/%s: got %d, then %d", c.user, c.password, status, page)
		}
	}

	w := i.web()
	w.login("root", rootPassword)
	for path, words := range map[string][]string{
		"/":                   {"shop.orders", "ann@%", "RAW_ROWS", "50 % replayed free", "of 1 charged answer in"},
		"/tables/shop.orders": {"customer_id", "ann@%", "RAW_ROWS", "SELECT COUNT"},
		"/analysts/ann@%25":   {"shop.orders", "RAW_ROWS"},
		"/entities/customer":  {"shop.orders"},
		"/ledger":             {"set-budget", "charge"},
		"/refusals":           {"would return or copy rows"},
		"/server":             {version.Number, "Scrim " + release.Version, "Ready", "server's own certificate, which ends", "none that the directory knows of", "free; the data directory has"},
	} {
		status, page := w.get(path)
		for _, word := range words {
			if status != http.StatusOK || !strings.Contains(page, word) {
				t.Errorf("%s: got %d without %q", path, status, word)
			}
		}
		if strings.Contains(page, "777013") {
			t.Errorf("%s shows a literal of a statement", path)
		}
	}

	log := ""
	testenv.Until(t, time.Minute, "the pages in the audit log", func() bool {
		log = i.auditText()
		return strings.Count(log, `"note":"dashboard"`) >= 10
	})
	for _, word := range []string{`"kind":"login"`, `"kind":"login refused"`, `"principal":"otto@%"`, `"note":"dashboard"`} {
		if !strings.Contains(log, word) {
			t.Errorf("the audit log is without %s", word)
		}
	}

	for name, want := range map[string]string{
		`scrim_statements_total{kind="private",outcome="answered"}`:    "2",
		`scrim_refusals_total{cause="RAW_ROWS"}`:                       "1",
		`scrim_releases_total{how="charged"}`:                          "1",
		`scrim_releases_total{how="replayed"}`:                         "1",
		`scrim_ledger_commit_seconds_count`:                            "1",
		`scrim_budget_limit_epsilon{name="shop.orders",scope="table"}`: "4",
		`scrim_ready`: "1",
	} {
		if got := w.line(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if _, text := w.get("/metrics"); strings.Contains(text, "ann") || strings.Contains(text, "777013") {
		t.Error("the metrics name an account or a value")
	}
}

// TestSessionsFollowTheAccount takes away what let somebody in while they look.
func TestSessionsFollowTheAccount(t *testing.T) {
	i := start(t, "", withHTTP)
	root := i.root()
	root.exec("CREATE USER 'otto'@'%' IDENTIFIED BY 'pw-otto'", "GRANT auditor TO 'otto'@'%'")
	for _, change := range []string{
		"REVOKE auditor FROM 'otto'@'%'", "ALTER USER 'otto'@'%' IDENTIFIED BY 'another'", "DROP USER 'otto'@'%'",
	} {
		w := i.web()
		if status := w.login("otto", "pw-otto"); status != http.StatusSeeOther {
			t.Fatalf("before %s: the log-in gives %d", change, status)
		}
		root.exec(change)
		if status, _ := w.get("/"); status == http.StatusOK {
			t.Errorf("after %s the session goes on", change)
		}
		switch {
		case strings.HasPrefix(change, "REVOKE"):
			root.exec("GRANT auditor TO 'otto'@'%'")
		case strings.HasPrefix(change, "ALTER"):
			root.exec("ALTER USER 'otto'@'%' IDENTIFIED BY 'pw-otto'")
		}
	}
}

func TestHealth(t *testing.T) {
	i := start(t, "", withHTTP)
	w := i.web()
	if status, text := w.get("/healthz"); status != 200 || text != "ok\n" {
		t.Errorf("healthz: %d %q", status, text)
	}
	if status, text := w.get("/readyz"); status != 200 || text != "ready\n" {
		t.Errorf("readyz: %d %q", status, text)
	}
	i.monitor.Health.Every = 0
	spill := filepath.Join(i.cfg.DataDir, "spill")
	if err := os.RemoveAll(spill); err != nil {
		t.Fatal(err)
	}
	// root may write where others may not, but not into a file
	if err := os.WriteFile(spill, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, text := w.get("/readyz"); status != 503 || !strings.Contains(text, "cannot be written") {
		t.Errorf("readyz with a disk that does not take files: %d %q", status, text)
	}
	if err := os.Remove(spill); err != nil {
		t.Fatal(err)
	}
	if status, text := w.get("/readyz"); status != 200 {
		t.Errorf("readyz afterwards: %d %q", status, text)
	}
	i.monitor.Stop()
	if status, text := w.get("/readyz"); status != 503 || !strings.Contains(text, "stopping") {
		t.Errorf("readyz while stopping: %d %q", status, text)
	}
	if status, _ := w.get("/healthz"); status != 200 {
		t.Errorf("healthz while stopping: %d", status)
	}
	if got := w.line("scrim_ready"); got != "0" {
		t.Errorf("scrim_ready is %s while stopping", got)
	}
}

func TestReadyWantsALedger(t *testing.T) {
	i := start(t, "", withHTTP)
	w := i.web()
	if err := i.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if status, text := w.get("/readyz"); status != 503 || !strings.Contains(text, "ledger") {
		t.Errorf("readyz: %d %q", status, text)
	}
	if got := w.line("scrim_ledger_up"); got != "0" {
		t.Errorf("scrim_ledger_up is %s", got)
	}
}

func TestDashboardEndsWithTheServer(t *testing.T) {
	i := start(t, "", withHTTP)
	w := i.web()
	i.end()
	if _, err := w.client.Get(w.base + "/healthz"); err == nil {
		t.Error("the dashboard outlives the server")
	}
}

func TestOtherNamesAreRefused(t *testing.T) {
	i := start(t, "", withHTTP)
	for host, want := range map[string]int{
		"localhost": 200, "127.0.0.1:8307": 200, "[::1]:1": 200, "evil.example": 421, "evil.example:8307": 421, "127.0.0.1.evil.example": 421, "10.0.0.1": 421,
	} {
		r, _ := http.NewRequest("GET", "http://"+i.HTTPAddr().String()+"/metrics", nil)
		r.Host = host
		if status, _ := i.web().read(http.DefaultClient.Do(r)); status != want {
			t.Errorf("%s: got %d, want %d", host, status, want)
		}
	}
}

func TestHTTPAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "127.0.0.1:8307": true, "localhost:0": true, "[::1]:8307": true, "127.3.2.1:1": true,
		"0.0.0.0:8307": false, ":8307": false, "192.168.1.5:8307": false, "[::]:8307": false, "db.example:8307": false, "8307": false, "127.0.0.1:http": false,
	} {
		c := DefaultConfig(t.TempDir())
		c.HTTP = address
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("%q: got %v, want ok %v", address, err, ok)
		}
	}
}

// certificateFiles makes a certificate for localhost, and a pool that trusts it.
func certificateFiles(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, roots = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem"), x509.NewCertPool()
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(parsed)
	return cert, key, roots
}

// webOverTLS is a browser that trusts these certificates, and reaches the server as localhost.
func (i *instance) webOverTLS(roots *x509.CertPool) *web {
	w := i.web()
	w.base = "https://localhost" + i.HTTPAddr().String()[strings.LastIndexByte(i.HTTPAddr().String(), ':'):]
	w.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return w
}

// TestDashboardOverTLS looks from beyond the machine, as far as the server knows: /metrics then
// wants a password.
func TestDashboardOverTLS(t *testing.T) {
	cert, key, roots := certificateFiles(t)
	i := start(t, "", func(c *Config) { c.HTTP, c.TLSCert, c.TLSKey = "0.0.0.0:0", cert, key })
	w := i.webOverTLS(roots)
	if status := w.login("root", rootPassword); status != http.StatusSeeOther {
		t.Errorf("the log-in gives %d", status)
	}
	if status, _ := w.get("/"); status != http.StatusOK {
		t.Errorf("/ gives %d", status)
	}
	if _, page := w.get("/server"); !strings.Contains(page, "TLS 1.3, TLS_") || !strings.Contains(page, "with the operator&#39;s certificate, which ends") && !strings.Contains(page, "with the operator's certificate, which ends") {
		t.Error("the page of the server does not say how it is served")
	}
	target, _ := url.Parse(w.base)
	for _, c := range w.client.Jar.Cookies(target) {
		if !strings.HasPrefix(c.Name, "__Host-") {
			t.Errorf("the cookie is called %s", c.Name)
		}
	}
	if status, _ := w.get("/metrics"); status != http.StatusUnauthorized {
		t.Errorf("/metrics without a password gives %d", status)
	}
	r, _ := http.NewRequestWithContext(context.Background(), "GET", w.base+"/metrics", nil)
	r.SetBasicAuth("root", rootPassword)
	if status, text := w.read(w.client.Do(r)); status != http.StatusOK || !strings.Contains(text, "scrim_info") {
		t.Errorf("/metrics with a password gives %d", status)
	}
	if status, _ := w.get("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz gives %d", status)
	}
	inClear := "http://" + strings.TrimPrefix(w.base, "https://") + "/"
	if _, err := http.Get(inClear); err == nil {
		if status, _ := w.read(http.Get(inClear)); status != http.StatusBadRequest {
			t.Errorf("in clear: %d", status)
		}
	}
}

// TestHealthIsAnsweredWhateverIsOpen: connections of one address that fill the port, whatever they
// have sent, keep neither its own questions for health waiting nor what others ask. A port that
// takes 128 at a time and lets the others wait is through with these after 40 s at the earliest: as
// long as it waits for a head, a body or a next request.
func TestHealthIsAnsweredWhateverIsOpen(t *testing.T) {
	const many, patience = 1000, 30 * time.Second
	for name, says := range map[string]string{
		"nothing":     "",
		"half a head": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
		"half a body": "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nuser=",
		"a request":   "GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			i := start(t, "", withHTTP)
			address := i.HTTPAddr().String()
			for range many {
				c, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				_, _ = io.WriteString(c, says)
			}
			for _, path := range []string{"/healthz", "/readyz"} {
				c := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
				r, err := c.Get("http://" + address + path)
				if err != nil {
					t.Fatalf("%s beside %d connections: %v", path, many, err)
				}
				if r.Body.Close(); r.StatusCode != http.StatusOK {
					t.Errorf("%s beside %d connections: %s", path, many, r.Status)
				}
			}
			other := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
			c := http.Client{Timeout: patience, Transport: &http.Transport{DialContext: other.DialContext, DisableKeepAlives: true}}
			r, err := c.Get("http://" + address + "/login")
			if err != nil {
				t.Fatalf("another address beside %d connections: %v", many, err)
			}
			if r.Body.Close(); r.StatusCode != http.StatusOK {
				t.Errorf("another address beside %d connections: %s", many, r.Status)
			}
		})
	}
}
