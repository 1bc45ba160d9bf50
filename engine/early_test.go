package engine

import (
	"testing"
	"time"

	"scrim/engine/mysql/statement/cutoff"
)

// TestCommandsMayComeEarly: clients that do not wait for an answer before they send the next
// command get both, also where the first one takes its time, and COM_QUIT behind a statement ends
// that.
func TestCommandsMayComeEarly(t *testing.T) {
	i := start(t, "")
	root := i.root()
	c := i.rawDial("root", rootPassword, 0)
	row := func() string {
		for range c.read()[0] {
			c.read()
		}
		c.read()
		r := string(c.read())
		c.read()
		return r
	}
	send := func(command string) {
		c.sequence = 0
		c.write([]byte(command))
	}
	send("\x03SELECT SLEEP(0.7)")
	time.Sleep(2 * cutoff.WatchAfter) // the client is watched by now
	send("\x03SELECT 42")
	send("\x03SELECT 43")
	for _, want := range []string{"\x010", "\x0242", "\x0243"} {
		if got := row(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	send("\x03SELECT SLEEP(600)")
	time.Sleep(2 * cutoff.WatchAfter)
	send("\x01")
	root.sleeping("0")
}
