package tables_test

import (
	"fmt"
	"strings"
	"testing"

	"scrim/internal/refuse"
)

func TestForeignKeysOfRows(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE p (id INT PRIMARY KEY, a INT, b VARCHAR(10), KEY (a, b))")
	root.exec("CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)")
	root.exec("CREATE TABLE n (id INT PRIMARY KEY, a INT, b VARCHAR(10), FOREIGN KEY (a, b) REFERENCES p (a, b) ON DELETE SET NULL ON UPDATE SET NULL)")
	root.exec("CREATE TABLE r (id INT PRIMARY KEY, c INT, CONSTRAINT rc FOREIGN KEY (c) REFERENCES c (id))")
	root.exec("INSERT INTO p VALUES (1, 10, 'x'), (2, 20, 'y'), (3, 30, NULL), (4, 40, 'z')")
	root.errno("INSERT INTO c VALUES (1, 1), (2, 9)", 1452)
	root.want("SELECT COUNT(*) FROM c", "0")
	root.exec("INSERT INTO c VALUES (1, 1), (2, 1), (3, 2), (4, NULL), (5, 4)")
	root.exec("INSERT INTO n VALUES (1, 10, 'x'), (2, 20, NULL), (3, NULL, 'q'), (4, 20, 'y')")
	root.errno("INSERT INTO n VALUES (5, 10, 'y')", 1452)
	root.exec("INSERT INTO r VALUES (1, 3)")

	root.exec("BEGIN")
	root.errno("INSERT INTO c VALUES (9, 99)", 1452)
	root.errno("UPDATE c SET p = 98 WHERE id = 1", 1452)
	root.errno("DELETE FROM p WHERE id = 2", 1451)
	root.exec("INSERT INTO p VALUES (98, 0, '')")
	root.exec("UPDATE c SET p = 98 WHERE id = 1") // none of the refusals has ended the transaction
	root.exec("ROLLBACK")

	if n := root.exec("UPDATE p SET id = id + 100 WHERE id < 3"); n != 2 {
		t.Errorf("UPDATE counts %d rows, want the 2 of its table", n)
	}
	root.want("SELECT * FROM c ORDER BY id", "1|101", "2|101", "3|102", "4|NULL", "5|4")
	root.want("SELECT * FROM n ORDER BY id", "1|10|x", "2|20|NULL", "3|NULL|q", "4|20|y")
	root.exec("UPDATE p SET b = 'w' WHERE id = 102")
	root.want("SELECT * FROM n WHERE id = 4", "4|NULL|NULL")
	root.errno("DELETE FROM p WHERE id > 100", 1451) // r keeps the row of c that would go
	root.want("SELECT COUNT(*) FROM c", "5")
	if n := root.exec("DELETE FROM p WHERE id = 101"); n != 1 {
		t.Errorf("DELETE counts %d rows, want 1", n)
	}
	root.want("SELECT id FROM c ORDER BY id", "3", "4", "5")
	root.want("SELECT * FROM n WHERE id = 1", "1|NULL|NULL")
	root.exec("REPLACE INTO p VALUES (4, 41, 'zz')") // removes the row, and inserts another one
	root.want("SELECT id FROM c ORDER BY id", "3", "4")
}

func TestForeignKeysOfOneTable(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id))")
	root.errno("INSERT INTO t VALUES (1, 2), (2, NULL)", 1452) // as InnoDB, row by row
	root.exec("INSERT INTO t VALUES (2, NULL), (1, 2), (3, 3)")
	root.errno("DELETE FROM t WHERE id = 3", 1451)
	root.errno("UPDATE t SET id = 4, p = 4 WHERE id = 3", 1451)
	root.exec("UPDATE t SET p = NULL WHERE id = 3")
	root.exec("UPDATE t SET id = 4, p = 4 WHERE id = 3")
	root.exec("UPDATE t SET p = NULL WHERE id = 4")
	root.exec("DELETE FROM t") // 1 goes before 2
	root.exec("INSERT INTO t VALUES (1, NULL), (2, 1)")
	root.errno("DELETE FROM t", 1451)
	root.exec("DELETE FROM t ORDER BY id DESC")

	root.exec("CREATE TABLE s (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES s (id) ON DELETE CASCADE ON UPDATE CASCADE)")
	root.exec("INSERT INTO s VALUES (1, 1), (2, 1), (3, 2), (4, NULL)")
	root.errno("UPDATE s SET id = 9 WHERE id = 2", 1451) // an update that comes back to its table
	root.exec("DELETE FROM s WHERE id = 1")
	root.want("SELECT id FROM s", "4")
	root.exec("INSERT INTO s VALUES (20, NULL)")
	for i := 21; i < 36; i++ {
		root.exec(fmt.Sprintf("INSERT INTO s VALUES (%d, %d)", i, i-1))
	}
	root.errno("DELETE FROM s WHERE id = 20", 3008)
	root.want("SELECT COUNT(*) FROM s", "17")
	root.exec("DELETE FROM s WHERE id = 21")
	root.want("SELECT id FROM s ORDER BY id", "4", "20")
}

func TestForeignKeysOfSeveralTables(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE p (id INT PRIMARY KEY)")
	root.exec("CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))")
	root.exec("INSERT INTO p VALUES (1), (2), (3)")
	root.exec("INSERT INTO c VALUES (1, 1), (2, 2)")
	root.errno("DELETE p, c FROM p JOIN c ON c.p = p.id", 1451)
	root.want("SELECT COUNT(*) FROM c", "2")
	if n := root.exec("UPDATE IGNORE p SET id = id + 10"); n != 1 {
		t.Errorf("UPDATE IGNORE changes %d rows, want the one without children", n)
	}
	root.want("SELECT id FROM p ORDER BY id", "1", "2", "13")
	root.exec("INSERT IGNORE INTO c VALUES (3, 13), (4, 14)")
	root.want("SELECT id FROM c ORDER BY id", "1", "2", "3")
	root.exec("BEGIN") // a statement that is refused half way does not stay half done
	if _, _, err := root.run("REPLACE INTO c VALUES (1, 99)"); err == nil {
		t.Error("REPLACE with a row without a parent succeeds")
	}
	root.fails("COMMIT", "abort")
	root.want("SELECT * FROM c WHERE id = 1", "1|1")
}

func TestForeignKeyDefinitions(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE p (id INT PRIMARY KEY, v VARCHAR(20) UNIQUE, i INT, u INT UNSIGNED, KEY (i), KEY (u))")
	for q, code := range map[string]int{
		"CREATE TABLE c (x BIGINT, FOREIGN KEY (x) REFERENCES p (id))":                                                          3780,
		"CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (u))":                                                              3780,
		"CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES q (id))":                                                             1824,
		"CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (idd))":                                                            3734,
		"CREATE TABLE c (x INT, FOREIGN KEY (y) REFERENCES p (id))":                                                             1072,
		"CREATE TABLE c (x INT, y INT, FOREIGN KEY (x, y) REFERENCES p (id))":                                                   1239,
		"CREATE TABLE c (x INT, y INT, FOREIGN KEY (x, y) REFERENCES p (i, u))":                                                 3780,
		"CREATE TABLE c (x INT, y INT, FOREIGN KEY (x, y) REFERENCES p (id, i))":                                                1822,
		"CREATE TABLE c (x INT NOT NULL, FOREIGN KEY (x) REFERENCES p (id) ON DELETE SET NULL)":                                 1830,
		"CREATE TABLE c (x TEXT, FOREIGN KEY (x) REFERENCES p (v))":                                                             1170,
		"CREATE TABLE c (x INT, CONSTRAINT f FOREIGN KEY (x) REFERENCES p (id), CONSTRAINT f FOREIGN KEY (x) REFERENCES p (i))": 1826,
		"CREATE TABLE c (x INT CHECK (x > 0), FOREIGN KEY (x) REFERENCES p (id) ON UPDATE CASCADE)":                             3823,
		"CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES p (id) ON DELETE SET DEFAULT)":                                       1105,
	} {
		root.errno(q, code)
	}
	for q, part := range map[string]string{
		"CREATE TABLE c (x INT REFERENCES p (id))":                                      "REFERENCES at the column x",
		"CREATE TABLE c (x INT, FOREIGN KEY (x) REFERENCES other.p (id))":               "another database",
		"CREATE TABLE c (id INT, FOREIGN KEY (id) REFERENCES p (id)) AS SELECT 1 AS id": "CREATE TABLE … SELECT",
	} {
		root.fails(q, part)
	}
	root.exec("CREATE TABLE c (x INT, v VARCHAR(30), FOREIGN KEY (x) REFERENCES p (id) ON DELETE CASCADE, FOREIGN KEY (v) REFERENCES p (v))")
	root.exec("CREATE TABLE l LIKE c")
	root.want("SELECT 1 FROM l")
	root.exec("INSERT INTO l VALUES (99, 'x')") // LIKE copies no foreign key
	for q, code := range map[string]int{
		"DROP TABLE p": 3730,
		"TRUNCATE p":   1701,
		"ALTER TABLE p DROP COLUMN i, DROP COLUMN id":                            0,
		"ALTER TABLE c DROP COLUMN x":                                            1828,
		"ALTER TABLE p DROP INDEX v":                                             1553,
		"ALTER TABLE c DROP INDEX x":                                             1553,
		"ALTER TABLE c MODIFY x BIGINT":                                          1832,
		"ALTER TABLE p MODIFY v VARCHAR(10)":                                     1833,
		"ALTER TABLE c DROP FOREIGN KEY nope":                                    1091,
		"ALTER TABLE c ADD CONSTRAINT c_ibfk_1 FOREIGN KEY (x) REFERENCES p (i)": 1826,
	} {
		if code == 0 {
			root.fails(q, "part of a key")
			continue
		}
		root.errno(q, code)
	}
	root.exec("ALTER TABLE p MODIFY v VARCHAR(25)")
	root.exec("ALTER TABLE p RENAME COLUMN v TO w, RENAME COLUMN i TO j")
	root.exec("RENAME TABLE p TO parent")
	root.exec("RENAME TABLE c TO child")
	root.exec("INSERT INTO parent VALUES (1, 'one', 1, 1)")
	root.exec("INSERT INTO child VALUES (1, 'one')")
	root.fails("INSERT INTO child VALUES (1, 'two')", "CONSTRAINT `child_ibfk_2` FOREIGN KEY (`v`) REFERENCES `parent` (`w`)")
	root.exec("ALTER TABLE child ADD INDEX both_of_them (x, v)") // in the place of the generated one
	root.exec("ALTER TABLE child DROP FOREIGN KEY child_ibfk_2, DROP COLUMN v")
	root.exec("ALTER TABLE child ADD COLUMN j INT DEFAULT 1, ADD CONSTRAINT cj FOREIGN KEY (j) REFERENCES parent (j)")
	root.errno("ALTER TABLE child ADD COLUMN k INT DEFAULT 2, ADD CONSTRAINT ck FOREIGN KEY (k) REFERENCES parent (j)", 1452)
	root.want("SELECT * FROM child", "1|1") // the statement has changed nothing
	root.exec("ALTER TABLE child DROP CONSTRAINT cj")
	root.exec("DROP TABLE parent, child")

	root.exec("SET foreign_key_checks = 0")
	root.exec("CREATE TABLE early (x INT, FOREIGN KEY (x) REFERENCES late (id))")
	root.exec("INSERT INTO early VALUES (5)")
	root.exec("SET foreign_key_checks = 1")
	root.errno("INSERT INTO early VALUES (6)", 1452)
	root.errno("CREATE TABLE late (id BIGINT PRIMARY KEY)", 3780)
	root.exec("CREATE TABLE late (id INT PRIMARY KEY)")
	root.exec("INSERT INTO late VALUES (6)")
	root.exec("INSERT INTO early VALUES (6)")
	root.exec("UPDATE early SET x = 5 WHERE x = 5") // what does not change is not looked at
}

func TestForeignKeysTellNothing(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20))")
	root.exec("CREATE TABLE visit (person INT, cost INT, FOREIGN KEY (person) REFERENCES person (id) ON DELETE CASCADE)")
	root.exec("CREATE TABLE city (id INT PRIMARY KEY)")
	root.exec("CREATE TABLE stay (person INT, city INT, FOREIGN KEY (city) REFERENCES city (id))")
	root.exec("INSERT INTO person VALUES (1, 'a')")
	root.exec("INSERT INTO city VALUES (1)")
	s.policy.protected["shop.person"], s.policy.protected["shop.stay"] = true, true
	for _, q := range []string{
		"INSERT INTO visit VALUES (1, 5)",     // is there a person 1?
		"UPDATE visit SET person = 2",         // likewise
		"DELETE FROM city WHERE id = 1",       // did anybody stay there?
		"UPDATE city SET id = 2 WHERE id = 1", // likewise
		"REPLACE INTO city VALUES (1)",
		"ALTER TABLE visit ADD CONSTRAINT again FOREIGN KEY (person) REFERENCES person (id)",
	} {
		_, _, err := root.run(q)
		if r, ok := refuse.As(err); !ok || r.Code != refuse.RawRows || !strings.Contains(err.Error(), "protected") {
			t.Errorf("%s: got %v, want the refusal of rows that are not shown", q, err)
		}
	}
	root.exec("UPDATE visit SET cost = 6")      // looks at no key
	root.exec("INSERT INTO stay VALUES (1, 1)") // the parent is public, and the child has no key
	root.errno("INSERT INTO stay VALUES (1, 2)", 1452)
	root.exec("SET foreign_key_checks = 0")
	root.exec("INSERT INTO visit VALUES (7, 5)") // nobody looks
	root.exec("SET foreign_key_checks = 1")
	s.policy.raw = true
	root.errno("INSERT INTO visit VALUES (8, 5)", 1452)
}

// TestForeignKeysOfOthers runs two transactions of which one takes the row away that the other's
// references: the second to commit fails.
func TestForeignKeysOfOthers(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE TABLE p (id INT PRIMARY KEY)")
	root.exec("CREATE TABLE c (p INT, FOREIGN KEY (p) REFERENCES p (id))")
	root.exec("INSERT INTO p VALUES (1), (2), (3)")
	other := s.connect("root")
	other.exec("USE shop")
	root.exec("BEGIN")
	root.exec("INSERT INTO c VALUES (1)")
	other.exec("INSERT INTO c VALUES (3)") // two that reference do not meet
	other.exec("DELETE FROM p WHERE id = 1")
	root.fails("COMMIT", "conflict with another transaction")
	root.exec("BEGIN")
	root.exec("DELETE FROM p WHERE id = 2")
	other.exec("INSERT INTO c VALUES (2)")
	root.fails("COMMIT", "conflict with another transaction")
	root.want("SELECT * FROM c ORDER BY p", "2", "3")
}

func TestForeignKeysOfOtherTypes(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE e (e ENUM('a','b','c') PRIMARY KEY)")
	root.exec("CREATE TABLE ec (e ENUM('x','y'), FOREIGN KEY (e) REFERENCES e (e) ON UPDATE CASCADE)")
	root.exec("INSERT INTO e VALUES ('a'), ('b')")
	root.exec("INSERT INTO ec VALUES ('x'), ('x')") // MySQL compares the members' numbers
	root.exec("UPDATE e SET e = 'c' WHERE e = 'b'")
	root.errno("INSERT INTO ec VALUES ('y')", 1452)
	root.exec("CREATE TABLE d (d DECIMAL(4,2) PRIMARY KEY)")
	root.exec("CREATE TABLE dc (d DECIMAL(3,2), FOREIGN KEY (d) REFERENCES d (d))")
	root.exec("CREATE TABLE dd (d DECIMAL(4,1), FOREIGN KEY (d) REFERENCES d (d))")
	root.exec("INSERT INTO d VALUES (1.5), (2)")
	root.exec("INSERT INTO dc VALUES (1.50)")
	root.errno("INSERT INTO dd VALUES (1.5)", 1452) // MySQL compares the numbers' bytes
}
