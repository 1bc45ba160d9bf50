package functions_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/engine"
	"scrim/functions"
)

const password = "a-password"

// TestARowIsAnAggregate: a row of the table, with an estimator of its own, is all that a new
// aggregate takes. It is bound, planned, explained, charged, answered and documented, and gone with
// its row.
func TestARowIsAnAggregate(t *testing.T) {
	remove, err := functions.Add(skewness)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	asked := func() {
		defer remove() // once the server has stopped
		serve(t, dir, func(root *sql.Conn) {
			exponential(t, root)
			rows(t, root, "CREATE USER ann IDENTIFIED BY '"+password+"'", "GRANT SELECT ON d.* TO ann")
		}, func(ann *sql.Conn) { askForSkewness(t, ann) })
	}
	asked()
	serve(t, dir, nil, func(ann *sql.Conn) {
		if _, err := ann.QueryContext(context.Background(), "SELECT DP_SKEWNESS(x, 'lower=0, upper=10') FROM d.waits"); err == nil {
			t.Error("the aggregate is answered without its row")
		}
		if got := rows(t, ann, "SELECT COUNT(*) FROM dp.functions WHERE name = 'DP_SKEWNESS'"); got[0][0] != "0" {
			t.Error("the aggregate is documented without its row")
		}
	})
}

func askForSkewness(t *testing.T, ann *sql.Conn) {
	rows(t, ann, "SET dp_epsilon = 20")
	const call = "DP_SKEWNESS(x, 'lower=0, upper=10, epsilon=10')"
	if got := rows(t, ann, "SELECT function_type, weight, options FROM dp.functions WHERE name = 'DP_SKEWNESS'"); len(got) != 1 || got[0][0] != "private" || !strings.HasPrefix(got[0][2], "lower = ") {
		t.Errorf("dp.functions: %v", got)
	}
	explained := text(rows(t, ann, "EXPLAIN SELECT "+call+" FROM d.waits"))
	for _, want := range []string{"DP_SKEWNESS(waits.x, 'lower=0, upper=10, epsilon=10')", "sums of powers  discrete-gaussian  l2=2  queries=4", "rho="} {
		if !strings.Contains(explained, want) {
			t.Errorf("EXPLAIN does not show %q:\n%s", want, explained)
		}
	}
	if n := rows(t, ann, "SELECT COUNT(*) FROM dp.ledger")[0][0]; n != "0" {
		t.Errorf("%s charges before anything was asked", n)
	}
	// The bounds are over six standard deviations of the noise, 0.07 and 0.13.
	got := rows(t, ann, "SELECT "+call+", DP_STDERR("+call+"), COUNT(*) FROM d.waits")
	if v, err := strconv.ParseFloat(got[0][0], 64); err != nil || math.Abs(v-exact()) > 0.5 || got[0][1] != "NULL" {
		t.Errorf("answer %v, want a skewness of about %v", got, exact())
	}
	charges := rows(t, ann, "SELECT mechanisms, events, outcome FROM dp.ledger WHERE account_type = 'table'")
	if len(charges) != 1 || !strings.Contains(charges[0][0], "DP_SKEWNESS") || !strings.Contains(charges[0][1], "gaussian") {
		t.Errorf("charges %v", charges)
	}
	// By group, by its alias, beside others that are answered in all groups at once.
	for _, r := range rows(t, ann, "SELECT g, dp_skew(x, 'lower=0, upper=10, epsilon=10'), AVG(x), DP_MEDIAN(x) FROM d.waits GROUP BY g ORDER BY g") {
		if v, err := strconv.ParseFloat(r[1], 64); err != nil || math.Abs(v-exact()) > 0.8 {
			t.Errorf("group %v", r)
		}
	}
	for q, why := range map[string]string{
		"SELECT DP_SKEWNESS(x) FROM d.waits":                                   "needs the bounds",
		"SELECT DP_SKEWNESS(x, 'lower=0, upper=9, weight=row') FROM d.waits":   "no option",
		"SELECT DP_SKEWNESS(DP_VECTOR(x, x), 'lower=0, upper=9') FROM d.waits": "of vectors has no meaning",
		"SELECT DP_SKEWNESS(DISTINCT x, 'lower=0, upper=9') FROM d.waits":      "distinct",
		"SELECT DP_SKEWNESS(x, x, x) FROM d.waits":                             "does not take 3 arguments",
	} {
		if r, err := ann.QueryContext(context.Background(), q); err == nil {
			t.Errorf("%s was answered", q)
			r.Close()
		} else if !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", q, err, why)
		}
	}
}

// persons is how many persons there are, with one row each.
const persons = 9000

// wait is the number of a person: quantiles of an exponential law, cut at 10.
func wait(p int) float64 {
	return math.Min(10, -math.Log(1-(float64(p)+0.5)/persons))
}

// exact is the skewness of all waits.
func exact() float64 {
	var m [4]float64
	for p := range persons {
		x := wait(p)
		for k, power := 0, 1.0; k < 4; k++ {
			m[k] += power / persons
			power *= x
		}
	}
	return (m[3] - 3*m[1]*m[2] + 2*math.Pow(m[1], 3)) / math.Pow(m[2]-m[1]*m[1], 1.5)
}

// exponential makes the table d.waits and protects it.
func exponential(t *testing.T, root *sql.Conn) {
	rows(t, root, "CREATE DATABASE d", "CREATE TABLE d.waits (id INT PRIMARY KEY, g VARCHAR(1), x DOUBLE)")
	for from := 0; from < persons; from += 1000 {
		values := make([]string, 1000)
		for i := range values {
			values[i] = fmt.Sprintf("(%d, '%c', %v)", from+i, 'a'+rune(i%2), wait(from+i))
		}
		rows(t, root, "INSERT INTO d.waits VALUES "+strings.Join(values, ","))
	}
	rows(t, root, "CALL dp_protect('d.waits', 'id', 'person')", `CALL dp_set_domain('d.waits', 'g', '["a","b"]')`,
		"CALL dp_set_budget('d.waits', '*', 1000, 1e-5, 'never')", "CALL dp_set_budget('d.waits', 'default', 500, 1e-5, 'never')")
}

// serve runs a server on a directory for what root does, and then an analyst.
func serve(t *testing.T, dir string, prepare, ask func(*sql.Conn)) {
	t.Helper()
	c := engine.DefaultConfig(dir)
	c.Listen, c.RootPassword, c.Threads, c.MemoryLimit = "127.0.0.1:0", password, 2, "512MiB"
	s, err := engine.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if prepare != nil {
		as(t, s.Addr().String(), "root", prepare)
	}
	as(t, s.Addr().String(), "ann", ask)
}

// as runs a session.
func as(t *testing.T, addr, user string, session func(*sql.Conn)) {
	t.Helper()
	m := mysql.NewConfig()
	m.User, m.Passwd, m.Net, m.Addr = user, password, "tcp", addr
	connector, err := mysql.NewConnector(m)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session(conn)
}

// rows runs statements and returns the rows of the last as text.
func rows(t *testing.T, c *sql.Conn, statements ...string) (out [][]string) {
	t.Helper()
	for _, q := range statements {
		r, err := c.QueryContext(context.Background(), q)
		if err != nil {
			t.Fatalf("%.200s: %v", q, err)
		}
		columns, err := r.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for out = nil; r.Next(); {
			cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range cells {
				into[i] = &cells[i]
			}
			if err := r.Scan(into...); err != nil {
				t.Fatal(err)
			}
			row := make([]string, len(cells))
			for i, c := range cells {
				if row[i] = c.String; !c.Valid {
					row[i] = "NULL"
				}
			}
			out = append(out, row)
		}
		if err := r.Err(); err != nil {
			t.Fatalf("%.200s: %v", q, err)
		}
	}
	return out
}

// text is the first column, line by line.
func text(rows [][]string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r[0] + "\n")
	}
	return b.String()
}
