package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"scrim/internal/web"
)

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
	f.Dashboard.browsers.Secure = true
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
	f.now = fixtureNow.Add(web.Lifetime + time.Minute)
	if in(c) {
		t.Error("a session goes on after its web.Lifetime")
	}
	c = f.member()
	f.now = f.now.Add(web.Idle + time.Minute)
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
