package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/estimator/noise"
	"scrim/engine/ops/datadir"
	"scrim/engine/views"
	"scrim/test/stattest"
)

// scheduledShop is a shop with a view that is refreshed daily; its next refreshes are due at the
// times that due returns.
func scheduledShop(t *testing.T) (i *instance, root *client, due func(n int) time.Time) {
	return scheduledShopWith(t, seeded(t, "schedule", 1))
}

// scheduledShopWith is scheduledShop with a source of noise.
func scheduledShopWith(t *testing.T, source func() noise.Noiser, change ...func(*Config)) (i *instance, root *client, due func(n int) time.Time) {
	i = startWith(t, "", source, change...)
	root = i.root()
	viewShop(root, viewOrders(rand.New(stattest.Source(t, "orders")), 1500), `CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":100}')`)
	root.exec("CALL dp_alter_budget('shop.orders', '*', '{\"window\": \"month\"}', 'a test')",
		`CALL dp_create_view('shop.sales', 'SELECT region, COUNT(*) AS n FROM shop.orders GROUP BY 1', '{"rho": 0.01, "refresh": "daily"}')`)
	begin := time.Now()
	return i, root, func(n int) time.Time {
		at := begin
		for range n {
			at = views.Daily.Next(at)
		}
		return at
	}
}

// moreOrders changes the data of the shop.
func (c *client) moreOrders(id int) {
	c.exec("SET dp_raw = ON", fmt.Sprintf("INSERT INTO shop.orders VALUES (%d, %d, 'north', 'tea', '2025-06-01', 1)", 100000+id, 100000+id), "SET dp_raw = OFF")
}

func (c *client) viewCharges() string {
	return c.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge' AND statement LIKE 'VIEW shop.sales AS %'")
}

func (c *client) outcome() string { return c.value("SELECT outcome FROM dp.views") }

// TestScheduledRefreshes: a view is refreshed when it is due, and charged once where its data have
// changed, and the budgets' forecast is what happens; after days down it is refreshed once.
func TestScheduledRefreshes(t *testing.T) {
	i, root, due := scheduledShop(t)
	ctx := t.Context()
	row := root.query("SELECT schedule, scheduled_by, next_at, outcome FROM dp.views")[0]
	if row[0] != "daily" || row[1] != "root@%" || !strings.HasPrefix(row[2], due(1).Format(time.DateTime)) || row[3] != "NULL" {
		t.Errorf("the schedule is %v", row)
	}
	const explain = "EXPLAIN SELECT /*+ SET_VAR(dp_views=always) */ region, COUNT(*) FROM shop.orders GROUP BY region"
	if plan := fmt.Sprint(root.query(explain)); !strings.Contains(plan, "refreshed next at "+due(1).Format(time.DateTime)+" UTC") {
		t.Errorf("the plan does not tell of the schedule: %s", plan)
	}
	one := func(column string) float64 {
		return numberIn(t, root.value("SELECT "+column+" FROM dp.budgets WHERE account = 'shop.orders' AND budget = '*'"))
	}
	n := int(one("scheduled_refreshes"))
	year, month, _ := time.Now().UTC().Date()
	if end := time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC); n != views.Daily.Times(time.Now(), end) {
		t.Errorf("%d refreshes are scheduled", n)
	}
	want, before := one("scheduled_rho"), one("spent_rho")
	for k := range n {
		root.moreOrders(k)
		i.turn(ctx, due(k+1).Add(-time.Second))
		i.turn(ctx, due(k+1))
		i.turn(ctx, due(k+1).Add(time.Hour))
	}
	if spent := one("spent_rho") - before; math.Abs(spent-want) > 1e-9 || root.viewCharges() != fmt.Sprint(1+n) {
		t.Errorf("the refreshes cost %g, forecast %g, by %s charges", spent, want, root.viewCharges())
	}
	if n > 0 && root.outcome() != "done" {
		t.Errorf("outcome %s", root.outcome())
	}
	charges := root.viewCharges()
	i.turn(ctx, due(n+1))
	if root.viewCharges() != charges || root.outcome() != "done" {
		t.Error("a refresh of the same data is charged for")
	}
	root.moreOrders(n + 1)
	i.turn(ctx, due(n+5)) // after three days down
	i.turn(ctx, due(n+5))
	if got := root.viewCharges(); got == charges {
		t.Error("nothing is refreshed after days down")
	}
	if got := root.value("SELECT next_at FROM dp.views"); !strings.HasPrefix(got, due(n+6).Format(time.DateTime)) {
		t.Errorf("due next at %s", got)
	}
	if told := root.query("CALL dp_schedule('shop.sales', 'weekly')"); len(told) == 0 || told[0][1] != "weekly" || told[0][8] == "NULL" {
		t.Errorf("told %v", told)
	}
	root.exec("CALL dp_schedule('shop.sales', 'never')")
	if plan := fmt.Sprint(root.query(explain)); strings.Contains(plan, "refreshed next") {
		t.Errorf("the plan tells of a schedule that has ended: %s", plan)
	}
	root.moreOrders(n + 2)
	charges = root.viewCharges()
	i.turn(ctx, due(n+40))
	if root.viewCharges() != charges || root.value("SELECT schedule FROM dp.views") != "never" {
		t.Error("refreshed without a schedule")
	}
	root.refused(1644, "45022", "CALL dp_schedule('shop.sales', 'hourly')")
	root.refused(1644, "45022", "CALL dp_schedule('shop.nothing', 'daily')")
	ann := i.analyst(root, "ann", "shop")
	ann.refused(1644, "", "CALL dp_schedule('shop.sales', 'daily')")
}

// TestScheduledRefreshesThatAreNotMade: without budget, rights or the table there is no refresh and
// no charge, the view stays, the log and the dashboard say why, and it is tried once a due time.
func TestScheduledRefreshesThatAreNotMade(t *testing.T) {
	i, root, due := scheduledShop(t)
	ctx := t.Context()
	released := root.value("SELECT released_at FROM dp.views")
	day := 0
	refused := func(because string) {
		t.Helper()
		day++
		charges := root.viewCharges()
		i.turn(ctx, due(day))
		tried := root.value("SELECT tried_at FROM dp.views")
		i.turn(ctx, due(day).Add(time.Minute))
		if got := root.outcome(); !strings.HasPrefix(got, "not done: ") || !strings.Contains(got, because) {
			t.Errorf("outcome %s, want %q", got, because)
		}
		if root.viewCharges() != charges || root.value("SELECT released_at FROM dp.views") != released || root.value("SELECT COUNT(*) FROM shop.sales") != "3" {
			t.Error("the view was charged for, or does not stay")
		}
		if root.value("SELECT tried_at FROM dp.views") != tried {
			t.Error("tried twice at one due time")
		}
		if texts := strings.Join(i.warnings.Texts(), "\n"); !strings.Contains(texts, because) {
			t.Errorf("the dashboard says %s", texts)
		}
		if log := i.log.String(); !strings.Contains(log, `"level":"warn"`) || !strings.Contains(log, "not done as scheduled") {
			t.Error("the log does not tell")
		}
	}
	root.moreOrders(1)
	root.exec("CALL dp_set_budget('shop.orders', '*', 'rho=0.010001', 1e-6, 'month', 'a test')")
	refused("budget")
	ann := i.analyst(root, "ann", "shop")
	if got := ann.value("SELECT outcome FROM dp.views"); got != "not done" {
		t.Errorf("an analyst is told %s", got)
	}
	root.exec("CALL dp_set_budget('shop.orders', '*', 'rho=10', 1e-6, 'month', 'a test')", "CREATE USER 'dan'@'%' IDENTIFIED BY 'pw-dan'", "GRANT dba TO 'dan'@'%'")
	dan := i.client("dan", "pw-dan")
	dan.exec("CALL dp_schedule('shop.sales', 'daily')")
	root.exec("REVOKE dba FROM 'dan'@'%'")
	refused("is no DBA any more")
	root.exec("DROP USER 'dan'@'%'")
	refused("was dropped or locked")
	root.exec("CALL dp_schedule('shop.sales', 'daily')")
	day++
	i.turn(ctx, due(day))
	if got := root.outcome(); got != "done" || len(i.warnings.Texts()) != 0 {
		t.Errorf("outcome %s, warnings %v", got, i.warnings.Texts())
	}
	released = root.value("SELECT released_at FROM dp.views")
	root.exec("DROP TABLE shop.orders")
	refused("orders")
	root.exec("CALL dp_drop_view('shop.sales')")
	i.turn(ctx, due(day+1))
	if len(i.warnings.Texts()) != 0 {
		t.Errorf("warnings of a view that is gone: %v", i.warnings.Texts())
	}
}

// TestRefreshThatHadBegunIsChargedOnce: where the server ends after the charge of a due refresh and
// before its answer is kept, the next one does not charge again for that time.
func TestRefreshThatHadBegunIsChargedOnce(t *testing.T) {
	draw := seeded(t, "schedule", 1)
	var drawn atomic.Pointer[func()]
	i, root, due := scheduledShopWith(t, func() noise.Noiser {
		if f := drawn.Load(); f != nil {
			(*f)()
		}
		return draw()
	})
	root.moreOrders(1)
	ctx, cancel := context.WithCancel(t.Context())
	end := func() { cancel() }
	drawn.Store(&end)
	i.turn(ctx, due(1))
	drawn.Store(nil)
	if ctx.Err() == nil || root.viewCharges() != "2" || root.outcome() != "NULL" {
		t.Fatalf("%s charges, outcome %s", root.viewCharges(), root.outcome())
	}
	dir := i.cfg.DataDir
	i.end()
	i = startWith(t, dir, draw)
	root = i.root()
	i.turn(t.Context(), due(1))
	if got := root.outcome(); root.viewCharges() != "2" || !strings.Contains(got, "charged for before the server ended") {
		t.Errorf("%s charges, outcome %s", root.viewCharges(), got)
	}
	i.turn(t.Context(), due(2))
	if got := root.outcome(); root.viewCharges() != "3" || got != "done" {
		t.Errorf("the next time: %s charges, outcome %s", root.viewCharges(), got)
	}
}

// TestScheduledSeries: the days that have ended are released when they are due, after days down all
// at once, and charged once in each month, as forecast; a complete series is done.
func TestScheduledSeries(t *testing.T) {
	set, clock := ledgerClock("2126-01-28 00:30:00")
	i, root, _ := scheduledShopWith(t, seeded(t, "schedule", 1), clock)
	today := time.Now().UTC()
	forecast := func(want string) {
		t.Helper()
		if got := root.value("SELECT scheduled_refreshes FROM dp.budgets WHERE account = 'shop.orders' AND budget = '*'"); got != want {
			t.Errorf("%s charges are due in the month, want %s", got, want)
		}
	}
	root.exec("CALL dp_schedule('shop.sales', 'never')",
		`CALL dp_set_domain('shop.orders', 'placed', 'null')`,
		fmt.Sprintf(`CALL dp_continual('shop.daily', 'SELECT placed AS day, COUNT(*) AS n FROM shop.orders GROUP BY 1', '{"rho": 0.1, "from": "%s", "days": 5, "per_person": 3, "schedule": "daily"}')`, today.Format(time.DateOnly)))
	spent := root.spentOn("shop.orders")["*"]
	forecast("0")
	at := time.Date(today.Year(), today.Month(), today.Day(), 2, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		day  int
		want string
	}{{1, "1"}, {4, "4"}, {4, "4"}, {9, "5"}, {10, "5"}} {
		if c.day == 9 {
			set("2126-02-01 00:30:00")
			forecast("1")
		}
		i.turn(t.Context(), at.AddDate(0, 0, c.day))
		forecast("0")
		if got := root.value("SELECT COUNT(*) FROM shop.daily"); got != c.want {
			t.Errorf("%s days are released after %d, want %s", got, c.day, c.want)
		}
	}
	if got := root.query("SELECT state, schedule, next_at, outcome FROM dp.continual")[0]; fmt.Sprint(got) != "[complete daily NULL done]" {
		t.Errorf("the series is %v", got)
	}
	if got := root.spentOn("shop.orders")["*"]; math.Abs(got-0.1) > 1e-9 || math.Abs(spent-0.11) > 1e-9 {
		t.Errorf("the month has %v, the one before had %v with a view", got, spent)
	}
}

// TestSchedulesRestInACopy: a copy, and what is restored, spends nothing by itself until a DBA says
// so; the same directory goes on.
func TestSchedulesRestInACopy(t *testing.T) {
	i, root, due := scheduledShop(t)
	root.moreOrders(1)
	charges := root.viewCharges()
	i.end()
	dir, again := i.cfg.DataDir, filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(again, datadir.LedgerFile+".key"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, again)
	c.turn(t.Context(), due(1))
	copied := c.root()
	if got := copied.outcome(); !strings.HasPrefix(got, "rests") || copied.viewCharges() != charges {
		t.Errorf("in a copy: %s, %s charges", got, copied.viewCharges())
	}
	if texts := strings.Join(c.warnings.Texts(), "\n"); !strings.Contains(texts, "the schedule of shop.sales rests") || !strings.Contains(c.log.String(), "the schedule of shop.sales rests") {
		t.Errorf("warnings %s", texts)
	}
	copied.exec("CALL dp_schedule('shop.sales', 'daily')")
	c.turn(t.Context(), due(1))
	if got := copied.outcome(); got != "done" || copied.viewCharges() == charges {
		t.Errorf("after it was said: %s", got)
	}
	c.end()
	i = start(t, dir)
	i.turn(t.Context(), due(3))
	if got := i.root().outcome(); got != "done" {
		t.Errorf("in the same directory: %s", got)
	}
}
