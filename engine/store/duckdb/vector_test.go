package duckdb

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"scrim/engine/store"
)

var vectors = store.TableRef{Schema: "shop", Name: "vectors"}

// testVectors makes shop.vectors(i, v): rows with NULL, with a NULL, a NaN or an infinity inside,
// and plain ones, more than one chunk of them.
func testVectors(t *testing.T, s *Store, rows, width int) {
	t.Helper()
	write(t, testSession(t, s), vectors, "CREATE SCHEMA IF NOT EXISTS shop",
		fmt.Sprintf("CREATE OR REPLACE TABLE shop.vectors (i BIGINT, v DOUBLE[%d])", width),
		fmt.Sprintf(`INSERT INTO shop.vectors SELECT i, CAST(CASE WHEN i %% 7 = 0 THEN NULL ELSE list_transform(range(%d),
			lambda j: CASE WHEN i %% 5 = 0 AND j = i %% %[1]d THEN NULL WHEN i %% 11 = 0 AND j = 0 THEN 'nan'::DOUBLE
			WHEN i %% 13 = 0 AND j = 0 THEN '-inf'::DOUBLE ELSE i + j / 8.0 END) END AS DOUBLE[%[1]d]) FROM range(%[2]d) r(i)`, width, rows))
}

// sameAsText scans an expression of arrays with its own text, and compares the two. It returns the
// number of rows, and of them those that are not NULL.
func sameAsText(t *testing.T, snap store.Snapshot, x, from string, width int) (rows, there int) {
	t.Helper()
	query := fmt.Sprintf("SELECT %s, CAST(%[1]s AS VARCHAR) %s", x, from)
	must(t, snap.Scan(context.Background(), query, nil, []store.ScanType{store.ScanVector, store.ScanText}, func(c store.Chunk) error {
		v, text := c.Columns[0], c.Columns[1]
		if v.Width != width || len(v.Floats) != c.Len*width || v.Ints != nil || v.Texts != nil {
			t.Fatalf("%s: %d numbers of width %d for %d rows", query, len(v.Floats), v.Width, c.Len)
		}
		for i := range c.Len {
			rows++
			null := text.Null != nil && text.Null[i] || strings.Contains(text.Texts[i], "NULL")
			if have := v.Null != nil && v.Null[i]; have != null {
				t.Fatalf("%s: row %d is NULL: %v, want %v for %s", query, rows, have, null, text.Texts[i])
			}
			if null {
				continue
			}
			there++
			for j, word := range strings.Split(strings.Trim(text.Texts[i], "[]"), ", ") {
				want, err := strconv.ParseFloat(word, 64)
				must(t, err)
				if have := v.Floats[i*width+j]; have != want && !(math.IsNaN(have) && math.IsNaN(want)) {
					t.Fatalf("%s: row %d: element %d is %v, want %s", query, rows, j, have, word)
				}
			}
		}
		return nil
	}))
	return rows, there
}

func TestScanArrays(t *testing.T) {
	s, _ := testOpen(t, Options{})
	for _, width := range []int{1, 2, 3, 63, 64, 65, 1024} {
		rows := 5000
		if width > 100 {
			rows = 300
		}
		testVectors(t, s, rows, width)
		n, there := sameAsText(t, testSnapshot(t, s), "v", "FROM shop.vectors", width)
		equal(t, "rows", n, rows)
		want := 0
		for i := range rows {
			if i%7 != 0 && i%5 != 0 {
				want++
			}
		}
		equal(t, "rows that are there", there, want)
	}
}

// What the store computes in other layouts than flat ones comes out flat all the same.
func TestScanArraysOfEveryLayout(t *testing.T) {
	s, _ := testOpen(t, Options{})
	testVectors(t, s, 5000, 3)
	const one = "[1.5, 2.5, -3.5]::DOUBLE[3]"
	for name, q := range map[string][2]string{
		"filtered":          {"v", "FROM shop.vectors WHERE i % 3 = 1"},
		"filtered, few":     {"v", "FROM shop.vectors WHERE i IN (1, 2, 4999)"},
		"sorted":            {"v", "FROM shop.vectors ORDER BY hash(i)"},
		"limited":           {"v", "FROM shop.vectors LIMIT 777 OFFSET 1301"},
		"constant":          {one, "FROM range(5000)"},
		"constant filtered": {one, "FROM range(5000) r(i) WHERE i % 3 = 0"},
		"constant NULL":     {"NULL::DOUBLE[3]", "FROM range(5000)"},
		"constant hole":     {"[1, NULL, 3]::DOUBLE[3]", "FROM range(5000)"},
		"one row":           {one, ""},
		"joined":            {"v", "FROM range(2500) r(k) LEFT JOIN shop.vectors ON i = 2 * k"},
		"joined unmatched":  {"v", "FROM range(9000) r(k) LEFT JOIN shop.vectors ON i = k"},
		"union":             {"v", "FROM (SELECT v FROM shop.vectors UNION ALL SELECT " + one + " FROM range(3000)) u"},
		"unnested":          {"x", "FROM (SELECT unnest([v, " + one + ", NULL]) AS x FROM shop.vectors) u"},
		"from parts":        {"array_value(i / 2.0::DOUBLE, 1.0::DOUBLE, -i::DOUBLE)", "FROM shop.vectors"},
		"from NULL parts":   {"array_value(i::DOUBLE, NULL::DOUBLE, CASE WHEN i % 2 = 0 THEN i::DOUBLE END)", "FROM shop.vectors WHERE i % 3 = 0"},
		"from singles":      {"v::FLOAT[3]::DOUBLE[3]", "FROM shop.vectors WHERE i % 2 = 1"},
		"from integers":     {"[i, 2, i + 1]::BIGINT[3]::DOUBLE[3]", "FROM shop.vectors"},
		"from lists":        {"TRY_CAST(CASE WHEN i % 2 = 0 THEN [i, i, 1] ELSE [i] END AS DOUBLE[3])", "FROM shop.vectors"},
		"from JSON":         {"TRY_CAST(CASE WHEN i % 2 = 0 THEN '[1, 2, 3.5]' ELSE '[1]' END AS DOUBLE[3])", "FROM shop.vectors"},
		"chosen":            {"CAST(CASE WHEN i % 2 = 0 THEN v::DOUBLE[] WHEN i % 3 = 0 THEN [i, 1, 2] END AS DOUBLE[3])", "FROM shop.vectors"},
		"chosen, filtered":  {"TRY_CAST(CASE WHEN i % 2 = 0 THEN v::DOUBLE[] ELSE [1.5, 2.5, i] END AS DOUBLE[3])", "FROM shop.vectors WHERE i % 3 = 0"},
		"coalesced":         {"CAST(coalesce(v::DOUBLE[], [1, 2, 3]) AS DOUBLE[3])", "FROM shop.vectors WHERE i < 4000"},
		"grouped":           {"any_value(v)", "FROM shop.vectors GROUP BY i"},
		"first":             {"first(v)", "FROM shop.vectors GROUP BY i % 17"},
		"in a struct":       {"struct_extract({'a': v}, 'a')", "FROM shop.vectors WHERE i % 4 = 1"},
		"numbered":          {"v", "FROM shop.vectors QUALIFY row_number() OVER (PARTITION BY i % 100 ORDER BY i) <= 3"},
	} {
		t.Run(name, func(t *testing.T) {
			if n, _ := sameAsText(t, testSnapshot(t, s), q[0], q[1], 3); n == 0 {
				t.Error("no rows: the query checks nothing")
			}
		})
	}
}

func TestScanArrayEdges(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	snap := testSnapshot(t, s)
	one := []store.ScanType{store.ScanVector}
	nothing := func(store.Chunk) error { return nil }
	n, _ := sameAsText(t, snap, "[1.0]::DOUBLE[1]", "FROM range(0)", 1)
	equal(t, "rows of an empty result", n, 0)
	for _, x := range []string{"1.0::DOUBLE", "[1.0]::DOUBLE[]", "[1.0]::FLOAT[1]", "[1]::BIGINT[1]", "[[1.0]]::DOUBLE[1][1]", "'[1]'"} {
		wantKind(t, x, snap.Scan(ctx, "SELECT "+x, nil, one, nothing), store.Internal)
	}
	wantKind(t, "array for double", snap.Scan(ctx, "SELECT [1.0]::DOUBLE[1]", nil, []store.ScanType{store.ScanFloat64}, nothing), store.Internal)
	// Two arrays of different widths beside other columns.
	must(t, snap.Scan(ctx, "SELECT 7::BIGINT, [1, 2]::DOUBLE[2], [3, 4, 5]::DOUBLE[3]", nil,
		[]store.ScanType{store.ScanInt64, store.ScanVector, store.ScanVector}, func(c store.Chunk) error {
			equal(t, "row", fmt.Sprint(c.Columns[0].Ints, c.Columns[1].Floats, c.Columns[2].Floats), "[7] [1 2] [3 4 5]")
			return nil
		}))
}

func TestValidity(t *testing.T) {
	v := validity{^uint64(0) &^ (1 << 5), ^uint64(0), 1}
	for _, c := range []struct {
		from, to int
		want     bool
	}{{0, 5, true}, {0, 6, false}, {5, 6, false}, {6, 64, true}, {6, 128, true}, {6, 129, true}, {6, 130, false}, {128, 129, true}, {129, 130, false}, {64, 128, true}, {70, 70, true}} {
		if got := v.all(c.from, c.to); got != c.want {
			t.Errorf("all(%d, %d): got %v", c.from, c.to, got)
		}
	}
	equal(t, "complete", []bool{v[1:].complete(64), v[1:].complete(65), v[1:].complete(66), v.complete(64), validity(nil).complete(9)}, []bool{true, true, false, false, true})
}
