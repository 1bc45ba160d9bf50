package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestKilledServerHasNoViewWithoutItsCharge kills the serving process while views and synthetic
// tables are made. After each restart every one is whole, public, and has its charge in the ledger;
// those that were acknowledged are all there; no table of one is there without its record; and what
// is spent are the charges, of which those that were asked for without an answer may have one.
func TestKilledServerHasNoViewWithoutItsCharge(t *testing.T) {
	p, dir := serveShop(t, "a INT, b INT", func(k int) string { return fmt.Sprintf("%d, %d", k%4, k%3) })
	root := p.root(t)
	root.must(t,
		`CALL dp_set_domain('shop.orders', 'a', '[0,1,2,3]')`,
		`CALL dp_set_domain('shop.orders', 'b', '[0,1,2]')`,
	)
	// each condition is another statement, so that no answer is a stored one
	view := func(n int) string {
		if n%3 == 0 {
			return fmt.Sprintf(`CALL dp_synthesize('shop.orders', 'shop.v%d', '{"rho": 0.5, "columns": ["a", "b"], "rows": %d}')`, n, 100000+n)
		}
		return fmt.Sprintf(`CALL dp_create_view('shop.v%d', 'SELECT a, b, COUNT(*) AS n FROM shop.orders WHERE id < %d GROUP BY a, b', '{"rho": 0.5}')`, n, 100000+n)
	}
	asked := 0
	acknowledged := map[string]bool{}
	var making pace
	r := rand.New(rand.NewPCG(*killSeed, 2))
	for round := range *killRounds {
		done := make(chan struct{})
		s, err := connect(p.addr, "root", rootPassword)
		if err != nil {
			t.Fatal(err)
		}
		made := making.after(1 + r.IntN(6))
		go func() {
			defer close(done)
			defer s.close()
			for {
				asked++
				n := asked
				if err := making.deed(func() error { _, err := s.ask(view(n)); return err }); err != nil {
					return
				}
				acknowledged[fmt.Sprintf("shop.v%d", n)] = true
			}
		}()
		made(t)
		making.somewhere(r)
		p.kill()
		<-done
		p = serveFor(t, dir)
		root = p.root(t)
		ledger := map[string]string{}
		for _, row := range root.must(t, "SELECT id, statement FROM dp.ledger WHERE entry = 'charge' AND account = 'shop.orders'") {
			name, _, ok := strings.Cut(strings.TrimPrefix(row[1], "VIEW "), " AS ")
			if !ok {
				name, _, ok = strings.Cut(strings.TrimPrefix(row[1], "SYNTHETIC TABLE "), " OF ")
			}
			if !ok {
				t.Errorf("round %d: a charge for %s", round, row[1])
			}
			ledger[name] = row[0]
		}
		views := map[string]bool{}
		ann, err := connect(p.addr, "ann", "ann-pw")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range root.must(t, "SELECT view_name, ledger_id, cells FROM dp.views UNION ALL SELECT table_name, ledger_id, synthetic_rows FROM dp.synthetic") {
			views[row[0]] = true
			if ledger[row[0]] != row[1] {
				t.Errorf("round %d: %s has the charge %s, the ledger %s", round, row[0], row[1], ledger[row[0]])
			}
			if n := ann.must(t, "SELECT COUNT(*) FROM "+row[0])[0][0]; n != row[2] {
				t.Errorf("round %d: %s has %s cells or rows, of %s", round, row[0], n, row[2])
			}
		}
		ann.close()
		for name := range acknowledged {
			if !views[name] {
				t.Errorf("round %d: %s was made and is gone", round, name)
			}
		}
		tables := root.must(t, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop'")
		if len(tables) != len(views)+1 {
			t.Errorf("round %d: %d tables and %d views", round, len(tables), len(views))
		}
		spent := number(t, root.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0])
		if charges := 0.5 * float64(len(ledger)); math.Abs(spent-charges) > 1e-6 || len(ledger) > asked || len(ledger) < len(views) {
			t.Errorf("round %d: spent %v, of %d charges, for %d views of %d asked for", round, spent, len(ledger), len(views), asked)
		}
	}
	// what was charged for and not made is made of the answer that is kept
	before := number(t, root.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0])
	again := 0
	for n := 1; n <= asked; n++ {
		if _, err := root.ask(view(n)); err == nil {
			again++
		} else if !strings.Contains(err.Error(), "already") {
			t.Errorf("view %d again: %v", n, err)
		}
	}
	after := number(t, root.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0])
	if after-before > 0.5*float64(again)+1e-6 {
		t.Errorf("%s views made anew cost %v", strconv.Itoa(again), after-before)
	}
	t.Logf("%d asked for, %d acknowledged, %d made again for %v", asked, len(acknowledged), again, after-before)
	if len(acknowledged) < *killRounds {
		t.Error("too little happened before the kills to say anything")
	}
	if err := p.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
