package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/engine/watch"
)

func TestPagesNeedALogin(t *testing.T) {
	f := newFixture(t, true)
	c := f.browser()
	for _, p := range append(slices.Clone(pagesOfFixture), struct{ name, path string }{"nothing", "/nothing"}) {
		status, page, h := f.get(c, p.path)
		if status != http.StatusSeeOther || h.Get("Location") != "/login" || strings.Contains(page, "shop.") {
			t.Errorf("%s: got %d to %q", p.path, status, h.Get("Location"))
		}
		r, _ := http.NewRequest("GET", f.web.URL+p.path, nil)
		r.Header.Set("X-Refresh", "1")
		answer, err := c.Do(r)
		f.must(err)
		if status, _, _ := f.read(answer); status != http.StatusUnauthorized {
			t.Errorf("%s: a refresh gets %d", p.path, status)
		}
	}
}

func TestLogin(t *testing.T) {
	f := newFixture(t, false)
	for _, c := range []struct {
		user, password string
		status         int
	}{
		{"root", "right", http.StatusSeeOther},
		{"otto", "right", http.StatusSeeOther}, // an auditor
		{"root", "wrong", http.StatusForbidden},
		{"root", "", http.StatusForbidden},
		{"ann", "right", http.StatusForbidden}, // an analyst
		{"nobody", "right", http.StatusForbidden},
		{strings.Repeat("x", 2000), "right", http.StatusForbidden},
	} {
		b := f.browser()
		status, page, h := f.login(b, c.user, c.password)
		if status != c.status {
			t.Errorf("%.20s/%s: got %d, want %d", c.user, c.password, status, c.status)
		}
		if in, _, _ := f.get(b, "/"); (in == http.StatusOK) != (c.status == http.StatusSeeOther) {
			t.Errorf("%.20s/%s: then / gives %d", c.user, c.password, in)
		}
		if c.status == http.StatusForbidden && len(c.user) < 100 && !strings.Contains(page, "The name or the password is wrong, or the account is neither") {
			t.Errorf("%s/%s: the refusal differs: %s", c.user, c.password, page)
		}
		if strings.Contains(page, c.password) && c.password == "wrong" && strings.Contains(page, `value="wrong"`) {
			t.Errorf("the page repeats the password")
		}
		for _, set := range h.Values("Set-Cookie") {
			for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
				if !strings.Contains(set, want) {
					t.Errorf("the cookie %q is without %s", set, want)
				}
			}
		}
	}
}

func TestSecureCookies(t *testing.T) {
	f := newFixture(t, false)
	f.Dashboard.o.Secure = true
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest("GET", "https://localhost/login", nil))
	for _, set := range w.Header().Values("Set-Cookie") {
		if !strings.HasPrefix(set, "__Host-") || !strings.Contains(set, "Secure") || strings.Contains(set, "Domain") {
			t.Errorf("in TLS the cookie is %q", set)
		}
	}
	if len(w.Header().Values("Set-Cookie")) == 0 {
		t.Error("no cookie")
	}
}

func TestFormsAreTiedToThePage(t *testing.T) {
	f := newFixture(t, false)
	post := func(c *http.Client, path, token string, header ...string) int {
		body := url.Values{"token": {token}, "user": {"root"}, "password": {"right"}}.Encode()
		r, _ := http.NewRequest("POST", f.web.URL+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := c.Do(r)
		f.must(err)
		status, _, _ := f.read(answer)
		return status
	}
	b := f.browser()
	_, page, _ := f.get(b, "/login")
	token := tokenField.FindStringSubmatch(page)[1]
	if got := post(f.browser(), "/login", token); got != http.StatusForbidden {
		t.Errorf("another browser's token: got %d", got)
	}
	if got := post(b, "/login", ""); got != http.StatusForbidden {
		t.Errorf("no token: got %d", got)
	}
	_, page, _ = f.get(b, "/login")
	token = tokenField.FindStringSubmatch(page)[1]
	if got := post(b, "/login", token, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); got != http.StatusForbidden {
		t.Errorf("another origin: got %d", got)
	}
	if got := post(b, "/login", token); got != http.StatusSeeOther {
		t.Errorf("the page's own token: got %d", got)
	}
	if got := post(b, "/logout", "x"); got != http.StatusForbidden {
		t.Errorf("log-out with another token: got %d", got)
	}
	if status, _, _ := f.get(b, "/"); status != http.StatusOK {
		t.Errorf("then / gives %d", status)
	}
	_, page, _ = f.get(b, "/")
	if got := post(b, "/logout", tokenField.FindStringSubmatch(page)[1]); got != http.StatusSeeOther {
		t.Errorf("log-out: got %d", got)
	}
	if status, _, _ := f.get(b, "/"); status != http.StatusSeeOther {
		t.Errorf("after the log-out / gives %d", status)
	}
}

func TestSessionsEnd(t *testing.T) {
	f := newFixture(t, false)
	in := func(c *http.Client) bool { status, _, _ := f.get(c, "/server"); return status == http.StatusOK }
	c := f.member()
	for range 23 {
		f.now = f.now.Add(29 * time.Minute)
		if !in(c) {
			t.Fatalf("ended although in use, at %v", f.now)
		}
	}
	f.now = fixtureNow.Add(lifetime + time.Minute)
	if in(c) {
		t.Error("a session goes on after its lifetime")
	}
	c = f.member()
	f.now = f.now.Add(idle + time.Minute)
	if in(c) {
		t.Error("an idle session goes on")
	}
	c = f.member()
	f.people.roles["root"] = ""
	if in(c) {
		t.Error("the session of an account that is no DBA any more goes on")
	}
	f.people.roles["root"] = "DBA"
	if in(c) {
		t.Error("the session came back with the role")
	}
	f.people.roles["root"] = "auditor"
	if in(f.browser()) {
		t.Error("in without a log-in")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	s := sessions{open: map[[32]byte]*session{}}
	now := fixtureNow
	first := s.begin(Viewer{}, now)
	for i := range maxSessions + 10 {
		s.begin(Viewer{}, now.Add(time.Duration(i+1)*time.Second))
	}
	if len(s.open) > maxSessions {
		t.Errorf("got %d sessions, want at most %d", len(s.open), maxSessions)
	}
	if _, ok := s.find(first, now.Add(time.Minute)); ok {
		t.Error("the oldest session was kept")
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	f := newFixture(t, false)
	b := f.browser()
	for i := range maxPair {
		if status, _, _ := f.login(b, "root", "wrong"); status != http.StatusForbidden {
			t.Fatalf("attempt %d: got %d", i, status)
		}
	}
	status, page, h := f.login(b, "root", "right")
	if status != http.StatusTooManyRequests || h.Get("Retry-After") == "" || !strings.Contains(page, "Too many attempts") {
		t.Errorf("one more: got %d, Retry-After %q", status, h.Get("Retry-After"))
	}
	if status, _, _ := f.login(f.browser(), "otto", "right"); status != http.StatusSeeOther {
		t.Errorf("another account: got %d", status)
	}
	f.now = f.now.Add(forgets + time.Second)
	if status, _, _ := f.login(b, "root", "right"); status != http.StatusSeeOther {
		t.Errorf("after a while: got %d", status)
	}
}

func TestLimiter(t *testing.T) {
	l, now := newLimiter(), fixtureNow
	tries := func(n int, user, address func(int) string) (passed int) {
		for i := range n {
			if ok, _ := l.take(user(i), address(i), now); ok {
				passed++
			}
		}
		return passed
	}
	one := func(int) string { return "one" }
	each := func(i int) string { return fmt.Sprint(i) }
	if got := tries(50, each, one); got != maxAddress {
		t.Errorf("many accounts from one address: %d attempts, want %d", got, maxAddress)
	}
	if got := tries(1000, one, each); got > maxAll {
		t.Errorf("many addresses: %d attempts, want at most %d", got, maxAll)
	}
	now = now.Add(time.Hour)
	for range 3 * maxPair {
		if ok, _ := l.take("root", "here", now); !ok {
			t.Fatal("successes count as failures")
		}
		l.succeeded("root", "here", now)
	}
	for i := range 3 * maxCounts {
		now = now.Add(time.Second)
		l.take(fmt.Sprint(i), fmt.Sprint("address ", i), now)
	}
	if len(l.counts) > maxCounts+1000 {
		t.Errorf("%d counts are kept", len(l.counts))
	}
}

// TestPagesHaveNothingInline holds the pages to the content security policy, which no browser of this test enforces.
func TestPagesHaveNothingInline(t *testing.T) {
	f := newFixture(t, true)
	c := f.member()
	inline := regexp.MustCompile(`(?i)<style|<script(?: [^>]*)?>[^<]|\sstyle=|\son[a-z]+=|javascript:|https?://`)
	for _, p := range pagesOfFixture {
		status, page, h := f.get(c, p.path)
		if status != http.StatusOK {
			t.Errorf("%s: got %d", p.path, status)
		}
		if found := inline.FindString(page); found != "" {
			t.Errorf("%s holds %q", p.path, found)
		}
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", p.path, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", p.path, name, h.Get(name), want)
			}
		}
	}
	for _, file := range []string{"app.css", "app.js", "icon.svg"} {
		if status, text, _ := f.get(c, "/assets/"+file); status != http.StatusOK || strings.Contains(text, "https://") {
			t.Errorf("%s: got %d", file, status)
		}
	}
	if status, _, _ := f.get(c, "/assets/"); status == http.StatusOK {
		t.Error("the files are listed")
	}
}

func TestPagesShowWhatHappened(t *testing.T) {
	f := newFixture(t, true)
	f.recent.Statement(watch.Event{
		At: fixtureNow, ID: "evil", Outcome: watch.Refused, Cause: "RAW_ROWS", Principal: "<script>alert(1)</script>@%",
		Statement: "SELECT `<img src=x onerror=alert(1)>` FROM shop.orders", Tables: []string{"shop.orders"},
	})
	c := f.member()
	for path, words := range map[string][]string{
		"/":                         {"clinic.visits", "Used up until 1 Nov", "At this rate used up", "shop.returns", "ben@%", "BUDGET_EXHAUSTED", "Ask with a smaller dp_epsilon", "&lt;script&gt;"},
		"/tables":                   {"shop.products", "No total budget", "its own budget"},
		"/tables/shop.orders":       {"agreed with the data protection officer", "more of that kind fit", "the role marketing", "Proven of what was spent: ε ", "limit 0.5", "discrete Gaussian", "&lt;img"},
		"/tables/web.sessions":      {"today, until 23 Oct"},
		"/tables/hr.salaries":       {"a person is each row", "not used up before"},
		"/entities/customer":        {"shop.baskets", "ε 10 at δ 2e-6"},
		"/analysts":                 {"dora@%", "of all", "etl@%"},
		"/analysts/ann@%25":         {"by the default budget", "PRIVILEGE"},
		"/ledger?principal=ann@%25": {"ann@%", "Older entries"},
		"/ledger?kind=set-budget":   {"budget of role:marketing: ρ 0.5"},
		"/refusals":                 {"SYNTAX", "could not be parsed", "&lt;img"},
		"/server":                   {"7 of at most 256", "3.0 MiB", "30 hours"},
	} {
		status, page, _ := f.get(c, path)
		for _, w := range words {
			if status != http.StatusOK || !strings.Contains(page, w) {
				t.Errorf("%s: got %d without %q", path, status, w)
			}
		}
		if strings.Contains(page, "<img src=x") || strings.Contains(page, "<script>alert") {
			t.Errorf("%s shows a statement as a part of the page", path)
		}
	}
	if _, page, _ := f.get(c, "/ledger?principal=ann@%25"); strings.Contains(page, "ben@%") {
		t.Error("the filter of the ledger lets others through")
	}
	for _, path := range []string{"/tables/no.such", "/entities/nothing", "/analysts/nobody", "/analysts/nobody@%25", "/nothing"} {
		if status, page, _ := f.get(c, path); status != http.StatusNotFound || !strings.Contains(page, "no such page") {
			t.Errorf("%s: got %d", path, status)
		}
	}
}

func TestLedgerPages(t *testing.T) {
	f := newFixture(t, true)
	c := f.member()
	entry := regexp.MustCompile(`<th scope="row" class="n">(\d+)</th>`)
	older := regexp.MustCompile(`href="(/ledger\?[^"]*before=[^"]*)">Older`)
	seen, path := map[string]bool{}, "/ledger?kind=charge"
	for pages := 0; path != "" && pages < 20; pages++ {
		_, page, _ := f.get(c, path)
		for _, m := range entry.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("entry %s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		path = ""
		if m := older.FindStringSubmatch(page); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if want := 5*40 + 9; len(seen) != want {
		t.Errorf("the pages show %d charges, want %d", len(seen), want)
	}
}

func TestBasic(t *testing.T) {
	f := newFixture(t, false)
	ask := func(user, password string) error {
		r := httptest.NewRequest("GET", "/metrics", nil)
		if user != "" {
			r.SetBasicAuth(user, password)
		}
		return f.Basic(r)
	}
	if err := ask("otto", "right"); err != nil {
		t.Error(err)
	}
	if ask("", "") == nil || ask("ann", "right") == nil || ask("root", "wrong") == nil {
		t.Error("let in without the password of a DBA or an auditor")
	}
	for range 2 * maxPair {
		_ = ask("root", "wrong")
	}
	if err := ask("root", "right"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("got %v after many attempts", err)
	}
}

func TestLongFormsAreRefused(t *testing.T) {
	f := newFixture(t, false)
	r, err := f.browser().Post(f.web.URL+"/login", "application/x-www-form-urlencoded", io.LimitReader(zeros{}, maxForm+1))
	f.must(err)
	if status, _, _ := f.read(r); status != http.StatusBadRequest {
		t.Errorf("got %d", status)
	}
}

// zeros is a body without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}
