package engine

import (
	"strings"
	"testing"
)

// TestLastCost: dp.last_cost tells what the connection's last private statement was charged, with
// its pilot, or which charge paid for the stored answer; nothing that another session of the
// account does at the same time is among it, and public statements and refusals leave it.
func TestLastCost(t *testing.T) {
	i := startWith(t, "", seeded(t, "last cost", 1))
	root := i.root()
	people(t, root, 4000)
	ann, also := i.analyst(root, "ann", "d"), i.client("ann", "pw-ann")
	ann.exec("USE d")
	also.exec("USE d")
	cost := func(c *client) string {
		var out []string
		for _, r := range c.query("SELECT number, entry, account, COALESCE(id, replay_of), replay_of IS NULL, remaining_epsilon < 1000 FROM dp.last_cost WHERE account_type = 'table' ORDER BY id") {
			out = append(out, strings.Join(r, " "))
		}
		return strings.Join(out, ", ")
	}
	want := func(c *client, want string) {
		t.Helper()
		if got := cost(c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	last := func() string { return root.query("SELECT MAX(id) FROM dp.ledger WHERE entry = 'charge'")[0][0] }

	want(ann, "")
	ann.query("SELECT COUNT(*) FROM people")
	first := last()
	also.query("SELECT COUNT(*) FROM people WHERE age < 40")
	second := last()
	own, others := "1 charge d.people "+first+" 1 1", "1 charge d.people "+second+" 1 1"
	want(ann, own)
	want(also, others)
	ann.query("SELECT 1")
	if _, err := ann.try("SELECT income FROM people"); err == nil {
		t.Fatal("rows of persons were shown")
	}
	want(ann, own)
	also.query("SELECT COUNT(*) FROM people")
	want(also, "2 replay d.people "+first+" 0 NULL")
	ann.query("SELECT COUNT(*) FROM people WHERE age < 40")
	want(ann, "2 replay d.people "+second+" 0 NULL")

	ann.exec("SET dp_pilot = 0.2", "SET dp_target_error = 0.3")
	ann.query("SELECT AVG(age) FROM people WHERE city = 'north'")
	if got := cost(ann); strings.Count(got, "3 charge d.people") != 2 {
		t.Errorf("a pilot and its query: got %q", got)
	}
	if n := len(i.client("ann", "pw-ann").query("SELECT * FROM dp.last_cost")); n != 0 {
		t.Errorf("a new connection has %d lines", n)
	}
}
