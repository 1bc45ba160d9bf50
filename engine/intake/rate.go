package intake

import (
	"net/netip"
	"sync"
	"time"

	"scrim/internal/connlimit"
)

// One address may send burst requests at once and perSecond in the long run: a crowd behind one
// address of a company, and no program that runs wild.
const (
	burst     = 400
	perSecond = 40
	// addresses bounds what is remembered. Beyond it all is forgotten, which only lets more in.
	addresses = 8192
)

// rates counts requests by address, in memory only. An IPv6 network of 64 bits is one address.
type rates struct {
	mu    sync.Mutex
	now   func() time.Time
	state map[netip.Prefix]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newRates() *rates { return &rates{now: time.Now, state: map[netip.Prefix]bucket{}} }

// admit takes one request of an address, host:port, from its bucket; false where that is empty.
func (r *rates) admit(from string) bool {
	where, now := connlimit.Network(from), r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known := r.state[where]
	if !known {
		if len(r.state) >= addresses {
			clear(r.state)
		}
		b = bucket{burst, now}
	}
	b.left = min(burst, b.left+perSecond*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	ok := b.left >= 1
	if ok {
		b.left--
	}
	r.state[where] = b
	return ok
}
