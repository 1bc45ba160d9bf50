package engine

import (
	"fmt"
	"strings"
	"testing"
)

// What dp_next_load announces is done with the rows of the LOAD DATA, or not at all.
func TestAnnouncedLoads(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.u (id INT)", "CALL dp_public('d.t')", "CALL dp_public('d.u')", "INSERT INTO d.t VALUES (1), (2)")
	announce := func(more string, digit string) string {
		return fmt.Sprintf(`CALL dp_next_load('d.t', '{"files":[{"name":"a%s.csv","sha256":"%s"}]%s}')`, digit, strings.Repeat(digit, 64), more)
	}
	all := func(want string) {
		t.Helper()
		if got := fmt.Sprint(root.query("SELECT id FROM d.t ORDER BY id")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	root.exec(announce("", "1"), file(t, "3\n")+"d.t")
	all("[[1] [2] [3]]")
	if e := root.refused(1644, "45021", announce("", "1")); !strings.Contains(e.Message, "a1.csv was imported on") {
		t.Errorf("got %q", e.Message)
	}
	// Rows that are replaced come back where the load fails, with the list of files.
	root.exec(announce(`,"replace":true`, "2"))
	root.refused(1366, "", file(t, "2\nx\n")+"d.t")
	all("[[1] [2] [3]]")
	root.refused(1644, "45021", announce("", "1"))
	root.exec(announce(`,"replace":true`, "2"), file(t, "2\n3\n4\n")+"d.t")
	all("[[2] [3] [4]]")
	root.refused(1644, "45021", announce("", "2"))
	root.exec(announce("", "1")) // it was replaced
	// A load of another table is not the one that was announced, and one without is an INSERT.
	root.refused(1644, "45011", file(t, "5\n")+"d.u")
	root.exec(file(t, "5\n")+"d.u", file(t, "6\n")+"d.t", announce("", "1"), file(t, "7\n")+"d.t")
	root.exec(announce("", "3"), "BEGIN", "INSERT INTO d.u VALUES (6)")
	root.refused(1644, "45011", file(t, "8\n")+"d.t")
	root.exec("ROLLBACK", announce(`,"again":true`, "1"), file(t, "9\n")+"d.t")
	all("[[2] [3] [4] [6] [7] [9]]")
	root.exec(announce(`,"replace":true`, "4"), file(t, "")+"d.t")
	all("[]")
	for _, bad := range []string{`{`, `{"files":[{"name":"a","sha256":"1"}]}`, `{"fils":[]}`, `[]`} {
		root.refused(1644, "45011", "CALL dp_next_load('d.t', ?)", bad)
	}
	root.refused(1146, "", `CALL dp_next_load('d.missing', '{}')`)
	if _, err := i.analyst(root, "ann", "d").try(announce("", "5")); err == nil {
		t.Error("an analyst has announced a load")
	}
}
