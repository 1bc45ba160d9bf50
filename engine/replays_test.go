package engine

import (
	"fmt"
	"strings"
	"testing"
)

// shop fills d with two protected tables that are linked, one that is public, and policies.
func replayShop(t *testing.T, root *client) {
	t.Helper()
	people(t, root, 600)
	root.exec(
		"CREATE TABLE d.visits (vid INT, person INT, town VARCHAR(10), secs DECIMAL(8,2))",
		"INSERT INTO d.visits VALUES "+rowsOf(900, func(i int) string { return fmt.Sprintf("(%d,%d,'%s',%d.5)", i, i%600, []string{"a", "b"}[i%2], i%40) }),
		"CREATE TABLE d.towns (town VARCHAR(10) PRIMARY KEY, country VARCHAR(10))",
		"INSERT INTO d.towns VALUES ('a','x'),('b','y')",
		"CALL dp_protect('d.visits', 'person', 'person')",
		"CALL dp_public('d.towns')",
		`CALL dp_set_domain('d.visits', 'town', '["a","b"]')`,
		"CALL dp_set_budget('d.visits', '*', 1000, 1e-5, 'never')",
		"CALL dp_set_budget('d.visits', 'default', 500, 1e-5, 'never')",
	)
}

func rowsOf(n int, row func(int) string) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = row(i)
	}
	return strings.Join(rows, ",")
}

// charged counts the charges in the ledger.
func charged(root *client) string {
	return root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'")
}

// poses runs a query and says whether it was charged.
func poses(c, root *client, query string) (rows string, paid bool) {
	c.t.Helper()
	before := charged(root)
	rows = fmt.Sprint(c.query(query))
	return rows, charged(root) != before
}

// free checks that a query is a replay, and that it shows what is wanted, unless that is "".
func free(c, root *client, want, query string) {
	c.t.Helper()
	got, paid := poses(c, root, query)
	if paid {
		c.t.Errorf("charged: %s", query)
	}
	if want != "" && got != want {
		c.t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
	}
}

// pays checks that a query is charged.
func pays(c, root *client, query string) string {
	c.t.Helper()
	got, paid := poses(c, root, query)
	if !paid {
		c.t.Errorf("a replay: %s", query)
	}
	return got
}

// spellings are queries that are one, each line its spellings; every line is another query.
var spellings = [][]string{
	{"SELECT COUNT(*) FROM d.people", "select  count( * )\nfrom D.people -- comment", "SELECT COUNT(1) FROM d.people AS p", "SELECT /* hi */ COUNT(*) n FROM d.people",
		"SELECT COUNT(*) FROM (SELECT * FROM d.people) q", "WITH c AS (SELECT id FROM d.people) SELECT COUNT(*) FROM c"},
	{"SELECT AVG(age) FROM d.people WHERE age > 30 AND income < 1050.5", "SELECT AVG(p.age) AS a FROM d.people p WHERE 1050.50 > p.income AND 30 < p.age",
		"SELECT avg(AGE) FROM d.people WHERE (income < 1050.500) AND (age > 30)", "SELECT AVG(x) FROM (SELECT age AS x, income AS y FROM d.people) z WHERE y < 1050.5 AND x > 30"},
	{"SELECT SUM(age + income) FROM d.people", "SELECT SUM(income + age) FROM d.people"},
	{"SELECT SUM(age * 2) FROM d.people", "SELECT SUM(2 * age) FROM d.people"},
	{"SELECT COUNT(*) FROM d.people WHERE city = 'north' OR age = 30 OR income IS NULL", "SELECT COUNT(*) FROM d.people WHERE income IS NULL OR 30 = age OR _utf8mb4'north' = city"},
	{"SELECT COUNT(*) FROM d.people WHERE city IN ('north', 'south')", "SELECT COUNT(*) FROM d.people WHERE city IN ('south', 'north', 'south')"},
	{"SELECT COUNT(*), SUM(age), AVG(h) FROM d.people", "SELECT AVG(h), COUNT(*), SUM(age) FROM d.people"},
	{"SELECT town, COUNT(*) FROM d.visits GROUP BY town", "SELECT COUNT(*) AS n, v.town AS t FROM d.visits v GROUP BY v.town"},
	{"SELECT city, age > 40 AS old, COUNT(*) FROM d.people GROUP BY city, age > 40", "SELECT 40 < age, p.city, COUNT(*) FROM d.people p GROUP BY 40 < age, city"},
	{"SELECT SUM(v.secs) FROM d.visits v JOIN d.people p ON v.person = p.id WHERE p.age < 40", "SELECT SUM(secs) FROM d.people a JOIN d.visits b ON a.id = b.person WHERE 40 > age"},
	{"SELECT SUM(secs) FROM d.visits v JOIN d.towns t ON t.town = v.town WHERE t.country = 'x'", "SELECT SUM(secs) FROM d.towns x JOIN d.visits y ON y.town = x.town WHERE 'x' = x.country"},
	{"SELECT DP_MEAN(age) FROM d.people", "SELECT dp_mean(people.age) FROM d.people", "SELECT DP_AVG(age) FROM d.people"},
	{"SELECT DP_QUANTILE(age, 0.5) FROM d.people", "SELECT DP_QUANTILE(age, 0.50) FROM d.people"},
}

// TestSpellingsOfOneQueryAreReplays: the first spelling is charged, and all are the same answer
// from then on, across a restart, too. No line finds the answer of another.
func TestSpellingsOfOneQueryAreReplays(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 0.5")
	first := make([]string, len(spellings))
	for n, group := range spellings {
		first[n] = pays(ann, root, group[0])
		for _, q := range group {
			want := first[n]
			if n == 6 || n == 7 || n == 8 {
				want = "" // the columns are in another order
			}
			free(ann, root, want, q)
		}
		free(ann, root, first[n], group[0])
	}
	total := root.query("SELECT * FROM dp.budgets")
	i.end()
	i = start(t, dir)
	root, ann = i.root(), i.client("ann", "pw-ann")
	ann.exec("SET dp_epsilon = 0.5")
	for n, group := range spellings {
		free(ann, root, first[n], group[0])
	}
	if got := root.query("SELECT * FROM dp.budgets"); fmt.Sprint(got) != fmt.Sprint(total) {
		t.Errorf("replays spent:\n%v\n%v", got, total)
	}
}

// TestErrorBarsOfAnAnswerAreFree: what is told of an answer's error is part of the answer, before
// and after a restart, with or without it asked for.
func TestErrorBarsOfAnAnswerAreFree(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 5")
	bars := map[string]string{}
	for _, a := range []string{"AVG(age)", "DP_MEAN(income)", "COUNT(*)", "DP_SUM(age, 'lower=0, upper=100')"} {
		pays(ann, root, "SELECT "+a+" FROM d.people")
		q := "SELECT " + a + " AS a, DP_STDERR(a), DP_LOW(a), DP_HIGH(a, 0.5) FROM d.people"
		rows, paid := poses(ann, root, q)
		if paid || strings.Contains(rows, "NULL") {
			t.Errorf("charged %v: %s: %s", paid, q, rows)
		}
		bars[q] = rows
	}
	const groups = "SELECT DP_HIGH(a), city, AVG(age) AS a FROM d.people GROUP BY city"
	bars[groups] = pays(ann, root, groups)
	free(ann, root, "", "SELECT city, AVG(age) FROM d.people GROUP BY city")
	i.end()
	i = start(t, dir)
	root, ann = i.root(), i.client("ann", "pw-ann")
	ann.exec("SET dp_epsilon = 5")
	for q, rows := range bars {
		free(ann, root, rows, q)
	}
}

// TestOtherQueriesPay: whatever differs in meaning, or in who asks, is charged.
func TestOtherQueriesPay(t *testing.T) {
	i := start(t, "", byBytes)
	root := i.root()
	replayShop(t, root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 0.5")
	for _, q := range []string{
		"SELECT AVG(age) FROM d.people WHERE age > 30",
		"SELECT AVG(age) FROM d.people WHERE age > 31",
		"SELECT AVG(age) FROM d.people WHERE age >= 30",
		"SELECT AVG(age) FROM d.people WHERE age < 30",
		"SELECT AVG(age) FROM d.people WHERE id > 30",
		"SELECT AVG(id) FROM d.people WHERE age > 30",
		"SELECT SUM(age) FROM d.people WHERE age > 30",
		"SELECT DP_MEAN(age) FROM d.people WHERE age > 30",
		"SELECT DP_MEAN(age, 'lower=0, upper=100') FROM d.people WHERE age > 30",
		"SELECT DP_MEAN(age, 'lower=0, upper=101') FROM d.people WHERE age > 30",
		"SELECT DP_QUANTILE(age, 0.5) FROM d.people",
		"SELECT DP_QUANTILE(age, 0.25) FROM d.people",
		"SELECT city, AVG(age) FROM d.people WHERE age > 30 GROUP BY city",
		"SELECT SUM(age - income) FROM d.people",
		"SELECT SUM(income - age) FROM d.people",
		"SELECT COUNT(*) FROM d.people WHERE city = 'north'",
		"SELECT COUNT(*) FROM d.people WHERE city = 'north '",
		"SELECT COUNT(*) FROM d.people WHERE city = 'North'",
		"SELECT SUM(age * 1.0) FROM d.people",
		"SELECT SUM(age * 1.00) FROM d.people",
	} {
		pays(ann, root, q)
	}
	ann.exec("SET dp_epsilon = 0.6")
	pays(ann, root, "SELECT AVG(age) FROM d.people WHERE age > 30")
	pays(ann, root, "SELECT /*+ SET_VAR(dp_epsilon=0.7) */ AVG(age) FROM d.people WHERE age > 30")
	free(ann, root, "", "SELECT /*+ SET_VAR(dp_epsilon=0.5) */ AVG(age) FROM d.people WHERE age > 30")
	bob := i.analyst(root, "bob", "d")
	bob.exec("SET dp_epsilon = 0.5")
	pays(bob, root, "SELECT AVG(age) FROM d.people WHERE age > 30")
}

// TestChangesEndReplays: of the data of any table that is read, and of any policy.
func TestChangesEndReplays(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 0.1")
	const one = "SELECT COUNT(*) FROM d.people"
	const joined = "SELECT SUM(secs) FROM d.visits v JOIN d.towns t ON t.town = v.town JOIN d.people p ON p.id = v.person WHERE t.country = 'x'"
	pays(ann, root, one)
	pays(ann, root, joined)
	for _, c := range []struct {
		change      string
		one, joined bool // what ends
	}{
		{"INSERT INTO d.people VALUES (9000, 'north', 30, 1000, 1)", true, true},
		{"UPDATE d.towns SET country = 'x' WHERE town = 'b'", false, true},
		{"INSERT INTO d.visits VALUES (9000, 7, 'a', 2)", false, true},
		{"CALL dp_set_domain('d.people', 'age', '{\"min\": 0, \"max\": 120}')", true, true},
		{`CALL dp_set_domain('d.visits', 'town', '["a","b","c"]')`, false, true},
		{`CALL dp_set_defaults('d.people', '{"max_rows_per_unit": 4}')`, true, true},
		{"CALL dp_set_scale('d.people', 'age', '[10]')", true, true},
		{"ALTER TABLE d.people ADD COLUMN extra INT", true, true},
		{"CALL dp_set_defaults('d.people', '{\"max_rows_per_unit\": 4, \"dp_share_replays\": true}')", false, false},
	} {
		root.exec(c.change)
		for q, ends := range map[string]bool{one: c.one, joined: c.joined} {
			if _, paid := poses(ann, root, q); paid != ends {
				t.Errorf("after %s: charged %v, want %v: %s", c.change, paid, ends, q)
			}
			free(ann, root, "", q)
		}
	}
	i.end()
	i = start(t, dir)
	root, ann = i.root(), i.client("ann", "pw-ann")
	ann.exec("SET dp_epsilon = 0.1")
	free(ann, root, "", one)
	free(ann, root, "", joined)
}

// TestSharedReplays: where all protected tables of a query share their answers, whoever may run it
// gets what another has paid for.
func TestSharedReplays(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	ann, bob, eve := i.analyst(root, "ann", "d"), i.analyst(root, "bob", "d"), i.analyst(root, "eve", "")
	const one, joined = "SELECT COUNT(*) FROM d.people", "SELECT SUM(secs) FROM d.visits v JOIN d.people p ON p.id = v.person"
	before := pays(ann, root, one)
	root.exec(`CALL dp_set_defaults('d.people', '{"dp_share_replays": "on"}')`)
	pays(bob, root, one) // ann has not asked since
	free(ann, root, before, one)
	root.exec("INSERT INTO d.people VALUES (9001, 'north', 30, 1000, 1)")
	shared := pays(ann, root, one)
	free(bob, root, shared, one)
	eve.refused(1044, "", one) // privileges come first
	pays(ann, root, joined)
	pays(bob, root, joined) // d.visits does not share
	root.exec(`CALL dp_set_defaults('d.visits', '{"dp_share_replays": true}')`)
	root.exec("INSERT INTO d.visits VALUES (9001, 3, 'a', 1)")
	sum := pays(bob, root, joined)
	free(ann, root, sum, joined)
	i.end()
	i = start(t, dir)
	root, ann, bob = i.root(), i.client("ann", "pw-ann"), i.client("bob", "pw-bob")
	free(ann, root, sum, joined)
	free(bob, root, shared, one)
	// What others have paid for costs nothing even where one's own budget is spent, and nothing
	// else does.
	root.exec("CALL dp_set_budget('d.people', 'bob@%', 0.001, 1e-5, 'never')")
	free(bob, root, shared, one)
	bob.refused(1644, "45013", "SELECT COUNT(*) FROM d.people WHERE age < 25")
	root.exec(`CALL dp_set_defaults('d.people', '{}')`)
	free(ann, root, shared, one)
	bob.refused(1644, "45013", one)
}

// TestReplaysAreListed: dp.replays shows an analyst their own answers, and a DBA all; the ledger
// says which charge each replay goes back to, once an hour.
func TestReplaysAreListed(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	root.exec(`CALL dp_set_defaults('d.people', '{"dp_share_replays": true}')`)
	ann, bob := i.analyst(root, "ann", "d"), i.analyst(root, "bob", "d")
	const q = "SELECT COUNT(*) FROM d.people WHERE city = 'secret-word' AND age > 12345"
	ann.query(q)
	for range 50 {
		ann.query(q)
		bob.query(q)
	}
	bob.query("SELECT COUNT(*) FROM d.visits")
	i.end() // writes what is queued
	i = start(t, dir)
	root, ann, bob = i.root(), i.client("ann", "pw-ann"), i.client("bob", "pw-bob")
	ann.query(q)
	bob.query(q)
	const columns = "SELECT principal, statement, tables, is_shared, hits, ledger_id IS NOT NULL FROM dp.replays ORDER BY id"
	const text = "SELECT COUNT(*) FROM d.people WHERE city = ? AND age > ?"
	annRow := []string{"ann@%", text, "d.people", "yes", "1", "1"}
	bobRow := []string{"bob@%", "SELECT COUNT(*) FROM d.visits", "d.visits", "no", "0", "1"}
	if got := ann.query(columns); fmt.Sprint(got) != fmt.Sprint([][]string{annRow}) {
		t.Errorf("ann sees %v", got)
	}
	if got := bob.query(columns); fmt.Sprint(got) != fmt.Sprint([][]string{bobRow}) {
		t.Errorf("bob sees %v", got)
	}
	annRow[4] = "2"
	if got := root.query(columns); fmt.Sprint(got) != fmt.Sprint([][]string{annRow, bobRow}) {
		t.Errorf("root sees %v", got)
	}
	i.end()
	i = start(t, dir)
	root = i.root()
	charge := root.value("SELECT MIN(id) FROM dp.ledger WHERE entry = 'charge'")
	replays := root.query("SELECT principal, statement, replay_of, COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'replay' GROUP BY 1, 2, 3 ORDER BY 1")
	for _, r := range replays {
		// an hour may have ended meanwhile, and each start writes one
		if r[1] != text || r[2] != charge || r[3] > "4" {
			t.Errorf("got the entry %v, want one of %s", r, charge)
		}
	}
	if len(replays) != 2 {
		t.Errorf("got %v, want entries of ann and bob", replays)
	}
	if all := fmt.Sprint(root.query("SELECT * FROM dp.ledger"), root.query("SELECT * FROM dp.replays")); strings.Contains(all, "secret-word") || strings.Contains(all, "12345") {
		t.Error("a literal is in dp.ledger or dp.replays")
	}
}

// TestReplaysRestOnTheAnswersTheyUse: a statement that compares rows with an answer is a replay as
// long as that answer is the one that it was compared with, and is charged with the next one, of
// whichever table that is. So the pair never tells of two states what was asked of one.
func TestReplaysRestOnTheAnswersTheyUse(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	replayShop(t, root)
	root.exec(
		"CREATE TABLE d.a (id INT, x INT)", "INSERT INTO d.a VALUES "+rowsOf(300, func(n int) string { return fmt.Sprintf("(%d,%d)", n, n) }),
		"CREATE TABLE d.b (id INT, x INT)", "INSERT INTO d.b VALUES "+rowsOf(300, func(n int) string { return fmt.Sprintf("(%d,%d)", n, n%200) }),
		"CREATE TABLE d.c (id INT, x INT)", "INSERT INTO d.c VALUES "+rowsOf(300, func(n int) string { return fmt.Sprintf("(%d,50)", n) }),
	)
	for _, table := range []string{"d.a", "d.b", "d.c"} {
		root.exec("CALL dp_protect('"+table+"', 'id', 'person')", "CALL dp_set_domain('"+table+"', 'x', '{\"min\": 0, \"max\": 1000}')",
			"CALL dp_set_budget('"+table+"', '*', 1e6, 1e-5, 'never')", "CALL dp_set_budget('"+table+"', 'default', 1e6, 1e-5, 'never')")
	}
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 50")
	const (
		inner  = "SELECT AVG(x) FROM b"
		plain  = "SELECT COUNT(*) FROM a WHERE x > (" + inner + ")"
		more   = "INSERT INTO d.b VALUES "
		change = "UPDATE d.towns SET country = CONCAT(country, 'z') WHERE town = "
	)
	for name, c := range map[string]struct{ query, change string }{
		"a value":             {plain, more + "(1000, 999)"},
		"in an expression":    {"SELECT SUM(x) FROM a WHERE x + 1 > 2 * (SELECT AVG(x) - 5 FROM b WHERE x < 150)", more + "(1001, 140)"},
		"of a chain":          {"SELECT COUNT(*) FROM a WHERE x > (SELECT AVG(x) FROM b WHERE x > (SELECT AVG(x) FROM c))", "INSERT INTO d.c VALUES (1000, 500)"},
		"in a CASE":           {"SELECT SUM(CASE WHEN x > (SELECT AVG(x) FROM b WHERE x < 170) THEN 1 ELSE 0 END) FROM a", more + "(1003, 160)"},
		"each of a group":     {"SELECT COUNT(*) FROM visits v JOIN towns t ON t.town = v.town WHERE v.secs > (SELECT AVG(w.secs) FROM visits w WHERE w.town = t.town)", "INSERT INTO d.visits VALUES (5000, 3, 'a', 30)"},
		"public rows":         {"SELECT COUNT(*) FROM visits WHERE town IN (SELECT town FROM towns WHERE country = 'x')", change + "'a'"},
		"a public value":      {"SELECT COUNT(*) FROM visits WHERE town > (SELECT MIN(town) FROM towns WHERE country <> 'y')", change + "'b'"},
		"a public CTE":        {"WITH p AS (SELECT town FROM towns WHERE country LIKE 'x%') SELECT COUNT(*) FROM visits JOIN p USING (town)", change + "'a'"},
		"a view":              {"SELECT COUNT(*) FROM seen WHERE x > (SELECT AVG(x) FROM seenb)", more + "(1004, 10)"},
		"a view of the other": {"SELECT COUNT(*) FROM above", more + "(1005, 20)"},
	} {
		if strings.Contains(name, "view") {
			root.try("CREATE VIEW d.seen AS SELECT x FROM d.a")
			root.try("CREATE VIEW d.seenb AS SELECT x FROM d.b WHERE x < 130")
			root.try("CREATE VIEW d.above AS SELECT x FROM d.a WHERE x > (SELECT AVG(x) FROM d.b WHERE x > 3)")
		}
		rows, err := ann.try(c.query)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		free(ann, root, fmt.Sprint(rows), c.query)
		root.exec(c.change)
		changed := pays(ann, root, c.query)
		free(ann, root, changed, c.query)
	}

	// The value alone is charged after the change: what is compared with it is charged then, too.
	root.exec(more + "(1006, 70)")
	first := pays(ann, root, plain)
	root.exec(more + rowsOf(500, func(n int) string { return fmt.Sprintf("(%d,900)", 2000+n) }))
	value := pays(ann, root, inner)
	second := pays(ann, root, plain)
	if first == second {
		t.Errorf("%s above an average that went up to %s, and before", first, value)
	}
	free(ann, root, value, inner)
	free(ann, root, second, plain)
	if ann.value("SELECT COUNT(*) > 0 FROM dp.replays WHERE tables = 'd.a, d.b'") != "1" {
		t.Error("dp.replays does not tell that the answer ends by changes of both tables")
	}
	for _, now := range []string{"SELECT COUNT(*) FROM people WHERE age > MOD(MICROSECOND(NOW(6)) + @n, 90)", "SELECT COUNT(*) FROM people WHERE age > @m"} {
		ann.exec("SET @n = 3, @m = 20")
		pays(ann, root, now)
		ann.exec("SET @n = 17, @m = 40")
		pays(ann, root, now)
	}

	// One table shares its answers, the other does not: each compares with their own value.
	root.exec("CALL dp_set_defaults('d.a', '{\"dp_share_replays\": true}')")
	bob := i.analyst(root, "bob", "d")
	bob.exec("USE d", "SET dp_epsilon = 50")
	pays(ann, root, inner+" WHERE x < 80")
	own := pays(ann, root, plain+" AND x < 280")
	pays(bob, root, plain+" AND x < 280")
	free(ann, root, own, plain+" AND x < 280")
	i.end()
	i = start(t, dir)
	root, ann = i.root(), i.client("ann", "pw-ann")
	ann.exec("USE d", "SET dp_epsilon = 50")
	free(ann, root, own, plain+" AND x < 280")
	free(ann, root, value, inner)
}
