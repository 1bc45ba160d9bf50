package mysql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"scrim/internal/sqltext"
)

// integers are the store's types of whole numbers, signed and unsigned.
var integers = map[string][2]string{
	"tinyint": {"TINYINT", "UTINYINT"}, "smallint": {"SMALLINT", "USMALLINT"}, "mediumint": {"INTEGER", "UINTEGER"},
	"int": {"INTEGER", "UINTEGER"}, "bigint": {"BIGINT", "UBIGINT"},
}

var decimals = regexp.MustCompile(`^decimal\(([0-9]+)(?:,([0-9]+))?\)`)

// stored returns the store's type of a column, "" for none, and what is selected of it. Texts come
// in UTF-8, whatever their own character set, and compare as the store's do.
func stored(data, column string) (store, read string) {
	switch data {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		if strings.Contains(column, "unsigned") {
			return integers[data][1], "%s"
		}
		return integers[data][0], "%s"
	case "year":
		return "SMALLINT", "(%s + 0)"
	case "decimal":
		m := decimals.FindStringSubmatch(column)
		if m == nil {
			return "", ""
		}
		digits, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		if digits > 38 {
			return "", ""
		}
		return fmt.Sprintf("DECIMAL(%d,%d)", digits, scale), "%s"
	case "float": // as a text it would have six digits
		return "FLOAT", "(%s + 0e0)"
	case "double":
		return "DOUBLE", "%s"
	case "date":
		return "DATE", "%s"
	case "datetime", "timestamp":
		return "TIMESTAMP", "%s"
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json", "uuid", "inet6", "inet4":
		return "VARCHAR", "%s"
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return "BLOB", "%s"
	}
	return "", ""
}

// text quotes a text. sql_mode is ”, so that a backslash escapes.
func text(s string) string { return sqltext.Text(s) }
