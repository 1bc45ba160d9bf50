package clickhouse

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/engine/store/source"
	"scrim/test/testenv"
	rig "scrim/test/testenv/clickhouse"
)

// account is one that may read.
func account(c *rig.Cluster, i int) source.Endpoint {
	return source.Endpoint{Address: c.Addr(i), User: "scrim", Password: "secret"}
}

// opened connects to the first server.
func opened(t testing.TB, c *rig.Cluster) *snapshot {
	t.Helper()
	n, err := Kind{}.Open(t.Context(), account(c, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n.(*snapshot)
}

// count reads all columns of a table.
func count(t *testing.T, n *snapshot, name string) (rows int, err error) {
	t.Helper()
	tab, err := n.Look(t.Context(), "shop", name)
	if err != nil {
		t.Fatal(err)
	}
	err = n.Rows(t.Context(), "shop", name, tab.Columns, func(b *source.Batch) error {
		rows += b.Len
		return nil
	})
	return rows, err
}

// only reads a table of one row, as text.
func only(t *testing.T, n *snapshot, name string, columns []source.Column) (row string) {
	t.Helper()
	err := n.Rows(t.Context(), "shop", name, columns, func(b *source.Batch) error {
		if b.Len != 1 || row != "" {
			t.Errorf("%s: more rows than one", name)
		}
		for _, v := range b.Columns {
			switch {
			case v.Null[0]:
				row += " NULL"
			case v.Ints != nil:
				row += fmt.Sprintf(" %d", v.Ints[0])
			case v.Wide != nil:
				n := new(big.Int).Lsh(big.NewInt(v.Wide[0].Hi), 64)
				row += " " + n.Add(n, new(big.Int).SetUint64(v.Wide[0].Lo)).String()
			case v.Floats != nil:
				row += fmt.Sprintf(" %v", v.Floats[0])
			default:
				row += fmt.Sprintf(" %q", v.Texts[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return row
}

// TestNulls reads columns of all types that may be NULL, whose every second value is.
func TestNulls(t *testing.T) {
	c := rig.Start(t, 1)
	c.Exec(0, "CREATE DATABASE shop")
	n := opened(t, c)
	var define, nulls, values strings.Builder
	for i, e := range []struct{ typ, value string }{
		{"Int8", "1"}, {"Int16", "1"}, {"Int32", "1"}, {"Int64", "1"}, {"UInt8", "1"}, {"UInt16", "1"}, {"UInt32", "1"}, {"UInt64", "1"},
		{"Float32", "1"}, {"Float64", "1"}, {"Decimal(4,1)", "1"}, {"Decimal(9,2)", "1"}, {"Decimal(18,2)", "1"}, {"Decimal(38,2)", "1"},
		{"String", "'1'"}, {"FixedString(1)", "'1'"}, {"Date", "'2024-02-29'"}, {"DateTime", "'2024-02-29 12:00:00'"},
		{"Enum8('1' = 1)", "'1'"}, {"Enum16('1' = 1)", "'1'"}, {"LowCardinality", "'1'"},
	} {
		typ := "Nullable(" + e.typ + ")"
		if e.typ == "LowCardinality" {
			typ = "LowCardinality(Nullable(String))"
		}
		fmt.Fprintf(&define, ", v%d %s", i, typ)
		nulls.WriteString(", NULL")
		values.WriteString(", " + e.value)
	}
	const rows = 5000 // more than one batch
	insert := make([]string, rows)
	for id := range insert {
		row := nulls.String()
		if id%2 == 1 {
			row = values.String()
		}
		insert[id] = fmt.Sprintf("(%d%s)", id, row)
	}
	c.Exec(0, "CREATE TABLE shop.t (id Int32"+define.String()+") ENGINE = MergeTree ORDER BY id", "INSERT INTO shop.t VALUES "+strings.Join(insert, ","))
	tab, err := n.Look(t.Context(), "shop", "t")
	if err != nil {
		t.Fatal(err)
	}
	wrong, read := make([]int, len(tab.Columns)), 0
	err = n.Rows(t.Context(), "shop", "t", tab.Columns, func(b *source.Batch) error {
		read += b.Len
		for at := range b.Len {
			for i, v := range b.Columns[1:] {
				if v.Null[at] != (b.Columns[0].Ints[at]%2 == 0) {
					wrong[i+1]++
				}
			}
		}
		return nil
	})
	if err != nil || read != rows {
		t.Errorf("read %d rows: %v", read, err)
	}
	for i, of := range tab.Columns {
		if wrong[i] > 0 {
			t.Errorf("%s: %d values are NULL that are not, or the other way round", of.Type, wrong[i])
		}
	}
}

func TestTypes(t *testing.T) {
	c := rig.Start(t, 1)
	c.Exec(0, "CREATE DATABASE shop")
	n := opened(t, c)
	for i, e := range []struct{ typ, value, store, want string }{
		{"Int8", "-128", "TINYINT", "-128"},
		{"Int16", "-32768", "SMALLINT", "-32768"},
		{"Int32", "-2147483648", "INTEGER", "-2147483648"},
		{"Int64", "toInt64('-9223372036854775808')", "BIGINT", "-9223372036854775808"},
		{"UInt8", "255", "UTINYINT", "255"},
		{"UInt16", "65535", "USMALLINT", "65535"},
		{"UInt32", "4294967295", "UINTEGER", "4294967295"},
		{"UInt64", "18446744073709551615", "UBIGINT", "-1"}, // by its bits
		{"Float32", "0.1", "FLOAT", "0.10000000149011612"},
		{"Float64", "0.1", "DOUBLE", "0.1"},
		{"Float64", "nan", "DOUBLE", "NaN"},
		{"Float64", "-inf", "DOUBLE", "-Inf"},
		{"Decimal(9,2)", "toDecimal32('-1234567.89', 2)", "DECIMAL(9,2)", "-123456789"},
		{"Decimal(9,2)", "toDecimal32('9999999.99', 2) + toDecimal32('9999999.99', 2)", "DECIMAL(9,2)", "NULL"}, // ten digits
		{"Decimal(18,0)", "toDecimal64('999999999999999999', 0)", "DECIMAL(18,0)", "999999999999999999"},
		{"Decimal(38,10)", "toDecimal128('-1234567890123456789012345678.0123456789', 10)", "DECIMAL(38,10)", "-12345678901234567890123456780123456789"},
		{"Nullable(Decimal(9,2))", "NULL", "DECIMAL(9,2)", "NULL"},
		{"String", "'naïve'", "VARCHAR", `"naïve"`},
		{"String", "''", "VARCHAR", `""`},
		{"String", `'a\xFFb'`, "VARCHAR", "NULL"}, // not UTF-8
		{"FixedString(5)", "'ab'", "VARCHAR", `"ab"`},
		{"Nullable(FixedString(2))", "NULL", "VARCHAR", "NULL"},
		{"Date", "'2024-02-29'", "DATE", "19782"},
		{"Nullable(Date)", "NULL", "DATE", "NULL"},
		{"DateTime('UTC')", "'2024-02-29 12:00:00'", "TIMESTAMP", "1709208000000000"},
		{"DateTime('America/New_York')", "'2024-02-29 12:00:00'", "TIMESTAMP", "1709226000000000"},
		{"DateTime", "'2024-02-29 12:00:00'", "TIMESTAMP", "1709175600000000"}, // the server is in Tokyo
		{"Enum8('x, ''y' = -3, 'b' = 2)", "'x, ''y'", "VARCHAR", `"x, 'y"`},
		{"Enum16('a' = 1000)", "'a'", "VARCHAR", `"a"`},
		{"Nullable(Enum8('a' = 1))", "NULL", "VARCHAR", "NULL"},
		{"Nullable(Int64)", "NULL", "BIGINT", "NULL"},
		{"Nullable(UInt64)", "5", "UBIGINT", "5"},
		{"Nullable(Float32)", "NULL", "FLOAT", "NULL"},
		{"Nullable(String)", "NULL", "VARCHAR", "NULL"},
		{"UUID", "'61f0c404-5cb3-11e7-907b-a6006ad3dba0'", "VARCHAR", `"61f0c404-5cb3-11e7-907b-a6006ad3dba0"`},
		{"LowCardinality(String)", "'a'", "VARCHAR", `"a"`},
		{"LowCardinality(Nullable(String))", "NULL", "VARCHAR", "NULL"},
		{"Array(Int8)", "[1]", "", ""},
		{"Tuple(Int8, Int8)", "(1, 2)", "", ""},
		{"AggregateFunction(uniq, Int8)", "", "", ""},
	} {
		name := fmt.Sprintf("t%d", i)
		c.Exec(0, fmt.Sprintf("CREATE TABLE shop.%s (id Int8, v %s) ENGINE = MergeTree ORDER BY id", name, e.typ))
		if e.value != "" {
			c.Exec(0, fmt.Sprintf("INSERT INTO shop.%s VALUES (7, %s)", name, e.value))
		}
		tab, err := n.Look(t.Context(), "shop", name)
		if err != nil {
			t.Errorf("%s: %v", e.typ, err)
			continue
		}
		if e.store == "" {
			if len(tab.Left) != 1 || len(tab.Columns) != 1 || tab.Left[0].Type != e.typ {
				t.Errorf("%s is not left out: %v", e.typ, tab)
			}
			continue
		}
		if len(tab.Columns) != 2 || tab.Columns[1].Type != e.store {
			t.Errorf("%s: %v", e.typ, tab)
			continue
		}
		if got := only(t, n, name, tab.Columns); got != " 7 "+e.want {
			t.Errorf("%s: got%s, want %s", e.typ, got, e.want)
		}
		if e.want == "NULL" && !tab.Columns[1].Null {
			t.Errorf("%s is said to have a value in every row", e.typ)
		}
	}
}

// TestChanges writes rows to a table whose versions are asked for.
func TestChanges(t *testing.T) {
	c := rig.Start(t, 2)
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (id UInt64, n Int64) ENGINE = MergeTree ORDER BY id")
	c.Exec(0, "CREATE TABLE shop.all AS shop.local ENGINE = Distributed("+rig.Name+", shop, local, id)")
	version := func() string {
		v, err := opened(t, c).Version(t.Context(), "shop", "all")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	seen := map[string]string{version(): "the empty table"}
	if again := version(); seen[again] == "" {
		t.Error("the version changes by itself")
	}
	for _, q := range []string{"INSERT INTO shop.all SELECT number, 1 FROM numbers(1000)", "INSERT INTO shop.local VALUES (1, 1)", "ALTER TABLE shop.local UPDATE n = 2 WHERE id = 7", "ALTER TABLE shop.local DELETE WHERE id = 8"} {
		c.Exec(1, strings.ReplaceAll(q, "shop.all", "shop.local"))
		testenv.Until(t, time.Minute, q, func() bool { return seen[version()] == "" })
		seen[version()] = q
	}
	before, err := opened(t, c).Look(t.Context(), "shop", "all")
	if err != nil {
		t.Fatal(err)
	}
	local, err := opened(t, c).Look(t.Context(), "shop", "local")
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Identities) != 4 || !slices.ContainsFunc(local.Identities, func(p string) bool { return slices.Contains(before.Identities, p) }) {
		t.Errorf("a table and a part of it have nothing in common: %v, %v", before.Identities, local.Identities)
	}
}

func TestNames(t *testing.T) {
	c := rig.Start(t, 1)
	c.Exec(0, "CREATE DATABASE shop", "CREATE TABLE shop.t (`a?b` Int8, `{x:Int8}` Int8, `größe in m` Int8, `100%d` Int8, `$1` Int8, `it's \"so\"` Int8, `back\\`quote` Int8, twice Int16 ALIAS 2 * `$1`, made Int16 MATERIALIZED 3 * `$1`) ENGINE = MergeTree ORDER BY tuple()",
		"INSERT INTO shop.t VALUES (1, 2, 3, 4, 5, 6, 7)")
	n := opened(t, c)
	tab, err := n.Look(t.Context(), "shop", "t")
	if err != nil {
		t.Fatal(err)
	}
	if got := only(t, n, "t", tab.Columns); got != " 1 2 3 4 5 6 15" {
		t.Errorf("read%s", got)
	}
	if len(tab.Left) != 2 || tab.Left[0].Name != "back`quote" || tab.Left[1].Name != "twice" {
		t.Errorf("left out: %v", tab.Left)
	}
	if got := only(t, n, "t", tab.Columns[3:5]); got != " 4 5" {
		t.Errorf("of two columns read%s", got)
	}
	c.Exec(0, "CREATE TABLE shop.over (`$1` Int8, twice Int16) ENGINE = Distributed("+rig.Name+", shop, t)")
	if tab, err := n.Look(t.Context(), "shop", "over"); err != nil || len(tab.Columns) != 1 || len(tab.Left) != 1 {
		t.Errorf("a column that is computed below: %v, %v", tab, err)
	}
	err = n.Rows(t.Context(), "shop", "t", []source.Column{{Name: "a?b", Type: "SMALLINT"}}, func(*source.Batch) error { return nil })
	if err == nil {
		t.Error("a column of another type is read")
	}
}
