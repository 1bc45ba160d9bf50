package engine

import "testing"

// TestReadLockIsASnapshot: under LOCK TABLES … READ an analyst sees the tables as they are, while
// others write; UNLOCK TABLES ends it. A lock for writing wants its privilege, as in MySQL.
func TestReadLockIsASnapshot(t *testing.T) {
	i, root := company(t, "")
	ann := i.as("ann")
	count := func(want string) {
		t.Helper()
		if got := ann.value("SELECT COUNT(*) FROM d.pub"); got != want {
			t.Errorf("ann sees %s rows, want %s", got, want)
		}
	}
	ann.exec("LOCK TABLES d.pub READ /*!32311 LOCAL */")
	count("2")
	root.exec("INSERT INTO d.pub VALUES (3,3)")
	count("2")
	ann.exec("UNLOCK TABLES")
	count("3")

	ann.refused(1142, "", "LOCK TABLES d.pub WRITE")
	i.as("bob").refused(1044, "", "LOCK TABLES d.pub READ")

	// What a restore sends. Every row is there for others at once, and UNLOCK TABLES ends no
	// transaction of one's own.
	root.exec("LOCK TABLES d.pub WRITE", "ALTER TABLE d.pub DISABLE KEYS", "INSERT INTO d.pub VALUES (4,4)")
	count("4")
	root.exec("UNLOCK TABLES", "BEGIN", "INSERT INTO d.pub VALUES (5,5)", "UNLOCK TABLES", "ROLLBACK")
	count("4")

	// BEGIN ends the lock, so that UNLOCK TABLES does not end what BEGIN began.
	root.exec("LOCK TABLES d.pub READ", "BEGIN", "INSERT INTO d.pub VALUES (6,6)", "UNLOCK TABLES", "ROLLBACK")
	count("4")
	root.exec("LOCK TABLES d.pub READ")
	if _, err := root.try("INSERT INTO d.pub VALUES (7,7)"); err == nil {
		t.Error("a row was written under one's own lock for reading")
	}
}

// TestSavepoints: programs that only read go back to them; where something would have to be undone,
// that is refused, and nothing is lost silently.
func TestSavepoints(t *testing.T) {
	_, root := company(t, "")
	root.exec("START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */", "SAVEPOINT sp")
	root.value("SELECT COUNT(*) FROM d.pub")
	root.exec("ROLLBACK TO SAVEPOINT SP", "RELEASE SAVEPOINT sp")
	if _, err := root.try("ROLLBACK TO SAVEPOINT sp"); err == nil {
		t.Error("a released savepoint was there")
	}
	root.exec("INSERT INTO d.pub VALUES (3,3)", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "INSERT INTO d.pub VALUES (4,4)")
	root.refused(1644, "45017", "ROLLBACK TO SAVEPOINT a")
	if _, err := root.try("RELEASE SAVEPOINT b"); err == nil {
		t.Error("a savepoint outlived the return to an earlier one")
	}
	root.exec("SAVEPOINT a", "ROLLBACK TO a", "COMMIT")
	if got := root.value("SELECT COUNT(*) FROM d.pub"); got != "4" {
		t.Errorf("after the commit: %s rows, want 4", got)
	}
	if _, err := root.try("ROLLBACK TO a"); err == nil {
		t.Error("a savepoint outlived its transaction")
	}
}

// TestFourBytesForUTF8: clients that say utf8, MySQL's name for three bytes, get every character.
func TestFourBytesForUTF8(t *testing.T) {
	_, root := company(t, "")
	root.exec("SET NAMES utf8")
	if got := root.value("SELECT 'Zoë — 日本 😀'"); got != "Zoë — 日本 😀" {
		t.Errorf("got %q", got)
	}
}
