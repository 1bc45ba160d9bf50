package connlimit

import (
	"net"
	"testing"
	"time"
)

// listen serves a Listener on loopback, and returns dialling from an address and what was accepted.
func listen(t *testing.T, most, each int) (l *Listener, dial func(from string) (client, accepted net.Conn)) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = New(inner, most, each)
	t.Cleanup(func() { l.Close() })
	return l, func(from string) (client, accepted net.Conn) {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		client, err := d.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Skipf("there is no second address on this machine: %v", err)
		}
		if accepted, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close(); accepted.Close() })
		return client, accepted
	}
}

// closed reports whether the server has closed a connection, which says nothing else.
func closed(t *testing.T, c net.Conn, wait time.Duration) bool {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(wait))
	_, err := c.Read(make([]byte, 1))
	e, ok := err.(net.Error)
	return !ok || !e.Timeout()
}

// long is for what has to come, short for what must not, which a slow machine hides only.
const long, short = time.Minute, 20 * time.Millisecond

// TestQuietOnesMakeRoom: where all connections are taken, the one that answers nothing is closed
// for the next, of the address with most of them, and the oldest first.
func TestQuietOnesMakeRoom(t *testing.T) {
	const here, there = "127.0.0.1", "127.0.0.2"
	l, dial := listen(t, 4, 0)
	other, _ := dial(there)
	busy, accepted := dial(here)
	done, ok := l.Answering(accepted)
	if !ok {
		t.Fatal("a first request has no room")
	}
	first, _ := dial(here)
	second, _ := dial(here)
	third, _ := dial(there)
	if !closed(t, first, long) || closed(t, second, short) || closed(t, other, short) || closed(t, busy, short) {
		t.Error("for a fifth connection not the oldest quiet one of the address with two was closed")
	}
	done()
	done() // says nothing more
	fourth, _ := dial(here)
	if !closed(t, other, long) || closed(t, second, short) || closed(t, third, short) || closed(t, busy, short) {
		t.Error("where both addresses have two, not the one that was quiet for longest was closed")
	}
	dial(here)
	if !closed(t, second, long) || closed(t, busy, short) || closed(t, fourth, short) {
		t.Error("the end of a request does not count as its connection's last sign")
	}
	if len(l.open) != 4 || l.all != 0 || len(l.busy) != 0 {
		t.Errorf("%d connections and %d requests are counted, %v", len(l.open), l.all, l.busy)
	}
}

// TestRequestsAreBounded: an eighth of the connections stays without a request, one address has its
// share, and a request that ends makes room for another.
func TestRequestsAreBounded(t *testing.T) {
	l, dial := listen(t, 16, 10)
	var done []func()
	answer := func(c net.Conn) bool {
		d, ok := l.Answering(c)
		if ok {
			done = append(done, d)
		}
		return ok
	}
	_, here := dial("127.0.0.1")
	_, there := dial("127.0.0.2")
	_, third := dial("127.0.0.3")
	for n := range 11 {
		if ok := answer(here); ok != (n < 10) {
			t.Errorf("request %d of one address: %v", n+1, ok)
		}
	}
	for n := range 5 {
		if ok := answer(there); ok != (n < 4) {
			t.Errorf("request %d of all: %v", n+11, ok)
		}
	}
	if answer(third) {
		t.Error("a fifteenth request of all is answered")
	}
	done[0]()
	if !answer(third) || answer(third) {
		t.Error("a request that ended did not make room for one")
	}
}

// TestLimitsChange: more connections are taken when the limit grows, and those beyond a lower one
// are closed when others come, but for what is being answered.
func TestLimitsChange(t *testing.T) {
	l, dial := listen(t, 1, 0)
	first, _ := dial("127.0.0.1")
	l.SetLimits(4, 0)
	second, accepted := dial("127.0.0.1")
	third, _ := dial("127.0.0.1")
	if closed(t, first, short) {
		t.Error("a connection was closed where there is room for it")
	}
	if _, ok := l.Answering(accepted); !ok {
		t.Fatal("no room for a request")
	}
	l.SetLimits(2, 0)
	fourth, _ := dial("127.0.0.1")
	if !closed(t, first, long) || !closed(t, third, long) || closed(t, second, short) || closed(t, fourth, short) {
		t.Error("not the quiet ones were closed")
	}
	l.SetLimits(1, 0)
	fifth, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer fifth.Close()
	go l.Accept()
	if !closed(t, fifth, long) || !closed(t, fourth, long) || closed(t, second, short) {
		t.Error("a connection was taken where all are answering")
	}
}

// TestNetworks: addresses are counted by network.
func TestNetworks(t *testing.T) {
	if Network("[2001:db8::1:2]:9") != Network("[2001:db8::3]:1") || Network("192.0.2.1:1") == Network("192.0.2.2:1") || Network("[::ffff:192.0.2.1]:1") != Network("192.0.2.1:5") {
		t.Error("addresses are not counted by network")
	}
}
