package catalog

import (
	"strings"

	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Relation says which databases are neighbours. All tables of one entity, and all names of one
// account, have the same one: their losses are added up, and a sum bounds nothing when its terms
// hold for different neighbours.
type Relation uint8

// Neighbour relations. A loss under one of them does not bound the other.
const (
	AddRemove  Relation = iota // one unit more or less, with all its rows
	ReplaceOne                 // one unit's rows exchanged for any others
)

var relationNames = [...]string{AddRemove: "add-remove", ReplaceOne: "replace-one"}

// String returns the word that dp_set_neighbours takes and dp.policies shows.
func (r Relation) String() string {
	if int(r) < len(relationNames) {
		return relationNames[r]
	}
	return "unknown"
}

// parseRelation reads a relation; case does not count, and "" is add-remove.
func parseRelation(word string) (Relation, bool) {
	if word == "" {
		return AddRemove, true
	}
	for i, n := range relationNames {
		if strings.EqualFold(n, word) {
			return Relation(i), true
		}
	}
	return AddRemove, false
}

// SetNeighbours sets the neighbour relation of a protected table. With replace-one it also declares
// that the number of persons in this table is public; tables that come to the relation by their
// entity keep theirs private until it is declared for them, too.
//
// The relation changes only as long as nothing has been charged on the entity or on any of its
// tables, and only when no other protected table shares the entity or the account: a loss under
// add-remove bounds an exchange of a person by four times itself (by group privacy over a removal
// and an addition), not by itself, and a public number of persons is declared for one table at a
// time.
func (c *Catalog) SetNeighbours(table, relation string) error {
	name, err := tableName(table)
	if err != nil {
		return err
	}
	r, ok := parseRelation(relation)
	if !ok || relation == "" {
		return refuse.New(refuse.Policy, "%s is not a neighbour relation.", quoted(relation)).
			With("Use 'add-remove', or 'replace-one' where the number of persons is public.")
	}
	return c.change(func(s *Snapshot) (bool, error) {
		t := s.Table(name)
		if t.State != Protected {
			return false, refuse.New(refuse.Policy, "The table %s is not protected.", name).
				With("CALL dp_protect('%s', unit_column, entity) first.", name)
		}
		if r == ReplaceOne {
			if err := s.noPeriods(t.Entity, noReplacing); err != nil {
				return false, err
			}
		}
		sized := r == ReplaceOne
		if t.Relation == r && t.Sized == sized {
			return false, nil
		}
		if t.Relation != r {
			if err := c.relate(s, t, r); err != nil {
				return false, err
			}
		}
		t.Relation, t.Sized = r, sized
		s.put(t)
		return true, nil
	})
}

// relate changes the relation of the tables that share entity or account with t, which are
// unprotected, or refuses.
func (c *Catalog) relate(s *Snapshot, t Table, r Relation) error {
	kin := s.kin(t)
	for _, k := range kin {
		if k.State == Protected {
			return refuse.New(refuse.Policy, "The table %s shares entity %s or its budget with %s, which has the relation %s.", t.Name, t.Entity, k.Name, k.Relation).
				With("Set the relation before other tables are protected: CALL dp_unprotect('%s'), set it, and protect that table again, which then gets it too.", k.Name)
		}
	}
	c.shut(t)
	if o, ok := lists.Find(t.Owners(), func(o Owner) bool { return c.charged(o.Entity) }); ok {
		return spent("the entity "+o.Entity, t.Relation)
	}
	if k, ok := lists.Find(append(kin, t), func(k Table) bool { return c.charged(k.Account) }); ok {
		return spent("the budget "+k.Account, t.Relation)
	}
	for _, k := range kin {
		k.Relation = r
		s.put(k)
	}
	return nil
}

// shut shows readers a state in which the table is undeclared, until the change that it is part of
// is over.
//
// Without it a query that was planned under the old relation could be charged after the look at the
// account, and answered before the new relation shows. A query is charged before it compares its
// plan with the catalogue, and reads rows only after that. So one that compares before the table is
// shut was charged before the look, which sees it; one that compares later finds another policy
// than it was planned with.
func (c *Catalog) shut(t Table) {
	s := c.Snapshot().clone()
	s.put(t.undeclared())
	c.current.Store(s)
}

// spent refuses a change of the relation of what has been charged.
func spent(what string, r Relation) error {
	return refuse.New(refuse.Policy, "Losses under the relation %s are charged to %s already, and they do not bound another relation.", r, what).
		With("Keep the relation, or load the data into a table of another name and protect that with an entity of its own before it is queried.")
}

// kin lists the tables that share the entity or the account of t, without t, sorted by name.
func (s *Snapshot) kin(t Table) []Table {
	var out []Table
	for _, k := range s.All() {
		if k.Name != t.Name && (t.Entity != "" && k.Of(t.Entity) || t.Also != nil && k.Of(t.Also.Entity) || t.Account != "" && k.Account == t.Account) {
			out = append(out, k)
		}
	}
	return out
}

// inherit gives a table that is being protected the relation of its kin. Its number of persons is
// private until it is declared for this very table.
func (s *Snapshot) inherit(t Table) Table {
	t.Sized = false
	if kin := s.kin(t); len(kin) > 0 {
		t.Relation = kin[0].Relation
	}
	return t
}

// verifyRelations checks invariant 3 of verify.
func (s *Snapshot) verifyRelations() error {
	entities, accounts := map[string]Table{}, map[string]Table{}
	for _, t := range s.All() {
		if t.Sized && (t.State != Protected || t.Relation != ReplaceOne) {
			return refuse.New(refuse.Policy, "The table %s would have a public number of persons without the relation replace-one.", t.Name).
				With("CALL dp_set_neighbours('%s', 'replace-one').", t.Name)
		}
		second := ""
		if t.Also != nil {
			second = t.Also.Entity
		}
		for _, by := range []struct {
			first map[string]Table
			key   string
		}{{entities, t.Entity}, {entities, second}, {accounts, t.Account}} {
			k, known := by.first[by.key]
			switch {
			case by.key == "":
			case !known:
				by.first[by.key] = t
			case k.Relation != t.Relation:
				return refuse.New(refuse.Policy, "The table %s with the relation %s would share entity or budget with %s, which has %s.", t.Name, t.Relation, k.Name, k.Relation).
					With("Give both tables the same relation: see CALL dp_set_neighbours.")
			}
		}
	}
	return nil
}
