package engine

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// many makes a public table d.many of n rows with a text of 1000 letters.
func many(i *instance, n int) *client {
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.many (id INT, x DOUBLE, n DECIMAL(8,2), made DATETIME, t VARCHAR(1100))",
		"CREATE TABLE d.digits (k INT)", "INSERT INTO d.digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
	root.exec(fmt.Sprintf(`INSERT INTO d.many SELECT n, n / 8, n, '2024-02-29 10:00:00', CONCAT(REPEAT('x', 1000), n) FROM (
		SELECT a.k + 10*b.k + 100*c.k + 1000*e.k + 10000*f.k AS n FROM d.digits a, d.digits b, d.digits c, d.digits e, d.digits f) y WHERE n < %d`, n))
	return root
}

func TestRowsOfPublicTables(t *testing.T) {
	root := many(start(t, ""), 300)
	for _, n := range []int{0, 1, 127, 128, 129, 256, 300} {
		for what, args := range map[string][]any{"text": nil, "prepared": {n}} {
			rows := root.query(fmt.Sprintf("SELECT * FROM d.many WHERE id < %s ORDER BY id", map[bool]string{true: "?", false: fmt.Sprint(n)}[args != nil]), args...)
			if len(rows) != n {
				t.Fatalf("%s: %d rows, want %d", what, len(rows), n)
			}
			for i, r := range rows {
				x := map[bool]string{true: fmt.Sprint(float32(i) / 8), false: fmt.Sprint(float64(i) / 8)}[args != nil]
				want := []string{fmt.Sprint(i), x, fmt.Sprintf("%d.00", i), "2024-02-29 10:00:00", strings.Repeat("x", 1000) + fmt.Sprint(i)}
				if !reflect.DeepEqual(r, want) {
					t.Fatalf("%s: row %d of %d: %v", what, i, n, r)
				}
			}
		}
	}
	if rows := root.query("SELECT * FROM d.many LIMIT 0"); len(rows) != 0 {
		t.Errorf("LIMIT 0: %d rows", len(rows))
	}
	if n := root.value("SELECT FOUND_ROWS()"); n != "0" {
		t.Errorf("%s rows found", n)
	}
	root.query("SELECT id, t FROM d.many LIMIT 129")
	if n := root.value("SELECT FOUND_ROWS()"); n != "129" {
		t.Errorf("%s rows found", n)
	}
}

// A client that reads slowly, or goes away, holds a large result back: KILL ends it in the middle,
// and nothing of it stays.
func TestRowsEndInTheMiddle(t *testing.T) {
	i := start(t, "")
	root := many(i, 40000) // 40 MB, more than connections take
	slow := i.client("root", rootPassword)
	id := slow.value("SELECT CONNECTION_ID()")
	read := func(ctx context.Context, n int) *stdsql.Rows {
		t.Helper()
		rows, err := slow.conn.QueryContext(ctx, "SELECT * FROM d.many")
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if !rows.Next() {
				t.Fatal(rows.Err())
			}
		}
		return rows
	}
	rows := read(t.Context(), 1000)
	root.exec("KILL QUERY " + id)
	n := 1000
	for rows.Next() {
		n++
	}
	var e *mysql.MySQLError
	if err := rows.Err(); !errors.As(err, &e) || e.Number != 1317 || n >= 40000 {
		t.Errorf("killed: %v after %d rows", err, n)
	}
	rows.Close()
	if got := slow.value("SELECT COUNT(*) FROM d.many"); got != "40000" {
		t.Errorf("after KILL QUERY: %s rows", got)
	}
	ctx, leave := context.WithCancel(t.Context())
	rows = read(ctx, 10)
	leave()
	rows.Close()
	root.alone()
}

// TestCountsOfTheStatementBefore: ROW_COUNT and FOUND_ROWS as MySQL has them.
func TestCountsOfTheStatementBefore(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (x INT PRIMARY KEY)")
	for _, s := range []struct{ text, ask, want string }{
		{"INSERT INTO t VALUES (1), (2), (3), (4)", "ROW_COUNT()", "4"},
		{"SELECT x FROM t LIMIT 3", "FOUND_ROWS()", "3"},
		{"SELECT x FROM t LIMIT 3", "ROW_COUNT()", "-1"},
		{"UPDATE t SET x = x + 10 WHERE x <> 2", "ROW_COUNT()", "3"},
		{"UPDATE t SET x = x WHERE x > 11", "ROW_COUNT()", "0"},
		{"UPDATE t SET x = x WHERE x > 11", "FOUND_ROWS()", "2"},
		{"DELETE FROM t WHERE x > 11", "ROW_COUNT()", "2"},
		{"ALTER TABLE t ADD COLUMN y INT", "ROW_COUNT()", "0"},
	} {
		root.query(s.text)
		if got := root.value("SELECT " + s.ask); got != s.want {
			t.Errorf("%s after %s: got %s, want %s", s.ask, s.text, got, s.want)
		}
	}
}
