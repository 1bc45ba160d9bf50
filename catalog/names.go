package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"scrim/internal/refuse"
)

// MaxName is the longest name of a table (with its schema), column or entity, in bytes: MySQL's 64
// characters of up to four bytes for each of two parts, and the dot.
const MaxName = 2*4*64 + 1

// RowUnit is what dp_protect takes in place of a column where each row is one person.
const RowUnit = "row"

// tableName folds and checks the name of a table: schema.table with exactly one dot, since a name
// with a dot inside could not be told from another schema's table.
func tableName(name string) (string, error) {
	n := strings.ToLower(name)
	schema, table, ok := strings.Cut(n, ".")
	if !ok || schema == "" || table == "" || strings.Contains(table, ".") || !plain(n) {
		return "", refuse.New(refuse.Policy, "%s is not the name of a table.", quoted(name)).
			With("Name it as schema.table; neither part may hold a dot.")
	}
	return n, nil
}

// existing folds, checks and looks up the name of a table.
func existing(s Schema, name string) (string, error) {
	n, err := tableName(name)
	if err != nil {
		return "", err
	}
	if !s.HasTable(n) {
		return "", refuse.New(refuse.Policy, "There is no table %s.", n).
			With("Name a table that exists; a view is protected by the tables that it reads.")
	}
	return n, nil
}

// columnOf folds, checks and looks up a column of a table.
func columnOf(s Schema, table, column string) (string, error) {
	c := strings.ToLower(column)
	if c == "" || !plain(c) || !s.HasColumn(table, c) {
		return "", refuse.New(refuse.Policy, "The table %s has no column %s.", table, quoted(column)).
			With("Name a column of the table.")
	}
	return c, nil
}

// entityName folds and checks the name of an entity.
func entityName(name string) (string, error) {
	n := strings.ToLower(name)
	ok := n != "" && n != "default" && len(n) <= 64
	for _, r := range n {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	}
	if !ok {
		return "", refuse.New(refuse.Policy, "%s is not the name of an entity.", quoted(name)).
			With("Name the kind of person, for example 'customer': up to 64 letters, digits, underscores, dashes and dots.")
	}
	return n, nil
}

// plain reports whether a name can be stored and shown.
func plain(s string) bool {
	return len(s) <= MaxName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// quoted shows a client's text in a message, cut and escaped.
func quoted(s string) string {
	const limit = 64
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteRune('\uFFFD')
		}
	}
	b.WriteByte('\'')
	return b.String()
}
