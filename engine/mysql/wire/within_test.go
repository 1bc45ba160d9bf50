package wire

import (
	"context"
	"errors"
	"net"
	"testing"
)

// TestDoorsLetInFromBothSides: who comes from within has the address that they come on behalf of.
func TestDoorsLetInFromBothSides(t *testing.T) {
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDoors(raw)
	behalf := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 4}
	for _, c := range []struct {
		host string
		dial func() (net.Conn, error)
	}{
		{"10.1.2.3", func() (net.Conn, error) { return d.Dial(context.Background(), behalf) }},
		{"127.0.0.1", func() (net.Conn, error) { return net.Dial("tcp", raw.Addr().String()) }},
	} {
		come := make(chan error, 1)
		go func() {
			conn, err := c.dial()
			if err == nil {
				_, err = conn.Write([]byte("x"))
				_ = conn.Close()
			}
			come <- err
		}()
		conn, err := d.Accept()
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1)
		if _, err := conn.Read(b); err != nil || b[0] != 'x' || HostOf(conn.RemoteAddr()) != c.host {
			t.Errorf("got %q from %s, %v, want x from %s", b, conn.RemoteAddr(), err, c.host)
		}
		if err := <-come; err != nil {
			t.Error(err)
		}
		_ = conn.Close()
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := d.Dial(context.Background(), behalf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the end from within: %v", err)
	}
}
