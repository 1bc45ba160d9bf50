package engine

import (
	"strings"
	"testing"
)

// TestFixedSnapshots: releases read the newest data, and are refused by name where the session has
// fixed what it reads.
func TestFixedSnapshots(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.people (id BIGINT PRIMARY KEY)", "CALL dp_protect('s.people', 'id', 'p')", "CALL dp_set_budget('s.people', '*', 100, 0.001, 'never')",
		"CREATE TABLE s.open (id BIGINT PRIMARY KEY)", "CALL dp_public('s.open')")
	other := i.root()
	const ask = "SELECT COUNT(*) FROM s.people"
	for _, c := range []struct{ begin, named, end string }{
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "COMMIT"},
		{"start transaction read only, with /* one */ consistent snapshot", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "ROLLBACK"},
		{"LOCK TABLES s.open READ", "LOCK TABLES … READ", "UNLOCK TABLES"},
	} {
		root.exec(c.begin)
		other.exec("INSERT INTO s.open SELECT COUNT(*) FROM s.open")
		if e := root.refused(1644, "45010", ask); !strings.Contains(e.Message, c.named) {
			t.Errorf("%s: got %s", c.begin, e.Message)
		}
		root.query("EXPLAIN " + ask)
		before := root.value("SELECT COUNT(*) FROM s.open")
		other.exec("INSERT INTO s.open SELECT COUNT(*) + 100 FROM s.open")
		if after := root.value("SELECT COUNT(*) FROM s.open"); after != before {
			t.Errorf("%s: %s rows, then %s", c.begin, before, after)
		}
		root.exec(c.end)
		root.query(ask)
	}
	// The snapshot is that of the beginning, not of what is read first.
	root.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT")
	other.exec("INSERT INTO s.open VALUES (1000)")
	if n := root.value("SELECT COUNT(*) FROM s.open WHERE id = 1000"); n != "0" {
		t.Errorf("the snapshot has %s rows of later", n)
	}
	root.exec("COMMIT")
	// What the client left of a transaction does not stay.
	root.exec("START TRANSACTION", "SELECT * FROM s.open")
	root.query(ask)
	root.exec("COMMIT")
}
