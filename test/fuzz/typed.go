package fuzz

import (
	"regexp"
	"strings"
)

// typeNames are what Typed writes for types.
var typeNames = []struct{ sql, name string }{
	{"DECIMAL", "DEC"}, {"FLOAT", "FLT"}, {"DOUBLE", "FLT"}, {"BIT", "BIT"}, {"YEAR", "YEAR"}, {"DATETIME", "MOMENT"}, {"DATE", "DATE"}, {"TIME", "TIME"},
	{"VARCHAR", "TEXT"}, {"CHAR", "TEXT"}, {"TEXT", "TEXT"}, {"BINARY", "BIN"}, {"VARBINARY", "BIN"}, {"BLOB", "BIN"}, {"ENUM", "ENUM"}, {"SET", "SET"}, {"JSON", "JSON"},
}

var (
	binaryText = regexp.MustCompile(`X'[0-9A-F]*'`)
	dayText    = regexp.MustCompile(`'\d{4}-[^'%]*'`)
	typedText  = regexp.MustCompile(`(TIMESTAMP|DATE|TIME) '[^']*'`)
	named      = regexp.MustCompile(`'[^']*'|\b(?:[pqvo]\.)?([a-z][a-z0-9]*)\b`)
	typeOf     = map[string]string{"id": "INT", "person": "INT", "w": "INT"}
)

func init() {
	for _, c := range append(append([]column(nil), all...), visits...) {
		typeOf[c.name] = "INT"
		for _, t := range typeNames {
			if strings.HasPrefix(c.sql, t.sql) {
				typeOf[c.name] = t.name
				break
			}
		}
	}
}

// Typed is a statement with the types of columns and dates in their place: what kind of statement
// it is.
func Typed(statement string) string {
	s := binaryText.ReplaceAllString(statement, "HEXBIN")
	s = typedText.ReplaceAllStringFunc(s, func(x string) string {
		kind, _, _ := strings.Cut(x, " ")
		return strings.Replace(kind, "TIMESTAMP", "MOMENT", 1)
	})
	s = dayText.ReplaceAllString(s, "DAYTEXT")
	return named.ReplaceAllStringFunc(s, func(x string) string {
		_, name, qualified := strings.Cut(x, ".")
		if !qualified {
			name = x
		}
		if t, ok := typeOf[name]; ok && x[0] != '\'' {
			return t
		}
		return x
	})
}
