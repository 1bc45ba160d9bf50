package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/ops/datadir"
	"scrim/internal/durable"
)

// TestNoRoomForTemporaryFiles: while the directory for temporary files is not there, or is no
// directory, queries on protected tables are refused before their charge, whatever they read; the
// log names the directory; and they are answered as soon as it is back.
func TestNoRoomForTemporaryFiles(t *testing.T) {
	i := startWith(t, "", seeded(t, "space", 1))
	root := i.root()
	root.exec(soundSchema...)
	root.exec("SET dp_raw = ON")
	fill(root, nil)
	var more []string // a view has no cells of eight persons of whom one has most rows
	for p := range 60 {
		more = append(more, fmt.Sprintf("(%d, %d, %d, 1, 1, 1.25)", 1000+p, 100+p, 1+p%4))
	}
	root.insert("s.visits", more)
	root.exec("SET dp_raw = OFF")
	root.exec("CREATE TABLE s.placed (id INT PRIMARY KEY, who INT NOT NULL, d DATE NOT NULL)", "INSERT INTO s.placed VALUES (1, 1, '2024-01-02')",
		"CALL dp_protect('s.placed', 'who', 'buyer')", "CALL dp_set_budget('s.placed', '*', 1000, 0.001, 'never')", "CALL dp_set_domain('s.placed', 'd', '{\"min\": \"2024-01-01\", \"max\": \"2024-01-10\"}')")
	ann := i.analyst(root, "ann", "s")
	ann.exec("SET dp_rho = 0.5")
	spent := func() string {
		return fmt.Sprint(root.query("SELECT account, spent_epsilon, spent_rho FROM dp.budgets ORDER BY 1, 2"))
	}
	before, dir := spent(), filepath.Join(i.cfg.DataDir, datadir.SpillDir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	queries := []string{"SELECT COUNT(*) FROM s.visits", "SELECT g, AVG(x) FROM s.visits GROUP BY g", "SELECT n, SUM(x) FROM s.visits GROUP BY n", "SELECT COUNT(*) FROM s.visits WHERE person > 1000"}
	// what a DBA makes of persons' rows is charged likewise
	made := []string{
		`CALL dp_create_view('s.w', 'SELECT g, COUNT(*) AS n FROM s.visits GROUP BY g', '{"rho": 1000}')`,
		`CALL dp_continual('s.t', 'SELECT d AS day, COUNT(*) AS n FROM s.placed GROUP BY 1', '{"rho": 0.5, "from": "2024-01-01", "days": 10, "per_person": 2}')`,
		`CALL dp_synthesize('s.placed', 's.x', '{"rho": 4, "columns": ["d"]}')`,
	}
	refused := func() {
		for _, q := range made {
			if e := root.refused(1644, "45019", q); !strings.Contains(e.Message, "nothing was charged") {
				t.Errorf("%s: got %v", q, e)
			}
		}
		for _, q := range queries {
			if e := ann.refused(1644, "45019", q); !strings.Contains(e.Message, "nothing was charged") {
				t.Errorf("%s: got %v", q, e)
			}
		}
		if rows, err := ann.try("SELECT COUNT(*) FROM s.rates"); err != nil || fmt.Sprint(rows) != "[[3]]" {
			t.Errorf("a public table: got %v, %v", rows, err)
		}
	}
	refused()
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused()
	if after := spent(); after != before {
		t.Errorf("refusals cost something: %s, then %s", before, after)
	}
	if !strings.Contains(i.log.String(), dir) {
		t.Errorf("the log does not name the directory: %s", i.log)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root.exec(made...)
	for _, q := range queries {
		ann.query(q)
	}
}

// TestNothingIsMadeWithoutItsPolicy: what is made of persons' rows is not there where its policy
// cannot be written.
func TestNothingIsMadeWithoutItsPolicy(t *testing.T) {
	i := startWith(t, "", seeded(t, "policy", 1))
	root := i.root()
	var rows []string
	for k := range 400 {
		rows = append(rows, fmt.Sprintf("(%d, %d, '2024-01-0%d')", k, k%4, 1+k%9))
	}
	root.exec("CREATE DATABASE s", "CREATE TABLE s.placed (who INT NOT NULL, g INT NOT NULL, d DATE NOT NULL)",
		"INSERT INTO s.placed VALUES "+strings.Join(rows, ","),
		"CALL dp_protect('s.placed', 'who', 'buyer')", "CALL dp_set_budget('s.placed', '*', 10000, 0.001, 'never')", "CALL dp_set_domain('s.placed', 'g', '[0,1,2,3]')")
	made := []string{
		`CALL dp_create_view('s.w', 'SELECT g, COUNT(*) AS n FROM s.placed GROUP BY g', '{"rho": 4}')`,
		`CALL dp_continual('s.t', 'SELECT d AS day, COUNT(*) AS n FROM s.placed GROUP BY 1', '{"rho": 4, "from": "2024-01-01", "days": 10, "per_person": 2}')`,
		`CALL dp_synthesize('s.placed', 's.x', '{"rho": 4, "columns": ["g"]}')`,
	}
	// nothing takes the place of a directory that is not empty
	blocked := filepath.Join(i.cfg.DataDir, datadir.CatalogFile+durable.NewSuffix)
	if err := os.MkdirAll(filepath.Join(blocked, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, q := range made {
		if _, err := root.try(q); err == nil {
			t.Errorf("%s: done without a policy", q)
		}
	}
	if got := fmt.Sprint(root.query("SHOW TABLES FROM s"), root.query("SELECT view_name FROM dp.views"), root.query("SELECT series_name FROM dp.continual")); got != "[[placed]] [] []" {
		t.Errorf("there are %s", got)
	}
	i.broken = true
	i.end()
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	startWith(t, i.cfg.DataDir, seeded(t, "policy", 2)).root().exec(made...)
}

// TestAccountsAreAsTheirFile: a change of accounts that cannot be written is not in effect.
func TestAccountsAreAsTheirFile(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE USER 'ann'@'%' IDENTIFIED BY 'a'", "GRANT SELECT ON d.* TO 'ann'@'%'", "CREATE USER 'bob'@'%' IDENTIFIED BY 'b'")
	accounts := func() string {
		return fmt.Sprint(root.query("SELECT user FROM mysql.user WHERE user IN ('ann', 'bob', 'eve') ORDER BY 1"), root.query("SHOW GRANTS FOR 'ann'@'%'"), root.query("SHOW GRANTS FOR 'bob'@'%'"))
	}
	before := accounts()
	blocked := filepath.Join(i.cfg.DataDir, datadir.UsersFile+durable.NewSuffix)
	if err := os.MkdirAll(filepath.Join(blocked, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	changes := []string{"CREATE USER 'eve'@'%' IDENTIFIED BY 'e'", "GRANT SELECT ON d.* TO 'bob'@'%'", "REVOKE SELECT ON d.* FROM 'ann'@'%'", "ALTER USER 'ann'@'%' IDENTIFIED BY 'other'", "DROP USER 'bob'@'%'"}
	for _, q := range changes {
		if _, err := root.try(q); err == nil {
			t.Errorf("%s: done, and not written", q)
		}
		if after := accounts(); after != before {
			t.Errorf("%s: refused, and there are %s, before %s", q, after, before)
		}
	}
	i.client("ann", "a")
	if _, err := i.dial("eve", "e"); err == nil {
		t.Error("an account that was refused logs in")
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	root.exec(changes...)
	i.client("eve", "e")
}
