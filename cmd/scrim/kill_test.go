package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	killRounds = flag.Int("kill.rounds", 6, "how often the serving process is killed")
	killSeed   = flag.Uint64("kill.seed", 1, "seed of the moments at which it is killed")
)

// told is what clients learned before the server died.
type told struct {
	mu        sync.Mutex
	asked     int      // private queries sent
	answered  []string // statements whose answer arrived
	begun     int      // transactions begun
	committed []int    // transactions whose COMMIT was acknowledged
	withdrawn []int    // transactions whose ROLLBACK was acknowledged
	asking    pace     // of the queries
	writing   pace     // of the transactions
}

func (k *told) note(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// TestKilledServerForgetsNoCharge kills the serving process at random moments while analysts ask
// and a DBA writes. After each restart the ledger holds the charge of every answer that arrived,
// what is spent is at least their sum and at most the sum over all questions, and of the
// transactions exactly the committed ones are there: each whole, those acknowledged all, at most
// the one in flight more.
func TestKilledServerForgetsNoCharge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	witness := filepath.Join(filepath.Dir(dir), "witness")
	p := serveFor(t, dir, "--witness", witness)
	root := p.root(t)
	root.must(t,
		"CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, who INT NOT NULL, x DOUBLE)",
		"INSERT INTO shop.orders VALUES (1, 10, 1.5), (2, 10, 2.5), (3, 11, 3.5)",
		"CREATE TABLE shop.log (tx INT NOT NULL, part INT NOT NULL, PRIMARY KEY (tx, part))",
		"CALL dp_public('shop.log')",
		"CALL dp_protect('shop.orders', 'who', 'customer')",
		"CALL dp_set_budget('shop.orders', '*', 20, 1e-6, 'never')",
		"CREATE USER 'ann'@'%' IDENTIFIED BY 'ann-pw'",
		"GRANT SELECT ON shop.* TO 'ann'@'%'",
		question(-1),
	)
	cost := number(t, root.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0])
	if cost <= 0 {
		t.Fatalf("a question costs %v", cost)
	}
	known := &told{asked: 1, answered: []string{question(-1)}}
	r := rand.New(rand.NewPCG(*killSeed, 1))
	for round := range *killRounds {
		var next atomic.Int64
		next.Store(int64(round) * 1_000_000)
		var clients sync.WaitGroup
		asked, written := known.asking.after(1+r.IntN(40)), known.writing.after(2+r.IntN(10))
		for range 3 {
			clients.Go(func() { askUntilDead(p.addr, known, &next) })
		}
		clients.Go(func() { writeUntilDead(p.addr, known) })
		asked(t)
		written(t)
		in := []*pace{&known.asking, &known.writing}[r.IntN(2)]
		in.after(r.IntN(3))(t)
		in.somewhere(r)
		p.kill()
		clients.Wait()
		// refused where a position went ahead of the ledger
		p = serveFor(t, dir, "--witness", witness)
		known.compare(t, round, p.root(t), cost)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d questions, %d answers, %d transactions, %d commits, %d rollbacks",
		known.asked, len(known.answered), known.begun, len(known.committed), len(known.withdrawn))
	// One more answer than a round waits for came before the first; of two transactions one is
	// committed at least.
	if len(known.answered) < *killRounds+1 || len(known.committed) < *killRounds || len(known.withdrawn) == 0 {
		t.Errorf("too little happened before the kills to say anything")
	}
	if err := p.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// question is the n-th private query. No two texts and no two plans are the same, so that none is a
// replay. The ledger keeps the name of the column, and none of the numbers.
func question(n int64) string {
	return fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=0.01) */ COUNT(*) AS q%x FROM shop.orders WHERE x < %d.25", uint64(n), n)
}

var questionName = regexp.MustCompile(`\bq[0-9a-f]+\b`)

// named is what the ledger keeps of a question.
func named(text string) string { return questionName.FindString(text) }

func askUntilDead(addr string, known *told, next *atomic.Int64) {
	s, err := connect(addr, "ann", "ann-pw")
	if err != nil {
		return
	}
	defer s.close()
	for {
		q := question(next.Add(1))
		known.note(func() { known.asked++ })
		err := known.asking.deed(func() error {
			_, err := s.ask(q)
			if err == nil {
				known.note(func() { known.answered = append(known.answered, q) })
			}
			return err
		})
		if err != nil {
			return
		}
	}
}

// writeUntilDead writes transactions of two rows each and takes every third back.
func writeUntilDead(addr string, known *told) {
	s, err := connect(addr, "root", rootPassword)
	if err != nil {
		return
	}
	defer s.close()
	for {
		var tx int
		known.note(func() { known.begun++; tx = known.begun })
		end, list := "COMMIT", &known.committed
		if tx%3 == 0 {
			end, list = "ROLLBACK", &known.withdrawn
		}
		err := known.writing.deed(func() error {
			for _, q := range []string{
				"BEGIN",
				fmt.Sprintf("INSERT INTO shop.log VALUES (%d, 1)", tx),
				fmt.Sprintf("INSERT INTO shop.log VALUES (%d, 2)", tx),
				end,
			} {
				if _, err := s.ask(q); err != nil {
					return err
				}
			}
			known.note(func() { *list = append(*list, tx) })
			return nil
		})
		if err != nil {
			return
		}
	}
}

func (k *told) compare(t *testing.T, round int, root *session, cost float64) {
	t.Helper()
	ledger := map[string]int{}
	for _, row := range root.must(t, "SELECT statement, rho FROM dp.ledger WHERE entry = 'charge' AND account = 'shop.orders'") {
		ledger[named(row[0])]++
		if rho := number(t, row[1]); rho < cost {
			t.Errorf("round %d: %s: the ledger says %v, want %v", round, row[0], rho, cost)
		}
	}
	for _, q := range k.answered {
		if n := ledger[named(q)]; n != 1 {
			t.Errorf("round %d: the ledger has %d charges for the answered %s", round, n, q)
		}
	}
	// The column shows a float; ulps is what adding up its fixed-point parts may differ by.
	const ulps = 1e-9
	spent := number(t, root.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0])
	if least := float64(len(k.answered)) * cost * (1 - ulps); spent < least {
		t.Errorf("round %d: spent %v, want %v at least for %d answers", round, spent, least, len(k.answered))
	}
	if most := float64(k.asked) * cost * (1 + ulps); spent > most {
		t.Errorf("round %d: spent %v, want %v at most for %d questions", round, spent, most, k.asked)
	}
	parts := map[string]int{}
	for _, row := range root.must(t, "SELECT tx, part FROM shop.log") {
		parts[row[0]]++
	}
	for tx, n := range parts {
		if n != 2 {
			t.Errorf("round %d: %d rows of transaction %s, want both or none", round, n, tx)
		}
	}
	for _, tx := range k.committed {
		if parts[strconv.Itoa(tx)] != 2 {
			t.Errorf("round %d: transaction %d was committed and is gone", round, tx)
		}
	}
	for _, tx := range k.withdrawn {
		if parts[strconv.Itoa(tx)] != 0 {
			t.Errorf("round %d: transaction %d was rolled back and is there", round, tx)
		}
	}
	// One transaction a round may have been committed without its client hearing of it.
	if most := len(k.committed) + round + 1; len(parts) > most {
		t.Errorf("round %d: %d transactions are there, want %d at most", round, len(parts), most)
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
