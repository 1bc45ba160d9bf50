package dashboard

import (
	"errors"
	"fmt"
	"maps"
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
	token := d.browsers.FormToken(w)
	f.Secure = d.o.Secure
	d.render(w, status, "login.html", view{Token: token, Path: "/login", Now: d.o.Now().UTC(), Data: f})
}

// login opens a session for a DBA or an auditor. Whatever is wrong with name, password or role, the
// answer is the same.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	user, password, problem, ok := d.browsers.ReadForm(w, r)
	if problem != "" {
		d.showLogin(w, http.StatusForbidden, form{User: user, Problem: problem})
	}
	if !ok {
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
	d.browsers.LogIn(w, r, v)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// logout ends the session.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	s, open := d.session(r)
	if d.browsers.LogOut(w, r, s, open, "/login") {
		_ = d.o.Logged(Attempt{Out, s.Value.Principal, addressOf(r)})
	}
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

// session returns the session of a request, if its account may still look.
func (d *Dashboard) session(r *http.Request) (web.Session[Viewer], bool) {
	s, ok := d.browsers.Of(r)
	if ok && !d.o.Accounts.Valid(s.Value) {
		d.browsers.EndOf(r)
		return web.Session[Viewer]{}, false
	}
	return s, ok
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
	maps.DeleteFunc(l.counts, func(k string, _ count) bool { return l.now(k, forgets, now).n == 0 })
}
