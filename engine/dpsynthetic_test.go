package engine

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// guests are rows of members of a club, one of each: what they pay follows from their plan, and
// when they joined from the city.
func guests(r *rand.Rand, n int) []string {
	var rows []string
	for k := range n {
		plan := []string{"gold", "basic", "it''s", `a\\b`}[min(r.IntN(4), r.IntN(4))]
		pays := map[string]int{"gold": 90, "basic": 30, "it''s": 10, `a\\b`: 60}[plan] + r.IntN(10)
		city, day := "NULL", 1+r.IntN(10)
		if r.IntN(3) > 0 {
			city, day = "'rome'", 20+r.IntN(10)
		}
		rows = append(rows, fmt.Sprintf("(%d, '%s', %d.25, %s, '2025-06-%02d', '2025-06-%02d %02d:30:00', %d, %d)", k, plan, pays, city, day, day, r.IntN(24), r.IntN(2), 18+r.IntN(60)))
	}
	return rows
}

// guestClub makes the table of members.
func guestClub(root *client, rows []string, more ...string) {
	root.exec("CREATE DATABASE club",
		"CREATE TABLE club.members (id INT PRIMARY KEY, tier VARCHAR(8), pays DECIMAL(6,2), city VARCHAR(8), joined DATE, seen DATETIME, paid TINYINT(1), age INT)",
		"CALL dp_protect('club.members', 'id', 'member')",
		`CALL dp_set_domain('club.members', 'tier', '["gold","basic","it\'s","a\\\\b"]')`,
		`CALL dp_set_domain('club.members', 'pays', '{"min":0,"max":100}')`,
		`CALL dp_set_domain('club.members', 'city', '["rome",null]')`,
		`CALL dp_set_domain('club.members', 'joined', '{"min":"2025-06-01","max":"2025-06-30"}')`,
		`CALL dp_set_domain('club.members', 'seen', '{"min":"2025-06-01","max":"2025-07-01"}')`,
		`CALL dp_set_domain('club.members', 'paid', '[0,1]')`,
		`CALL dp_set_domain('club.members', 'age', '{"min":18,"max":80}')`,
		"CALL dp_set_budget('club.members', '*', 100, 0.001, 'never')")
	root.exec(more...)
	root.exec("SET dp_raw = ON")
	root.insert("club.members", rows)
	root.exec("SET dp_raw = OFF")
}

// TestSyntheticTableIsPublicForOneCharge makes a synthetic table, and reads it as an analyst: as
// many rows as members, about, values of the columns' types and domains, what depends on what, a
// report that holds, for one charge that names it; a second time it is the stored answer.
func TestSyntheticTableIsPublicForOneCharge(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := startWith(t, dir, seeded(t, "synthetic", 1))
	root := i.root()
	guestClub(root, guests(rand.New(stattest.Source(t, "members")), 5000))
	made := root.query(`CALL dp_synthesize('club.members', 'club.syn', '{"epsilon": 2}')`)
	if len(made) != 1 || made[0][0] != "club.syn" || made[0][1] != "club.members" || made[0][2] != "tier, pays, city, joined, seen, paid, age" || made[0][7] != "2" {
		t.Fatalf("made %v", made)
	}
	charges := root.query("SELECT DISTINCT id FROM dp.ledger WHERE statement LIKE 'SYNTHETIC TABLE club.syn OF club.members%' AND entry = 'charge'")
	if len(charges) != 1 || charges[0][0] != made[0][13] {
		t.Errorf("the ledger has %v, and the table names %s", charges, made[0][13])
	}
	ann := i.analyst(root, "ann", "club")
	spent := root.value("SELECT spent_rho FROM dp.budgets WHERE principal = '*' AND account = 'club.members'")
	if n := numberIn(t, ann.value("SELECT COUNT(*) FROM club.syn")); math.Abs(n-5000) > 150 || fmt.Sprint(int(n)) != made[0][3] {
		t.Errorf("%v rows, told as %s", n, made[0][3])
	}
	if got := ann.query("SELECT data_type FROM information_schema.columns WHERE table_schema = 'club' AND table_name = 'syn' ORDER BY ordinal_position"); fmt.Sprint(got) != "[[varchar] [decimal] [varchar] [date] [datetime] [tinyint] [int]]" {
		t.Errorf("types %v", got)
	}
	if got := ann.value(`SELECT COUNT(*) FROM club.syn WHERE tier NOT IN ('gold','basic','it\'s','a\\b') OR pays < 0 OR pays > 100 OR city <> 'rome' OR joined NOT BETWEEN '2025-06-01' AND '2025-06-30' OR age NOT BETWEEN 18 AND 80 OR paid NOT IN (0,1)`); got != "0" {
		t.Errorf("%s rows are outside of the domains", got)
	}
	for _, c := range [][2]float64{{numberIn(t, ann.value("SELECT AVG(pays) FROM club.syn WHERE tier = 'gold'")), 94.75}, {numberIn(t, ann.value(`SELECT AVG(pays) FROM club.syn WHERE tier = 'it\'s'`)), 14.75}} {
		if math.Abs(c[0]-c[1]) > 8 {
			t.Errorf("a plan pays %v on average, of %v", c[0], c[1])
		}
	}
	if early, late := numberIn(t, ann.value("SELECT AVG(joined < '2025-06-15') FROM club.syn WHERE city IS NULL")), numberIn(t, ann.value("SELECT AVG(joined < '2025-06-15') FROM club.syn WHERE city = 'rome'")); early < 0.9 || late > 0.1 {
		t.Errorf("%v and %v joined early", early, late)
	}
	report := ann.query("CALL dp_synthetic_report('club.syn')")
	if len(report) != 21 {
		t.Errorf("a report of %d pairs", len(report))
	}
	for _, r := range report {
		if off, se := numberIn(t, r[2]), numberIn(t, r[3]); off < 0 || off > 0.3 || !(se > 0 && se < 0.05) {
			t.Errorf("report %v", r)
		}
	}
	if after := root.value("SELECT spent_rho FROM dp.budgets WHERE principal = '*' AND account = 'club.members'"); after != spent {
		t.Errorf("reading cost: %s, then %s", spent, after)
	}
	rows := "SELECT * FROM club.syn ORDER BY pays, joined, seen, age, tier"
	first := fmt.Sprint(root.query(rows))
	root.exec("CALL dp_refresh_view('club.syn')")
	if again := fmt.Sprint(root.query(rows)); again != first || root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'") != "1" {
		t.Error("the same data have other rows, or another charge")
	}
	i.end()
	i = start(t, dir)
	root = i.root()
	if again := fmt.Sprint(root.query(rows)); again != first {
		t.Error("a restart changes rows")
	}
	if got := root.query("SELECT table_name FROM dp.synthetic"); len(got) != 1 || len(root.query("SELECT * FROM dp.views")) != 0 {
		t.Errorf("dp.synthetic has %v", got)
	}
	root.exec("CALL dp_drop_view('club.syn')")
	if _, err := root.try("SELECT * FROM club.syn"); err == nil || len(root.query("SELECT * FROM dp.synthetic")) != 0 {
		t.Error("dropped, and there")
	}
}

// TestSyntheticTablesThatAreNone: what no synthetic table can be made of is refused beforehand,
// with what would do, and costs nothing; nobody writes into one, and only a DBA makes one.
func TestSyntheticTablesThatAreNone(t *testing.T) {
	i := start(t, "")
	root := i.root()
	guestClub(root, guests(rand.New(rand.NewPCG(7, 7)), 300), "CREATE TABLE club.plain (k INT)", "CALL dp_public('club.plain')",
		"CREATE TABLE club.bare (id INT PRIMARY KEY, x INT, y VARCHAR(9))", "CALL dp_protect('club.bare', 'id', 'guest')",
		"CREATE TABLE club.exact (id INT PRIMARY KEY, x INT)", "CALL dp_protect('club.exact', 'id', 'visitor')",
		"CALL dp_set_domain('club.exact', 'x', '[0,1]')", "CALL dp_set_budget('club.exact', '*', 10, 0, 'never')")
	of := func(table, options string) string {
		return "CALL dp_synthesize('" + table + "', 'club.v', '" + options + "')"
	}
	root.refusedFor(map[string]string{
		of("club.bare", `{"epsilon": 1}`):                                     "CALL dp_set_domain('club.bare', 'x', '…'); CALL dp_set_domain('club.bare', 'y', '…')",
		of("club.exact", `{"epsilon": 1}`):                                    "budget with a delta above 0",
		of("club.plain", `{"epsilon": 1}`):                                    "not a protected one",
		of("club.members", `{"epsilon": 1, "columns": ["tier", "place"]}`):    "no column place",
		of("club.members", `{"epsilon": 1, "columns": ["id"]}`):               "whose a row is",
		of("club.members", `{"epsilon": 1, "columns": []}`):                   "one of the columns",
		of("club.members", `{"epsilon": 1, "bin": 4}`):                        "JSON object",
		of("club.members", `{"epsilon": 1, "bins": 0}`):                       "1 to 1000 bins",
		of("club.members", `{"epsilon": 1, "ways": 5}`):                       "2 or 3",
		of("club.members", `{}`):                                              "either epsilon or rho",
		of("club.members", `{"epsilon": -1}`):                                 "range",
		"CALL dp_synthesize('club.members', 'club.bare', '{\"epsilon\": 1}')": "Choose another name",
		"CALL dp_synthesize('club.members', 'nowhere.v', '{\"epsilon\": 1}')": "CREATE DATABASE",
		"CALL dp_synthetic_report('club.members')":                            "no synthetic table",
	})
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'"); got != "0" {
		t.Errorf("%s charges for tables that are none", got)
	}
	ann := i.analyst(root, "ann", "club")
	ann.refusedFor(map[string]string{of("club.members", `{"epsilon": 1}`): "DBA"})
	root.exec(of("club.members", `{"epsilon": 1, "columns": ["tier", "age"], "bins": 8, "rows": 100}`))
	if got := ann.query("SELECT COUNT(*), COUNT(DISTINCT age) > 8 FROM club.v"); fmt.Sprint(got) != "[[100 1]]" {
		t.Errorf("rows and ages %v", got)
	}
	root.refusedFor(map[string]string{
		"INSERT INTO club.v VALUES ('gold', 1)":              "dp_refresh_view",
		"DROP TABLE club.v":                                  "dp_drop_view",
		of("club.members", `{"epsilon": 1}`):                 "already",
		"CALL dp_view_errors('SELECT SUM(age) FROM club.v')": "neither a dimension",
	})
	eve := i.analyst(root, "eve", "")
	if _, err := eve.try("CALL dp_synthetic_report('club.v')"); err == nil || len(eve.query("SELECT * FROM dp.synthetic")) != 0 {
		t.Error("who may not read the table is told of it")
	}
}

// TestSyntheticRowsOfPersonsOfManyRows: a person is one row, however many the table has, and who
// has most of the rows does not show.
func TestSyntheticRowsOfPersonsOfManyRows(t *testing.T) {
	i := startWith(t, "", seeded(t, "synthetic", 1))
	root := i.root()
	rows := viewOrders(rand.New(stattest.Source(t, "orders")), 2000)
	for k := range 5000 {
		rows = append(rows, fmt.Sprintf("(%d, 0, 'east', 'coffee', '2025-06-07', 99.50)", 100000+k))
	}
	viewShop(root, rows)
	root.exec(`CALL dp_synthesize('shop.orders', 'shop.syn', '{"epsilon": 4, "columns": ["region", "product", "placed"]}')`)
	n, east := numberIn(t, root.value("SELECT COUNT(*) FROM shop.syn")), numberIn(t, root.value("SELECT COUNT(*) FROM shop.syn WHERE region = 'east'"))
	if math.Abs(n-2000) > 60 || math.Abs(east-2000.0/9) > 60 {
		t.Errorf("%v rows, %v in the east", n, east)
	}
}

// TestSyntheticTablesMoveByAtMostTheirLoss takes a customer away, or exchanges them for one who
// owns far more rows than all others, for NULLs, and for rows outside of every domain, given the
// same noisy answers: what is lost in noise is within the charge, of which the choices have a
// tenth. There is one column, so that all choices are the same. An exchange under add-remove is
// found out.
func TestSyntheticTablesMoveByAtMostTheirLoss(t *testing.T) {
	row := func(id int, region string, product string) string {
		return fmt.Sprintf("(%d, 0, %s, %s, '2025-06-01', 1)", 100000+id, region, product)
	}
	var all []string
	for k := range 5000 {
		all = append(all, row(k, "'"+[]string{"north", "south", "east"}[k%3]+"'", "'tea'"))
	}
	odd := []string{row(0, "NULL", "'tea'"), row(1, "'nowhere'", "'tea'")}
	worst := func(relation string, others ...[]string) float64 {
		source := &recorders{t: t}
		i := startWith(t, "", source.next)
		root := i.root()
		viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 200), "CALL dp_set_neighbours('shop.orders', '"+relation+"')")
		made := 0
		make := func() []*stattest.Recorder {
			made++
			root.query(fmt.Sprintf(`CALL dp_synthesize('shop.orders', 'shop.v%d', '{"rho": 0.1, "columns": ["region"]}')`, made))
			return source.again(false)
		}
		source.again(false)
		base := make()
		charged := lastCharge(t, root)
		most := 0.0
		for _, rows := range others {
			root.exec("SET dp_raw = ON", "DELETE FROM shop.orders WHERE customer = 0")
			if len(rows) > 0 {
				root.insert("shop.orders", rows)
			}
			root.exec("SET dp_raw = OFF")
			source.mu.Lock()
			source.list, source.replay = nil, base
			source.mu.Unlock()
			share, _ := new(big.Rat).Quo(lossOf(t, base, make()), charged).Float64()
			most = max(most, share)
		}
		return most
	}
	for relation, others := range map[string][][]string{"add-remove": {nil, odd}, "replace-one": {all, {row(0, "'south'", "'tea'")}, {row(0, "'east'", "'tea'")}, odd}} {
		share := worst(relation, others...)
		if t.Logf("%s: %.3f of the charge", relation, share); share > 0.96 || share < 0.2 {
			t.Errorf("%s: %v of the charge is lost", relation, share)
		}
	}
	if share := worst("add-remove", []string{row(0, "'east'", "'tea'")}, []string{row(0, "'south'", "'tea'")}); share <= 1 {
		t.Errorf("an exchange under add-remove loses %v of the charge, and is not found out", share)
	}
}

// TestStatementsOfTheSyntheticPage runs the statements of docs/synthetic.md, in their order.
func TestStatementsOfTheSyntheticPage(t *testing.T) {
	page, err := os.ReadFile("../docs/synthetic.md")
	if err != nil {
		t.Fatal(err)
	}
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE shop", "CREATE TABLE shop.people (id INT PRIMARY KEY, city VARCHAR(8), income INT)",
		"CALL dp_protect('shop.people', 'id', 'person')", "CALL dp_set_budget('shop.people', '*', 10, 0.001, 'never')", `CALL dp_set_domain('shop.people', 'city', '["north","south"]')`,
		`CALL dp_set_domain('shop.people', 'income', '{"min":0,"max":1000}')`, "SET dp_raw = ON")
	var rows []string
	for k := range 1000 {
		rows = append(rows, fmt.Sprintf("(%d, '%s', %d)", k, []string{"north", "south"}[k%2], 300*(k%2)+k/2))
	}
	root.insert("shop.people", rows)
	root.exec("SET dp_raw = OFF")
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```sql\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		for _, q := range strings.Split(block[1], ";\n") {
			if strings.TrimSpace(q) != "" {
				root.query(q)
				ran++
			}
		}
	}
	if ran < 4 {
		t.Errorf("%d statements", ran)
	}
}
