package duckdb

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// outside are statements that would reach files, extensions or settings.
func outside(secret string) []string {
	q := sqltext.StoreText(secret)
	return []string{
		"SELECT * FROM read_csv(" + q + ")",
		"SELECT * FROM read_text(" + q + ")",
		"SELECT * FROM read_blob(" + q + ")",
		"SELECT * FROM read_parquet(" + q + ")",
		"SELECT * FROM read_json(" + q + ")",
		"SELECT * FROM sniff_csv(" + q + ")",
		"SELECT * FROM glob(" + q + ")",
		"SELECT * FROM " + q,
		"ATTACH " + q + " AS other",
		"ATTACH ':memory:' AS other",
		"COPY (SELECT 1) TO " + sqltext.StoreText(secret+".out"),
		"COPY shop.people FROM " + q,
		"EXPORT DATABASE " + sqltext.StoreText(secret+".dir"),
		"INSTALL httpfs",
		"LOAD httpfs",
		"LOAD " + q,
		"SET threads = 1",
		"SET GLOBAL enable_external_access = true",
		"SET lock_configuration = false",
		"RESET threads",
		"PRAGMA memory_limit = '1TB'",
		"CREATE TABLE shop.stolen AS SELECT * FROM read_text(" + q + ")",
		"INSERT INTO shop.people SELECT 9, content, 0 FROM read_text(" + q + ")",
		"SELECT 1; SELECT * FROM read_text(" + q + ")",
		"CALL pragma_version()",
		"BEGIN TRANSACTION",
		"CHECKPOINT",
		"USE shop",
		"EXPLAIN ANALYZE DELETE FROM shop.people",
	}
}

func TestNothingOutsideIsReached(t *testing.T) {
	ctx := context.Background()
	s, path := testOpen(t, Options{})
	secret := filepath.Join(filepath.Dir(path), "secret.csv")
	must(t, os.WriteFile(secret, []byte("a\n1\n"), 0o600))
	c := testSession(t, s)
	testPeople(t, c)
	for _, sql := range outside(secret) {
		if r, err := testSession(t, s).Query(ctx, sql); err == nil {
			r.Close()
			t.Errorf("session query ran: %s", sql)
		}
		if _, err := testSession(t, s).Write(ctx, nil, sql); err == nil {
			t.Errorf("session write ran: %s", sql)
		}
		snap := testSnapshot(t, s)
		if err := snap.Scan(ctx, sql, nil, []store.ScanType{store.ScanText}, func(store.Chunk) error { return nil }); err == nil {
			t.Errorf("snapshot scan ran: %s", sql)
		}
		snap.Close()
	}
	equal(t, "rows", len(all(t, c, "SELECT * FROM shop.people")), 3)
	files, err := filepath.Glob(secret + "*")
	must(t, err)
	equal(t, "files", files, []string{secret})
}

// The driver's own connection, without our check of statement types, is closed as well.
func TestConfigurationIsLockedBelowOurChecks(t *testing.T) {
	s, path := testOpen(t, Options{})
	secret := filepath.Join(filepath.Dir(path), "secret.csv")
	must(t, os.WriteFile(secret, []byte("a\n1\n"), 0o600))
	testPeople(t, testSession(t, s))
	open := map[string]bool{ // harmless: memory only, or our own file
		"ATTACH ':memory:' AS other": true, "CALL pragma_version()": true, "BEGIN TRANSACTION": true,
		"CHECKPOINT": true, "USE shop": true, "EXPLAIN ANALYZE DELETE FROM shop.people": true,
	}
	c, err := s.in.connect(context.Background())
	must(t, err)
	defer c.close()
	r, err := s.in.connectRaw()
	must(t, err)
	defer r.close()
	for _, sql := range outside(secret) {
		if open[sql] {
			continue
		}
		if _, err := c.exec(context.Background(), sql); err == nil {
			t.Errorf("driver connection ran: %s", sql)
		}
		if _, err := r.exec(context.Background(), sql); err == nil {
			t.Errorf("raw connection ran: %s", sql)
		}
	}
}

// A killed process leaves what it spilled; opening removes that and nothing else.
func TestLeftSpillFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	spill := filepath.Join(dir, "spill")
	must(t, os.Mkdir(spill, 0o700))
	for _, n := range []string{"duckdb_temp_storage_DEFAULT-0.tmp", "duckdb_temp_block-12.block", "mine.txt"} {
		must(t, os.WriteFile(filepath.Join(spill, n), []byte("rows"), 0o600))
	}
	testReopen(t, filepath.Join(dir, "rows.duckdb"), Options{})
	left, err := os.ReadDir(spill)
	must(t, err)
	if len(left) != 1 || left[0].Name() != "mine.txt" {
		t.Errorf("left: %v", left)
	}
}

func TestSnapshotCannotWrite(t *testing.T) {
	s, _ := testOpen(t, Options{})
	testPeople(t, testSession(t, s))
	snap := testSnapshot(t, s)
	for _, sql := range []string{"DELETE FROM shop.people", "INSERT INTO shop.people VALUES (4, '', 0) RETURNING id", "DROP TABLE shop.people"} {
		err := snap.Scan(context.Background(), sql, nil, []store.ScanType{store.ScanInt64}, func(store.Chunk) error { return nil })
		wantKind(t, sql, err, store.Refused)
	}
	if _, err := snap.(*snapshot).pooled.exec(context.Background(), "DELETE FROM shop.people"); err == nil {
		t.Error("the transaction is not read-only")
	}
}

func TestSetupIsSeenByEveryConnection(t *testing.T) {
	setup := Options{Setup: []string{"CREATE OR REPLACE MACRO twice(x) AS 2 * x"}}
	s, path := testOpen(t, setup)
	equal(t, "session", all(t, testSession(t, s), "SELECT twice(CAST(4 AS BIGINT))")[0][0], int64(8))
	s.Close()
	s = testReopen(t, path, setup)
	snap := testSnapshot(t, s)
	must(t, snap.Scan(context.Background(), "SELECT CAST(twice($1) AS BIGINT)", []any{int64(21)}, []store.ScanType{store.ScanInt64},
		func(c store.Chunk) error { equal(t, "snapshot", c.Columns[0].Ints[0], int64(42)); return nil }))
	if _, err := Open(filepath.Join(t.TempDir(), "x.duckdb"), Options{Setup: []string{"CREATE MACRO"}}); err == nil {
		t.Error("a bad setup statement was accepted")
	}
}

func TestTimeZoneIsUTC(t *testing.T) {
	t.Setenv("TZ", "America/New_York")
	s, _ := testOpen(t, Options{})
	got := all(t, testSession(t, s), "SELECT CAST(TIMESTAMPTZ '2025-06-01 12:00:00+00' AS VARCHAR), current_setting('TimeZone')")
	equal(t, "time zone", got[0], []any{"2025-06-01 12:00:00+00", "UTC"})
}

func TestMissingDirectoryAndBadNames(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.duckdb")
	must(t, os.WriteFile(bad, make([]byte, 8192), 0o600))
	for _, p := range []string{filepath.Join(dir, "none", "x.duckdb"), filepath.Join(dir, "a?b.duckdb"), dir, bad} {
		if s, err := Open(p, Options{}); err == nil {
			s.Close()
			t.Errorf("opened %s", p)
		}
	}
	odd := filepath.Join(dir, "odd %41 name#1.duckdb")
	s, err := Open(odd, Options{})
	must(t, err)
	must(t, s.Close())
	if _, err := os.Stat(odd); err != nil {
		t.Errorf("the file is elsewhere: %v", err)
	}
}
