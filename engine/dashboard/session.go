package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"
)

// A session ends lifetime after its log-in, and when nothing was asked for idle; an open page asks
// by itself.
const (
	lifetime = 12 * time.Hour
	idle     = 30 * time.Minute
)

// maxSessions bounds the open sessions; the one that was used longest ago makes room.
const maxSessions = 256

// session is one logged-in browser.
type session struct {
	viewer      Viewer
	form        string // the token that its forms carry
	since, used time.Time
}

// sessions are the open ones by the hash of what the cookie holds: who reads the server's memory
// cannot take one over.
type sessions struct {
	mu   sync.Mutex
	open map[[32]byte]*session
}

// begin opens a session and returns what its cookie holds.
func (s *sessions) begin(v Viewer, now time.Time) string {
	cookie := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if len(s.open) >= maxSessions {
		s.evict()
	}
	s.open[sha256.Sum256([]byte(cookie))] = &session{viewer: v, form: rand.Text(), since: now, used: now}
	return cookie
}

// find returns the session of a cookie, and notes that it was used.
func (s *sessions) find(cookie string, now time.Time) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	found := s.open[sha256.Sum256([]byte(cookie))]
	if found == nil {
		return session{}, false
	}
	found.used = now
	return *found, true
}

func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(cookie)))
}

// sweep forgets sessions that have ended. s.mu is held.
func (s *sessions) sweep(now time.Time) {
	for k, v := range s.open {
		if now.Sub(v.since) > lifetime || now.Sub(v.used) > idle {
			delete(s.open, k)
		}
	}
}

// evict forgets the session that was used longest ago. s.mu is held.
func (s *sessions) evict() {
	var oldest [32]byte
	var used time.Time
	for k, v := range s.open {
		if used.IsZero() || v.used.Before(used) {
			oldest, used = k, v.used
		}
	}
	delete(s.open, oldest)
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
func (d *Dashboard) session(r *http.Request) (session, bool) {
	c, err := r.Cookie(d.cookieName())
	if err != nil {
		return session{}, false
	}
	s, ok := d.sessions.find(c.Value, d.o.Now())
	if !ok {
		return session{}, false
	}
	if !d.o.Accounts.Valid(s.viewer) {
		d.sessions.end(c.Value)
		return session{}, false
	}
	return s, true
}

// same compares tokens in a time that does not depend on them; "" is none.
func same(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
