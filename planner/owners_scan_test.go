package planner

import (
	"strings"
	"testing"
)

// TestNoConditionOfSeveralTablesInScansOfPairs: the argument of a total of pairs is not a condition
// of their scan. One on columns of two tables leads the store to join these by it, before it joins
// them by their keys: Q8 of TPC-H then did not end.
func TestNoConditionOfSeveralTablesInScansOfPairs(t *testing.T) {
	h := newHarness(t)
	for _, table := range []string{"CREATE TABLE c (ck INT, x INT)", "CREATE TABLE s (sk INT, n INT, y INT)"} {
		if out := h.define(table); out != "ok" {
			t.Fatal(out)
		}
	}
	for _, policy := range []string{"protect shop.c ck customer", "protect shop.s sk supplier", "disjoint customer supplier"} {
		if out := h.declare(policy); out != "ok" {
			t.Fatal(out)
		}
	}
	const pairs = "FROM c JOIN s ON c.x = s.n"
	for _, text := range []string{
		"SELECT SUM(c.x * s.y) " + pairs,
		"SELECT SUM(CASE WHEN c.x > 1 THEN s.y ELSE NULL END) " + pairs,
		"SELECT AVG(c.x + s.y) " + pairs,
		"SELECT COUNT(c.x + s.y) " + pairs,
	} {
		p, _, err := h.plan(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, scan := range p.Releases[0].Scans {
			_, where, found := strings.Cut(scan.SQL, "WHERE")
			if !found || !strings.Contains(where, `"ck"`) || !strings.Contains(where, `"sk"`) {
				t.Errorf("%s: no condition on the owners in\n%s", text, scan.SQL)
			}
			if strings.Contains(where, `"y"`) {
				t.Errorf("%s: a condition on the argument in\n%s", text, scan.SQL)
			}
		}
	}
}
