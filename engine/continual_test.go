package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/estimator/noise"
	"scrim/engine/exec"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/store"
	"scrim/test/stattest"
)

// order is one row of a customer, on a day from 1 on, of so many cents.
type order struct{ id, customer, day, cents int }

// row is the order as it is inserted; its day may be outside of the series' span.
func (o order) row() string {
	return fmt.Sprintf("(%d, %d, '2024-12-31' + INTERVAL %d DAY + INTERVAL %d MINUTE, %d.%02d)", o.id, o.customer, o.day, o.id%1440, o.cents/100, o.cents%100)
}

// shopModel is what a series has to tell: it holds each customer to a number of rows and of cents.
type shopModel struct {
	orders          []order
	bound           [2]int // rows, cents
	released        int
	counted         map[int][2]int
	days            [][2]int
	next, customers int
}

func newShopModel(r *rand.Rand, customers, rows, cents int) *shopModel {
	m := &shopModel{bound: [2]int{rows, cents}, counted: map[int][2]int{}, customers: customers}
	m.grow(r, 3, -1, 41)
	for range 100 { // who has more than counts
		m.add(0, 1+r.IntN(40), 500)
	}
	return m
}

func (m *shopModel) add(customer, day, cents int) {
	m.next++
	m.orders = append(m.orders, order{m.next, customer, day, cents})
}

// grow adds up to most orders of each customer, on days from, … to.
func (m *shopModel) grow(r *rand.Rand, most, from, to int) (added []order) {
	before := len(m.orders)
	for c := range m.customers {
		for range r.IntN(most + 1) {
			m.add(c, from+r.IntN(to-from+1), r.IntN(5000))
		}
	}
	return slices.Clone(m.orders[before:])
}

// release counts the days up to one that are not released.
func (m *shopModel) release(last int) {
	for ; m.released < last; m.released++ {
		totals := map[int][2]int{}
		for _, o := range m.orders {
			if o.day >= 1 && o.day <= m.released+1 {
				t := totals[o.customer]
				totals[o.customer] = [2]int{t[0] + 1, t[1] + o.cents}
			}
		}
		day := [2]int{}
		for c, t := range totals {
			u := m.counted[c]
			for k := range u {
				now := max(u[k], min(m.bound[k], t[k]))
				day[k] += now - u[k]
				u[k] = now
			}
			m.counted[c] = u
		}
		m.days = append(m.days, day)
	}
}

func orderRows(orders []order) []string {
	out := make([]string, len(orders))
	for i, o := range orders {
		out[i] = o.row()
	}
	return out
}

// continualShop makes the table of orders, whose customers are protected.
func continualShop(root *client, orders []order, more ...string) {
	root.exec("CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, placed DATETIME, amount DECIMAL(8,2))",
		"CALL dp_protect('shop.orders', 'customer', 'customer')",
		`CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":50}')`,
		"CALL dp_set_budget('shop.orders', '*', 100, 0.001, 'never')")
	root.exec(more...)
	change(root, orders)
}

// change inserts orders, and runs what else is to be done to the table.
func change(root *client, orders []order, statements ...string) {
	root.exec("SET dp_raw = ON")
	if len(orders) > 0 {
		root.insert("shop.orders", orderRows(orders))
	}
	root.exec(statements...)
	root.exec("SET dp_raw = OFF")
}

const dailySeries = `CALL dp_continual('shop.daily', 'SELECT DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders WHERE id > 0 OR id IS NULL GROUP BY 1', '{"epsilon": 2, "from": "2025-01-01", "days": 40, "per_person": 5, "clip": 100}')`

// releaseInParts releases a series of 40 days in three calls, with a restart, late orders, and
// orders that are deleted or given to somebody else in between, and the model with it.
func releaseInParts(t *testing.T, source func() noise.Noiser) (*client, *shopModel) {
	r := rand.New(stattest.Source(t, "orders"))
	m := newShopModel(r, 150, 5, 10000)
	dir := filepath.Join(t.TempDir(), "data")
	_, clock := ledgerClock("2126-01-05 12:00:00") // of one day
	i := startWith(t, dir, source, clock)
	root := i.root()
	continualShop(root, m.orders)
	made := root.query(dailySeries)
	if len(made) != 1 || made[0][2] != "going on" || made[0][3] != "2025-01-01" || made[0][4] != "2025-02-09" || made[0][6] != "0" || made[0][7] != "2025-01-01" {
		t.Fatalf("made %v", made)
	}
	charges := "SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'"
	if got := root.query("SELECT DISTINCT id FROM dp.ledger WHERE statement LIKE 'TOTALS shop.daily AS SELECT%' AND entry = 'charge'"); len(got) != 1 || got[0][0] != made[0][15] {
		t.Errorf("the ledger has %v, the series names %s", got, made[0][15])
	}
	root.exec("CALL dp_continue('shop.daily', '2025-01-15')")
	m.release(15)
	first := root.query("SELECT * FROM shop.daily ORDER BY day")
	i.end()

	i = startWith(t, dir, source, clock)
	root = i.root()
	late := m.grow(r, 1, 1, 15)
	m.orders = slices.DeleteFunc(m.orders, func(o order) bool { return o.id%7 == 0 })
	for k := range m.orders {
		if m.orders[k].customer == 1 {
			m.orders[k].customer = 2
		}
	}
	change(root, slices.DeleteFunc(slices.Clone(late), func(o order) bool { return o.id%7 == 0 }), "DELETE FROM shop.orders WHERE id % 7 = 0", "UPDATE shop.orders SET customer = 2 WHERE customer = 1")
	root.exec("CALL dp_continue('shop.daily', '2025-01-15')", "CALL dp_continue('shop.daily', '2025-01-16')")
	m.release(16)
	if again := root.query("SELECT * FROM shop.daily WHERE day <= '2025-01-15' ORDER BY day"); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Error("days that were released have other numbers")
	}
	change(root, m.grow(r, 1, 1, 40))
	root.exec("CALL dp_continue('shop.daily')")
	m.release(40)
	if got := root.query("SELECT state, days_released, next_day FROM dp.continual"); fmt.Sprint(got) != "[[complete 40 NULL]]" {
		t.Errorf("dp.continual has %v", got)
	}
	root.refusedFor(map[string]string{"CALL dp_continue('shop.daily')": "its last day, 2025-02-09, is released"})
	if got := root.value(charges); got != "1" {
		t.Errorf("%s charges", got)
	}
	return i.analyst(root, "ann", "shop"), m
}

// TestRunningTotalsAreExactWithoutNoise: what a series counts is what it says, by a model: late
// rows on the first day after they came, nobody beyond the bounds, deleted rows as they were
// counted. A model that takes deleted rows back is found out.
func TestRunningTotalsAreExactWithoutNoise(t *testing.T) {
	ann, m := releaseInParts(t, func() noise.Noiser { return stattest.Zero{} })
	rows := ann.query("SELECT day, n, n_total, s, s_total FROM shop.daily ORDER BY day")
	if len(rows) != 40 || rows[0][0] != "2025-01-01" || rows[39][0] != "2025-02-09" {
		t.Fatalf("%d days", len(rows))
	}
	total := [2]float64{}
	for k, row := range rows {
		for j := range 2 {
			want := float64(m.days[k][j])
			if j == 1 {
				want /= 100
			}
			total[j] += want
			if day, all := numberIn(t, row[1+2*j]), numberIn(t, row[2+2*j]); math.Abs(day-want) > 1e-3 || math.Abs(all-total[j]) > 1e-3 {
				t.Errorf("%v, want %v and %v", row, want, total[j])
			}
		}
	}
	present := map[int]int{}
	for _, o := range m.orders {
		if o.day >= 1 && o.day <= 40 {
			present[o.customer]++
		}
	}
	now := 0
	for _, n := range present {
		now += min(n, 5)
	}
	if float64(now) == total[0] {
		t.Error("deleted rows could have been taken back")
	}
}

// TestRunningTotalsOfASeries: with noise the totals are within the errors that are told, and days
// add up to totals.
func TestRunningTotalsOfASeries(t *testing.T) {
	ann, m := releaseInParts(t, seeded(t, "series", 1))
	total, z2 := [2]float64{}, 0.0
	before := [2]float64{}
	for k, row := range ann.query("SELECT n, n_stderr, n_total, n_total_stderr, s, s_stderr, s_total, s_total_stderr FROM shop.daily ORDER BY day") {
		for j, unit := range []float64{1, 100} {
			total[j] += float64(m.days[k][j]) / unit
			var x [4]float64
			for c := range x {
				x[c] = numberIn(t, row[4*j+c])
			}
			if math.Abs(x[2]-before[j]-x[0]) > 1e-6*(1+math.Abs(x[2])) {
				t.Errorf("day %d: %v, and a total of %v after %v", k, x[0], x[2], before[j])
			}
			before[j] = x[2]
			if z := math.Abs(x[2]-total[j]) / x[3]; z > 6.5 {
				t.Errorf("day %d: a total of %v, want %v within %v", k, x[2], total[j], x[3])
			}
			z := (x[0] - float64(m.days[k][j])/unit) / x[1]
			z2 += z * z
			if x[1] > x[3] && k > 0 {
				t.Errorf("day %d: errors of %v and %v", k, x[1], x[3])
			}
		}
	}
	if z2 < 80*0.4 || z2 > 80*2 { // 80 nearly independent squares: beyond that once in 10⁷ times
		t.Errorf("the days' errors are %v times what is told", math.Sqrt(z2/80))
	}
}

// TestSeriesThatAreNone: what no series can be made of is refused beforehand, with what would do,
// and costs nothing; nobody writes into a series, and only a DBA makes one.
func TestSeriesThatAreNone(t *testing.T) {
	i := start(t, "")
	root := i.root()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders, "CREATE TABLE shop.plain (d DATE)", "CALL dp_public('shop.plain')")
	make := func(query, options string) string {
		return "CALL dp_continual('shop.v', '" + strings.ReplaceAll(query, "'", "''") + "', '" + options + "')"
	}
	const ok, days = "SELECT DATE(placed) AS day, COUNT(*) AS n FROM shop.orders GROUP BY 1", `{"epsilon": 1, "from": "2025-01-01", "days": 10, "per_person": 3}`
	root.refusedFor(map[string]string{
		make("SELECT DATE(placed) AS day, id % 3 AS k, COUNT(*) AS n FROM shop.orders GROUP BY 1, 2", days): "no other dimension",
		make("SELECT COUNT(*) AS n FROM shop.orders", days):                                                 "no dimension",
		make("SELECT MONTH(placed) AS m, COUNT(*) AS n FROM shop.orders GROUP BY 1", days):                  "is no day",
		make("SELECT placed, COUNT(*) AS n FROM shop.orders GROUP BY placed", days):                         "is no day",
		make("SELECT DATE(placed) AS day, AVG(amount) AS n FROM shop.orders GROUP BY 1", days):              "numbers of rows and sums",
		make("SELECT DATE(placed) AS day, SUM(id) AS n FROM shop.orders GROUP BY 1", days):                  "may be under 0",
		make("SELECT DATE(placed) AS day, COUNT(*) AS n FROM shop.orders GROUP BY 1 HAVING n > 3", days):    "Leave out HAVING",
		make("SELECT d, COUNT(*) AS n FROM shop.plain GROUP BY 1", days):                                    "no protected table",
		make(ok, `{"epsilon": 1, "from": "2025-01-01", "days": 10}`):                                        "per_person",
		make(ok, `{"epsilon": 1, "from": "2025-01-01", "days": 3661, "per_person": 3}`):                     "1 to 3660",
		make(ok, `{"epsilon": 1, "from": "1st of May", "days": 10, "per_person": 3}`):                       "2025-01-31",
		make(ok, `{"epsilon": 1, "rho": 1, "from": "2025-01-01", "days": 10, "per_person": 3}`):             "either epsilon or rho",
		make(ok, `{"epsilon": 1, "from": "2025-01-01", "days": 10, "per_person": 3, "clip": -1}`):           "clip",
		make(ok, `{"epsilon": 1, "from": "2025-01-01", "days": 10, "per_person": 3, "ways": 1}`):            "JSON object",
		strings.Replace(make(ok, days), "shop.v", "shop.orders", 1):                                         "was protected",
		strings.Replace(make(ok, days), "shop.v", "shop.plain", 1):                                          "already",
		"CALL dp_continue('shop.v')": "no series",
	})
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'"); got != "0" {
		t.Errorf("%s charges", got)
	}
	ann := i.analyst(root, "ann", "shop")
	ann.refusedFor(map[string]string{make(ok, days): "DBA only", "CALL dp_continue('shop.v')": "DBA only"})
	root.exec(make(ok, days))
	root.refusedFor(map[string]string{
		"CALL dp_continue('shop.v', '2999-01-01')": "has not ended",
		"CALL dp_continue('shop.v', 'today')":      "no day",
		"INSERT INTO shop.v (day) VALUES (NULL)":   "dp_continue",
		"DROP TABLE shop.v":                        "dp_drop_continual",
		make(ok, days):                             "already",
	})
	root.exec("CALL dp_continue('shop.v', '2025-01-03')")
	root.exec("CALL dp_set_domain('shop.orders', 'placed', '{\"min\":\"2025-01-01\",\"max\":\"2025-01-05\"}')", "CALL dp_continue('shop.v', '2025-01-04')")
	// what a series counts is what was charged
	root.exec("CALL dp_set_domain('shop.orders', 'amount', '{\"min\":0,\"max\":60}')", "ALTER TABLE shop.orders ADD COLUMN note INT", "CALL dp_continue('shop.v', '2025-01-05')")
	root.exec(strings.Replace(dailySeries, "shop.daily", "shop.w", 1), "CALL dp_set_domain('shop.orders', 'amount', '{\"min\":0,\"max\":50}')")
	root.refusedFor(map[string]string{"CALL dp_continue('shop.w', '2025-01-05')": "does not mean what it did"})
	root.exec("CALL dp_drop_continual('shop.w')", "CALL dp_unprotect('shop.orders')", "CALL dp_protect('shop.orders', 'id', 'customer')")
	root.refusedFor(map[string]string{"CALL dp_continue('shop.v', '2025-01-06')": "does not mean what it did"})
	root.exec("CALL dp_unprotect('shop.orders')", "CALL dp_protect('shop.orders', 'customer', 'customer')", "CALL dp_continue('shop.v', '2025-01-06')")
	if got := ann.query("SELECT series_name, days_released FROM dp.continual"); fmt.Sprint(got) != "[[shop.v 6]]" {
		t.Errorf("an analyst sees %v", got)
	}
	root.exec("CALL dp_drop_continual('shop.v')")
	if got := root.query("SELECT * FROM dp.continual"); len(got) != 0 {
		t.Errorf("dropped, and there: %v", got)
	}
	if _, err := ann.try("SELECT * FROM shop.v"); err == nil {
		t.Error("dropped, and read")
	}
}

// TestSeriesMoveByAtMostTheirLoss takes a customer's rows away, or exchanges them, from the first
// day on, and once more between two releases, and adds up what all days together lose, given the
// same answers: rows on one day, on all days, far more than count, without a day or an amount, and
// rows that go and come again. An exchange under add-remove is found out.
func TestSeriesMoveByAtMostTheirLoss(t *testing.T) {
	mine := func(n, day int) (out []order) {
		for k := range n {
			out = append(out, order{100000 + 1000*day + k, 1000, day, 4999})
		}
		return out
	}
	var each []order
	for day := 1; day <= 40; day++ {
		each = append(each, mine(1, day)...)
	}
	none := "UPDATE shop.orders SET placed = NULL, amount = NULL WHERE customer = 1000"
	courses := [][3]any{ // rows at first; rows that come after ten days; what is done to the first ones then
		{[]order(nil), []order(nil), ""},
		{mine(300, 1), []order(nil), ""},
		{each, []order(nil), ""},
		{mine(5, 3), mine(300, 4), "DELETE FROM shop.orders WHERE customer = 1000"},
		{mine(5, 1), []order(nil), none},
		{mine(300, 40), mine(2, 41), ""},
	}
	run := func(relation string) (away, exchanged float64) {
		var runs [][]*stattest.Recorder
		var charged *big.Rat
		source := &recorders{t: t}
		i := startWith(t, "", source.next)
		root := i.root()
		m := newShopModel(rand.New(rand.NewPCG(7, 7)), 30, 5, 10000)
		var more []string
		if relation != "" {
			more = append(more, "CALL dp_set_neighbours('shop.orders', '"+relation+"')")
		}
		continualShop(root, m.orders, more...)
		for k, c := range courses {
			source.mu.Lock()
			source.list, source.replay = nil, nil
			if k > 0 {
				source.replay = runs[0]
			}
			source.mu.Unlock()
			change(root, c[0].([]order))
			name := fmt.Sprintf("shop.d%d", k)
			root.exec(strings.Replace(dailySeries, "shop.daily", name, 1), "CALL dp_continue('"+name+"', '2025-01-10')")
			if do := c[2].(string); do != "" {
				change(root, nil, do)
			}
			change(root, c[1].([]order))
			root.exec("CALL dp_continue('"+name+"', '2025-01-11')", "CALL dp_continue('"+name+"')")
			change(root, nil, "DELETE FROM shop.orders WHERE customer = 1000")
			runs = append(runs, source.again(false))
			charged = lastCharge(t, root)
		}
		for a := range runs {
			for b := range runs[:a] {
				share, _ := new(big.Rat).Quo(lossOf(t, runs[a], runs[b]), charged).Float64()
				if exchanged = max(exchanged, share); b == 0 {
					away = max(away, share)
				}
			}
		}
		return away, exchanged
	}
	if away, exchanged := run(""); away > 1 || away < 0.9 || exchanged <= 1 {
		t.Errorf("add-remove: who goes loses %v of the charge, who is exchanged %v, which is to be found out", away, exchanged)
	}
	if _, exchanged := run("replace-one"); exchanged > 1 || exchanged < 0.9 {
		t.Errorf("replace-one: who is exchanged loses %v of the charge", exchanged)
	}
}

// TestSeriesOfAnotherTimeHasEnded: a day is not released again from data that were put back as they
// were before its release, beside the ledger that knows of it; nor where an older ledger was
// accepted. Data that were put back as they were after the last release go on.
func TestSeriesOfAnotherTimeHasEnded(t *testing.T) {
	dir, backups := filepath.Join(t.TempDir(), "data"), t.TempDir()
	config := func(c *Config) { c.BackupDir = backups }
	i := start(t, dir, config)
	root := i.root()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders)
	root.exec(dailySeries, "CALL dp_continue('shop.daily', '2025-01-05')", "CALL dp_backup('five')", "CALL dp_continue('shop.daily', '2025-01-09')", "CALL dp_backup('nine')")
	i.end()
	restore := func(name, to string, accept bool) *client {
		t.Helper()
		o := backup.RestoreOptions{From: filepath.Join(backups, name), To: datadir.Place{Dir: to}, Accept: rollback.Acceptance{By: "operator"}}
		man, err := backup.Verify(context.Background(), o.From, nil)
		if err != nil {
			t.Fatal(err)
		}
		if accept {
			o.Accept.LedgerOf = man.Day()
		}
		if r, err := backup.Restore(context.Background(), o, nil); err != nil || r.KeptLedger == accept {
			t.Fatalf("restored %+v, %v", r, err)
		}
		i = start(t, to, config)
		return i.root()
	}
	root = restore("nine", dir, false)
	root.exec("CALL dp_continue('shop.daily', '2025-01-10')")
	if got := root.value("SELECT COUNT(*) FROM shop.daily"); got != "10" {
		t.Errorf("%s days", got)
	}
	i.end()
	const again = "CALL dp_continue('shop.daily', '2025-01-11')"
	for name, words := range map[string]string{"nine": "the data are of another time", "five": "the data are of another time"} {
		root = restore(name, dir, false)
		root.refusedFor(map[string]string{again: words})
		root.refusedFor(map[string]string{again: words}) // and so it stays
		if got := root.value("SELECT state FROM dp.continual"); !strings.HasPrefix(got, "ended: ") {
			t.Errorf("%s: the state is %s", name, got)
		}
		i.end()
	}
	root = restore("nine", filepath.Join(t.TempDir(), "new"), true)
	root.refusedFor(map[string]string{again: "an older ledger was accepted"})
	root.exec("CALL dp_drop_continual('shop.daily')", dailySeries, "CALL dp_continue('shop.daily')")
}

// TestSeriesGoesWithItsTable: where the store has lost the table of a series, nothing of what is
// private of it is left after the next start, and of another series all.
func TestSeriesGoesWithItsTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i := start(t, dir)
	root := i.root()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders, "CREATE DATABASE other")
	root.exec(dailySeries, strings.Replace(dailySeries, "shop.daily", "other.daily", 1), "CALL dp_continue('shop.daily')", "CALL dp_continue('other.daily', '2025-01-03')")
	root.refusedFor(map[string]string{"DROP DATABASE other": "dp_drop_continual"})
	private := func() (n int) {
		s, err := i.store.Session(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		rows, err := s.Query(context.Background(), "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'totals_%'")
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Each(rows, func([]any) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := private(); n != 2 {
		t.Errorf("%d tables of persons", n)
	}
	s, err := i.store.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(context.Background(), []store.TableRef{{Schema: "other", Name: "daily"}}, "DROP TABLE other.daily"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	i.end()
	i = start(t, dir, func(c *Config) { c.LostTables = "other.daily" })
	root = i.root()
	if n := private(); n != 1 {
		t.Errorf("%d tables of persons after a restart", n)
	}
	if got := root.query("SELECT series_name, days_released FROM dp.continual"); fmt.Sprint(got) != "[[shop.daily 40]]" {
		t.Errorf("dp.continual has %v", got)
	}
	root.exec("CALL dp_drop_continual('shop.daily')")
	if n := private(); n != 0 {
		t.Errorf("dropped, and %d tables of persons", n)
	}
}

// TestSeriesOnAGaussianAccount: there it is charged as Gaussian noise, and drawn as such.
func TestSeriesOnAGaussianAccount(t *testing.T) {
	i := start(t, "")
	root := i.root()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders, `CALL dp_set_budget('shop.orders', '*', 20, 1e-5, 'never', 'for noise', '{"account": "gaussian"}')`)
	root.exec(dailySeries, "CALL dp_continue('shop.daily')")
	list, err := i.totals.List(sql.NewEmptyContext())
	if err != nil || !list[0].Rounded || list[0].State.Shown != 40 {
		t.Errorf("%+v, %v", list, err)
	}
	if got := root.value("SELECT events FROM dp.ledger WHERE statement LIKE 'TOTALS%' LIMIT 1"); !strings.HasPrefix(got, "gaussian(") {
		t.Errorf("charged as %s", got)
	}
}

// breaking is a ledger whose notes of releases fail, before they are written or after.
type breaking struct {
	*accounting.Ledger
	after bool
}

func (b breaking) Note(principal, kind, text string) error {
	if b.after {
		if err := b.Ledger.Note(principal, kind, text); err != nil {
			return err
		}
	}
	return errors.New("the disk is gone")
}

// TestReleaseIsGoneOnWith: days that were drawn, and are not in the ledger or not in the table when
// the server ends, are shown as they were drawn by the next call, each by one release; until then
// nothing of them is seen. Drawing them again is found out by its noise.
func TestReleaseIsGoneOnWith(t *testing.T) {
	for _, after := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "data")
		set, clock := ledgerClock("2126-01-05 12:00:00")
		i := startWith(t, dir, seeded(t, "drawn", 1), clock)
		root := i.root()
		m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
		continualShop(root, m.orders, "CALL dp_alter_budget('shop.orders', '*', '{\"window\": \"month\"}', 'a test')")
		charges := func() string {
			return root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'")
		}
		root.exec(dailySeries, "CALL dp_continue('shop.daily', '2025-01-02')")
		i.totals.Ledger = breaking{i.ledger, after}
		if _, err := root.try("CALL dp_continue('shop.daily', '2025-01-05')"); err == nil {
			t.Error("a release that is not noted is shown")
		}
		if got := root.query("SELECT COUNT(*), (SELECT days_released FROM dp.continual) FROM shop.daily"); fmt.Sprint(got) != "[[2 2]]" {
			t.Errorf("after %v: days %v are seen", after, got)
		}
		kept, err := i.totals.List(sql.NewEmptyContext())
		if err != nil || kept[0].State.Kept != 5 {
			t.Fatalf("kept %+v, %v", kept, err)
		}
		i.end()
		// what was drawn in January is shown in February, and was charged in January
		set("2126-02-05 12:00:00")
		drawn := 0
		i = startWith(t, dir, func() noise.Noiser { drawn++; return stattest.Zero{} }, clock)
		root = i.root()
		change(root, m.grow(rand.New(rand.NewPCG(8, 8)), 2, 1, 5))
		root.exec("CALL dp_continue('shop.daily', '2025-01-05')")
		shown, err := i.totals.List(sql.NewEmptyContext())
		if err != nil || drawn > 0 || fmt.Sprint(shown[0].State.Noisy) != fmt.Sprint(kept[0].State.Noisy) {
			t.Errorf("after %v: drawn %d times, %+v, then %+v, %v", after, drawn, kept, shown, err)
		}
		if got := root.query("SELECT COUNT(*), (SELECT days_released FROM dp.continual) FROM shop.daily"); fmt.Sprint(got) != "[[5 5]]" {
			t.Errorf("after %v: days %v", after, got)
		}
		if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'note' AND outcome = 'totals'"); got != "2" {
			t.Errorf("after %v: %s releases in the ledger", after, got)
		}
		if got := charges(); got != "1" || root.spentOn("shop.orders")["*"] != 0 {
			t.Errorf("after %v: %s charges for days that were drawn", after, got)
		}
		root.exec("CALL dp_continue('shop.daily', '2025-01-06')")
		if drawn == 0 {
			t.Error("the next day is not drawn")
		}
		if got := charges(); got != "2" || root.spentOn("shop.orders")["*"] == 0 {
			t.Errorf("after %v: %s charges for the next month", after, got)
		}
		i.end()
	}
}

// ledgerClock is a clock of the ledger alone.
func ledgerClock(at string) (set func(at string), change func(*Config)) {
	var now atomic.Pointer[time.Time]
	set = func(at string) {
		t, err := time.Parse(time.DateTime, at)
		if err != nil {
			panic(err)
		}
		now.Store(&t)
	}
	set(at)
	return set, func(c *Config) { c.now = func() time.Time { return *now.Load() } }
}

// spentOn are the spent ρ of a table's budgets, by principal.
func (c *client) spentOn(account string) map[string]float64 {
	out := map[string]float64{}
	for _, row := range c.query("SELECT principal, spent_rho FROM dp.budgets WHERE set_at IS NOT NULL AND account = '" + account + "'") {
		out[row[0]] = numberIn(c.t, row[1])
	}
	return out
}

// TestSeriesOfSeveralWindows: three series of nearly all of a month's budget, over the same days,
// are made in three months; in the third, only the one that was made then is released. The refusal
// says what to do, costs nothing, and the days come in the next month, for one charge; no month has
// more than its budget.
func TestSeriesOfSeveralWindows(t *testing.T) {
	set, clock := ledgerClock("2126-01-05 12:00:00")
	i := start(t, "", clock)
	root := i.root()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders, "CALL dp_set_budget('shop.orders', '*', 1, 1e-6, 'month', 'a test')")
	for k, name := range []string{"shop.a", "shop.b", "shop.c"} {
		set(fmt.Sprintf("2126-0%d-05 12:00:00", k+1))
		root.exec("CALL dp_continual('" + name + `', 'SELECT DATE(placed) AS day, COUNT(*) AS n FROM shop.orders GROUP BY 1', '{"epsilon": 0.95, "from": "2025-01-01", "days": 40, "per_person": 5}')`)
	}
	spent := func() float64 { return root.spentOn("shop.orders")["*"] }
	once := spent()
	root.exec("CALL dp_continue('shop.c', '2025-01-03')", "CALL dp_continue('shop.c')")
	for range 2 {
		root.refusedFor(map[string]string{"CALL dp_continue('shop.a')": "dp_drop_continual"})
	}
	if got := spent(); got != once || once == 0 {
		t.Errorf("%v is spent, once %v", got, once)
	}
	if got := root.query("SELECT series_name, days_released FROM dp.continual ORDER BY 1"); fmt.Sprint(got) != "[[shop.a 0] [shop.b 0] [shop.c 40]]" {
		t.Errorf("released %v", got)
	}
	set("2126-04-30 12:00:00")
	root.exec("CALL dp_continue('shop.a', '2025-01-03')", "CALL dp_continue('shop.a', '2025-01-04')")
	if got := spent(); math.Abs(got-once) > 1e-9 {
		t.Errorf("in the next month %v is spent, want %v", got, once)
	}
	root.refusedFor(map[string]string{"CALL dp_continue('shop.b')": "2126-05-01", "SELECT COUNT(*) FROM shop.orders": "remains"})
	set("2126-05-01 00:00:00")
	root.exec("CALL dp_continue('shop.a')")
	if got := root.query("SELECT entry, rho > 0, counts_after FROM dp.ledger WHERE statement LIKE 'TOTALS shop.a AS %' AND entry = 'charge' AND account_type = 'table' ORDER BY id"); fmt.Sprint(got) != "[[charge 1 NULL] [charge 1 2126-01-05] [charge 1 2126-04-30]]" {
		t.Errorf("the ledger has %v", got)
	}
}

// TestSeriesIsChargedByWindow: a series under budgets of all windows is charged, in each, once for
// each of its windows in which days are released, to the account that made it whoever continues it,
// also when that is dropped; a server that ends between the charge and the draw does not have it
// paid again, and neither does a release that fails; the whole series has ever cost once what it
// costs. After a reset it is charged again.
func TestSeriesIsChargedByWindow(t *testing.T) {
	set, clock := ledgerClock("2126-01-05 12:00:00") // a Saturday
	dir, fail := filepath.Join(t.TempDir(), "data"), new(atomic.Bool)
	source := func() noise.Noiser {
		if fail.Load() {
			panic("a crash")
		}
		return stattest.Zero{}
	}
	begin := func() (*instance, *client) {
		i := startWith(t, dir, source, clock)
		i.defects = true
		return i, i.root()
	}
	i, root := begin()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders, "CREATE ROLE makers", "CREATE USER 'eve'@'%' IDENTIFIED BY 'pw-eve'", "GRANT dba TO 'eve'@'%'", "GRANT makers TO 'eve'@'%'",
		"CALL dp_set_budget('shop.orders', 'role:makers', 90, 0.001, 'month')", "CALL dp_set_budget('shop.orders', 'eve', 90, 0.001, 'day')", "CALL dp_set_budget('entity:customer', '*', 90, 0.001, 'week')")
	i.client("eve", "pw-eve").exec(strings.Replace(dailySeries, `"epsilon": 2`, `"rho": 0.5`, 1))
	day := 0
	release := func() string {
		day++
		return fmt.Sprintf("CALL dp_continue('shop.daily', '%s')", time.Date(2025, 1, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	want := func(at string, never, month, week, day float64) {
		t.Helper()
		on, of := root.spentOn("shop.orders"), root.spentOn("customer")
		if on["*"] != never || on["role:makers"] != month || of["*"] != week || on["eve@%"] != day {
			t.Errorf("%s: %v, and the entity %v; want %v %v %v %v", at, on, of, never, month, week, day)
		}
	}
	want("made", .5, .5, .5, .5)
	root.exec(release(), release())
	want("released", .5, .5, .5, .5)
	for _, at := range []string{"2126-01-06 10:00:00", "2126-01-07 10:00:00", "2126-01-31 23:59:00", "2126-02-01 00:00:00", "2126-02-02 00:00:00"} {
		set(at)
		root.exec(release(), release())
		want(at, .5, .5, .5, .5)
	}
	charges := func() string {
		return root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge' AND principal = 'eve@%'")
	}
	if got := charges(); got != "6" {
		t.Errorf("%s charges", got)
	}
	set("2126-03-01 12:00:00")
	want("before", .5, 0, 0, 0)
	fail.Store(true)
	if _, err := root.try(release()); err == nil {
		t.Fatal("released by a crash")
	}
	fail.Store(false)
	day--
	want("charged and not drawn", .5, .5, .5, .5)
	i.end()
	_, root = begin()
	root.exec("DROP USER 'eve'@'%'", release())
	want("drawn after a restart", .5, .5, .5, .5)
	if got := charges(); got != "7" {
		t.Errorf("%s charges", got)
	}
	set("2126-02-01 12:00:00") // a clock that goes back
	root.exec(release())
	set("2126-04-01 12:00:00")
	root.exec("DROP ROLE makers", release(), "CALL dp_continue('shop.daily', '2025-01-01')")
	want("after the account", .5, .5, .5, .5)
	if got := charges(); got != "8" {
		t.Errorf("%s charges", got)
	}
	root.exec("CALL dp_reset_budget('shop.orders', '*', 'a test')", release(), release())
	want("reset", .5, 1, .5, 1)
	if got := root.query("SELECT SUM(rho) FROM dp.ledger WHERE entry = 'charge' AND counts_after IS NULL AND account = 'customer'"); numberIn(t, got[0][0]) != .5 {
		t.Errorf("the entity has ever %v", got)
	}
}

// TestSeriesOfAnArchivedCharge: where the record of the last charge is in an archive nobody knows
// in which windows it counts, and the series says so.
func TestSeriesOfAnArchivedCharge(t *testing.T) {
	i := start(t, "")
	root := i.root()
	m := newShopModel(rand.New(rand.NewPCG(7, 7)), 20, 5, 10000)
	continualShop(root, m.orders)
	root.exec(dailySeries)
	i.runner.Account = archivedCharges{i.runner.Account}
	root.refusedFor(map[string]string{"CALL dp_continue('shop.daily')": "in an archive"})
}

// archivedCharges is an account whose charges are all in an archive.
type archivedCharges struct{ exec.Account }

func (archivedCharges) Renew(context.Context, uint64) (accounting.Receipt, error) {
	return accounting.Receipt{}, accounting.ErrArchived
}
