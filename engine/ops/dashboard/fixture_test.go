package dashboard

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/catalog"
	"scrim/engine/observe/watch"
)

// anySchema has every table and column.
type anySchema struct{}

func (anySchema) HasTable(string) bool          { return true }
func (anySchema) ColumnType(_, _ string) string { return "" }

func (anySchema) HasColumn(_, column string) bool   { return column != "row" }
func (anySchema) Collation(string, string) string   { return "" }
func (anySchema) IsEnforcedKey(string, string) bool { return true }

// people are the accounts of the fixture. All have the password "right".
type people struct{ roles map[string]string }

func (p *people) Login(user, password, _ string, _ bool) (Viewer, bool) {
	role, ok := p.roles[user]
	if !ok || role == "" || password != "right" {
		return Viewer{}, false
	}
	return Viewer{Principal: user + "@%", Role: role, Stamp: "s"}, true
}

func (p *people) Valid(v Viewer) bool {
	return p.roles[strings.TrimSuffix(v.Principal, "@%")] == v.Role
}

func (p *people) Principals() []string {
	var list []string
	for name := range p.roles {
		list = append(list, name+"@%")
	}
	return list
}

// fixture is a dashboard over a ledger with three weeks of history.
type fixture struct {
	*Dashboard
	t        *testing.T
	ledger   *accounting.Ledger
	people   *people
	policies *catalog.Catalog
	recent   *Recent
	now      time.Time
	disk     Disk
	stored   []string
	backup   *Backup
	web      *httptest.Server
}

// fixtureNow is the moment at which the pages are looked at: a Thursday.
var fixtureNow = time.Date(2026, 10, 22, 14, 20, 0, 0, time.UTC)

// newFixture makes it; filled says whether anything has happened.
func newFixture(t *testing.T, filled bool) *fixture {
	t.Helper()
	f := &fixture{t: t, now: fixtureNow, people: &people{roles: map[string]string{
		"root": "DBA", "otto": "auditor", "ann": "", "ben": "", "cleo": "", "dora": "", "etl": "",
	}}}
	ledger, err := accounting.Open(filepath.Join(t.TempDir(), "ledger"), accounting.Options{
		DirectoryID: "d", Create: true, Now: func() time.Time { return f.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	policies, err := catalog.Open(filepath.Join(t.TempDir(), "catalog"), catalog.Options{DirectoryID: "d", Create: true, Charged: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	f.policies = policies
	f.ledger, f.recent = ledger, NewRecent(fixtureNow.Add(-30*time.Hour))
	if filled {
		f.fill(policies)
	}
	f.now = fixtureNow
	f.disk = Disk{Free: 40 << 30, Used: 123 << 20, Reserve: 1 << 30}
	f.Dashboard = New(Options{
		Ledger: ledger, Catalog: policies.Snapshot, Accounts: f.people, Recent: f.recent, Logger: zerolog.Nop(),
		Now: func() time.Time { return f.now },
		DefaultLoss: func(_ string, _, pure bool) (privacy.Loss, bool) {
			if pure {
				return privacy.PureLoss(1), true
			}
			return privacy.Loss{Rho: privacy.RhoOf(0.0172), DeltaEvent: 5e-9}, true
		},
		Disk:   func() (Disk, error) { return f.disk, nil },
		Tables: func(context.Context) ([]string, error) { return f.stored, nil },
		Server: func() Server {
			return Server{
				Product: "0.1.0", Version: "8.0.36-scrim", Comment: "Scrim, differentially private SQL", Go: "go1.26.2", Started: fixtureNow.Add(-30 * time.Hour),
				Listen: "127.0.0.1:3307", HTTP: "127.0.0.1:8307", Connections: 7, MaxConnections: 256, LedgerRecords: 4711, LedgerBytes: 3 << 20,
				CertificateEnds: fixtureNow.AddDate(1, 0, 0), Backup: f.backup,
			}
		},
	})
	f.web = httptest.NewServer(f.Dashboard)
	t.Cleanup(f.web.Close)
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// tablesOfFixture are protected, each with its entity, its column of persons and how fast it is
// spent.
var tablesOfFixture = []struct {
	name, unit, entity string
	epsilon            float64
	delta              float64
	window             budget.Window
	pace               float64 // part of the budget's ρ that is spent by now
}{
	{"shop.orders", "customer_id", "customer", 8, 1e-6, budget.Month, 0.42},
	{"shop.reviews", "customer_id", "customer", 4, 1e-6, budget.Month, 0.78},
	{"web.clicks", "visitor", "visitor", 6, 1e-7, budget.Week, 0.30},
	{"hr.salaries", "row", "employee", 1, 1e-8, budget.Never, 0.55},
	{"clinic.visits", "patient_id", "patient", 3, 0, budget.Month, 0.99999},
	{"web.sessions", "visitor", "visitor", 2, 1e-6, budget.Day, 0.35},
	{"shop.baskets", "customer_id", "customer", 5, 1e-6, budget.Month, 0},
}

// fill lets three weeks pass.
func (f *fixture) fill(policies *catalog.Catalog) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 2))
	f.now = time.Date(2026, 10, 1, 7, 0, 0, 0, time.UTC)
	for _, t := range tablesOfFixture {
		f.must(policies.Protect(anySchema{}, t.name, t.unit, t.entity))
		f.must(f.ledger.SetBudget(ctx, budget.Budget{
			Account: t.name, Principal: budget.All, Epsilon: privacy.Epsilon(t.epsilon), Delta: privacy.Delta(t.delta),
			Window: t.window, SetBy: "root@%", Reason: "agreed with the data protection officer",
		}))
	}
	f.must(policies.Protect(anySchema{}, "shop.returns", "customer_id", "customer"))
	f.must(policies.Public(anySchema{}, "shop.products"))
	f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: "shop.orders", Principal: budget.Default, Epsilon: 4, Delta: 1e-6, Window: budget.Month, SetBy: "root@%"}))
	f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: "shop.orders", Principal: "role:marketing", Rho: privacy.RhoOf(0.5), Delta: 1e-7, Window: budget.Month, SetBy: "root@%"}))
	f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: "customer", Entity: true, Principal: budget.All, Epsilon: 10, Delta: 2e-6, Window: budget.Month, SetBy: "root@%"}))
	f.now = f.now.Add(2 * time.Hour)
	var due []charge
	for _, t := range tablesOfFixture {
		due = append(due, charges(rng, t.name, t.epsilon, t.delta, t.window, t.pace)...)
	}
	// the ledger's days do not go back
	slices.SortFunc(due, func(a, b charge) int { return a.at.Compare(b.at) })
	for _, c := range due {
		f.now = c.at
		receipt, err := f.ledger.Reserve(ctx, c.request)
		f.must(err)
		f.ledger.Finish(receipt, record.Answered)
		if receipt.ID%7 == 0 {
			f.ledger.Remark(receipt, "3 of 12 values NULL for too few persons")
		}
	}
	f.stored = []string{"shop.orders", "shop.products", "web.uploads"}
	f.backup = &Backup{Made: fixtureNow.AddDate(0, 0, -2), Name: "tuesday", Record: 4000}
	f.events(rng)
}

// statements of analysts, as they are recorded.
var statements = []string{
	"SELECT `region`, COUNT(*), AVG(`amount`) FROM `t` WHERE YEAR(`placed`) = ? GROUP BY `region`",
	"SELECT DP_QUANTILE(`amount`, ?) FROM `t`",
	"SELECT COUNT(DISTINCT `customer_id`) FROM `t` WHERE `amount` > ?",
	"SELECT DP_MEAN(`amount`), DP_STDDEV(`amount`) FROM `t` WHERE `region` IN (?)",
}

// charge is one that is due at a moment.
type charge struct {
	at      time.Time
	request accounting.Request
}

// charges spend a part of a table's budget within its window.
func charges(rng *rand.Rand, account string, epsilon, delta float64, window budget.Window, part float64) []charge {
	if part == 0 {
		return nil
	}
	from, steps := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC), 40
	switch window {
	case budget.Week:
		from = time.Date(2026, 10, 19, 8, 0, 0, 0, time.UTC)
	case budget.Day:
		from, steps = time.Date(2026, 10, 22, 0, 30, 0, 0, time.UTC), 9
	}
	users := []string{"ann@%", "ben@%", "cleo@%", "dora@%"}
	var list []charge
	for i := range steps {
		at := from.Add(fixtureNow.Add(-10*time.Minute).Sub(from) * time.Duration(i) / time.Duration(steps-1))
		at = at.Add(-time.Duration(rng.IntN(20)) * time.Minute)
		loss := privacy.PureLoss(epsilon * part / float64(steps))
		if delta > 0 {
			all := privacy.RhoFor(privacy.Epsilon(epsilon), privacy.Delta(delta)).Float()
			loss = privacy.Loss{Rho: privacy.RhoOf(all * part / float64(steps) * (0.3 + 1.4*rng.Float64()))}
		}
		text := strings.ReplaceAll(statements[rng.IntN(len(statements))], "`t`", account)
		list = append(list, charge{at, accounting.Request{
			Principal: users[min(rng.IntN(7)/2, 3)], Statement: text, Digest: "0f", Mechanisms: "discrete Gaussian, 2 counts",
			Charges: []accounting.Charge{{Account: account, Table: account, Loss: loss}},
		}})
	}
	return list
}

// events are what was asked in the last thirty hours.
func (f *fixture) events(rng *rand.Rand) {
	tell := func(at time.Time, e watch.Event) {
		e.At, e.ID, e.Private, e.Tables = at, fmt.Sprintf("k%07x", rng.IntN(1<<28)), true, []string{"shop.orders"}
		f.recent.Statement(e)
	}
	for h := 29; h >= 0; h-- {
		at := fixtureNow.Add(-time.Duration(h)*time.Hour - time.Duration(40-h)*time.Minute)
		busy := 2
		if at.Hour() >= 8 && at.Hour() < 18 {
			busy = 20
		}
		for range busy + rng.IntN(busy) {
			tell(at, watch.Event{Outcome: watch.Answered, Principal: "ann@%", Charged: rng.IntN(2), Replayed: rng.IntN(2)})
		}
		for range rng.IntN(1 + busy/5) {
			tell(at, watch.Event{
				Outcome: watch.Refused, Principal: "ben@%", Errno: 1644, SQLState: "45013", Cause: "BUDGET_EXHAUSTED",
				Statement: "SELECT AVG(`stars`) FROM shop.reviews WHERE `product` = ?",
			})
		}
	}
	tell(fixtureNow.Add(-50*time.Minute), watch.Event{Outcome: watch.Refused, Principal: "cleo@%", Errno: 1644, Cause: "RAW_ROWS", Statement: "SELECT * FROM shop.orders LIMIT ?"})
	tell(fixtureNow.Add(-20*time.Minute), watch.Event{Outcome: watch.Failed, Principal: "dora@%", Errno: 1064, Cause: "SYNTAX", Statement: "SELEC COUNT"})
	tell(fixtureNow.Add(-5*time.Minute), watch.Event{Outcome: watch.Refused, Principal: "ann@%", Errno: 1142, Cause: "PRIVILEGE", Statement: "SELECT COUNT(*) FROM hr.salaries"})
}

// browser is a client with cookies that follows no redirects.
func (f *fixture) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	f.must(err)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// get returns the status, the body and the headers of a page.
func (f *fixture) get(c *http.Client, path string) (int, string, http.Header) {
	f.t.Helper()
	r, err := c.Get(f.web.URL + path)
	f.must(err)
	return f.read(r)
}

// pages returns what gets pages as a DBA who has logged in, and fails where there is none.
func (f *fixture) pages() func(path string) string {
	c := f.member()
	return func(path string) string {
		f.t.Helper()
		status, text, _ := f.get(c, path)
		if status != http.StatusOK {
			f.t.Fatalf("%s: %d", path, status)
		}
		return text
	}
}

func (f *fixture) read(r *http.Response) (int, string, http.Header) {
	f.t.Helper()
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	f.must(err)
	return r.StatusCode, string(b), r.Header
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// login sends the form as a browser does.
func (f *fixture) login(c *http.Client, user, password string) (int, string, http.Header) {
	f.t.Helper()
	_, page, _ := f.get(c, "/login")
	m := tokenField.FindStringSubmatch(page)
	if m == nil {
		f.t.Fatalf("the page of the log-in has no token: %s", page)
	}
	r, err := c.PostForm(f.web.URL+"/login", url.Values{"token": {m[1]}, "user": {user}, "password": {password}})
	f.must(err)
	return f.read(r)
}

// member is a client that is logged in.
func (f *fixture) member() *http.Client {
	f.t.Helper()
	c := f.browser()
	if status, page, _ := f.login(c, "root", "right"); status != http.StatusSeeOther {
		f.t.Fatalf("log-in: got %d: %s", status, page)
	}
	return c
}
