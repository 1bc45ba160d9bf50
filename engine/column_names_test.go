package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/ops/datadir/fileimport"
)

// headings returns the names of a result's columns.
func headings(c *client, query string) string {
	c.t.Helper()
	rows, err := c.conn.QueryContext(context.Background(), query)
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		c.t.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(names, "|")
}

// TestColumnsKeepTheirLetters: results name columns as MySQL does, of imported and of created
// tables, protected and public ones, raw rows and views.
func TestColumnsKeepTheirLetters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(t.TempDir(), "ratings.csv")
	if err := os.WriteFile(file, []byte("userId,movieId,Rating\n1,2,3.5\n2,2,4\n3,1,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"d.Ratings", "d.films"} {
		if _, err := fileimport.Load(context.Background(), DefaultConfig(dir).Place(), file, table, fileimport.Options{Mode: fileimport.Create}, nil); err != nil {
			t.Fatal(err)
		}
	}
	i := start(t, dir)
	root := i.root()
	root.exec("USE d", "CREATE TABLE Made (Id INT, Amount DOUBLE, userName VARCHAR(20), PRIMARY KEY (ID), UNIQUE Key1 (USERNAME))",
		"INSERT INTO made VALUES (1,2,'a'),(2,3,'b')", "INSERT INTO made (ID, amount) VALUES (1, 9) ON DUPLICATE KEY UPDATE AMOUNT = VALUES(amount)",
		"CALL dp_public('d.films')", "CALL dp_protect('d.ratings', 'USERID', 'person')", "CALL dp_protect('d.made', 'id', 'other')",
		"CALL dp_set_domain('d.ratings', 'movieid', '[1, 2]')",
		"CALL dp_set_budget('d.ratings', '*', 1000, 1e-5, 'never')", "CALL dp_set_budget('d.made', '*', 1000, 1e-5, 'never')",
		"CREATE VIEW Seen AS SELECT movieId, COUNT(*) AS Cnt , AVG(Rating) FROM ratings GROUP BY movieId")
	for _, q := range []struct{ query, want string }{
		{"SELECT movieId, COUNT(*) FROM ratings GROUP BY movieId", "movieId|COUNT(*)"},
		{"SELECT MOVIEID, COUNT(*) AS Cnt , AVG(Rating), Sum( Rating ) /* x */ ,count(*) FROM ratings GROUP BY movieId", "MOVIEID|Cnt|AVG(Rating)|Sum( Rating )|count(*)"},
		{"SELECT r.movieId, COUNT(DISTINCT userId) -- how many\n , DP_MEAN(Rating) M FROM Ratings r GROUP BY r.movieid", "movieId|COUNT(DISTINCT userId)|M"},
		{"SELECT * FROM (SELECT movieId AS Film, AVG(Rating) AS Mean FROM ratings GROUP BY movieId) x", "Film|Mean"},
		{"WITH Q AS (SELECT movieId, COUNT(*) AS Cnt FROM ratings GROUP BY movieId) SELECT q.*, Cnt + 1 , 2*cnt FROM Q", "movieId|Cnt|Cnt + 1|2*cnt"},
		{"SELECT * FROM seen", "movieId|Cnt|AVG(Rating)"},
		{"SELECT AVG(Amount) FROM made", "AVG(Amount)"},
		{"SELECT * FROM films", "userId|movieId|Rating"},
		{"SELECT f.*, Rating R, ',a' , MAX(movieid) OVER () FROM films f", "userId|movieId|Rating|R|,a|MAX(movieid) OVER ()"},
		{"SELECT movieId, Count(*) FROM films GROUP BY 1 ORDER BY 2", "movieId|Count(*)"},
		{"SELECT * FROM films UNION ALL SELECT * FROM films", "userId|movieId|Rating"},
	} {
		if got := headings(root, q.query); got != q.want {
			t.Errorf("%s: columns %s, want %s", q.query, got, q.want)
		}
	}
	root.exec("CREATE TABLE kept AS SELECT movieId, Rating FROM films", "CALL dp_public('d.kept')", "SET dp_raw = ON")
	for query, want := range map[string]string{
		"SELECT * FROM ratings LIMIT 1":         "userId|movieId|Rating",
		"SELECT * FROM kept":                    "movieId|Rating",
		"SELECT * FROM made":                    "Id|Amount|userName",
		"SELECT ID, amount, USERNAME FROM made": "ID|amount|USERNAME",
	} {
		if got := headings(root, query); got != want {
			t.Errorf("%s: columns %s, want %s", query, got, want)
		}
	}
	var names []string
	for _, r := range root.query("SHOW COLUMNS FROM ratings") {
		names = append(names, r[0])
	}
	if got := strings.Join(names, "|"); got != "userId|movieId|Rating" {
		t.Errorf("SHOW COLUMNS: %s", got)
	}
	if got := strings.Join(flatten(root.query("SELECT column_name, column_key FROM information_schema.columns WHERE table_name = 'made' ORDER BY ordinal_position")), "|"); got != "Id|PRI|Amount||userName|UNI" {
		t.Errorf("information_schema.columns: %s", got)
	}
	if got := root.value("SELECT amount FROM made WHERE ID = 1"); got != "9" {
		t.Errorf("ON DUPLICATE KEY UPDATE: amount %s", got)
	}
	root.refused(1644, "45011", "ALTER TABLE ratings DROP COLUMN userid")
	root.refused(1644, "45011", "ALTER TABLE ratings RENAME COLUMN USERID TO x")
	i.analyst(root, "ann", "d").refused(1644, "45002", "SELECT userId FROM d.ratings")
}
