package lower_test

import (
	stdsql "database/sql"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/cockroachdb/datadriven"
	_ "github.com/go-sql-driver/mysql"

	"scrim/planner/lower"
)

// mariadb is the data source of a MariaDB server with a scratch database, for example
// "root@unix(/path/to.sock)/test". With -rewrite it answers the commands "mysql".
var mariadb = flag.String("mariadb", "", "data source of a MariaDB server that -rewrite records from")

var (
	fuzzSeed = flag.Uint64("fuzzseed", 0, "seed of the random expressions")
	fuzzStop = flag.Bool("fuzzstop", false, "stop at the first failure")
)

// TestSemantics compares what the store answers for each row with recorded values.
//
//	mysql [kind=k]   recorded from MariaDB
//	differs          recorded from the store and reviewed: the note in the file says how MySQL or
//	                 the documented behaviour differs from MariaDB
//
// One expression a command, after it one line for each row: its id and the value.
func TestSemantics(t *testing.T) {
	b := newBinder(t)
	store := openStore(t)
	var peer *stdsql.DB
	if *mariadb != "" {
		peer = openPeer(t)
	}
	cases := 0
	datadriven.Walk(t, "testdata/semantics", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			e, err := b.bind(d.Input)
			if err != nil {
				return "bind error: " + err.Error() + "\n"
			}
			var args lower.Binder
			x, err := lower.Lower(b.ctx, e, &args, resolve)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			cases += len(rows)
			if d.Rewrite && peer != nil && d.Cmd == "mysql" {
				return peerValues(t, peer, d.Input, x.Type.Kind)
			}
			return storeValues(t, store, x, args.Args())
		})
	})
	if cases < 300 {
		t.Errorf("%d cases, want at least 300", cases)
	}
}

func storeValues(t *testing.T, db *stdsql.DB, x lower.Expr, args []any) string {
	t.Helper()
	rs, err := db.Query("SELECT id, CAST("+x.SQL+" AS VARCHAR) FROM t ORDER BY id", args...)
	if err != nil {
		return "store: " + err.Error() + "\n" + x.SQL + "\n"
	}
	defer rs.Close()
	return lines(t, rs, x.Type.Kind)
}

func lines(t *testing.T, rs *stdsql.Rows, k lower.Kind) string {
	var out strings.Builder
	for rs.Next() {
		var id int
		var v stdsql.NullString
		if err := rs.Scan(&id, &v); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%d %s\n", id, canonical(v, k))
	}
	if err := rs.Err(); err != nil {
		fmt.Fprintln(&out, "store:", err)
	}
	return out.String()
}

// canonical writes a value so that both servers' texts of it agree.
func canonical(v stdsql.NullString, k lower.Kind) string {
	if !v.Valid {
		return "NULL"
	}
	switch k {
	case lower.Bool:
		return map[string]string{"true": "1", "false": "0"}[v.String] + strings.Trim(v.String, "truefals")
	case lower.Int, lower.UInt, lower.Decimal:
		if d, _, err := apd.NewFromString(v.String); err == nil {
			d.Reduce(d)
			return d.Text('f')
		}
	case lower.Double:
		if f, err := strconv.ParseFloat(v.String, 64); err == nil {
			if f == 0 {
				f = 0
			}
			return strconv.FormatFloat(f, 'g', 11, 64)
		}
	case lower.Datetime:
		if strings.Contains(v.String, ".") {
			return strings.TrimRight(strings.TrimRight(v.String, "0"), ".")
		}
		return v.String
	case lower.Date:
		return v.String
	}
	return strconv.Quote(v.String)
}

func openPeer(t *testing.T) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("mysql", *mariadb)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	exec := func(q string) {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec("SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin")
	exec("SET sql_mode='', time_zone='+00:00'")
	exec("DROP TABLE IF EXISTS t")
	ddl := "CREATE TABLE t ("
	for _, c := range columns {
		ddl += "`" + c[0] + "` " + c[2] + ", "
	}
	exec(ddl + "doc TEXT) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
	for _, r := range rows {
		q := "INSERT INTO t VALUES ("
		for _, v := range r {
			if v == "nan" || strings.HasSuffix(v, "inf") {
				v = "NULL"
			}
			q += v + ", "
		}
		exec(q + "'{}')")
	}
	return db
}

// peerValues asks MariaDB row by row: an error there is NULL here.
func peerValues(t *testing.T, db *stdsql.DB, text string, k lower.Kind) string {
	var out strings.Builder
	for _, r := range rows {
		var v stdsql.NullString
		if err := db.QueryRow("SELECT " + text + " FROM t WHERE id = " + r[0]).Scan(&v); err != nil {
			if strings.Contains(err.Error(), "Error 1064") {
				t.Fatalf("%s: %v", text, err)
			}
			v = stdsql.NullString{}
		}
		fmt.Fprintf(&out, "%s %s\n", r[0], canonical(v, k))
	}
	return out.String()
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
