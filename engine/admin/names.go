package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/budget"
	"scrim/catalog"
	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// tableName resolves what a client wrote for a table, t or db.t, with or without back quotes, to
// schema.table in lower case.
func tableName(ctx *sql.Context, text string) (string, error) {
	parts, ok := identifiers(strings.TrimSpace(text))
	switch {
	case ok && len(parts) == 2:
		return strings.ToLower(parts[0] + "." + parts[1]), nil
	case ok && len(parts) == 1 && ctx.GetCurrentDatabase() != "":
		return strings.ToLower(ctx.GetCurrentDatabase() + "." + parts[0]), nil
	case ok && len(parts) == 1:
		return "", refuse.New(refuse.Policy, "The table %q has no database, and none is in use.", cut(text)).
			With("Name it as 'database.table', or USE a database first.")
	}
	return "", refuse.New(refuse.Policy, "%q is not the name of a table.", cut(text)).
		With("Name it as 'database.table' or 'table'.")
}

// tableRef is tableName with its parts apart.
func tableRef(ctx *sql.Context, text string) (store.TableRef, error) {
	name, err := tableName(ctx, text)
	schema, table, _ := strings.Cut(name, ".")
	return store.TableRef{Schema: schema, Name: table}, err
}

// identifiers splits a name at its dots. Back quotes around a part are removed; a name with a dot
// inside back quotes is not one that policies can speak of.
func identifiers(text string) ([]string, bool) {
	parts := strings.Split(text, ".")
	for i, p := range parts {
		if len(p) > 1 && p[0] == '`' && p[len(p)-1] == '`' {
			p = p[1 : len(p)-1]
		}
		if p == "" || strings.ContainsAny(p, "`\x00") {
			return nil, false
		}
		parts[i] = p
	}
	return parts, len(parts) <= 2
}

// columnName removes the back quotes around a column.
func columnName(text string) string {
	t := strings.TrimSpace(text)
	if len(t) > 1 && t[0] == '`' && t[len(t)-1] == '`' {
		return t[1 : len(t)-1]
	}
	return t
}

// principalName reads the name of a budget's principal: '*', 'default', 'role:NAME', or an account
// as user@host, each part with or without quotes. A user without a host is at '%', as in MySQL.
func principalName(text string) (string, bool) {
	t := strings.TrimSpace(text)
	switch {
	case t == budget.All:
		return t, true
	case strings.EqualFold(t, budget.Default):
		return budget.Default, true
	case len(t) >= len(budget.RolePrefix) && strings.EqualFold(t[:len(budget.RolePrefix)], budget.RolePrefix):
		name := unquote(strings.TrimSpace(t[len(budget.RolePrefix):]))
		return budget.RolePrefix + name, name != ""
	}
	user, host := unquote(t), "%"
	at := strings.LastIndexByte(t, '@')
	if inQuotes := len(user) < len(t) && strings.IndexByte(user, t[0]) < 0; at >= 0 && !inQuotes {
		user, host = unquote(t[:at]), unquote(t[at+1:])
	}
	return user + "@" + strings.ToLower(host), user != "" && host != ""
}

func unquote(s string) string {
	if n := len(s); n > 1 && s[0] == s[n-1] && strings.IndexByte("'`\"", s[0]) >= 0 {
		return s[1 : n-1]
	}
	return s
}

// number reads a finite decimal number; words such as NaN and hexadecimal forms are none.
func number(what, text string) (float64, error) {
	t := strings.TrimSpace(text)
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || strings.Trim(t, "+-.0123456789eE") != "" {
		return 0, refuse.New(refuse.Policy, "The %s %q is not a finite number.", what, cut(text)).
			With("Use a number, for example 0.5 or 1e-6.")
	}
	return f, nil
}

// shortest writes a number with as few digits as tell it.
func shortest(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// cut shortens a client's text for a message.
func cut(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}

// StoreSchema answers the catalogue's questions from a store's committed tables.
func StoreSchema(ctx context.Context, st store.Store) catalog.Schema { return storeSchema{ctx, st} }

type storeSchema struct {
	ctx context.Context
	st  store.Store
}

func (s storeSchema) table(name string) (store.Table, bool) {
	schema, table, ok := strings.Cut(name, ".")
	if !ok || s.st.ReservedSchema(schema) {
		return store.Table{}, false
	}
	t, ok, err := s.st.Table(s.ctx, store.TableRef{Schema: schema, Name: table})
	if err != nil || !ok || t.View {
		return store.Table{}, false
	}
	return t, true
}

// HasTable implements catalog.Schema.
func (s storeSchema) HasTable(name string) bool {
	_, ok := s.table(name)
	return ok
}

// HasColumn implements catalog.Schema.
func (s storeSchema) HasColumn(name, column string) bool {
	t, _ := s.table(name)
	return slices.ContainsFunc(t.Columns, func(c store.Column) bool { return strings.EqualFold(c.Name, column) })
}

// ColumnType implements catalog.Schema.
func (s storeSchema) ColumnType(name, column string) string {
	t, _ := s.table(name)
	if c, ok := lists.Find(t.Columns, func(c store.Column) bool { return strings.EqualFold(c.Name, column) }); ok {
		return c.Type
	}
	return ""
}

// Collation implements catalog.Schema.
func (s storeSchema) Collation(name, column string) string {
	t, _ := s.table(name)
	for _, c := range t.Columns {
		if by := tables.CollationOf(c); strings.EqualFold(c.Name, column) && !collation.ByBytes(by) {
			return by.Name()
		}
	}
	return ""
}

// IsEnforcedKey implements catalog.Schema.
func (s storeSchema) IsEnforcedKey(name, column string) bool {
	t, _ := s.table(name)
	return tables.Enforces(t, column)
}
