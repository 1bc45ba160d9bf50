package console

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/netip"

	"github.com/go-sql-driver/mysql"
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

func (c *Console) loginPage(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.browsers.Of(r); ok {
		http.Redirect(w, r, "/console", http.StatusSeeOther)
		return
	}
	c.showLogin(w, http.StatusOK, form{})
}

// showLogin shows the form with a new token, which a cookie ties to the browser.
func (c *Console) showLogin(w http.ResponseWriter, status int, f form) {
	f.Token, f.Secure = c.browsers.FormToken(w), c.o.Secure
	render(w, status, "login.html", f)
}

// login opens a session. Whether name and password are right, and how often one may guess, is for
// the server's own log-in to say.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	user, password, problem, ok := c.browsers.ReadForm(w, r)
	if problem != "" {
		c.showLogin(w, http.StatusForbidden, form{User: user, Problem: problem})
	}
	if !ok {
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
	c.browsers.LogIn(w, r, a)
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
	s, open := c.browsers.Of(r)
	c.browsers.LogOut(w, r, s, open, "/console/login")
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
	s, ok := c.browsers.Of(r)
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
