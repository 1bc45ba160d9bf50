package tables_test

import "testing"

// TestUpdateOfSeveralTables: each row that the tables' join has changes once.
func TestUpdateOfSeveralTables(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE a (id INT PRIMARY KEY, n INT, s VARCHAR(20), t TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP)")
	root.exec("CREATE TABLE b (id INT PRIMARY KEY, a_id INT, n INT)")
	reset := func() {
		root.exec("DELETE FROM a")
		root.exec("DELETE FROM b")
		root.exec("INSERT INTO a (id, n, s) VALUES (1, 10, 'x'), (2, 20, 'y'), (3, 30, 'z')")
		root.exec("INSERT INTO b VALUES (1, 1, 100), (2, 1, 200), (3, 2, 300), (4, NULL, 400)")
	}
	for _, c := range []struct {
		q        string
		affected uint64
		a, b     []string
	}{
		{"UPDATE a JOIN b ON a.id = b.a_id SET a.n = a.n + 1", 2, []string{"1|11|x", "2|21|y", "3|30|z"}, nil},
		{"UPDATE a, b SET a.n = 0, b.n = b.n * 2 WHERE a.id = b.a_id", 5, []string{"1|0|x", "2|0|y", "3|30|z"}, []string{"1|1|200", "2|1|400", "3|2|600", "4|NULL|400"}},
		{"UPDATE a LEFT JOIN b ON a.id = b.a_id SET a.s = 'none', b.n = 7 WHERE b.id IS NULL", 1, []string{"1|10|x", "2|20|y", "3|30|none"}, nil},
		{"UPDATE a AS x JOIN a AS y ON x.id = y.id + 1 SET x.n = y.n, x.s = CONCAT(x.s, x.n)", 2, []string{"1|10|x", "2|10|y10", "3|20|z20"}, nil},
		{"UPDATE a JOIN (SELECT a_id, SUM(n) AS total FROM b GROUP BY a_id) d ON d.a_id = a.id SET a.n = d.total", 2, []string{"1|300|x", "2|300|y", "3|30|z"}, nil},
		{"UPDATE a SET n = (SELECT COUNT(*) FROM b WHERE b.a_id = a.id), s = n", 3, []string{"1|2|2", "2|1|1", "3|0|0"}, nil},
		{"UPDATE a SET n = 1 WHERE id IN (SELECT a_id FROM b WHERE n > 150) ORDER BY id DESC LIMIT 1", 1, []string{"1|10|x", "2|1|y", "3|30|z"}, nil},
		{"UPDATE a SET n = 5 WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.a_id = a.id)", 1, []string{"1|10|x", "2|20|y", "3|5|z"}, nil},
		{"WITH w AS (SELECT 2 AS k) UPDATE a JOIN w ON w.k = a.id SET a.s = 'w'", 1, []string{"1|10|x", "2|20|w", "3|30|z"}, nil},
		{"UPDATE a JOIN b USING (id) SET a.n = b.n WHERE b.n > 100", 2, []string{"1|10|x", "2|200|y", "3|300|z"}, nil},
	} {
		reset()
		if n := root.exec(c.q); n != c.affected {
			t.Errorf("%s: %d affected, want %d", c.q, n, c.affected)
		}
		root.want("SELECT id, n, s FROM a ORDER BY id", c.a...)
		if c.b != nil {
			root.want("SELECT * FROM b ORDER BY id", c.b...)
		}
	}
	reset()
	root.exec("UPDATE a JOIN b ON a.id = b.a_id SET b.n = 1")
	root.want("SELECT COUNT(*) FROM a WHERE t IS NOT NULL", "0")
	root.errno("UPDATE a JOIN b ON a.id = b.a_id SET a.n = 1 LIMIT 1", 1221)
	root.fails("UPDATE a JOIN (SELECT 1 AS k) d ON d.k = a.id SET d.k = 1", "not updatable")
	root.errno("UPDATE a JOIN b ON a.id = b.a_id SET a.id = 3 WHERE a.id = 1", 1062)
	root.want("SELECT id, n FROM a ORDER BY id", "1|10", "2|20", "3|30")
}

// TestDeleteOfSeveralTables: rows go from the named tables alone.
func TestDeleteOfSeveralTables(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE a (id INT, n INT)")
	root.exec("CREATE TABLE b (id INT, a_id INT)")
	root.exec("CREATE DATABASE other")
	root.exec("CREATE TABLE other.a (id INT, n INT)")
	for _, c := range []struct {
		q        string
		affected uint64
		a, b     string
	}{
		{"DELETE a FROM a JOIN b ON a.id = b.a_id", 2, "1", "3"},
		{"DELETE a, b FROM a JOIN b ON a.id = b.a_id", 4, "1", "1"},
		{"DELETE FROM x USING a AS x LEFT JOIN b ON x.id = b.a_id WHERE b.id IS NULL", 1, "2", "3"},
		{"DELETE FROM a WHERE id IN (SELECT a_id FROM b WHERE a_id > 1)", 1, "2", "3"},
		{"DELETE FROM a WHERE id = (SELECT MAX(id) FROM a)", 1, "2", "3"},
		{"DELETE a FROM a WHERE id < 3", 2, "1", "3"},
		{"WITH w AS (SELECT 2 AS k) DELETE a FROM a JOIN w ON w.k = a.id", 1, "2", "3"},
	} {
		root.exec("TRUNCATE a")
		root.exec("TRUNCATE b")
		root.exec("INSERT INTO a VALUES (1, 10), (2, 20), (3, 30)")
		root.exec("INSERT INTO b VALUES (1, 1), (2, 2), (3, NULL)")
		if n := root.exec(c.q); n != c.affected {
			t.Errorf("%s: %d affected, want %d", c.q, n, c.affected)
		}
		root.want("SELECT COUNT(*) FROM a", c.a)
		root.want("SELECT COUNT(*) FROM b", c.b)
	}
	root.errno("DELETE b FROM a WHERE id = 1", 1109)
	root.errno("DELETE a, a FROM a JOIN b ON a.id = b.a_id", 1066)
	root.errno("DELETE d FROM a JOIN (SELECT 1 AS k) d ON d.k = a.id", 1288)
	root.fails("DELETE other.a FROM a JOIN other.a ON TRUE", "aliases")
}

// TestUpdateIgnore: a row that cannot change stays, a value that does not fit is made to.
func TestUpdateIgnore(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE a (id INT PRIMARY KEY, u INT UNIQUE, n TINYINT NOT NULL, s VARCHAR(3), d DECIMAL(4,2), CHECK (n <> 13))")
	root.exec("INSERT INTO a VALUES (1, 1, 1, 'x', 1), (2, 2, 2, 'y', 2), (3, 3, 3, 'z', 3)")
	for _, c := range []struct {
		q        string
		affected uint64
		want     string
	}{
		{"UPDATE IGNORE a SET id = 2 WHERE id = 1", 0, "1|1|1|x|1.00"},
		{"UPDATE IGNORE a SET u = u + 1 WHERE id < 3", 0, "1|1|1|x|1.00"},
		{"UPDATE IGNORE a SET u = 7 WHERE id < 3", 1, "1|7|1|x|1.00"},
		{"UPDATE IGNORE a SET n = 13", 0, "1|7|1|x|1.00"},
		{"UPDATE IGNORE a SET n = 1000, s = 'abcdef', d = -1000", 3, "1|7|127|abc|-99.99"},
		{"UPDATE IGNORE a SET n = '12abc', d = 'x'", 3, "1|7|12|abc|0.00"},
		{"UPDATE IGNORE a SET n = NULL", 3, "1|7|0|abc|0.00"},
	} {
		if n := root.exec(c.q); n != c.affected {
			t.Errorf("%s: %d affected, want %d", c.q, n, c.affected)
		}
		root.want("SELECT * FROM a WHERE id = 1", c.want)
	}
}
