package admin

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// pushing can be switched off, to compare.
var pushing = true

func init() {
	rule := Rules()[0]
	apply := rule.Apply
	rule.Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, s *plan.Scope, r analyzer.RuleSelector, q *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if !pushing {
			return n, transform.SameTree, nil
		}
		return apply(ctx, a, n, s, r, q)
	}
	analyzer.AlwaysBeforeDefault = append([]analyzer.Rule{rule}, analyzer.AlwaysBeforeDefault...)
}

// longLedger has n charges, one every five minutes, of three principals on two tables, and counts
// what is read.
type longLedger struct {
	*accounting.Ledger
	n     int
	read  int
	asked []accounting.Filter
}

var begun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (l *longLedger) entry(id int) accounting.Entry {
	table := []string{"shop.orders", "shop.lineitem"}[id%2]
	return accounting.Entry{
		ID: uint64(id), Kind: accounting.ChargeEntry, At: begun.Add(time.Duration(5*id) * time.Minute), Principal: []string{ann, bob, dba}[id%3],
		Statement: "SELECT ?", Digest: fmt.Sprint("d", id%5), Outcome: record.Outcome(id % 3),
		Charges: []accounting.EntryCharge{{Charge: accounting.Charge{Account: table, Table: table, Loss: privacy.Loss{Rho: 1}}}},
	}
}

func (l *longLedger) matches(f accounting.Filter, e accounting.Entry) bool {
	return (f.Principal == "" || f.Principal == e.Principal) && (f.Account == "" || f.Account == e.Charges[0].Account) &&
		(f.Table == "" || f.Table == e.Charges[0].Table) && (f.Digest == "" || f.Digest == e.Digest) &&
		(f.Kinds == nil || slices.Contains(f.Kinds, e.Kind)) && (f.Outcomes == nil || slices.Contains(f.Outcomes, e.Outcome)) &&
		(f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until)) &&
		e.ID > f.AfterID && (f.BeforeID == 0 || e.ID < f.BeforeID)
}

// Entries hands out what an index would find.
func (l *longLedger) Entries(_ context.Context, f accounting.Filter) ([]accounting.Entry, error) {
	l.asked = append(l.asked, f)
	var list []accounting.Entry
	id, step, end := int(f.AfterID)+1, 1, l.n+1
	if f.BeforeID > 0 {
		end = min(end, int(f.BeforeID))
	}
	if f.Descending {
		id, step, end = end-1, -1, id-1
	}
	for ; (end-id)*step > 0 && (f.Limit == 0 || len(list) < f.Limit); id += step {
		if e := l.entry(id); l.matches(f, e) {
			list = append(list, e)
		}
	}
	l.read += len(list)
	return list, nil
}

// Count counts what Entries hands out, of which each has one line, and reads nothing.
func (l *longLedger) Count(_ context.Context, f accounting.Filter) (entries, lines uint64, err error) {
	for id := range l.n {
		if e := l.entry(id + 1); l.matches(f, e) {
			entries++
		}
	}
	return entries, entries, nil
}

// TestWhatIsAskedForIsPushed: a statement with a LIMIT reads little, whatever it asks for, and what
// it answers is what the same statement answers that can push nothing.
func TestWhatIsAskedForIsPushed(t *testing.T) {
	f := newFixture(t)
	const n = 6_000
	l := &longLedger{Ledger: f.ledger, n: n}
	f.admin.o.Ledger = l
	for _, c := range []struct {
		query string
		most  int // entries that may be read
	}{
		{"SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1000", 2000},
		{"SELECT id, statement FROM dp.ledger LIMIT 10", 1000},
		{"SELECT id FROM dp.ledger WHERE principal = 'bob@localhost' ORDER BY id DESC LIMIT 1000", 2000},
		{"SELECT id AS n FROM dp.ledger WHERE table_name = 'shop.orders' AND outcome = 'answered' ORDER BY n DESC LIMIT 1000", 2000},
		{"SELECT * FROM dp.ledger l WHERE l.digest = 'd3' AND l.entry IN ('charge', 'replay') ORDER BY l.id DESC LIMIT 100 OFFSET 50", 1150},
		{"SELECT id FROM dp.ledger WHERE 'd3' = digest AND id < 4000 ORDER BY 1 DESC LIMIT 1000", 2000},
		{"SELECT id FROM dp.ledger WHERE id BETWEEN 5000 AND 5100 ORDER BY id", 1000},
		{"SELECT id FROM dp.ledger WHERE id = 777", 10},
		{"SELECT id FROM dp.ledger WHERE account = 'shop.lineitem' AND outcome IN ('failed', 'answered') ORDER BY id LIMIT 1000", 2000},
		{"SELECT id FROM dp.ledger WHERE charged_at >= '2026-01-20' AND charged_at < '2026-01-20 01:00:00' ORDER BY id", 1000},
		{"SELECT id FROM dp.ledger WHERE charged_at BETWEEN TIMESTAMP('2026-01-20') AND '2026-01-21' ORDER BY id DESC LIMIT 1000", 2500},
		{"SELECT id FROM dp.ledger ORDER BY charged_at DESC LIMIT 1000", 1000},
		{"SELECT id, principal FROM dp.ledger WHERE principal = 'ann@%' AND charged_at > '2026-01-02' ORDER BY charged_at DESC LIMIT 1000", 1000},
		{"SELECT id FROM dp.ledger WHERE charged_at < '2026-01-05' ORDER BY charged_at LIMIT 500", 500},
		{"SELECT id FROM (SELECT id FROM dp.ledger WHERE principal = 'ann@%' ORDER BY id DESC LIMIT 5) x", 1000},
		{"SELECT (SELECT MAX(id) FROM dp.ledger WHERE id > 5990), COUNT(*) FROM dp.errors WHERE errno = 0", 1000},
	} {
		l.read = 0
		got := show(f.must(dba, "", c.query))
		if l.read > c.most {
			t.Errorf("%s: %d entries read, want at most %d", c.query, l.read, c.most)
		}
		pushing = false
		want := show(f.must(dba, "", c.query))
		pushing = true
		if got != want || got == "" {
			t.Errorf("%s: got %.80q, want %.80q", c.query, got, want)
		}
	}
}

// TestWhatIsNotPushedIsAnswered: conditions that the ledger has no word for, and orders of others.
func TestWhatIsNotPushedIsAnswered(t *testing.T) {
	f := newFixture(t)
	l := &longLedger{Ledger: f.ledger, n: 3000}
	f.admin.o.Ledger = l
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM dp.ledger":                                                                 "3000",
		"SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ann@%' OR digest = 'd1'":                      "1400",
		"SELECT COUNT(*) FROM dp.ledger WHERE principal <> 'ann@%'":                                      "2000",
		"SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ann@%' AND principal = 'bob@localhost'":       "0",
		"SELECT COUNT(*) FROM dp.ledger WHERE digest LIKE 'd1%' AND principal = 'ann@%'":                 "200",
		"SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'nothing'":                                       "0",
		"SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'answered' AND outcome = 'failed'":               "0",
		"SELECT COUNT(*) FROM dp.ledger WHERE id IN (1, 2, 99999)":                                       "2",
		"SELECT COUNT(*) FROM dp.ledger WHERE id > 2999.5":                                               "1",
		"SELECT COUNT(*) FROM dp.ledger WHERE id = -1":                                                   "0",
		"SELECT COUNT(*) FROM dp.ledger WHERE charged_at > 'soon'":                                       "",
		"SELECT COUNT(*) FROM dp.ledger a JOIN dp.ledger b ON a.id = b.id WHERE a.id <= 10 AND b.id > 5": "5",
		"SELECT id FROM dp.ledger ORDER BY charged_at DESC, principal LIMIT 1":                           "3000",
		"SELECT MIN(id) FROM (SELECT id, principal FROM dp.ledger ORDER BY id DESC LIMIT 10) x":          "2991",
		"SELECT id FROM dp.ledger WHERE charged_at < '2026-01-02' ORDER BY charged_at DESC LIMIT 1":      "287",
		"SELECT id FROM dp.ledger GROUP BY id ORDER BY id DESC LIMIT 1":                                  "3000",
		"SELECT id FROM dp.ledger UNION SELECT 5000 ORDER BY id DESC LIMIT 1":                            "5000",
		"SELECT COUNT(*) FROM dp.errors e WHERE e.errno = 1644 AND EXISTS (SELECT 1 FROM dp.ledger l WHERE l.id = e.errno AND l.statement = 'SELECT ?') AND e.code = 'SHAPE_'": "0",
	} {
		rows, err := f.query(dba, "", query)
		if want == "" {
			continue // whatever it is, it is no panic
		}
		if err != nil || show(rows) != want+"\n" {
			t.Errorf("%s: got %s, %v, want %s", query, show(rows), err, want)
		}
	}
}

// TestAnalystsAreRestrictedFirst: no filter of an analyst's reaches the ledger without their name.
func TestAnalystsAreRestrictedFirst(t *testing.T) {
	f := newFixture(t)
	l := &longLedger{Ledger: f.ledger, n: 300}
	f.admin.o.Ledger = l
	for _, q := range []string{
		"SELECT * FROM dp.ledger", "SELECT * FROM dp.ledger WHERE principal = 'bob@localhost'", "SELECT * FROM dp.ledger WHERE principal = 'bob@localhost' OR 1 = 1",
		"SELECT * FROM dp.ledger WHERE principal IN ('bob@localhost', 'ann@%')", "SELECT * FROM dp.ledger WHERE table_name = 'shop.orders' ORDER BY id DESC LIMIT 5",
		"SELECT * FROM dp.ledger l WHERE l.id = 1", "SELECT * FROM (SELECT * FROM dp.ledger) x WHERE x.principal = 'bob@localhost'",
		"SELECT a.* FROM dp.ledger a JOIN dp.ledger b ON a.id = b.id WHERE b.principal = 'bob@localhost'",
		"SELECT * FROM dp.ledger WHERE charged_at > '2026-01-01' ORDER BY charged_at DESC LIMIT 3",
	} {
		l.asked = nil
		for _, r := range f.must(ann, "", q) {
			if r[2] != ann {
				t.Errorf("%s shows ann %v", q, r)
			}
		}
		for _, a := range l.asked {
			if a.Principal != ann {
				t.Errorf("%s asks the ledger for %+v", q, a)
			}
		}
	}
	l.asked = nil
	f.must(ann, "", "SELECT * FROM dp.ledger WHERE principal = 'bob@localhost'")
	if len(l.asked) != 0 {
		t.Errorf("a filter on another principal was asked: %+v", l.asked)
	}
	if got := len(f.must(auditor, "", "SELECT * FROM dp.ledger WHERE principal = 'bob@localhost'")); got != 100 {
		t.Errorf("an auditor sees %d entries of bob, want 100", got)
	}
}
