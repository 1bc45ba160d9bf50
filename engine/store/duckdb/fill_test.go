package duckdb

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"scrim/engine/store"
)

// filled makes a table of a client's schema and one of the server's own, each with n rows, in one
// transaction.
func filled(t testing.TB, s *Store, n int) {
	t.Helper()
	ctx, c := context.Background(), testSession(t, s)
	seen := store.TableRef{Schema: "shop", Name: "seen"}
	write(t, c, seen, "CREATE SCHEMA shop", "CREATE TABLE shop.seen (a TINYINT, d DATE, b BLOB)")
	must(t, c.Begin(ctx))
	_, err := c.Write(ctx, nil, "CREATE TABLE "+s.OwnSchema()+".unseen (id BIGINT, b BLOB)")
	must(t, err)
	var one, two [][]any
	for i := range n {
		b := bytes.Repeat([]byte{byte(i), 0}, i%20)
		one = append(one, []any{int8(i % 100), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), b})
		two = append(two, []any{int64(i), b})
	}
	two = append(two, []any{nil, nil})
	must(t, c.(store.Filler).Fill(ctx, seen, one))
	must(t, c.(store.Filler).Fill(ctx, store.TableRef{Schema: s.OwnSchema(), Name: "unseen"}, two))
	must(t, c.Commit(ctx))
}

func TestFillAndScanBytes(t *testing.T) {
	const n = 5000
	s, _ := testOpen(t, Options{})
	filled(t, s, n)
	ctx := context.Background()
	rows, nulls := 0, 0
	err := s.ScanBytes(ctx, "SELECT id, b FROM "+s.OwnSchema()+".unseen WHERE id IS NULL OR id >= $1", []any{int64(0)}, func(c store.BytesChunk) error {
		for i := range c.Len {
			id, b := c.Columns[0].Ints[i], c.Columns[1].Bytes[i]
			if b == nil {
				nulls++
			} else if !bytes.Equal(b, bytes.Repeat([]byte{byte(id), 0}, int(id)%20)) {
				t.Errorf("row %d: %x", id, b)
			}
			rows++
		}
		return nil
	})
	must(t, err)
	if rows != n+1 || nulls != 1 {
		t.Errorf("rows, NULLs = %d, %d; want %d, 1", rows, nulls, n+1)
	}
	stop := errors.New("enough")
	if err := s.ScanBytes(ctx, "SELECT id FROM "+s.OwnSchema()+".unseen", nil, func(store.BytesChunk) error { return stop }); err != stop {
		t.Errorf("got %v, want the caller's own error", err)
	}
	wantKind(t, "a DOUBLE", s.ScanBytes(ctx, "SELECT CAST(1 AS DOUBLE)", nil, func(store.BytesChunk) error { return nil }), store.Internal)
	wantKind(t, "no SELECT", s.ScanBytes(ctx, "DELETE FROM shop.seen", nil, func(store.BytesChunk) error { return nil }), store.Refused)
}

// TestFillChangesVersions: of a client's table, and of no table of the server's own.
func TestFillChangesVersions(t *testing.T) {
	s, _ := testOpen(t, Options{})
	filled(t, s, 3)
	ctx, c := context.Background(), testSession(t, s)
	seen, own := store.TableRef{Schema: "shop", Name: "seen"}, store.TableRef{Schema: s.OwnSchema(), Name: "unseen"}
	before := version(t, s, seen)
	must(t, c.(store.Filler).Fill(ctx, own, [][]any{{int64(7), nil}}))
	equal(t, "version of another table", version(t, s, seen), before)
	equal(t, "version of the server's own", version(t, s, own), "0-0000000000000000")
	must(t, c.(store.Filler).Fill(ctx, seen, [][]any{{int8(7), nil, nil}}))
	if version(t, s, seen) == before {
		t.Error("the version did not change")
	}
	if err := c.(store.Filler).Fill(ctx, seen, [][]any{{int8(7), nil}}); err == nil {
		t.Error("a row without a column was filled in")
	}
	equal(t, "rows", all(t, c, "SELECT count(*) FROM shop.seen")[0][0], int64(4))
	if schemas, err := s.Schemas(ctx); err != nil || len(schemas) != 1 {
		t.Errorf("schemas %v, %v: the server's own must not be listed", schemas, err)
	}
}
