// Package brake slows down who tries passwords: each failure makes the next attempt wait longer, by
// account and address together and, less, by address. Nothing is held against an account alone, so
// that nobody keeps its owner out from elsewhere.
//
// The server's accounts and the shuffler's are behind it. It knows names, addresses and how a check
// ended, and no password.
package brake

import (
	"hash/maphash"
	"maps"
	"math"
	"net"
	"sync"
	"time"

	"scrim/engine/mysql/wire"
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
		maps.DeleteFunc(a.brakes, func(_ uint64, b *brake) bool { return b.idle(now) })
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

// Passwords are tried against an account from an address, the two together being a pair. Each
// failure makes the next attempt of its pair wait longer, and, less, the next attempt from its
// address at any account; nothing is held against the account itself, so that nobody keeps its
// owner out from elsewhere. Who has shown the account's password from an address is not made to
// wait for what others at that address do wrong. Failures are forgotten one by one.
var (
	pairRule    = rule{free: 3, first: 250 * time.Millisecond, doubles: 1, longest: 30 * time.Second, forgets: 30 * time.Second, most: 12}
	addressRule = rule{free: 20, first: 100 * time.Millisecond, doubles: 5, longest: 2 * time.Second, forgets: 5 * time.Second, most: 60}
)

const (
	// maxAtOnce bounds the attempts of a pair that is trusted which are checked at the same time;
	// others have as many as free failures left.
	maxAtOnce = 32
	// trust is how long a pair is trusted after its password was shown.
	trust = 24 * time.Hour
)

// rule says how failures slow down.
type rule struct {
	free    float64       // failures that cost nothing
	first   time.Duration // the wait after the next one
	doubles float64       // the wait doubles with so many more
	longest time.Duration
	forgets time.Duration // one failure is forgotten each
	most    float64       // failures that are counted
}

// wait is the time until the next attempt after so many failures.
func (r rule) wait(failures float64) time.Duration {
	if failures < r.free {
		return 0
	}
	return min(r.longest, time.Duration(float64(r.first)*math.Exp2((failures-r.free)/r.doubles)))
}

// brake is what is remembered of a pair or an address.
type brake struct {
	rule     *rule
	failures float64   // as of at
	at       time.Time // of the last failure
	next     time.Time // attempt
	trusted  time.Time // until then
	checked  int       // attempts that are being checked
	waiting  int       // attempts that wait to be

	unlooked int       // attempts refused without a look, not told of yet
	told     time.Time // when that was told last
}

// forget takes off what is forgotten by now.
func (b *brake) forget(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.failures = max(0, b.failures-float64(passed)/float64(b.rule.forgets))
		b.at = now
	}
}

// turn reports whether an attempt may be checked now, or else how long not at least; 0 is until
// others have been checked.
func (b *brake) turn(now time.Time) (ok bool, wait time.Duration) {
	b.forget(now)
	if wait := b.next.Sub(now); wait > 0 {
		return false, wait
	}
	atOnce := max(1, int(b.rule.free-b.failures))
	if b.trusts(now) {
		atOnce = maxAtOnce
	}
	return b.checked < atOnce, 0
}

// trusts reports whether the password was shown, and no wrong one since.
func (b *brake) trusts(now time.Time) bool { return b.failures == 0 && now.Before(b.trusted) }

// weight is how much would be lost with the brake.
func (b *brake) weight(now time.Time) float64 {
	if b.trusts(now) {
		return 2
	}
	return b.failures
}

// slow reports whether attempts have to wait.
func (b *brake) slow() bool { return b.failures >= b.rule.free }

// fail notes a wrong password.
func (b *brake) fail(now time.Time) {
	b.forget(now)
	b.failures = min(b.rule.most, b.failures+1)
	b.at, b.next = now, now.Add(b.rule.wait(b.failures))
}

// shown notes that the password was right.
func (b *brake) shown(now time.Time) {
	b.failures, b.next, b.trusted = 0, time.Time{}, now.Add(trust)
}

// idle reports whether nothing would be lost with the brake.
func (b *brake) idle(now time.Time) bool {
	b.forget(now)
	return b.failures == 0 && b.checked == 0 && b.waiting == 0 && !now.Before(b.trusted)
}

// refuse notes an attempt that is refused without a look, and returns how many are to be told of
// now.
func (b *brake) refuse(now time.Time) (unlooked int) {
	b.unlooked++
	if now.Sub(b.told) < tellEvery {
		return 0
	}
	unlooked, b.unlooked, b.told = b.unlooked, 0, now
	return unlooked
}
