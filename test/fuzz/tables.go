package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// column is a column of the tables and what its values are drawn from, between bars.
type column struct{ name, sql, common, extreme string }

var all = []column{
	{"ti", "TINYINT", "0|1|-1|2|7|100", "-128|127"},
	{"si", "SMALLINT", "0|1|-1|2|300", "-32768|32767"},
	{"mi", "MEDIUMINT", "0|1|-5|70000", "-8388608|8388607"},
	{"i", "INT", "0|1|2|3|-7|100000", "-2147483648|2147483647"},
	{"b", "BIGINT", "0|1|2|-3|5000000000", "-9223372036854775808|9223372036854775807"},
	{"tu", "TINYINT UNSIGNED", "0|1|2|200", "255"},
	{"su", "SMALLINT UNSIGNED", "0|1|3|40000", "65535"},
	{"mu", "MEDIUMINT UNSIGNED", "0|1|9|100000", "16777215"},
	{"iu", "INT UNSIGNED", "0|1|2|3000000000", "4294967295"},
	{"bu", "BIGINT UNSIGNED", "0|1|2|10000000000", "18446744073709551615"},
	{"d1", "DECIMAL(4,1)", "0|1|1.5|-2.5|10.0", "999.9|-999.9"},
	{"d2", "DECIMAL(10,2)", "0|1|1.50|-2.25|10.00|1234.56", "99999999.99|-99999999.99"},
	{"d3", "DECIMAL(20,5)", "0|1|0.00001|-7.12345|100.5", "999999999999999.99999"},
	{"d4", "DECIMAL(38,10)", "0|1|2.5|-0.0000000001|123456.789", "9999999999999999999999999999.9999999999"},
	{"f", "FLOAT", "0|1|0.5|-1.5|0.1", "3.4e38|1e-30"},
	{"x", "DOUBLE", "0|1|0.1|-2.5|1e10|3.14159", "1e300|-1e-300"},
	{"bt", "BIT(8)", "b'0'|b'1'|b'1100001'", "b'11111111'"},
	{"da", "DATE", "'2020-01-01'|'2020-02-29'|'2021-12-31'|'1999-12-31'", "'1000-01-01'|'9999-12-31'"},
	{"dt", "DATETIME", "'2020-01-01 00:00:00'|'2020-01-01 10:00:00'|'2021-12-31 23:59:59'|'2020-02-29 12:30:15'", "'1000-01-01 00:00:00'|'9999-12-31 23:59:59'"},
	{"d6", "DATETIME(6)", "'2020-01-01 00:00:00'|'2020-01-01 10:00:00.000001'|'2021-06-15 08:09:10.5'", "'9999-12-31 23:59:59.999999'"},
	{"tm", "TIME", "'00:00:00'|'00:00:01'|'10:00:00'|'23:59:59'|'12:34:56'", "'12:00:00'"},
	{"y", "YEAR", "1999|2020|2021", "1901|2155"},
	{"c", "CHAR(10)", "''|'a'|'A'|'ab'|'1'|'é'|'10'", "'abcdefghij'|'日本'"},
	{"v", "VARCHAR(30)", "''|'a'|'A'|'ab'|'a,b'|'1'|'-1.5'|'é'|'2020-01-01'|'abc'|'1x'", "'日本語😀'|'10:00:00'|'a_%'"},
	{"tx", "TEXT", "''|'a'|'b'|'12'|'Hello, World'|'ß'", "'😀😀'|'0x1F'"},
	{"bc", "BINARY(4)", "'a'|'A'|X'61620000'|X'00'", "X'FFFFFFFF'"},
	{"vb", "VARBINARY(12)", "''|'a'|'ab'|X'00'|X'FF00'", "X'C3A9'"},
	{"bl", "BLOB", "''|'a'|'A'|X'FF'|'1'", "X'00FF00'"},
	{"e", "ENUM('b','a','1','A')", "'b'|'a'|'1'|'A'", "'b'"},
	{"s", "SET('b','a','1')", "''|'b'|'a'|'b,a'|'b,a,1'", "'1'"},
	{"j", "JSON", `'1'|'"a"'|'[1, 2]'|'{"a": 1}'|'{"a": {"c": null}, "b": [1, 2, "x"]}'`, `'null'|'2.5'|'[]'`},
}

// Tables make t1 and t2, of columns of every type: most rows of t1 have common values, those of t2
// extreme ones, too. A tenth is NULL, and the last row is NULL but for its id.
func Tables() (statements []string) {
	r := rand.New(rand.NewPCG(38, 1))
	for t, size := range []int{14, 9} {
		name := fmt.Sprintf("t%d", t+1)
		var defined, rows []string
		for _, c := range all {
			defined = append(defined, c.name+" "+c.sql)
		}
		for id := 1; id <= size; id++ {
			row := []string{fmt.Sprint(id)}
			for _, c := range all {
				values := strings.Split(c.common, "|")
				if t == 1 {
					values = append(values, strings.Split(c.extreme, "|")...)
				}
				v := values[r.IntN(len(values))]
				if id == size || r.IntN(10) == 0 {
					v = "NULL"
				}
				row = append(row, v)
			}
			rows = append(rows, "("+strings.Join(row, ", ")+", 0)")
		}
		statements = append(statements, "CREATE TABLE "+name+" (id INT PRIMARY KEY, "+strings.Join(defined, ", ")+", hit INT)",
			"INSERT INTO "+name+" VALUES "+strings.Join(rows, ", "))
	}
	return statements
}
