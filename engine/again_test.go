package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/test/stattest"
)

// shortOfMemory is a store whose k-th call of a statement fails for want of memory, after its rows
// were taken in, and before the statement is alone.
type shortOfMemory struct {
	store.Store
	at, calls, failed int
	between           func() // runs after the failure
}

type shortSnapshot struct {
	store.Snapshot
	of    *shortOfMemory
	alone bool
}

func (m *shortOfMemory) Snapshot(ctx context.Context) (store.Snapshot, error) {
	s, err := m.Store.Snapshot(ctx)
	return &shortSnapshot{Snapshot: s, of: m}, err
}

func (m *shortOfMemory) Once(ctx context.Context) (store.Snapshot, error) {
	s, err := m.Store.Once(ctx)
	return &shortSnapshot{Snapshot: s, of: m}, err
}

// then counts a call that has ended.
func (s *shortSnapshot) then(err error) error {
	if m := s.of; !s.alone && err == nil {
		if m.calls++; m.calls == m.at {
			m.failed++
			m.between()
			return &store.Error{Kind: store.OutOfMemory}
		}
	}
	return err
}

func (s *shortSnapshot) Pin(ctx context.Context, refs []store.TableRef, statements []string) error {
	return store.Pin(ctx, s.Snapshot, refs, statements)
}

func (s *shortSnapshot) Scan(ctx context.Context, q string, args []any, types []store.ScanType, each ...func(store.Chunk) error) error {
	return s.then(s.Snapshot.Scan(ctx, q, args, types, each...))
}

func (s *shortSnapshot) ScanInOrder(ctx context.Context, q string, args []any, types []store.ScanType, each func(store.Chunk) error) error {
	return s.then(s.Snapshot.ScanInOrder(ctx, q, args, types, each))
}

func (s *shortSnapshot) Materialise(ctx context.Context, q string, args []any, columns []string) (string, error) {
	table, err := s.Snapshot.Materialise(ctx, q, args, columns)
	return table, s.then(err)
}

func (s *shortSnapshot) Keep(ctx context.Context, columns []string, types []store.ScanType, rows [][]any) (string, error) {
	table, err := s.Snapshot.Keep(ctx, columns, types, rows)
	return table, s.then(err)
}

func (s *shortSnapshot) Alone(ctx context.Context) error {
	s.alone = true
	return s.Snapshot.Alone(ctx)
}

// numberedNoise makes noise that can begin again; which decides what the next statement draws.
func numberedNoise(t *testing.T) (source func() noise.Noiser, which *atomic.Uint64) {
	seed := stattest.Seed(t)
	which = &atomic.Uint64{}
	return func() noise.Noiser {
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], seed)
		binary.LittleEndian.PutUint64(key[8:], which.Add(1))
		return noise.Keyed(key)
	}, which
}

// againQueries are statements whose later scans depend on noise that was drawn before, by keys that
// were selected, by values of private subqueries, by secrets that choose rows and groups, and such
// with one scan.
var againQueries = []string{
	"SELECT COUNT(*), AVG(amount) FROM @orders",
	"SELECT COUNT(DISTINCT customer_id) FROM @orders",
	"SELECT region, COUNT(*), SUM(amount), AVG(weight) FROM @orders GROUP BY region ORDER BY region",
	"SELECT id DIV 40 AS k, COUNT(*), SUM(amount) FROM @orders GROUP BY k ORDER BY k",
	"SELECT id DIV 40 AS k, region, COUNT(*), AVG(amount), DP_MEDIAN(weight) FROM @orders GROUP BY k, region ORDER BY k, region",
	"SELECT COUNT(*) FROM @orders WHERE amount > (SELECT AVG(amount) FROM @orders)",
	"SELECT region, SUM(amount) FROM @orders WHERE weight < (SELECT MAX(weight) FROM @orders WHERE amount < (SELECT AVG(amount) FROM @orders)) GROUP BY region ORDER BY region",
	"SELECT id DIV 40 AS k, COUNT(*), SUM(amount) FROM @orders WHERE id DIV 40 IN (SELECT id DIV 40 FROM @orders GROUP BY id DIV 40 ORDER BY COUNT(*) DESC LIMIT 3) GROUP BY k ORDER BY k",
	"SELECT COUNT(*) FROM @orders UNION ALL SELECT SUM(amount) FROM @orders WHERE region = 'north' UNION ALL SELECT COUNT(*) FROM @orders WHERE region = 'south'",
	"SELECT a.region, a.n, b.s FROM (SELECT region, COUNT(*) n FROM @orders GROUP BY region) a JOIN (SELECT region, SUM(amount) s FROM @orders GROUP BY region) b ON a.region = b.region ORDER BY 1",
}

// TestAFailureIsNotSeen: with the same noise a statement has the same answer, steps and charge
// whether one of its calls of the store fails or none, and whatever is written in between. So
// whatever decides that it fails, the law of what is seen is the same. Every call of each statement
// fails once, over tables of the store and of files. (Files that change fail a statement, at
// whichever attempt.)
func TestAFailureIsNotSeen(t *testing.T) {
	source, which := numberedNoise(t)
	root := ordersLake(t, 20, 2)
	i := startWith(t, "", source, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE shop", "CREATE DATABASE lake",
		"CREATE TABLE shop.orders (id INT, customer_id INT, region VARCHAR(8), amount DECIMAL(10,2), weight DOUBLE)")
	var rows []string
	for n := range 400 {
		rows = append(rows, fmt.Sprintf("(%d, %d, '%s', %d.25, %d)", n, n*7919%150, []string{"north", "south", "east"}[n%3], n*31%125, n%12))
	}
	dba.insert("shop.orders", rows)
	dba.exec(`CALL dp_attach('lake.orders', 'parquet', '{"path": "` + root + `/orders/*/*.parquet", "hive": true}')`)
	for _, table := range []string{"shop.orders", "lake.orders"} {
		dba.exec("CALL dp_protect('"+table+"', 'customer_id', 'customer')", "CALL dp_set_budget('"+table+"', '*', 'rho=1000000', 1e-2, 'never')")
	}
	dba.exec(`CALL dp_set_domain('shop.orders', 'region', '["north","south","east"]')`, "SET dp_raw = ON")
	ann := i.analyst(dba, "ann", "shop")
	dba.exec("GRANT SELECT ON lake.* TO 'ann'@'%'")
	ann.exec("SET dp_rho = 0.5", "SET dp_delta = 1e-6", "SET dp_max_groups_contributed = 2")
	short := &shortOfMemory{Store: i.store, between: func() {
		dba.exec("INSERT INTO shop.orders SELECT id + 1000, 1000 + id, 'south', 100, 100 FROM shop.orders WHERE id < 200")
	}}
	i.runner.Store = short
	var steps []string
	show := i.runner.Progress
	i.runner.Progress = func(ctx *sql.Context, name string, step, of int) {
		steps = append(steps, fmt.Sprintf("%s %d/%d", name, step, of))
		show(ctx, name, step, of)
	}
	marked := 0
	charged := func(query string) (answer [][]string, charges string) {
		before := dba.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'")
		answer, err := ann.try(query)
		if err != nil {
			t.Fatalf("%s: %v\n%s", query, err, i.log)
		}
		return answer, dba.value("SELECT COUNT(*) - " + before + " FROM dp.ledger WHERE entry = 'charge'")
	}
	run := func(query string, at int) (seen string, failed bool) {
		// Written to: no answer that is kept is of this state.
		dba.exec("DELETE FROM shop.orders WHERE id >= 1000")
		marked++
		parquet(t, ordersOf(fmt.Sprintf("%s/orders/day=%s/part-0.parquet", root, day(0)), 0, 6+marked%2))
		short.at, short.calls, short.failed, steps = at, 0, 0, nil
		which.Store(1 << 32)
		answer, charges := charged(query)
		seen = fmt.Sprint(answer, steps, charges, ann.query("SHOW WARNINGS"), ann.query("SELECT rho FROM dp.last_cost"))
		return seen, short.failed > 0
	}
	for _, table := range []string{"shop.orders", "lake.orders"} {
		for _, q := range againQueries {
			q = strings.ReplaceAll(q, "@orders", table)
			want := map[int]string{} // by the file that is read
			for range 2 {
				seen, _ := run(q, -1)
				want[marked%2] = seen
			}
			if _, charges := charged(q); charges != "0" {
				t.Errorf("%s: a replay is charged", q)
			}
			calls := 0
			for {
				calls++
				seen, failed := run(q, calls)
				if !failed {
					break
				}
				if seen != want[marked%2] {
					t.Errorf("%s: where call %d fails\n%s\nwithout\n%s", q, calls, seen, want[marked%2])
				}
			}
			run(q, 1)
			if _, charges := charged(q); (charges == "0") != (table == "lake.orders") {
				t.Errorf("%s: after a write in between, %s charges: the answer is not kept for what was read", q, charges)
			}
			if calls < 2 {
				t.Errorf("%s: %d calls", q, calls)
			}
		}
	}
}
