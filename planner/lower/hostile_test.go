package lower_test

import (
	stdsql "database/sql"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"scrim/internal/sqltext"
	"scrim/test/testenv/hostile"
)

// further are columns of the store's other types: name and type.
var further = [][2]string{
	{"i1", "TINYINT"}, {"i2", "SMALLINT"}, {"u1", "UTINYINT"}, {"u2", "USMALLINT"}, {"u4", "UINTEGER"}, {"hi", "HUGEINT"}, {"uh", "UHUGEINT"}, {"f", "FLOAT"},
	{"m4", "DECIMAL(4,1)"}, {"m9", "DECIMAL(9,0)"}, {"mw", "DECIMAL(18,4)"}, {"mh", "DECIMAL(38,0)"}, {"mf", "DECIMAL(38,38)"},
	{"uu", "UUID"}, {"en", "ENUM('', 'a', 'é', '12abc')"}, {"bl", "BLOB"},
	{"tss", "TIMESTAMP_S"}, {"tms", "TIMESTAMP_MS"}, {"tns", "TIMESTAMP_NS"}, {"tz", "TIMESTAMP WITH TIME ZONE"}, {"iv", "INTERVAL"},
}

// allColumns are the names and types of columns and further.
func allColumns(yield func(name, storeType string) bool) {
	for _, c := range columns {
		if !yield(c[0], c[1]) {
			return
		}
	}
	for _, c := range further {
		if !yield(c[0], c[1]) {
			return
		}
	}
}

// openHostile returns the store with table t of columns of every type: the rows of openStore, and
// such of hostile values, each value of each column in some of them.
func openHostile(t testing.TB) *stdsql.DB {
	t.Helper()
	db := openStore(t)
	exec := func(q string) {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%.200s: %v", q, err)
		}
	}
	for _, c := range further {
		exec("ALTER TABLE t ADD COLUMN " + sqltext.StoreName(c[0]) + " " + c[1])
	}
	var names, types []string
	for name, typ := range allColumns {
		if name != "id" {
			names, types = append(names, name), append(types, typ)
		}
	}
	for i := range names {
		names[i] = sqltext.StoreName(names[i])
	}
	const rows = 240 // thrice the longest list of values
	r := rand.New(rand.NewPCG(*fuzzSeed, 23))
	for n := range rows {
		row := make([]string, len(types))
		for i, typ := range types {
			switch {
			case n < rows/3:
				row[i] = hostile.Value(typ, n)
			case r.IntN(12) == 0:
				row[i] = "NULL"
			default:
				row[i] = hostile.Value(typ, r.IntN(rows))
			}
		}
		exec("INSERT INTO t (id, " + sqltext.List(names) + ") SELECT " + strconv.Itoa(100+n) + ", " + sqltext.List(row))
	}
	return db
}

// forms are how the rows of a table come to an expression: as values, as a table's segments of one
// value, of dictionaries and of bits, and as the dictionaries of a Parquet file.
var forms = map[string]func(t testing.TB, db *stdsql.DB){
	"memory":  func(testing.TB, *stdsql.DB) {},
	"file":    inFile,
	"parquet": inParquet,
}

// often are the rows of t with short texts, each several times, and one of plain values so often
// that whole vectors have nothing else: the store then evaluates some functions on all values of
// the dictionary that these are in, those of other rows too, whatever CASE is around them.
const often = "SELECT t.* FROM memory.t, range(9) WHERE strlen(coalesce(s, '')) < 1000 AND strlen(coalesce(r, '')) < 1000 UNION ALL SELECT t.* FROM memory.t, range(4200) WHERE id = 3 ORDER BY ALL"

// inFile makes t a table of a file.
func inFile(t testing.TB, db *stdsql.DB) {
	t.Helper()
	file := sqltext.StoreText(filepath.Join(t.TempDir(), "t.duckdb"))
	for _, q := range []string{"ATTACH " + file + " AS f", "CREATE TABLE f.t AS " + often, "DETACH f", "ATTACH " + file + " AS f", "USE f"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// inParquet makes t a view of a Parquet file. What it has no type for is cast.
func inParquet(t testing.TB, db *stdsql.DB) {
	t.Helper()
	var columns []string
	for name, typ := range allColumns {
		column := sqltext.StoreName(name)
		switch {
		case typ == "TIMESTAMP_S" || typ == "TIMESTAMP_MS":
			column = "TRY_CAST(ts AS " + typ + ") AS " + column
		case strings.HasSuffix(typ, "HUGEINT") || strings.HasPrefix(typ, "ENUM"):
			column = "TRY_CAST(" + column + " AS " + typ + ") AS " + column
		}
		columns = append(columns, column)
	}
	file := sqltext.StoreText(filepath.Join(t.TempDir(), "t.parquet"))
	for _, q := range []string{"COPY (" + strings.ReplaceAll(often, "t.*", "t.* EXCLUDE (iv, tss, tms)") + ") TO " + file, "CREATE SCHEMA p", "CREATE VIEW p.t AS SELECT " + sqltext.List(columns) +
		" FROM (SELECT *, to_seconds(id) AS iv FROM read_parquet(" + file + "))", "USE memory.p"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}
