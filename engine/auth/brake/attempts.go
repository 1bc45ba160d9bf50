package brake

import (
	"hash/maphash"
	"net"
	"sync"
	"time"

	"scrim/engine/wire"
)

const (
	// patience is how long an attempt waits for its turn; one that had to wait longer is refused,
	// and its password not looked at.
	patience = 3 * time.Second
	// maxWaiting bounds the attempts that wait from an address that is slowed down, each of which
	// holds a connection.
	maxWaiting = 16
	// maxBrakes bounds the pairs and addresses that are remembered, some 200 bytes each.
	maxBrakes = 8192
	// tellEvery is how often the attempts from one address that were not looked at are told of.
	tellEvery = 10 * time.Second
)

// Attempts makes attempts to log in wait for their turn. It is safe for concurrent use.
type Attempts struct {
	seed maphash.Seed

	mu      sync.Mutex
	brakes  map[uint64]*brake
	swept   time.Time
	changed chan struct{} // closed when an attempt has been checked
}

// New returns the brake of a program's accounts.
func New() *Attempts {
	return &Attempts{seed: maphash.MakeSeed(), brakes: map[uint64]*brake{}, changed: make(chan struct{})}
}

// Outcome is how an attempt ended.
type Outcome struct {
	Looked bool // the password was looked at
	Shown  bool // and was right
	// until then; of an attempt that was not looked at, how long the next one has to wait at least
	Waited time.Duration
	// attempts from the address that were not looked at since that was told last; 0 where it was
	// just now
	Unlooked int
}

// Try has check look at the password of an attempt when its turn has come, or not at all.
func (a *Attempts) Try(user string, from net.Addr, check func() (shown bool)) (o Outcome) {
	t, ok, wait, unlooked := a.begin(user, wire.HostOf(from))
	o = Outcome{Looked: ok, Waited: wait, Unlooked: unlooked}
	if ok {
		defer func() { a.end(t, o.Shown) }()
		o.Shown = check()
	}
	return o
}

// attempt is one at an account from an address.
type attempt struct{ pair, address *brake }

// begin waits until an attempt may be checked; ok is false where that takes too long, and wait is
// then how long at least, and unlooked the number of attempts refused so that are to be told of.
func (a *Attempts) begin(user, address string) (t attempt, ok bool, wait time.Duration, unlooked int) {
	start := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	t = a.attempt(user, wire.Network(address), start)
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
func (a *Attempts) sleep(wait time.Duration) {
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
func (a *Attempts) end(t attempt, shown bool) {
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
func (a *Attempts) attempt(user, address string, now time.Time) attempt {
	a.makeRoom(now)
	return attempt{a.brake(&pairRule, user, address), a.brake(&addressRule, "", address)}
}

func (a *Attempts) brake(r *rule, user, address string) *brake {
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

// makeRoom forgets what is of no use any more, at most once a second, and then what weighs least of
// some. a.mu is held.
func (a *Attempts) makeRoom(now time.Time) {
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
func (a *Attempts) dropLeast(now time.Time) bool {
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
