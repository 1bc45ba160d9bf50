package dashboard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"scrim/internal/web"
)

// maxForm bounds the body of a form, maxField one of its fields.
const (
	maxForm  = 16 << 10
	maxField = 1 << 10
)

// form is what the page of the log-in shows.
type form struct {
	User    string
	Problem string
	Secure  bool
}

// loginPage shows the form.
func (d *Dashboard) loginPage(w http.ResponseWriter, r *http.Request) {
	if _, ok := d.session(r); ok {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	d.showLogin(w, http.StatusOK, form{})
}

// showLogin shows the form with a new token.
func (d *Dashboard) showLogin(w http.ResponseWriter, status int, f form) {
	token := rand.Text()
	f.Secure = d.o.Secure
	d.setCookie(w, d.formCookieName(), token, time.Hour)
	d.render(w, status, "login.html", view{Token: token, Path: "/login", Now: d.o.Now().UTC(), Data: f})
}

// login opens a session for a DBA or an auditor. Whatever is wrong with name, password or role, the
// answer is the same.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	user, password := r.PostForm.Get("user"), r.PostForm.Get("password")
	if c, err := r.Cookie(d.formCookieName()); err != nil || !web.Same(c.Value, r.PostForm.Get("token")) {
		d.showLogin(w, http.StatusForbidden, form{User: user, Problem: "The form had expired, or the browser does not keep cookies. Try again."})
		return
	}
	if len(user) > maxField || len(password) > maxField {
		d.showLogin(w, http.StatusForbidden, form{Problem: "The name or the password is too long."})
		return
	}
	address := addressOf(r)
	if ok, wait := d.limits.take(user, address, d.o.Now()); !ok {
		_ = d.o.Logged(Attempt{Limited, user, address})
		seconds := int(wait.Seconds()) + 1
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		d.showLogin(w, http.StatusTooManyRequests, form{User: user, Problem: fmt.Sprintf("Too many attempts. Try again in %d seconds.", seconds)})
		return
	}
	v, ok := d.o.Accounts.Login(user, password, address, d.o.Secure)
	if !ok {
		_ = d.o.Logged(Attempt{Refused, user, address})
		d.showLogin(w, http.StatusForbidden, form{User: user, Problem: "The name or the password is wrong, or the account is neither a DBA's nor an auditor's."})
		return
	}
	d.limits.succeeded(user, address, d.o.Now())
	if err := d.o.Logged(Attempt{Accepted, v.Principal, address}); err != nil {
		d.showLogin(w, http.StatusServiceUnavailable, form{User: user, Problem: "The log-in could not be recorded in the audit log, so it was refused."})
		return
	}
	if c, err := r.Cookie(d.cookieName()); err == nil {
		d.sessions.End(c.Value) // of whoever was logged in before
	}
	d.setCookie(w, d.formCookieName(), "", 0)
	d.setCookie(w, d.cookieName(), d.sessions.Begin(v, d.o.Now()), web.Lifetime)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// logout ends the session.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if s, ok := d.session(r); ok {
		if err := r.ParseForm(); err != nil || !web.Same(s.Token, r.PostForm.Get("token")) {
			http.Error(w, "The form had expired. Go back, reload the page and try again.", http.StatusForbidden)
			return
		}
		c, _ := r.Cookie(d.cookieName()) // session found it
		d.sessions.End(c.Value)
		_ = d.o.Logged(Attempt{Out, s.Value.Principal, addressOf(r)})
	}
	d.setCookie(w, d.cookieName(), "", 0)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// addressOf is the address that a request came from, without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// errBasic tells nothing of what is wrong.
var errBasic = errors.New("log in with an account of this server that is a DBA's or an auditor's")

// Basic checks the name and password of a request without a session, as machines send them, under
// the same limits.
func (d *Dashboard) Basic(r *http.Request) error {
	user, password, ok := r.BasicAuth()
	if !ok || len(user) > maxField || len(password) > maxField {
		return errBasic
	}
	address := addressOf(r)
	if ok, wait := d.limits.take(user, address, d.o.Now()); !ok {
		_ = d.o.Logged(Attempt{Limited, user, address})
		return fmt.Errorf("too many attempts: try again in %d seconds", int(wait.Seconds())+1)
	}
	if _, ok := d.o.Accounts.Login(user, password, address, d.o.Secure); !ok {
		_ = d.o.Logged(Attempt{Refused, user, address})
		return errBasic
	}
	d.limits.succeeded(user, address, d.o.Now())
	return nil
}

// cookieName is the session's cookie. In TLS its prefix makes browsers refuse one that another host
// or a page in clear sets.
func (d *Dashboard) cookieName() string {
	if d.o.Secure {
		return "__Host-scrim"
	}
	return "scrim"
}

// formCookieName is the cookie that ties the form of the log-in to the browser.
func (d *Dashboard) formCookieName() string { return d.cookieName() + "-form" }

func (d *Dashboard) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.o.Secure}
	if c.MaxAge = int(age.Seconds()); value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// session returns the session of a request, if its account may still look.
func (d *Dashboard) session(r *http.Request) (web.Session[Viewer], bool) {
	c, err := r.Cookie(d.cookieName())
	if err != nil {
		return web.Session[Viewer]{}, false
	}
	s, ok := d.sessions.Find(c.Value, d.o.Now())
	if !ok {
		return web.Session[Viewer]{}, false
	}
	if !d.o.Accounts.Valid(s.Value) {
		d.sessions.End(c.Value)
		return web.Session[Viewer]{}, false
	}
	return s, true
}

// Failed attempts to log in are counted by account and address together and by address alone, and
// all of them: so nobody locks a DBA out from elsewhere, and nobody tries many accounts or comes
// from many addresses. A count is forgotten at one step a while.
const (
	maxPair    = 5  // failures of an address at one account
	maxAddress = 20 // failures of an address
	maxAll     = 300
	forgets    = 12 * time.Second // one failure is forgotten each; a sixtieth of it of all
	maxCounts  = 10_000
)

// limiter counts failures.
type limiter struct {
	mu     sync.Mutex
	counts map[string]count
}

// count is how many failures stand at a moment.
type count struct {
	n  float64
	at time.Time
}

func newLimiter() *limiter { return &limiter{counts: map[string]count{}} }

// keys are what an attempt counts against, with their limits and how often one is forgotten.
func keys(user, address string) []struct {
	key   string
	limit float64
	every time.Duration
} {
	return []struct {
		key   string
		limit float64
		every time.Duration
	}{
		{"pair\x00" + address + "\x00" + user, maxPair, forgets},
		{"address\x00" + address, maxAddress, forgets},
		{"all", maxAll, forgets / 60},
	}
}

// take counts an attempt as failed beforehand, so that attempts at the same time count too; ok is
// false, and nothing is counted, when there were too many, and wait is then how long to wait.
func (l *limiter) take(user, address string, now time.Time) (ok bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := keys(user, address)
	for _, k := range list {
		c := l.now(k.key, k.every, now)
		if c.n+1 > k.limit {
			return false, max(wait, time.Duration((c.n+1-k.limit)*float64(k.every)))
		}
	}
	if len(l.counts) > maxCounts {
		l.sweep(now)
	}
	for _, k := range list {
		c := l.now(k.key, k.every, now)
		l.counts[k.key] = count{c.n + 1, now}
	}
	return true, 0
}

// succeeded takes back what take counted, and forgets the failures of the account at that address.
func (l *limiter) succeeded(user, address string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := keys(user, address)
	delete(l.counts, list[0].key)
	for _, k := range list[1:] {
		c := l.now(k.key, k.every, now)
		l.counts[k.key] = count{max(0, c.n-1), now}
	}
}

// now is a count with what has been forgotten since. l.mu is held.
func (l *limiter) now(key string, every time.Duration, now time.Time) count {
	c := l.counts[key]
	if passed := now.Sub(c.at); c.n > 0 && passed > 0 {
		c.n = max(0, c.n-float64(passed)/float64(every))
	}
	return c
}

// sweep forgets what stands at nothing. What is left is bounded by maxAll and how fast it is
// forgotten. l.mu is held.
func (l *limiter) sweep(now time.Time) {
	for k := range l.counts {
		if l.now(k, forgets, now).n == 0 {
			delete(l.counts, k)
		}
	}
}
