package bench

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/engine"
	"scrim/engine/ops/datadir/fileimport"
)

// password is the benchmark server's; it lives as long as the benchmark.
const password = "benchmark-only"

// visits writes a CSV file of visits: rows rows, each of a random person and group, about ten rows
// a person.
func visits(b *testing.B, path string, rows, persons, groups int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(w, "person,g,x")
	for range rows {
		fmt.Fprintf(w, "%d,%d,%d.%02d\n", r.IntN(persons), r.IntN(groups), r.IntN(100), r.IntN(100))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// start is startAt with a DBA's connection to the server.
func start(b *testing.B, rows, persons, groups int, typ string) (private, exact *sql.Conn) {
	b.Helper()
	addr, exact := startAt(b, rows, persons, groups, typ)
	return connect(b, addr, "bench"), exact
}

// startAt serves a directory with one table bench.t, protected, with the groups as public keys, and
// returns the address and a DBA's connection with raw access.
func startAt(b *testing.B, rows, persons, groups int, typ string) (addr string, exact *sql.Conn) {
	b.Helper()
	ctx := context.Background()
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	file := filepath.Join(b.TempDir(), "t.csv")
	visits(b, file, rows, persons, groups)
	srv := serve(b, c)
	connect(b, srv.addr, "", "CREATE DATABASE bench", "CREATE TABLE bench.t (person BIGINT, g BIGINT, x "+typ+")")
	srv.stop()
	if _, err := fileimport.Load(ctx, c.Place(), file, "bench.t", fileimport.Options{Mode: fileimport.Append}, nil); err != nil {
		b.Fatal(err)
	}
	srv = serve(b, c)
	b.Cleanup(srv.stop)
	keys := make([]string, groups)
	for g := range groups {
		keys[g] = strconv.Itoa(g)
	}
	exact = connect(b, srv.addr, "bench",
		"CALL dp_protect('bench.t', 'person', 'person')",
		fmt.Sprintf("CALL dp_set_domain('bench.t', 'g', '[%s]')", strings.Join(keys, ",")),
		"CALL dp_set_budget('bench.t', '*', 100000, 1e-6, 'never')",
		fmt.Sprintf(`CALL dp_set_defaults('bench.t', '{"dp_max_groups_contributed": %d}')`, groups),
		"SET dp_raw = ON",
	)
	return srv.addr, exact
}

// serving is a running server.
type serving struct {
	addr string
	stop func()
}

func serve(b testing.TB, c engine.Config) serving {
	b.Helper()
	srv, err := engine.Open(c)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	return serving{srv.Addr().String(), func() {
		cancel()
		<-done
		if err := srv.Close(); err != nil {
			b.Error(err)
		}
	}}
}

// connect returns root's connection after some statements.
func connect(b testing.TB, addr, database string, statements ...string) *sql.Conn {
	b.Helper()
	return connectAs(b, addr, "root", database, statements...)
}

// connectAs is connect for any account that has the password.
func connectAs(b testing.TB, addr, user, database string, statements ...string) *sql.Conn {
	b.Helper()
	return connectWith(b, addr, user, password, database, statements...)
}

// connectWith returns any account's connection after some statements.
func connectWith(b testing.TB, addr, user, secret, database string, statements ...string) *sql.Conn {
	b.Helper()
	m := mysql.NewConfig()
	m.User, m.Passwd, m.Net, m.Addr, m.DBName = user, secret, "tcp", addr, database
	connector, err := mysql.NewConnector(m)
	if err != nil {
		b.Fatal(err)
	}
	db := sql.OpenDB(connector)
	b.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(context.Background(), s); err != nil {
			b.Fatalf("%s: %v", s, err)
		}
	}
	return conn
}

// drain runs a query and reads every row.
func drain(b testing.TB, c *sql.Conn, query string) {
	b.Helper()
	rows, err := c.QueryContext(context.Background(), query)
	if err != nil {
		b.Fatalf("%s: %v", query, err)
	}
	exhaust(b, rows)
}

// exhaust reads every row.
func exhaust(b testing.TB, rows *sql.Rows) {
	b.Helper()
	defer rows.Close()
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}
