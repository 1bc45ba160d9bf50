package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"scrim/engine/ops/datadir/fileimport"
)

// TestImportKeepsPolicies: a protected name stays protected through an import that makes its table
// anew, and a public name must be declared again.
func TestImportKeepsPolicies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte("id,x\n1,2\n2,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(table string, mode fileimport.Mode) {
		t.Helper()
		if _, err := fileimport.Load(context.Background(), DefaultConfig(dir).Place(), file, table, fileimport.Options{Mode: mode}, nil); err != nil {
			t.Fatal(err)
		}
	}
	load("d.people", fileimport.Create)
	load("d.shops", fileimport.Create)
	i := start(t, dir)
	root := i.root()
	root.exec("CALL dp_protect('d.people', 'id', 'person')", "CALL dp_set_budget('d.people', '*', 1, 1e-6, 'never')", "CALL dp_public('d.shops')")
	i.analyst(root, "ann", "d").query("SELECT * FROM d.shops")
	root.exec("DROP TABLE d.people", "DROP TABLE d.shops")
	i.end()

	load("d.people", fileimport.Create)
	load("d.shops", fileimport.Create)
	i = start(t, dir)
	ann := i.client("ann", "pw-ann")
	ann.refused(1644, "45002", "SELECT * FROM d.people")
	ann.refused(1644, "45001", "SELECT * FROM d.shops")
	i.root().exec("CALL dp_public('d.shops')")
	ann.query("SELECT * FROM d.shops")
	i.end()

	load("d.shops", fileimport.Replace)
	i = start(t, dir)
	if got := i.client("ann", "pw-ann").value("SELECT COUNT(*) FROM d.shops"); got != "2" {
		t.Errorf("got %s rows of a public table after its rows were replaced, want 2", got)
	}
}
