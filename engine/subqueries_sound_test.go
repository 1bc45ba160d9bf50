package engine

import (
	"math/big"
	"testing"

	"scrim/test/stattest"
)

// TestRowsOfOthersWouldDecide is the broken variant of subqueries over a person's own rows: the
// same rows in a table that is declared public may decide about the rows of all, as a correlation
// off the unit would have them do. One person then loses more than is charged; by the unit it does
// not, nor where what is compared with was released.
func TestRowsOfOthersWouldDecide(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec(soundSchema...)
	root.exec("CREATE TABLE s.copies (person INT, city VARCHAR(8))", "CALL dp_public('s.copies')", "CALL dp_set_domain('s.people', 'city', '[\"c0\",\"c1\"]')", "SET dp_raw = ON")
	fill(root, nil)
	root.exec("INSERT INTO s.copies VALUES (1, 'c1')", "SET dp_raw = OFF")

	off := "SELECT COUNT(*) FROM s.people p WHERE EXISTS (SELECT 1 FROM s.copies c WHERE c.city = p.city)"
	own := "SELECT COUNT(*) FROM s.people p WHERE EXISTS (SELECT 1 FROM s.visits v WHERE v.person = p.person)"
	offEach := "SELECT COUNT(*) FROM s.people p WHERE 0 < (SELECT COUNT(*) FROM s.copies c WHERE c.city = p.city)"
	each := "SELECT COUNT(*) FROM s.people p WHERE 0 < (SELECT COUNT(*) FROM s.people c WHERE c.city = p.city)"
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for _, q := range []string{off, own, offEach, each} {
		source.again(false)
		root.query(q)
		runs[q], charged[q] = source.again(false), lastCharge(t, root)
	}
	root.refused(1644, "45003", "SELECT COUNT(*) FROM s.people p WHERE EXISTS (SELECT 1 FROM s.people c WHERE c.person = 1 AND c.city = p.city)")

	root.exec("SET dp_raw = ON", "DELETE FROM s.visits WHERE person = 1", "DELETE FROM s.people WHERE person = 1", "DELETE FROM s.copies WHERE person = 1", "SET dp_raw = OFF")
	got := source.shares(runs, charged, func(q string) { root.query(q) })
	for _, q := range []string{own, each} {
		if got[q] > 1 {
			t.Errorf("%s: a person loses %.3f of the charge", q, got[q])
		}
	}
	for _, q := range []string{off, offEach} {
		if got[q] <= 1 {
			t.Errorf("%s: a person loses %.3f of the charge: the test cannot fail", q, got[q])
		}
	}
}
