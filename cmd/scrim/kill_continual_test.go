package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestKilledServerReleasesADayOnce kills the serving process while days of a series are released.
// After each restart the days that were acknowledged or seen are there with their numbers, without
// a gap; each call is whole or not there; the ledger has one release of each, and one charge a day.
func TestKilledServerReleasesADayOnce(t *testing.T) {
	const (
		span = 1000 // days
		most = 5    // calls before a kill
	)
	p, dir := serveShop(t, "placed DATE NOT NULL", func(k int) string { return fmt.Sprintf("'2015-01-01' + INTERVAL %d DAY", k) })
	root := p.root(t)
	root.must(t,
		fmt.Sprintf(`CALL dp_continual('shop.daily', 'SELECT placed AS day, COUNT(*) AS n FROM shop.orders GROUP BY 1', '{"rho": 0.5, "from": "2015-01-01", "days": %d, "per_person": 2}')`, span),
	)
	first := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	day := func(k int) string { return first.AddDate(0, 0, k).Format(time.DateOnly) }
	known, acknowledged := map[string]string{}, 0
	r := rand.New(rand.NewPCG(*killSeed, 3))
	var releasing pace
	round := 0
	for ; round < *killRounds && acknowledged+2*(most+2) < span; round++ {
		done := make(chan struct{})
		s, err := connect(p.addr, "root", rootPassword)
		if err != nil {
			t.Fatal(err)
		}
		released := releasing.after(1 + r.IntN(most))
		go func() {
			defer close(done)
			defer s.close()
			for next := acknowledged + 2; next < span; next += 2 { // two days a call
				err := releasing.deed(func() error {
					_, err := s.ask("CALL dp_continue('shop.daily', '" + day(next-1) + "')")
					return err
				})
				if err != nil {
					return
				}
				acknowledged = next
			}
		}()
		released(t)
		releasing.somewhere(r)
		p.kill()
		<-done
		p = serveFor(t, dir)
		ann, err := connect(p.addr, "ann", "ann-pw")
		if err != nil {
			t.Fatal(err)
		}
		seen := ann.must(t, "SELECT day, n, n_total FROM shop.daily ORDER BY day")
		ann.close()
		if len(seen) < acknowledged || len(seen) > acknowledged+2 || len(seen)%2 != 0 {
			t.Errorf("round %d: %d days, %d of them acknowledged", round, len(seen), acknowledged)
		}
		for k, row := range seen {
			numbers := row[1] + " " + row[2]
			if row[0] != day(k) || known[row[0]] != "" && known[row[0]] != numbers {
				t.Errorf("round %d: day %d is %v and was %s", round, k, row, known[row[0]])
			}
			known[row[0]] = numbers
		}
		root = p.root(t)
		noted := map[string]int{}
		for _, row := range root.must(t, "SELECT statement FROM dp.ledger WHERE entry = 'note' AND outcome = 'totals'") {
			_, last, _ := strings.Cut(row[0], " up to ")
			if noted[last]++; noted[last] > 1 {
				t.Errorf("round %d: %s is released twice", round, last)
			}
		}
		if len(noted) < len(seen)/2 || len(noted) > len(seen)/2+1 {
			t.Errorf("round %d: %d releases in the ledger, %d days", round, len(noted), len(seen))
		}
		// what was begun is gone on with
		if acknowledged = len(seen) + 2; acknowledged > 0 {
			root.must(t, "CALL dp_continue('shop.daily', '"+day(acknowledged-1)+"')")
		}
		if n := root.must(t, "SELECT COUNT(*) FROM shop.daily")[0][0]; n != fmt.Sprint(acknowledged) {
			t.Errorf("round %d: %s days, want %d", round, n, acknowledged)
		}
	}
	// one for each day on which days were released
	if n := root.must(t, "SELECT COUNT(*), COUNT(DISTINCT DATE(charged_at)) FROM dp.ledger WHERE entry = 'charge' AND account = 'shop.orders'")[0]; n[0] != n[1] {
		t.Errorf("%s charges on %s days", n[0], n[1])
	}
	t.Logf("%d days", acknowledged)
	if acknowledged < 4*round {
		t.Error("too little happened before the kills to say anything")
	}
	if err := p.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
