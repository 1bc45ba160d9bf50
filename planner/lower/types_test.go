package lower_test

import (
	"testing"

	"scrim/planner/lower"
)

// TestTypes checks for each store type what SQL type it is shown as, what kind it is read as, and
// that both agree.
func TestTypes(t *testing.T) {
	db := openStore(t)
	for _, c := range []struct {
		store, mysql string
		kind         lower.Kind
		values       []string // SQL of nasty values
	}{
		{"BOOLEAN", "tinyint(1)", lower.Bool, []string{"TRUE"}},
		{"TINYINT", "tinyint", lower.Int, []string{"-128"}},
		{"SMALLINT", "smallint", lower.Int, []string{"-32768"}},
		{"INTEGER", "int", lower.Int, []string{"2147483647"}},
		{"BIGINT", "bigint", lower.Int, []string{"9223372036854775807"}},
		{"UTINYINT", "tinyint unsigned", lower.Int, []string{"255"}},
		{"USMALLINT", "smallint unsigned", lower.Int, []string{"65535"}},
		{"UINTEGER", "int unsigned", lower.Int, []string{"4294967295"}},
		{"UBIGINT", "bigint unsigned", lower.UInt, []string{"18446744073709551615"}},
		{"HUGEINT", "decimal(38,0)", lower.Decimal, []string{"170141183460469231731687303715884105727", "5"}},
		{"UHUGEINT", "decimal(38,0)", lower.Decimal, []string{"340282366920938463463374607431768211455"}},
		{"DECIMAL(12,3)", "decimal(12,3)", lower.Decimal, []string{"1.5"}},
		{"FLOAT", "float", lower.Double, []string{"'nan'", "'inf'", "1.5"}},
		{"DOUBLE", "double", lower.Double, []string{"'nan'", "'-inf'", "1e308"}},
		{"VARCHAR", "longtext", lower.String, []string{"''"}},
		{"UUID", "varchar(36)", lower.String, []string{"'12345678-1234-1234-1234-123456789abc'"}},
		{"ENUM('a', 'b')", "varchar(255)", lower.String, []string{"'a'"}},
		{"DATE", "date", lower.Date, []string{"'infinity'", "'2020-01-01'", "'0044-03-15 (BC)'"}},
		{"TIMESTAMP", "datetime(6)", lower.Datetime, []string{"'infinity'", "'-infinity'", "'20000-01-01 00:00:00'"}},
		{"TIMESTAMP_S", "datetime(6)", lower.Datetime, []string{"'2020-01-01 00:00:00'"}},
		{"TIMESTAMP_MS", "datetime(6)", lower.Datetime, []string{"'2020-01-01 00:00:00'"}},
		{"TIMESTAMP_NS", "datetime(6)", lower.Datetime, []string{"'2020-01-01 00:00:00'"}},
		{"TIMESTAMP WITH TIME ZONE", "datetime(6)", lower.Datetime, []string{"'infinity'", "'2020-01-01 00:00:00+00'"}},
		{"TIME", "time(6)", lower.Time, []string{"'23:59:59'"}},
		{"JSON", "json", lower.JSON, []string{"'{}'"}},
		{"DOUBLE[3]", "json", lower.Array, []string{"[1, 2, 3]"}},
		{"DOUBLE[]", "json", lower.Array, []string{"[]"}},
		{"BLOB", "longblob", lower.Bytes, []string{"'\\xFF'::BLOB"}},
	} {
		typ, err := lower.MySQLType(c.store)
		if err != nil {
			t.Errorf("%s: %v", c.store, err)
			continue
		}
		if typ.String() != c.mysql {
			t.Errorf("%s: shown as %s, want %s", c.store, typ, c.mysql)
		}
		x := lower.ReadColumn("v", c.store)
		if x.Type.Kind != c.kind {
			t.Errorf("%s: kind %d, want %d", c.store, x.Type.Kind, c.kind)
		}
		if read, err := x.Type.SQLType(); err != nil || c.kind == lower.Bytes && read.String() != c.mysql {
			t.Errorf("%s: read as %v (%v)", c.store, read, err)
		}
		if _, err := db.Exec("CREATE OR REPLACE TEMP TABLE c (v " + c.store + ")"); err != nil {
			t.Fatal(err)
		}
		for _, v := range c.values {
			if _, err := db.Exec("INSERT INTO c VALUES (" + v + ")"); err != nil {
				t.Fatalf("%s: %v", c.store, err)
			}
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM (SELECT " + x.SQL + " AS r, CAST(" + x.SQL + " AS VARCHAR) AS s FROM c) WHERE s IS NOT NULL OR r IS NULL").Scan(&n); err != nil || n != len(c.values) {
			t.Errorf("%s: %d rows, %v", c.store, n, err)
		}
		if ddl, err := lower.DuckDBType(typ); err == nil {
			if _, err := lower.MySQLType(ddl); err != nil {
				t.Errorf("%s: %v", ddl, err)
			}
		} else if c.kind != lower.Array {
			t.Errorf("%s: %v", c.store, err)
		}
	}
	if _, err := lower.MySQLType("GEOMETRY"); err == nil {
		t.Error("GEOMETRY passed")
	}
}
