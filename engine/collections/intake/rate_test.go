package intake

import (
	"fmt"
	"testing"
	"time"
)

// clock is a rates whose time stands still.
func clock() (r *rates, pass func(time.Duration)) {
	r = newRates()
	at := time.Unix(0, 0)
	r.now = func() time.Time { return at }
	return r, func(d time.Duration) { at = at.Add(d) }
}

// TestRateOfOneAddress: an address has its burst at once and its share in the long run, and takes
// nothing from others.
func TestRateOfOneAddress(t *testing.T) {
	r, pass := clock()
	count := func(from string, tries int) (admitted int) {
		for range tries {
			if r.admit(from) {
				admitted++
			}
		}
		return admitted
	}
	for _, c := range []struct {
		from  string
		pass  time.Duration
		tries int
		want  int
	}{
		{"192.0.2.1:1000", 0, burst + 50, burst},
		{"192.0.2.1:2000", 0, 10, 0}, // another port is the same address
		{"[::ffff:192.0.2.1]:3", 0, 10, 0},
		{"192.0.2.2:1000", 0, 10, 10},
		{"192.0.2.1:1000", time.Second, 100, perSecond},
		{"192.0.2.1:1000", time.Second / perSecond, 5, 1},
		{"192.0.2.1:1000", time.Hour, 2 * burst, burst}, // no more than a burst is saved
		{"[2001:db8:0:1::1]:9", 0, burst, burst},
		{"[2001:db8:0:1:ffff::2]:9", 0, 5, 0}, // a network of 64 bits is one customer's
		{"[2001:db8:0:2::1]:9", 0, 5, 5},
		{"no address", 0, burst + 5, burst},
	} {
		pass(c.pass)
		if got := count(c.from, c.tries); got != c.want {
			t.Errorf("%s, %v later: %d of %d are admitted, want %d", c.from, c.pass, got, c.tries, c.want)
		}
	}
}

// TestRatesAreBounded: many addresses fill no memory, a clock that goes back admits nothing more.
func TestRatesAreBounded(t *testing.T) {
	r, pass := clock()
	for i := range addresses + 10 {
		r.admit(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if n := len(r.state); n > addresses {
		t.Errorf("%d addresses are remembered, of at most %d", n, addresses)
	}
	for range burst {
		r.admit("192.0.2.9:1")
	}
	pass(-time.Hour)
	if r.admit("192.0.2.9:1") {
		t.Error("a clock that goes back admits more")
	}
}
