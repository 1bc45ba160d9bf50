package admin

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

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
