package dashboard

import (
	"sync"
	"time"
)

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
