package wire_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"scrim/engine/mysql/wire"
)

// changeUser sends COM_CHANGE_USER without an answer to any salt, as the client library of MySQL
// does.
func (c *raw) changeUser(user, password, db string) {
	c.t.Helper()
	c.command(append([]byte{0x11}, user+"\x00\x00"+db+"\x00\x2d\x00mysql_native_password\x00"...)...)
	b := c.read()
	if len(b) < 20 || b[0] != 0xfe || !bytes.HasPrefix(b[1:], []byte("mysql_native_password\x00")) {
		c.t.Fatalf("COM_CHANGE_USER: got %q, want a new salt", b)
	}
	fresh := b[len(b)-21 : len(b)-1]
	if bytes.Equal(fresh, c.salt) {
		c.t.Error("the salt is the old one")
	}
	c.salt = fresh
	c.write(native(password, fresh))
}

func TestChangeUser(t *testing.T) {
	both(t, 0, wire.Config{}, func(t *testing.T, c *raw, h *echo) {
		id := c.prepare("echo")
		c.changeUser("native", "secret", "second")
		c.ok()
		c.execute(id, 0)
		c.failed(1243)
		if got := h.noted(); got != "in:native use:first forget:echo out:native in:native use:second" {
			t.Errorf("sessions: got %q", got)
		}
		// Clients that keep the greeting's salt answer in the command.
		c.command(append(append([]byte{0x11}, "native\x00\x14"...), append(native("secret", c.salt), "\x00"...)...)...)
		c.ok()
		c.alive()
		c.changeUser("native", "wrong", "")
		c.failed(1045)
		c.gone()
	})
	both(t, 0, wire.Config{AuthTimeout: 1500 * time.Millisecond}, func(t *testing.T, c *raw, _ *echo) {
		time.Sleep(1700 * time.Millisecond) // the deadline of the login is no longer in force
		start := time.Now()
		c.command(append([]byte{0x11}, "native\x00\x00\x00"...)...)
		c.read()
		// and nothing comes
		if over := ended(c.conn); !over || time.Since(start) < 1500*time.Millisecond {
			t.Errorf("a change of the user was waited for %v, want 1.5 s; ended: %v", time.Since(start), over)
		}
	})
	both(t, 0, wire.Config{}, func(t *testing.T, c *raw, _ *echo) {
		c.changeUser("native", "secret", "missing")
		c.failed(1049)
		c.gone()
	})
}

// first sends the answer to the greeting.
func (c *raw) first(flags uint32, user, plugin string, response []byte) {
	b := append(binary.LittleEndian.AppendUint32(nil, flags), make([]byte, 28)...)
	b = append(append(b, user...), 0, byte(len(response)))
	b = append(b, response...)
	if flags&(1<<19) != 0 {
		b = append(append(b, plugin...), 0)
	}
	c.write(b)
}

// TestClientsAreAskedForTheAccountsPlugin: whatever plugin a client begins with, that of the
// account counts.
func TestClientsAreAskedForTheAccountsPlugin(t *testing.T) {
	const flags = 1 | 1<<9 | 1<<15 | 1<<19
	l := serve(t, wire.Config{})
	for _, plugin := range []string{"caching_sha2_password", "sha256_password", "dialog", ""} {
		c := connect(t, l)
		c.first(flags, "native", plugin, bytes.Repeat([]byte{7}, 32))
		if plugin == "" { // means the old default
			c.failed(1045)
			continue
		}
		b := c.read()
		if !bytes.HasPrefix(b, []byte("\xfemysql_native_password\x00")) {
			t.Fatalf("%q: got %q, want to be asked for mysql_native_password", plugin, b)
		}
		c.write(native("secret", b[len(b)-21:len(b)-1]))
		c.ok()
	}
	c := connect(t, l)
	// a client that knows no plugins
	c.first(flags&^(1<<19), "native", "", native("secret", c.salt))
	c.ok()
	c = connect(t, l)
	c.first(flags&^(1<<19), "sha2", "", native("secret", c.salt))
	c.failed(1045)
	c.gone()
	c = connect(t, l)
	c.first(flags, "nobody", "mysql_native_password", nil) // asked once, and then denied
	if b := c.read(); b[0] != 0xfe {
		t.Errorf("an empty response: got %q, want to be asked", b)
	}
	c.write(nil)
	c.failed(1045)
	for _, answer := range [][]byte{nil, {1}, bytes.Repeat([]byte{0xff}, 40), make([]byte, 31), append(binary.LittleEndian.AppendUint32(nil, flags), make([]byte, 28)...)} {
		c := connect(t, l)
		c.write(answer)
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
		if !ended(c.conn) {
			t.Errorf("%x: the connection hangs", answer)
		}
	}
}
