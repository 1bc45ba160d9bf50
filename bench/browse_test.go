package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"scrim/engine"
)

// browsed is how many tables the browsed schema has, of 8 columns each; half of them are protected.
const browsed = 500

// browsing is what a tool asks when it shows a schema: the list, all columns, all keys.
var browsing = []struct{ name, query string }{
	{"full-tables", "SHOW FULL TABLES FROM shop"},
	{"table-status", "SHOW TABLE STATUS FROM shop"},
	{"tables", "SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.tables WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME"},
	{"columns", "SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, EXTRA, COLUMN_COMMENT " +
		"FROM information_schema.columns WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME, ORDINAL_POSITION"},
	{"statistics", "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME FROM information_schema.statistics WHERE TABLE_SCHEMA = 'shop'"},
	{"key-usage", "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME FROM information_schema.key_column_usage WHERE TABLE_SCHEMA = 'shop'"},
}

// BenchmarkBrowse sizes a tool's browsing of a schema of 500 tables with 8 columns, by a DBA and by
// an analyst who may read them all: each question by itself, and all of them after one another.
func BenchmarkBrowse(b *testing.B) {
	addr, dba := wide(b)
	analyst := connectAs(b, addr, "ann", "shop")
	for _, who := range []struct {
		name string
		conn *sql.Conn
	}{{"dba", dba}, {"analyst", analyst}} {
		for _, q := range browsing {
			b.Run(who.name+"/"+q.name, func(b *testing.B) {
				browse(b, who.conn, q.query)
			})
		}
		b.Run(who.name+"/all", func(b *testing.B) {
			var all []string
			for _, q := range browsing {
				all = append(all, q.query)
			}
			browse(b, who.conn, all...)
		})
	}
}

// browse reports the median time of asking all queries, in milliseconds, and the processor time of
// one round.
func browse(b *testing.B, c *sql.Conn, queries ...string) {
	b.Helper()
	var took []time.Duration
	start, rounds := worked(), 0
	for b.Loop() {
		rounds++
		took = append(took, timed(func() {
			for _, q := range queries {
				drain(b, c, q)
			}
		}))
	}
	b.ReportMetric(median(took).Seconds()*1e3, "median-ms")
	b.ReportMetric((worked()-start).Seconds()*1e3/float64(rounds), "cpu-ms")
}

// wide serves a database shop of 500 tables, every other one protected, and an analyst ann who may
// read it; it returns the address and root's connection.
func wide(b *testing.B) (addr string, dba *sql.Conn) {
	b.Helper()
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	srv := serve(b, c)
	b.Cleanup(srv.stop)
	statements := []string{"CREATE DATABASE shop"}
	for i := range browsed {
		name := fmt.Sprintf("shop.t%03d", i)
		statements = append(statements, "CREATE TABLE "+name+` (id BIGINT PRIMARY KEY, person BIGINT NOT NULL, name VARCHAR(60) COMMENT 'as on the card',
			dept VARCHAR(20), age INT, amount DECIMAL(10,2), joined DATE, seen DATETIME)`)
		if i%2 == 0 {
			statements = append(statements, "CALL dp_protect('"+name+"', 'person', 'person')")
		}
	}
	statements = append(statements, "CREATE USER ann IDENTIFIED BY '"+password+"'", "GRANT SELECT ON shop.* TO ann", "USE shop")
	return srv.addr, connect(b, srv.addr, "", statements...)
}
