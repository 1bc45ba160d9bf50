package lower

import "strings"

// Exact reports whether a column of a store type is read as it is: where it is not NULL, neither is
// what ReadColumn makes of it. A DOUBLE is not, as it may be NaN, nor is a type whose range MySQL's
// does not cover.
func Exact(duckdbType string) bool {
	t := strings.ToUpper(strings.TrimSpace(duckdbType))
	switch t {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
		return true
	}
	return decimalType.FindStringSubmatch(t) != nil && !strings.HasSuffix(t, "]")
}
