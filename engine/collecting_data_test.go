package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/fileimport"
	"scrim/engine/ops/datadir/rollback"
)

// TestReportsBesideProtectedTables: reports join with protected tables as rows of a public table
// do, and a stored answer does not outlive a report that came after it.
func TestReportsBesideProtectedTables(t *testing.T) {
	o := startCollection(t, 20)
	o.root.exec("CREATE DATABASE d", "CREATE TABLE d.p (id INT, cell INT UNSIGNED NOT NULL)", "INSERT INTO d.p VALUES (1, 0), (2, 0), (3, 0)",
		"CALL dp_protect('d.p', 'id', 'person')", "CALL dp_set_budget('d.p', '*', 50, 1e-5, 'never')")
	ann := o.analyst(o.root, "ann", "d")
	o.root.exec("GRANT SELECT ON survey.* TO ann")
	const q = "SELECT COUNT(DISTINCT p.id) FROM d.p JOIN survey.commute c ON p.cell = c.cell"
	charges := func() string {
		return o.root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND principal = 'ann@%'")
	}
	for n := range 2 {
		token, r := o.next()
		o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
		first := ann.value(q)
		if again := ann.value(q); again != first {
			t.Errorf("the same question on the same reports: %s, then %s", first, again)
		}
		if got := charges(); got != fmt.Sprint(2*(n+1)) { // of the table and its entity
			t.Errorf("after %d reports there are %s charges", n+1, got)
		}
	}
	ann.refused(1644, "45002", "SELECT p.id, c.report FROM d.p JOIN survey.commute c ON p.cell = c.cell")
	ann.refused(1044, "42000", "INSERT INTO dp_in.commute SELECT p.id, c.report FROM d.p JOIN survey.commute c ON p.cell = c.cell")
	o.root.refused(1644, "45010", "INSERT INTO dp_in.commute SELECT id, cell FROM d.p")
	o.root.refused(1644, "45010", "INSERT INTO dp_in.commute SELECT DP_COUNT(*), 'x' FROM d.p")
	o.wants(2, "in the end")
}

// TestReportsFromElsewhere: neither LOAD DATA nor an import brings rows into a collection's table,
// and LOAD DATA brings no reports without tokens.
func TestReportsFromElsewhere(t *testing.T) {
	o := startCollection(t, 5)
	file := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(file, []byte("1,0,,2026-01-01,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mysql.RegisterLocalFile(file)
	defer mysql.DeregisterLocalFile(file)
	o.root.refused(1644, "45017", "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE survey.commute FIELDS TERMINATED BY ','")
	o.root.refused(1644, "45D21", "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE dp_in.commute FIELDS TERMINATED BY ',' (token, report, @a, @b, @c)")
	o.con.refused(1227, "42000", "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE dp_in.commute FIELDS TERMINATED BY ',' (token, report, @a, @b, @c)")
	o.wants(0, "after LOAD DATA")
	cfg := o.cfg
	o.end()
	csv := filepath.Join(t.TempDir(), "more.csv")
	if err := os.WriteFile(csv, []byte("round,cell,stratum,day,report\n1,0,a,2026-01-01,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fileimport.Mode{fileimport.Create, fileimport.Append, fileimport.Replace} {
		if _, err := fileimport.Load(context.Background(), cfg.Place(), csv, "Survey.commute", fileimport.Options{Mode: mode}, nil); err == nil || !strings.Contains(err.Error(), "collection") {
			t.Errorf("import mode %v: %v", mode, err)
		}
	}
	if _, err := fileimport.Load(context.Background(), cfg.Place(), csv, "survey.other", fileimport.Options{Mode: fileimport.Create}, nil); err != nil {
		t.Error(err)
	}
	if _, err := fileimport.Load(context.Background(), cfg.Place(), csv, "dp_in.other", fileimport.Options{Mode: fileimport.Create}, nil); err == nil {
		t.Error("a table was imported into dp_in")
	}
}

// TestCollectionsInBackups: a backup of a server under way holds collections, tokens and reports,
// and can be restored.
func TestCollectionsInBackups(t *testing.T) {
	backups := t.TempDir()
	o := startCollection(t, 10, func(c *Config) { c.BackupDir = backups })
	token, r := o.next()
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	o.root.exec("CALL dp_backup('one')")
	later, laterReport := o.next()
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", later, laterReport)
	o.end()
	dir := filepath.Join(t.TempDir(), "restored")
	m, err := backup.Verify(context.Background(), filepath.Join(backups, "one"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(context.Background(), backup.RestoreOptions{From: filepath.Join(backups, "one"), To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{LedgerOf: m.Day(), By: "operator"}}, nil); err != nil {
		t.Fatal(err)
	}
	i := start(t, dir)
	root, con := i.root(), i.client("contributor", "pw")
	con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r) // has been there
	// was lost, and comes again
	con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", later, laterReport)
	if got := root.value("SELECT COUNT(*) FROM survey.commute"); got != "2" {
		t.Errorf("%s reports are stored", got)
	}
}
