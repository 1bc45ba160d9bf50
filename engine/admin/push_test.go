package admin

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/accounting"
	"scrim/accounting/budget"
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

// scanless is a ledger that says how many entries were read of it.
type scanless struct {
	*accounting.Ledger
	read int
}

func (l *scanless) Entries(ctx context.Context, f accounting.Filter) ([]accounting.Entry, error) {
	list, err := l.Ledger.Entries(ctx, f)
	l.read += len(list)
	return list, err
}

// mixed fills a ledger with entries of every kind, and of every number of lines.
func mixed(t *testing.T, l *accounting.Ledger) {
	t.Helper()
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accounts := []string{"a", "b", "c", "d", "e"}
	for _, a := range accounts {
		check(l.SetBudget(ctx, budget.Budget{Account: a, Principal: budget.All, Epsilon: 1e5, Delta: 1e-6, Window: budget.Never, SetBy: dba}))
	}
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 300 {
		who := []string{ann, bob, dba}[r.IntN(3)]
		switch r.IntN(8) {
		case 0:
			l.Replayed(who, "SELECT ?", "d", 0, accounts[:r.IntN(6)])
		case 1:
			check(l.Note(who, "kind", "text"))
		case 2:
			check(l.ResetBudget(ctx, accounts[r.IntN(5)], false, budget.All, who, "because"))
		default:
			var charges []accounting.Charge
			for _, a := range accounts[:1+r.IntN(5)] {
				charges = append(charges, accounting.Charge{Account: a, Table: "shop." + a, Loss: privacy.Loss{Rho: 1}})
			}
			got, err := l.Reserve(ctx, accounting.Request{Principal: who, Statement: fmt.Sprint("SELECT ", i), Charges: charges})
			check(err)
			l.Finish(got, record.Answered)
		}
	}
	check(l.Note(dba, "kind", "everything before is durable"))
}

// TestCountIsPushed: a COUNT is what counting the lines gives, for everybody; where the index knows
// it no entry is read.
func TestCountIsPushed(t *testing.T) {
	f := newFixture(t)
	mixed(t, f.ledger)
	l := &scanless{Ledger: f.ledger}
	f.admin.o.Ledger = l
	for _, c := range []struct {
		query string
		read  bool // the index alone does not know
	}{
		{"SELECT COUNT(*) FROM dp.ledger", false},
		{"SELECT count(1), COUNT(id) AS n, COUNT(*) + 1 FROM dp.ledger", false},
		{"SELECT COUNT(*) AS n FROM dp.ledger l WHERE l.id > 20 AND l.id <= 200", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE id BETWEEN 20 AND 200", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE id = 7", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE id > 100000000", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ann@%'", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE principal = 'nobody@%'", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE entry IN ('replay', 'note') AND principal = 'bob@localhost' AND id < 250", false},
		{"SELECT COUNT(*) FROM dp.ledger HAVING COUNT(*) > 0", false},
		{"SELECT * FROM (SELECT COUNT(*) AS n FROM dp.ledger) x WHERE n > 1", false},
		{"SELECT (SELECT COUNT(*) FROM dp.ledger), 1", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ANN@%'", false},
		{"SELECT COUNT(*) FROM dp.ledger WHERE account = 'a'", true},
		{"SELECT COUNT(*) FROM dp.ledger WHERE table_name = 'shop.a'", true},
		{"SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'answered'", true},
		{"SELECT COUNT(*) FROM dp.ledger WHERE digest = 'd'", true},
		{"SELECT COUNT(*) FROM dp.ledger WHERE charged_at < '2100-01-01'", true},
		{"SELECT COUNT(*) FROM dp.ledger WHERE id > 10 OR principal = 'ann@%'", true},
		{"SELECT COUNT(*) FROM dp.ledger WHERE id > 10 AND LENGTH(statement) > 3", true},
		{"SELECT COUNT(reason) FROM dp.ledger", true},
		{"SELECT COUNT(DISTINCT id) FROM dp.ledger", true},
		{"SELECT COUNT(*), MAX(id) FROM dp.ledger", true},
		{"SELECT principal, COUNT(*) FROM dp.ledger GROUP BY principal ORDER BY principal", true},
		{"SELECT COUNT(*) FROM (SELECT id FROM dp.ledger LIMIT 7) x", true},
		{"SELECT COUNT(*) FROM dp.ledger a JOIN dp.ledger b ON a.id = b.id WHERE a.id < 5", true},
		{"SELECT COUNT(NULL) FROM dp.ledger", true},
	} {
		for _, who := range []string{dba, auditor, ann, bob} {
			l.read = 0
			got := show(f.must(who, "", c.query))
			if l.read > 0 != c.read && who != ann && who != bob || l.read > 0 && !c.read {
				t.Errorf("%s as %s: %d entries read", c.query, who, l.read)
			}
			pushing = false
			want := show(f.must(who, "", c.query))
			pushing = true
			if got != want || got == "" {
				t.Errorf("%s as %s: got %q, want %q", c.query, who, got, want)
			}
		}
	}
}

// TestCountKeepsItsName: the column is called and typed as it is without the rule.
func TestCountKeepsItsName(t *testing.T) {
	f := newFixture(t)
	for _, q := range []string{"SELECT COUNT(*) FROM dp.ledger", "SELECT COUNT(1) FROM dp.ledger WHERE id > 1", "SELECT COUNT(*) AS n, count(id) FROM dp.ledger"} {
		schema := func() (out []string) {
			base := sql.NewBaseSessionWithClientServer("server", sql.Client{User: "root", Address: "%"}, 1)
			ctx := sql.NewContext(t.Context(), sql.WithSession(memory.NewSession(base, f.memory)))
			s, iter, _, err := f.engine.Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sql.RowIterToRows(ctx, iter); err != nil {
				t.Fatal(err)
			}
			for _, c := range s {
				out = append(out, c.Name, c.Type.String())
			}
			return out
		}
		got := fmt.Sprint(schema())
		pushing = false
		want := fmt.Sprint(schema())
		pushing = true
		if got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

var countFlag = flag.String("ledger.file", "", "large ledger for TestCountLarge, of the directory directory-1, with its key and mark beside it; none: a small one")

// TestCountLarge tells how long a COUNT of a large ledger takes, from its index and by reading all,
// which give the same.
func TestCountLarge(t *testing.T) {
	f := newFixture(t)
	mixed(t, f.ledger)
	if *countFlag != "" {
		l, err := accounting.Open(*countFlag, accounting.Options{DirectoryID: "directory-1", ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		f.admin.o.Ledger = l
	}
	defer func() { pushing = true }()
	for _, q := range []string{
		"SELECT COUNT(*) FROM dp.ledger", "SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ann@%'",
		"SELECT COUNT(*) FROM dp.ledger WHERE principal = 'analyst_07@%' AND id > 100000",
	} {
		var answers []string
		for _, pushing = range []bool{true, false} {
			start := time.Now()
			answers = append(answers, show(f.must(dba, "", q)))
			t.Logf("%s: %v, from the index: %v", q, time.Since(start), pushing)
		}
		if answers[0] != answers[1] {
			t.Errorf("%s: got %s, want %s", q, answers[0], answers[1])
		}
	}
}
