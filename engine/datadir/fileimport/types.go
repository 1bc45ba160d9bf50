package fileimport

import "strings"

// mysqlTypes are MySQL's names of the store's types that it calls otherwise.
var mysqlTypes = map[string]string{
	"INTEGER": "INT", "VARCHAR": "LONGTEXT", "TIMESTAMP": "DATETIME(6)", "TIMESTAMP WITH TIME ZONE": "DATETIME(6)", "TIME": "TIME(6)", "BLOB": "LONGBLOB",
	"HUGEINT": "DECIMAL(38,0)", "UTINYINT": "TINYINT UNSIGNED", "USMALLINT": "SMALLINT UNSIGNED", "UINTEGER": "INT UNSIGNED", "UBIGINT": "BIGINT UNSIGNED",
}

// MySQLType is the type of an imported column as MySQL names it; a text has the length that was
// asked for in the options' Types.
func MySQLType(column, stored string, asked map[string]string) string {
	for c, t := range asked {
		if stored == "VARCHAR" && strings.EqualFold(c, column) && strings.Contains(t, "(") {
			return strings.ToUpper(t)
		}
	}
	if t, ok := mysqlTypes[stored]; ok {
		return t
	}
	return stored
}

// StoreType is the type as the store names it by which a file is read for a column of MySQL's type;
// "" where the file says.
func StoreType(mysql string) string {
	t := strings.ToUpper(mysql)
	base, _, _ := strings.Cut(t, "(")
	switch base = strings.TrimSpace(base); {
	case base == "CHAR", base == "VARCHAR", strings.HasSuffix(base, "TEXT"):
		return "VARCHAR"
	case base == "DATETIME", base == "TIMESTAMP":
		return "TIMESTAMP"
	case base == "DECIMAL", base == "DATE", base == "DOUBLE", base == "FLOAT":
		return t
	case strings.HasSuffix(base, "INT") && strings.HasSuffix(t, " UNSIGNED"):
		return "U" + plainInteger(base)
	case strings.HasSuffix(base, "INT"):
		return plainInteger(base)
	}
	for stored, shown := range mysqlTypes {
		if shown == t && strings.HasPrefix(stored, "U") {
			return stored
		}
	}
	return ""
}

func plainInteger(base string) string {
	if base == "INT" || base == "MEDIUMINT" {
		return "INTEGER"
	}
	return base
}
