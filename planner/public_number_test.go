package planner

import (
	"strings"
	"testing"
)

// TestPersonsAreCountedWhereTheirNumberIsPublic: by what tells persons apart, whatever is asked of
// their rows, and nowhere else.
func TestPersonsAreCountedWhereTheirNumberIsPublic(t *testing.T) {
	h := newHarness(t)
	if out := h.define(`CREATE TABLE panel (id BIGINT PRIMARY KEY, age INT NOT NULL, note INT);
		CREATE TABLE diary (person BIGINT, kcal INT NOT NULL, note INT, v DOUBLE NOT NULL);
		CREATE TABLE slips (kcal INT NOT NULL)`); strings.Contains(out, "error") {
		t.Fatal(out)
	}
	if out := h.declare("protect shop.panel id panel\nprotect shop.diary person diary\nprotect shop.slips row slips\n" +
		"neighbours shop.panel sized\nneighbours shop.diary sized\nneighbours shop.slips sized"); out != "ok" {
		t.Fatal(out)
	}
	for _, c := range []struct{ query, want string }{
		{"SELECT COUNT(*) FROM panel", "SELECT count(*) FROM \"shop\".\"p"},
		{"SELECT DP_MEAN(age), COUNT(note) FROM panel", "SELECT count(*) FROM \"shop\".\"p"},
		{"SELECT DP_MEDIAN(kcal) FROM slips", "SELECT count(*) FROM \"shop\".\"s"},
		{"SELECT DP_MEAN(kcal) FROM diary", "SELECT count(*) FROM (SELECT t1.\"person\" AS u FROM"},
		{"SELECT DP_MEAN(DP_VECTOR(kcal, kcal)) FROM diary", "SELECT count(*) FROM (SELECT t1.\"person\" AS u FROM"},
		{"SELECT DP_MEAN(note) FROM diary", ""},
		{"SELECT DP_MEAN(v) FROM diary", ""},
		{"SELECT COUNT(*) FROM panel WHERE note > 1", ""},
		{"SELECT note, COUNT(*) FROM panel GROUP BY note", ""},
		{"SELECT AVG(s) FROM (SELECT SUM(kcal) AS s FROM diary GROUP BY person) x", ""},
	} {
		s, _, err := h.plan(c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		got := s.Releases[0].Persons
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) || strings.Contains(got, "kcal") || strings.Contains(got, "note") {
			t.Errorf("%s: persons are counted by %q, want %q…", c.query, got, c.want)
		}
	}
}
