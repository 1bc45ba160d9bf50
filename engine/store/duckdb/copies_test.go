package duckdb

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"scrim/engine/store"
	"scrim/engine/store/source"
)

// counted is a kind of server with one table of the numbers below rows and their texts, which tells
// how often it was read, and what fails then.
type counted struct {
	rows, read int
	version    string
	fail       error
}

func (c *counted) Open(context.Context, source.Endpoint) (source.Snapshot, error) { return c, nil }
func (*counted) Port() string                                                     { return "1" }
func (*counted) Promise() string                                                  { return "nothing" }
func (*counted) Close() error                                                     { return nil }

func (c *counted) Look(context.Context, string, string) (*source.Table, error) {
	return &source.Table{Identities: []string{"n"}, Columns: []source.Column{{Name: "n", Type: "BIGINT"}, {Name: "word", Type: "VARCHAR", Null: true}, {Name: "d", Type: "DECIMAL(20,2)"}}}, nil
}

func (c *counted) Version(context.Context, string, string) (string, error) { return c.version, nil }

func (c *counted) Rows(_ context.Context, _, _ string, columns []source.Column, each func(*source.Batch) error) error {
	c.read++
	if err := c.fail; err != nil {
		c.fail = nil
		return err
	}
	return source.Piped(columns, each, func(b *source.Batch, next func(*source.Batch) (*source.Batch, error)) (*source.Batch, error) {
		var err error
		for i := range c.rows {
			if b.Len == source.BatchRows {
				if b, err = next(b); err != nil {
					return nil, err
				}
			}
			for k, col := range columns {
				switch v := &b.Columns[k]; col.Name {
				case "n":
					v.Ints[b.Len] = int64(i)
				case "word":
					v.Texts[b.Len], v.Null[b.Len] = strings.Repeat("w", i%40), i%7 == 0
				case "d":
					v.Wide[b.Len] = source.Int128{Lo: uint64(i)}
				}
			}
			b.Len++
		}
		return b, nil
	})
}

// A snapshot that was out of memory has alone the copies that it had, with the versions that they
// were read under, beside the store's rows of that time: another server's table is not read again,
// whatever has become of it.
func TestAloneHasTheSameCopies(t *testing.T) {
	ctx := context.Background()
	far := &counted{rows: 10_000, version: "1"}
	s, _ := testOpen(t, Options{MemoryLimit: "64MB", Servers: Servers{Declared: "far=counted://u@127.0.0.1?tls=off", Kinds: map[string]source.Kind{"counted": far}}})
	c := testSession(t, s)
	testPeople(t, c)
	there := store.TableRef{Schema: "shop", Name: "far"}
	_, err := s.AttachFrom(ctx, there, "counted", "far", "db", "t")
	must(t, err)
	const sums = `SELECT count(*), CAST(sum("n") AS BIGINT), CAST(sum(length("word")) AS BIGINT), CAST(count("word") AS BIGINT), CAST(sum("d") * 100 AS BIGINT), (SELECT count(*) FROM "shop"."people") FROM "shop"."far"`
	greedy := `SELECT len(list('some text ' || i)) FROM range(3000000) r(i) WHERE i <> (SELECT max("n") + 4000000 FROM "shop"."far")`
	nothing := func(store.Chunk) error { return nil }
	for name, open := range map[string]func(context.Context) (store.Snapshot, error){"a snapshot": s.Snapshot, "one scan": s.Once} {
		for _, fails := range []string{"a scan", "the copy"} {
			what := fmt.Sprint(name, ", ", fails, " fails: ")
			far.rows, far.version, far.read = 10_000, "1", 0
			write(t, c, people, "DELETE FROM shop.people WHERE id > 100")
			probe := testSnapshot(t, s)
			must(t, store.Pin(ctx, probe, []store.TableRef{there}, []string{sums}))
			want := rowsOf(t, probe, 6, sums)
			far.read = 0
			snap, err := open(ctx)
			must(t, err)
			pin := func() error { return store.Pin(ctx, snap, []store.TableRef{there}, []string{sums, greedy}) }
			if fails == "the copy" {
				far.fail = &store.Error{Kind: store.OutOfMemory}
				if err := pin(); err == nil {
					t.Errorf("%sit ended well", what)
				}
			} else {
				must(t, pin())
				wantKind(t, what, snap.Scan(ctx, greedy, nil, oneInt, nothing), store.OutOfMemory)
				far.rows, far.version = 5, "2"
				write(t, c, people, "INSERT INTO shop.people VALUES (101, 'x', 0)")
			}
			must(t, snap.Alone(ctx))
			must(t, pin())
			for range 2 {
				equal(t, what+"rows", rowsOf(t, snap, 6, sums), want)
			}
			v, err := snap.Versions(ctx, there)
			must(t, err)
			equal(t, what+"version", strings.HasSuffix(v[0], "@1"), true)
			reads := map[string]int{"a scan": 1, "the copy": 2}[fails]
			equal(t, what+"readings", far.read, reads)
			must(t, snap.Close())
		}
	}
}
