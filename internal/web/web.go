// Package web is what all that is served over HTTP has in common: the socket with its limits,
// sessions of browsers, and the headers of what they are sent.
package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"scrim/internal/connlimit"
)

// Limits bound what a Server gives its clients.
type Limits struct {
	Connections int // that are open; what is more takes the place of one that answers nothing
	PerAddress  int // requests that are being answered, of one address; 0 for any number
	// Read is how long a request may take to arrive, Idle how long a connection waits for the next.
	Read, Idle time.Duration
}

// Server serves HTTP at an address, over TLS with a certificate.
type Server struct {
	listener net.Listener
	room     *connlimit.Listener
	http     *http.Server
}

// Listen opens the socket; certificate is nil for none. Requests wait for Serve.
func Listen(address string, certificate *tls.Config, l Limits) (*Server, error) {
	raw, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	room := connlimit.New(raw, l.Connections, l.PerAddress)
	listener := net.Listener(room)
	if certificate != nil {
		certificate = certificate.Clone()
		certificate.NextProtos = []string{"h2", "http/1.1"}
		listener = tls.NewListener(listener, certificate)
	}
	return &Server{listener: listener, room: room, http: &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       l.Read,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       l.Idle,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // it would tell addresses, and quote requests
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, c) },
	}}, nil
}

// key is that of a request's connection in its context.
type key struct{}

// Bounded answers with next while the limits have room for another request, else with full. What is
// served without it has to be answered at once: its connection may make room for another one.
func (s *Server) Bounded(next http.Handler, full http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(key{}).(net.Conn)
		if secure, ok := c.(*tls.Conn); ok {
			c = secure.NetConn()
		}
		done, ok := s.room.Answering(c)
		if !ok {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "5")
			full(w, r)
			return
		}
		defer done()
		next.ServeHTTP(w, r)
	})
}

// SetLimits changes the limits of connections and of one address. What is being answered goes on.
func (s *Server) SetLimits(connections, perAddress int) { s.room.SetLimits(connections, perAddress) }

// Addr returns the address that is listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Close, and returns nil then.
func (s *Server) Serve(h http.Handler) error {
	s.http.Handler = h
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the socket and what it serves, after the requests under way if they end soon.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	_ = s.listener.Close()
}

// A session ends Lifetime after its log-in, and when nothing was asked for Idle; an open page asks
// by itself.
const (
	Lifetime = 12 * time.Hour
	Idle     = 30 * time.Minute
)

// maxSessions bounds the open sessions; the one that was used longest ago makes room.
const maxSessions = 256

// Session is one logged-in browser.
type Session[V any] struct {
	Value       V
	Token       string // that its forms and calls carry
	since, used time.Time
}

// Sessions are the open ones by the hash of what the cookie holds: who reads the server's memory
// cannot take one over.
type Sessions[V any] struct {
	// Ended is told of each session that is forgotten; nil where nobody has to be.
	Ended func(V)

	mu   sync.Mutex
	open map[[32]byte]*Session[V]
}

// Begin opens a session and returns what its cookie holds.
func (s *Sessions[V]) Begin(v V, now time.Time) string {
	cookie := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if len(s.open) >= maxSessions {
		s.evict()
	}
	if s.open == nil {
		s.open = map[[32]byte]*Session[V]{}
	}
	s.open[sha256.Sum256([]byte(cookie))] = &Session[V]{Value: v, Token: rand.Text(), since: now, used: now}
	return cookie
}

// Find returns the session of a cookie, and notes that it was used.
func (s *Sessions[V]) Find(cookie string, now time.Time) (Session[V], bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	found := s.open[sha256.Sum256([]byte(cookie))]
	if found == nil {
		return Session[V]{}, false
	}
	found.used = now
	return *found, true
}

// End forgets the session of a cookie.
func (s *Sessions[V]) End(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(sha256.Sum256([]byte(cookie)))
}

// sweep forgets sessions that have ended. s.mu is held.
func (s *Sessions[V]) sweep(now time.Time) {
	for k, v := range s.open {
		if now.Sub(v.since) > Lifetime || now.Sub(v.used) > Idle {
			s.forget(k)
		}
	}
}

// evict forgets the session that was used longest ago. s.mu is held.
func (s *Sessions[V]) evict() {
	var oldest [32]byte
	var used time.Time
	for k, v := range s.open {
		if used.IsZero() || v.used.Before(used) {
			oldest, used = k, v.used
		}
	}
	s.forget(oldest)
}

// Sweep forgets the sessions that have ended.
func (s *Sessions[V]) Sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
}

// Clear forgets all.
func (s *Sessions[V]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.open {
		s.forget(k)
	}
}

// forget drops a session. s.mu is held.
func (s *Sessions[V]) forget(k [32]byte) {
	found := s.open[k]
	delete(s.open, k)
	if found != nil && s.Ended != nil {
		s.Ended(found.Value)
	}
}

// Same compares tokens in a time that does not depend on them; "" is none.
func Same(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

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
