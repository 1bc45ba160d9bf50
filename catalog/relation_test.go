package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unspent opens a catalogue whose accounts are charged as the map says.
func unspent(t *testing.T) (*Catalog, map[string]bool) {
	t.Helper()
	charged := map[string]bool{}
	c, err := Open(filepath.Join(t.TempDir(), "c"), Options{Create: true, DirectoryID: dir, Charged: func(a string) bool { return charged[a] }})
	ok(t, err)
	return c, charged
}

// related checks relation and public size of a table.
func related(t *testing.T, c *Catalog, table string, r Relation, sized bool) {
	t.Helper()
	if got := c.Snapshot().Table(table); got.Relation != r || got.Sized != sized {
		t.Errorf("%s: relation %v, public size %v; want %v, %v", table, got.Relation, got.Sized, r, sized)
	}
}

func TestNeighbours(t *testing.T) {
	c, _ := unspent(t)
	refused(t, c.SetNeighbours("shop.orders", "add-remove"), "not protected")
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	rev := c.Snapshot().revision
	ok(t, c.SetNeighbours("shop.orders", "Add-Remove"))
	if c.Snapshot().revision != rev {
		t.Error("setting the relation that holds is a change")
	}
	refused(t, c.SetNeighbours("shop.orders", "nobody"), "add-remove", "replace-one")
	refused(t, c.SetNeighbours("shop.orders", ""), "not a neighbour relation")
	related(t, c, "shop.orders", AddRemove, false)

	ok(t, c.SetNeighbours("Shop.Orders", "Replace-One"))
	related(t, c, "shop.orders", ReplaceOne, true)
	reopened(t, c)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	related(t, c, "shop.orders", ReplaceOne, true)

	ok(t, c.SetNeighbours("shop.orders", "add-remove"))
	related(t, c, "shop.orders", AddRemove, false)
	reopened(t, c)
}

// TestEntityHasOneRelation: later tables get the relation of their entity, but a public number of
// persons only where it is declared; and one table alone cannot leave the relation of the others.
func TestEntityHasOneRelation(t *testing.T) {
	c, _ := unspent(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	refused(t, c.SetNeighbours("shop.orders", "replace-one"), "shop.lineitem", "dp_unprotect('shop.lineitem')")
	refused(t, c.SetNeighbours("shop.lineitem", "replace-one"), "shop.orders")
	ok(t, c.Unprotect("shop.lineitem"))
	ok(t, c.SetNeighbours("shop.orders", "replace-one"))
	related(t, c, "shop.lineitem", ReplaceOne, false) // unprotected, but it keeps the entity
	ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
	ok(t, c.Protect(shop, "shop.customers", "id", "customer"))
	related(t, c, "shop.orders", ReplaceOne, true)
	related(t, c, "shop.lineitem", ReplaceOne, false)
	related(t, c, "shop.customers", ReplaceOne, false)
	refused(t, c.SetNeighbours("shop.customers", "add-remove"), "shop.lineitem")
	ok(t, c.SetNeighbours("shop.customers", "replace-one"))
	related(t, c, "shop.customers", ReplaceOne, true)
	ok(t, c.Unprotect("shop.customers"))
	related(t, c, "shop.customers", ReplaceOne, false)

	ok(t, c.Protect(shop, "shop.regions", "name", "region"))
	related(t, c, "shop.regions", AddRemove, false)
	reopened(t, c)
}

// TestAnEntityOutlivesItsProtectedTables: the losses on an entity stay when its tables are
// unprotected, and so does the relation that they hold for.
func TestAnEntityOutlivesItsProtectedTables(t *testing.T) {
	c, charged := unspent(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.SetNeighbours("shop.orders", "replace-one"))
	charged["shop.orders"] = true
	ok(t, c.Unprotect("shop.orders"))
	ok(t, c.Protect(shop, "shop.customers", "id", "customer"))
	related(t, c, "shop.customers", ReplaceOne, false)
	refused(t, c.SetNeighbours("shop.customers", "add-remove"), "the budget shop.orders")
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	related(t, c, "shop.orders", ReplaceOne, false)
	reopened(t, c)
}

// TestNoRelationChangesAfterACharge, whichever account of the entity the charge is on. A public
// number of persons may still be declared: what was charged holds for every exchange, also for
// those that keep the number.
func TestNoRelationChangesAfterACharge(t *testing.T) {
	for _, account := range []string{"customer", "shop.orders", "shop.lineitem"} {
		for _, from := range []string{"add-remove", "replace-one"} {
			c, charged := unspent(t)
			ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
			ok(t, c.SetNeighbours("shop.orders", from))
			ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
			ok(t, c.Unprotect("shop.lineitem"))
			charged[account] = true
			for _, to := range []string{"add-remove", "replace-one"} {
				if to == from {
					ok(t, c.SetNeighbours("shop.orders", to))
				} else {
					refused(t, c.SetNeighbours("shop.orders", to), "charged to", account, from, "another name")
				}
			}
			ok(t, c.Link(shop, "shop.lineitem", "order_id", "shop.orders", "id"))
			if from == "replace-one" {
				ok(t, c.SetNeighbours("shop.lineitem", "replace-one"))
				related(t, c, "shop.lineitem", ReplaceOne, true)
			}
		}
	}
	c, _ := open(t) // what cannot be known was charged
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	refused(t, c.SetNeighbours("shop.orders", "replace-one"), "charged")
}

// TestTheTableIsShutWhileItsAccountIsLookedAt, and open again after the change and after its
// refusal.
func TestTheTableIsShutWhileItsAccountIsLookedAt(t *testing.T) {
	var c *Catalog
	looks, answer := 0, false
	charged := func(string) bool {
		looks++
		if got := c.Snapshot().Table("shop.orders"); got.State != Undeclared || got.Unit != (Unit{}) {
			t.Errorf("the table shows as %+v", got)
		}
		if c.Snapshot().Table("shop.regions").State != Protected {
			t.Error("another entity's table is shut, too")
		}
		return answer
	}
	c, err := Open(filepath.Join(t.TempDir(), "c"), Options{Create: true, DirectoryID: dir, Charged: charged})
	ok(t, err)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Protect(shop, "shop.regions", "name", "region"))
	ok(t, c.SetNeighbours("shop.orders", "replace-one"))
	if got := c.Snapshot().Table("shop.orders"); got.State != Protected || got.Unit.Column != "customer_id" {
		t.Errorf("after the change: %+v", got)
	}
	before := c.Snapshot()
	answer = true
	refused(t, c.SetNeighbours("shop.orders", "add-remove"), "charged")
	if c.Snapshot() != before || looks < 3 {
		t.Errorf("after the refusal: %+v, %d looks", c.Snapshot().Table("shop.orders"), looks)
	}
	reopened(t, c)
}

// TestRenamesKeepTheRelation: the account goes with the rows, and the relation with the account.
func TestRenamesKeepTheRelation(t *testing.T) {
	c, _ := unspent(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.SetNeighbours("shop.orders", "replace-one"))
	ok(t, c.Rename("shop.orders", "shop.old"))
	related(t, c, "shop.old", ReplaceOne, true)
	related(t, c, "shop.orders", ReplaceOne, true)
	refused(t, c.SetNeighbours("shop.old", "add-remove"), "shop.orders")
	ok(t, c.Rename("shop.new", "shop.orders")) // a load and swap
	related(t, c, "shop.orders", ReplaceOne, true)
	ok(t, c.Unprotect("shop.old"))
	ok(t, c.SetNeighbours("shop.orders", "add-remove"))
	related(t, c, "shop.old", AddRemove, false)
	reopened(t, c)
}

// TestNamesOfOneAccountHaveOneRelation, also where a rename and a corrected entity have put them
// into two entities.
func TestNamesOfOneAccountHaveOneRelation(t *testing.T) {
	c, _ := unspent(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Rename("shop.orders", "shop.new"))
	ok(t, c.Protect(shop, "shop.new", "customer_id", "visitor"))
	refused(t, c.SetNeighbours("shop.new", "replace-one"), "shop.orders")
	ok(t, c.Protect(shop, "shop.regions", "name", "region"))
	ok(t, c.SetNeighbours("shop.regions", "replace-one"))
	refused(t, c.Protect(shop, "shop.new", "customer_id", "region"), "shop.regions", "shop.new")
	reopened(t, c)
}

// TestFilesWithoutARelationAreAddRemove reads a state as it was written before tables had
// relations, and refuses one with relations that cannot be.
func TestFilesWithoutARelationAreAddRemove(t *testing.T) {
	table := func(name, more string) string {
		return `{"name":"` + name + `","state":"protected","account":"` + name + `","entity":"p","unit_row":true,"defaults":{}` + more + `}`
	}
	s, err := decode([]byte("["+table("a.b", "")+"]"), 1)
	ok(t, err)
	if got := s.Table("a.b"); got.Relation != AddRemove || got.Sized {
		t.Errorf("got %+v", got)
	}
	for _, bad := range []string{
		table("a.b", `,"neighbours":"nobody"`),
		table("a.b", `,"public_size":true`),
		table("a.b", `,"neighbours":"replace-one"`) + "," + table("a.c", ""),
	} {
		if _, err := decode([]byte("["+bad+"]"), 1); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestAddRemoveIsStoredAsBefore: a catalogue without replace-one is one that an older program
// reads.
func TestAddRemoveIsStoredAsBefore(t *testing.T) {
	c, _ := unspent(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	text, err := os.ReadFile(c.path)
	ok(t, err)
	if strings.Contains(string(text), "neighbours") || strings.Contains(string(text), "public_size") {
		t.Errorf("the file holds a relation:\n%s", text)
	}
}
