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
