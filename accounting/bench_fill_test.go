package accounting

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// fill writes n entries as a year of a busy server makes them: 40 analysts in 4 roles ask for 12
// tables of 2 entities, 2000 different statements, one in ten a replay, one in a thousand a note or
// a change of a budget; each charge has its outcome. Records that a server would commit one by one
// are committed by the thousand.
func fill(t testing.TB, path string, n int) {
	t.Helper()
	k := newClock("2025-01-01 00:00:00")
	l := open(t, path, Options{Create: true, Now: k.now})
	const tables, analysts = 12, 40
	for i := range tables {
		mustSet(t, l, fmt.Sprintf("tbl_%02d", i), false, budget.All, privacy.MaxEpsilon, 1e-6, budget.Month)
		mustSet(t, l, fmt.Sprintf("tbl_%02d", i), false, budget.Default, privacy.MaxEpsilon, 1e-6, budget.Month)
	}
	r := rand.New(rand.NewPCG(1, 1))
	statements := make([][2]string, 2000)
	for i := range statements {
		s := fmt.Sprintf("SELECT region, COUNT(*), AVG(amount_%d) FROM shop.orders WHERE day >= ? AND status IN (...) AND kind_%d = ? GROUP BY region", i, i%7)
		statements[i] = [2]string{s, fmt.Sprintf("%032x", r.Uint64())}
	}
	noises := make([]privacy.Event, 50)
	for i := range noises {
		noises[i] = privacy.Event{Kind: privacy.DiscreteGaussian, Rho: privacy.Rho(1 + r.IntN(1e6)), DeltaTV: 0x1p-100, Count: 1}
		if i%3 == 0 {
			noises[i] = privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: privacy.Pure(1 + r.IntN(1e9)), Steps: 1, Count: 1}
		}
	}
	var b *batch
	for i := range n {
		k.mu.Lock()
		k.t = k.t.Add(365 * 24 * time.Hour / time.Duration(n))
		k.mu.Unlock()
		who, s := fmt.Sprintf("analyst_%02d@%%", r.IntN(analysts)), statements[r.IntN(len(statements))]
		table := r.IntN(tables)
		account := fmt.Sprintf("tbl_%02d", table)
		switch {
		case i%1000 == 999:
			mustSet(t, l, account, false, who, privacy.MaxEpsilon, 1e-6, budget.Month)
		case i%10 == 9:
			l.Replayed(who, s[0], s[1], 0, []string{account})
		default:
			e := noises[r.IntN(len(noises))]
			loss := e.Loss()
			rec := &record.Record{
				Kind: record.Charge, Principal: who, Statement: s[0], Digest: s[1], Mechanisms: "COUNT(*): discrete gaussian; AVG: discrete laplace",
				Roles: []string{fmt.Sprintf("%steam_%d", budget.RolePrefix, table%4)},
				Charges: merge([]Charge{
					{Account: account, Table: fmt.Sprintf("shop.table_%02d", table), Loss: loss, Events: []privacy.Event{e}},
					{Account: fmt.Sprintf("entity_%d", table%2), Entity: true, Loss: loss, Events: []privacy.Event{e}},
				}),
			}
			for i := range rec.Charges {
				rec.Charges[i].Left = []record.Left{{Scope: budget.All, Epsilon: 100}, {Scope: record.Own, Epsilon: 10}}
			}
			l.mu.Lock()
			l.stamp(rec)
			id, queued, err := l.append(rec)
			b = queued
			l.mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			if i%100 > 0 {
				l.Finish(Receipt{ID: id}, []record.Outcome{record.Answered, record.Answered, record.Answered, record.Failed, record.TimedOut}[r.IntN(5)])
			}
			l.mu.Lock()
			l.conclude() // a record for each outcome, as when one asks after the other
			l.mu.Unlock()
		}
		if i%1000 == 0 && b != nil {
			if err := l.wait(context.Background(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// filledLedger returns a ledger of n entries, which it makes in dir unless it is there. Nothing
// removes it before the process ends.
func filledLedger(t testing.TB, dir string, n int) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("scrim-ledger-%d", n))
	if _, err := os.Stat(path); err != nil {
		fill(t, path, n)
	}
	return path
}
