package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"scrim/engine/mysql/wire"
)

// both runs a test in clear and in TLS, on a connection that has logged in.
func both(t *testing.T, more uint32, cfg wire.Config, f func(t *testing.T, c *raw, h *echo)) {
	for _, secure := range []bool{false, true} {
		t.Run(map[bool]string{false: "in clear", true: "in TLS"}[secure], func(t *testing.T) {
			cfg := cfg
			cfg.TLS = certificate(t)
			h := &echo{}
			l := serveWith(t, cfg, h)
			c := connect(t, l)
			if secure {
				c.secure()
			}
			f(t, c.login(more), h)
		})
	}
}

func TestCommands(t *testing.T) {
	both(t, multi, wire.Config{}, func(t *testing.T, c *raw, h *echo) {
		c.alive()
		c.command(0x09)
		if got := string(c.read()); got != "Uptime: 7  Threads: 1" {
			t.Errorf("COM_STATISTICS: got %q", got)
		}
		c.text(0x02, "shop")
		c.ok()
		c.text(0x02, "missing")
		c.failed(1049)
		c.text(0x03, "ok")
		if got := c.ok(); !bytes.Equal(got[1:5], []byte{3, 0xfc, 300 & 0xff, 300 >> 8}) || !strings.HasSuffix(string(got), "\x28Rows matched: 3  Changed: 3  Warnings: 0") {
			t.Errorf("an OK packet: got %q", got)
		}
		c.text(0x03, "rows 7")
		if rows, _ := c.rows(); len(rows) != 7 || string(rows[4]) != "\x014\xfb" || string(rows[3]) != "\x013\x03xxx" {
			t.Errorf("rows: got %q", rows)
		}
		c.command(append([]byte{0x04}, "t\x00"...)...)
		if a, b, end := c.read(), c.read(), c.read(); a[len(a)-1] != 0xfb || b[len(b)-1] != 0xfb || end[0] != 0xfe {
			t.Errorf("COM_FIELD_LIST: got %q, %q, %q", a, b, end)
		}
		c.command(append([]byte{0x04}, "t\x00%D"...)...)
		if a, end := c.read(), c.read(); !bytes.Contains(a, []byte("id")) || end[0] != 0xfe {
			t.Errorf("COM_FIELD_LIST with a pattern: got %q, %q", a, end)
		}
		c.command(append([]byte{0x04}, "missing\x00"...)...)
		c.failed(1146)
		c.command(0x1f)
		c.ok()
		c.command(0x0d) // COM_DEBUG
		c.failed(1047)
		c.command(0x01)
		c.gone()
		if got := h.noted(); got != "in:native use:first use:shop reset:native" {
			t.Errorf("sessions: got %q", got)
		}
	})
}

func TestStatementsOneByOne(t *testing.T) {
	both(t, multi, wire.Config{}, func(t *testing.T, c *raw, _ *echo) {
		const more = 8
		c.text(0x03, "rows 2; ok; rows 1; fail; rows 5")
		if rows, flags := c.rows(); len(rows) != 2 || flags&more == 0 {
			t.Errorf("first: got %d rows, flags %x", len(rows), flags)
		}
		if b := c.ok(); b[5]&more == 0 { // behind one byte and three
			t.Errorf("second: got flags %x", b[5])
		}
		if rows, flags := c.rows(); len(rows) != 1 || flags&more == 0 {
			t.Errorf("third: got %d rows, flags %x", len(rows), flags)
		}
		c.failed(1064)
		c.alive() // the last one did not run
		c.text(0x03, "rows 1")
		if _, flags := c.rows(); flags&more != 0 {
			t.Errorf("one statement: got flags %x", flags)
		}
		c.command(0x1b, 1, 0) // off
		if b := c.read(); b[0] != 0xfe {
			t.Errorf("COM_SET_OPTION: got %q", b)
		}
		c.text(0x03, "rows 1; rows 1")
		if rows, flags := c.rows(); len(rows) != 1 || flags&more != 0 {
			t.Errorf("switched off: got %d rows, flags %x", len(rows), flags)
		}
		c.alive()
		c.command(0x1b, 0, 0)
		c.read()
		c.text(0x03, "ok; ok")
		c.ok()
		c.ok()
		c.alive()
	})
}

func TestErrorsInsideAResult(t *testing.T) {
	both(t, 0, wire.Config{}, func(t *testing.T, c *raw, _ *echo) {
		c.text(0x03, "late 1000")
		rows, _ := c.rows()
		if last := rows[len(rows)-1]; len(rows) != 1001 || last[0] != 0xff || binary.LittleEndian.Uint16(last[1:]) != 1317 {
			t.Errorf("got %d rows, the last is %q", len(rows), last)
		}
		c.alive()
	})
}

// prepare returns the statement's id.
func (c *raw) prepare(text string) []byte {
	c.t.Helper()
	c.text(0x16, text)
	b := c.read()
	if len(b) != 12 || b[0] != 0 {
		c.t.Fatalf("COM_STMT_PREPARE: got %q", b)
	}
	for _, n := range []uint16{binary.LittleEndian.Uint16(b[7:]), binary.LittleEndian.Uint16(b[5:])} {
		for range n {
			c.read()
		}
		if n > 0 {
			if b := c.read(); b[0] != 0xfe {
				c.t.Fatalf("COM_STMT_PREPARE: got %q behind the definitions", b)
			}
		}
	}
	return b[1:5]
}

// execute sends COM_STMT_EXECUTE with a cursor asked for, and what comes behind.
func (c *raw) execute(id []byte, cursor byte, values ...byte) {
	b := append(append([]byte{0x17}, id...), cursor, 1, 0, 0, 0)
	c.command(append(b, values...)...)
}

func TestPrepared(t *testing.T) {
	both(t, 0, wire.Config{}, func(t *testing.T, c *raw, h *echo) {
		want := func(what, text string) {
			t.Helper()
			rows, flags := c.rows()
			if len(rows) != 1 || string(rows[0][3:]) != text {
				t.Errorf("%s: got %q, want %q", what, rows, text)
			}
			if flags&0x40 != 0 {
				t.Errorf("%s: a cursor was opened", what)
			}
		}
		id := c.prepare("echo ? ?")
		both := []byte{0, 1, 0x08, 0, 0xfd, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3, 'a', 'b', 'c'}
		c.execute(id, 0, both...)
		want("two values", "INT64 7; VARCHAR abc")
		c.execute(id, 1, both...)
		want("a cursor", "INT64 7; VARCHAR abc")
		c.execute(id, 0, 2, 0, 9, 0, 0, 0, 0, 0, 0, 0x80)
		want("the types as before, and a NULL", "INT64 -9223372036854775799; NULL_TYPE ")
		c.execute(id, 0, 0, 1, 0x01, 0x80, 0x0c, 0, 200, 11, 0xe8, 7, 2, 29, 1, 2, 3, 5, 0, 0, 0)
		want("an unsigned number and a time", "UINT64 200; VARCHAR 2024-02-29 01:02:03.000005")
		c.execute(id, 0, 0, 1, 0x0b, 0, 0xf6, 0, 8, 1, 2, 0, 0, 0, 3, 4, 5, 4, '1', '.', '5', '0')
		want("a duration and a decimal", "VARCHAR -51:04:05; DECIMAL 1.50")

		long := append(append([]byte{0x18}, id...), 1, 0)
		c.command(append(long, "long "...)...)
		c.command(append(long, "data"...)...)
		c.execute(id, 0, 0, 1, 0x01, 0, 0xfc, 0, 5)
		want("long data", "INT64 5; VARBINARY long data")
		c.command(append(long, "lost"...)...)
		c.command(append([]byte{0x1a}, id...)...)
		c.ok()
		c.execute(id, 0, both...)
		want("after COM_STMT_RESET", "INT64 7; VARCHAR abc")
		c.command(append(append([]byte{0x18}, id...), 9, 0, 'x')...)
		c.execute(id, 0, both...)
		c.failed(1210)

		c.command(append(append([]byte{0x1c}, id...), 1, 0, 0, 0)...)
		c.failed(1421)
		c.command(append([]byte{0x19}, id...)...)
		c.execute(id, 0, both...)
		c.failed(1243)
		c.text(0x16, "fail")
		c.failed(1064)
		other := c.prepare("rows 3")
		c.execute(other, 0)
		if rows, _ := c.rows(); len(rows) != 3 || string(rows[1][:2]) != "\x00\x00" || rows[1][2] != 1 {
			t.Errorf("binary rows: got %q", rows)
		}
		c.command(0x1f)
		c.ok()
		c.execute(other, 0)
		c.failed(1243)
		if !strings.Contains(h.noted(), "forget:echo ? ? forget:rows 3") {
			t.Errorf("closed statements: got %q", h.noted())
		}
	})
}

func TestIdleClientsAreTold(t *testing.T) {
	h := &echo{timeouts: wire.Timeouts{Idle: 300 * time.Millisecond}}
	l := serveWith(t, wire.Config{}, h)
	start := time.Now()
	c := connect(t, l).login(0)
	c.sequence = 0
	c.failed(4031)
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("told after %v, want 300ms", d)
	}
	c.gone()
}

func TestLargePackets(t *testing.T) {
	const full = 1<<24 - 1
	l := serveWith(t, wire.Config{MaxPacket: full + 100}, &echo{})
	c := connect(t, l).login(0)
	for _, n := range []int{full - 1, full, full + 50} {
		text := append([]byte{0x03}, bytes.Repeat([]byte{' '}, n-1-6)...)
		text = append(text, "rows 2"...)
		c.sequence = 0
		for last := false; !last; {
			part := text[:min(len(text), full)]
			last = len(part) < full
			c.write(part)
			text = text[len(part):]
		}
		if rows, _ := c.rows(); len(rows) != 2 {
			t.Errorf("a command of %d bytes: got %d rows", n, len(rows))
		}
	}
	c.sequence = 0
	_, _ = c.conn.Write([]byte{0xff, 0xff, 0xff, 0})
	_, _ = c.conn.Write(make([]byte, full))
	_, _ = c.conn.Write([]byte{0xc8, 0, 0, 1})
	c.sequence = 2
	c.failed(1153)
	c.gone()
}

// TestMalformedCommands sends every command with bodies that end too early or mean nothing: an
// answer or the connection's end must come, and no other client may notice.
func TestMalformedCommands(t *testing.T) {
	l := serveWith(t, wire.Config{AuthTimeout: 10 * time.Second}, &echo{})
	witness := connect(t, l).login(multi)
	bodies := [][]byte{nil, {0}, {1}, {0xff}, {0xfb, 0xfb}, {1, 0, 0}, {1, 0, 0, 0}, {9, 9, 9, 9}, {1, 0, 0, 0, 0, 1, 0, 0, 0},
		{1, 0, 0, 0, 0, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0xfd, 0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0xfd, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x77, 0, 1}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x0c, 0, 5, 1, 2, 3, 4, 5}, {1, 0, 0, 0, 0xff, 0xff, 'x'},
		bytes.Repeat([]byte{0}, 300), bytes.Repeat([]byte{0xff}, 300), []byte("native\x00\xff"), []byte("x\x00\x00\x00\x00\x00\x00"), []byte("panic")}
	for command := range 256 {
		if command > 0x22 && command < 0xf8 && command != 0x80 { // none of them is known
			continue
		}
		for i, body := range bodies {
			c := connect(t, l).login(multi)
			c.prepare("echo ?")
			c.command(append([]byte{byte(command)}, body...)...)
			c.sequence = 0
			c.write([]byte{0x01}) // COM_QUIT: the connection must end
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
			if !ended(c.conn) {
				t.Fatalf("command %#x, body %d: the connection hangs", command, i)
			}
			c.conn.Close()
		}
	}
	_ = witness.conn.SetDeadline(time.Now().Add(time.Minute))
	witness.alive()
	witness.sequence = 0
	_, _ = witness.conn.Write([]byte{0, 0, 0, 0}) // an empty packet
	witness.sequence = 1
	witness.failed(1835)
	witness.alive()
	_, _ = witness.conn.Write([]byte{1, 0, 0, 7, 0x0e}) // out of order
	witness.gone()
}

func FuzzCommands(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0x0e, 2, 0, 0, 0, 0x03, 'x'})
	f.Add([]byte{9, 0, 0, 0, 0x17, 1, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte("\x0a\x00\x00\x00\x11native\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		l := serveWith(t, wire.Config{AuthTimeout: time.Second, MaxPacket: 1 << 16}, &echo{timeouts: wire.Timeouts{Body: time.Second}})
		c := connect(t, l).login(multi)
		c.prepare("echo ? ?")
		_, _ = c.conn.Write(stream)
		if tcp, ok := c.conn.(interface{ CloseWrite() error }); ok {
			_ = tcp.CloseWrite()
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
		if !ended(c.conn) {
			t.Error("the connection hangs")
		}
	})
}

// TestNewCapabilities: a client that wants no EOF packets gets none.
func TestNewCapabilities(t *testing.T) {
	c := connect(t, serveWith(t, wire.Config{}, &echo{})).login(deprecateEOF)
	c.text(0x03, "rows 1")
	var packets []string
	for range 5 {
		packets = append(packets, fmt.Sprintf("%x", c.read()[0]))
	}
	if got := strings.Join(packets, " "); got != "2 3 3 1 fe" {
		t.Errorf("got packets that begin with %s, want the columns' number, two columns, a row, and OK", got)
	}
	c.alive()
}

// The texts of prepared statements take memory until they are closed.
func TestPreparedTextsAreBounded(t *testing.T) {
	c := connect(t, serveWith(t, wire.Config{MaxPacket: 4000}, &echo{})).login(0)
	text := "echo ?" + strings.Repeat(" ", 1494)
	first := c.prepare(text)
	c.prepare(text)
	c.text(0x16, text)
	c.failed(1461)
	c.command(append([]byte{0x19}, first...)...)
	c.prepare(text)
	c.text(0x16, text)
	c.failed(1461)
	c.command(0x1f)
	c.ok()
	c.prepare(text)
}
