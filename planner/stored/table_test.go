package stored

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// plain is a stored table of which only the definition matters.
type plain struct {
	sql.Table
	columns []store.Column
}

func (plain) StoreRef() store.TableRef                      { return store.TableRef{Schema: "d", Name: "t"} }
func (p plain) StoreCollation(store.Column) sql.CollationID { return 0 }
func (p plain) StoreColumns() []store.Column                { return p.columns }

// TestPersonsAreToldApart: other persons have another text, other columns have not.
func TestPersonsAreToldApart(t *testing.T) {
	by := func(column string, r catalog.Relation) catalog.Table {
		return catalog.Table{State: catalog.Protected, Account: "a", Entity: "e", Unit: catalog.Unit{Column: column}, Relation: r}
	}
	table := func(x, other string) plain {
		return plain{columns: []store.Column{{Name: "X", Type: x}, {Name: other, Type: "BIGINT"}}}
	}
	was := Persons(table("BIGINT", "y"), by("x", catalog.AddRemove))
	if same := Persons(table("BIGINT", "z"), by("x", catalog.AddRemove)); same != was || was == "" {
		t.Errorf("another column makes %q of %q", same, was)
	}
	for name, text := range map[string]string{
		"column":   Persons(table("BIGINT", "y"), by("y", catalog.AddRemove)),
		"type":     Persons(table("DOUBLE", "y"), by("x", catalog.AddRemove)),
		"exchange": Persons(table("BIGINT", "y"), by("x", catalog.ReplaceOne)),
		"public":   Persons(table("BIGINT", "y"), catalog.Table{State: catalog.Public}),
		"account":  Persons(table("BIGINT", "y"), catalog.Table{State: catalog.Protected, Account: "b", Entity: "e", Unit: catalog.Unit{Column: "x"}}),
	} {
		if text == was {
			t.Errorf("another %s looks the same: %q", name, text)
		}
	}
}

// TestDefinitionsTellChangesApart: equal definitions give equal texts, whatever their addresses,
// and every change that a plan rests on gives another.
func TestDefinitionsTellChangesApart(t *testing.T) {
	ctx := sql.NewEmptyContext()
	link := func(column string) catalog.Table {
		return catalog.Table{State: catalog.Protected, Account: "a", Entity: "e", Unit: catalog.Unit{Link: &catalog.Link{Column: column, Parent: "d.p", ParentColumn: "id"}}}
	}
	table := plain{columns: []store.Column{{Name: "x", Type: "BIGINT"}}}
	if a, b := Definition(ctx, table, link("x")), Definition(ctx, table, link("x")); a != b {
		t.Errorf("two of the same differ:\n%s\n%s", a.Text, b.Text)
	}
	seen := map[plan.Definition]string{}
	for name, d := range map[string]plan.Definition{
		"link":     Definition(ctx, table, link("x")),
		"column":   Definition(ctx, table, link("y")),
		"unit":     Definition(ctx, table, catalog.Table{State: catalog.Protected, Account: "a", Entity: "e", Unit: catalog.Unit{Column: "x"}}),
		"row":      Definition(ctx, table, catalog.Table{State: catalog.Protected, Account: "a", Entity: "e", Unit: catalog.Unit{Row: true}}),
		"entity":   Definition(ctx, table, catalog.Table{State: catalog.Protected, Account: "a", Entity: "f", Unit: catalog.Unit{Row: true}}),
		"exchange": Definition(ctx, table, catalog.Table{State: catalog.Protected, Account: "a", Entity: "f", Unit: catalog.Unit{Row: true}, Relation: catalog.ReplaceOne}),
		"sized":    Definition(ctx, table, catalog.Table{State: catalog.Protected, Account: "a", Entity: "f", Unit: catalog.Unit{Row: true}, Relation: catalog.ReplaceOne, Sized: true}),
		"public":   Definition(ctx, table, catalog.Table{State: catalog.Public}),
		"type":     Definition(ctx, plain{columns: []store.Column{{Name: "x", Type: "DOUBLE"}}}, link("x")),
	} {
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s look the same", name, other)
		}
		seen[d] = name
	}
}
