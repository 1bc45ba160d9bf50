package connlimit

import (
	"net"
	"testing"
	"time"
)

// TestOneAddressHasItsShare: a third connection of an address is closed at once, and one that ends
// makes room for another.
func TestOneAddressHasItsShare(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New(inner, 10, 2)
	defer l.Close()
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	dial()
	dial()
	first := <-accepted
	<-accepted
	third := dial()
	_ = third.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := third.Read(make([]byte, 1)); err == nil {
		t.Error("a third connection of one address was served")
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("a third connection of one address was left open")
	}
	first.Close()
	dial()
	select {
	case <-accepted:
	case <-time.After(10 * time.Second):
		t.Error("a connection that ended left no room")
	}
}

// TestLimitsChange: a listener that is full takes more when its limits grow, and less than are open
// when they shrink.
func TestLimitsChange(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := New(inner, 1, 0)
	accepted := make(chan net.Conn, 10)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	for range 3 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	next := func(want bool, when string) (c net.Conn) {
		t.Helper()
		wait := 10 * time.Second
		if !want {
			wait = 100 * time.Millisecond
		}
		select {
		case c = <-accepted:
			if !want {
				t.Errorf("%s: a connection is accepted", when)
			}
		case <-time.After(wait):
			if want {
				t.Fatalf("%s: no connection is accepted", when)
			}
		}
		return c
	}
	first := next(true, "one of one")
	next(false, "two of one")
	l.SetLimits(2, 0)
	second := next(true, "two of two")
	l.SetLimits(1, 0)
	first.Close()
	next(false, "with one open, of one")
	second.Close()
	next(true, "with none open, of one")
	l.Close()
	if _, open := <-accepted; open {
		t.Error("a closed listener accepts")
	}
	if Network("[2001:db8::1:2]:9") != Network("[2001:db8::3]:1") || Network("192.0.2.1:1") == Network("192.0.2.2:1") || Network("[::ffff:192.0.2.1]:1") != Network("192.0.2.1:5") {
		t.Error("addresses are not counted by network")
	}
}
