// Package sqltext quotes names and texts for statements: of MySQL, as clients send and read them,
// and of the store.
package sqltext

import (
	"strings"

	"scrim/internal/lists"
)

// Name quotes a name for MySQL.
func Name(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

var text = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`)

// Text quotes a text for MySQL, in the modes in which a backslash escapes.
func Text(s string) string { return "'" + text.Replace(s) + "'" }

// StoreName quotes a name for the store.
func StoreName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// StoreText quotes a text for the store, in which a backslash is a character like others.
func StoreText(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

// StoreTable quotes the name of a table with its schema for the store.
func StoreTable(schema, name string) string { return StoreName(schema) + "." + StoreName(name) }

// List separates items by commas.
func List(items []string) string { return strings.Join(items, ", ") }

// StoreNames writes names for the store, separated by commas.
func StoreNames(names []string) string {
	return List(lists.Map(names, StoreName))
}
