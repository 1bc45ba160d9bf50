package main

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/test/testenv"
)

// TestStopWithClients sends SIGTERM while analysts ask, a session idles and a transaction is open:
// the server ends with exit code 0 and in time, every answer that arrived is in the ledger, and the
// open transaction leaves nothing.
func TestStopWithClients(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := serveFor(t, dir)
	root := p.root(t)
	root.must(t,
		"CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, who INT NOT NULL, x DOUBLE)",
		"INSERT INTO shop.orders VALUES (1, 10, 1.5)",
		"CREATE TABLE shop.log (tx INT PRIMARY KEY)",
		"CALL dp_public('shop.log')",
		"CALL dp_protect('shop.orders', 'who', 'customer')",
		"CALL dp_set_budget('shop.orders', '*', 20, 1e-6, 'never')",
		"CREATE USER 'ann'@'%' IDENTIFIED BY 'ann-pw'",
		"GRANT SELECT ON shop.* TO 'ann'@'%'",
	)
	p.root(t) // idle
	writer := p.root(t)
	writer.must(t, "BEGIN", "INSERT INTO shop.log VALUES (1)")
	known := &told{}
	var next atomic.Int64
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() { askUntilDead(p.addr, known, &next) })
	}
	testenv.Until(t, patience, "answers", func() (some bool) {
		known.note(func() { some = len(known.answered) > 5 })
		return some
	})
	start := time.Now()
	if err := p.stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, p.err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v to stop", took)
	}
	clients.Wait()

	p = serveFor(t, dir)
	root = p.root(t)
	if rows := root.must(t, "SELECT tx FROM shop.log"); len(rows) != 0 {
		t.Errorf("the open transaction left %v", rows)
	}
	ledger := map[string]bool{}
	for _, row := range root.must(t, "SELECT statement FROM dp.ledger WHERE entry = 'charge'") {
		ledger[named(row[0])] = true
	}
	for _, q := range known.answered {
		if !ledger[named(q)] {
			t.Errorf("no charge for the answered %s", q)
		}
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}
