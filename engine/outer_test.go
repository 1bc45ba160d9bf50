package engine

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/estimator/noise"
	"scrim/test/fuzz"
)

// ended waits until the ledger tells how all charges have ended, and returns how many are as asked.
func ended(root *client, outcome string) string {
	eventually(root.t, "all charges have an outcome", func() bool {
		return root.value("SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'unfinished'") == "0"
	})
	return root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE outcome = '" + outcome + "'")
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not: %s", what)
		}
	}
}

// outerServer serves the tables of fuzz.PrivateTables in d, without noise.
func outerServer(t *testing.T) (i *instance, root, ann *client) {
	t.Helper()
	i = startWith(t, "", silence, byBytes)
	i.defects = true // of go-mysql-server's functions: the statement ends, and is not charged
	root = i.root()
	root.exec("CREATE DATABASE d", "USE d")
	root.exec(fuzz.PrivateTables()...)
	root.exec(fuzz.Declarations("d")...)
	ann = i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET time_zone = '+00:00'", "SET dp_rho = 50")
	return i, root, ann
}

// TestFuzzOuter computes random expressions of answers. No charge is left without an end, a
// statement that failed after its charge is not charged again, and few fail after it: without the
// rehearsal 22 of the first 400 do, with it 8: of subqueries, joins and conditions on answers.
func TestFuzzOuter(t *testing.T) {
	_, root, ann := outerServer(t)
	n := max(*fuzzN, 400)
	late, failed, charges := 0, 0, charged(root)
	for k := range n {
		q := fuzz.Outer(*fuzzSeed, k).Tree.String()
		_, err := ann.answer(q)
		now := charged(root)
		if err == nil {
			charges = now
			continue
		}
		if failed++; now == charges {
			continue
		}
		if charges = now; strings.Contains(err.Error(), "45015") {
			late++
		}
		_, again := ann.answer(q)
		if now = charged(root); now != charges || again == nil {
			t.Errorf("%d: charged twice, or answered then (%v): %s\n%v", k, again, q, err)
		}
		charges = now
	}
	if got := ended(root, "failed"); got != "0" {
		t.Errorf("%s charges of failures", got)
	}
	t.Logf("%d statements, %d failed, %d of them late", n, failed, late)
	if late > 3*int(n)/100 {
		t.Errorf("%d of %d statements failed after their charge for a cause that is not MySQL's", late, n)
	}
}

// TestComputationsFailBeforeTheCharge: what fails for every number that an answer may have costs
// nothing, and what may go well is asked.
func TestComputationsFailBeforeTheCharge(t *testing.T) {
	_, root, ann := outerServer(t)
	for _, q := range []string{
		"SELECT DATE '2020-01-01' = 'a', COUNT(*) FROM o",
		"SELECT JSON_EXTRACT(COUNT(*), '$.a') FROM o",
		"SELECT UUID_TO_BIN(COUNT(*)) FROM o",
		"SELECT o.k, UUID_TO_BIN(SUM(o.z)) FROM o GROUP BY o.k ORDER BY 2",
		"SELECT MAX(v) FROM (SELECT o.k, UUID_TO_BIN(SUM(o.z)) AS v FROM o GROUP BY o.k) q",
		"SELECT COUNT(*) FROM o UNION ALL SELECT UUID_TO_BIN(COUNT(*)) FROM o",
		"SELECT POW(0, -1) + COUNT(*) FROM o",
		"SELECT UUID_TO_BIN((SELECT COUNT(*) FROM o))",
		"SELECT l.label, UUID_TO_BIN((SELECT COUNT(*) FROM o)) FROM l",
		"SELECT l.label FROM l WHERE l.label <> (SELECT UUID_TO_BIN(COUNT(*)) FROM o)",
		"SELECT l.label, UUID_TO_BIN(a.n) FROM (SELECT COUNT(*) AS n FROM o) a JOIN l",
		"SELECT UUID_TO_BIN(a.n) FROM (SELECT COUNT(*) AS n FROM o) a JOIN (SELECT SUM(o.z) AS n FROM o) b",
	} {
		before := charged(root)
		_, err := ann.answer(q)
		if err == nil || charged(root) != before {
			t.Errorf("%s: %v, charged: %v", q, err, charged(root) != before)
		}
		if w := ann.query("SHOW WARNINGS"); strings.Contains(fmt.Sprint(w), "1292") {
			t.Errorf("%s left %v", q, w)
		}
	}
	for _, q := range []string{
		"SELECT COALESCE(SUM(o.d2), 0.0), COALESCE(COUNT(*), 0.0) FROM o",
		"SELECT o.c, JSON_VALID(o.c), CAST(SUM(o.d2) AS CHAR), JSON_EXTRACT(CONCAT('[', COUNT(*), ']'), '$[0]') FROM o GROUP BY o.c",
		"SELECT 1 / (COUNT(*) - 1), LOG(SUM(o.z) - 1), IF(COUNT(*) > 200, 'many', POW(0, -1)) FROM o",
		"SELECT RANK() OVER (ORDER BY SUM(o.z)), ROUND(100 * SUM(o.z) / SUM(SUM(o.z)) OVER (), 1) FROM o GROUP BY o.e",
		"SELECT COUNT(*) FROM o UNION SELECT COALESCE(SUM(o.x), 0.0) FROM o UNION SELECT 'text'",
		"SELECT l.label, (SELECT COALESCE(SUM(o.d2), 0.0) FROM o) FROM l",
	} {
		if rows := ann.query(q); len(rows) == 0 {
			t.Errorf("%s: no rows", q)
		}
	}
	// made-up numbers are nowhere but in the rehearsal
	if got := ann.query("SELECT COUNT(*), COUNT(*) + 1 FROM o"); fmt.Sprint(got) != "[[480 481]]" {
		t.Errorf("480 rows are %v", got)
	}
	if got := ann.query("SELECT a.n, b.m, (SELECT COUNT(*) FROM o), COUNT(l.label) > 0 FROM (SELECT COUNT(*) AS n FROM o) a JOIN (SELECT COUNT(*) + 1 AS m FROM o) b ON b.m > a.n JOIN l GROUP BY 1, 2, 3"); fmt.Sprint(got) != "[[480 481 480 1]]" {
		t.Errorf("joined, 480 rows are %v", got)
	}
	// what fails for the numbers that there are is kept: it costs once
	q := "SELECT POW(COUNT(o.b), SUM(o.u)) FROM o"
	before := charged(root)
	_, err := ann.answer(q)
	paid := charged(root)
	if err == nil || paid == before {
		t.Errorf("%s: %v", q, err)
	}
	if _, err = ann.answer(q); err == nil || charged(root) != paid {
		t.Errorf("asked again: %v, charged: %v", err, charged(root) != paid)
	}
	free(ann, root, "", "SELECT COUNT(o.b), SUM(o.u) FROM o")
}

// TestKeptOnceDrawn: a client that goes when all is drawn has paid for an answer that is kept.
func TestKeptOnceDrawn(t *testing.T) {
	var draws atomic.Int64
	var kill func()
	i := startWith(t, "", func() noise.Noiser {
		if draws.Add(-1) == 0 {
			kill()
		}
		return silence()
	})
	root := i.root()
	people(t, root, 600)
	ann, other := i.analyst(root, "ann", "d"), i.root()
	ann.exec("SET dp_rho = 50")
	id := ann.value("SELECT CONNECTION_ID()")
	q := "SELECT COUNT(*) FROM d.people"
	draws.Store(1 << 40)
	ann.query("SELECT COUNT(*) FROM d.people WHERE age > 30")
	need := 1<<40 - draws.Load() // sources of noise that one takes
	before := charged(root)
	kill = func() { other.exec("KILL QUERY " + id) }
	draws.Store(need)
	if _, err := ann.answer(q); err == nil {
		t.Error("a statement that was killed is answered")
	}
	if charged(root) == before {
		t.Error("it was not charged")
	}
	if got := ended(root, "cancelled"); got != "0" {
		t.Errorf("%s charges have no answer", got)
	}
	draws.Store(1 << 40)
	free(ann, root, "[[600]]", q)
}
