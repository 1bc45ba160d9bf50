package engine

import "testing"

// TestChangesOfSeveralTables: each table asks for its own privilege, and what an account may not
// read as it is decides nothing.
func TestChangesOfSeveralTables(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 30)
	root.exec("CREATE TABLE d.a (id INT, n INT)", "CREATE TABLE d.b (id INT, n INT)", "INSERT INTO d.a VALUES (1, 1), (2, 2)", "INSERT INTO d.b VALUES (2, 20)",
		"CALL dp_public('d.a')", "CALL dp_public('d.b')", "CREATE USER 'bob'@'%' IDENTIFIED BY 'pw-bob'", "GRANT SELECT ON d.a TO 'bob'@'%'", "GRANT UPDATE, DELETE ON d.b TO 'bob'@'%'")
	bob := i.client("bob", "pw-bob")
	for _, q := range []string{
		"UPDATE d.a JOIN d.b ON a.id = b.id SET b.n = 3", // b is read, too
		"DELETE b FROM d.a JOIN d.b ON a.id = b.id",
	} {
		bob.refused(1142, "42000", q)
	}
	root.exec("GRANT SELECT ON d.b TO 'bob'@'%'")
	for _, q := range []string{
		"UPDATE d.a JOIN d.b ON a.id = b.id SET n = 3", "UPDATE d.a JOIN d.b ON a.id = b.id SET a.n = 3", "UPDATE d.a, d.b SET a.n = 3, b.n = 3",
		"UPDATE d.b JOIN (SELECT id FROM d.people) p SET b.n = 3",
		"DELETE a FROM d.a JOIN d.b ON a.id = b.id", "DELETE a, b FROM d.a JOIN d.b ON a.id = b.id", "DELETE FROM a USING d.a",
	} {
		if _, err := bob.try(q); err == nil {
			t.Errorf("%s: done without a privilege", q)
		}
	}
	bob.exec("UPDATE d.a JOIN d.b ON a.id = b.id SET b.n = a.n + 5")
	if got := root.value("SELECT n FROM d.b"); got != "7" {
		t.Errorf("got %s, want 7", got)
	}
	root.exec("GRANT SELECT, UPDATE, DELETE ON d.* TO 'bob'@'%'")
	protected := []string{
		"UPDATE d.b JOIN d.people p ON p.id > 0 SET b.n = 9", "UPDATE d.b SET n = 9 WHERE EXISTS (SELECT 1 FROM d.people WHERE id = 1)",
		"UPDATE d.b SET n = (SELECT COUNT(*) FROM d.people)", "UPDATE d.b SET n = (SELECT DP_COUNT() FROM d.people)",
		"DELETE b FROM d.b, d.people", "DELETE FROM d.b WHERE id < (SELECT MAX(id) FROM d.people)", "UPDATE d.people JOIN d.b SET people.age = 1",
		"DELETE people FROM d.people",
	}
	for _, c := range []*client{bob, root} {
		for _, q := range protected {
			if _, err := c.try(q); err == nil {
				t.Errorf("%s: done", q)
			}
		}
	}
	if got := root.value("SELECT n FROM d.b"); got != "7" {
		t.Errorf("got %s after what is refused, want 7", got)
	}
	// a key that changes gives a row another number in the store
	root.exec("CREATE TABLE d.k (id INT PRIMARY KEY, x INT UNIQUE, y INT)", "INSERT INTO d.k VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)")
	root.refused(1706, "HY000", "UPDATE d.k p JOIN d.k q ON p.id = q.id + 1 SET p.id = p.id + 10, q.y = 1")
	root.refused(1644, "45017", "UPDATE d.k p JOIN d.k q ON p.id = q.id SET p.x = p.x + 1, q.y = 1")
	root.exec("UPDATE d.k p JOIN d.k q ON p.id = q.id + 2 SET p.y = 2, q.y = 1")
	if got := root.value("SELECT GROUP_CONCAT(y ORDER BY id) FROM d.k"); got != "1,0,2" {
		t.Errorf("a table by two names: got %s, want 1,0,2", got)
	}
	root.exec("SET dp_raw = ON", "UPDATE d.b SET n = (SELECT COUNT(*) FROM d.people)")
	if got := root.value("SELECT n FROM d.b"); got != "30" {
		t.Errorf("got %s with raw rows, want 30", got)
	}
}
