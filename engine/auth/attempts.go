package auth

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	// patience is how long an attempt waits for its turn; one that had to wait longer is refused, and its password not looked at.
	patience = 3 * time.Second
	// maxWaiting bounds the attempts that wait from an address that is slowed down, each of which holds a connection.
	maxWaiting = 16
	// maxBrakes bounds the pairs and addresses that are remembered, some 200 bytes each.
	maxBrakes = 8192
	// tellEvery is how often the attempts from one address that were not looked at are told of.
	tellEvery = 10 * time.Second
)

// attempts makes attempts to log in wait for their turn. It is safe for concurrent use.
type attempts struct {
	seed maphash.Seed

	mu      sync.Mutex
	brakes  map[uint64]*brake
	swept   time.Time
	changed chan struct{} // closed when an attempt has been checked
}

func newAttempts() *attempts {
	return &attempts{seed: maphash.MakeSeed(), brakes: map[uint64]*brake{}, changed: make(chan struct{})}
}

// attempt is one at an account from an address.
type attempt struct{ pair, address *brake }

// begin waits until an attempt may be checked; ok is false where that takes too long, and wait is then how long at least, and unlooked the
// number of attempts refused so that are to be told of.
func (a *attempts) begin(user, address string) (t attempt, ok bool, wait time.Duration, unlooked int) {
	start := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	t = a.attempt(user, network(address), start)
	t.pair.waiting++
	t.address.waiting++
	defer func() {
		t.pair.waiting--
		t.address.waiting--
	}()
	for now := start; ; now = time.Now() {
		ok, wait := t.turn(now)
		waited := now.Sub(start)
		if ok {
			t.pair.checked++
			t.address.checked++
			return t, true, waited, 0
		}
		if waited+wait >= patience || t.crowded() {
			return t, false, max(wait, time.Second), t.address.refuse(now)
		}
		if wait == 0 { // until another was checked
			wait = patience - waited
		}
		a.sleep(wait)
	}
}

// sleep gives a.mu away until an attempt has been checked, or for so long.
func (a *attempts) sleep(wait time.Duration) {
	changed := a.changed
	a.mu.Unlock()
	defer a.mu.Lock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

// end tells how a check ended.
func (a *attempts) end(t attempt, shown bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	t.pair.checked--
	t.address.checked--
	if shown {
		t.pair.shown(now)
	} else {
		t.pair.fail(now)
		t.address.fail(now)
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

// turn reports whether the attempt may be checked now, or else how long not at least.
func (t attempt) turn(now time.Time) (ok bool, wait time.Duration) {
	ok, wait = t.pair.turn(now)
	if t.pair.trusts(now) {
		return ok, wait
	}
	free, longer := t.address.turn(now)
	return ok && free, max(wait, longer)
}

// crowded reports whether too many wait at an address that is slowed down.
func (t attempt) crowded() bool {
	return t.address.waiting > maxWaiting && (t.pair.slow() || t.address.slow())
}

// attempt finds the brakes of an attempt, or makes them. a.mu is held.
func (a *attempts) attempt(user, address string, now time.Time) attempt {
	a.makeRoom(now)
	return attempt{a.brake(&pairRule, user, address), a.brake(&addressRule, "", address)}
}

func (a *attempts) brake(r *rule, user, address string) *brake {
	key := maphash.Comparable(a.seed, struct {
		rule          *rule
		user, address string
	}{r, user, address})
	b := a.brakes[key]
	if b == nil {
		b = &brake{rule: r}
		a.brakes[key] = b
	}
	return b
}

// makeRoom forgets what is of no use any more, at most once a second, and then what weighs least of some. a.mu is held.
func (a *attempts) makeRoom(now time.Time) {
	if len(a.brakes) < maxBrakes-2 {
		return
	}
	if now.Sub(a.swept) > time.Second {
		a.swept = now
		for key, b := range a.brakes {
			if b.idle(now) {
				delete(a.brakes, key)
			}
		}
	}
	for len(a.brakes) > maxBrakes-2 {
		if !a.dropLeast(now) {
			return // all are in use, of as many connections
		}
	}
}

// dropLeast forgets what weighs least of a few that are not in use.
func (a *attempts) dropLeast(now time.Time) bool {
	const few = 16
	least, n := uint64(0), 0
	for key, b := range a.brakes { // in no order
		if b.checked+b.waiting > 0 {
			continue
		}
		if n == 0 || b.weight(now) < a.brakes[least].weight(now) {
			least = key
		}
		if n++; n == few {
			break
		}
	}
	delete(a.brakes, least)
	return n > 0
}

// network is what is taken for one address: of IPv6, what one customer has.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Unmap().Is6() {
		return address
	}
	p, _ := ip.WithZone("").Prefix(64)
	return p.String()
}
