package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/engine/ops/datadir"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/engine/views"
	"scrim/test/testenv"
)

// makeDue has a killed server's view shop.sales be due when the next one starts: it puts the time
// up to which the schedule is dealt with back, as if the server had been down for two days.
func makeDue(t *testing.T, dir string) {
	t.Helper()
	d, err := datadir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	place := datadir.Place{Dir: dir, Threads: 1}
	st, err := duckdb.Open(filepath.Join(dir, datadir.DataFile), place.StoreOptions(d.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s, err := st.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const bucket = "dp views"
	key := store.TableKey(store.TableRef{Schema: "shop", Name: "sales"})
	value, ok, err := s.Meta().Get(t.Context(), bucket, key)
	if err != nil || !ok {
		t.Fatalf("the view's record: %v, there %v", err, ok)
	}
	var r views.Record
	if err := json.Unmarshal(value, &r); err != nil {
		t.Fatal(err)
	}
	r.Schedule.Done = time.Now().UTC().AddDate(0, 0, -2)
	if value, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := s.Meta().Put(t.Context(), bucket, key, value); err != nil {
		t.Fatal(err)
	}
}

// TestKilledServerRefreshesOnceForADueTime kills the serving process while a scheduled refresh is
// made. The next one deals with it: the view is whole, has its charge in the ledger, and each due
// time has one charge at most; what is spent are the charges.
func TestKilledServerRefreshesOnceForADueTime(t *testing.T) {
	p, dir := serveShop(t, "a INT, b INT", func(k int) string { return fmt.Sprintf("%d, %d", k%4, k%3) })
	p.root(t).must(t,
		`CALL dp_set_domain('shop.orders', 'a', '[0,1,2,3]')`,
		`CALL dp_set_domain('shop.orders', 'b', '[0,1,2]')`,
		`CALL dp_create_view('shop.sales', 'SELECT a, b, COUNT(*) AS n FROM shop.orders GROUP BY a, b', '{"rho": 0.5, "refresh": "daily"}')`)
	const charges = "SELECT id FROM dp.ledger WHERE entry = 'charge' AND account = 'shop.orders' ORDER BY id"
	r := rand.New(rand.NewPCG(*killSeed, 4))
	charged, done, interrupted := 1, 0, 0
	var took time.Duration // by the refresh of the first round, which is not killed before its end
	for round := range *killRounds {
		// other data, so that a refresh is not the stored answer
		p.root(t).must(t, "SET dp_raw = ON", fmt.Sprintf("INSERT INTO shop.orders VALUES (%d, %d, 1, 1)", 10000+round, 10000+round))
		p.kill()
		makeDue(t, dir)
		p = serveFor(t, dir)
		var root *session
		var line []string
		dealtWith := func() {
			t.Helper()
			root = p.root(t)
			testenv.Until(t, patience, "what was due", func() bool {
				line = root.must(t, "SELECT next_at > UTC_TIMESTAMP(), tried_at, outcome, ledger_id, cells FROM dp.views")[0]
				return line[0] == "1"
			})
		}
		if start := time.Now(); round == 0 {
			dealtWith()
			took = time.Since(start)
		} else {
			time.Sleep(part(r, took))
		}
		p.kill()
		p = serveFor(t, dir)
		dealtWith()
		list := root.must(t, charges)
		if n := len(list); n > charged+1 {
			t.Errorf("round %d: %d charges for one due time", round, n-charged)
		}
		if line[2] == "done" {
			done++
			if last := list[len(list)-1][0]; last != line[3] || len(list) != charged+1 {
				t.Errorf("round %d: refreshed by the charge %s, and the last of %d is %s", round, line[3], len(list)-charged, last)
			}
		} else {
			interrupted++ // charged for, and no answer was kept
			if len(list) != charged+1 || !strings.Contains(line[2], "charged for before the server ended") {
				t.Errorf("round %d: by %d charges %s", round, len(list)-charged, line[2])
			}
		}
		charged = len(list)
		if n := root.must(t, "SELECT COUNT(*) FROM shop.sales")[0][0]; n != line[4] || n != "12" {
			t.Errorf("round %d: %s cells, of %s", round, n, line[4])
		}
		if spent := number(t, root.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0]); math.Abs(spent-0.5*float64(charged)) > 1e-6 {
			t.Errorf("round %d: spent %v, of %d charges", round, spent, charged)
		}
	}
	t.Logf("%d rounds: %d refreshed, %d charged without an answer, %d charges", *killRounds, done, interrupted, charged)
	if done == 0 {
		t.Error("nothing was refreshed")
	}
	if err := p.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
