package dashboard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"scrim/engine/web"
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
