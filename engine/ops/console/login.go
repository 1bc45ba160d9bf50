package console

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/web"
)

const (
	// maxForm bounds the body of a form, maxField one of its fields.
	maxForm  = 16 << 10
	maxField = 256
)

// form is what the page of the log-in shows.
type form struct {
	Token, User, Problem string
	Secure               bool
}

// cookieName is the session's cookie. In TLS its prefix makes browsers refuse one that another host
// or a page in clear sets.
func (c *Console) cookieName() string {
	if c.o.Secure {
		return "__Host-scrim-console"
	}
	return "scrim-console"
}

func (c *Console) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	k := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.o.Secure, MaxAge: int(age.Seconds())}
	if value == "" {
		k.MaxAge = -1
	}
	http.SetCookie(w, k)
}

// session returns the session of a request.
func (c *Console) session(r *http.Request) (web.Session[*account], bool) {
	k, err := r.Cookie(c.cookieName())
	if err != nil {
		return web.Session[*account]{}, false
	}
	return c.sessions.Find(k.Value, c.o.Now())
}

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.session(r); ok {
		http.Redirect(w, r, "/console", http.StatusSeeOther)
		return
	}
	c.showLogin(w, http.StatusOK, form{})
}

// showLogin shows the form with a new token, which a cookie ties to the browser.
func (c *Console) showLogin(w http.ResponseWriter, status int, f form) {
	f.Token, f.Secure = rand.Text(), c.o.Secure
	c.setCookie(w, c.cookieName()+"-form", f.Token, time.Hour)
	render(w, status, "login.html", f)
}

// login opens a session. Whether name and password are right, and how often one may guess, is for
// the server's own log-in to say.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	user, password := r.PostForm.Get("user"), r.PostForm.Get("password")
	if k, err := r.Cookie(c.cookieName() + "-form"); err != nil || !web.Same(k.Value, r.PostForm.Get("token")) {
		c.showLogin(w, http.StatusForbidden, form{User: user, Problem: "The form had expired, or the browser does not keep cookies. Try again."})
		return
	}
	if len(user) > maxField || len(password) > maxField {
		c.showLogin(w, http.StatusForbidden, form{Problem: "The name or the password is too long."})
		return
	}
	select {
	case c.logins <- struct{}{}:
		defer func() { <-c.logins }()
	default:
		c.showLogin(w, http.StatusTooManyRequests, form{User: user, Problem: "Too many log-ins are being looked at. Try again in a few seconds."})
		return
	}
	a, err := open(r.Context(), c.o, user, password, addressOf(r))
	if err != nil {
		c.showLogin(w, http.StatusForbidden, form{User: user, Problem: refusal(err)})
		return
	}
	if k, err := r.Cookie(c.cookieName()); err == nil {
		c.sessions.End(k.Value) // of whoever was logged in before
	}
	c.setCookie(w, c.cookieName()+"-form", "", 0)
	c.setCookie(w, c.cookieName(), c.sessions.Begin(a, c.o.Now()), web.Lifetime)
	http.Redirect(w, r, "/console", http.StatusSeeOther)
}

// refusal words why a log-in is refused: as the server does.
func refusal(err error) string {
	if e := (*mysql.MySQLError)(nil); errors.As(err, &e) {
		if e.Number == 1045 {
			return e.Message + ". Check both; a DBA sets another password with ALTER USER."
		}
		return e.Message
	}
	return "The server did not take the connection. It may have too many, or want TLS: its log says why."
}

// logout ends the session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if s, ok := c.session(r); ok {
		if err := r.ParseForm(); err != nil || !web.Same(s.Token, r.PostForm.Get("token")) {
			http.Error(w, "The form had expired. Go back, reload the page and try again.", http.StatusForbidden)
			return
		}
		k, _ := r.Cookie(c.cookieName()) // session found it
		c.sessions.End(k.Value)
	}
	c.setCookie(w, c.cookieName(), "", 0)
	http.Redirect(w, r, "/console/login", http.StatusSeeOther)
}

// addressOf is where a request came from.
func addressOf(r *http.Request) net.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return &net.TCPAddr{} // an address that no account is bound to
	}
	return net.TCPAddrFromAddrPort(at)
}

// view is what the page of the console gets.
type view struct{ Principal, Token, Nonce string }

// page shows the console, or leads to the log-in. The statement of a link is in its fragment, which
// no browser sends: only the page's script sees it, and does not run it.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	s, ok := c.session(r)
	if !ok {
		http.Redirect(w, r, "/console/login", http.StatusSeeOther)
		return
	}
	v := view{Principal: s.Value.name, Token: s.Token, Nonce: rand.Text()}
	w.Header().Set("Content-Security-Policy", policy(v.Nonce))
	render(w, http.StatusOK, "console.html", v)
}

// render writes a page as a whole: a template that fails leaves no half of one.
func render(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
