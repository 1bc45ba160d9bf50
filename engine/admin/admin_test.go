package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/accounting"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/catalog"
	"scrim/functions"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// shopSchema is what the store of the tests holds.
type shopSchema struct{}

func (shopSchema) HasTable(t string) bool {
	return t == "shop.orders" || t == "shop.lineitem" || t == "shop.regions" || t == "shop.commute"
}

func (shopSchema) ColumnType(_, _ string) string { return "" }

func (shopSchema) HasColumn(t, c string) bool {
	return map[string]bool{
		"shop.orders.id": true, "shop.orders.customer_id": true, "shop.orders.region": true,
		"shop.lineitem.order_id": true, "shop.regions.name": true,
	}[t+"."+c]
}

func (shopSchema) Collation(string, string) string { return "" }
func (shopSchema) IsEnforcedKey(t, c string) bool  { return t+"."+c == "shop.orders.id" }

// provider is a GMS provider with the procedures.
type provider struct {
	*memory.DbProvider
	procedures sql.ExternalStoredProcedureRegistry
}

func (p provider) ExternalStoredProcedure(_ *sql.Context, name string, n int) (*sql.ExternalStoredProcedureDetails, error) {
	return p.procedures.LookupByNameAndParamCount(name, n)
}

func (p provider) ExternalStoredProcedures(_ *sql.Context, name string) ([]sql.ExternalStoredProcedureDetails, error) {
	return p.procedures.LookupByName(name)
}

// fixture is an engine with the database dp, a catalogue and a ledger on disk, and no stored
// tables.
type fixture struct {
	t      *testing.T
	engine *sqle.Engine
	admin  *Admin
	ledger *accounting.Ledger
	cat    *catalog.Catalog
	memory *memory.DbProvider
	stub   *stub
}

const dba, ann, bob, auditor = "root@%", "ann@%", "bob@localhost", "aud@%"

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	ledger, err := accounting.Open(filepath.Join(dir, "ledger"), accounting.Options{Create: true, DirectoryID: "d"})
	if err != nil {
		t.Fatal(err)
	}
	charged := func(account string) bool {
		list, err := ledger.Entries(context.Background(), accounting.Filter{Account: account})
		return err != nil || slices.ContainsFunc(list, func(e accounting.Entry) bool { return e.Kind == accounting.ChargeEntry })
	}
	cat, err := catalog.Open(filepath.Join(dir, "catalog"), catalog.Options{Create: true, DirectoryID: "d", Charged: charged})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{t: t, cat: cat, ledger: ledger, stub: newStub(t)}
	f.admin = New(Options{
		Sources: files{},
		Catalog: cat, Ledger: ledger,
		Schema:    func(*sql.Context) catalog.Schema { return shopSchema{} },
		Columns:   func(*sql.Context, string) sql.Schema { return nil },
		IsDBA:     func(ctx *sql.Context) bool { return name(ctx) == dba },
		IsAuditor: func(ctx *sql.Context) bool { return name(ctx) == auditor },
		Accounts: func() []Account {
			return []Account{{Name: ann, Roles: []string{"analyst", "team"}, Grants: []string{"GRANT a", "GRANT b"}}, {Name: dba, DBA: true}, {Name: "analyst", Role: true}}
		},
		HasRole:     func(_ *sql.Context, name string) bool { return name == "analyst" },
		Principal:   name,
		HasAccount:  func(_ *sql.Context, p string) bool { return p == ann || p == bob },
		Collections: f.stub,
		IsCollector: func(ctx *sql.Context) bool { return name(ctx) == collector },
		IsShuffler:  func(ctx *sql.Context) bool { return name(ctx) == shuffler || name(ctx) == collector },
	})
	shop := memory.NewDatabase("shop")
	f.memory = memory.NewDBProvider(shop, f.admin.Database())
	f.engine = sqle.New(analyzer.NewDefault(provider{f.memory, f.admin.Registry()}), nil)
	t.Cleanup(func() { _ = f.engine.Close() })
	return f
}

func name(ctx *sql.Context) string {
	c := ctx.Session.Client()
	if c.User == "" {
		return ""
	}
	return c.User + "@" + c.Address
}

// query runs one statement as who with db as the current database.
func (f *fixture) query(who, db, q string) ([]sql.Row, error) {
	user, host, _ := strings.Cut(who, "@")
	base := sql.NewBaseSessionWithClientServer("server", sql.Client{User: user, Address: host}, 1)
	ctx := sql.NewContext(context.Background(), sql.WithSession(memory.NewSession(base, f.memory)))
	ctx.SetCurrentDatabase(db)
	_, it, _, err := f.engine.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	for {
		row, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, it.Close(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, it.Close(ctx))
		}
		out = append(out, row)
	}
}

func (f *fixture) must(who, db, q string) []sql.Row {
	f.t.Helper()
	rows, err := f.query(who, db, q)
	if err != nil {
		f.t.Fatalf("%s: %v", q, err)
	}
	return rows
}

func (f *fixture) refused(who, db, q string, code refuse.Code, want string) {
	f.t.Helper()
	_, err := f.query(who, db, q)
	e, ok := refuse.As(err)
	if !ok || e.Code != code || !strings.Contains(e.Error(), want) {
		f.t.Errorf("%s\n got %v\nwant %s with %q", q, err, code, want)
	}
}

func show(rows []sql.Row) string {
	var b strings.Builder
	for _, r := range rows {
		for i, v := range r {
			if i > 0 {
				b.WriteByte('|')
			}
			fmt.Fprint(&b, v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (f *fixture) want(who, q, want string) {
	f.t.Helper()
	if got := show(f.must(who, "", q)); strings.TrimSpace(got) != strings.TrimSpace(want) {
		f.t.Errorf("%s as %s\n got\n%s\nwant\n%s", q, who, got, want)
	}
}

func TestPolicyProcedures(t *testing.T) {
	f := newFixture(t)
	// Without a current database, with one, and with the table's database as a qualifier.
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	f.must(dba, "shop", "CALL dp_link('lineitem', 'order_id', '`orders`', '`id`')")
	f.must(dba, "dp", "CALL DP_PUBLIC('SHOP.Regions')")
	f.must(dba, "shop", `CALL dp_set_domain('orders', 'region', '{"table":"regions","column":"name"}')`)
	f.must(dba, "", `CALL dp_set_defaults('shop.orders', '{"dp_epsilon":0.5}')`)
	f.must(dba, "", "CALL dp_set_neighbours('shop.orders', 'add-remove')")
	f.want(ann, "SELECT table_name, state, unit, unit_column, link_parent, link_column, entity, account, neighbours, defaults FROM dp.policies ORDER BY table_name", `
shop.lineitem|protected|link|order_id|shop.orders|id|customer|shop.lineitem|add-remove|<nil>
shop.orders|protected|column|customer_id|<nil>|<nil>|customer|shop.orders|add-remove|{"dp_epsilon":0.5}
shop.regions|public|<nil>|<nil>|<nil>|<nil>|<nil>|<nil>|<nil>|<nil>`)
	f.want(ann, "SELECT * FROM dp.domains", `shop.orders|region|table|<nil>|{"table":"shop.regions","column":"name"}`)
	f.must(dba, "shop", `CALL dp_set_domain('orders', 'region', '["a","b",null]')`)
	f.want(ann, "SELECT domain_type, size, domain FROM dp.domains", `values|3|["a","b",null]`)
	f.must(dba, "shop", "CALL dp_unprotect('lineitem')")
	f.want(ann, "SELECT state, account FROM dp.policies WHERE table_name = 'shop.lineitem'", "undeclared|shop.lineitem")

	f.refused(dba, "", "CALL dp_protect('orders', 'customer_id', 'customer')", refuse.Policy, "database")
	f.refused(dba, "", "CALL dp_protect('shop.nothing', 'customer_id', 'customer')", refuse.Policy, "There is no table")
	f.refused(dba, "", "CALL dp_protect('a.b.c', 'customer_id', 'customer')", refuse.Policy, "not the name of a table")
	f.refused(dba, "", "CALL dp_protect(NULL, 'customer_id', 'customer')", refuse.Policy, "not the name of a table")
	f.refused(dba, "", "CALL dp_set_domain('shop.orders', 'region', '[]')", refuse.Policy, "empty")
	if _, err := f.query(dba, "", "CALL dp_protect('shop.orders')"); err == nil {
		t.Error("a call with too few arguments was accepted")
	}
}

// TestNeighbours declares a table of public size, shows it, and keeps the relation once something
// was charged.
func TestNeighbours(t *testing.T) {
	f := newFixture(t)
	show := "SELECT table_name, neighbours, number_of_persons FROM dp.policies ORDER BY table_name"
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	f.must(dba, "", "CALL dp_set_neighbours('shop.orders', 'replace-one')")
	f.must(dba, "", "CALL dp_link('shop.lineitem', 'order_id', 'shop.orders', 'id')")
	f.must(dba, "", "CALL dp_public('shop.regions')")
	f.want(ann, show, `
shop.lineitem|replace-one|private
shop.orders|replace-one|public
shop.regions|<nil>|<nil>`)
	f.refused(dba, "", "CALL dp_set_neighbours('shop.orders', 'add-remove')", refuse.Policy, "shop.lineitem")
	f.refused(dba, "", "CALL dp_set_neighbours('shop.orders', 'nobody')", refuse.Policy, "'add-remove', or 'replace-one'")
	f.refused(dba, "", "CALL dp_set_neighbours('shop.regions', 'replace-one')", refuse.Policy, "not protected")
	f.must(dba, "", "CALL dp_unprotect('shop.lineitem')")
	f.must(dba, "", "CALL dp_set_neighbours('shop.orders', 'add-remove')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 8, 1e-6, 'month')")
	f.must(dba, "", "CALL dp_set_neighbours('shop.orders', 'replace-one')") // a budget is no charge
	if _, err := f.ledger.Reserve(t.Context(), accounting.Request{Principal: ann, Statement: "q", Charges: []accounting.Charge{
		{Account: "shop.orders", Loss: privacy.Loss{Rho: privacy.RhoOf(0.01)}},
	}}); err != nil {
		t.Fatal(err)
	}
	f.refused(dba, "", "CALL dp_set_neighbours('shop.orders', 'add-remove')", refuse.Policy, "charged to the budget shop.orders")
	f.want(ann, "SELECT neighbours, number_of_persons FROM dp.policies WHERE table_name = 'shop.orders'", "replace-one|public")
}

func TestOnlyDBA(t *testing.T) {
	f := newFixture(t)
	for _, p := range policyProcedures {
		args := strings.TrimSuffix(strings.Repeat("'x', ", p.min), ", ")
		f.refused(ann, "shop", "CALL "+p.Name+"("+args+")", refuse.NotDBA, p.Name)
	}
	f.refused("", "shop", "CALL dp_public('regions')", refuse.NotDBA, "DBA")
	if got := show(f.must(dba, "", "SELECT * FROM dp.ledger")); got != "" {
		t.Errorf("refused analysts filled the ledger:\n%s", got)
	}
}

func TestBudgetProcedures(t *testing.T) {
	f := newFixture(t)
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	// Integer, decimal, float, text and negative-exponent literals.
	f.must(dba, "shop", "CALL dp_set_budget('orders', '*', 8, 1e-6, 'month')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', 'DEFAULT', 2.5, 0.0000001, 'Month')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '''bob''@''localhost''', '1.5', 1E-7, 'never')")
	f.must(dba, "", "CALL dp_set_budget('entity:Customer', '*', 10.0, 2e-6, 'week')")
	f.want(dba, "SELECT account_type, account, budget, principal, epsilon, delta, budget_window FROM dp.budgets WHERE account_type <> 'entity sum' ORDER BY 1 DESC, 3", `
table|shop.orders|*|*|8|1e-06|month
table|shop.orders|bob@localhost|bob@localhost|1.5|1e-07|never
table|shop.orders|default|default|2.5|1e-07|month
entity|customer|*|*|10|2e-06|week`)
	f.want(dba, "SELECT account, epsilon, remark FROM dp.budgets WHERE account_type = 'entity sum'",
		"customer|8|sum of the '*' budgets of shop.orders")
	f.must(dba, "", "CALL dp_set_budget('entity:customer', '*', 3, 2e-6, 'week')")
	f.want(dba, "SELECT account, epsilon, remark FROM dp.budgets WHERE account_type = 'entity sum'",
		"customer|3|capped by the budget of the entity; tables: shop.orders")
	f.must(dba, "", "CALL dp_drop_budget('shop.orders', 'bob@localhost', 'left the company')")
	f.want(dba, "SELECT COUNT(*) FROM dp.budgets WHERE budget = 'bob@localhost'", "0")

	for _, c := range []struct{ args, want string }{
		{"'shop.regions', '*', 1, 1e-6, 'month'", "not protected"},
		{"'entity:nobody', '*', 1, 1e-6, 'month'", "Known entities: customer"},
		{"'shop.orders', 'ann@', 1, 1e-6, 'month'", "not a principal"},
		{"'shop.orders', 'carl@%', 1, 1e-6, 'month'", "no account"},
		{"'shop.orders', '*', 0, 1e-6, 'month'", "above 0"},
		{"'shop.orders', '*', -1, 1e-6, 'month'", "above 0"},
		{"'shop.orders', '*', 1e308, 1e-6, 'month'", "at most"},
		{"'shop.orders', '*', 'NaN', 1e-6, 'month'", "not a finite number"},
		{"'shop.orders', '*', 'inf', 1e-6, 'month'", "not a finite number"},
		{"'shop.orders', '*', '0x10', 1e-6, 'month'", "not a finite number"},
		{"'shop.orders', '*', NULL, 1e-6, 'month'", "not a finite number"},
		{"'shop.orders', '*', 1, 1, 'month'", "below 1"},
		{"'shop.orders', '*', 1, -1e-6, 'month'", "at least 0"},
		{"'shop.orders', '*', 1, 1e-6, 'year'", "never, day, week or month"},
	} {
		f.refused(dba, "", "CALL dp_set_budget("+c.args+")", refuse.Policy, c.want)
	}
	f.refused(dba, "", "CALL dp_drop_budget('shop.orders', 'ann@%')", refuse.Policy, "no budget")
}

func TestCallsAreNoted(t *testing.T) {
	f := newFixture(t)
	f.must(dba, "", "CALL dp_public('shop.regions')")
	f.refused(dba, "", "CALL dp_public('shop.no''thing')", refuse.Policy, "no table")
	f.want(dba, "SELECT principal, entry, statement, outcome FROM dp.ledger ORDER BY id", `
root@%|note|CALL dp_public('shop.regions')|dp_public
root@%|note|CALL dp_public('shop.no''thing')|dp_public
root@%|note|CALL dp_public('shop.no''thing'): refused|dp_public`)
}

// TestNothingWithoutANote checks that no policy changes when the ledger cannot record who changed
// it.
func TestNothingWithoutANote(t *testing.T) {
	f := newFixture(t)
	if err := f.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.query(dba, "", "CALL dp_public('shop.regions')"); !errors.Is(err, accounting.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, accounting.ErrUnavailable)
	}
	if s := f.cat.Snapshot().Table("shop.regions").State; s != catalog.Undeclared {
		t.Errorf("the table is %v without a note", s)
	}
}

// TestAnalystSeesOwn checks that what others spent is not told to an analyst, in any column.
func TestAnalystSeesOwn(t *testing.T) {
	f := newFixture(t)
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 8, 1e-6, 'month')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', 'default', 2, 1e-6, 'month')")
	f.must(dba, "", "CALL dp_set_budget('entity:customer', '*', 8, 1e-6, 'month')")
	spend := func(who string, rho float64) accounting.Receipt {
		r, err := f.ledger.Reserve(context.Background(), accounting.Request{
			Principal: who, Statement: "SELECT COUNT(*) FROM orders -- " + who, Mechanisms: "count",
			Charges: []accounting.Charge{
				{Account: "shop.orders", Table: "shop.orders", Loss: privacy.Loss{Rho: privacy.RhoOf(rho)}},
				{Account: "customer", Entity: true, Loss: privacy.Loss{Rho: privacy.RhoOf(rho)}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	f.want(ann, "SELECT account, budget, principal, epsilon, spent_epsilon, ROUND(remaining_epsilon, 3), remaining_pure_epsilon, ROUND(renyi_order, 1) FROM dp.budgets", "shop.orders|default|ann@%|2|0|1.931|2|15.7")
	f.ledger.Finish(spend(bob, 0.03125), record.Answered)
	before := show(f.must(ann, "", "SELECT * FROM dp.budgets")) + show(f.must(ann, "", "SELECT * FROM dp.ledger"))
	f.ledger.Finish(spend(bob, 0.03125), record.Failed)
	after := show(f.must(ann, "", "SELECT * FROM dp.budgets")) + show(f.must(ann, "", "SELECT * FROM dp.ledger"))
	if before != after {
		t.Errorf("bob's query changed what ann sees:\n%s\n%s", before, after)
	}
	f.ledger.Finish(spend(ann, 0.015625), record.Answered)
	if err := f.ledger.Note(dba, "test", "makes the outcome durable"); err != nil {
		t.Fatal(err)
	}
	f.want(ann, "SELECT budget, principal, spent_rho FROM dp.budgets", "default|ann@%|0.015625")
	f.want(ann, "SELECT principal, account_type, account, rho, remaining_total, outcome FROM dp.ledger", `
ann@%|table|shop.orders|0.015625|<nil>|answered
ann@%|entity|customer|0.015625|<nil>|answered`)
	f.want(dba, "SELECT principal, spent_rho FROM dp.budgets WHERE account = 'shop.orders' ORDER BY principal", `
*|0.078125
ann@%|0.015625
bob@localhost|0.0625
default|0`)
	// rho 2^-6 at delta 1e-6; rho + 2√(rho·ln(1/delta)) is 0.945
	f.want(ann, "SELECT epsilon > 0.7 AND epsilon < 0.9 FROM dp.ledger WHERE account_type = 'table'", "true")
	f.want(dba, "SELECT principal, rho, outcome FROM dp.ledger WHERE entry = 'charge' AND account_type = 'table' AND remaining_total IS NOT NULL ORDER BY id", `
bob@localhost|0.03125|answered
bob@localhost|0.03125|failed
ann@%|0.015625|answered`)
	for _, q := range []string{"SELECT * FROM dp.budgets", "SELECT * FROM dp.ledger"} {
		if rows := f.must("", "", q); len(rows) != 0 {
			t.Errorf("%s shows %d rows to a session without an account", q, len(rows))
		}
	}
}

// TestLedgerPages reads a ledger longer than one page.
func TestLedgerPages(t *testing.T) {
	entries := make([]accounting.Entry, 2*ledgerPage+7)
	for i := range entries {
		entries[i] = accounting.Entry{ID: uint64(i + 1), Kind: accounting.NoteEntry, At: time.Unix(int64(i), 0), Principal: dba}
	}
	f := newFixture(t)
	f.admin.o.Ledger = pagedLedger{f.ledger, entries}
	f.want(dba, "SELECT COUNT(*), COUNT(DISTINCT id), MAX(id) FROM dp.ledger", fmt.Sprintf("%[1]d|%[1]d|%[1]d", len(entries)))
}

type pagedLedger struct {
	*accounting.Ledger
	entries []accounting.Entry
}

func (p pagedLedger) Entries(ctx context.Context, f accounting.Filter) ([]accounting.Entry, error) {
	rest := p.entries[f.AfterID:]
	return rest[:min(len(rest), f.Limit)], nil
}

func TestAccounts(t *testing.T) {
	f := newFixture(t)
	const q = "SELECT * FROM dp.accounts"
	f.want(ann, q, "ann@%|account|analyst, team|no|GRANT a; GRANT b")
	for _, who := range []string{dba, auditor} {
		f.want(who, q, "ann@%|account|analyst, team|no|GRANT a; GRANT b\nroot@%|account|<nil>|yes|\nanalyst|role|<nil>|no|")
	}
	f.want("analyst@", q, "")
}

func TestPublicTables(t *testing.T) {
	f := newFixture(t)
	f.want(ann, "SELECT COUNT(*) FROM dp.errors WHERE errno = 1644", fmt.Sprint(len(refuse.Table)))
	f.want(ann, "SELECT sql_state FROM dp.errors WHERE code = 'RAW_ROWS'", "45002")
	f.want(ann, "SELECT name FROM dp.functions WHERE name = 'DP_MEAN'", "DP_MEAN")
	f.want(ann, "SELECT name, default_value, value_range FROM dp.variables WHERE name = 'dp_epsilon'", "dp_epsilon|1|1e-6 to 100")
	f.want(ann, "SELECT COUNT(*) FROM dp.procedures", fmt.Sprint(len(Procedures())))
	f.want(ann, "SHOW TABLES FROM dp", "accounts\nbudgets\ncollection_batches\ncollection_cells\ncollection_results\ncollection_rounds\ncollection_sim_results\ncollection_tokens\ncollections\ncontinual\ndomains\nerrors\nfunctions\nlast_cost\nlast_warnings\nledger\nperiods\npolicies\nprocedures\nprotocols\nreplays\nscales\nsources\nsynthetic\nvariables\nviews\nwarnings")
	for _, q := range []string{
		"CREATE TABLE dp.x (a INT)", "DROP TABLE dp.ledger", "DELETE FROM dp.ledger", "INSERT INTO dp.errors VALUES (1)",
		"UPDATE dp.budgets SET epsilon = 9", "TRUNCATE TABLE dp.ledger", "CREATE VIEW dp.v AS SELECT 1",
	} {
		if _, err := f.query(dba, "", q); err == nil {
			t.Errorf("%s was accepted", q)
		}
	}
	for _, p := range params.At(params.Default) {
		if !strings.Contains(Reference(), "`"+p.Name+"`") {
			t.Errorf("the reference misses the default %s", p.Name)
		}
	}
	for _, q := range []string{
		"SHOW CREATE TABLE dp.ledger", "DESCRIBE dp.budgets", "SHOW TABLE STATUS FROM dp", "SHOW COLUMNS FROM dp.policies", "SHOW INDEX FROM dp.ledger",
		"SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'dp'",
		"SELECT e.code, v.name FROM dp.errors e JOIN dp.variables v ON e.errno > 0 WHERE e.code LIKE 'R%' ORDER BY e.sql_state DESC LIMIT 1",
		"SELECT (SELECT COUNT(*) FROM dp.functions), EXISTS (SELECT 1 FROM dp.ledger)", "EXPLAIN SELECT * FROM dp.ledger",
	} {
		f.must(ann, "dp", q)
	}
	for _, d := range Tables() {
		if d.Doc == "" || len(d.Columns) == 0 {
			t.Errorf("dp.%s is not documented", d.Name)
		}
	}
	if !strings.Contains(Reference(), "`CALL dp_public('shop.regions')`") || len(Procedures()) < len(procedures) {
		t.Error("the reference misses a procedure")
	}
}

// TestRowsFitTheirColumns reads every table with every kind of entry in the ledger.
func TestRowsFitTheirColumns(t *testing.T) {
	f := newFixture(t)
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	f.must(dba, "", `CALL dp_set_domain('shop.orders', 'region', '{"min":0,"max":1}')`)
	f.must(dba, "", "CALL dp_set_scale('shop.orders', 'region', '2.5')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 8, 0, 'never')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', 'ann@%', 8, 0, 'never')")
	f.must(dba, "", "CALL dp_drop_budget('shop.orders', 'ann@%', 'a test')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 8, 1e-6, 'never', 'a test')")
	f.must(dba, "", "CALL dp_reset_budget('shop.orders', '*', 'a test')")
	f.ledger.Replayed(ann, "SELECT ?", "d", 1, []string{"shop.orders"})
	if _, err := f.ledger.Reserve(context.Background(), accounting.Request{
		Principal: ann, Statement: "SELECT 1",
		Charges: []accounting.Charge{
			{Account: "shop.orders", Loss: privacy.Loss{Rho: 1, DeltaEvent: 1e-9, DeltaTV: 1e-12}},
			{Account: "shop.orders", Loss: privacy.Loss{Rho: 1}, Blocks: &days.Span{First: 20000, Last: 20030}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	kinds := f.must(dba, "", "SELECT DISTINCT entry FROM dp.ledger")
	if len(kinds) != len(entryKinds) {
		t.Errorf("want every kind of entry, have %v", kinds)
	}
	for _, name := range f.admin.names {
		width := len(f.admin.tables[name].Columns)
		rows := f.must(dba, "", "SELECT * FROM dp."+name)
		if len(rows) == 0 && name != "replays" && name != "last_warnings" && name != "last_cost" && name != "views" && name != "continual" && name != "synthetic" {
			t.Errorf("dp.%s is empty", name)
		}
		for _, r := range rows {
			if len(r) != width {
				t.Errorf("dp.%s has %d columns and a row of %d: %v", name, width, len(r), r)
			}
		}
	}
}

// TestRangesAgree: what a table may set by default, and an option for one aggregate, is what the
// planner takes from a session.
func TestRangesAgree(t *testing.T) {
	mean, _ := functions.ByName("DP_MEAN")
	for _, c := range []struct {
		key, option string
		lo, hi      float64
	}{
		{"dp_epsilon", "epsilon", 1e-6, 100},
		{"max_epsilon", "", 1e-6, 100},
		{"dp_delta", "", 1e-30, 1e-3},
		{"dp_rho", "rho", 1e-12, 1000},
		{"dp_max_groups_contributed", "", 1, 100000},
	} {
		for v, want := range map[float64]bool{c.lo: true, c.hi: true, c.lo * 0.99: false, c.hi * 1.01: false} {
			if _, err := catalog.ParseDefaults(fmt.Sprintf(`{"%s":%v}`, c.key, v)); (err == nil) != want {
				t.Errorf("default %s = %v: %v, want accepted %v", c.key, v, err, want)
			}
			if c.option == "" {
				continue
			}
			if _, err := functions.ParseOptions(mean, fmt.Sprintf("%s=%v", c.option, v)); (err == nil) != want {
				t.Errorf("option %s = %v: %v, want accepted %v", c.option, v, err, want)
			}
		}
	}
}

// TestPreparedCall binds the arguments of a call, numbers of every kind among them.
func TestPreparedCall(t *testing.T) {
	f := newFixture(t)
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	base := sql.NewBaseSessionWithClientServer("server", sql.Client{User: "root", Address: "%"}, 1)
	ctx := sql.NewContext(context.Background(), sql.WithSession(memory.NewSession(base, f.memory)))
	const q = "CALL dp_set_budget(?, ?, ?, ?, ?)"
	if _, err := f.engine.PrepareQuery(ctx, q); err != nil {
		t.Fatal(err)
	}
	_, it, _, err := f.engine.QueryWithBindings(ctx, q, nil, map[string]sqlparser.Expr{
		"v1": sqlparser.NewStrVal([]byte("shop.orders")), "v2": sqlparser.NewStrVal([]byte("*")),
		"v3": sqlparser.NewIntVal([]byte("8")), "v4": sqlparser.NewFloatVal([]byte("1e-06")), "v5": sqlparser.NewStrVal([]byte("week")),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := it.Next(ctx); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	f.want(dba, "SELECT epsilon, delta, budget_window FROM dp.budgets WHERE budget = '*' AND account_type = 'table'", "8|1e-06|week")
}
