package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/engine/store"
)

func TestValuesOfEveryType(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	at := time.Date(2025, 3, 4, 5, 6, 7, 89000, time.UTC)
	tests := []struct {
		sql  string
		want any
	}{
		{"NULL", nil}, {"true", true},
		{"CAST(-1 AS TINYINT)", int64(-1)}, {"CAST(-1 AS SMALLINT)", int64(-1)}, {"CAST(-1 AS INTEGER)", int64(-1)},
		{"CAST(-9223372036854775808 AS BIGINT)", int64(-1 << 63)},
		{"CAST(255 AS UTINYINT)", uint64(255)}, {"CAST(7 AS USMALLINT)", uint64(7)}, {"CAST(7 AS UINTEGER)", uint64(7)},
		{"CAST(18446744073709551615 AS UBIGINT)", uint64(1<<64 - 1)},
		{"CAST(18446744073709551616 AS HUGEINT)", new(big.Int).Lsh(big.NewInt(1), 64)},
		{"CAST(1.5 AS FLOAT)", 1.5}, {"CAST(0.1 AS DOUBLE)", 0.1},
		{"CAST(-12.3 AS DECIMAL(10,2))", decimal("-12.30")}, {"CAST(0.05 AS DECIMAL(3,2))", decimal("0.05")},
		{"CAST(-0.005 AS DECIMAL(18,3))", decimal("-0.005")}, {"CAST(7 AS DECIMAL(38,0))", decimal("7")},
		{"'it''s'", "it's"}, {"CAST('\\x00\\xFF' AS BLOB)", []byte{0, 255}},
		{"DATE '2025-03-04'", time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC)}, {"TIMESTAMP '2025-03-04 05:06:07.000089'", at},
		{"TIMESTAMPTZ '2025-03-04 06:06:07.000089+01'", at},
		{"TIME '05:06:07.5'", 5*time.Hour + 6*time.Minute + 7*time.Second + 500*time.Millisecond},
		{"INTERVAL '-3' HOUR", -3 * time.Hour}, {"INTERVAL '1 month 2 days'", 32 * 24 * time.Hour},
		{"CAST([1, NULL, 2.5] AS DOUBLE[])", []any{1.0, nil, 2.5}}, {"CAST([1, 2] AS DOUBLE[2])", []any{1.0, 2.0}},
		{`CAST('{"b": 12345678901234567890,  "a": 1}' AS JSON)`, `{"b": 12345678901234567890,  "a": 1}`},
		{"CAST('12345678-1234-1234-1234-123456789abc' AS UUID)", "12345678-1234-1234-1234-123456789abc"},
	}
	for _, tt := range tests {
		equal(t, tt.sql, all(t, c, "SELECT "+tt.sql+" AS v")[0][0], tt.want)
	}
	r, err := c.Query(context.Background(), "SELECT i AS n, CAST('[' || i || ']' AS JSON) AS n FROM range(3) t(i) ORDER BY i DESC")
	must(t, err)
	equal(t, "column", r.Columns()[1], store.Column{Name: "n", Type: "JSON", Nullable: true})
	equal(t, "ordered rows", read(t, r), [][]any{{int64(2), "[2]"}, {int64(1), "[1]"}, {int64(0), "[0]"}})
}

func TestArguments(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	at := time.Date(2025, 3, 4, 5, 6, 7, 89000, time.FixedZone("", 3600))
	sql := "SELECT $2, $1 + $1, $3 IS NULL, $4, $5, CAST($6 AS DECIMAL(5,2)) + 1, $7, CAST($7 AS DATE)"
	args := []any{int64(4), "b'\x00c", nil, true, uint64(1<<64 - 1), "1.25", at, 0.5}
	want := []any{"b'\x00c", int64(8), true, true, uint64(1<<64 - 1), decimal("2.25"), at.UTC(), time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC)}
	got := all(t, c, sql, args...)
	equal(t, "session", got[0], want)

	snap := testSnapshot(t, s)
	sql = "SELECT CAST($2 AS VARCHAR), CAST($1 + $1 AS BIGINT), CAST($3 IS NULL AS BIGINT), CAST($4 AS VARCHAR), CAST($5 AS VARCHAR)," +
		" CAST(CAST($6 AS DECIMAL(5,2)) + 1 AS VARCHAR), CAST($7 AS VARCHAR), CAST($8 AS DOUBLE)"
	types := []store.ScanType{store.ScanText, store.ScanInt64, store.ScanInt64, store.ScanText, store.ScanText, store.ScanText, store.ScanText, store.ScanFloat64}
	must(t, snap.Scan(context.Background(), sql, args, types, func(c store.Chunk) error {
		v := c.Columns
		equal(t, "snapshot", []any{v[0].Texts[0], v[1].Ints[0], v[2].Ints[0], v[3].Texts[0], v[4].Texts[0], v[5].Texts[0], v[6].Texts[0], v[7].Floats[0]},
			[]any{"b'\x00c", int64(8), int64(1), "true", "18446744073709551615", "2.25", "2025-03-04 04:06:07.000089", 0.5})
		return nil
	}))
	_, err := c.Query(context.Background(), "SELECT $2", int64(1))
	wantKind(t, "too few arguments", err, store.Internal)
	_, err = c.Query(context.Background(), "SELECT 1\x00 AS a")
	wantKind(t, "zero byte in a statement", err, store.BadValue)
	wantKind(t, "zero byte in a scan", snap.Scan(context.Background(), "SELECT 1\x00", nil, nil, nil), store.BadValue)
	_, err = c.Query(context.Background(), "SELECT $1", struct{}{})
	wantKind(t, "unknown argument type", err, store.Internal)
}

func TestTransactions(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c, other := testSession(t, s), testSession(t, s)
	testPeople(t, c)
	count := func(c store.Session) int64 { return all(t, c, "SELECT count(*) FROM shop.people")[0][0].(int64) }
	v0 := version(t, s, people)

	must(t, c.Begin(ctx))
	n, err := c.Write(ctx, []store.TableRef{people}, "UPDATE shop.people SET x = $1 WHERE id <= $2", 9.0, int64(2))
	must(t, err)
	equal(t, "rows changed", n, int64(2))
	must(t, c.Append(ctx, people, []string{"id", "name"}, [][]any{{int64(10), "j"}, {int64(11), nil}}))
	must(t, c.Meta().Put(ctx, "b", "k", []byte("v")))
	equal(t, "own writes", count(c), int64(5))
	equal(t, "others see", count(other), int64(3))
	equal(t, "in transaction", c.InTransaction(), true)
	equal(t, "version before the end", version(t, s, people), v0)
	must(t, c.Rollback(ctx))
	equal(t, "in transaction", c.InTransaction(), false)
	equal(t, "after rollback", count(c), int64(3))
	equal(t, "updates after rollback", all(t, c, "SELECT count(*) FROM shop.people WHERE x = 9")[0][0], int64(0))
	equal(t, "version after rollback", version(t, s, people), v0)
	_, ok, err := c.Meta().Get(ctx, "b", "k")
	must(t, err)
	equal(t, "entry after rollback", ok, false)

	must(t, c.Begin(ctx))
	must(t, c.Append(ctx, people, []string{"id"}, [][]any{{int64(10)}}))
	write(t, c, people, "DELETE FROM shop.people WHERE id = 1")
	must(t, c.Commit(ctx))
	equal(t, "after commit", count(other), int64(3))
	v1 := version(t, s, people)
	if v1 == v0 {
		t.Error("a committed write left the version")
	}
	must(t, c.Commit(ctx)) // without a transaction: nothing to do
}

func TestErrorsAbortTheTransaction(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	v0 := version(t, s, people)
	must(t, c.Begin(ctx))
	write(t, c, people, "INSERT INTO shop.people VALUES (4, '', 0)")
	_, err := c.Write(ctx, []store.TableRef{people}, "INSERT INTO shop.people VALUES (1, '', 0)")
	wantKind(t, "duplicate", err, store.DuplicateKey)
	_, err = c.Write(ctx, []store.TableRef{people}, "INSERT INTO shop.people VALUES (5, '', 0)")
	wantKind(t, "after an error", err, store.Aborted)
	_, err = c.Query(ctx, "SELECT 1")
	wantKind(t, "after an error", err, store.Aborted)
	wantKind(t, "commit", c.Commit(ctx), store.Aborted)
	equal(t, "in transaction", c.InTransaction(), false)
	equal(t, "rows", len(all(t, c, "SELECT 1 FROM shop.people")), 3)
	equal(t, "version", version(t, s, people), v0)
	write(t, c, people, "INSERT INTO shop.people VALUES (5, '', 0)")

	// A failed append must not leave its first rows.
	must(t, c.Begin(ctx))
	err = c.Append(ctx, people, []string{"id"}, [][]any{{int64(20)}, {int64(21)}, {int64(1)}})
	wantKind(t, "append", err, store.DuplicateKey)
	wantKind(t, "commit", c.Commit(ctx), store.Aborted)
	many := make([][]any, 1000)
	for i := range many {
		many[i] = []any{int64(1000 - i)}
	}
	must(t, c.Begin(ctx))
	err = c.Append(ctx, people, []string{"id"}, many)
	wantKind(t, "append of many", err, store.DuplicateKey)
	wantKind(t, "commit", c.Commit(ctx), store.Aborted)
	wantKind(t, "append of many by itself", c.Append(ctx, people, []string{"id"}, many), store.DuplicateKey)
	equal(t, "rows", len(all(t, c, "SELECT 1 FROM shop.people")), 4)
}

func TestErrorKindsAndTheirText(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	write(t, c, people,
		"CREATE TABLE shop.u (code VARCHAR UNIQUE, a INTEGER NOT NULL, c INTEGER CHECK (c > 0), person INTEGER REFERENCES shop.people(id), tiny TINYINT)",
		"INSERT INTO shop.u VALUES ('topsecret', 1, 1, 1, 1)")
	tests := []struct {
		sql  string
		want store.Kind
	}{
		{"INSERT INTO shop.people VALUES (31337, '', 0), (31337, '', 0)", store.DuplicateKey},
		{"INSERT INTO shop.u VALUES ('topsecret', 1, 1, 1, 1)", store.DuplicateKey},
		{"INSERT INTO shop.u VALUES ('b', NULL, 1, 1, 1)", store.NotNull},
		{"INSERT INTO shop.u VALUES ('b', 1, -31337, 1, 1)", store.Check},
		{"INSERT INTO shop.u VALUES ('b', 1, 1, 31337, 1)", store.ForeignKey},
		{"DELETE FROM shop.people WHERE id = 1", store.ForeignKey},
		{"INSERT INTO shop.u VALUES ('b', 1, 1, 1, 31337)", store.BadValue},
		{"INSERT INTO shop.u SELECT 'b', CAST(name AS INTEGER), 1, 1, 1 FROM shop.people", store.BadValue},
		{"INSERT INTO shop.none VALUES (1)", store.NotFound},
		{"CREATE TABLE shop.u (a INTEGER)", store.Exists},
		{"CREATE SCHEMA shop", store.Exists},
		{"DROP TABLE shop.people", store.Dependency},
		{"INSERT INTO", store.Syntax},
		{"UPDATE shop.u SET nothere = 1", store.Syntax},
		{"SELECT 1", store.Refused},
		{"INSERT INTO shop.u VALUES ('x', 1, 1, 1, 1); DELETE FROM shop.u", store.Internal},
	}
	for _, tt := range tests {
		_, err := c.Write(ctx, []store.TableRef{people}, tt.sql)
		e := wantKind(t, tt.sql, err, tt.want)
		for _, leak := range []string{"31337", "topsecret", "ann"} {
			if strings.Contains(e.Error(), leak) {
				t.Errorf("%s: public text %q holds a value", tt.sql, e)
			}
		}
	}
	_, err := c.Write(ctx, nil, "INSERT INTO shop.people VALUES (1, '', 0)")
	equal(t, "primary", wantKind(t, "primary key", err, store.DuplicateKey).Primary, true)
	_, err = c.Write(ctx, nil, "INSERT INTO shop.u VALUES ('topsecret', 1, 1, 1, 1)")
	equal(t, "primary", wantKind(t, "unique key", err, store.DuplicateKey).Primary, false)
	_, err = c.Write(ctx, nil, "INSERT INTO shop.u (code) VALUES ('b')")
	e := wantKind(t, "not null", err, store.NotNull)
	equal(t, "column", []string{e.Table, e.Column}, []string{"u", "a"})
	_, err = c.Write(ctx, nil, "INSERT INTO shop.u VALUES ('b', 1, -1, 1, 1)")
	equal(t, "table", wantKind(t, "check", err, store.Check).Table, "u")
	equal(t, "left as they were", len(all(t, c, "SELECT 1 FROM shop.u")), 1)
}

func TestConflictsBetweenWriters(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	a, b := testSession(t, s), testSession(t, s)
	testPeople(t, a)
	v0 := version(t, s, people)

	// Different rows of one table: no conflict, two changes of the version.
	must(t, a.Begin(ctx))
	must(t, b.Begin(ctx))
	write(t, a, people, "UPDATE shop.people SET x = 1 WHERE id = 1")
	write(t, b, people, "UPDATE shop.people SET x = 2 WHERE id = 2")
	must(t, b.Commit(ctx))
	v1 := version(t, s, people)
	must(t, a.Commit(ctx))
	v2 := version(t, s, people)
	if v0 == v1 || v1 == v2 || v0 == v2 {
		t.Errorf("versions %s, %s, %s must differ", v0, v1, v2)
	}

	// The same row: the second is told.
	must(t, a.Begin(ctx))
	must(t, b.Begin(ctx))
	write(t, a, people, "UPDATE shop.people SET x = 3 WHERE id = 1")
	_, err := b.Write(ctx, []store.TableRef{people}, "UPDATE shop.people SET x = 4 WHERE id = 1")
	wantKind(t, "same row", err, store.Conflict)
	must(t, b.Rollback(ctx))
	must(t, a.Commit(ctx))

	// The same new key: the second is told at its insert or at its commit.
	must(t, a.Begin(ctx))
	must(t, b.Begin(ctx))
	write(t, a, people, "INSERT INTO shop.people VALUES (7, 'a', 0)")
	_, err = b.Write(ctx, []store.TableRef{people}, "INSERT INTO shop.people VALUES (7, 'b', 0)")
	must(t, a.Commit(ctx))
	if err == nil {
		err = b.Commit(ctx)
	}
	if k := store.KindOf(err); k != store.DuplicateKey && k != store.Conflict {
		t.Errorf("same new key: got %v", err)
	}
	must(t, b.Rollback(ctx))
	equal(t, "winner", all(t, b, "SELECT name FROM shop.people WHERE id = 7"), [][]any{{"a"}})
}

const slow = "SELECT count(*) FROM range(100000000000) a WHERE a.range % 7 = $1"

func TestCancelInterrupts(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	snap := testSnapshot(t, s)
	tests := map[string]func(ctx context.Context) error{
		"query": func(ctx context.Context) error { _, err := c.Query(ctx, slow, int64(3)); return err },
		"write": func(ctx context.Context) error {
			_, err := c.Write(ctx, []store.TableRef{people}, "UPDATE shop.people SET x = (SELECT count(*) FROM range(100000000000) a WHERE a.range % 7 = 3)")
			return err
		},
		"scan": func(ctx context.Context) error {
			return snap.Scan(ctx, slow, []any{int64(3)}, []store.ScanType{store.ScanInt64}, func(store.Chunk) error { return nil })
		},
	}
	for name, f := range tests {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		start := time.Now()
		err := f(ctx)
		cancel()
		wantKind(t, name, err, store.Interrupted)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v does not wrap the context's error", name, err)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: took %v to stop", name, d)
		}
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Query(done, "SELECT 1")
	wantKind(t, "cancelled before", err, store.Interrupted)
	equal(t, "still usable", all(t, c, "SELECT 1::BIGINT"), [][]any{{int64(1)}})
	wantKind(t, "begin", c.Begin(done), store.Interrupted)
	must(t, c.Begin(context.Background()))
	write(t, c, people, "DELETE FROM shop.people")
	wantKind(t, "commit", c.Commit(done), store.Interrupted)
	equal(t, "rolled back", len(all(t, c, "SELECT 1 FROM shop.people")), 3)
}

func TestOutOfMemory(t *testing.T) {
	s, _ := testOpen(t, Options{MemoryLimit: "40MB"})
	_, err := testSession(t, s).Query(context.Background(), "SELECT list(range) FROM range(50000000)")
	wantKind(t, "memory", err, store.OutOfMemory)
}

func TestAppendConvertsStrictly(t *testing.T) {
	t.Run("few rows", func(t *testing.T) { testAppend(t, 1) })
	t.Run("many rows", func(t *testing.T) { testAppend(t, 100) })
}

// testAppend appends each row the given number of times.
func testAppend(t *testing.T, times int) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	ref := store.TableRef{Schema: "shop", Name: "types"}
	write(t, c, ref, "CREATE SCHEMA shop", `CREATE TABLE shop.types (i TINYINT, u UBIGINT, d DECIMAL(10,2), f DOUBLE, t VARCHAR, b BLOB,
		da DATE, ts TIMESTAMP, iv INTERVAL, v DOUBLE[3], bo BOOLEAN, j JSON, "odd ""name" INTEGER DEFAULT 7)`)
	at := time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC)
	columns := []string{"i", "u", "d", "f", "t", "b", "da", "ts", "iv", "v", "bo", "j"}
	rows := [][]any{
		{int64(-128), uint64(1<<64 - 1), "-12.30", 0.1, "it's \x00 \\x41", []byte{0, 255, 'a'}, at, at, -90 * time.Minute, []float64{1, 2.5, -3e300}, true, `{"a":  1}`},
		{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{int64(5), int64(6), int64(7), int64(8), []byte("bytes"), "text", "2020-01-02", "2020-01-02 03:04:05", "1 hour", []any{int64(1), 2.0, nil}, false, nil},
	}
	for _, r := range rows {
		must(t, c.Append(ctx, ref, columns, slices.Repeat([][]any{r}, times)))
	}
	got := all(t, c, fmt.Sprintf("SELECT * FROM shop.types QUALIFY row_number() OVER (ORDER BY rowid) %% %d = 0 ORDER BY rowid", times))
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	equal(t, "first", got[0], []any{int64(-128), uint64(1<<64 - 1), decimal("-12.30"), 0.1, "it's \x00 \\x41", []byte{0, 255, 'a'}, day, at,
		-90 * time.Minute, []any{1.0, 2.5, -3e300}, true, `{"a":  1}`, int64(7)})
	equal(t, "nulls", got[1], []any{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, int64(7)})
	equal(t, "mixed", got[2], []any{int64(5), uint64(6), decimal("7.00"), 8.0, "bytes", []byte("text"), time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC),
		time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), time.Hour, []any{1.0, 2.0, nil}, false, nil, int64(7)})

	for _, bad := range []struct {
		column string
		value  any
	}{{"i", int64(300)}, {"i", 1e9}, {"u", int64(-1)}, {"d", "123456789012.00"}, {"da", "not a date"}, {"v", []float64{1}}} {
		err := c.Append(ctx, ref, []string{bad.column}, slices.Repeat([][]any{{bad.value}}, times))
		wantKind(t, fmt.Sprint(bad), err, store.BadValue)
	}
	wantKind(t, "column count", c.Append(ctx, ref, []string{"i", "u"}, [][]any{{int64(1)}}), store.Internal)
	wantKind(t, "no such column", c.Append(ctx, ref, []string{"zz"}, [][]any{{int64(1)}}), store.Syntax)
	wantKind(t, "no such table", c.Append(ctx, store.TableRef{Schema: "shop", Name: "zz"}, []string{"i"}, [][]any{{int64(1)}}), store.NotFound)
	must(t, c.Append(ctx, ref, []string{`odd "name`}, [][]any{{int64(1)}}))
	equal(t, "rows", len(all(t, c, "SELECT 1 FROM shop.types")), 3*times+1)
}

func TestAppendManyRows(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	rows := make([][]any, 2*appendRows+5)
	for i := range rows {
		rows[i] = []any{int64(i + 100), fmt.Sprint("name ", i), float64(i)}
	}
	must(t, c.Append(context.Background(), people, []string{"id", "name", "x"}, rows))
	got := all(t, c, "SELECT count(*), CAST(sum(x) AS DOUBLE) FROM shop.people WHERE id >= 100")
	n := float64(len(rows))
	equal(t, "sum", got[0], []any{int64(len(rows)), n * (n - 1) / 2})
}

func TestRowsOutliveOtherStatements(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	r, err := c.Query(context.Background(), "SELECT id FROM shop.people ORDER BY id")
	must(t, err)
	write(t, c, people, "DELETE FROM shop.people")
	equal(t, "rows", read(t, r), [][]any{{int64(1)}, {int64(2)}, {int64(3)}})
	must(t, r.Close())
}

func TestReservedSchemas(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	for _, n := range []string{"__scrim", "MAIN", "rows", "temp", "system", "information_schema", "pg_catalog"} {
		if !s.ReservedSchema(n) {
			t.Errorf("%s is not reserved", n)
		}
		ref := store.TableRef{Schema: n, Name: "t"}
		_, err := c.Write(ctx, []store.TableRef{ref}, "CREATE TABLE nothing (a INTEGER)")
		wantKind(t, n, err, store.Refused)
		wantKind(t, n, c.Append(ctx, ref, []string{"a"}, [][]any{{int64(1)}}), store.Refused)
	}
	if s.ReservedSchema("shop") {
		t.Error("shop is reserved")
	}
}

func TestClosedHandles(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c, snap := testSession(t, s), testSnapshot(t, s)
	must(t, c.Begin(ctx))
	must(t, s.Close()) // closes both
	must(t, s.Close())
	must(t, c.Close())
	must(t, snap.Close())
	for name, err := range map[string]error{
		"begin":    c.Begin(ctx),
		"rollback": c.Rollback(ctx),
		"scan":     snap.Scan(ctx, "SELECT 1", nil, nil, nil),
		"list":     func() error { _, err := s.Tables(ctx, "shop"); return err }(),
		"session":  func() error { _, err := s.Session(ctx); return err }(),
		"snapshot": func() error { _, err := s.Snapshot(ctx); return err }(),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
}
