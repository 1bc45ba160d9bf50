package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"scrim/engine/mysql/wire"
	"scrim/test/testenv"
)

// sendLong sends a part of long data of a statement's parameter.
func (c *raw) sendLong(id []byte, parameter byte, data []byte) {
	c.command(append(append(append([]byte{0x18}, id...), parameter, 0), data...)...)
}

// TestLongDataIsBounded: a value has at most max_allowed_packet, a connection's values together
// twice that, and all connections' four times; what is too much is told when the statement is
// executed, and what was held is given back.
func TestLongDataIsBounded(t *testing.T) {
	const most = 1 << 20
	l := serveWith(t, wire.Config{MaxPacket: most}, &echo{})
	c := connect(t, l).login(0)
	part := bytes.Repeat([]byte{'x'}, most/4)
	run := func(c *raw, id []byte) { c.execute(id, 0, 0, 1, 0xfc, 0, 0xfc, 0, 0xfc, 0, 0xfc, 0, 0, 0, 0, 0) }
	one := c.prepare("echo ? ? ? ?")
	for range 5 {
		c.sendLong(one, 0, part)
	}
	run(c, one)
	if b := c.read(); b[0] != 0xff || binary.LittleEndian.Uint16(b[1:]) != 1105 || !bytes.Contains(b, []byte("longer than 'max_allowed_packet' bytes")) {
		t.Errorf("a value that is too long: got %.200q", b)
	}
	for range 3 { // for ever, if nothing were given back
		for parameter := range byte(3) {
			for range 4 {
				c.sendLong(one, parameter, part)
			}
		}
		run(c, one)
		c.failed(3170)
		for parameter := range byte(2) {
			c.sendLong(one, parameter, part)
		}
		c.command(append([]byte{0x1a}, one...)...)
		c.ok()
	}
	if held := l.Held(); held != 0 {
		t.Errorf("%d bytes are counted after the statements were executed", held)
	}
	var others []*raw
	for i := range 2 {
		o := connect(t, l).login(0)
		id := o.prepare("echo ? ? ? ?")
		for j := range 8 - i { // the last packet and its value do not both fit
			o.sendLong(id, byte(j/4), part)
		}
		o.alive()
		others = append(others, o)
	}
	c.sendLong(one, 0, part)
	run(c, one)
	c.failed(1041)
	for _, o := range others {
		o.command(0x01)
		o.gone()
	}
	testenv.Until(t, time.Minute, "no bytes to be counted when the connections have ended", func() bool { return l.Held() == 0 })
}

// memory is what the process has taken of the operating system and not given back.
func memory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse+m.StackInuse) + int64(m.HeapIdle-m.HeapReleased)
}

// TestLargePacketsGoBack: what large packets and long data took is given back to the operating
// system while the connections are open.
func TestLargePacketsGoBack(t *testing.T) {
	l := serveWith(t, wire.Config{MaxPacket: 64 << 20}, &echo{})
	debug.FreeOSMemory()
	before := memory()
	large := bytes.Repeat([]byte{' '}, 8<<20)
	for range 6 {
		c := connect(t, l).login(0)
		id := c.prepare("echo ? ?")
		for range 4 {
			c.sendLong(id, 0, large)
		}
		c.command(append([]byte{0x1a}, id...)...)
		c.ok()
		c.text(0x03, string(large)+"ok")
		c.ok()
		c.text(0x05, string(large)) // no command
		c.failed(1047)
	}
	testenv.Succeeds(t, time.Minute, "what 240 MiB took", func() error {
		if grown := (memory() - before) >> 20; grown >= 32 {
			return fmt.Errorf("%d MiB are kept", grown)
		}
		return nil
	})
}

// TestStrangersHoldLittle: who has not logged in makes the server hold a few dozen KiB, in clear
// and in TLS.
func TestStrangersHoldLittle(t *testing.T) {
	const strangers = 100
	l := serveWith(t, wire.Config{TLS: certificate(t), AuthTimeout: time.Hour, MaxConnections: 2 * strangers}, &echo{})
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc + m.StackInuse
	for i := range 2 * strangers {
		c := greeting(t, l)
		// a login but for its last byte
		half := append([]byte{0xff, 0x3f, 0, 1}, make([]byte, 16<<10-2)...)
		if i%2 == 1 {
			request := make([]byte, 36)
			request[0], request[3] = 32, 1
			binary.LittleEndian.PutUint32(request[4:], capabilities|1<<11)
			// and a hello that does not end
			hello := append([]byte{22, 3, 1, 0x3f, 0xff, 1, 0, 0xff, 0xff}, make([]byte, 60<<10)...)
			half = append(request, hello...)
		}
		go func(c net.Conn) { _, _ = c.Write(half) }(c)
	}
	time.Sleep(500 * time.Millisecond)
	runtime.GC()
	runtime.ReadMemStats(&m)
	if each := (int64(m.HeapAlloc+m.StackInuse) - int64(before)) / (2 * strangers); each > 100<<10 {
		t.Errorf("a connection that has not logged in holds %d KiB, on both sides", each>>10)
	} else {
		t.Logf("%d KiB each, on both sides", each>>10)
	}
}
