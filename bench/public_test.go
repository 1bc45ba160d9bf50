package bench

import (
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/sirupsen/logrus"

	"scrim/engine"
)

// BenchmarkPublicGroups has four connections execute a prepared GROUP BY over a public table of
// 1000 rows, as sysbench would, and compares the rate with that of go-mysql-server alone over its
// tables in memory, by turns.
func BenchmarkPublicGroups(b *testing.B) { compareBare(b, "group", 4, 400) }

// BenchmarkPublicGroupsNew is BenchmarkPublicGroups with another argument each time, so that no
// result is one that was asked before.
func BenchmarkPublicGroupsNew(b *testing.B) { compareBare(b, "group-new", 4, 400) }

// BenchmarkPublicRows has one connection read 1000 rows of 8 columns from a public table, beside
// go-mysql-server alone.
func BenchmarkPublicRows(b *testing.B) { compareBare(b, "rows", 1, 100) }

// BenchmarkOne has one connection ask SELECT 1: the least that a statement takes.
func BenchmarkOne(b *testing.B) { compareBare(b, "one", 1, 500) }

func compareBare(b *testing.B, question string, clients, queries int) {
	addr := public(b)
	other, asking := startChild(b, "TestBareServer"), startChild(b, "TestClients")
	var base bareServer
	other.call(b, struct{}{}, &base)
	fill(b, connectWith(b, base.Addr, "root", "", "bench"))
	ours := func() (l load) {
		before := worked()
		asking.call(b, order{addr, password, question, clients, queries}, &l)
		l.Server = worked() - before
		return l
	}
	theirs := func() (l load) {
		before := base.Worked
		asking.call(b, order{base.Addr, "", question, clients, queries}, &l)
		other.call(b, struct{}{}, &base)
		l.Server = base.Worked - before
		return l
	}
	ours()
	theirs()
	var rates, work []time.Duration // in thousandths, for median
	var o, t load
	for b.Loop() {
		o, t = ours(), theirs()
		rates = append(rates, time.Duration(o.rate()/t.rate()*1000))
		work = append(work, time.Duration(o.serverEach()/t.serverEach()*1000))
	}
	b.ReportMetric(float64(median(rates))/1000, "ours/bare")
	b.ReportMetric(float64(median(work))/1000, "ours/bare-cpu")
	report(b, "ours", o)
	report(b, "bare", t)
}

// public serves a directory with a public table of 1000 rows of 8 columns, and returns the address.
func public(b *testing.B) (addr string) {
	b.Helper()
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	c.CollationServer = "utf8mb4_0900_bin" // as go-mysql-server compares texts
	srv := serve(b, c)
	b.Cleanup(srv.stop)
	connect(b, srv.addr, "", "CREATE DATABASE bench")
	fill(b, connect(b, srv.addr, "bench"))
	return srv.addr
}

// fill makes the table bench.items.
func fill(b *testing.B, c *sql.Conn) {
	b.Helper()
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d, 'dept %d', %d.%02d, %d.5, 'Zoë — 日本 number %d', '2024-%02d-%02d 10:%02d:00', '2024-%02d-%02d')",
			i, i*7%100, i%10, i*3, i%100, i*11%1000, i, 1+i%12, 1+i%28, i%60, 1+i%12, 1+i%28)
	}
	for _, s := range []string{
		`CREATE TABLE items (id INT PRIMARY KEY, k INT NOT NULL, dept VARCHAR(20) NOT NULL, amount DECIMAL(10,2), price DOUBLE,
			title VARCHAR(60), made DATETIME, day DATE)`,
		"INSERT INTO items VALUES " + strings.Join(rows, ", "),
	} {
		if _, err := c.ExecContext(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}

// bareServer is where the process of go-mysql-server alone listens, and the processor time that it
// has taken so far.
type bareServer struct {
	Addr   string
	Worked time.Duration
}

// TestBareServer is the process of go-mysql-server alone, with an empty database in memory. It is a
// process of its own because ours adds rules to every engine of its process.
func TestBareServer(t *testing.T) {
	addr := ""
	serveChild(t, func(struct{}) bareServer {
		if addr == "" {
			addr = startBare(t)
		}
		return bareServer{addr, worked()}
	})
}

func startBare(t *testing.T) (addr string) {
	logrus.SetOutput(io.Discard)
	db := memory.NewDatabase("bench")
	provider := memory.NewDBProvider(db)
	s, err := server.NewServer(server.Config{Protocol: "tcp", Address: "127.0.0.1:0"},
		sqle.NewDefault(provider), gms.NewContext, memory.NewSessionBuilder(provider), nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Start() }() // until the process ends
	return s.Listener.Addr().String()
}
