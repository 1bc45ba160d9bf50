package dashboard

import (
	"net/http"
	"time"

	"scrim/engine/web"
)

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
