package postgres

import (
	"errors"
	"strings"
	"testing"

	"scrim/engine/store/source"
	rig "scrim/test/testenv/postgres"
)

// TestDatabase reads one state, writes nothing, and connects to nothing but where it is told to.
func TestDatabase(t *testing.T) {
	addr, db := rig.Start(t)
	for name, value := range map[string]string{"PGHOST": "/nowhere", "PGPORT": "1", "PGDATABASE": "none", "PGUSER": "nobody", "PGPASSWORD": "wrong", "PGOPTIONS": "-c search_path=none", "PGSSLMODE": "verify-full"} {
		t.Setenv(name, value)
	}
	if _, err := db.Exec("CREATE TABLE t (n INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT * FROM t; CREATE SCHEMA other; CREATE TABLE other.o (n INT)"); err != nil {
		t.Fatal(err)
	}
	at := source.Endpoint{Address: addr, User: "scrim", Password: "sesame"}
	d, err := Kind{}.Database(t.Context(), at, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	list := func(query string) (all string) {
		t.Helper()
		rows, err := d.Tx.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			all += text + " "
		}
		return all
	}
	if got := list(d.Tables); got != "t " {
		t.Errorf("tables: %s", got)
	}
	count := "SELECT CAST(COUNT(*) AS " + d.Text + ") FROM " + d.In + "t"
	before := list(count)
	if _, err := db.Exec("INSERT INTO t VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	if after := list(count); before != "1 " || after != before {
		t.Errorf("%s rows, then %s", before, after)
	}
	rows, err := d.Tx.QueryContext(t.Context(), "INSERT INTO t VALUES (3) RETURNING n")
	if err == nil {
		rows.Next()
		err = rows.Err()
		rows.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("written: %v", err)
	}
	for _, wrong := range []source.Endpoint{{Address: addr, User: "scrim", Password: "hush"}, {Address: "127.0.0.1:1", User: "scrim", Password: "hush"}} {
		if d, err := (Kind{}).Database(t.Context(), wrong, "postgres"); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v, %v", d, err)
		}
	}
	if d, err := (Kind{}).Database(t.Context(), at, "none"); err == nil {
		t.Errorf("no database: %v", d)
	}
	var unfit *source.Unfit
	if _, err := (Kind{}).Open(t.Context(), at); !errors.As(err, &unfit) || unfit.Remedy == "" {
		t.Errorf("its tables: %v", err)
	}
}
