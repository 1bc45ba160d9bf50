package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

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
