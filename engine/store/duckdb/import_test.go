package duckdb

import (
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

var visits = store.TableRef{Schema: "shop", Name: "visits"}

func testFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// imported runs an import and opens the database again.
func imported(t *testing.T, path, file string, o ImportOptions) (*Store, Import, error) {
	t.Helper()
	im, err := ImportFile(context.Background(), path, file, visits, o, nil)
	s := testReopen(t, path, Options{})
	return s, im, err
}

func TestImportCSV(t *testing.T) {
	file := testFile(t, "Visits.CSV", "ID,Name,Paid At,x\n1,ann,2025-01-02 03:04:05,1.5\n2,\"b, c\",2025-01-03 00:00:00,\n3,NA,,2\n")
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	s, im, err := imported(t, path, file, ImportOptions{NullStrings: []string{"", "NA"}})
	must(t, err)
	equal(t, "import", im, Import{Rows: 3, Columns: []string{"ID", "Name", "Paid At", "x"}, Types: []string{"BIGINT", "VARCHAR", "TIMESTAMP", "DOUBLE"}})
	table, _, err := s.Table(context.Background(), visits)
	must(t, err)
	var types []string
	for _, c := range table.Columns {
		types = append(types, c.Name+" "+c.Type)
	}
	equal(t, "columns", types, []string{"ID BIGINT", "Name VARCHAR", "Paid At TIMESTAMP", "x DOUBLE"})
	c := testSession(t, s)
	equal(t, "row", all(t, c, "SELECT id, name, x FROM shop.visits ORDER BY id"),
		[][]any{{int64(1), "ann", 1.5}, {int64(2), "b, c", nil}, {int64(3), nil, 2.0}})
	v1 := version(t, s, visits)
	if v1 == versionText(0, 0) {
		t.Error("the import left the version")
	}
	must(t, s.Close())

	// The table is there: only appending or replacing goes on.
	s, _, err = imported(t, path, file, ImportOptions{})
	wantKind(t, "create again", err, store.Exists)
	equal(t, "version", version(t, s, visits), v1)
	must(t, s.Close())
	more := testFile(t, "more.csv", "x,id\n9,4\n")
	s, im, err = imported(t, path, more, ImportOptions{Mode: ImportAppend})
	must(t, err)
	equal(t, "rows appended", im.Rows, int64(1))
	equal(t, "appended by name", all(t, testSession(t, s), "SELECT id, name, x FROM shop.visits WHERE id = 4"), [][]any{{int64(4), nil, 9.0}})
	v2 := version(t, s, visits)
	must(t, s.Close())

	// A bad row late in the file undoes everything before it.
	var b strings.Builder
	b.WriteString("id,x\n")
	for i := range sampleRows + 50_000 {
		fmt.Fprintf(&b, "%d,1\n", i)
	}
	b.WriteString("oops,1\n")
	s, _, err = imported(t, path, testFile(t, "bad.csv", b.String()), ImportOptions{Mode: ImportAppend})
	if err == nil {
		t.Error("a file with a bad row was imported")
	}
	equal(t, "rows", len(all(t, testSession(t, s), "SELECT 1 FROM shop.visits")), 4)
	equal(t, "version", version(t, s, visits), v2)
}

func TestImportReplaceKeepsTheDefinition(t *testing.T) {
	s, path := testOpen(t, Options{})
	c := testSession(t, s)
	write(t, c, visits, "CREATE SCHEMA shop", "CREATE TABLE shop.visits (id INTEGER PRIMARY KEY, x DECIMAL(10,2) NOT NULL)",
		"INSERT INTO shop.visits VALUES (1, 1), (2, 2)")
	must(t, s.Close())
	s, im, err := imported(t, path, testFile(t, "a.csv", "id,x\n2,5\n3,6.25\n"), ImportOptions{Mode: ImportReplace})
	must(t, err)
	equal(t, "rows", im.Rows, int64(2))
	equal(t, "rows", all(t, testSession(t, s), "SELECT * FROM shop.visits ORDER BY id"),
		[][]any{{int64(2), decimal("5.00")}, {int64(3), decimal("6.25")}})
	table, _, _ := s.Table(context.Background(), visits)
	equal(t, "keys", table.Keys, []store.Key{{Primary: true, Columns: []string{"id"}}})
	v := version(t, s, visits)
	must(t, s.Close())

	s, _, err = imported(t, path, testFile(t, "b.csv", "id,x\n7,1\n7,2\n"), ImportOptions{Mode: ImportReplace})
	wantKind(t, "duplicate key", err, store.DuplicateKey)
	equal(t, "rows", len(all(t, testSession(t, s), "SELECT 1 FROM shop.visits")), 2)
	equal(t, "version", version(t, s, visits), v)
}

func TestImportGzipAndParquet(t *testing.T) {
	dir := t.TempDir()
	zipped := filepath.Join(dir, "v's.csv.gz")
	f, err := os.Create(zipped)
	must(t, err)
	z := gzip.NewWriter(f)
	fmt.Fprintln(z, "id,x")
	const rows = 200_000
	for i := range rows {
		fmt.Fprintf(z, "%d,%g\n", i, float64(i)/4)
	}
	must(t, z.Close())
	must(t, f.Close())
	path := filepath.Join(dir, "rows.duckdb")
	var done []int64
	im, err := ImportFile(context.Background(), path, zipped, visits, ImportOptions{}, func(d, total int64) {
		done = append(done, d)
		if d > total {
			t.Errorf("progress %d of %d", d, total)
		}
	})
	must(t, err)
	equal(t, "rows", im.Rows, int64(rows))
	fi, _ := os.Stat(zipped)
	if len(done) == 0 || done[len(done)-1] != fi.Size() || !slices.IsSorted(done) {
		t.Errorf("progress %v of %d", done, fi.Size())
	}

	parquet := filepath.Join(dir, "v.parquet")
	in, err := openInstance(filepath.Join(dir, "other.duckdb"))
	must(t, err)
	c, err := in.connect(context.Background())
	must(t, err)
	_, err = c.exec(context.Background(), "COPY (SELECT range AS Id, 'n' || range AS name FROM range(1000)) TO "+sqltext.StoreText(parquet))
	must(t, err)
	c.close()
	in.close()
	im, err = ImportFile(context.Background(), path, parquet, store.TableRef{Schema: "Shop", Name: "FromParquet"}, ImportOptions{}, nil)
	must(t, err)
	equal(t, "parquet", im, Import{Rows: 1000, Columns: []string{"Id", "name"}, Types: []string{"BIGINT", "VARCHAR"}})
	s := testReopen(t, path, Options{})
	equal(t, "sum", all(t, testSession(t, s), "SELECT CAST(sum(id) AS BIGINT) FROM shop.fromparquet"), [][]any{{int64(499500)}})
	equal(t, "csv sum", all(t, testSession(t, s), "SELECT sum(x) FROM shop.visits"), [][]any{{float64(rows) * (rows - 1) / 8}})
}

// TestImportRaggedFile: a short line in the middle must not turn the file into one column of text.
func TestImportRaggedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	_, err := ImportFile(context.Background(), path, testFile(t, "r.csv", "a,b,c,d\n1,2,3,4\n5,6\n7,8,9,10\n"), visits, ImportOptions{}, nil)
	if err == nil {
		t.Error("a file whose lines have different numbers of columns was taken")
	}
}

func TestImportRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	for what, file := range map[string]string{
		"no such file":        filepath.Join(t.TempDir(), "none.csv"),
		"unknown extension":   testFile(t, "a.xls", "{}"),
		"pattern in the name": testFile(t, "a[1].csv", "a\n1\n"),
		"a directory":         t.TempDir(),
	} {
		if _, err := ImportFile(context.Background(), path, file, visits, ImportOptions{}, nil); err == nil {
			t.Errorf("%s: imported", what)
		}
	}
	good := testFile(t, "a.csv", "a\n1\n")
	if _, err := ImportFile(context.Background(), path, good, store.TableRef{Schema: hidden, Name: "version"}, ImportOptions{Mode: ImportAppend}, nil); err == nil {
		t.Error("imported into the hidden schema")
	}
	_, err := ImportFile(context.Background(), path, good, visits, ImportOptions{Mode: ImportAppend}, nil)
	wantKind(t, "append to nothing", err, store.NotFound)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = ImportFile(cancelled, path, good, visits, ImportOptions{}, nil)
	wantKind(t, "cancelled", err, store.Interrupted)
	s := testReopen(t, path, Options{})
	if _, ok, _ := s.Table(context.Background(), visits); ok {
		t.Error("a refused import made the table")
	}
}

// TestImportOfTypesThatNoTableHas: times in nanoseconds, shapes and variants of Parquet files are
// read as a table has them.
func TestImportOfTypesThatNoTableHas(t *testing.T) {
	dir := t.TempDir()
	in, err := openInstance(filepath.Join(dir, "other.duckdb"))
	must(t, err)
	c, err := in.connect(context.Background())
	must(t, err)
	file := filepath.Join(dir, "v.parquet")
	_, err = c.exec(context.Background(), `COPY (SELECT CAST('12:34:56.1234567' AS TIME_NS) AS moment, CAST('POINT (1 2)' AS GEOMETRY) AS shape, CAST({'a': [1, NULL]} AS VARIANT) AS doc,
		{'b': 'x'} AS parts UNION ALL SELECT NULL, NULL, NULL, NULL) TO `+sqltext.StoreText(file))
	must(t, err)
	c.close()
	in.close()
	s, im, err := imported(t, filepath.Join(dir, "rows.duckdb"), file, ImportOptions{})
	must(t, err)
	equal(t, "import", im, Import{Rows: 2, Columns: []string{"moment", "shape", "doc", "parts"}, Types: []string{"TIME", "BLOB", "JSON", "JSON"}})
	equal(t, "rows", all(t, testSession(t, s), "SELECT CAST(moment AS VARCHAR), hex(shape), CAST(doc AS VARCHAR), CAST(parts AS VARCHAR) FROM shop.visits ORDER BY moment NULLS LAST"),
		[][]any{{"12:34:56.123457", "0101000000000000000000F03F0000000000000040", `{"a":[1,null]}`, `{"b":"x"}`}, {nil, nil, nil, nil}})
}
