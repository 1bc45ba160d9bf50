package duckdb

import (
	"context"
	"path/filepath"
	"testing"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// TestImportVectors: Parquet lists come in as lists, and into arrays that are there as arrays; so
// does the text of a CSV file.
func TestImportVectors(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, parquet := filepath.Join(dir, "rows.duckdb"), filepath.Join(dir, "v.parquet")
	in, err := openInstance(filepath.Join(dir, "maker.duckdb"))
	must(t, err)
	c, err := in.connect(ctx)
	must(t, err)
	_, err = c.exec(ctx, "COPY (SELECT i AS id, [i, 0.5, NULL]::FLOAT[3] AS v FROM range(3) r(i)) TO "+sqltext.StoreText(parquet)+" (FORMAT parquet)")
	must(t, err)
	c.close()
	in.close()

	ref := store.TableRef{Schema: "shop", Name: "v"}
	_, err = ImportFile(ctx, path, parquet, ref, ImportOptions{}, nil)
	must(t, err)
	s := testReopen(t, path, Options{})
	table, _, err := s.Table(ctx, ref)
	must(t, err)
	equal(t, "type", table.Columns[1].Type, "FLOAT[]")
	write(t, testSession(t, s), ref, "DROP TABLE shop.v", "CREATE TABLE shop.v (id BIGINT, v DOUBLE[3])")
	must(t, s.Close())

	_, err = ImportFile(ctx, path, parquet, ref, ImportOptions{Mode: ImportAppend}, nil)
	must(t, err)
	csv := testFile(t, "v.csv", "id,v\n3,\"[1, 2.5, 1e3]\"\n4,\n5,\"[NULL, nan, 1]\"\n")
	_, err = ImportFile(ctx, path, csv, ref, ImportOptions{Mode: ImportAppend}, nil)
	must(t, err)
	if _, err = ImportFile(ctx, path, testFile(t, "short.csv", "id,v\n6,\"[1, 2]\"\n"), ref, ImportOptions{Mode: ImportAppend}, nil); err == nil {
		t.Error("an array of another length is imported")
	}
	s = testReopen(t, path, Options{})
	equal(t, "rows", all(t, testSession(t, s), "SELECT id, CAST(v AS VARCHAR) FROM shop.v ORDER BY id"), [][]any{
		{int64(0), "[0.0, 0.5, NULL]"}, {int64(1), "[1.0, 0.5, NULL]"}, {int64(2), "[2.0, 0.5, NULL]"},
		{int64(3), "[1.0, 2.5, 1000.0]"}, {int64(4), nil}, {int64(5), "[NULL, nan, 1.0]"}})
}
