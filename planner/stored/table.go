// Package stored is what the planner knows of tables that the store holds: which of
// go-mysql-server's tables are such, and what a plan takes from a table's definition and policy.
package stored

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// Table is a GMS table that the store holds. The planner recognises scans of the store by it.
type Table interface {
	sql.Table
	// StoreRef names the table in the store.
	StoreRef() store.TableRef
	// StoreColumns lists all columns of the table in the order of its GMS schema, whatever
	// projection the value carries.
	StoreColumns() []store.Column
	// StoreCollation is the collation of a column of StoreColumns, collation.Bytes for no text.
	StoreCollation(store.Column) sql.CollationID
}

// Under returns the store's table under a GMS table, if it is one.
func Under(t sql.Table) (Table, bool) {
	for {
		if st, ok := t.(Table); ok {
			return st, true
		}
		w, ok := t.(sql.TableWrapper)
		if !ok {
			return nil, false
		}
		t = w.Underlying()
	}
}

// Find finds a stored table by schema.table.
func Find(ctx *sql.Context, a *analyzer.Analyzer, name string) (Table, bool) {
	for i := range name {
		if name[i] != '.' {
			continue
		}
		db, err := a.Catalog.DbProvider.Database(ctx, name[:i])
		if err != nil {
			continue
		}
		t, ok, err := db.GetTableInsensitive(ctx, name[i+1:])
		if err != nil || !ok {
			continue
		}
		return Under(t)
	}
	return nil, false
}

// Persons tells which person a row of a table belongs to under a policy, and what an exchange of
// persons is; "" where the table is not protected. Other columns and their types are no part of it.
func Persons(t Table, p catalog.Table) string {
	if p.State != catalog.Protected {
		return ""
	}
	text := fmt.Sprintf("%q %q %d %t", t.StoreRef().String(), p.Account, p.Relation, p.Sized)
	for _, o := range p.Owners() {
		text += fmt.Sprintf(" and %q %t %q", o.Entity, o.Unit.Row, o.Unit.Column)
		if o.Unit.Collation != "" {
			text += " by " + o.Unit.Collation
		}
		if o.Unit.Link != nil {
			text += fmt.Sprintf(" %+v", *o.Unit.Link)
		}
		for _, c := range t.StoreColumns() {
			if strings.EqualFold(c.Name, o.Unit.Column) {
				text += fmt.Sprintf(" %q", c.Type)
			}
		}
	}
	return text
}

// Definition returns the definition of a table under a policy.
func Definition(ctx *sql.Context, t Table, p catalog.Table) plan.Definition {
	text := fmt.Sprintf("%q %+v %d %q %q %t %q %d %t", t.StoreRef().String(), t.StoreColumns(), p.State, p.Account, p.Entity, p.Unit.Row, p.Unit.Column, p.Relation, p.Sized)
	if p.Unit.Period != (catalog.Period{}) {
		text += fmt.Sprintf(" by %+v", p.Unit.Period)
	}
	for i, o := range p.Owners() {
		if i > 0 {
			text += fmt.Sprintf(" and %q %q", o.Entity, o.Unit.Column)
		}
		if o.Unit.Link != nil {
			text += fmt.Sprintf(" %+v", *o.Unit.Link)
		}
	}
	if k, ok := t.(sql.PrimaryKeyTable); ok {
		text += fmt.Sprint(" ", k.PrimaryKeySchema(ctx).PkOrdinals)
	}
	d := plan.Definition{Ref: t.StoreRef(), Text: text}
	if f, ok := t.(interface{ StoreSource() string }); ok {
		d.Source = f.StoreSource()
	}
	return d
}
