package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"scrim/planner/lower"
)

// TestArrayTypes checks what is known of an array's type.
func TestArrayTypes(t *testing.T) {
	for store, want := range map[string]lower.Type{
		"DOUBLE[3]":           {Kind: lower.Array, Numbers: true, Length: 3},
		"float[128]":          {Kind: lower.Array, Numbers: true, Length: 128},
		"DECIMAL(10, 2)[4]":   {Kind: lower.Array, Numbers: true, Length: 4},
		"UHUGEINT[]":          {Kind: lower.Array, Numbers: true},
		"BOOLEAN[2]":          {Kind: lower.Array, Numbers: true, Length: 2},
		"VARCHAR[3]":          {Kind: lower.Array},
		"DOUBLE[3][2]":        {Kind: lower.Array},
		"DATE[]":              {Kind: lower.Array},
		"STRUCT(a DOUBLE)[3]": {Kind: lower.Array},
	} {
		if got := lower.ReadColumn("c", store); got.Type != want {
			t.Errorf("%s: got %+v, want %+v", store, got.Type, want)
		}
	}
}

// vectorValues are values of columns that may hold vectors of length 3, with what comes out of
// each; "" is NULL.
var vectorValues = []struct {
	store  string
	values [][2]string
}{
	{"DOUBLE[3]", [][2]string{{"NULL", ""}, {"[1, 2, 3]", "[1.0, 2.0, 3.0]"}, {"[1, NULL, 3]", "[1.0, NULL, 3.0]"}, {"['nan'::DOUBLE, 'inf'::DOUBLE, 0]", "[nan, inf, 0.0]"}}},
	{"FLOAT[3]", [][2]string{{"NULL", ""}, {"[1, 2.5, 3]", "[1.0, 2.5, 3.0]"}}},
	{"HUGEINT[3]", [][2]string{{"[NULL, 170141183460469231731687303715884105727, -1]", "[NULL, 1.7014118346046923e+38, -1.0]"}}},
	{"DECIMAL(38,2)[3]", [][2]string{{"[1.25, 0, -999999999999999999999999999999999999.99]", "[1.25, 0.0, -1e+36]"}}},
	{"BOOLEAN[3]", [][2]string{{"[true, false, NULL]", "[1.0, 0.0, NULL]"}}},
	{"DOUBLE[]", [][2]string{{"NULL", ""}, {"[]", ""}, {"[1, 2]", ""}, {"[1, 2, 3]", "[1.0, 2.0, 3.0]"}, {"[1, 2, 3, 4]", ""}, {"[NULL, NULL, NULL]", "[NULL, NULL, NULL]"}}},
	{"INTEGER[]", [][2]string{{"[1, 2]", ""}, {"[1, 2, -3]", "[1.0, 2.0, -3.0]"}}},
	{"JSON", [][2]string{{"NULL", ""}, {"'null'", ""}, {"'5'", ""}, {"'[]'", ""}, {"'[1, 2]'", ""}, {`'{"a": 1, "b": 2, "c": 3}'`, ""},
		{"'[1, 2.5, -3e2]'", "[1.0, 2.5, -300.0]"}, {"'[1, null, 3]'", "[1.0, NULL, 3.0]"}, {"'[1, [2], {}]'", "[1.0, NULL, NULL]"},
		{"'[1, 2, 3e400]'", "[1.0, 2.0, inf]"}, {"'[99999999999999999999999, 1, 2]'", "[1e+23, 1.0, 2.0]"}}},
	{"VARCHAR", [][2]string{{"NULL", ""}, {"''", ""}, {"'[1, 2'", ""}, {"'1, 2, 3'", ""}, {"'garbage'", ""}, {"'[1,2,3]]'", ""}, {"' [1, 2 ,3 ] '", "[1.0, 2.0, 3.0]"},
		{`'[1, 2, "x"]'`, "[1.0, 2.0, NULL]"}, {"'[1, 2, ]'", ""}, {"repeat('[', 2000)", ""}}},
}

// TestVector runs every form on every value, alone and beside rows that the guards must keep apart,
// more than a chunk of them: nothing may raise, and what is no vector must come out NULL.
func TestVector(t *testing.T) {
	db := openStore(t)
	for _, c := range vectorValues {
		for _, q := range []string{"CREATE OR REPLACE TEMP TABLE c (id INTEGER, v " + c.store + ")"} {
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
		for i, v := range c.values {
			if _, err := db.Exec(fmt.Sprintf("INSERT INTO c SELECT %d + 100 * r, %s FROM range(700) AS t(r)", i, v[0])); err != nil {
				t.Fatalf("%s %s: %v", c.store, v[0], err)
			}
		}
		x, ok := lower.Vector(lower.ReadColumn("c.v", c.store), 3)
		if !ok || x.Type != (lower.Type{Kind: lower.Array, Numbers: true, Length: 3}) || !x.Nullable {
			t.Errorf("%s: %+v, %v", c.store, x, ok)
			continue
		}
		rs, err := db.Query("SELECT id % 100, coalesce(CAST(" + x.SQL + " AS VARCHAR), ''), typeof(" + x.SQL + "), count(*) FROM c WHERE hash(id) % 5 <> 0 GROUP BY ALL ORDER BY 1")
		if err != nil {
			t.Errorf("%s: %v\n%s", c.store, err, x.SQL)
			continue
		}
		at := 0
		for rs.Next() {
			var id, n int
			var got, typ string
			if err := rs.Scan(&id, &got, &typ, &n); err != nil {
				t.Fatal(err)
			}
			if id != at || got != c.values[id][1] || typ != "DOUBLE[3]" {
				t.Errorf("%s %s: got %s of type %s, want %s", c.store, c.values[at][0], got, typ, c.values[at][1])
			}
			at++
		}
		if err := rs.Err(); err != nil || at != len(c.values) {
			t.Errorf("%s: %d values of %d, %v", c.store, at, len(c.values), err)
		}
	}
}

// TestVectorDetects makes sure that the check above can fail: without a guard it raises.
func TestVectorDetects(t *testing.T) {
	db := openStore(t)
	for _, q := range []string{
		"SELECT CAST(v AS DOUBLE[3]) FROM (VALUES ([1.0, 2.0])) AS c(v)",
		"SELECT json_transform(v, '[\"DOUBLE\"]') FROM (VALUES ('[1, 2')) AS c(v)",
	} {
		rs, err := db.Query(q)
		if err == nil {
			for rs.Next() {
			}
			err = rs.Err()
			rs.Close()
		}
		if err == nil {
			t.Errorf("%s did not raise", q)
		}
	}
}

func TestNoVectors(t *testing.T) {
	for _, c := range []struct {
		store string
		n     int
	}{
		{"DOUBLE[3]", 2}, {"DOUBLE[3]", 0}, {"DOUBLE[]", -1}, {"DOUBLE[]", lower.MaxLength + 1}, {"VARCHAR[3]", 3}, {"VARCHAR[]", 3}, {"INTEGER", 3}, {"DATE", 1}, {"BLOB", 1},
	} {
		if x, ok := lower.Vector(lower.ReadColumn("c", c.store), c.n); ok {
			t.Errorf("%s as a vector of length %d: %s", c.store, c.n, x.SQL)
		}
	}
	long := lower.Expr{SQL: strings.Repeat("x", 500), Type: lower.Type{Kind: lower.String}}
	if x, ok := lower.Vector(long, 9); !ok || strings.Count(x.SQL, long.SQL) != 1 {
		t.Error("a long operand is repeated")
	}
}
