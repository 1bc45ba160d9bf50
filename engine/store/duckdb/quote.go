package duckdb

import (
	"strings"

	"scrim/engine/store"
)

// quoteName writes an identifier of DuckDB's SQL.
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// quoteText writes a string literal of DuckDB's SQL, for the few statements that take no parameters.
func quoteText(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

func quoteRef(r store.TableRef) string { return quoteName(r.Schema) + "." + quoteName(r.Name) }
