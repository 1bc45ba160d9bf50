package engine

import (
	"strings"
	"testing"
)

// TestConditionsOfShowAreCharged: a condition of SHOW is a condition of a SELECT. What it asks of a
// protected table is refused, or private and paid for.
func TestConditionsOfShowAreCharged(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.p (id BIGINT, x INT)", "INSERT INTO s.p VALUES (1,1),(2,2),(3,3)", "CALL dp_protect('s.p','id','person')",
		"CALL dp_set_budget('s.p', '*', 8, 1e-6, 'never')")
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s")
	charges := func() string { return ann.value("SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ann@%'") }
	for _, q := range []string{"SHOW TABLES WHERE (SELECT x FROM p LIMIT 1) = 1", "SHOW COLUMNS FROM p WHERE EXISTS (SELECT 1 FROM p WHERE id = 3)",
		"SHOW INDEX FROM p WHERE (SELECT GROUP_CONCAT(x) FROM p) = 3", "SHOW STATUS WHERE Value IN (SELECT x FROM p)", "SHOW DATABASES WHERE `Database` = (SELECT ANY_VALUE(x) FROM p)"} {
		before := charges()
		if e := ann.refused(1644, "", q); strings.Contains(e.Message, "internal") {
			t.Errorf("%s: %v", q, e)
		}
		if after := charges(); after != before {
			t.Errorf("%s was refused and charged", q)
		}
	}
	for _, q := range []string{"SHOW COLUMNS FROM p WHERE (SELECT COUNT(*) FROM p) > -1000", "SHOW TABLES WHERE (SELECT COUNT(*) FROM p WHERE x = 1) > -1000",
		"SHOW DATABASES WHERE `Database` = (SELECT MIN(x) FROM p)"} {
		before := charges()
		ann.query(q)
		if after := charges(); after == before {
			t.Errorf("%s was answered and not charged", q)
		}
	}
}
