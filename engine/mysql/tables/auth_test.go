package tables_test

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
)

// With accounts on, go-mysql-server wraps every database, and asks it for views and procedures.
func TestWithAccounts(t *testing.T) {
	s, root := newServer(t)
	db := s.engine.Analyzer.Catalog.MySQLDb
	ed := db.Editor()
	db.AddSuperUser(ed, "root", "%", "")
	ed.Close()
	db.SetPersister(discard{})
	db.SetEnabled(true)
	root.exec("CREATE USER ann IDENTIFIED BY 'x'")
	root.exec("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	root.exec("CREATE TABLE secret (id INT)")
	root.exec("INSERT INTO t VALUES (1, 1), (2, 2)")
	root.exec("GRANT SELECT ON shop.t TO ann")
	root.exec("CREATE VIEW v AS SELECT a FROM t")
	root.exec("ALTER TABLE t ADD UNIQUE KEY u (a)")
	root.exec("ALTER TABLE t ADD COLUMN b INT")
	root.exec("UPDATE t SET a = 3 WHERE id = 2")
	root.exec("CREATE TABLE c AS SELECT * FROM t")
	root.exec("DROP INDEX u ON t")
	root.want("SELECT * FROM c ORDER BY id", "1|1|NULL", "2|3|NULL")
	ann := s.connect("ann")
	ann.exec("USE shop")
	ann.want("SELECT id, a FROM t ORDER BY id", "1|1", "2|3")
	ann.want("SHOW TABLES", "t", "v") // go-mysql-server shows all views
	for _, q := range []string{"SELECT * FROM secret", "UPDATE t SET a = 1", "DELETE FROM t", "INSERT INTO t VALUES (5, 5, 5)", "DROP TABLE t", "ALTER TABLE t DROP COLUMN a", "CREATE INDEX i ON t (a)"} {
		if _, _, err := ann.run(q); err == nil {
			t.Errorf("%s: allowed without the privilege", q)
		}
	}
	root.exec("GRANT UPDATE, DELETE, INSERT ON shop.* TO ann")
	ann.fails("UPDATE t SET a = 1", "DBA")
}

type discard struct{}

func (discard) Persist(*sql.Context, []byte) error { return nil }
