package brake

import (
	"math"
	"time"
)

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
