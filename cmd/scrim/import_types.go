package main

import (
	"regexp"
	"strings"

	"scrim/internal/sqltext"
)

// shownTypes are MySQL's names of the store's types that it calls otherwise.
var shownTypes = map[string]string{
	"INTEGER": "INT", "VARCHAR": "LONGTEXT", "TIMESTAMP": "DATETIME(6)", "TIME": "TIME(6)", "BLOB": "LONGBLOB", "HUGEINT": "DECIMAL(38,0)",
	"UTINYINT": "TINYINT UNSIGNED", "USMALLINT": "SMALLINT UNSIGNED", "UINTEGER": "INT UNSIGNED", "UBIGINT": "BIGINT UNSIGNED",
}

// shownType is the type of an imported column as MySQL names it; a text has the length that was
// asked for.
func shownType(column, stored string, asked map[string]string) string {
	for c, t := range asked {
		if stored == "VARCHAR" && strings.EqualFold(c, column) && strings.Contains(t, "(") {
			return strings.ToUpper(t)
		}
	}
	if t, ok := shownTypes[stored]; ok {
		return t
	}
	return stored
}

// plainName needs no quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name writes a name for MySQL, quoted where it has to be.
func name(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return sqltext.Name(s)
}
