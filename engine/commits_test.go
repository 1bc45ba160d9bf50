package engine

import (
	"fmt"
	"testing"
)

// TestTransactionsEnd: what ends a transaction ends it, well or not. What a client then writes is
// committed statement by statement, and others see it.
func TestTransactionsEnd(t *testing.T) {
	i := start(t, "")
	root, other := i.root(), i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
	n := 0
	for _, c := range []struct {
		name   string
		run    []string // in a transaction in which a key is written that another one takes
		failed bool
	}{
		{"a COMMIT that fails", []string{"COMMIT"}, true},
		{"a BEGIN that cannot commit", []string{"BEGIN"}, true},
		{"a definition that cannot commit", []string{"CREATE TABLE d.u (a INT)"}, true},
		{"a ROLLBACK", []string{"ROLLBACK"}, false},
		{"a definition", []string{"ROLLBACK", "BEGIN", "CREATE TABLE d.v (a INT)"}, false},
	} {
		n += 10
		root.exec("BEGIN", fmt.Sprintf("INSERT INTO d.t VALUES (%d)", n))
		other.exec(fmt.Sprintf("INSERT INTO d.t VALUES (%d)", n))
		for k, q := range c.run {
			if _, err := root.try(q); (err != nil) != (c.failed && k == len(c.run)-1) {
				t.Errorf("%s: %s: %v", c.name, q, err)
			}
		}
		root.exec(fmt.Sprintf("INSERT INTO d.t VALUES (%d)", n+1))
		if got := fmt.Sprint(other.query(fmt.Sprintf("SELECT COUNT(*) FROM d.t WHERE id BETWEEN %d AND %d", n, n+9))); got != "[[2]]" {
			t.Errorf("after %s others see %s rows, want 2", c.name, got)
		}
		root.exec("ROLLBACK")
	}
}
