package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestPreviews: a preview of a protected table is refused with what to write instead. Under
// dp_preview = 'empty' it has the columns, no rows, a warning and no charge, whatever the table
// holds; a copy of the table stays refused. MIN, MAX and lists of values come from what is
// declared, with a note.
func TestPreviews(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 50)
	root.exec(`CALL dp_set_domain('d.people', 'age', '{"min":10,"max":99}')`, "CREATE TABLE d.hidden (id INT, age INT)", "INSERT INTO d.hidden VALUES (1, 2)")
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d")
	const preview = "SELECT * FROM people LIMIT 1"
	if e := ann.refused(1644, "45002", preview); !strings.Contains(e.Message, "dp_preview") {
		t.Errorf("got %v, want the remedy", e)
	}
	ann.exec("SET dp_preview = 'empty'")
	if got, err := ann.answer(preview); err != nil || len(got.rows) != 0 || fmt.Sprint(got.columns) != "[id city age income h]" {
		t.Errorf("got %v, %v, want the columns and no rows", got, err)
	}
	if w := ann.query("SHOW WARNINGS"); len(w) != 1 || !strings.Contains(w[0][2], "not shown") {
		t.Errorf("got warnings %v", w)
	}
	ann.refused(1644, "45002", "SELECT * FROM people")
	ann.refused(1644, "45001", "SELECT * FROM hidden LIMIT 1")
	ann.exec("SET dp_preview = DEFAULT")
	ann.refused(1644, "45002", preview)
	ann.refused(1231, "42000", "SET dp_preview = 'rows'")
	root.exec("SET GLOBAL dp_preview = 'empty'")
	defer root.exec("SET GLOBAL dp_preview = 'refuse'")
	if got, err := i.client("ann", "pw-ann").answer("SELECT * FROM d.people LIMIT 1"); err != nil || len(got.rows) != 0 {
		t.Errorf("set for all sessions: got %v, %v", got, err)
	}
	if _, err := ann.try("SET GLOBAL dp_preview = 'empty'"); err == nil {
		t.Error("an analyst set a variable for everybody")
	}
	if _, err := root.try("SET GLOBAL dp_preview = 'rows'"); err == nil {
		t.Error("a value that nobody knows was set")
	}
	for query, want := range map[string]string{
		"SELECT MIN(age), MAX(age) FROM people":               "[[10 99]]",
		"SELECT DISTINCT city FROM people ORDER BY city":      "[[east] [north] [south] [west]]",
		"SELECT city FROM people GROUP BY city ORDER BY city": "[[east] [north] [south] [west]]",
	} {
		if got := fmt.Sprint(ann.query(query)); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
		if w := ann.query("SHOW WARNINGS"); len(w) != 1 || w[0][0] != "Note" || !strings.Contains(w[0][2], "declared") {
			t.Errorf("%s: got warnings %v, want a note", query, w)
		}
	}
	ann.exec("SET dp_rewrite = OFF")
	ann.refused(1644, "45008", "SELECT MIN(age), MAX(age) FROM people")
	if n := len(ann.query("SELECT * FROM dp.ledger")); n != 0 {
		t.Errorf("got %d lines in the ledger, want none", n)
	}
}
