package tables_test

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/mysql/tables"
	"scrim/internal/sqltext"
)

// texts runs a query and returns the texts of its values, and whether they came as such. DOUBLEs
// are written as MySQL does.
func (c *conn) texts(q string, asText bool) (rows []string, direct bool) {
	c.s.t.Helper()
	ctx := sql.NewContext(context.Background(), sql.WithSession(c.sess), sql.WithQuery(q))
	schema, it, _, err := c.s.engine.Query(ctx, q)
	if err != nil {
		c.s.t.Fatalf("%s: %v", q, err)
	}
	if asText {
		ctx = tables.AsText(ctx, it)
	}
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			c.s.t.Fatalf("%s: %v", q, err)
		}
		line := ""
		for i, v := range row {
			text, ready := v.(*sqltypes.Value)
			if !ready {
				made, err := schema[i].Type.SQL(ctx, nil, v)
				if err != nil {
					c.s.t.Fatalf("%s: %v", q, err)
				}
				text = &made
			}
			direct = direct || ready
			line += "|" + written(*text)
		}
		rows = append(rows, line)
	}
	if err := it.Close(ctx); err != nil {
		c.s.t.Fatalf("%s: %v", q, err)
	}
	return rows, direct
}

func written(v sqltypes.Value) string {
	switch {
	case v.IsNull():
		return "NULL"
	case v.Type() == sqltypes.Float64:
		x, _ := strconv.ParseFloat(v.ToString(), 64)
		return string(sqltext.AppendDouble(nil, x, 64))
	}
	return v.Type().String() + " " + v.ToString()
}

// What goes to a client from the store's columns must be what the types make of the values.
func TestTextIsWhatTypesWrite(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE TABLE made (id INT PRIMARY KEY, t TINYINT, ut TINYINT UNSIGNED, s SMALLINT, us SMALLINT UNSIGNED, m MEDIUMINT, um MEDIUMINT UNSIGNED, i INT, ui INT UNSIGNED, " +
		"b BIGINT, ub BIGINT UNSIGNED, f FLOAT, d DOUBLE, n1 DECIMAL(3,0), n2 DECIMAL(10,2), n3 DECIMAL(18,18), n4 DECIMAL(38,10), c CHAR(3), v VARCHAR(10), x LONGTEXT, bl BLOB, vb VARBINARY(4), " +
		"da DATE, dt DATETIME, dt3 DATETIME(3), dt6 DATETIME(6), ts TIMESTAMP, ti TIME(6), y YEAR, bo BOOLEAN, bi BIT(5), e ENUM('s','m','l'), se SET('a','b','c'), j JSON)")
	root.exec(`INSERT INTO made VALUES
		(1, -128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615, 1.5, 1e300, -999, -99999999.99, 0.000000000000000001, -1234567890123456789012345678.0123456789,
			'abc', 'häß', 'long', x'00FF', 'ab', '1000-01-01', '1969-12-31 23:59:59', '2024-02-29 00:00:00.120', '2024-02-29 23:59:59.123456', '2024-01-02 03:04:05', '10:11:12.5', 1999, TRUE, b'10101', 'm', 'a,c', '{"k": [1, 2.5, "x", null]}'),
		(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.0, 0, 0, 0, 0, '', '', '', '', '', '9999-12-31', '1000-01-01 00:00:00', '9999-12-31 23:59:59', '1970-01-01 00:00:00', '1970-01-02 00:00:01', '00:00:00', 2155, FALSE, b'0', 's', '', '[]'),
		(3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0.1, 1.5e-16, 5, -0.05, -0.5, 3, 'a', 'b', 'c', 'd', 'e', '0999-03-04', '0001-01-01 10:00:00', '1900-02-28 12:34:56.7', '1900-02-28 12:34:56', '2038-01-01 00:00:00', '23:59:59', 1901, TRUE, b'1', 'l', 'b', '3')`)
	root.exec("INSERT INTO made (id) VALUES (4)")
	imported(s, `CREATE TABLE shop.far (id INTEGER, h HUGEINT, d DATE, ts TIMESTAMP, x DOUBLE, f FLOAT, u UBIGINT, n DECIMAL(18,3), w DECIMAL(30,3), tz TIMESTAMPTZ, s TIMESTAMP_S, ti TIME, iv INTERVAL, ok BOOLEAN, t VARCHAR)`,
		`INSERT INTO shop.far VALUES
			(1, 170141183460469231731687303715884105727, '12000-01-01', '12000-01-01 00:00:00', 'nan', 'inf', 18446744073709551615, 123456789012345.678, 123456789012345.678, '2020-01-01 00:00:00+00', '2020-01-01 00:00:01', '01:02:03', INTERVAL 90 MINUTE, true, 'Zoë' || chr(0)),
			(2, 5, 'infinity', '-infinity', '-inf', 'nan', 0, -0.001, -0.001, '1950-01-01 00:00:00.5+00', '1600-01-01 00:00:01', '23:59:59.999999', INTERVAL '-3' DAY, false, repeat('x', 5000)),
			(3, -5, '0500-01-01', '0500-01-01 01:00:00', '-0.0', '-0.0', 7, 0, 0, NULL, NULL, '00:00:00', NULL, NULL, NULL)`,
		"INSERT INTO shop.far SELECT 4 + i, i, DATE '1970-01-01' + CAST(i * 97 AS INTEGER), TIMESTAMP '1970-01-01' - to_seconds(i * 86399), i / 7, i / 7, i, i / 8, i / 8, NULL, NULL, NULL, NULL, i % 3 = 0, 'text ' || i FROM range(5000) t(i)")
	for q, wantDirect := range map[string]bool{
		"SELECT * FROM made":                            true,
		"SELECT * FROM far":                             true,
		"SELECT j, d, e, n2 AS two, v, id FROM made m":  true,
		"SELECT x, d FROM far LIMIT 5":                  true,
		"SELECT t, x FROM far LIMIT 7 OFFSET 3":         true,
		"SELECT * FROM (SELECT x, t FROM far) y":        false,
		"SELECT x + 1, x FROM far":                      false,
		"SELECT COUNT(*) FROM far":                      false,
		"SELECT x FROM far UNION SELECT d FROM made":    false,
		"SELECT x, (SELECT MAX(id) FROM made) FROM far": false,
		"SELECT DISTINCT ok FROM far":                   false,
		"SELECT v FROM made WHERE CONCAT(v, id) <> 'x'": false,
		"SELECT 1": false,
	} {
		want, _ := root.texts(q, false)
		got, direct := root.texts(q, true)
		if direct != wantDirect {
			t.Errorf("%s: read as text: %v", q, direct)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", q, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s, row %d:\n got %q\nwant %q", q, i, got[i], want[i])
			}
		}
	}
}
