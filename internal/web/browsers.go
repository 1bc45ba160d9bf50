package web

import (
	"crypto/rand"
	"net/http"
	"time"
)

// Browsers are the sessions that log-ins by a form open, with the cookies by which browsers have
// them, and those that tie a form to its browser.
type Browsers[V any] struct {
	Sessions[V]
	Name     string // of the cookie
	Secure   bool   // the pages are served over TLS
	MaxForm  int64  // bytes of a form
	MaxField int    // bytes of the name, and of the password
	Now      func() time.Time
}

// cookie names the session's cookie. In TLS its prefix makes browsers refuse one that another host
// or a page in clear sets.
func (b *Browsers[V]) cookie() string {
	if b.Secure {
		return "__Host-" + b.Name
	}
	return b.Name
}

func (b *Browsers[V]) set(w http.ResponseWriter, name, value string, age time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: b.Secure, MaxAge: int(age.Seconds())}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// Of returns the session of a request.
func (b *Browsers[V]) Of(r *http.Request) (Session[V], bool) {
	c, err := r.Cookie(b.cookie())
	if err != nil {
		return Session[V]{}, false
	}
	return b.Find(c.Value, b.Now())
}

// EndOf forgets the session of a request, if it has one.
func (b *Browsers[V]) EndOf(r *http.Request) {
	if c, err := r.Cookie(b.cookie()); err == nil {
		b.End(c.Value)
	}
}

// FormToken makes the token of a new form, which a cookie ties to the browser.
func (b *Browsers[V]) FormToken(w http.ResponseWriter) string {
	token := rand.Text()
	b.set(w, b.cookie()+"-form", token, time.Hour)
	return token
}

// ReadForm reads the name and the password of a log-in. Where ok is false, the problem is to be
// shown with the form; an empty one has been answered.
func (b *Browsers[V]) ReadForm(w http.ResponseWriter, r *http.Request) (user, password, problem string, ok bool) {
	r.Body = http.MaxBytesReader(w, r.Body, b.MaxForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return "", "", "", false
	}
	user, password = r.PostForm.Get("user"), r.PostForm.Get("password")
	if c, err := r.Cookie(b.cookie() + "-form"); err != nil || !Same(c.Value, r.PostForm.Get("token")) {
		return user, "", "The form had expired, or the browser does not keep cookies. Try again.", false
	}
	if len(user) > b.MaxField || len(password) > b.MaxField {
		return "", "", "The name or the password is too long.", false
	}
	return user, password, "", true
}

// LogIn opens a session in the place of the one that the browser had.
func (b *Browsers[V]) LogIn(w http.ResponseWriter, r *http.Request, v V) {
	b.EndOf(r)
	b.set(w, b.cookie()+"-form", "", 0)
	b.set(w, b.cookie(), b.Begin(v, b.Now()), Lifetime)
}

// LogOut ends the session of a request, if one is open, and leads to a page. It refuses a form that
// is not of the session, and reports whether it has ended one.
func (b *Browsers[V]) LogOut(w http.ResponseWriter, r *http.Request, s Session[V], open bool, to string) (ended bool) {
	r.Body = http.MaxBytesReader(w, r.Body, b.MaxForm)
	if open {
		if err := r.ParseForm(); err != nil || !Same(s.Token, r.PostForm.Get("token")) {
			http.Error(w, "The form had expired. Go back, reload the page and try again.", http.StatusForbidden)
			return false
		}
		b.EndOf(r)
	}
	b.set(w, b.cookie(), "", 0)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return open
}

// Headers sets what every answer carries, with a content security policy.
func Headers(policy string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Cached lets the browser keep files for a minute; they change with the binary only.
func Cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=60")
		next.ServeHTTP(w, r)
	})
}
